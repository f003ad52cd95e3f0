/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the spans of a trace once more, beside a reader that follows it while it is written: for
 * what can be said of them only when a later chunk was read, such as the names that a compiler's
 * executions get when it ends. Only the spans are read again; the reader has the names.
 */
#ifndef QPROF_TRACE_REPLAY_H
#define QPROF_TRACE_REPLAY_H

#include "trace/reader.h"

struct trace_replay;

/*
 * Open the reader's file again; the reader outlives the replay. 0; -ENOMEM; -EINVAL if the file
 * cannot seek; or what open(2) says.
 */
int trace_replay__new(const struct trace_reader *r, struct trace_replay **out);

/*
 * Begin, from the start of the file to where the reader is now. Chunks without spans of the
 * processes `first` to `last` (indices) may be left out.
 */
void trace_replay__begin(struct trace_replay *p, uint32_t first, uint32_t last);

/*
 * The next span, of any process: in the same order as the reader's, with the same label and kind.
 * 1; 0 at the end, or where the file is not what the reader read; -ENOMEM.
 */
int trace_replay__next(struct trace_replay *p, struct trace_span *span);

void trace_replay__free(struct trace_replay *p);
DEFINE_CLEANUP(struct trace_replay, trace_replay__free)
#define _trace_replay_ __cleanup(trace_replay__free_p)

#endif /* QPROF_TRACE_REPLAY_H */
