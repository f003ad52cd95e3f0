/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* LLVM's functions, for people. */
#ifndef QPROF_STUCK_CXX_NAME_H
#define QPROF_STUCK_CXX_NAME_H

/*
 * The path of a C++ symbol of the Itanium ABI, without template arguments and parameters:
 * "llvm::SelectionDAG::Legalize". As far as it can be told in one pass, which takes no longer than
 * the symbol is, whatever that is. To be freed; NULL if it is none, or out of memory.
 */
char *cxx_name(const char *symbol);

#endif /* QPROF_STUCK_CXX_NAME_H */
