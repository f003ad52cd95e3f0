// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/doctor_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "view/columns.h"

/* Column in which the texts begin. */
#define INDENT 12

static void print_toolchain(FILE *out, const struct toolchain *t)
{
	const char *before = "events   ";
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
	fprintf(out, "%*splan     %s in %s\n", INDENT, "",
		t->cached ? "from the cache" : "read from the library",
		format_duration(buf, t->plan_ns));
}

static void print_section(FILE *out, enum finding_section section, const struct findings *f,
			  const struct toolchains *list)
{
	uint32_t nth = 0;
	const char *last = "";

	fprintf(out, "%s%s\n", section ? "\n" : "", finding_section_name(section));
	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->items[i];
		_free_ char *name = format_clean(one->name), *says = format_clean(one->says);
		uint32_t before;
		int used;

		if (one->section != section)
			continue;
		used = fprintf(out, "  %-8s  %s: ", finding_state_name(one->state), name ?: "?");
		wrap_print(out, says ?: "?", (size_t)used, WRAP_COLUMNS, INDENT);
		if (one->fix) {
			/* Never wrapped, so that a command can be copied. */
			fprintf(out, "%*sfix: ", INDENT, "");
			print_clean(out, one->fix);
			fputc('\n', out);
		}
		if (section != FINDING_TOOLCHAINS)
			continue;
		/*
		 * root and a user may have toolchains of the same name, listed next to each other.
		 */
		nth = strcmp(one->name, last) ? 0 : nth + 1;
		last = one->name;
		before = nth;
		for (uint32_t k = 0; k < list->n; k++)
			if (!strcmp(list->items[k].name, one->name) && !before--)
				print_toolchain(out, &list->items[k]);
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
		fprintf(out, "\nRecording %sdoes not work here: %" PRIu32 " problem%s.\n",
			findings__has_outside(f) ? "with the kernel's help " : "", problems,
			problems == 1 ? "" : "s");
	return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void finding_columns(struct columns *c, const struct finding *f)
{
	TEXT(c, "section", NULL, finding_section_name(f->section), "of the text");
	TEXT(c, "name", NULL, f->name, "what was looked at");
	TEXT(c, "state", NULL, finding_state_name(f->state), "how it is");
	TEXT(c, "says", NULL, f->says, "in words");
	TEXT(c, "fix", NULL, f->fix, "a command or advice; null: none is needed");
}

/* Of a library that could not be read, all of it is null. */
static void plan_columns(struct columns *c, const struct toolchain *t)
{
	bool known = !t->err;
	enum wire_kind kinds[WIRE_KIND_MAX];
	size_t n = 0;

	for (int kind = 0; kind < WIRE_KIND_MAX; kind++)
		if (t->events[kind].n)
			kinds[n++] = kind;
	TEXT(c, "rustc_version", NULL, known ? t->version : NULL, "null: unknown");
	TEXT(c, "symbols", NULL, known ? plan_symbols_name(t->symbols) : NULL, "where from");
	KNOWN(c, COUNT, "queries", NULL, known, t->queries, "of the compiler");
	KNOWN(c, COUNT, "complete", NULL, known, t->complete, "of these: exact");
	if (OBJECT_OR_NULL(c, "sites", known, "instructions that are probed")) {
		NUMBER(c, COUNT, "emulated", NULL, t->sites[PLAN_EMULATED], "by the kernel");
		NUMBER(c, COUNT, "stepped", NULL, t->sites[PLAN_STEPPED], "single-stepped");
		columns__leave(c);
	}
	if (!known)
		TEXT(c, "events", NULL, NULL, "what can be recorded");
	else if (LIST(c, "events", true, "what can be recorded"))
		EACH_ROW (c, i, n) {
			TEXT(c, "kind", NULL, plan_kind_name(kinds[i]), "of intervals");
			NUMBER(c, COUNT, "places", NULL, t->events[kinds[i]].n, "in the compiler");
			NUMBER(c, COUNT, "exact", NULL, t->events[kinds[i]].exact, "of these");
		}
	KNOWN_BOOL(c, "plan_cached", known, t->cached, "it was in the cache");
	KNOWN(c, NS, "plan_ns", NULL, known, t->plan_ns, "how long it took");
}

int doctor_json(FILE *out, const struct findings *f, const struct toolchains *t)
{
	struct columns c = {.to = COLUMNS_JSON, .out = out, .one_line = true, .err = f->err};

	columns__begin(&c, "qprof-doctor/1", "qprof-doctor/1");
	BOOL(&c, "works", !findings__problems(f), "recording works here");
	if (LIST(&c, "findings", true, "what was looked at"))
		EACH_ROW (&c, i, f->n)
			finding_columns(&c, &f->items[i]);
	if (LIST(&c, "toolchains", true, "that were found"))
		EACH_ROW (&c, i, t->n) {
			const struct toolchain *one = &t->items[i];

			TEXT(&c, "name", NULL, one->name, "of the toolchain");
			TEXT(&c, "library", NULL, one->library, "its file");
			BOOL(&c, "wanted", one->wanted, "it is used here");
			TEXT(&c, "problem", NULL, one->why, "null: none");
			plan_columns(&c, one);
		}
	return columns__end(&c);
}
