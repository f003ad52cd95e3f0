/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of layout.h that finds out what the kinds of definitions are called. */
#ifndef QPROF_PLAN_MINE_LAYOUT_TAGS_H
#define QPROF_PLAN_MINE_LAYOUT_TAGS_H

#include "plan/mine/layout_function.h"
#include "plan/plan.h"

/* The name of a definition with one tag. */
struct layout_tag {
	uint64_t variant; /* of DefPathDataName: the same for all that have a name of their own */
	uint32_t symbol;  /* or WIRE_TAG_NAMED: the definition's own */
	uint32_t unnamed; /* what is in braces if its own is the empty one; 0: that one */
};

/* By tag, from 0 on. */
struct layout_tags {
	struct layout_tag items[WIRE_TAGS];
	uint32_t n;
};

/*
 * Find them in DefPathData::name, or if there is no such function, in the two that print or
 * intern what it returns, which must show the same. 0 and *problem, as layout_mine(); -ENOMEM.
 */
int layout_tags_find(const struct elf_image *img, struct code_decoder *decoder,
		     const struct layout_function *functions, size_t n, struct layout_tags *out,
		     const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_TAGS_H */
