// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "base/map.h"

struct entry {
	struct summary_row row; /* raw times include the probes' part, which is: */
	uint64_t probe_ns;
	uint64_t self_probe_ns;
	uint64_t executed_probe_ns;
	uint32_t next; /* next entry of the same process or of the free list, or U64_MAP_NONE */
};

struct summed_process {
	struct trace_process process;
	uint64_t last_ns; /* latest end of a span, or sample */
	uint32_t entries; /* newest entry, or U64_MAP_NONE */
	uint32_t n_entries;
	struct reuse reuse;
	uint32_t numbered_tid; /* the thread that numbered results */
	bool many_number;      /* several threads numbered results */
	bool is_counted;       /* its results were read, if not all */
	bool was_sampled;
	bool is_folded;
	bool had_rows;	   /* for a folded process */
	bool only_queried; /* for a folded process: its command line compiles nothing */
};

/* A cache of the last entry per key: few queries make up most spans. */
struct recent {
	uint64_t key;
	uint32_t entry; /* index plus 1; 0: empty */
};

#define N_RECENT 1024u /* a power of two */

struct summary {
	struct summed_process *processes;
	uint32_t n_processes;
	uint32_t processes_capacity;
	struct entry *entries;
	uint32_t n_entries;
	uint32_t entries_capacity;
	uint32_t free_entry;	    /* linked by next, or U64_MAP_NONE */
	struct summed_process over; /* rows of all folded processes */
	struct u64_map entry_of;    /* key_of() -> index into entries */
	struct recent recent[N_RECENT];
	struct load_tracks loads;
	struct trace_tally *tallies;
	uint32_t n_tallies;
	uint32_t tallies_capacity;
	uint64_t spans;
	uint64_t left;
	uint64_t left_off;
	bool borrows_texts; /* texts of processes are borrowed */
	bool is_sampled, is_outside;
	bool has_unwatched; /* queries that probes do not watch */
};

int summary__new(struct summary **out)
{
	_summary_ struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->free_entry = U64_MAP_NONE;
	s->over.entries = U64_MAP_NONE;
	*out = take_ptr(s);
	return 0;
}

void summary__borrow_texts(struct summary *s)
{
	s->borrows_texts = true;
}

static void clear_process(const struct summary *s, struct trace_process *p)
{
	if (!s->borrows_texts)
		trace_process__clear(p);
}

int summary__process(struct summary *s, const struct trace_process *p)
{
	const struct summed_process new = {.entries = U64_MAP_NONE};
	struct trace_process copy = *p;
	int err = 0;

	if (p->index > s->n_processes)
		return -EINVAL;
	if (!s->borrows_texts)
		err = trace_process__copy(&copy, p);
	if (err)
		return err;
	if (p->index == s->n_processes &&
	    array__add(&s->processes, &s->n_processes, &s->processes_capacity, &new)) {
		clear_process(s, &copy);
		return -ENOMEM;
	}
	clear_process(s, &s->processes[p->index].process);
	s->processes[p->index].process = copy;
	return 0;
}

/* The label of a free entry. */
#define NO_LABEL UINT32_MAX
/* Replaces the process in the keys of entries of folded processes. */
#define OVER (UINT32_MAX >> 1)

static uint64_t key_of(uint32_t process, uint32_t label, bool is_activity)
{
	return (uint64_t)process << 33 | (uint64_t)is_activity << 32 | label;
}

static struct entry *add_entry(struct summary *s, uint64_t key)
{
	bool over = key >> 33 == OVER;
	struct summed_process *p = over ? &s->over : &s->processes[key >> 33];
	uint32_t i = s->free_entry;

	if (i == U64_MAP_NONE) {
		i = s->n_entries;
		if (array__reserve_one(&s->entries, i, &s->entries_capacity, sizeof(*s->entries)))
			return NULL;
	}
	if (u64_map__put(&s->entry_of, key, i))
		return NULL;
	if (i == s->n_entries)
		s->n_entries++;
	else
		s->free_entry = s->entries[i].next;
	s->entries[i] = (struct entry){
		.next = p->entries,
		.row = {.label = (uint32_t)key, .is_activity = key >> 32 & 1},
	};
	p->entries = i;
	p->n_entries++;
	return &s->entries[i];
}

