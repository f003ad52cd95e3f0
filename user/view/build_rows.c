// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/build_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/cost.h"
#include "view/report_notes.h"

static int name_compilers(const struct build *b, struct build_crate **out)
{
	uint32_t n;
	const struct build_process *processes = build__processes(b, &n);
	struct build_crate *of = calloc(n + 1UL, sizeof(*of));

	*out = of;
	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		_free_ char *name = compile_name(processes[i].process);

		of[i].process = &processes[i];
		of[i].name = name ? format_clean(name) : NULL;
		if (!of[i].name)
			return -ENOMEM;
	}
	return 0;
}

static uint64_t wall_of(const struct build_crate *c)
{
	return c->process->end_ns - c->process->start_ns;
}

static int compare_crates(const void *a, const void *b)
{
	const struct build_crate *x = *(struct build_crate *const *)a;
	const struct build_crate *y = *(struct build_crate *const *)b;
	uint64_t wall_x = wall_of(x), wall_y = wall_of(y);

	if (build_crate_failed(x) != build_crate_failed(y))
		return build_crate_failed(x) ? -1 : 1;
	if (wall_x != wall_y)
		return wall_x < wall_y ? 1 : -1;
	return (x > y) - (x < y);
}

static int compare_queries(const void *a, const void *b)
{
	const struct build_query *x = a, *y = b;

	uint64_t n_x = summary_row__executions(&x->row), n_y = summary_row__executions(&y->row);

	if (x->row.best_cpu_ns != y->row.best_cpu_ns)
		return x->row.best_cpu_ns < y->row.best_cpu_ns ? 1 : -1;
	if (n_x != n_y)
		return n_x < n_y ? 1 : -1;
	return strcmp(x->label, y->label) ?: (x->process > y->process) - (x->process < y->process);
}

static void sort_queries(struct build_queries *q)
{
	qsort(q->rows, q->n, sizeof(*q->rows), compare_queries);
}

static int add_all(struct build_rows *r, const struct build_view *v)
{
	_free_ struct summary_row *rows = NULL;
	size_t n, exact = 0;

	if (summary__rows(v->summary, SUMMARY_ALL, &rows, &n))
		return -ENOMEM;
	r->queries.rows = calloc(n + 1, sizeof(struct build_query));
	r->passes.rows = calloc(n + 1, sizeof(struct build_query));
	if (!r->queries.rows || !r->passes.rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool pass = summary_row__is_activity(&rows[i]);
		struct build_queries *to = pass ? &r->passes : &r->queries;

		to->rows[to->n++] = (struct build_query){
			.label = v->names->text(v->names->ctx, rows[i].label),
			.process = SUMMARY_ALL,
			.row = rows[i],
		};
		r->cpu_ns += rows[i].best_cpu_ns;
		exact += rows[i].self_by != SUMMARY_SELF_SAMPLES;
	}
	sort_queries(&r->queries);
	sort_queries(&r->passes);
	if (v->samples && !exact) {
		r->is_sampled = true;
		r->cpu_ns = samples__totals(v->samples)->of[TRACE_SAMPLE_CPU].value;
	}
	return v->stacks ? sample_shares_of(v->stacks, v->names, r->shares) : 0;
}

