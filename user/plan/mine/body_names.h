/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Types of keys and values, from the names of bodies, also where bodies have no names: an
 * incremental body calls an instance of its own of a function that libraries export, directly or
 * through others of its types. That name holds the type of the cache, too. The guard of a body's
 * queries shows the type of their keys (job_guards.h): where there is no such function, or else as
 * a check.
 */
#ifndef QPROF_PLAN_MINE_BODY_NAMES_H
#define QPROF_PLAN_MINE_BODY_NAMES_H

#include "plan/code/decode.h"
#include "plan/mine/job_guards.h"
#include "plan/plan.h"
#include "plan/symbols/key_name.h"
#include "plan/symbols/function_name.h"

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

#endif /* QPROF_PLAN_MINE_BODY_NAMES_H */
