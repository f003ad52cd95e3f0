/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reports of a session to a watch: the compilers' libraries, and the open intervals of the
 * thread that was asked for last.
 */
#ifndef QPROF_STUCK_ANSWERS_H
#define QPROF_STUCK_ANSWERS_H

#include "qprof/wire.h"
#include "base/cleanup.h"
#include "capture/record.h"
#include "plan/frames.h"

/* What is known of one librustc_driver. */
struct compiler {
	struct plan *plan; /* a reference */
	struct plan_frames *frames;
	struct wire_job_tables *jobs;		  /* NULL: how they are read is not known */
	bool *recorded_queries, *recorded_guards; /* whose executions and intervals are recorded */
};

/* `queries` and `guards`: which ones are recorded, by number. 0 or -ENOMEM. */
int compiler__new(const struct plan *plan, const bool *queries, const bool *guards,
		  struct compiler **out);

/* Whether a file is the library. */
bool compiler__is(const struct compiler *c, const struct library_file *file);

/* Names by the plan's numbers; NULL past the end, and for a guard with a dynamic label. */
const char *compiler__query(const struct compiler *c, uint32_t query);
const char *compiler__guard(const struct compiler *c, uint32_t guard);

/*
 * An interval of this kind, of a query or a guard, as the kernel half knows it: sets `query`,
 * `group`, `number` and `kind`. False if its end would not be recorded, or that is unknown.
 */
bool compiler__begun(const struct compiler *c, uint8_t kind, uint32_t query, uint32_t guard,
		     struct wire_begun *out);

void compiler__free(struct compiler *c);
DEFINE_CLEANUP(struct compiler, compiler__free)
#define _compiler_ __cleanup(compiler__free_p)

/* A dynamic label. */
struct answers_label;

/* All zeroes is empty. */
struct answers {
	struct compiler *compilers[WIRE_MAX_LIBS + 1]; /* by number; NULL: none */
	/* Each has its own allocation, as snapshots refer to it. */
	struct answers_label **labels;
	uint32_t n_labels, labels_capacity;
	/* The records of one thread's open stack. */
	struct wire_open_frame *frames;
	uint32_t n_frames, frames_capacity;
	struct wire_open_stack stack;
	bool has_stack;
};

/*
 * Take a record of a session (capture/session_sink.h). Other records are left out. `answers` may be
 * NULL: nothing is wanted. 0 or -ENOMEM.
 */
int answers__take(void *answers, const struct record *r);

/* Another thread is about to be asked for. */
void answers__expect(struct answers *a);

/* The name of an interval, the answers'; NULL: unknown. */
const char *answers__name(const struct answers *a, const struct wire_open_frame *f);

/* The number of a file's compiler; -ENOENT: it has none. `library` may be NULL. */
int answers__compiler(const struct answers *a, const struct library_file *library);

void answers__clear(struct answers *a);

#endif /* QPROF_STUCK_ANSWERS_H */
