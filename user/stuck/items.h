/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The items that the queries of a thread are about: their keys, from a copied stack, and the names
 * of those, from the compiler's memory.
 */
#ifndef QPROF_STUCK_ITEMS_H
#define QPROF_STUCK_ITEMS_H

#include "capture/compiler_names.h"
#include "stuck/rows.h"
#include "stuck/walk.h"

/* A call of a thread, and the memory that its calls were found in. */
struct item_call {
	const struct calls *calls;
	uint32_t index;
	const struct stopped *stopped;
	struct copied *memory;
};

/*
 * The key of the query that a body executes, as wire_key(), while it is in call `c`; 0: unknown.
 * `m` is for keys in memory, which must lie on a stack of the thread. A key in a register is known
 * after calls__find_preserved().
 */
uint64_t item_key(const struct plan_held_key *held, const struct wire_memory_key *m,
		  const struct item_call *c);

/* Whether calls__find_preserved() has to be asked for a key. */
bool item_key__is_preserved(const struct plan_held_key *held);

/* Rows from the innermost on that get a name: each takes some looks at the process. */
#define ITEMS_NAMED_MAX 64

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
