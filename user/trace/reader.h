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
	TRACE_ITEM_THREAD, /* its name, new or changed */
	TRACE_ITEM_COSTS,
	TRACE_ITEM_TALLY,
	TRACE_ITEM_DECISION,
};

struct trace_item {
	enum trace_item_kind kind;
	union {
		struct trace_span span;		     /* self_ns is 0 */
		const struct trace_process *process; /* the reader's; valid until it is freed */
		struct trace_losses losses;
		struct trace_thread thread; /* its name is valid until the reader is freed */
		struct trace_costs costs;
		struct trace_tally tally;
		struct trace_decision decision;
	};
};

/*
 * Open `path`. Returns a negative errno without printing, and a static text for a person in
 * `*why` if it is not NULL: -EBADMSG not a trace or a damaged header, -EPROTONOSUPPORT a newer
 * version, or what open(2) says.
 *
 * A file (not a pipe) that maps virtual ids or tells lines is looked through for names first, so
 * that they are known from the first span on. From a pipe they are once their chunk was read.
 */
int trace_reader__open(const char *path, struct trace_reader **out, const char **why);

const struct trace_info *trace_reader__info(const struct trace_reader *r);

/*
 * Read the next item. 0 at TRACE_ITEM_END and on every item; at the end,
 * trace_reader__problem() tells whether the file was whole.
 */
int trace_reader__next(struct trace_reader *r, struct trace_item *item);

/*
 * Go on after TRACE_ITEM_END, where the last whole chunk ended: its writer may have added to the
 * file since. False if nothing can follow: its end was there, it is damaged, or it cannot seek.
 */
bool trace_reader__resume(struct trace_reader *r);

/* Whether the end of the trace was there: its writer has written all. */
bool trace_reader__ended(const struct trace_reader *r);

/* What to give out. Times are on the trace's clock. */
struct trace_filter {
	uint64_t from_ns; /* spans that end before it are left out */
	uint64_t to_ns;	  /* spans that start after it are left out; UINT64_MAX: no end */
	/* NULL: all. Processes, their threads and spans. Asked again when its record changes. */
	bool (*process)(void *ctx, const struct trace_process *p);
	/* NULL: all. The text of a label of spans, tallies, decisions; asked once per label. */
	bool (*label)(void *ctx, const char *text);
	void *ctx;
};

/*
 * From now on, give out only what `filter` wants. Chunks of which an index says that there is
 * nothing of it in them are passed over unread. Self times cannot be made from filtered spans.
 */
void trace_reader__filter(struct trace_reader *r, const struct trace_filter *filter);

/* From now on, compare the index with what it tells of: see trace_stats. Before the first item. */
void trace_reader__check_index(struct trace_reader *r);

/*
 * The text of a label or string id; "<unknown>" for one the file does not hold, and for a virtual
 * one without a text. Valid until freed.
 */
const char *trace_reader__string(const struct trace_reader *r, uint32_t id);

/* measureme's name of a kind, of this file's own ones too. Valid until freed. */
const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind);
/*
 * The text that the span's invocation id was mapped to: the string id that tells one execution of a
 * query from another. NULL if it has no id, or its process maps none at all; "<unknown>" if just
 * this one has no text. Valid until the next call.
 */
const char *trace_reader__event(const struct trace_reader *r, const struct trace_span *span);

/* The string id of that text, or TRACE_NO_STRING if there is none, or just this one has none. */
uint32_t trace_reader__event_string(const struct trace_reader *r, const struct trace_span *span);

/*
 * What a locindex stands for; false if it lies in no function that the file holds (so far). Lines
 * are known once the chunk that tells them was read, which for a file (not a pipe) is before the
 * first item. out->function is valid until the next item is read, texts until the reader is freed.
 */
bool trace_reader__location(const struct trace_reader *r, uint32_t locindex,
			    struct trace_location *out);

/* What was read so far. */
struct trace_stats {
	uint64_t chunks;
	uint64_t unknown_chunks;     /* of a type of a later version, passed over */
	uint64_t chunks_passed_over; /* by a filter, unread */
	uint64_t spans;		     /* in the chunks that were read */
	uint64_t passed_over;	     /* in those that were not, as the index says */
	uint64_t threads;	     /* names */
	uint64_t decisions;
	uint64_t unwatched;	  /* of these, to watch none of what is no query */
	uint64_t counted;	  /* executions without a span, exactly */
	uint64_t estimated;	  /* and about */
	uint64_t lost;		  /* records, as the trace says */
	uint64_t unknown_labels;  /* spans whose label is virtual and has no text */
	uint64_t unknown_events;  /* spans for whose event id trace_reader__event() has no text */
	uint64_t mapped;	  /* virtual ids that were given a text */
	uint64_t callers;	  /* spans that tell who asked */
	uint64_t unknown_callers; /* of these, those whose caller lies in no function */
	uint64_t unindexed;	  /* INFO, INDEX and END, which are not looked up in an index */
	uint64_t indexed;	  /* chunks that an index tells of, once it is checked */
	uint64_t misindexed;	  /* those of them of which it is wrong */
	uint32_t strings;
	uint32_t processes;
	uint32_t functions;
	uint32_t functions_with_lines;
	uint64_t whole_bytes; /* the file is sound up to here */
	uint64_t file_bytes;  /* 0 if it is no file */
	bool damaged;	      /* trace_reader__problem() is more than a missing end */
	bool index_is_wrong;  /* malformed or misplaced, as far as it was used: done without */
};

struct trace_stats trace_reader__stats(const struct trace_reader *r);

/* What is wrong with the file as read so far ("cut short at byte N", "unfinished"), or NULL. */
const char *trace_reader__problem(const struct trace_reader *r);

void trace_reader__free(struct trace_reader *r);
DEFINE_CLEANUP(struct trace_reader, trace_reader__free)
#define _trace_reader_ __cleanup(trace_reader__free_p)

#endif /* QPROF_TRACE_READER_H */
