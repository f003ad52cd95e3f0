// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/report_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

char *report_count(char buf[FORMAT_MAX * 2], const struct summary_row *row)
{
	char count[FORMAT_MAX];

	if (!row->count && row->results)
		snprintf(buf, FORMAT_MAX * 2, "%s%s%s",
			 row->results_missing ? REPORT_LEAST " " : "",
			 format_count(count, row->results),
			 !row->results_unsure ? ""
			 : row->results == 1  ? " result"
					      : " results");
	else if (!row->count && row->self_by == SUMMARY_SELF_SAMPLES)
		strcpy(buf, "-");
	else
		format_count(buf, summary_row__executions(row));
	return buf;
}

/* Of an item, what it took in the front end and in LLVM. */
static uint64_t own_ns(const struct report_row *row)
{
	return row->cpu_ns + (row->item ? row->item->llvm.value : 0);
}

static uint64_t key_of(const struct report_row *row, enum report_sort sort)
{
	switch (sort) {
	case REPORT_SORT_TOTAL:
		return report_row__total_ns(row);
	case REPORT_SORT_COUNT:
		return row->count + row->results;
	case REPORT_SORT_MAX:
		return row->count ? row->max_ns : row->extra[REPORT_SAMPLED_MAX];
	case REPORT_SORT_OFF:
		return row->extra[REPORT_OFF_CPU] ?: row->extra[REPORT_SAMPLED_OFF];
	case REPORT_SORT_HITS:
		return row->extra[REPORT_HITS];
	case REPORT_SORT_INSTANCES:
		return row->item ? row->item->instances : 0;
	case REPORT_SORT_SELF:
		return row->self_ns;
	default:
		return own_ns(row);
	}
}

static uint64_t executions(const struct report_row *row)
{
	return row->results_unsure ? 0 : row->count + row->results;
}

static int compare(const void *a, const void *b, void *opt_p)
{
	const struct report_options *opt = opt_p;
	const struct report_row *x = a, *y = b;
	uint64_t kx = key_of(x, opt->sort), ky = key_of(y, opt->sort);

	if (opt->sort != REPORT_SORT_NAME && kx == ky && executions(x) != executions(y))
		return (executions(x) < executions(y)) - (executions(x) > executions(y));
	if (opt->sort == REPORT_SORT_NAME || kx == ky)
		return strcmp(x->name, y->name);
	return (kx < ky) - (kx > ky);
}

static bool is_wanted(const struct report_rows *r, const struct report_row *row,
		      const struct report_options *opt)
{
	if (own_ns(row) < opt->min_ns)
		return false;
	/* Long double: the product may have more than 64 bits. */
	if ((long double)own_ns(row) * 1000000 < (long double)r->cpu_ns * opt->min_ppm)
		return false;
	return r->groups || r->callers || r->items || r->modules || !opt->query ||
	       opt->query(opt->query_ctx, row->name);
}

/* LLVM's time for items is in that of (no item), too: it does not count for that row's place. */
static void sink_no_item(struct report_rows *r)
{
	struct report_row row;
	uint64_t ns = 0;
	size_t at = r->n;

	for (size_t i = 0; i < r->n && r->rows[i].item; i++) {
		ns += r->rows[i].item->llvm.value;
		at = r->rows[i].item->item == TRACE_NO_STRING ? i : at;
	}
	if (at == r->n || !ns)
		return;
	row = r->rows[at];
	ns = row.cpu_ns > ns ? row.cpu_ns - ns : 0;
	for (; at + 1 < r->n && own_ns(&r->rows[at + 1]) > ns; at++)
		r->rows[at] = r->rows[at + 1];
	r->rows[at] = row;
}

