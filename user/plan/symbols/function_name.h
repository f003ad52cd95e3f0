/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Function names for people. Symbols are untrusted: a symbol longer than SYMBOL_MAX bytes, or with
 * a text longer than FUNCTION_NAME_MAX, or over another limit of demangle(), is not changed.
 */
#ifndef QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H
#define QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H

#include "plan/symbols/demangle.h"

#define FUNCTION_NAME_MAX DEMANGLED_MAX
#define SYMBOL_MAX	  16384

/*
 * Write a symbol in Rust syntax, without its hash. The suffix that the compiler or BOLT added to
 * the name of a split-off part (.cold, .warm) stays. A symbol that is not Rust's is returned
 * unchanged. To be freed; NULL if out of memory.
 */
char *function_name(const char *symbol);

/*
 * The short form, "crate::module::Type::function::{closure}": without generic arguments, the trait
 * of an impl, numbers of closures, and suffixes. To be freed; NULL if out of memory.
 */
char *function_path(const char *symbol);

/*
 * The end of the mangled name in a symbol: what follows, if anything, is the suffix of a compiler.
 */
const char *function_name_suffix(const char *symbol);

#endif /* QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H */
