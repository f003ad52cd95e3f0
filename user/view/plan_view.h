/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print a plan (`qprof-bpf plan`) as text and JSON. */
#ifndef QPROF_VIEW_PLAN_VIEW_H
#define QPROF_VIEW_PLAN_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "plan/mine/llvm.h"
#include "plan/plan.h"
#include "view/columns.h"

/* LLVM's library beside the compiler's. */
struct plan_llvm {
	char *path;		/* NULL: there is none */
	struct llvm_plan *plan; /* NULL likewise */
};

/* Why nothing is known of what LLVM does in samples; NULL: it is. */
const char *plan_llvm_problem(const struct plan_llvm *llvm);

/*
 * The file, how much of it can be recorded, its sites by role and class, and every problem by name;
 * with `full`, also tables of the queries and the sites. 0 or -ENOMEM.
 */
int plan_text(FILE *out, const struct plan *plan, const struct plan_llvm *llvm, bool full);

/* The whole plan, schema "qprof-plan/1"; the columns in plan_json.c say what is in it. */
int plan_json(FILE *out, const struct plan *plan, const struct plan_llvm *llvm);

/* Rows of both: view/columns.h. */
void plan_query_columns(struct columns *c, const struct plan *plan, const struct plan_query *q);
void plan_guard_columns(struct columns *c, const struct plan_guard *g);
void plan_site_columns(struct columns *c, const struct plan *plan, const struct plan_site *site);

/* The label, or how it is read when the probe is hit; NULL if there is no label. */
const char *plan_guard_label(const struct plan_guard *g);

static inline bool plan_query__is_complete(const struct plan_query *q)
{
	return q->start_exact && q->end_exact;
}

/* Build-id in hex; `text` needs 2 * PLAN_BUILD_ID_MAX + 1 bytes. */
void plan_build_id_text(const struct plan *plan, char *text);

/* Number of queries with an exact start and end. */
uint32_t plan_complete_queries(const struct plan *plan);
/* Number of body symbols that share their address with a previous symbol. */
uint32_t plan_folded_symbols(const struct plan *plan);

#endif /* QPROF_VIEW_PLAN_VIEW_H */
