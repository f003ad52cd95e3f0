// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/cost_view.h"

#include <errno.h>
#include <inttypes.h>

#include "base/format.h"

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

void cost_text_unseen(FILE *out, const struct cost *c, const char *before)
{
	char buf[FORMAT_MAX];

	if (c->unseen_ns)
		fprintf(out, "%s%s of CPU time, of what ended between two looks\n", before,
			format_duration(buf, c->unseen_ns));
}

/* A row of the table; NULL: it has no such number. */
struct part {
	const char *name;
	uint64_t ns;
	const uint64_t *number;
};

static int print_parts(FILE *out, const struct cost *k)
{
	static const char *const names[COST_PARTS] = {
		[COST_PROBES] = "hits of probes",
		[COST_BREAKPOINTS] = "breakpoints, written into each new compiler",
		[COST_SAMPLES] = "samples of stacks",
		[COST_NAMES] = "copies of names",
		[COST_OWN] = "qprof-bpf itself",
	};
	struct columns c = {.out = out};
	struct part parts[COST_PARTS + 4];
	char buf[FORMAT_MAX];
	size_t n = 0;

	for (int i = 0; i < COST_PARTS; i++)
		if (i == COST_PROBES || k->whole)
			parts[n++] = (struct part){names[i], k->ns[i],
						   i == COST_PROBES	   ? &k->hits
						   : i == COST_BREAKPOINTS ? &k->breakpoints
									   : NULL};
	if (k->set_up_ns)
		parts[n++] = (struct part){"  of it once, for set-up", k->set_up_ns, NULL};
	parts[n++] = (struct part){"together", k->added_ns, NULL};
	if (k->whole)
		parts[n++] = (struct part){"  of it in compilers", k->in_compilers_ns, NULL};
	if (k->read_ns)
		parts[n++] =
			(struct part){"not in it: a new toolchain, read once", k->read_ns, NULL};

	EACH_ROW (&c, i, n) {
		NAME(&c, NULL, "what recording added", parts[i].name, NULL);
		NUMBER(&c, NS, NULL, "CPU", parts[i].ns, NULL);
		CELL(&c, "%",
		     k->compilers_ns ? format_percent(buf, parts[i].ns, k->compilers_ns) : "-");
		KNOWN(&c, COUNT, NULL, "number", parts[i].number, *parts[i].number, NULL);
	}
	return c.err;
}

int cost_text(FILE *out, const struct cost *c)
{
	char buf[FORMAT_MAX];
	int err;

	if (!c->added_ns) {
		fputs("the cost of this recording is unknown\n", out);
		return 0;
	}
	err = print_parts(out, c);
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
	cost_text_unseen(out, c, "unseen is ");
	if (!c->whole)
		fputs("An earlier version recorded it, which measured the hits only.\n", out);
	return 0;
}

/* A part of the cost that older traces do not have. */
static void part_column(struct columns *c, const struct cost *k, const char *key,
			enum cost_part part, const char *help)
{
	KNOWN(c, NS, key, NULL, k->whole || part == COST_PROBES, k->ns[part], help);
}

void cost_columns(struct columns *c, const struct cost *k)
{
	if (!OBJECT(c, "cost", k, "what recording cost; not with --crate and --process"))
		return;
	REAL(c, SHARE, "share_of_cpu", k->compilers_ns, (double)(cost__share_ppm(k) / 100) / 10000,
	     4, "added_ns by cpu_ns; null: unknown");
	NUMBER(c, NS, "added_ns", NULL, k->added_ns, "CPU time that recording added");
	KNOWN(c, NS, "in_compilers_ns", NULL, k->whole, k->in_compilers_ns,
	      "of added_ns, what is not own_ns; null: unknown");
	KNOWN(c, NS, "cpu_ns", NULL, k->compilers_ns, k->compilers_ns,
	      "CPU time of the compilers, without in_compilers_ns if that is known");
	part_column(c, k, "probes_ns", COST_PROBES, "hits of probes");
	part_column(c, k, "breakpoints_ns", COST_BREAKPOINTS, "writing breakpoints into processes");
	part_column(c, k, "samples_ns", COST_SAMPLES, "samples, with the ticks of the clock");
	part_column(c, k, "names_ns", COST_NAMES,
		    "copies of names, as each compiler ends; 0 in older traces");
	part_column(c, k, "own_ns", COST_OWN, "of the recorder itself");
	KNOWN(c, NS, "set_up_ns", NULL, k->set_up_ns, k->set_up_ns,
	      "of own_ns, what comes once, however long it records; null: unknown");
	KNOWN(c, NS, "read_ns", NULL, k->whole, k->read_ns,
	      "not in added_ns: to read the toolchain's files, for the first time; 0 in older "
	      "traces");
	KNOWN(c, NS, "waited_ns", NULL, k->whole, k->waited_ns,
	      "for which compilers waited for the recorder");
	KNOWN(c, COUNT, "waited", NULL, k->whole, k->n_waited, "such waits");
	NUMBER(c, COUNT, "hits", NULL, k->hits, "of probes");
	KNOWN(c, COUNT, "breakpoints", NULL, k->whole, k->breakpoints, "that were written");
	SOME(c, COUNT, "other_recordings", NULL, k->n_beside, k->n_beside,
	     "that ran at the same time, whose probes make compilers slower; missing: none was "
	     "seen");
	SOME(c, NS, "unseen_ns", NULL, k->unseen_ns, k->unseen_ns,
	     "CPU time of the command that no look from outside saw, in no other number; missing: "
	     "all was seen, or it was not recorded from outside");
	columns__leave(c);
}
