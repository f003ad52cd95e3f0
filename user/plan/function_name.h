/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions' names, for people. Symbols are untrusted, and a few bytes of one may stand for
 * gigabytes of text, or for as many steps: one that would take more than FUNCTION_NAME_MAX bytes,
 * or than a symbol of SYMBOL_MAX bytes can need, is left as it is.
 */
#ifndef QPROF_PLAN_FUNCTION_NAME_H
#define QPROF_PLAN_FUNCTION_NAME_H

#define FUNCTION_NAME_MAX 4096
#define SYMBOL_MAX	  16384

/*
 * A symbol as Rust writes the path, without its hash; what the compiler or BOLT added to the name
 * of a split-off part (.cold, .warm) stays. Symbols that are not Rust's are returned as they are.
 * To be freed; NULL if out of memory.
 */
char *function_name(const char *symbol);

/*
 * The same in short, "crate::module::Type::function::{closure}": without generic arguments, the
 * trait of an impl, numbers of closures, and what was added. To be freed; NULL if out of memory.
 */
char *function_path(const char *symbol);

#endif /* QPROF_PLAN_FUNCTION_NAME_H */
