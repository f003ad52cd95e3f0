/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sampled stacks: from addresses in files to entries of a trace's tree of stacks. The queries and
 * other intervals that the compiler's code shows (plan/frames.h) are entries, too, each outside the
 * frames that run in it.
 *
 * Stacks are untrusted: a process may put any addresses there.
 */
#ifndef QPROF_DECODE_SAMPLES_H
#define QPROF_DECODE_SAMPLES_H

#include <stddef.h>

#include "decode/images.h"
#include "qprof/wire.h"
#include "trace/trace.h"
#include "decode/library.h"
#include "decode/sink.h"

/* The labels of intervals: from the kernel half's numbers to strings of the trace. */

/*
 * Labels that only the compiler's memory holds. The kernel half sends the text of each once, with a
 * number, and only the number from then on.
 */

#define DYNAMIC_LABEL_NONE     UINT32_MAX	/* the number is not known */
#define DYNAMIC_LABEL_UNWANTED (UINT32_MAX - 1) /* spans with the label are not wanted */

/* All zeroes is empty. */
struct dynamic_labels {
	uint32_t *ids; /* by number - 1: string id, or one of the two above */
	uint32_t n;
};

/* Take a record. -EBADMSG if it is malformed, -ENOMEM, or the sink's error. */
int dynamic_labels__record(struct dynamic_labels *l, const struct decoder_sink *sink,
			   const struct wire_label *r);

/* The string id of a number that is not 0, or one of the two above. */
static inline uint32_t dynamic_labels__id(const struct dynamic_labels *l, uint32_t number)
{
	return number <= l->n ? l->ids[number - 1] : DYNAMIC_LABEL_NONE;
}

void dynamic_labels__clear(struct dynamic_labels *l);

_Static_assert(DECODER_NO_LABEL == DYNAMIC_LABEL_NONE, "interval_labels__of() sets either");
_Static_assert(DECODER_NO_LABEL == TRACE_NO_STRING, "a label is a string");

struct interval_labels {
	const struct decoder_sink *sink; /* outlives this, as do the libraries */
	const struct library *libraries; /* WIRE_MAX_LIBS + 1 */
	struct dynamic_labels dynamic;
	uint32_t unknown; /* string id of DECODER_UNKNOWN, or DECODER_NO_LABEL: not yet */
};

void interval_labels__init(struct interval_labels *l, const struct decoder_sink *sink,
			   const struct library *libraries);

/* Set *label to the string id of DECODER_UNKNOWN. 0, -EBADMSG, or the sink's error. */
int interval_labels__unknown(struct interval_labels *l, uint32_t *label);

/* An interval as the kernel half describes it. */
struct interval_named {
	uint8_t lib;
	uint8_t kind;	/* enum wire_kind */
	uint16_t query; /* or guard */
	uint32_t label; /* number of a dynamic one, or 0 */
};

/*
 * Set *label to the string id of an interval's label, or DYNAMIC_LABEL_UNWANTED. 0; -EBADMSG: there
 * is no such query or guard; or the sink's error.
 */
int interval_labels__of(struct interval_labels *l, struct interval_named interval, uint32_t *label);

void interval_labels__clear(struct interval_labels *l);

/*
 * Samples that wait until the functions of their frames are looked up: the process and the interval
 * of each are known already. First in, first out.
 */

/* All zeroes is empty. */
struct held_samples {
	char *bytes;
	size_t used, capacity;
};

struct held_sample {
	struct trace_sample sample; /* without a stack, or one without frames */
	const struct library *lib;  /* that has a frame in the stack; NULL: none */
	struct wire_sample wire;
};

/* The frames of `s->wire` that are not there take no room. 0 or -ENOMEM. */
int held_samples__add(struct held_samples *h, const struct held_sample *s);

/* The sample at *at, which then is the place of the next one; 0 is the first. False: no more. */
bool held_samples__next(const struct held_samples *h, size_t *at, struct held_sample *out);

/* Forget them all; the memory is kept. */
void held_samples__empty(struct held_samples *h);

void held_samples__clear(struct held_samples *h);

/* Bytes of samples that wait, and how much younger the last may be; then they are looked up. */
#define SAMPLES_HELD_MAX (4u << 20)
#define SAMPLES_HELD_NS	 UINT64_C(1000000000)

/* Places that are remembered; then all are forgotten, and found again. */
#define SAMPLES_PLACES_MAX (1u << 18)

/* Intervals of one stack; inner ones beyond are left out. */
#define SAMPLES_SHOWN_MAX 512

struct sampled_file {
	const struct decoder_functions *functions; /* NULL: unknown */
	const struct library *library;		   /* of a compiler, or NULL */
	struct llvm_plan *llvm;			   /* the samples'; or NULL */
};

/* The facts known of an address. */
struct sampled_place {
	uint32_t locindex;
	struct plan_frame_code code; /* by the frames of its file's library */
};

/* All zeroes is empty. */
struct samples {
	struct sampled_file *files; /* by number */
	uint32_t n_files;
	bool is_stale;	      /* the libraries of files have to be found again */
	struct u64_map known; /* place -> index into places */
	struct sampled_place *places;
	uint32_t n_places, places_capacity;
	struct held_samples held;
	uint64_t held_since_ns; /* the time of the first of them */
	uint64_t n_unnamed;	/* that lack the name of LLVM's function or pass */
	/* Of the stack that is being converted. */
	struct plan_frame_code codes[WIRE_SAMPLE_FRAMES];
	uint32_t locations[WIRE_SAMPLE_FRAMES];
	struct plan_shown shown[SAMPLES_SHOWN_MAX];
};

/* The parts of the decoder that samples need. */
struct samples_context {
	const struct decoder_sink *sink;
	const struct library *libraries; /* WIRE_MAX_LIBS + 1 */
	struct interval_labels *labels;
	struct caller_index *callers;
	struct images *images;
};

/* Whether the functions of a file were set. */
bool samples__has_file(const struct samples *s, uint32_t number);

/* The functions of a file, which outlive the samples. 0 or -ENOMEM. */
int samples__set_file(struct samples *s, uint32_t number,
		      const struct decoder_functions *functions);

/* Set the facts that a file shows of LLVM, after its functions. 0 or -ENOMEM. */
int samples__set_llvm(struct samples *s, uint32_t number, struct llvm_plan *llvm);

/* A library, or the functions of one, changed. */
void samples__forget(struct samples *s);

/*
 * Take a record. It waits for samples__release(). -EBADMSG, as decoder__take(); -ENOMEM, or the
 * sink's error.
 */
int samples__record(struct samples *s, const struct samples_context *c,
		    const struct wire_sample *record);

/*
 * Look up the places of the samples that wait, and give the sink the functions and entries of their
 * stacks, and the samples. A stack that finds no room ends with the last entry that did. Before the
 * number of a file or of a library goes to another one. -ENOMEM, or the sink's error.
 */
int samples__release(struct samples *s, const struct samples_context *c);

void samples__clear(struct samples *s);

#endif /* QPROF_DECODE_SAMPLES_H */
