/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Up to which trace of a directory all are in a history, for a recording after one that was killed:
 * a file .history in it, which names the store, and whose time is that of the newest of these.
 */
#ifndef QPROF_RECORD_HISTORY_MARK_H
#define QPROF_RECORD_HISTORY_MARK_H

#include "record/history_queue.h"
#include "record/trace_dir.h"

/*
 * Have `q` add the traces that are not in the store (NULL: the user's own file), and keep the mark.
 * Without a mark of this store, those that are there are not added. `d` outlives the queue's use.
 * A failure is a warning.
 */
void history_mark__catch_up(const struct trace_dir *d, const char *store, struct history_queue *q);

#endif /* QPROF_RECORD_HISTORY_MARK_H */
