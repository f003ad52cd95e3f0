/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executions of queries of a build that were not recorded: those of the compilers' tables. Of some
 * queries these may have other results, too.
 */
#ifndef QPROF_HISTORY_COUNTED_H
#define QPROF_HISTORY_COUNTED_H

#include "analyze/model.h"
#include "history/rows.h"

struct counted {
	bool *unsure; /* by label: of some compile it is not known how often it was executed */
	uint32_t n;
	bool at_least; /* a compiler was not read to its end: results are lower limits */
};

/*
 * `crates` has the name of each of the model's processes; NULL: it compiles nothing. 0 or -ENOMEM.
 */
int counted__read(struct counted *c, const struct model *m, const char *const *crates);

/*
 * The recorded executions in a process. HISTORY_UNKNOWN: none, though the compiler's tables have
 * results, so probes came too late; some of these may be no executions, and no names tell which.
 */
uint64_t counted__recorded(const struct model *m, uint32_t process);

/* Executions in a process of all queries but the unsure ones. 0 or -ENOMEM. */
int counted__executions(const struct counted *c, const struct model *m, uint32_t process,
			uint64_t *executions);

/*
 * The names of the unsure queries, as history_build.uncounted. 0, -ENOMEM, or -E2BIG: they are too
 * many for a text.
 */
int counted__names(const struct counted *c, const struct model *m, struct history_rows *rows,
		   const char **names);

void counted__clear(struct counted *c);

#endif /* QPROF_HISTORY_COUNTED_H */
