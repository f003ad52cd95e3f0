// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/doctor_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "view/table.h"
#include "base/array.h"
#include "view/json.h"

/* Column in which the texts begin. */
#define INDENT 12

static void print_clean(FILE *out, const char *text)
{
	_free_ char *clean = format_clean(text);

	fputs(clean ?: "", out);
}

static void print_finding(FILE *out, const struct finding *f)
{
	_free_ char *name = format_clean(f->name), *says = format_clean(f->says);
	int used = fprintf(out, "  %-8s  %s: ", finding_state_name(f->state), name ?: "?");

	wrap_print(out, says ?: "?", (size_t)used, WRAP_COLUMNS, INDENT);
	if (!f->fix)
		return;
	/* Never wrapped, so that a command can be copied. */
	fprintf(out, "%*sfix: ", INDENT, "");
	print_clean(out, f->fix);
	fputc('\n', out);
}

/* Print one line per kind. */
static void print_events(FILE *out, const struct toolchain *t)
{
	const char *before = "events   ";

	for (int kind = 0; kind < WIRE_KIND_MAX; kind++) {
		if (!t->events[kind].n)
			continue;
		fprintf(out, "%*s%s%s %" PRIu32, INDENT, "", before,
			plan_kind_name((enum wire_kind)kind), t->events[kind].n);
		if (t->events[kind].exact != t->events[kind].n)
			fprintf(out, " (%" PRIu32 " exact)", t->events[kind].exact);
		fputc('\n', out);
		before = "         ";
	}
	if (*before != ' ')
		fprintf(out, "%*s%snone\n", INDENT, "", before);
}

static void print_toolchain(FILE *out, const struct toolchain *t)
{
	char buf[FORMAT_MAX], total[FORMAT_MAX];

	fprintf(out, "%*slibrary  ", INDENT, "");
	print_clean(out, t->library);
	fprintf(out, "\n%*sin use   %s\n", INDENT, "", t->wanted ? "yes" : "not here");
	if (t->err)
		return;
	fprintf(out, "%*srustc    ", INDENT, "");
	print_clean(out, t->version ?: "unknown version");
	fprintf(out, "\n%*squeries  %s of %s exact\n", INDENT, "", format_count(buf, t->complete),
		format_count(total, t->queries));
	fprintf(out, "%*ssites    %s emulated, ", INDENT, "",
		format_count(buf, t->sites[PLAN_EMULATED]));
	fprintf(out, "%s single-stepped\n", format_count(buf, t->sites[PLAN_STEPPED]));
	print_events(out, t);
	fprintf(out, "%*splan     %s in %s\n", INDENT, "",
		t->cached ? "from the cache" : "read from the library",
		format_duration(buf, t->plan_ns));
}

static const struct toolchain *find(const struct toolchains *list, const char *name, uint32_t nth)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (!strcmp(list->items[i].name, name) && !nth--)
			return &list->items[i];
	}
	return NULL;
}

static void print_section(FILE *out, enum finding_section section, const struct findings *f,
			  const struct toolchains *list)
{
	uint32_t nth = 0;
	const char *last = "";

	fprintf(out, "%s%s\n", section ? "\n" : "", finding_section_name(section));
	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->items[i];
		const struct toolchain *t;

		if (one->section != section)
			continue;
		print_finding(out, one);
		if (section != FINDING_TOOLCHAINS)
			continue;
		/*
		 * root and a user may have toolchains of the same name, listed next to each other.
		 */
		nth = strcmp(one->name, last) ? 0 : nth + 1;
		last = one->name;
		t = find(list, one->name, nth);
		if (t)
			print_toolchain(out, t);
	}
}

int doctor_text(FILE *out, const struct findings *f, const struct toolchains *t)
{
	uint32_t problems = findings__problems(f);

	if (f->err)
		return f->err;
	for (int section = 0; section < FINDING_SECTIONS; section++)
		print_section(out, (enum finding_section)section, f, t);
	if (!problems)
		fputs("\nRecording works here.\n", out);
	else
		fprintf(out, "\nRecording does not work here: %" PRIu32 " problem%s.\n", problems,
			problems == 1 ? "" : "s");
	return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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
