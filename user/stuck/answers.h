/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reports of a session to a watch: the compilers' libraries, and the open intervals of the
 * thread that was asked for last.
 */
#ifndef QPROF_STUCK_ANSWERS_H
#define QPROF_STUCK_ANSWERS_H

#include "qprof/wire.h"
#include "stuck/compiler.h"

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
 * As the functions of struct session_sink. Other records are left out. 0 or -ENOMEM.
 * answers__recorded() takes NULL: nothing is wanted.
 */
int answers__library(struct answers *a, uint8_t lib, const struct plan *plan);
void answers__recorded(struct answers *a, uint8_t lib, const bool *queries, const bool *guards);
int answers__record(struct answers *a, const void *record, size_t size);

/* Another thread is about to be asked for. */
void answers__expect(struct answers *a);

/* The name of an interval, the answers'; NULL: unknown. */
const char *answers__name(const struct answers *a, const struct wire_open_frame *f);

/* The number of a file's compiler; -ENOENT: it has none. `library` may be NULL. */
int answers__compiler(const struct answers *a, const struct library_file *library);

void answers__clear(struct answers *a);

#endif /* QPROF_STUCK_ANSWERS_H */
