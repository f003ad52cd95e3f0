/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A second reading of the types of keys, where bodies have no names of their own: what the enum of
 * all queries asks the key of each query (TaggedQueryKey). A type that this contradicts is unknown.
 * If a body's guard can have several types, the one is taken that all queries of the body confirm.
 */
#ifndef QPROF_PLAN_MINE_KEY_TYPES_H
#define QPROF_PLAN_MINE_KEY_TYPES_H

#include "plan/code/decode.h"
#include "plan/mine/memory_keys.h"
#include "plan/plan.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/key_name.h"

/* ---- Guards of active jobs ------------------------------------------------------------------- */

/*
 * The type of a body's keys, where the body has no name: while its query runs, it holds a guard,
 * ActiveJobGuard<key>, and drops it if the provider panics. The functions that drop the guards are
 * exported, one for each type. Some are folded into one, so a body can have several types. Of
 * these, only those remain that the table of the body's cache can have, if it calls a function of
 * one, which are exported, too: itself, or by one function between.
 */

#define JOB_GUARD_TYPES 4

/* Types that a body's guard can have. None: it drops no known guard, several, or one of more. */
struct job_guard {
	struct key_name types[JOB_GUARD_TYPES];
	uint32_t n;
};

/*
 * Of a plan that has all its bodies; `out` is parallel to these. 0 or -ENOMEM, or an error of
 * elf_image__symbols(). Free *out in any case.
 */
int job_guards__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct job_guard **out);

/* True if the guard can be of this type. */
bool job_guard__has(const struct job_guard *g, const char *type);

/* ---- Names of types in bodies ---------------------------------------------------------------- */

/*
 * Types of keys and values, from the names of bodies, also where bodies have no names: an
 * incremental body calls an instance of its own of a function that libraries export, directly or
 * through others of its types. That name holds the type of the cache, too. The guard of a body's
 * queries shows the type of their keys (above): where there is no such function, or else as
 * a check.
 */

/* A body, by all names that it has. */
struct body_name {
	struct key_name name;
	bool any;		/* it has a name */
	bool borrowed;		/* only those of functions that serve the same queries */
	struct job_guard guard; /* of a body without its own names */
};

/* Names that differ in the key's type leave it unknown; in the size, that. */
void body_name__add(struct body_name *body, struct key_name name);

/*
 * Of a plan that has all its queries and bodies; `out` is parallel to these. 0 or -ENOMEM, or an
 * error of elf_image__symbols(). Free *out in any case.
 */
int body_names__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct body_name **out);

/* ---- TaggedQueryKey -------------------------------------------------------------------------- */

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

/*
 * `bodies` are those of body_names__find(). 0, -ENOMEM, or an error of elf_image__symbols().
 */
int key_choice__make(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct body_name *bodies);

#endif /* QPROF_PLAN_MINE_KEY_TYPES_H */
