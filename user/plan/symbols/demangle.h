/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_SYMBOLS_DEMANGLE_H
#define QPROF_PLAN_SYMBOLS_DEMANGLE_H

#include "plan/symbols/v0_reader.h"

/*
 * Demangles Rust symbols. Symbols are untrusted: constants bound time, stack and text for any
 * symbol.
 */

/*
 * Write the text of `symbol`, in the v0 ("_R") or the legacy mangling ("_ZN"), without hashes. The
 * symbol has no suffix, such as ".cold". False if it is no Rust symbol, or exceeds a limit; `d`
 * then holds part of a text.
 */
bool demangle(const char *symbol, size_t len, struct demangled *d);

/*
 * Append the text of a v0 symbol. `s` is the symbol after "_R"; it has only ASCII letters, digits
 * and '_'. False as demangle().
 */
bool demangle_v0(const char *s, size_t len, enum v0_style style, struct demangled *d);

/* ---- Names of C++ ---------------------------------------------------------------------------- */

/* Readable names of LLVM's functions. */

/*
 * The path of a C++ symbol of the Itanium ABI, without template arguments and parameters:
 * "llvm::SelectionDAG::Legalize". One pass over the symbol finds as much as it can, in linear time.
 * The caller frees it. NULL if the symbol is not one, or out of memory.
 */
char *cxx_name(const char *symbol);

#endif /* QPROF_PLAN_SYMBOLS_DEMANGLE_H */
