/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a trace: streaming, bounded memory, never trusts a byte. A file that was cut short, or
 * whose writer was killed, reads up to its last whole chunk.
 */
#ifndef QPROF_TRACE_READER_H
#define QPROF_TRACE_READER_H

#include "trace/trace.h"

struct trace_reader;

/*
 * Open `path`. Returns a negative errno without printing, and a static text for a person in
 * `*why` if it is not NULL: -EBADMSG not a trace or a damaged header, -EPROTONOSUPPORT a newer
 * version, or what open(2) says.
 *
 * If a file (not a pipe) has mappings or lines, its names are read ahead, and are known from the
 * first span on. From a pipe, a name is known once its chunk was read.
 */
int trace_reader__open(const char *path, struct trace_reader **out, const char **why);

/*
 * The same; `unlimited` reads any trace. Without it, this function and trace_reader__next() refuse
 * a trace that expands beyond the limits of docs/trace-format.md, "Expansion": -E2BIG, and
 * TRACE_REFUSED in `*why`.
 */
int trace_reader__open_with(const char *path, bool unlimited, struct trace_reader **out,
			    const char **why);

#define TRACE_REFUSED                                                                              \
	"it expands to more than 4 GiB and 64 times its size, its names to more than 256 MiB, or " \
	"its lists of results to more than 16 million and one for each byte"

/*
 * Whether the trace was refused, perhaps after the last item: texts are put together on demand. A
 * text that was refused is "<unknown>".
 */
bool trace_reader__is_refused(const struct trace_reader *r);

const struct trace_info *trace_reader__info(const struct trace_reader *r);

/*
 * Read the next item. 0 for every item and for TRACE_ITEM_END, after which trace_reader__problem()
 * is NULL if the file was whole. -E2BIG: the trace was refused, see trace_reader__open_with().
 */
int trace_reader__next(struct trace_reader *r, struct trace_item *item);

/*
 * Pass all items but TRACE_ITEM_END to `take`. Returns at the first error of `take` or of the
 * reader.
 */
int trace_reader__each(struct trace_reader *r,
		       int (*take)(void *ctx, const struct trace_item *item), void *ctx);

/*
 * Continue after TRACE_ITEM_END at the end of the last whole chunk: the writer may have added
 * chunks since. False if nothing can follow: the trace ended or is damaged, or the file cannot
 * seek.
 */
bool trace_reader__resume(struct trace_reader *r);

/* Whether the end of the trace was read: its writer has finished. */
bool trace_reader__ended(const struct trace_reader *r);

/*
 * From now on, return only items that `filter` wants. Chunks that hold none, as the index says, are
 * not read. Self times cannot be computed from filtered spans.
 */
void trace_reader__filter(struct trace_reader *r, const struct trace_filter *filter);

/* Bytes of the file that were read so far; names of one that can seek are read twice. */
uint64_t trace_reader__bytes_read(const struct trace_reader *r);

/* Compare the index with the chunks: see trace_stats. To be called before the first item. */
void trace_reader__check_index(struct trace_reader *r);

/*
 * The text of a label or string id; "<unknown>" for one the file does not hold, and for a virtual
 * one without a text. Valid until freed.
 */
const char *trace_reader__string(const struct trace_reader *r, uint32_t id);

/* measureme's name of a kind, of this file's own ones too. Valid until freed. */
const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind);

/* trace_reader__string() and trace_reader__kind() as one value, which the reader must outlive. */
struct trace_texts trace_reader__texts(const struct trace_reader *r);

/*
 * The text that the span's invocation id was mapped to, which identifies one execution of a query.
 * NULL if it has no id, or its process maps none at all; "<unknown>" if just
 * this one has no text. Valid until the next call.
 */
const char *trace_reader__event(const struct trace_reader *r, const struct trace_span *span);

/*
 * The place of a path (trace_reader__event_string()) in a process, or, with TRACE_NO_PROCESS, in
 * the first process that has one, unless others have it in another file. NULL if it is unknown.
 * Valid until the next item is read.
 */
const struct trace_place *trace_reader__place(const struct trace_reader *r, uint32_t process,
					      uint32_t string);

/* The type of the keys of a query, by its label; NULL if the trace does not say. As
 * trace_reader__text(). */
const char *trace_reader__key_type(const struct trace_reader *r, uint32_t label);

/* The string id of that text, or TRACE_NO_STRING if there is none, or just this one has none. */
uint32_t trace_reader__event_string(const struct trace_reader *r, const struct trace_span *span);

/*
 * The number of chunks that map invocation ids of a process, of those that were read or read ahead.
 * 0: its executions have no names (yet).
 */
uint32_t trace_reader__mappings(const struct trace_reader *r, uint32_t process);

