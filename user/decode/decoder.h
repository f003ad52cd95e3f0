/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns the kernel half's wire records into intervals and processes of a trace. This is the only
 * place that does; it uses neither files nor BPF maps.
 *
 * Six files show how this room works. Read them in this order.
 * - sink.h has the calls by which everything leaves the room.
 * - decoder.c takes each record: it makes intervals, and passes all else to the other files.
 * - images.c keeps what each process executes, and puts compilers into the trace.
 * - samples.c makes entries of the tree of stacks of a sampled stack.
 * - results.c counts executions by the results that a compiler has of each query.
 * - keys.c names what executions were about.
 */
#ifndef QPROF_DECODE_DECODER_H
#define QPROF_DECODE_DECODER_H

#include "capture/record.h"
#include "decode/arguments.h"
#include "decode/caller_index.h"
#include "decode/images.h"
#include "decode/library.h"
#include "decode/samples.h"

/* The owner sets what is known of a library by library__set_*(). */
struct decoder {
	struct decoder_sink sink;
	struct library libraries[WIRE_MAX_LIBS + 1];
	uint32_t last_serial;
	struct images images;
	struct interval_labels labels;
	struct samples samples;
	struct guard_arguments arguments;
	uint32_t off_cpu[WIRE_OFF_MAX]; /* string ids of reasons, or DECODER_NO_LABEL */
	struct self_time *self_time;
	struct caller_index *callers;
	/* Cache hits come: the query that each invocation id of a process executed is kept. */
	bool expects_hits;
	uint64_t unknown_hits;	   /* whose execution was not recorded: DECODER_UNKNOWN */
	uint64_t unread_arguments; /* activities whose argument was not read, but could have been */
	uint64_t n_names_missing;  /* pieces of the compilers' tables of names */
};

/* `sink` is copied. 0, or -ENOMEM. */
int decoder__new(const struct decoder_sink *sink, struct decoder **out);

/*
 * Describe library `lib`: the string ids of its queries' names, its build-id (hex) and its rustc
 * version. The texts are copied, and may be NULL. A later call assigns the number to another
 * library: no record of the earlier library may follow.
 */
int decoder__set_library(struct decoder *d, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			 const char *build_id, const char *rustc_version);

/* The string id of the name of an interval that runs, or DECODER_NO_LABEL. */
uint32_t decoder__label(const struct decoder *d, const struct wire_open_frame *f);

/*
 * Give the sink the samples that wait. To name the functions in the first ones takes the symbols of
 * whole libraries, some 0.1 s, and a compiler on another CPU would feel that: so samples wait for a
 * moment that the caller chooses, or until they take SAMPLES_HELD_MAX bytes or SAMPLES_HELD_NS.
 */
int decoder__release_samples(struct decoder *d);

/* The same, and what the sink would get when the compilers that still run end. */
int decoder__settle(struct decoder *d);

/*
 * Set the functions of a library that was set; without them, its spans have no callers.
 * `functions` outlives the decoder.
 */
void decoder__set_functions(struct decoder *d, uint8_t lib,
			    const struct decoder_functions *functions);

/*
 * The functions of file `number` of samples, which outlive the decoder. Where they are those of a
 * library with frames, stacks show its intervals. 0 or -ENOMEM.
 */
int decoder__set_file(struct decoder *d, uint32_t number,
		      const struct decoder_functions *functions);

/* Let the frames of a plan show the intervals of a library that was set. 0 or -ENOMEM. */
int decoder__set_frames(struct decoder *d, uint8_t lib, const struct plan *plan);

/*
 * The losses by cause: the kernel half's counters, and callers that lie in no function, or in a
 * refused one. TRACE_LOST_BAD_RECORD is 0: the caller, which reads the records, counts it.
 */
struct trace_losses decoder__losses(const struct decoder *d,
				    const uint64_t counters[WIRE_COUNTER_MAX]);

/*
 * Take a record of a session, except what is about libraries and files. -EBADMSG, which changes
 * nothing, if it is RECORD_BAD, or malformed: an end before its start, or a library, query or guard
 * that was not set (no label is invented; the caller counts the record). A label that the kernel
 * half could not read is DECODER_UNKNOWN.
 *
 * Only a process that has a span, or whose command is a Rust compiler, becomes a process of the
 * trace; a linker or a shell does not. An exec ends one process of the trace and may begin another.
 * But a compiler that execs a compiler before its first span, as rustup's rustc does, stays the
 * same process. A span of an unknown pid makes a process that is marked attached_late, and so does
 * a sample with a frame in a library that was set. Other samples are left out if their process is
 * not in the trace.
 */
int decoder__take(struct decoder *d, const struct record *r);

void decoder__free(struct decoder *d);
DEFINE_CLEANUP(struct decoder, decoder__free)
#define _decoder_ __cleanup(decoder__free_p)

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

#endif /* QPROF_DECODE_DECODER_H */
