// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>

#include "history/columns.h"
#include "view/history_list_view.h"
#include "view/json.h"

#define SCHEMA "qprof-history/1"

/* Both as reports and comparisons have them, in place of the columns that the store has. */
static void put_cpu(struct json *j, const struct history_build *b)
{
	uint64_t ns = history_build__without_cost(b, b->cpu_ns);
	bool known = ns != HISTORY_UNKNOWN;

	json__known(j, "cpu_ns", known, ns);
	json__known(j, "in_compilers_ns", known && b->cost_ppm != HISTORY_UNKNOWN, b->cpu_ns - ns);
}

static void put_build(struct json *j, const struct history_build *build)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];
		uint64_t number;

		if (!strcmp(c->name, "cost_ppm"))
			continue;
		if (!strcmp(c->name, "cpu_ns")) {
			put_cpu(j, build);
			continue;
		}
		if (c->type == HISTORY_TEXT) {
			json__text(j, c->name, history_column__text(c, build));
			continue;
		}
		number = history_column__number(c, build);
		json__known(j, c->name, number != HISTORY_UNKNOWN, number);
	}
	json__put(j);
}

int history_list_json(FILE *out, const struct history_builds *builds)
{
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", SCHEMA);
	json__put_open(&j);
	json__array(&j, "builds");
	for (size_t i = 0; i < builds->n && !j.err; i++) {
		json__line(&j, i);
		put_build(&j, &builds->at[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}

int history_list_schema(FILE *out)
{
	const struct history_table *t = history_table(HISTORY_BUILD);
	struct schema s;

	schema__begin(&s, out, SCHEMA);
	schema__field(&s, "", "schema", "", SCHEMA);
	schema__field(&s, "", "builds", "", "builds, the newest last; null: not known");
	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];

		if (!strcmp(c->name, "cost_ppm"))
			continue;
		if (strcmp(c->name, "cpu_ns")) {
			schema__field(&s, "builds[]", c->name, c->unit, c->text);
			continue;
		}
		schema__field(&s, "builds[]", "cpu_ns", "ns",
			      "the CPU time of the compilers, without in_compilers_ns");
		schema__field(&s, "builds[]", "in_compilers_ns", "ns",
			      "what recording added in compilers; null: not known, and in cpu_ns");
	}
	return schema__end(&s);
}
