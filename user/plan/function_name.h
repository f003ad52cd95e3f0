/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The path of a function, for people: a mangled name without its types and hashes. */
#ifndef QPROF_PLAN_FUNCTION_NAME_H
#define QPROF_PLAN_FUNCTION_NAME_H

/*
 * "crate::module::Type::function::{closure}" of a v0 or legacy name; generic arguments, and of an
 * impl the trait, are left out. A name of no such grammar is taken as it is. The caller's to free;
 * NULL if there is no memory.
 */
char *function_path(const char *symbol);

#endif /* QPROF_PLAN_FUNCTION_NAME_H */
