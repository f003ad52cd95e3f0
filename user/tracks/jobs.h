/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The jobs of one compiler that samples met, by the numbers that the compiler gives them. A job is
 * put into the trace when a sample is in it, and those around before it.
 */
#ifndef QPROF_TRACKS_JOBS_H
#define QPROF_TRACKS_JOBS_H

#include "base/map.h"
#include "tracks/keys.h"
#include "tracks/library.h"
#include "tracks/sink.h"

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
	const struct tracks_sink *sink;
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

#endif /* QPROF_TRACKS_JOBS_H */
