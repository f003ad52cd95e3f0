/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is worth a trend: the crates, queries, and work of LLVM that take most of a build. */
#ifndef QPROF_HISTORY_SUBJECTS_H
#define QPROF_HISTORY_SUBJECTS_H

#include "history/questions.h"

struct history_subjects {
	char **names; /* the most expensive first */
	size_t n;
	uint32_t capacity;
};

enum history_subject {
	HISTORY_CRATES,	 /* by CPU time */
	HISTORY_QUERIES, /* of all crates, by self time */
	HISTORY_PASSES,	 /* of LLVM, by time in all crates */
	HISTORY_FUNCTIONS_IN_LLVM,
};

/* At most `most` of a build. Errors are printed, as by the store. */
int history_subjects__ask(struct store *s, const struct history_build *build,
			  enum history_subject subject, unsigned int most,
			  struct history_subjects *out);
void history_subjects__clear(struct history_subjects *s);
#define _history_subjects_ __cleanup(history_subjects__clear)

#endif /* QPROF_HISTORY_SUBJECTS_H */
