/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The crates and queries that are worth a trend: those that take most of a build. */
#ifndef QPROF_HISTORY_SUBJECTS_H
#define QPROF_HISTORY_SUBJECTS_H

#include "history/questions.h"

struct history_subjects {
	char **names; /* the most expensive first */
	size_t n;
	uint32_t capacity;
};

/* At most `most` crates, by CPU time. Errors are printed, as by the store. */
int history_subjects__crates(struct store *s, const struct history_build *build, unsigned int most,
			     struct history_subjects *out);
/* Queries of all crates, by their self time. */
int history_subjects__queries(struct store *s, const struct history_build *build, unsigned int most,
			      struct history_subjects *out);
void history_subjects__clear(struct history_subjects *s);
#define _history_subjects_ __cleanup(history_subjects__clear)

#endif /* QPROF_HISTORY_SUBJECTS_H */
