/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions that LLVM compiles, as their source defines them: all instances of a generic function
 * have one name. Symbols are untrusted: see plan/symbols/function_name.h for limits.
 */
#ifndef QPROF_ANALYZE_GENERIC_NAME_H
#define QPROF_ANALYZE_GENERIC_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct generic_name {
	/*
	 * Without hash, generic arguments and modules of impls:
	 * "hashbrown::raw::RawTable::reserve",
	 * "<alloc::vec::Vec as core::fmt::Debug>::fmt", "app::main::{closure#0}", "<str>::trim". A
	 * method that its trait defines is "core::iter::Iterator::fold". A symbol that is not
	 * Rust's is its own path.
	 */
	char *path;
	/*
	 * The path where instances differ in the type of the impl, as those of an impl for all
	 * types: "<_ as alloc::string::ToString>::to_string". NULL: the same; a legacy symbol has
	 * the source's own parameter there.
	 */
	char *any_path;
	/*
	 * The same for all instances of one definition. A v0 symbol has the numbers of impls and
	 * closures, "alloc::vec::{impl#5}::push"; a legacy symbol has not: closures of one function
	 * are one, and so are methods of one name of a type.
	 */
	char *definition;
	/* No other definition looks like this one. */
	bool is_one;
	/*
	 * The crate with the definition. A legacy symbol of a method of a trait does not show
	 * where the impl is: it is taken for that of its type, or for that of the trait if the
	 * type has none or is of the standard library. NULL: not known, as of a C function.
	 */
	char *crate;
};

/* 0 or -ENOMEM. */
int generic_name__of(const char *symbol, struct generic_name *out);

void generic_name__clear(struct generic_name *n);
#define _generic_name_ __cleanup(generic_name__clear)

/*
 * The length of a symbol without what compilers add to it: ".llvm.123" of a function that LLVM
 * moved to another module, ".cold", ".specialized.1".
 */
size_t generic_name_symbol_length(const char *symbol);

#endif /* QPROF_ANALYZE_GENERIC_NAME_H */
