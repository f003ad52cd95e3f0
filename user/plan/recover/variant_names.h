/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of an enum's variants, by their numbers, as its derived Debug prints them: its function
 * is one switch over the number, and each case passes one text on.
 */
#ifndef QPROF_PLAN_RECOVER_VARIANT_NAMES_H
#define QPROF_PLAN_RECOVER_VARIANT_NAMES_H

#include "plan/code/decode.h"

struct variant_name {
	const char *text; /* in the image, without a NUL; NULL: not known */
	uint32_t len;
};

#define VARIANT_NAMES_MAX 512

struct variant_names {
	struct variant_name items[VARIANT_NAMES_MAX];
	uint32_t n;
};

/*
 * Read them from the function in `region`, which begins at its entry; `code` is for scratch use.
 * None if it has no such switch. 0 or -ENOMEM.
 */
int variant_names__read(struct elf_image *img, struct code_decoder *decoder,
			struct code_region region, struct code *code, struct variant_names *out);

#endif /* QPROF_PLAN_RECOVER_VARIANT_NAMES_H */
