/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a trace: streaming, bounded memory, never trusts a byte. A file that was cut short, or
 * whose writer was killed, reads up to its last whole chunk.
 */
#ifndef QPROF_TRACE_READER_H
#define QPROF_TRACE_READER_H

#include "trace/trace.h"

struct trace_reader;

enum trace_item_kind {
	TRACE_ITEM_END = 0,
	TRACE_ITEM_SPAN,
	TRACE_ITEM_PROCESS, /* new or updated */
	TRACE_ITEM_LOSSES,
	TRACE_ITEM_TALLY,
};

struct trace_item {
	enum trace_item_kind kind;
	union {
		struct trace_span span;		     /* self_ns is 0 */
		const struct trace_process *process; /* the reader's; valid until it is freed */
		struct trace_losses losses;
		struct trace_tally tally;
	};
};

/*
 * Open `path`. Returns a negative errno without printing, and a static text for a person in
 * `*why` if it is not NULL: -EBADMSG not a trace or a damaged header, -EPROTONOSUPPORT a newer
 * version, or what open(2) says.
 */
int trace_reader__open(const char *path, struct trace_reader **out, const char **why);

const struct trace_info *trace_reader__info(const struct trace_reader *r);

/*
 * Read the next item. 0 at TRACE_ITEM_END and on every item; at the end,
 * trace_reader__problem() tells whether the file was whole.
 */
int trace_reader__next(struct trace_reader *r, struct trace_item *item);

/* The text of a string id; "<unknown>" for one the file does not hold. Valid until freed. */
const char *trace_reader__string(const struct trace_reader *r, uint32_t id);

/* measureme's name of a kind, of this file's own ones too. Valid until freed. */
const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind);

/* What is wrong with the file as read so far ("cut short at byte N", "unfinished"), or NULL. */
const char *trace_reader__problem(const struct trace_reader *r);

void trace_reader__free(struct trace_reader *r);
DEFINE_CLEANUP(struct trace_reader, trace_reader__free)
#define _trace_reader_ __cleanup(trace_reader__free_p)

#endif /* QPROF_TRACE_READER_H */
