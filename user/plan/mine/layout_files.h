/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of layout_places.h that finds source files, and what both parts share. */
#ifndef QPROF_PLAN_MINE_LAYOUT_FILES_H
#define QPROF_PLAN_MINE_LAYOUT_FILES_H

#include "plan/code/eval.h"
#include "plan/mine/layout.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define PLACES_COPIES_MAX 8

struct places_miner {
	const struct elf_image *img;
	const struct layout_function *functions;
	size_t n;
	const struct wire_layout *names;
	struct wire_layout_places l;
	uint32_t file_header; /* of an Arc, in front of the file */
};

/* As layout_offset(), but *to must be the same each time. */
static inline bool places_agree(uint32_t *to, bool *known, uint64_t value)
{
	uint32_t before = *to;
	bool ok = layout_offset(to, value) && (!*known || *to == before);

	*known = true;
	return ok;
}

static inline const struct sum_node *places_loaded(const struct eval *e, const struct sum *a,
						   uint8_t size, uint64_t *more)
{
	const struct sum_node *node = sum_node_of(&e->nodes, a, more);

	return node && node->kind == SUM_LOAD && node->size == size ? node : NULL;
}

static inline int places_run(const struct places_miner *m, const struct layout_function *f,
			     bool has_second, uint64_t second, struct eval **out)
{
	const struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.has_second = has_second,
		.second = second,
	};

	return eval__run(&ef, out);
}

/* Find the source files. As layout_mine_places(). */
int places_mine_files(struct places_miner *m, const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_FILES_H */