static void count_span(struct entry *entry, const struct trace_span *span,
		       const struct trace_times *times)
{
	uint64_t duration = span->end_ns - span->start_ns;
	uint64_t alone = trace_without_probes(duration, times->probe_ns);
	struct summary_row *row = &entry->row;

	row->kinds |= summary_kind_bit(span->kind);
	if (span->kind == TRACE_KIND_HIT) {
		row->hits++;
		return;
	}
	row->self_ns += times->self_ns;
	row->self_off_ns += times->self_off_ns;
	entry->self_probe_ns += times->self_probe_ns;
	if (span->kind == TRACE_KIND_HASHING) {
		row->hashing_ns += trace_without_probes(times->self_ns, times->self_probe_ns);
		return;
	}
	row->total_ns += duration;
	row->off_ns += times->off_ns;
	entry->probe_ns += times->probe_ns;
	if (span->kind == TRACE_KIND_BLOCKED) {
		row->blocked_ns += alone;
		return;
	}
	if (span->kind == TRACE_KIND_LOAD) {
		row->load_ns += trace_without_probes(times->self_ns, times->self_probe_ns);
		return;
	}
	/* An execution. */
	if (alone > row->max_ns)
		row->max_ns = alone;
	if (!row->count || alone < row->min_ns)
		row->min_ns = alone;
	row->count++;
	row->unwound += trace_span__is_unfinished(span);
	row->executed_ns += duration;
	entry->executed_probe_ns += times->probe_ns;
}

static struct entry *find_or_add(struct summary *s, uint32_t process, uint32_t label,
				 bool is_activity)
{
	uint64_t key = key_of(process, label, is_activity);
	struct recent *recent = &s->recent[(label ^ process << 8) % N_RECENT];
	struct entry *entry;
	uint32_t i;

	if (recent->entry && recent->key == key)
		return &s->entries[recent->entry - 1];
	i = u64_map__get(&s->entry_of, key);
	entry = i == U64_MAP_NONE ? add_entry(s, key) : &s->entries[i];
	if (entry)
		*recent = (struct recent){key, entry - s->entries + 1};
	return entry;
}

/* A load that no span of its depth has followed yet; deeper spans may have. */
struct open_load {
	uint32_t label;
	uint16_t depth;
};

/* Open loads of a thread; the deepest is last. */
struct load_track {
	struct open_load *loads;
	uint32_t n;
	uint32_t capacity;
};

int load_tracks__span(struct load_tracks *l, const struct trace_span *span)
{
	struct open_load last = {0};
	struct load_track *t;

	/* Instants and spans that are no children may occur anywhere in between. */
	if (span->kind >= TRACE_KIND_HIT)
		return 0;
	t = table__get(&l->tracks, (uint64_t)span->process << 32 | span->tid);
	if (!t)
		return -ENOMEM;
	while (t->n && t->loads[t->n - 1].depth > span->depth)
		t->n--;
	if (t->n && t->loads[t->n - 1].depth == span->depth)
		last = t->loads[--t->n];
	else
		last.label = TRACE_NO_STRING;
	if (span->kind != TRACE_KIND_LOAD)
		return span->kind == TRACE_KIND_QUERY && last.label == span->label;
	if (array__reserve_one(&t->loads, t->n, &t->capacity, sizeof(*t->loads)))
		return -ENOMEM;
	t->loads[t->n++] = (struct open_load){span->label, span->depth};
	return 0;
}

void load_tracks__destroy(struct load_tracks *l)
{
	for (uint32_t i = 0; i < l->tracks.n; i++)
		free(l->tracks.at[i].loads);
	table__destroy(&l->tracks);
}

static int count_load(struct summary *s, struct summed_process *p, struct entry *entry,
		      const struct trace_span *span)
{
	int failed = load_tracks__span(&s->loads, span);

	if (failed < 0)
		return failed;
	if (span->kind == TRACE_KIND_LOAD) {
		p->reuse.loads++;
		p->reuse.loaded++;
		entry->row.loads++;
		entry->row.loaded++;
	}
	p->reuse.loaded -= failed;
	entry->row.loaded -= failed;
	return 0;
}

