#include <stdbool.h>
#include <stddef.h>

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Demangles Rust symbols. Symbols are untrusted: constants bound time, stack and text for any
 * symbol.
 */
#ifndef QPROF_PLAN_SYMBOLS_DEMANGLE_H
#define QPROF_PLAN_SYMBOLS_DEMANGLE_H

#include "plan/symbols/demangled.h"

/*
 * Write the text of `symbol`, in the v0 ("_R") or the legacy mangling ("_ZN"), without hashes. The
 * symbol has no suffix, such as ".cold". False if it is no Rust symbol, or exceeds a limit; `d`
 * then holds part of a text.
 */
bool demangle(const char *symbol, size_t len, struct demangled *d);

#endif /* QPROF_PLAN_SYMBOLS_DEMANGLE_H */
