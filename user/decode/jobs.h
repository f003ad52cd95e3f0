/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The jobs of one compiler that samples met, by the numbers that the compiler gives them. A job is
 * put into the trace when a sample is in it, and those around before it.
 */
#ifndef QPROF_DECODE_JOBS_H
#define QPROF_DECODE_JOBS_H

#include "base/map.h"
#include "decode/keys.h"
#include "decode/library.h"
#include "decode/sink.h"
#include "plan/mine/llvm.h"
#include "qprof/wire.h"
#include "decode/symbols.h"

/* Of one compiler: samples in further ones have no job. */
#define JOBS_MAX (1u << 20)

struct job {
	uint64_t parent; /* the compiler's number; 0: none */
	uint64_t key;
	uint32_t id;	/* in the trace, or TRACE_NO_JOB */
	uint32_t depth; /* in the trace */
	uint16_t query;
	uint8_t lib;  /* whose query it is */
	bool refused; /* the trace has no room for it, or it is too deep */
};

/* All zeroes is empty. */
struct jobs {
	struct u64_map known; /* number -> index into items */
	struct job *items;
	uint32_t n, capacity;
};

/* Remember a job that is not known yet. 0 or -ENOMEM. */
int jobs__note(struct jobs *j, const struct wire_job *r);

struct jobs_context {
	const struct decoder_sink *sink;
	const struct library *library;
	uint8_t lib;	   /* its number */
	struct keys *keys; /* the names of what jobs are about */
	uint32_t process;
};

/*
 * Set *id to the trace's number of the job with the compiler's number `number`; TRACE_NO_JOB if it
 * is not known, or the trace has no room. -ENOMEM, or the sink's error.
 */
int jobs__in_trace(struct jobs *j, const struct jobs_context *c, uint64_t number, uint32_t *id);

/*
 * Add the queries of a job and of those around it inside *stack, which becomes the innermost of
 * them: as far as they are known, for a sample that has no frames. As sink.
 */
int jobs__stack(const struct jobs *j, const struct jobs_context *c, uint64_t number,
		uint32_t *stack);

void jobs__clear(struct jobs *j);

/*
 * What LLVM was doing in a sample (wire_llvm.h): the name of the pass, by its vtable, and of the
 * function, by the number that the kernel half has sent its name with. Both are a process's memory,
 * and may be anything: a vtable that is no pass's has no name, and bytes of a name that are not
 * printable are replaced.
 */

/* Of one compiler: functions beyond have no name. */
#define LLVM_NAMES_MAX (1u << 18)

/* The names of one compiler's functions; all zeroes is empty. */
struct llvm_names {
	struct u64_map strings; /* number -> string id */
};

/*
 * The record of a name, of a compiler whose symbols are `symbols`: the item of this one is wanted.
 * 0, -EBADMSG, -ENOMEM, or the sink's error. `n` and `symbols` may be NULL: unknown.
 */
int llvm_names__record(struct llvm_names *n, struct symbols *symbols,
		       const struct decoder_sink *sink, const struct wire_llvm_name *r);

void llvm_names__clear(struct llvm_names *n);

/* The parts that convert a sample. */
struct llvm_context {
	const struct decoder_sink *sink;
	const struct llvm_names *names; /* of its process */
	const struct llvm_plan *passes; /* of the file that the pass's vtable is in, or NULL */
	uint64_t *n_unnamed;		/* samples that lack the name of a function or a pass */
};

/*
 * Set *id to the trace's entry of what a sample has; TRACE_NO_LLVM: it is not known, or the trace
 * has no room. -ENOMEM, or the sink's error.
 */
int llvm_entry(const struct llvm_context *c, const struct wire_sample *r, uint32_t *id);

#endif /* QPROF_DECODE_JOBS_H */