/* Sum up, apply the options, and sort. */
static void select_rows(struct report_rows *r, const struct report_options *opt)
{
	size_t used = 0;

	for (size_t i = 0; i < r->n; i++) {
		r->by[r->rows[i].self_by]++;
		r->count += r->rows[i].count;
		r->activities += r->rows[i].activities;
		r->unwound += r->rows[i].unwound;
		r->self_ns += r->rows[i].self_ns;
		r->cpu_ns += r->rows[i].cpu_ns;
		r->off_ns += r->rows[i].preempted_ns + r->rows[i].waiting_ns;
		r->peak_bytes += r->rows[i].peak_bytes;
		for (int extra = 0; extra < REPORT_N_EXTRAS; extra++)
			r->extra[extra] += r->rows[i].extra[extra];
	}
	if (opt->samples && report_rows__are_sampled(r))
		r->self_ns = r->cpu_ns = samples__totals(opt->samples)->of[TRACE_SAMPLE_CPU].value;
	if (r->groups && opt->all_cpu_ns > r->cpu_ns)
		r->cpu_ns = opt->all_cpu_ns;
	for (size_t i = 0; i < r->n; i++)
		if (is_wanted(r, &r->rows[i], opt))
			r->rows[used++] = r->rows[i];
	r->left_out = r->n - used;
	r->n = used;
	qsort_r(r->rows, r->n, sizeof(*r->rows), compare, (void *)opt);
	if (opt->sort == REPORT_SORT_CPU)
		sink_no_item(r);
}

const char *report_self_by(uint8_t self_by)
{
	static const char *const by[] = {
		[SUMMARY_SELF_SPANS] = "spans",
		[SUMMARY_SELF_SAMPLES] = "samples",
	};

	return by[self_by];
}

const char *report_self_mark(uint8_t self_by)
{
	static const char *const marks[] = {
		[SUMMARY_SELF_SPANS] = "",
		[SUMMARY_SELF_SAMPLES] = REPORT_ESTIMATE,
	};

	return marks[self_by];
}

static void set_self(struct report_row *row, uint64_t self_ns, uint64_t cpu_ns,
		     const struct sample_sum *sampled)
{
	row->self_by = sampled && sampled->n ? SUMMARY_SELF_SAMPLES : SUMMARY_SELF_SPANS;
	row->exact_self_ns = row->self_ns = self_ns;
	row->exact_cpu_ns = row->cpu_ns = cpu_ns;
	row->self_error_ns = sampled ? sample_sum__error(sampled) : 0;
	row->extra[REPORT_OFF_CPU] = self_ns - cpu_ns;
}

static struct report_row row_of(const struct summary_row *from, const struct trace_texts *names)
{
	bool all_known = !from->unsure_beside && !from->results_missing;
	struct report_row row = {
		.name = names->text(names->ctx, from->label),
		.kind = summary_row__kind(from),
		.instead = summary_row__instead(from),
		.count = from->count ? summary_row__executions(from) : 0,
		.results = from->count ? 0 : from->results,
		.results_unsure = from->count ? 0 : from->results_unsure,
		.results_missing = from->results_missing,
		.known_count = from->count && !all_known ? 0 : summary_row__executions(from),
		.unwound = from->unwound,
		.begun = from->begun,
		.total_ns = from->total_ns,
		.self_ns = from->best_self_ns,
		.cpu_ns = from->best_cpu_ns,
		.self_error_ns = from->best_error_ns,
		.exact_self_ns = from->self_ns,
		.exact_cpu_ns = from->self_cpu_ns,
		.self_by = from->self_by,
		.raw_total_ns = from->raw_total_ns,
		.raw_self_ns = from->raw_self_ns,
		.mean_ns = summary_row__mean_ns(from),
		.min_ns = from->min_ns,
		.max_ns = from->max_ns,
	};

	for (int extra = 0; extra < REPORT_N_EXTRAS; extra++)
		row.extra[extra] = report_extra_of(from, extra);
	return row;
}

int report_rows__queries(struct report_rows *r, const struct summary *s, uint32_t process,
			 const struct trace_texts *names, const struct report_options *opt)
{
	_free_ struct summary_row *rows = NULL;
	int err;

	*r = (struct report_rows){0};
	err = summary__rows(s, process, &rows, &r->n);
	if (err)
		return err;
	r->rows = calloc(r->n + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		r->rows[i] = row_of(&rows[i], names);
		r->clamped += rows[i].clamped;
	}
	select_rows(r, opt);
	return 0;
}