static int add_pairs(struct build_rows *r, const struct build_view *v, uint32_t process)
{
	_free_ struct summary_row *rows = NULL;
	struct build_query *grown;
	size_t n;

	if (summary__rows(v->summary, process, &rows, &n))
		return -ENOMEM;
	grown = reallocarray(r->pairs.rows, r->pairs.n + n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->pairs.rows = grown;
	for (size_t i = 0; i < n; i++) {
		if (summary_row__is_activity(&rows[i]))
			continue;
		grown[r->pairs.n++] = (struct build_query){
			.crate = r->of[process].name,
			.label = v->names->text(v->names->ctx, rows[i].label),
			.process = process,
			.row = rows[i],
		};
	}
	return 0;
}

/*
 * Time that no item is around is no row here: it is in the other tables. Nor is what has no time.
 * Of millions only as many are kept as any output shows.
 */
static int add_items(struct build_rows *r, const struct build_view *v)
{
	_free_ struct item_row *rows = NULL;
	size_t n;

	if (!v->items)
		return 0;
	if (items__first(v->items, build_rows__shown(v, SIZE_MAX, BUILD_FIT_MOST), &rows, &n,
			 &r->n_items))
		return -ENOMEM;
	r->items = calloc(n + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r->items[i] = (struct build_item){
			.path = v->names->text(v->names->ctx, rows[i].item),
			.row = rows[i],
		};
	return 0;
}

int build_rows__init(struct build_rows *r, const struct build_view *v)
{
	const struct build *whole = build__whole(v->build);
	uint32_t n;

	build__processes(v->build, &n);
	*r = (struct build_rows){0};
	if (name_compilers(v->build, &r->of))
		return -ENOMEM;
	if (whole == v->build)
		r->of_whole = r->of;
	else if (whole && name_compilers(whole, &r->of_whole))
		return -ENOMEM;
	r->crates = calloc(n + 1UL, sizeof(struct build_crate *));
	if (!r->crates || add_all(r, v) || add_items(r, v) ||
	    (v->llvm && llvm__rows(v->llvm, NULL, NULL, &r->llvm)))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct reuse reuse = summary__reuse(v->summary, i);

		if (r->of[i].process->compiles)
			r->crates[r->n_crates++] = &r->of[i];
		if (add_pairs(r, v, i))
			return -ENOMEM;
		if (!reuse.loads)
			continue;
		if (!reuse.results || (r->n_reuse && !r->reuse.results))
			r->reuse.results = 0;
		else
			r->reuse.results += reuse.results;
		r->n_reuse++;
		r->reuse.executed += reuse.executed;
		r->reuse.unprobed |= reuse.unprobed;
		r->reuse.loads += reuse.loads;
		r->reuse.loaded += reuse.loaded;
	}
	qsort(r->crates, r->n_crates, sizeof(struct build_crate *), compare_crates);
	if (r->pairs.n)
		sort_queries(&r->pairs);
	return 0;
}

static void free_names(struct build_crate *of)
{
	for (size_t i = 0; of && of[i].name; i++)
		free(of[i].name);
	free(of);
}

void build_rows__clear(struct build_rows *r)
{
	if (r->of_whole != r->of)
		free_names(r->of_whole);
	free_names(r->of);
	free(r->crates);
	free(r->queries.rows);
	free(r->passes.rows);
	free(r->pairs.rows);
	free(r->items);
	llvm_rows__clear(&r->llvm);
	*r = (struct build_rows){0};
}

/* "69.0 % front end, 31.0 % LLVM"; NULL: no memory. */
static char *shares_of(const struct build_rows *r)
{
	static const char *const names[SAMPLE_SHARES] = {
		[SAMPLE_FRONT_END] = "front end",
		[SAMPLE_CODEGEN] = "codegen",
		[SAMPLE_LLVM] = "LLVM",
		[SAMPLE_NO_STACK] = "unknown",
	};
	const char *before = "";
	uint64_t all = 0;
	char buf[FORMAT_MAX], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < SAMPLE_SHARES; i++)
		all += r->shares[i].value;
	for (int i = 0; i < SAMPLE_SHARES; i++) {
		if (!r->shares[i].n)
			continue;
		fprintf(out, "%s%s %% %s", before, format_percent(buf, r->shares[i].value, all),
			names[i]);
		before = ", ";
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void build_print_samples(FILE *out, const char *lead, size_t width, const struct build_rows *r,
			 const struct build_view *v)
{
	_free_ char *shares = v->stacks ? shares_of(r) : NULL;
	const struct sample_sum *cpu;
	char count[FORMAT_MAX];
	int len;

	if (!v->samples)
		return;
	cpu = &samples__totals(v->samples)->of[TRACE_SAMPLE_CPU];
	if (!cpu->n)
		return;
	len = fprintf(out, "%s%s%s", lead, format_count(count, cpu->n), shares ? ":" : "");
	if (shares && width && len + strlen(" ") + strlen(shares) > width)
		fprintf(out, "\n%*s%s", (int)strlen(lead), "", shares);
	else if (shares)
		fprintf(out, " %s", shares);
	fputc('\n', out);
}

void build_print_reuse(FILE *out, const struct reuse *reuse)
{
	char count[FORMAT_MAX];

	/* Where not all queries have probes, nothing tells what was executed from what was taken
	 * over. */
	if (!reuse->unprobed)
		fprintf(out, "%s executed, ", format_count(count, reuse->executed));
	fprintf(out, "%s%s loaded", reuse__may_miss(reuse) ? REPORT_ESTIMATE : "",
		format_count(count, reuse->loaded));
}

bool build_cpu_ns(const struct build_view *v, const struct build_process *p, uint64_t *ns)
{
	return cost__cpu_ns(v->cost, v->build, v->samples, p, ns);
}

void build_print_threads(FILE *out, const struct build_view *v, const char *threads,
			 const char *waiting)
{
	const struct build_totals *t = build__totals(v->build);
	const char *least = t->late ? "at least " : "";
	uint64_t cpu_ns;
	char cpu[FORMAT_MAX], preempted[FORMAT_MAX], queries[FORMAT_MAX], passes[FORMAT_MAX];
	char neither[FORMAT_MAX];

	fputs(threads, out);
	if (build_cpu_ns(v, NULL, &cpu_ns))
		fprintf(out, "%s of CPU time, ", format_duration(cpu, cpu_ns));
	if (!t->off_cpu_known) {
		fputs("when they waited was not recorded\n", out);
		return;
	}
	fprintf(out, "%s%s ready but waiting for a CPU\n%s%s", least,
		format_duration(preempted, t->preempted_ns), waiting, least);
	/* Where not all queries have probes, what is around them has their waits. */
	if (t->executions && !summary__is_unwatched(v->summary))
		fprintf(out, "%s in queries, %s in passes",
			format_duration(queries, t->waits.in_queries),
			format_duration(passes, t->waits.in_passes));
	else
		fprintf(out, "%s in passes and queries",
			format_duration(passes, t->waits.in_queries + t->waits.in_passes));
	fprintf(out, ", %s elsewhere\n", format_duration(neither, t->waits.in_neither));
}

size_t build_rows__shown(const struct build_view *v, size_t n, size_t fit)
{
	size_t most = v->full ? n : v->top ?: fit;

	return most < n ? most : n;
}

char *build_item_crate(const struct build_item *item)
{
	const char *end = strstr(item->path, "::");

	return end ? strndup(item->path, end - item->path) : strdup(item->path);
}

/* The last segments of a path that fit as a whole; else the last one, which does not fit. */
static const char *last_segments(const char *path, size_t columns)
{
	const char *fits = format_fit_end(path, columns), *next;

	if (fits == path)
		return path;
	next = strstr(fits - path < 2 ? path : fits - 2, "::");
	if (next)
		return next + 2;
	for (next = fits; next > path && (next - path < 2 || strncmp(next - 2, "::", 2)); next--)
		;
	return next;
}

/* The beginning of a name that does not fit, marked. NULL: no memory. */
char *build_cut_name(const char *name, size_t most)
{
	char *cut = strdup(name);

	if (cut && most)
		format_cut(cut, most);
	return cut;
}

char *build_item_name(const struct build_item *item, size_t most)
{
	_free_ char *path = format_clean(item->path);
	const char *end = path ? strstr(path, "::") : NULL, *rest;
	size_t crate = end ? end - path : 0, room;
	char *name;

	if (!path || !most || format_width(path) <= most)
		return take_ptr(path);
	/* The end distinguishes the items of a crate: it gets half of the columns or more. */
	if (crate > most / 2 - strlen(".."))
		crate = 0;
	room = most - crate - strlen("..");
	rest = last_segments(path, room);
	/* The item around the last segment says more than the crate. */
	if (format_width(rest) > room || !strstr(rest, "::")) {
		const char *more = last_segments(path, most - strlen(".."));

		crate = format_width(rest) > room || more < rest ? 0 : crate;
		rest = more;
	}
	if (rest == path || format_width(rest) > most - strlen(".."))
		return build_cut_name(rest, most);
	return asprintf(&name, "%.*s..%s", (int)crate, path, rest) < 0 ? NULL : name;
}

char *build_crate_name(const struct build_crate *crate, size_t most)
{
	const char *kind = strstr(crate->name, " (");
	size_t before = kind ? (size_t)(kind - crate->name) : 0;
	size_t after = kind ? format_width(kind) : 0;
	char *name;

	if (!most || format_width(crate->name) <= most)
		return strdup(crate->name);
	if (!kind || after + strlen("..") >= most)
		return build_cut_name(crate->name, most);
	before = format_fit(crate->name, most - after - strlen(".."));
	return asprintf(&name, "%.*s..%s", (int)before, crate->name, kind) < 0 ? NULL : name;
}

const char *build_ending(char buf[FORMAT_MAX * 2], const struct trace_process *p)
{
	char exit[FORMAT_MAX];

	if (p->exit_status == TRACE_EXIT_UNKNOWN)
		return "end not seen";
	if (p->kill == TRACE_KILL_MEMORY)
		return "killed for want of memory";
	snprintf(buf, FORMAT_MAX * 2, "killed by %s", report_notes__exit(exit, p));
	return buf;
}

const char *build_memory_kills(char buf[FORMAT_MAX * 2], const struct build_totals *t)
{
	if (!t->memory_kills)
		return "";
	if (t->memory_kills == t->killed)
		return " for want of memory";
	snprintf(buf, FORMAT_MAX * 2, ", of which %" PRIu32 " for want of memory", t->memory_kills);
	return buf;
}
