/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The symbols of a library whose names are known (names.h). There are some thousands among 100,000,
 * and looking at all names takes long: it is done once for each plan.
 */
#ifndef QPROF_PLAN_SYMBOLS_KNOWN_SYMBOLS_H
#define QPROF_PLAN_SYMBOLS_KNOWN_SYMBOLS_H

#include "plan/symbols/elf_image.h"
#include "plan/symbols/names.h"

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

#endif /* QPROF_PLAN_SYMBOLS_KNOWN_SYMBOLS_H */