static struct report_row row_of_group(const struct group_row *g, bool all_queries)
{
	uint64_t off_ns = g->preempted_ns + g->waiting_ns;
	struct report_row row = {
		.name = g->name,
		.count = g->count,
		.activities = g->activities,
		.unwound = g->unwound,
		.total_ns = g->wall_ns,
		.max_ns = g->max_ns,
		.preempted_ns = g->preempted_ns,
		.waiting_ns = g->waiting_ns,
		.peak_bytes = g->peak_bytes,
		.processes = g->processes,
	};

	set_self(&row, g->self_ns, g->cpu_ns, NULL);
	row.extra[REPORT_OFF_CPU] = g->self_off_ns;
	/* Of a thread whose off-CPU times are known, its table shows all time on the CPU. */
	if (off_ns && all_queries)
		row.cpu_ns = on_cpu_ns(g->wall_ns, off_ns);
	return row;
}

int report_rows__groups(struct report_rows *r, const struct report_options *opt)
{
	int err;

	*r = (struct report_rows){0};
	err = pivot__groups(opt->groups, opt->by, &r->groups, &r->n_groups);
	if (err)
		return err;
	r->rows = calloc(r->n_groups + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (; r->n < r->n_groups; r->n++)
		r->rows[r->n] = row_of_group(&r->groups[r->n], !opt->query);
	select_rows(r, opt);
	return 0;
}

int report_rows__callers(struct report_rows *r, const struct report_options *opt)
{
	size_t n;
	int err;

	*r = (struct report_rows){0};
	err = pivot__callers(opt->callers, &opt->locator, &r->callers, &n);
	if (err)
		return err;
	r->rows = calloc(n + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct caller_row *c = &r->callers[i];

		r->rows[i] = (struct report_row){
			.name = c->function ?: "(unknown)",
			.count = c->count,
			.unwound = c->unwound,
			.total_ns = c->total_ns,
			.max_ns = c->max_ns,
			.caller = c,
		};
		set_self(&r->rows[i], c->self_ns, c->cpu_ns, NULL);
	}
	r->n = n;
	select_rows(r, opt);
	return 0;
}

void item_executions_column(struct columns *c, const char *title, const struct item_row *item)
{
	COLUMN(c, COUNT, NULL, title, REPORT_LEAST ": there may be more",
	       item_row__is_counted(item)
		       ? columns__marked(c, item->at_least ? REPORT_LEAST " " : "",
					 item_row__executions(item))
		       : columns__unknown(c));
}

static struct report_row row_of_item(const struct item_row *item, const char *name)
{
	struct report_row row = {
		.name = item->item == TRACE_NO_STRING ? REPORT_NO_ITEM : name,
		.count = item_row__executions(item),
		.total_ns = item->self_ns,
		.item = item,
	};

	set_self(&row, item->self_ns, item->cpu_ns, &item->sampled[TRACE_SAMPLE_CPU]);
	if (item->results || item->unsure || !item_row__is_counted(item))
		row.self_by = SUMMARY_SELF_SAMPLES;
	row.extra[REPORT_SAMPLED_OFF] = item->sampled[TRACE_SAMPLE_OFF_CPU].value;
	row.extra[REPORT_MEMORY] = item->sampled[TRACE_SAMPLE_FAULT].value;
	return row;
}

int report_rows__items(struct report_rows *r, const struct trace_texts *names,
		       const struct report_options *opt)
{
	size_t n;
	int err;

	*r = (struct report_rows){0};
	err = opt->modules ? modules__rows(opt->items, names, &r->modules, &r->n_modules)
			   : items__rows(opt->items, &r->items, &n);
	if (err)
		return err;
	n = opt->modules ? r->n_modules : n;
	r->rows = calloc(n + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (; r->n < n; r->n++) {
		struct report_row *row = &r->rows[r->n];

		if (opt->modules) {
			*row = row_of_item(&r->modules[r->n].sums, r->modules[r->n].path);
			row->items = r->modules[r->n].items;
		} else {
			*row = row_of_item(&r->items[r->n],
					   names->text(names->ctx, r->items[r->n].item));
		}
	}
	select_rows(r, opt);
	return 0;
}

void report_rows__clear(struct report_rows *r)
{
	free(r->rows);
	free(r->callers);
	free(r->items);
	module_rows__free(r->modules, r->n_modules);
	group_rows__free(r->groups, r->n_groups);
	*r = (struct report_rows){0};
}

/* ---- Numbers that some traces have ----------------------------------------------------------- */

/* The offset of a member that report_extra_of() can read as a uint64_t. */
#define AT(field)                                                                             \
	(offsetof(struct summary_row, field) +                                                \
	 0 * sizeof(struct {                                                                  \
		 _Static_assert(sizeof(((struct summary_row *)0)->field) == sizeof(uint64_t), \
				#field " has 8 bytes");                                       \
		 char unused;                                                                 \
	 }))

#define SAMPLED(of, cause) AT(samples.of[TRACE_SAMPLE_##cause].value)

#define EXTRA(id, key, title, unit, at, text) \
	[REPORT_##id] = {key, title, NULL, UNIT_##unit, at, text}
#define ON_PAGE_ONLY(id, key, title, unit, at, text) \
	[REPORT_##id] = {key, NULL, title, UNIT_##unit, at, text}

const struct report_extra report_extras[REPORT_N_EXTRAS] = {
	ON_PAGE_ONLY(SAMPLES, "samples", "samples", COUNT, AT(samples.self[TRACE_SAMPLE_CPU].n),
		     "samples of the CPU whose innermost query it is"),
	EXTRA(SAMPLED_SELF, "sampled_self_ns", "sampled", NS, SAMPLED(self, CPU),
	      "CPU time that these stand for"),
	EXTRA(SAMPLED_ERROR, "sampled_self_error_ns", "+-", NS, AT(sampled_error_ns),
	      "standard error of sampled_self_ns"),
	EXTRA(SAMPLED_TOTAL, "sampled_total_ns", NULL, NS, SAMPLED(total, CPU),
	      "CPU time of samples with the query in their stack"),
	EXTRA(SAMPLED_TOTAL_ERROR, "sampled_total_error_ns", NULL, NS, AT(sampled_total_error_ns),
	      "standard error of sampled_total_ns"),
	EXTRA(SAMPLED_MAX, "sampled_max_ns", NULL, NS, AT(sampled_max_ns),
	      "from the first to the last sample of the execution in which these lie furthest "
	      "apart; missing: no execution met several"),
	EXTRA(SAMPLED_OFF, "sampled_off_ns", NULL, NS, SAMPLED(self, OFF_CPU), "waits in it"),
	EXTRA(MEMORY, "memory_bytes", NULL, BYTES, SAMPLED(self, FAULT),
	      "memory that page faults made resident in it"),
	EXTRA(MEMORY_TOTAL, "memory_total_bytes", NULL, BYTES, SAMPLED(total, FAULT),
	      "the same with what it called"),
	EXTRA(OFF_CPU, "self_off_ns", "off-cpu", NS, AT(self_off_ns),
	      "its part off the CPU; missing: none"),
	EXTRA(TOTAL_OFF_CPU, "off_ns", NULL, NS, AT(off_ns),
	      "part of total_ns off the CPU; missing: none"),
	EXTRA(HITS, "hits", "hits", COUNT, AT(hits), "results found in the query's cache"),
	EXTRA(BLOCKED, "blocked_ns", "blocked", NS, AT(blocked_ns),
	      "waiting for another thread's execution"),
	EXTRA(LOAD, "incremental_load_ns", "incr. load", NS, AT(load_ns),
	      "loading results of the last build"),
	EXTRA(HASHING, "incremental_hashing_ns", "incr. hashing", NS, AT(hashing_ns),
	      "hashing results"),
	EXTRA(LOADED, "loaded", "loaded", COUNT, AT(loaded), "results that were loaded, at least"),
	ON_PAGE_ONLY(LOADS, "loads", "loads", COUNT, AT(loads),
		     "attempts to load a result of the last build"),
};

uint64_t report_extra_of(const struct summary_row *row, enum report_extra_id extra)
{
	/* What an interval waited may be another's wait, where not all have probes. */
	if (extra == REPORT_OFF_CPU && row->self_by == SUMMARY_SELF_SAMPLES)
		return 0;
	return *(const uint64_t *)((const char *)row + report_extras[extra].offset);
}
