// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/path_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/critical_path.h"
#include "view/markdown.h"
#include "view/table.h"

#define NAME_MOST 34

/* The steps of a path, in the order in which they are shown. */
struct shown {
	struct critical_path path;
	uint64_t other_ns; /* of the steps in which no compiler works, which are no rows */
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

static int by_saved(const void *a, const void *b)
{
	const struct path_step *x = a, *y = b;

	if (saved_by(x) != saved_by(y))
		return saved_by(x) > saved_by(y) ? -1 : 1;
	if (length_of(x) != length_of(y))
		return length_of(x) > length_of(y) ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int shown__init(struct shown *s, const struct build_view *v)
{
	int err = critical_path__of(&s->path, v->build);

	if (err)
		return err;
	for (size_t i = 0; i < s->path.n_steps; i++) {
		if (s->path.steps[i].part == PATH_OTHER)
			s->other_ns += length_of(&s->path.steps[i]);
		else
			s->path.steps[s->n++] = s->path.steps[i];
	}
	if (s->n)
		qsort(s->path.steps, s->n, sizeof(*s->path.steps), by_saved);
	return 0;
}

/* A single compile has no path: its parts are in the table of crates. */
static bool is_worth_showing(const struct shown *s, const struct build_view *v)
{
	return s->n && build__totals(v->build)->compiles > 1;
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
	if (p->n_cut)
		fprintf(out,
			"%snot all arguments of %" PRIu32
			" compile%s could be read: %s may have waited "
			"for more\n",
			lead, p->n_cut, p->n_cut == 1 ? "" : "s", p->n_cut == 1 ? "it" : "they");
}

static int add_step(struct table *t, const struct path_step *step, const struct build_rows *r,
		    const struct build_view *v)
{
	_free_ char *name = build_crate_name(&r->of[step->process], v->wide ? 0 : NAME_MOST);
	char buf[FORMAT_MAX];

	if (!name)
		return -ENOMEM;
	table__cell(t, name);
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
		if (add_step(t, &s.path.steps[i], r, v))
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

		fputs("| ", out);
		err = markdown_code(out, r->of[step->process].name);
		fprintf(out, " | %s | %s | %s |\n", path_part_text(step->part),
			format_duration(took, length_of(step)),
			step->saved_ns == PATH_UNKNOWN ? "-"
						       : format_duration(saved, step->saved_ns));
	}
	fputc('\n', out);
	print_notes(out, "", &s);
	return err;
}

static void put_step(struct json *j, const struct path_step *step, const struct build_rows *r)
{
	static const char *const parts[PATH_PARTS] = {
		[PATH_FRONT_END] = "front_end", [PATH_CODEGEN] = "codegen",
		[PATH_LINK] = "link",		[PATH_EXIT] = "exit",
		[PATH_COMPILE] = "compile",	[PATH_RUN] = "build_script_run",
		[PATH_OTHER] = "other",
	};
	const struct build_crate *crate = &r->of[step->process];

	json__text(j, "name", crate->name);
	json__number(j, "pid", crate->process->process->pid);
	json__text(j, "part", parts[step->part]);
	json__number(j, "start_ns", step->start_ns);
	json__number(j, "ns", length_of(step));
	json__known(j, "saved_ns", step->saved_ns != PATH_UNKNOWN, step->saved_ns);
	json__bool(j, "freed_job", step->freed_job);
	json__put(j);
}

int path_json(struct json *j, const struct build_rows *r, const struct build_view *v)
{
	_critical_path_ struct critical_path path;
	int err = critical_path__of(&path, v->build);

	if (err)
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
		put_step(j, &path.steps[i], r);
	}
	json__print(j, "]}");
	return j->err;
}
