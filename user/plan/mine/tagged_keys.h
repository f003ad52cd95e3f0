/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which function the key of each query is asked for its place in the source, from 1.96 on: a key is
 * passed around in an enum of all queries, TaggedQueryKey. Two functions of the enum are exported:
 *
 *	query_name	the name of the query, by the tag
 *	default_span	calls the default_span of the key's type (memory_keys.h), by the tag
 *
 * Both are run for each tag. This does not depend on the bodies of the queries, so it is a check of
 * what these show, and chooses among types that they leave open.
 */
#ifndef QPROF_PLAN_MINE_TAGGED_KEYS_H
#define QPROF_PLAN_MINE_TAGGED_KEYS_H

#include "plan/mine/memory_keys.h"
#include "plan/plan.h"

struct tagged_keys;

/* Of a plan that has all its queries. 0, -ENOMEM, or an error of elf_image__symbols(). */
int tagged_keys__new(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct tagged_keys **out);

enum tagged_answer {
	TAGGED_UNKNOWN, /* one of both is asked for its place, or it is not known whether */
	TAGGED_DENIED,	/* both are asked, in different ways */
	TAGGED_SILENT,	/* neither the query's key nor keys of this type are asked */
	TAGGED_FITS,	/* both are asked in the same way */
};

/* Whether the key of the plan's query can be of this type: an answer, or as tagged_keys__new(). */
int tagged_keys__fits(struct tagged_keys *t, uint32_t query, const char *type);

void tagged_keys__free(struct tagged_keys *t);
DEFINE_CLEANUP(struct tagged_keys, tagged_keys__free)
#define _tagged_keys_ __cleanup(tagged_keys__free_p)

#endif /* QPROF_PLAN_MINE_TAGGED_KEYS_H */
