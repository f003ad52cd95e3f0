/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Readable names of LLVM's functions. */
#ifndef QPROF_PLAN_SYMBOLS_CXX_NAME_H
#define QPROF_PLAN_SYMBOLS_CXX_NAME_H

/*
 * The path of a C++ symbol of the Itanium ABI, without template arguments and parameters:
 * "llvm::SelectionDAG::Legalize". One pass over the symbol finds as much as it can, in linear time.
 * The caller frees it. NULL if the symbol is not one, or out of memory.
 */
char *cxx_name(const char *symbol);

#endif /* QPROF_PLAN_SYMBOLS_CXX_NAME_H */
