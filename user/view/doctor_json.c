// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "view/doctor_view.h"
#include "base/array.h"
#include "view/json.h"

/* Take the object, to add it to an array or another object; NULL after a failure. */
static struct json_object *taken(struct json *j)
{
	if (!j->err)
		return j->object;
	json_object_put(j->object);
	return NULL;
}

static int append(struct json_object *array, struct json *j)
{
	struct json_object *item = taken(j);

	if (item && !json_object_array_add(array, item))
		return 0;
	json_object_put(item);
	return -ENOMEM;
}

static int add_finding(struct json_object *array, const struct finding *f)
{
	struct json j;

	json__begin(&j);
	json__text(&j, "section", finding_section_name(f->section));
	json__text(&j, "name", f->name);
	json__text(&j, "state", finding_state_name(f->state));
	json__text(&j, "says", f->says);
	json__text(&j, "fix", f->fix);
	return append(array, &j);
}

static struct json_object *events_of(const struct toolchain *t)
{
	struct json_object *array = json_object_new_array();

	for (int kind = 0; array && kind < WIRE_KIND_MAX; kind++) {
		struct json j;

		if (!t->events[kind].n)
			continue;
		json__begin(&j);
		json__text(&j, "kind", plan_kind_name((enum wire_kind)kind));
		json__number(&j, "places", t->events[kind].n);
		json__number(&j, "exact", t->events[kind].exact);
		if (append(array, &j)) {
			json_object_put(array);
			return NULL;
		}
	}
	return array;
}

static void add_plan(struct json *j, const struct toolchain *t)
{
	struct json sites;

	json__text(j, "rustc_version", t->version);
	json__number(j, "queries", t->queries);
	json__number(j, "complete", t->complete);
	json__begin(&sites);
	json__number(&sites, "emulated", t->sites[PLAN_EMULATED]);
	json__number(&sites, "stepped", t->sites[PLAN_STEPPED]);
	json__value(j, "sites", taken(&sites));
	json__value(j, "events", events_of(t));
	json__bool(j, "plan_cached", t->cached);
	json__number(j, "plan_ns", t->plan_ns);
}

static int add_toolchain(struct json_object *array, const struct toolchain *t)
{
	static const char *const of_plan[] = {"rustc_version", "queries",     "complete", "sites",
					      "events",	       "plan_cached", "plan_ns"};
	struct json j;

	json__begin(&j);
	json__text(&j, "name", t->name);
	json__text(&j, "library", t->library);
	json__bool(&j, "wanted", t->wanted);
	json__text(&j, "problem", t->why);
	if (!t->err)
		add_plan(&j, t);
	for (size_t i = 0; t->err && i < N_OF(of_plan); i++)
		json__null(&j, of_plan[i]);
	return append(array, &j);
}

int doctor_json(FILE *out, const struct findings *f, const struct toolchains *t)
{
	struct json_object *findings = json_object_new_array();
	struct json_object *toolchains = json_object_new_array();
	int err = findings && toolchains ? f->err : -ENOMEM;
	struct json j;

	for (uint32_t i = 0; !err && i < f->n; i++)
		err = add_finding(findings, &f->items[i]);
	for (uint32_t i = 0; !err && i < t->n; i++)
		err = add_toolchain(toolchains, &t->items[i]);
	json__begin(&j);
	j.err = j.err ?: err;
	json__text(&j, "schema", "qprof-doctor/1");
	json__bool(&j, "works", !findings__problems(f));
	json__value(&j, "findings", findings);
	json__value(&j, "toolchains", toolchains);
	err = json__put(&j, out);
	fputc('\n', out);
	return err;
}
