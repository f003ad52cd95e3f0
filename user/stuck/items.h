/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the queries of a thread are about: their keys, from a copied stack, and the names of those,
 * from the compiler's memory.
 */
#ifndef QPROF_STUCK_ITEMS_H
#define QPROF_STUCK_ITEMS_H

#include "capture/compiler_names.h"
#include "stuck/merge.h"
#include "stuck/unwind.h"

/*
 * The key of the query that a body executes, as wire_key(), while it is in call `c`; 0: unknown.
 * `m` is for keys in memory, which must lie on the stack `s` that the call was found on.
 */
uint64_t item_key(const struct plan_held_key *held, const struct wire_memory_key *m,
		  const struct call *c, const struct stopped *s);

struct item_names {
	struct compiler_memory memory;
	/* With memory.ctx: false if the process may have executed another program since. */
	bool (*runs_same)(void *ctx);
	const struct plan_layout *layout;
	uint64_t bias;	   /* of the library */
	uint64_t fs_base;  /* of the thread */
	const char *crate; /* the name of the crate, or NULL */
};

/*
 * Name the rows whose key is a definition of the crate. The thread may have gone on: if its context
 * or its program is not the same afterwards, nothing is named. 0 or -ENOMEM.
 */
int item_names__find(const struct item_names *names, struct stuck_rows *rows);

#endif /* QPROF_STUCK_ITEMS_H */
