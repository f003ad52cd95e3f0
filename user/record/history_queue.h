/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Traces that are added to a history, one after another, each by a process of its own: "history
 * add" of this program, with the invoker's rights only, and without any capability. Whatever
 * becomes of it, the recording goes on.
 */
#ifndef QPROF_RECORD_HISTORY_QUEUE_H
#define QPROF_RECORD_HISTORY_QUEUE_H

#include <stdbool.h>

#include "base/cleanup.h"

struct history_options {
	const char *store; /* as of `history add`; NULL: the invoker's own file */
	const char *label; /* or NULL */
	bool with_commands;
	bool quiet; /* print errors and warnings only */
	/* The traces are this process's own, and under sudo not the invoker's; so is the history.
	 */
	bool ours;
};

struct history_queue;

/* The texts of the options outlive the queue. 0 or -ENOMEM. */
int history_queue__new(const struct history_options *o, struct history_queue **out);

/* Add a whole trace. Any thread may call it; the others only the one that records. */
void history_queue__put(struct history_queue *q, const char *path);

/*
 * Have `added` called by the thread that records, for each trace that is dealt with: "history add"
 * succeeded, or the trace has nothing to add or cannot be read, and so it was with all before it.
 */
void history_queue__tell(struct history_queue *q, void (*added)(void *ctx, const char *path),
			 void *ctx);

/* Start the next process if none runs. Never waits. */
void history_queue__tick(struct history_queue *q);

/* Asked again and again: whether the user wants no more waiting. */
typedef bool history_queue_ends(void *ctx);

/* Add all that are left, but for no longer than `seconds`, or until `ends`; a line counts the rest.
 */
void history_queue__finish(struct history_queue *q, unsigned int seconds, history_queue_ends *ends,
			   void *ctx);

void history_queue__free(struct history_queue *q);
DEFINE_CLEANUP(struct history_queue, history_queue__free)
#define _history_queue_ __cleanup(history_queue__free_p)

#endif /* QPROF_RECORD_HISTORY_QUEUE_H */
