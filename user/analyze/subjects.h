/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The subjects of activities: the time of each procedural macro over a whole build, or of each
 * codegen unit of each compile. Takes the same spans as the summary; knows no output format.
 *
 * Activities about one subject may lie within each other: the time of one counts once, for the
 * innermost.
 */
#ifndef QPROF_ANALYZE_SUBJECTS_H
#define QPROF_ANALYZE_SUBJECTS_H

#include "analyze/summary.h"

struct subjects;

enum subjects_of {
	SUBJECTS_MACROS, /* procedural macros: derives, attributes, and those called with a ! */
	SUBJECTS_UNITS,	 /* codegen units */
};

/* The parts of a codegen unit's time. */
enum subject_phase {
	SUBJECT_CODEGEN, /* rustc makes LLVM's code of it */
	SUBJECT_OPTIMIZE,
	SUBJECT_LTO,
	SUBJECT_EMIT,
	SUBJECT_COPY, /* taken from the last build */
	SUBJECT_PHASES,
};

#define SUBJECT_PARTS 3

/* The part of a subject's time in one crate. */
struct subject_part {
	const char *crate; /* empty or NULL: unknown */
	uint64_t total_ns;
};

/* Times are without probe time, as far as it is known. Texts but the name are the reader's. */
struct subject_row {
	char *name; /* NULL: what the activities were about is not known */
	uint64_t total_ns;
	uint64_t cpu_ns; /* of total_ns on the CPU: on_cpu_ns() */
	uint64_t max_ns; /* of one activity, with those in it */
	uint64_t count;	 /* expansions of a macro, activities about a unit */
	uint32_t n_crates;
	struct subject_part crates[SUBJECT_PARTS]; /* the most expensive, in order */
	/* Of a unit: */
	uint64_t phase_ns[SUBJECT_PHASES];
	uint64_t size; /* rustc's estimate; 0: not known */
	uint32_t pid;
	uint32_t tid;	    /* the thread that spent most time on it */
	const char *thread; /* its name, or NULL */
};

/* `texts` and the summary, which has the processes, outlive the subjects. 0, or -ENOMEM. */
int subjects__new(const struct trace_texts *texts, const struct summary *processes,
		  enum subjects_of of, struct subjects **out);

enum subjects_of subjects__of(const struct subjects *s);

/* Set the name of a thread; it is not copied and must outlive the subjects. 0 or -ENOMEM. */
int subjects__thread(struct subjects *s, const struct trace_thread *t);

/*
 * Take a span, which is not TRACE_KIND_OFF_CPU. `event` is the string id of its event's text
 * (trace_reader__event_string()), or TRACE_NO_STRING. 0 or -ENOMEM.
 */
int subjects__span(struct subjects *s, const struct trace_span *span,
		   const struct trace_times *times, uint32_t event);

/* The rows, in no particular order. Free with subject_rows__free(). -ENOMEM. */
int subjects__rows(struct subjects *s, struct subject_row **rows, size_t *n);
void subject_rows__free(struct subject_row *rows, size_t n);

void subjects__free(struct subjects *s);
DEFINE_CLEANUP(struct subjects, subjects__free)
#define _subjects_ __cleanup(subjects__free_p)

#endif /* QPROF_ANALYZE_SUBJECTS_H */
