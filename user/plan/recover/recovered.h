/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names that were recovered for the functions of a library without a symbol table, and the symbols
 * that are made of them: each step after this one finds functions by symbols.
 */
#ifndef QPROF_PLAN_RECOVER_RECOVERED_H
#define QPROF_PLAN_RECOVER_RECOVERED_H

#include "plan/symbols/bounds.h"

struct recovered_name {
	uint64_t addr;
	size_t at; /* of the name in `text` */
};

/* All zeroes is an empty one. */
struct recovered {
	struct recovered_name *items;
	uint32_t n, capacity;
	char *text; /* the names, each with its NUL */
	size_t len, text_capacity;
};

/*
 * The function that begins at `addr` has this name, beside others that it was given: mangled, or
 * any other text without ".cold" and ".warm". It is copied. 0 or -ENOMEM.
 */
int recovered__add(struct recovered *r, uint64_t addr, const char *name);

/*
 * Give the image a symbol for each name, for each part of a function, and for each function without
 * a name ("fn_" and its address in hexadecimal digits). This ends all symbols and names that the
 * image had before. Names of addresses where no function begins are left out. Sorts the items. 0
 * or -ENOMEM.
 */
int recovered__give(struct recovered *r, const struct bounds *bounds, struct elf_image *img);

void recovered__destroy(struct recovered *r);
#define _recovered_ __cleanup(recovered__destroy)

#endif /* QPROF_PLAN_RECOVER_RECOVERED_H */
