// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/plan_guards.h"

#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view/table.h"

/* Guards that the summary names. */
#define INEXACT_MAX 10

static bool is_timer(const struct plan_guard *g)
{
	return g->scope == WIRE_SCOPE_TIMER;
}

/* The label, or how it is read when the probe is hit; NULL if there is no label. */
static const char *label_of(const struct plan_guard *g)
{
	if (g->label)
		return g->label;
	if (is_timer(g))
		return "(timers)";
	if (g->label_of_query)
		return "(a query's)";
	return g->label_slot != PLAN_NO_SLOT ? "(computed)" : NULL;
}

/* Of how many guards the event has an argument, and where that is known. */
static void print_arguments(FILE *out, const struct plan *plan)
{
	uint32_t have = 0, known = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		have += plan->guards[i].has_argument;
		known += plan->guards[i].source.text != WIRE_ARGUMENT_NONE;
	}
	if (have)
		fprintf(out, "  with an argument: %" PRIu32 "; it can be read of %" PRIu32 "\n",
			have, known);
	if (have && plan->expansions_problem)
		fprintf(out, "  macros are not named: %s\n", plan->expansions_problem);
}

/* Those whose end may be noticed late, and why. */
static void print_inexact(FILE *out, const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		if (g->exact)
			continue;
		if (!n++)
			fprintf(out, "  without an exact end\n");
		if (n <= INEXACT_MAX)
			fprintf(out, "    %s: %s\n", label_of(g) ?: g->function,
				g->problem ?: "unknown");
	}
	if (n > INEXACT_MAX)
		fprintf(out, "    and %" PRIu32 " more: --full lists all\n", n - INEXACT_MAX);
}

int plan_guards_summary(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"kind", 0},
		{"guards", 0},
		{"exact", 0},
		{"labelled", 0},
	};
	uint32_t guards[WIRE_KIND_MAX] = {0}, exact[WIRE_KIND_MAX] = {0};
	uint32_t labelled[WIRE_KIND_MAX] = {0};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		guards[g->kind]++;
		exact[g->kind] += g->exact;
		labelled[g->kind] += label_of(g) != NULL;
	}
	for (int kind = 0; kind < WIRE_KIND_MAX; kind++) {
		if (!guards[kind])
			continue;
		table__cell(t, plan_kind_name(kind));
		table__cellf(t, "%" PRIu32, guards[kind]);
		table__cellf(t, "%" PRIu32, exact[kind]);
		table__cellf(t, "%" PRIu32, labelled[kind]);
	}
	if (!t)
		return -ENOMEM;
	fprintf(out, "\nguards      %" PRIu32 "\n", plan->n_guards);
	if (plan->n_guards && table__print(t, out, "  "))
		return -ENOMEM;
	print_inexact(out, plan);
	print_arguments(out, plan);
	if (plan->n_artifacts)
		fprintf(out,
			"  %" PRIu32 " more places record the size of an artifact: no interval\n",
			plan->n_artifacts);
	return 0;
}

int plan_guards_list(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"label", 0}, {"kind", 0}, {"function", 0}, {"ends", 0}, {"exact", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		table__cell(t, label_of(g) ?: "-");
		table__cell(t, plan_kind_name(g->kind));
		table__cell(t, g->function);
		table__cellf(t, "%" PRIu32, g->n_end);
		table__cellf(t, "%s%s%s", g->exact ? "yes" : "no", g->problem ? ": " : "",
			     g->problem ?: "");
	}
	if (!t)
		return -ENOMEM;
	fputc('\n', out);
	return table__print(t, out, "");
}
