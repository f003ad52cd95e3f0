// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>

#include "base/array.h"
#include "view/json.h"
#include "view/trend_view.h"

#define SCHEMA "qprof-trend/1"

static void add_real(struct json *j, const char *key, double value)
{
	char text[400]; /* the longest double has 309 digits before the decimal point */

	if (!isfinite(value)) {
		json__null(j, key);
		return;
	}
	snprintf(text, sizeof(text), "%.6f", value);
	json__value(j, key, json_object_new_double_s(value, text));
}

static void add_known(struct json *j, const char *key, uint64_t value)
{
	json__known(j, key, value != HISTORY_UNKNOWN, value);
}

static void add_notes(struct json *j, const struct trend *t)
{
	struct json_object *notes = json_object_new_array();

	for (size_t i = 0; notes && i < t->n_notes; i++)
		json_object_array_add(notes, json_new_text(t->notes[i]));
	json__value(j, "notes", notes);
}

static void put_head(struct json *j, const struct trend *t)
{
	const struct history_series *of = &t->question.of;

	json__begin(j);
	json__text(j, "schema", SCHEMA);
	json__text(j, "crate", of->crate);
	json__text(j, "query", of->query);
	json__text(j, "item", of->item);
	json__text(j, "llvm", of->llvm);
	json__text(j, "metric", trend_metric_name(t->question.metric));
	json__text(j, "unit", trend_metric_unit(t->question.metric));
	json__bool(j, "exact", t->exact);
	add_real(j, "least", t->least);
	json__text(j, "uncounted", t->uncounted);
	json__number(j, "absent", t->absent);
	json__number(j, "not_whole", t->not_whole);
	add_notes(j, t);
	json__put_open(j);
}

static void put_point(struct json *j, const struct trend_point *p)
{
	json__text(j, "build", p->build->build);
	json__text(j, "commit", p->build->commit);
	json__text(j, "branch", p->build->branch);
	add_known(j, "dirty", p->build->dirty);
	json__number(j, "start_ns", p->build->start_ns);
	json__text(j, "host", p->build->host);
	json__text(j, "label", p->build->label);
	json__text(j, "toolchain", p->build->toolchain);
	add_known(j, "value", p->value);
	json__text(j, "how", p->how);
	json__text(j, "left_out", trend_reason_name(p->reason));
	json__put(j);
}

static void put_change(struct json *j, const struct trend *t, const struct trend_change *c)
{
	const struct history_build *build = t->points[c->point].build;

	json__text(j, "commit", build->commit);
	json__text(j, "former_commit", t->points[c->former].build->commit);
	json__text(j, "build", build->build);
	json__text(j, "branch", build->branch);
	json__number(j, "start_ns", build->start_ns);
	json__number(j, "point", c->point);
	add_real(j, "change", c->change);
	add_real(j, "confidence", c->confidence);
	add_real(j, "before", c->before);
	add_real(j, "after", c->after);
	json__bool(j, "other_toolchain", c->toolchain);
	json__put(j);
}

int trend_json(FILE *out, const struct trend *t)
{
	struct json j = {.out = out};

	put_head(&j, t);
	json__array(&j, "points");
	for (size_t i = 0; i < t->n && !j.err; i++) {
		json__line(&j, i);
		put_point(&j, &t->points[i]);
	}
	json__print(&j, "]");
	json__array(&j, "changes");
	for (size_t i = 0; i < t->n_changes && !j.err; i++) {
		json__line(&j, i);
		put_change(&j, t, &t->changes[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}

struct member {
	const char *path;
	const char *name;
	const char *unit;
	const char *text;
};

static const struct member members[] = {
	{"", "schema", "", SCHEMA},
	{"", "crate", "", "what is followed: a crate; null: the whole build"},
	{"", "query", "", "a query; null: all"},
	{"", "item", "", "the path of an item; null: all"},
	{"", "llvm", "", "a function that LLVM compiles, or a pass of LLVM; null: all"},
	{"", "metric", "", "cpu, wall, count, results or memory"},
	{"", "unit", "", "of value, before and after: ns, executions, results or bytes"},
	{"", "exact", "", "the numbers have no noise"},
	{"", "least", "ratio", "smaller changes are none"},
	{"", "uncounted", "",
	 "queries whose executions are in no value, as some build does not count them; null: none"},
	{"", "absent", "builds", "without the crate, query, item, function or pass"},
	{"", "not_whole", "builds", "unfinished, damaged or parts of a build, so without a point"},
	{"", "notes", "", "sentences about what was left out, and how numbers are compared"},
	{"", "points", "", "builds, the oldest first; those of a commit follow each other"},
	{"points[]", "build", "", "the UUID of the trace"},
	{"points[]", "commit", "", "of the source; null: not known"},
	{"points[]", "branch", "", "null: not known"},
	{"points[]", "dirty", "", "1: the source had changes that are in no commit"},
	{"points[]", "start_ns", "ns", "the start of the recording, since 1970 UTC"},
	{"points[]", "host", "", "the name of the machine"},
	{"points[]", "label", "", "the user's"},
	{"points[]", "toolchain", "", "the version of the compiler"},
	{"points[]", "value", "", "in `unit`; null: not known"},
	{"points[]", "how", "", "how the value is known: exact or sampled"},
	{"points[]", "left_out", "", "why changes are not looked for there; null: they are"},
	{"", "changes", "", "where the level changed, the oldest first"},
	{"changes[]", "commit", "", "of the first build of the new level"},
	{"changes[]", "former_commit", "", "of the last build of the former level"},
	{"changes[]", "build", "", "the first build of the new level"},
	{"changes[]", "branch", "", "of it"},
	{"changes[]", "start_ns", "ns", "of it, since 1970 UTC"},
	{"changes[]", "point", "", "the index of it in points"},
	{"changes[]", "change", "ratio", "0.03: 3 % more; null: from nothing"},
	{"changes[]", "confidence", "", "0 to 1: that it is no noise"},
	{"changes[]", "before", "", "the former level, in `unit`"},
	{"changes[]", "after", "", "the new level"},
	{"changes[]", "other_toolchain", "", "the two builds are by different compilers"},
};

int trend_schema(FILE *out)
{
	struct schema s;

	schema__begin(&s, out, SCHEMA);
	for (size_t i = 0; i < N_OF(members); i++)
		schema__field(&s, members[i].path, members[i].name, members[i].unit,
			      members[i].text);
	return schema__end(&s);
}