int summary__span(struct summary *s, const struct trace_span *span, const struct trace_times *times)
{
	struct summed_process *p;
	struct entry *entry;

	if (span->process >= s->n_processes || span->end_ns < span->start_ns)
		return -EINVAL;
	p = &s->processes[span->process];
	if (span->end_ns > p->last_ns)
		p->last_ns = span->end_ns;
	/* Off-CPU time is already part of the parents' times. */
	if (span->kind == TRACE_KIND_OFF_CPU) {
		s->left_off += (span->flags & TRACE_SPAN_LEFT) != 0;
		return 0;
	}
	entry = find_or_add(s, span->process, span->label,
			    summary_kinds_are_activity(summary_kind_bit(span->kind)));
	if (!entry)
		return -ENOMEM;
	count_span(entry, span, times);
	entry->row.begun += trace_span__began_before(span, &p->process);
	if (span->kind == TRACE_KIND_QUERY) {
		p->reuse.executed++;
		/* Results are numbered without gaps if one thread numbers them. */
		if (trace_span__has_number(span) && span->tid != p->numbered_tid) {
			p->many_number |= p->reuse.results;
			p->numbered_tid = span->tid;
		}
		if (trace_span__has_number(span) && span->invocation >= p->reuse.results)
			p->reuse.results = span->invocation + 1UL;
	}
	/* Skip the common case: most traces have no loads. */
	if ((s->loads.tracks.n || span->kind == TRACE_KIND_LOAD) && count_load(s, p, entry, span))
		return -ENOMEM;
	s->spans++;
	s->left += trace_span__end_is_late(span);
	return 0;
}

int summary__tally(struct summary *s, const struct trace_tally *t)
{
	struct entry *entry;

	if (t->process >= s->n_processes)
		return -EINVAL;
	if (t->kind != TRACE_KIND_HIT_COUNT && t->kind != TRACE_KIND_RESULTS &&
	    t->kind != TRACE_KIND_RESULTS_AT_LEAST)
		return array__add(&s->tallies, &s->n_tallies, &s->tallies_capacity, t);
	entry = find_or_add(s, t->process, t->label, false);
	if (!entry)
		return -ENOMEM;
	if (t->kind == TRACE_KIND_HIT_COUNT) {
		entry->row.hits += t->sum;
	} else {
		entry->row.results += t->events;
		entry->row.results_unsure += t->sum;
		entry->row.results_missing |= t->kind == TRACE_KIND_RESULTS_AT_LEAST;
		s->processes[t->process].is_counted = true;
	}
	return 0;
}

int summary__sample(struct summary *s, const struct trace_sample *sample)
{
	uint64_t end_ns = trace_sample__end_ns(sample), *last_ns;

	if (sample->process >= s->n_processes)
		return -EINVAL;
	last_ns = &s->processes[sample->process].last_ns;
	*last_ns = end_ns > *last_ns ? end_ns : *last_ns;
	s->processes[sample->process].was_sampled = true;
	return 0;
}

int summary__samples(struct summary *s, uint32_t process, uint32_t label, uint32_t kinds,
		     const struct sample_sums *sums)
{
	struct entry *entry;

	if (process >= s->n_processes)
		return -EINVAL;
	entry = find_or_add(s, process, label, summary_kinds_are_activity(kinds));
	if (!entry)
		return -ENOMEM;
	entry->row.kinds |= kinds;
	sample_sums__add(&entry->row.samples, sums);
	return 0;
}

int summary__sampled_interval(struct summary *s, const struct trace_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;
	struct entry *entry;

	if (span->process >= s->n_processes)
		return -EINVAL;
	entry = ns ? find_or_add(s, span->process, span->label, false) : NULL;
	if (!entry)
		return ns ? -ENOMEM : 0;
	if (ns > entry->row.sampled_max_ns)
		entry->row.sampled_max_ns = ns;
	return 0;
}

