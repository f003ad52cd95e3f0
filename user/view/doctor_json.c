// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/doctor_view.h"
#include "base/array.h"
#include "view/json.h"

static void put_finding(struct json *j, const struct finding *f)
{
	json__text(j, "section", finding_section_name(f->section));
	json__text(j, "name", f->name);
	json__text(j, "state", finding_state_name(f->state));
	json__text(j, "says", f->says);
	json__text(j, "fix", f->fix);
	json__put(j);
}

static struct json_object *events_of(const struct toolchain *t)
{
	struct json_object *array = json_object_new_array();

	for (int kind = 0; array && kind < WIRE_KIND_MAX; kind++) {
		struct json j = {};
		struct json_object *event;

		if (!t->events[kind].n)
			continue;
		json__begin(&j);
		json__text(&j, "kind", plan_kind_name((enum wire_kind)kind));
		json__number(&j, "places", t->events[kind].n);
		json__number(&j, "exact", t->events[kind].exact);
		event = json__take(&j);
		if (!event || json_object_array_add(array, event)) {
			json_object_put(event);
			json_object_put(take_ptr(array));
		}
	}
	return array;
}

static void add_plan(struct json *j, const struct toolchain *t)
{
	struct json sites = {};

	json__text(j, "rustc_version", t->version);
	json__text(j, "symbols", plan_symbols_name(t->symbols));
	json__number(j, "queries", t->queries);
	json__number(j, "complete", t->complete);
	json__begin(&sites);
	json__number(&sites, "emulated", t->sites[PLAN_EMULATED]);
	json__number(&sites, "stepped", t->sites[PLAN_STEPPED]);
	json__value(j, "sites", json__take(&sites));
	json__value(j, "events", events_of(t));
	json__bool(j, "plan_cached", t->cached);
	json__number(j, "plan_ns", t->plan_ns);
}

static void put_toolchain(struct json *j, const struct toolchain *t)
{
	static const char *const of_plan[] = {"rustc_version", "symbols", "queries",	 "complete",
					      "sites",	       "events",  "plan_cached", "plan_ns"};

	json__text(j, "name", t->name);
	json__text(j, "library", t->library);
	json__bool(j, "wanted", t->wanted);
	json__text(j, "problem", t->why);
	if (!t->err)
		add_plan(j, t);
	for (size_t i = 0; t->err && i < N_OF(of_plan); i++)
		json__null(j, of_plan[i]);
	json__put(j);
}

int doctor_json(FILE *out, const struct findings *f, const struct toolchains *t)
{
	struct json j = {.out = out, .err = f->err};

	json__begin(&j);
	json__text(&j, "schema", "qprof-doctor/1");
	json__bool(&j, "works", !findings__problems(f));
	json__put_open(&j);
	json__array(&j, "findings");
	for (uint32_t i = 0; i < f->n && !j.err; i++) {
		json__item(&j, i);
		put_finding(&j, &f->items[i]);
	}
	json__print(&j, "],\"toolchains\":[");
	for (uint32_t i = 0; i < t->n && !j.err; i++) {
		json__item(&j, i);
		put_toolchain(&j, &t->items[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}
