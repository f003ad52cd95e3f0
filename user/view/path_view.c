// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/path_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/critical_path.h"
#include "view/table.h"

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

/* A single compile has no path: its parts are in the table of crates. */
static bool is_worth_showing(const struct shown *s, const struct build_view *v)
{
	return s->n && build__totals(build__whole(v->build))->compiles > 1;
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

static int add_step(struct table *t, const struct path_step *step, const struct shown *s,
		    const struct build_rows *r, const struct build_view *v)
{
	const char *mark = s->is_part && build__has(v->build, step->process) ? PATH_CHOSEN " " : "";
	_free_ char *name = build_crate_name(&r->of_whole[step->process],
					     v->wide ? 0 : NAME_MOST - strlen(mark));
	char buf[FORMAT_MAX];

	if (!name)
		return -ENOMEM;
	table__cellf(t, "%s%s", mark, name);
	table__cell(t, path_part_text(step->part));
	table__cell(t, format_duration(buf, length_of(step)));
	table__cell(t, step->saved_ns == PATH_UNKNOWN ? "-" : format_duration(buf, step->saved_ns));
	return 0;
}

int path_text(FILE *out, size_t fit, const struct build_rows *r, const struct build_view *v)
{
	static const struct table_column columns[] = {
		{"what kept it from being faster", 0},
		{"part", 0},
		{"took", 0},
		{"saves", 0},
	};
	__cleanup(shown__clear) struct shown s = {};
	int err = shown__init(&s, v);
	size_t n = build_rows__shown(v, s.n, fit);
	_table_ struct table *t = table__new(columns, N_OF(columns));

	if (err || !is_worth_showing(&s, v))
		return err;
	for (size_t i = 0; i < n; i++) {
		if (add_step(t, &s.path.steps[i], &s, r, v))
			return -ENOMEM;
	}
	fputc('\n', out);
	err = t ? table__print(t, out, "") : -ENOMEM;
	if (!err)
		print_notes(out, "  ", &s);
	return err;
}

int path_markdown(FILE *out, size_t fit, const struct build_rows *r, const struct build_view *v)
{
	__cleanup(shown__clear) struct shown s = {};
	int err = shown__init(&s, v);
	size_t n = build_rows__shown(v, s.n, fit);
	char took[FORMAT_MAX], saved[FORMAT_MAX];

	if (err || !is_worth_showing(&s, v))
		return err;
	fputs("\n| what kept it from being faster | part | took | saves |\n"
	      "|---|---|---:|---:|\n",
	      out);
	for (size_t i = 0; i < n && !err; i++) {
		const struct path_step *step = &s.path.steps[i];

		fputs(s.is_part && build__has(v->build, step->process) ? "| " PATH_CHOSEN " "
								       : "| ",
		      out);
		err = markdown_code(out, r->of_whole[step->process].name);
		fprintf(out, " | %s | %s | %s |\n", path_part_text(step->part),
			format_duration(took, length_of(step)),
			step->saved_ns == PATH_UNKNOWN ? "-"
						       : format_duration(saved, step->saved_ns));
	}
	fputc('\n', out);
	print_notes(out, "", &s);
	return err;
}

static void put_step(struct json *j, const struct path_step *step, const struct build_rows *r,
		     const struct build *build)
{
	static const char *const parts[PATH_PARTS] = {
		[PATH_FRONT_END] = "front_end", [PATH_CODEGEN] = "codegen",
		[PATH_LINK] = "link",		[PATH_EXIT] = "exit",
		[PATH_COMPILE] = "compile",	[PATH_RUN] = "build_script_run",
		[PATH_OTHER] = "other",
	};
	const struct build_crate *crate = &r->of_whole[step->process];

	json__text(j, "name", crate->name);
	json__number(j, "pid", crate->process->process->pid);
	json__text(j, "part", parts[step->part]);
	json__number(j, "start_ns", step->start_ns);
	json__number(j, "ns", length_of(step));
	json__known(j, "saved_ns", step->saved_ns != PATH_UNKNOWN, step->saved_ns);
	json__bool(j, "freed_job", step->freed_job);
	if (build__whole(build) != build)
		json__bool(j, "chosen",
			   step->part != PATH_OTHER && build__has(build, step->process));
	json__put(j);
}

int path_json(struct json *j, const struct build_rows *r, const struct build_view *v)
{
	_critical_path_ struct critical_path path = {};
	const struct build *whole = build__whole(v->build);
	int err = whole ? critical_path__of(&path, whole) : 0;

	if (err || !whole)
		return err;
	json__begin(j);
	json__number(j, "wall_ns", path.wall_ns);
	json__number(j, "jobs", path.jobs);
	json__number(j, "scheduled_ns", path.scheduled_ns);
	json__number(j, "unlimited_ns", path.unlimited_ns);
	json__number(j, "cut_commands", path.n_cut);
	json__print(j, ",\"critical_path\":");
	json__put_open(j);
	json__array(j, "steps");
	for (size_t i = 0; i < path.n_steps && !j->err; i++) {
		json__item(j, i);
		put_step(j, &path.steps[i], r, v->build);
	}
	json__print(j, "]}");
	return j->err;
}