void summary__forget_samples(struct summary *s)
{
	for (uint32_t i = 0; i < s->n_entries; i++)
		s->entries[i].row.samples = (struct sample_sums){};
}

void summary__set_sampled(struct summary *s)
{
	s->is_sampled = true;
}

void summary__set_outside(struct summary *s)
{
	s->is_outside = true;
}

bool summary__is_outside(const struct summary *s)
{
	return s->is_outside;
}

bool summary__is_sampled(const struct summary *s)
{
	return s->is_sampled;
}

void summary__set_unwatched(struct summary *s)
{
	s->has_unwatched = true;
}

bool summary__is_unwatched(const struct summary *s)
{
	return s->has_unwatched;
}

const struct trace_tally *summary__tallies(const struct summary *s, size_t *n)
{
	*n = s->n_tallies;
	return s->tallies;
}

uint32_t summary__n_processes(const struct summary *s)
{
	return s->n_processes;
}

const struct trace_process *summary__process_at(const struct summary *s, uint32_t i)
{
	return i < s->n_processes ? &s->processes[i].process : NULL;
}

uint64_t summary__left(const struct summary *s)
{
	return s->left;
}

uint64_t summary__left_off(const struct summary *s)
{
	return s->left_off;
}

uint64_t summary__spans(const struct summary *s)
{
	return s->spans;
}

struct reuse summary__reuse(const struct summary *s, uint32_t i)
{
	struct reuse reuse = s->processes[i].reuse;

	if (s->processes[i].many_number)
		reuse.results = 0;
	reuse.unprobed = s->has_unwatched;
	return reuse;
}

uint64_t summary__end_ns(const struct summary *s)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < s->n_processes; i++) {
		const struct summed_process *p = &s->processes[i];

		end_ns = p->last_ns > end_ns ? p->last_ns : end_ns;
		end_ns = p->process.end_ns > end_ns ? p->process.end_ns : end_ns;
	}
	return end_ns;
}

uint64_t summary__wall_ns(const struct summary *s)
{
	uint64_t wall = 0;

	for (uint32_t i = 0; i < s->n_processes; i++) {
		const struct summed_process *p = &s->processes[i];

		uint64_t end_ns = p->process.end_ns ?: p->last_ns;

		if (end_ns > p->process.start_ns)
			wall += end_ns - p->process.start_ns;
	}
	return wall;
}

/* Before it is merged with those of other compilers. */
static void note_beside(struct summary_row *row)
{
	if (row->count)
		return;
	row->results_beside = row->results - row->results_unsure;
	row->unsure_beside = row->results_unsure;
}

