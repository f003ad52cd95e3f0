// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/path_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/critical_path.h"

#define NAME_MOST 34
/* Before the name of a compile that was chosen, in the path of a build that it is a part of. */
#define PATH_CHOSEN ">"

/* The steps of a path, in the order in which they are shown. */
struct shown {
	struct critical_path path;
	const struct build *build; /* that all are chosen of, or some */
	uint64_t other_ns;	   /* of the steps in which no compiler works, which are no rows */
	uint64_t chosen_ns;
	bool is_part; /* some are chosen */
	size_t n;
};

static void shown__clear(struct shown *s)
{
	critical_path__destroy(&s->path);
}

static uint64_t length_of(const struct path_step *step)
{
	return step->end_ns - step->start_ns;
}

static uint64_t saved_by(const struct path_step *step)
{
	return step->saved_ns == PATH_UNKNOWN ? 0 : step->saved_ns;
}

/* Those that were chosen come first. */
static int by_saved(const void *a, const void *b, void *build)
{
	const struct path_step *x = a, *y = b;
	bool has_x = build__has(build, x->process), has_y = build__has(build, y->process);

	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (saved_by(x) != saved_by(y))
		return saved_by(x) > saved_by(y) ? -1 : 1;
	if (length_of(x) != length_of(y))
		return length_of(x) > length_of(y) ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int shown__init(struct shown *s, const struct build_view *v)
{
	const struct build *whole = build__whole(v->build);
	int err = whole ? critical_path__of(&s->path, whole) : 0;

	if (err)
		return err;
	s->build = v->build;
	s->is_part = whole != v->build;
	for (size_t i = 0; i < s->path.n_steps; i++) {
		const struct path_step step = s->path.steps[i];

		if (step.part == PATH_OTHER) {
			s->other_ns += length_of(&step);
			continue;
		}
		s->chosen_ns += build__has(v->build, step.process) ? length_of(&step) : 0;
		s->path.steps[s->n++] = step;
	}
	if (s->n)
		qsort_r(s->path.steps, s->n, sizeof(*s->path.steps), by_saved, (void *)v->build);
	return 0;
}

static void print_notes(FILE *out, const char *lead, const struct shown *s)
{
	const struct critical_path *p = &s->path;
	char buf[FORMAT_MAX], any[FORMAT_MAX];

	fprintf(out,
		"%ssaves: how much sooner the build ends if this takes no time, %" PRIu32
		" rustc at once\n",
		lead, p->jobs);
	if (p->unlimited_ns + p->unlimited_ns / 100 < p->scheduled_ns)
		fprintf(out, "%swith any number of rustc: %s, not %s", lead,
			format_duration(any, p->unlimited_ns),
			format_duration(buf, p->scheduled_ns));
	else
		fprintf(out, "%smore rustc at once would save nothing", lead);
	if (s->other_ns)
		fprintf(out, "; other programs: %s", format_duration(buf, s->other_ns));
	fputc('\n', out);
	if (s->is_part)
		fprintf(out, "%s%s: chosen, %s of the %s; the rest is the whole build's\n", lead,
			PATH_CHOSEN, format_duration(any, s->chosen_ns),
			format_duration(buf, p->wall_ns));
	if (p->n_cut)
		fprintf(out,
			"%snot all arguments of %" PRIu32
			" compile%s could be read: %s may have waited "
			"for more\n",
			lead, p->n_cut, p->n_cut == 1 ? "" : "s", p->n_cut == 1 ? "it" : "they");
}

static void step_columns(struct columns *c, const struct path_step *step,
			 const struct build_rows *r, const struct build_view *v)
{
	static const char *const parts[PATH_PARTS] = {
		[PATH_FRONT_END] = "front_end", [PATH_CODEGEN] = "codegen",
		[PATH_LINK] = "link",		[PATH_EXIT] = "exit",
		[PATH_COMPILE] = "compile",	[PATH_RUN] = "build_script_run",
		[PATH_OTHER] = "other",
	};
	const struct build_crate *crate = step ? &r->of_whole[step->process] : NULL;
	bool is_part = v && build__whole(v->build) != v->build;
	bool chosen = step && is_part && build__has(v->build, step->process);
	const char *mark = chosen ? PATH_CHOSEN " " : "";

	TEXT(c, "name", ON_PAGE(c, "crate", NULL), crate->name, "package, target and tool");
	MARKED_NAME(c, ON_PAGE(c, NULL, "what kept it from being faster"), mark,
		    build_crate_name(crate, columns__most(c, NAME_MOST - strlen(mark))));
	NUMBER(c, ID, "pid", NULL, crate->process->process->pid, "process");
	TEXT(c, "part", NULL, parts[step->part], "which part of the compile");
	TEXT(c, NULL, "part", path_part_text(step->part), NULL);
	NUMBER(c, NS, "start_ns", NULL, step->start_ns, "since the start of the build");
	NUMBER(c, NS, "ns", "took", length_of(step), "how long it took");
	KNOWN(c, NS, "saved_ns", "saves", step->saved_ns != PATH_UNKNOWN, step->saved_ns,
	      "by which the build ends earlier if the step took no time");
	BOOL(c, "freed_job", step->freed_job, "the next step waited for a job, not for a result");
	SOME_BOOL(c, "chosen", is_part, chosen && step->part != PATH_OTHER,
		  "by --crate or --process, if they are used");
}

int path_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
	       const struct build_view *v)
{
	struct columns c = {.to = to, .out = out, .wide = v->wide};
	__cleanup(shown__clear) struct shown s = {};
	int err = shown__init(&s, v);

	/* A single compile has no path: its parts are in the table of crates. */
	if (err || !s.n || build__totals(build__whole(v->build))->compiles < 2)
		return err;
	fputc('\n', out);
	EACH_ROW (&c, i, build_rows__shown(v, s.n, fit))
		step_columns(&c, ROW(&c, &s.path.steps[i]), r, v);
	if (to == COLUMNS_MARKDOWN)
		fputc('\n', out);
	print_notes(out, to == COLUMNS_TEXT ? "  " : "", &s);
	return c.err;
}

void path_columns(struct columns *c, const struct build_rows *r, const struct build_view *v)
{
	_critical_path_ struct critical_path path = {};
	const struct build *whole = c->describes ? NULL : build__whole(v->build);

	if (whole)
		c->err = c->err ?: critical_path__of(&path, whole);
	if (!OBJECT(c, "critical_path", whole, "what kept the build from being faster"))
		return;
	NUMBER(c, NS, "wall_ns", NULL, path.wall_ns, "of the build");
	NUMBER(c, COUNT, "jobs", NULL, path.jobs, "compilers at once, at most");
	NUMBER(c, NS, "scheduled_ns", NULL, path.scheduled_ns,
	       "wall time of the build, scheduled again with as many jobs");
	NUMBER(c, NS, "unlimited_ns", NULL, path.unlimited_ns, "the same with any number of jobs");
	NUMBER(c, COUNT, "cut_commands", NULL, path.n_cut,
	       "compiles whose arguments could not all be read");
	if (LIST(c, "steps", true, "in the order of time"))
		EACH_ROW (c, i, path.n_steps)
			step_columns(c, ROW(c, &path.steps[i]), r, v);
	columns__leave(c);
}
