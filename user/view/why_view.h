/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print all that a trace and the plan of its library know of one query (`qprof-bpf why`). */
#ifndef QPROF_VIEW_WHY_VIEW_H
#define QPROF_VIEW_WHY_VIEW_H

#include <stdio.h>

#include "analyze/model.h"
#include "plan/plan.h"
#include "trace/reader.h"

/* Whether it is known what executions were about; else why not. */
enum why_keys {
	WHY_NAMED,
	WHY_NO_ID,    /* the end site shows no invocation id */
	WHY_NO_NAMES, /* nothing of the compiler's names was copied */
	WHY_NO_TEXT,  /* names were copied, and not this one */
	WHY_LISTED,   /* results, by the tables */
	WHY_KEYS,
};

/* Of one process, or of all. */
struct why_row {
	const struct trace_process *process; /* NULL: all */
	struct summary_row row;		     /* all zeroes: the trace has nothing of the query */
	uint64_t keys[WHY_KEYS];
	bool cut_list; /* results are unlisted because their list could not be read to its end */
};

struct why_view {
	const char *query;
	const char *events;		   /* that were asked for; NULL: unknown */
	const char *problem;		   /* of the trace, or NULL */
	const struct trace_losses *losses; /* NULL: unknown */
	const struct summary *summary;
	const struct why_row *rows; /* the first is of all */
	size_t n;
	const char *build_id; /* of the toolchain's library; NULL: unknown */
	const char *rustc_version;
	const char *library; /* the path of what was planned, or NULL: */
	const char *no_plan; /* why there is no plan */
	const struct plan *plan;
	uint32_t number; /* of the query in the plan; PLAN_NONE: it has none of the name */
	/* By site of the plan: the enum plan_part that it is attached for; PLAN_PARTS: it is not
	 * attached. NULL: unknown. */
	const uint8_t *attached;
};

/* 0 or a negative errno. */
int why_text(FILE *out, const struct why_view *v);
/* Schema "qprof-why/1". The same errors. */
int why_json(FILE *out, const struct why_view *v);
int why_schema(FILE *out);

#endif /* QPROF_VIEW_WHY_VIEW_H */
