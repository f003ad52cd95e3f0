/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Function names for people. Symbols are untrusted: a symbol longer than SYMBOL_MAX bytes, or with
 * a text longer than FUNCTION_NAME_MAX, or over another limit of demangle(), is not changed.
 */
#ifndef QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H
#define QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H

#include "plan/symbols/demangle.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/names.h"

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

/*
 * The symbols of a library whose names are known (names.h). There are some thousands among 100,000,
 * and looking at all names takes long: it is done once for each plan.
 */

struct known_symbol {
	const struct elf_symbol *sym; /* the image's */
	struct name_info info;	      /* of any kind but NAME_OTHER */
};

struct known_symbols {
	struct known_symbol *items; /* in the image's order */
	uint32_t n, capacity;
};

/* 0, -ENOMEM, or an error of elf_image__symbols(). Destroy it in any case. */
int known_symbols__find(struct elf_image *img, struct known_symbols *out);
void known_symbols__destroy(struct known_symbols *k);
#define _known_symbols_ __cleanup(known_symbols__destroy)

#endif /* QPROF_PLAN_SYMBOLS_FUNCTION_NAME_H */
