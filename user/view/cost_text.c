// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/cost_view.h"

#include <errno.h>
#include <inttypes.h>

#include "base/format.h"
#include "view/table.h"

/* The line has what set-up took if it is this part of the whole, or more. */
#define SET_UP_SHARE 4

bool cost_text_line(FILE *out, const struct cost *c, const char *before)
{
	char added[FORMAT_MAX], percent[FORMAT_MAX];

	if (!c->added_ns)
		return false;
	fprintf(out, "%s %s of CPU", c->whole ? "recording added" : "probes took about",
		format_duration(added, c->added_ns));
	if (c->compilers_ns)
		fprintf(out, ", %s %% of what the compilers used",
			format_percent(percent, c->added_ns, c->compilers_ns));
	if (c->set_up_ns && c->set_up_ns >= c->added_ns / SET_UP_SHARE)
		fprintf(out, "%s%s of it once, for set-up", before,
			format_duration(added, c->set_up_ns));
	if (c->read_ns && c->read_ns >= c->added_ns / SET_UP_SHARE)
		fprintf(out, "%s%s more, before, to read a new toolchain", before,
			format_duration(added, c->read_ns));
	return true;
}

void cost_text_beside(FILE *out, const struct cost *c, const char *before)
{
	if (c->n_beside)
		fprintf(out,
			"%s%" PRIu64 " other recording%s at the same time: probes make compilers "
			"slower\n",
			before, c->n_beside, c->n_beside == 1 ? "" : "s");
}

static void add_row(struct table *t, const char *name, uint64_t ns, const struct cost *c,
		    const char *note)
{
	char buf[FORMAT_MAX];

	table__cell(t, name);
	table__cell(t, format_duration(buf, ns));
	table__cell(t, c->compilers_ns ? format_percent(buf, ns, c->compilers_ns) : "-");
	table__cell(t, note);
}

static void add_parts(struct table *t, const struct cost *c)
{
	static const char *const names[COST_PARTS] = {
		[COST_PROBES] = "hits of probes",
		[COST_BREAKPOINTS] = "breakpoints, written into each new compiler",
		[COST_SAMPLES] = "samples of stacks",
		[COST_NAMES] = "copies of names",
		[COST_OWN] = "qprof-bpf itself",
	};
	char n[FORMAT_MAX];

	for (int i = 0; i < COST_PARTS; i++) {
		const char *note = "-";

		if (i != COST_PROBES && !c->whole)
			continue;
		if (i == COST_PROBES)
			note = format_count(n, c->hits);
		if (i == COST_BREAKPOINTS)
			note = format_count(n, c->breakpoints);
		add_row(t, names[i], c->ns[i], c, note);
	}
	if (c->set_up_ns)
		add_row(t, "  of it once, for set-up", c->set_up_ns, c, "-");
	add_row(t, "together", c->added_ns, c, "-");
	if (c->whole)
		add_row(t, "  of it in compilers", c->in_compilers_ns, c, "-");
	if (c->read_ns)
		add_row(t, "not in it: a new toolchain, read once", c->read_ns, c, "-");
}

int cost_text(FILE *out, const struct cost *c)
{
	static const struct table_column columns[] = {
		{"what recording added", 0}, {"CPU", 0}, {"%", 0}, {"number", 0}};
	_table_ struct table *t = table__new(columns, 4);
	char buf[FORMAT_MAX];
	int err;

	if (!t)
		return -ENOMEM;
	if (!c->added_ns) {
		fputs("the cost of this recording is unknown\n", out);
		return 0;
	}
	add_parts(t, c);
	err = table__print(t, out, "");
	if (err)
		return err;
	if (c->compilers_ns)
		fprintf(out, "\n100 %%: %s, the CPU time of the compilers without it\n",
			format_duration(buf, c->compilers_ns));
	else
		fputs("\nThe CPU time of the compilers is unknown.\n", out);
	if (c->n_waited)
		fprintf(out,
			"%" PRIu64
			" compiler%s waited for probes, %s in all, which is no CPU time\n",
			c->n_waited, c->n_waited == 1 ? "" : "s",
			format_duration(buf, c->waited_ns));
	else if (c->whole)
		fputs("no compiler waited for its probes\n", out);
	cost_text_beside(out, c, "");
	if (!c->whole)
		fputs("An earlier version recorded it, which measured the hits only.\n", out);
	return 0;
}

void cost_json(struct json *j, const struct cost *c)
{
	static const char *const keys[COST_PARTS] = {
		[COST_PROBES] = "probes_ns",   [COST_BREAKPOINTS] = "breakpoints_ns",
		[COST_SAMPLES] = "samples_ns", [COST_NAMES] = "names_ns",
		[COST_OWN] = "own_ns",
	};

	json__begin(j);
	if (c->compilers_ns)
		json__value(j, "share_of_cpu",
			    json_object_new_double((double)(cost__share_ppm(c) / 100) / 10000));
	else
		json__null(j, "share_of_cpu");
	json__number(j, "added_ns", c->added_ns);
	json__known(j, "in_compilers_ns", c->whole, c->in_compilers_ns);
	json__known(j, "cpu_ns", c->compilers_ns, c->compilers_ns);
	for (int i = 0; i < COST_PARTS; i++)
		json__known(j, keys[i], c->whole || i == COST_PROBES, c->ns[i]);
	json__known(j, "set_up_ns", c->set_up_ns, c->set_up_ns);
	json__known(j, "read_ns", c->whole, c->read_ns);
	json__known(j, "waited_ns", c->whole, c->waited_ns);
	json__known(j, "waited", c->whole, c->n_waited);
	json__number(j, "hits", c->hits);
	json__known(j, "breakpoints", c->whole, c->breakpoints);
	if (c->n_beside)
		json__number(j, "other_recordings", c->n_beside);
	json__print(j, ",\"cost\":");
	json__put(j);
}