/*
 * Whether a string id is the path of a definition of a crate other than the one that a process
 * compiles: it is marked so, or the crate is known and the path does not begin with its name.
 */
bool trace_reader__is_foreign(const struct trace_reader *r, uint32_t process, uint32_t id);

/*
 * The item that a symbol of a process, the string id of which is `symbol`, is an instance of: the
 * string id of its path, or TRACE_NO_STRING. Known once all of the process was read.
 */
uint32_t trace_reader__symbol_item(const struct trace_reader *r, uint32_t process, uint32_t symbol);

/*
 * The location of a locindex; false if it lies in no function that was read. Lines are known once
 * their chunk was read, which for a file (not a pipe) is before the first item. out->function is
 * valid until the next item is read, texts until the reader is freed.
 */
bool trace_reader__location(const struct trace_reader *r, uint32_t locindex,
			    struct trace_location *out);

/*
 * The entries of sampled stacks that were read so far, with the numbers 1 to
 * trace_reader__stacks(). A sample's entries come before it, and a parent before its children: to
 * sum up over a tree, add each sample's value to its innermost entry, then pass from the last
 * number to the first, and add the sum of each entry to its parent's. NULL if there is no such
 * entry, and of TRACE_NO_STACK. Valid until the next item is read.
 */
const struct trace_stack *trace_reader__stack(const struct trace_reader *r, uint32_t id);
uint32_t trace_reader__stacks(const struct trace_reader *r);

/* A job of a sample that was read; NULL if there is none. Valid until the next item is read. */
const struct trace_job *trace_reader__job(const struct trace_reader *r, uint32_t id);
/* The same, as a function of any context. */
const struct trace_job *trace_reader__job_of(const void *reader, uint32_t id);

/* What it is about: as trace_reader__event_string(). */
uint32_t trace_reader__job_string(const struct trace_reader *r, const struct trace_job *job);

/* An entry of LLVM of a sample that was read; NULL if there is none. Valid until the next item. */
const struct trace_llvm *trace_reader__llvm(const struct trace_reader *r, uint32_t id);

/* Counts of the parts that were read so far. */
struct trace_stats {
	uint64_t chunks;
	uint64_t unknown_chunks;     /* of a type of a later version, passed over */
	uint64_t chunks_passed_over; /* by a filter, unread */
	uint64_t spans;		     /* in the chunks that were read */
	uint64_t passed_over;	     /* in those that were not, as the index says */
	uint64_t threads;	     /* names */
	uint64_t lost;		     /* records, as the trace says */
	uint64_t unknown_labels;     /* spans whose label is virtual and has no text */
	uint64_t unknown_events;  /* spans for whose event id trace_reader__event() has no text */
	uint64_t mapped;	  /* virtual ids that were given a text */
	uint64_t callers;	  /* spans with a caller */
	uint64_t unknown_callers; /* of these, those whose caller lies in no function */
	uint64_t samples;
	uint64_t cut_samples; /* of these, those whose stack does not reach the thread's start */
	uint64_t unindexed;   /* INFO, INDEX and END, which have no index entry */
	uint64_t indexed;     /* chunks with an index entry, once the index is checked */
	uint64_t misindexed;  /* of these, those whose entry is wrong */
	uint32_t strings;
	uint32_t processes;
	uint32_t functions;
	uint32_t stacks; /* entries of sampled stacks */
	uint32_t functions_with_lines;
	uint64_t made_bytes;  /* bytes that compression, texts and mappings expanded to */
	uint64_t whole_bytes; /* the file is sound up to here */
	uint64_t file_bytes;  /* 0 if it is no file */
	bool damaged;	      /* trace_reader__problem() is more than a missing end */
	bool index_is_wrong;  /* the used part is malformed or misplaced, and was ignored */
};

struct trace_stats trace_reader__stats(const struct trace_reader *r);

/* The problem of the file as read so far ("cut short at byte N", "unfinished"), or NULL. */
const char *trace_reader__problem(const struct trace_reader *r);

/* For trace/replay.h. */
struct chunk_stream;
struct span_limits;

/* Open the file of a reader again, into `*s`, which needs destroying in any case. As there. */
int trace_reader__reopen(const struct trace_reader *r, struct chunk_stream *s);

/* The numbers to which spans may refer so far. */
struct span_limits trace_reader__span_limits(const struct trace_reader *r);

/* Replace the label of a span as it is on disk by its name, and set the kind. */
void trace_reader__resolve(const struct trace_reader *r, struct trace_span *span);

void trace_reader__free(struct trace_reader *r);
DEFINE_CLEANUP(struct trace_reader, trace_reader__free)
#define _trace_reader_ __cleanup(trace_reader__free_p)

#endif /* QPROF_TRACE_READER_H */
