/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns the kernel half's wire records into intervals and processes of a trace. This is the only
 * place that does; it uses neither files nor BPF maps.
 *
 * Six files show how this room works. Read them in this order.
 * - sink.h has the calls by which everything leaves the room.
 * - tracks.c takes each record: it makes intervals, and passes all else to the other files.
 * - images.c keeps what each process executes, and puts compilers into the trace.
 * - samples.c makes entries of the tree of stacks of a sampled stack.
 * - results.c counts executions by the results that a compiler has of each query.
 * - keys.c names what executions were about.
 */
#ifndef QPROF_TRACKS_TRACKS_H
#define QPROF_TRACKS_TRACKS_H

#include "capture/record.h"
#include "tracks/arguments.h"
#include "tracks/caller_index.h"
#include "tracks/images.h"
#include "tracks/library.h"
#include "tracks/samples.h"

/* The owner sets what is known of a library by library__set_*(). */
struct tracks {
	struct tracks_sink sink;
	struct library libraries[WIRE_MAX_LIBS + 1];
	uint32_t last_serial;
	struct images images;
	struct interval_labels labels;
	struct samples samples;
	struct guard_arguments arguments;
	uint32_t off_cpu[WIRE_OFF_MAX]; /* string ids of reasons, or TRACKS_NO_LABEL */
	struct self_time *self_time;
	struct caller_index *callers;
	/* Cache hits come: the query that each invocation id of a process executed is kept. */
	bool expects_hits;
	uint64_t unknown_hits;	   /* whose execution was not recorded: TRACKS_UNKNOWN */
	uint64_t unread_arguments; /* activities whose argument was not read, but could have been */
	uint64_t n_names_missing;  /* pieces of the compilers' tables of names */
};

/* `sink` is copied. 0, or -ENOMEM. */
int tracks__new(const struct tracks_sink *sink, struct tracks **out);

/*
 * Describe library `lib`: the string ids of its queries' names, its build-id (hex) and its rustc
 * version. The texts are copied, and may be NULL. A later call assigns the number to another
 * library: no record of the earlier library may follow.
 */
int tracks__set_library(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			const char *build_id, const char *rustc_version);

/* The string id of the name of an interval that runs, or TRACKS_NO_LABEL. */
uint32_t tracks__label(const struct tracks *t, const struct wire_open_frame *f);

/*
 * Give the sink the samples that wait. To name the functions in the first ones takes the symbols of
 * whole libraries, some 0.1 s, and a compiler on another CPU would feel that: so samples wait for a
 * moment that the caller chooses, or until they take SAMPLES_HELD_MAX bytes or SAMPLES_HELD_NS.
 */
int tracks__release_samples(struct tracks *t);

/* The same, and what the sink would get when the compilers that still run end. */
int tracks__settle(struct tracks *t);

/*
 * Set the functions of a library that was set; without them, its spans have no callers.
 * `functions` outlives the tracks.
 */
void tracks__set_functions(struct tracks *t, uint8_t lib, const struct tracks_functions *functions);

/*
 * The functions of file `number` of samples, which outlive the tracks. Where they are those of a
 * library with frames, stacks show its intervals. 0 or -ENOMEM.
 */
int tracks__set_file(struct tracks *t, uint32_t number, const struct tracks_functions *functions);

/* Let the frames of a plan show the intervals of a library that was set. 0 or -ENOMEM. */
int tracks__set_frames(struct tracks *t, uint8_t lib, const struct plan *plan);

/*
 * The losses by cause: the kernel half's counters, and callers that lie in no function, or in a
 * refused one. TRACE_LOST_BAD_RECORD is 0: the caller, which reads the records, counts it.
 */
struct trace_losses tracks__losses(const struct tracks *t,
				   const uint64_t counters[WIRE_COUNTER_MAX]);

/*
 * Take a record of a session, except what is about libraries and files. -EBADMSG, which changes
 * nothing, if it is RECORD_BAD, or malformed: an end before its start, or a library, query or guard
 * that was not set (no label is invented; the caller counts the record). A label that the kernel
 * half could not read is TRACKS_UNKNOWN.
 *
 * Only a process that has a span, or whose command is a Rust compiler, becomes a process of the
 * trace; a linker or a shell does not. An exec ends one process of the trace and may begin another.
 * But a compiler that execs a compiler before its first span, as rustup's rustc does, stays the
 * same process. A span of an unknown pid makes a process that is marked attached_late, and so does
 * a sample with a frame in a library that was set. Other samples are left out if their process is
 * not in the trace.
 */
int tracks__take(struct tracks *t, const struct record *r);

void tracks__free(struct tracks *t);
DEFINE_CLEANUP(struct tracks, tracks__free)
#define _tracks_ __cleanup(tracks__free_p)

/* The counters of the kernel half as losses of a trace, by cause. */

/* TRACE_LOST_BAD_RECORD and _COUNT_NO_NAMES are 0: the caller, which reads the records, counts
 * them.
 */
struct trace_losses kernel_losses(const uint64_t counters[WIRE_COUNTER_MAX]);

/* Converts a record of a thread that was off the CPU. */

/* The reason: one of TRACE_OFF_*. NULL if the record is malformed. */
const char *off_cpu__text(const struct wire_off_cpu *r);

/* The span without its process and label, of a record that is not malformed. */
struct trace_span off_cpu__span(const struct wire_off_cpu *r);

#endif /* QPROF_TRACKS_TRACKS_H */