static void merge_row(struct summary_row *to, const struct summary_row *from)
{
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	if (!to->count || (from->count && from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	to->count += from->count;
	to->unwound += from->unwound;
	to->begun += from->begun;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	to->executed_ns += from->executed_ns;
	to->raw_total_ns += from->raw_total_ns;
	to->raw_self_ns += from->raw_self_ns;
	to->clamped += from->clamped;
	to->hits += from->hits;
	to->blocked_ns += from->blocked_ns;
	to->load_ns += from->load_ns;
	to->hashing_ns += from->hashing_ns;
	to->off_ns += from->off_ns;
	to->self_off_ns += from->self_off_ns;
	to->self_cpu_ns += from->self_cpu_ns;
	to->results += from->results;
	to->results_unsure += from->results_unsure;
	to->results_missing |= from->results_missing;
	to->results_beside += from->results_beside;
	to->unsure_beside += from->unsure_beside;
	to->loads += from->loads;
	to->loaded += from->loaded;
	to->kinds |= from->kinds;
	sample_sums__add(&to->samples, &from->samples);
	if (from->sampled_max_ns > to->sampled_max_ns)
		to->sampled_max_ns = from->sampled_max_ns;
}

static int compare_labels(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return x->label == y->label ? x->is_activity - y->is_activity
				    : (x->label > y->label) - (x->label < y->label);
}

/* Of rows that no sample met, those of many executions come first. */
static int compare_cpu(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;
	uint64_t n_x = summary_row__executions(x), n_y = summary_row__executions(y);

	if (x->best_cpu_ns != y->best_cpu_ns)
		return (x->best_cpu_ns < y->best_cpu_ns) - (x->best_cpu_ns > y->best_cpu_ns);
	return n_x == n_y ? compare_labels(a, b) : (n_x < n_y) - (n_x > n_y);
}

/* Subtract the probe time. */
static struct summary_row row_of(const struct entry *entry)
{
	struct summary_row row = entry->row;

	note_beside(&row);
	row.raw_total_ns = row.total_ns;
	row.raw_self_ns = row.self_ns;
	row.clamped = entry->self_probe_ns > row.self_ns;
	row.total_ns = trace_without_probes(row.total_ns, entry->probe_ns);
	row.self_ns = trace_without_probes(row.self_ns, entry->self_probe_ns);
	row.self_cpu_ns = on_cpu_ns(row.self_ns, row.self_off_ns);
	row.executed_ns = trace_without_probes(row.executed_ns, entry->executed_probe_ns);
	return row;
}

/*
 * True if the row is to be shown: not if only the compiler's tables have it, which is of use where
 * not all queries were recorded; elsewhere all its results were fed. Nor if only jobs have it, and
 * no stack shows the query. Where each execution is recorded, what the tables have is no
 * execution, or of a compiler before its probes were there, of which all the rest is missing too.
 */
static bool settle(const struct summary *s, struct summary_row *row)
{
	bool alone = row->results ? !s->has_unwatched : row->results_missing || row->sampled_max_ns;
	bool shown = !alone || row->kinds || row->hits || sample_sums__any(&row->samples);

	if (!s->has_unwatched) {
		row->results = row->results_unsure = 0;
		row->results_beside = row->unsure_beside = 0;
		row->results_missing = false;
	}
	/* It was executed, though only waiting for it, or loads of some results, have intervals. */
	if (!row->is_activity && row->kinds && summary_row__executions(row))
		row->kinds |= 1u << TRACE_KIND_QUERY;
	return shown;
}

int summary__each(const struct summary *s, uint32_t process,
		  int (*take)(void *ctx, const struct summary_row *row), void *ctx)
{
	int err = process < s->n_processes ? 0 : -EINVAL;

	if (err)
		return err;
	for (uint32_t i = s->processes[process].entries; i != U64_MAP_NONE && !err;
	     i = s->entries[i].next)
		err = take(ctx, &s->entries[i].row);
	return err;
}

bool summary__misses_results(const struct summary *s)
{
	for (uint32_t i = 0; i < s->n_processes; i++)
		if (!s->processes[i].is_counted && !summary__only_queried(s, i))
			return true;
	return false;
}

static size_t sum_rows(const struct summary *s, struct summary_row *rows)
{
	bool missing = summary__misses_results(s);
	size_t n = 0, used = 0;

	for (uint32_t i = 0; i < s->n_entries; i++)
		if (s->entries[i].row.label != NO_LABEL)
			rows[n++] = row_of(&s->entries[i]);
	qsort(rows, n, sizeof(*rows), compare_labels);
	for (size_t i = 0, next; i < n; i = next) {
		struct summary_row row = rows[i];

		for (next = i + 1; next < n && !compare_labels(&row, &rows[next]); next++)
			merge_row(&row, &rows[next]);
		row.results_missing |= row.results && missing;
		if (settle(s, &row))
			rows[used++] = row;
	}
	return used;
}

int summary__rows(const struct summary *s, uint32_t process, struct summary_row **rows, size_t *n)
{
	bool all = process == SUMMARY_ALL;
	size_t most;

	if (!all && process >= s->n_processes)
		return -EINVAL;
	most = all ? s->n_entries : s->processes[process].n_entries;
	*rows = calloc(most + 1, sizeof(**rows)); /* calloc(0) may be NULL */
	if (!*rows)
		return -ENOMEM;
	*n = all ? sum_rows(s, *rows) : 0;
	for (uint32_t i = all ? U64_MAP_NONE : s->processes[process].entries; i != U64_MAP_NONE;
	     i = s->entries[i].next) {
		(*rows)[*n] = row_of(&s->entries[i]);
		*n += settle(s, &(*rows)[*n]);
	}
	/* Errors do not add up, so they are those of the merged sums. */
	for (size_t i = 0; i < *n; i++) {
		struct summary_row *row = &(*rows)[i];
		const struct sample_sums *of = &row->samples;
		bool has_intervals = row->raw_total_ns || row->raw_self_ns || row->count;

		row->sampled_error_ns = sample_sum__error(&of->self[TRACE_SAMPLE_CPU]);
		row->sampled_total_error_ns = sample_sum__error(&of->total[TRACE_SAMPLE_CPU]);
		row->best_self_ns = row->self_ns;
		row->best_cpu_ns = row->self_cpu_ns;
		if (s->has_unwatched ||
		    (!has_intervals && (sample_sums__any(of) || row->results))) {
			row->self_by = SUMMARY_SELF_SAMPLES;
			row->best_self_ns = row->best_cpu_ns = of->self[TRACE_SAMPLE_CPU].value;
			row->best_error_ns = row->sampled_error_ns;
		}
	}
	qsort(*rows, *n, sizeof(**rows), compare_cpu);
	return 0;
}

int summary__counts(const struct summary *s, uint32_t process, struct summary_counts *counts)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err = summary__rows(s, process, &rows, &n);

	if (err)
		return err;
	*counts = (struct summary_counts){0};
	for (size_t i = 0; i < n; i++) {
		summary_counts__add(counts, &rows[i]);
		counts->queries += rows[i].results_beside;
		counts->unsure += rows[i].unsure_beside;
	}
	return 0;
}

int summary__fold(struct summary *s, uint32_t process)
{
	struct summed_process *p = &s->processes[process];
	struct trace_process rest = p->process;
	bool had_rows = summary__recorded(s, process);

	/* Cached entries may be reused for other keys. */
	memset(s->recent, 0, sizeof(s->recent));
	/* Add each entry to the entry of its label for folded processes. */
	while (p->entries != U64_MAP_NONE) {
		uint32_t i = p->entries;
		struct summary_row row = s->entries[i].row;
		uint64_t key = key_of(OVER, row.label, row.is_activity);
		uint32_t to_i = u64_map__get(&s->entry_of, key);
		struct entry *to = to_i == U64_MAP_NONE ? add_entry(s, key) : &s->entries[to_i];
		const struct entry *from = &s->entries[i];

		if (!to)
			return -ENOMEM;
		note_beside(&row);
		merge_row(&to->row, &row);
		to->probe_ns += from->probe_ns;
		to->self_probe_ns += from->self_probe_ns;
		to->executed_probe_ns += from->executed_probe_ns;
		u64_map__remove(&s->entry_of, key_of(process, row.label, row.is_activity));
		p->entries = from->next;
		p->n_entries--;
		s->entries[i] = (struct entry){.next = s->free_entry, .row.label = NO_LABEL};
		s->free_entry = i;
	}
	p->only_queried = compile_only_queries(&p->process);
	p->had_rows = had_rows;
	p->is_folded = true;
	rest.command = rest.crate = rest.crate_type = NULL;
	rest.rustc_version = rest.build_id = rest.cwd = rest.no_llvm = NULL;
	clear_process(s, &p->process);
	p->process = rest;
	return 0;
}

bool summary__recorded(const struct summary *s, uint32_t i)
{
	const struct summed_process *p = &s->processes[i];

	return p->was_sampled || (p->is_folded ? p->had_rows : p->n_entries > 0);
}

bool summary__only_queried(const struct summary *s, uint32_t process)
{
	const struct summed_process *p = &s->processes[process];

	return p->is_folded ? p->only_queried : compile_only_queries(&p->process);
}

void summary__free(struct summary *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_processes; i++)
		clear_process(s, &s->processes[i].process);
	free(s->processes);
	free(s->entries);
	free(s->tallies);
	u64_map__destroy(&s->entry_of);
	load_tracks__destroy(&s->loads);
	free(s);
}
