/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Items: the time of queries by the definition that they were about. Takes the same spans as the
 * summary. Executions without an item of their own (of a type, of no definition) and all other
 * intervals are charged to the nearest execution around them that has one. Knows no output format.
 */
#ifndef QPROF_ANALYZE_ITEMS_H
#define QPROF_ANALYZE_ITEMS_H

#include "analyze/sampled.h"
#include "base/cleanup.h"
#include "trace/trace.h"

struct items;

#define ITEM_QUERIES 3

/* A query's part of an item's time. */
struct item_part {
	uint32_t label; /* string id */
	uint64_t self_ns;
	uint64_t cpu_ns; /* its part on the CPU: on_cpu_ns() */
};

/* The time of one query about one item. */
struct item_cell {
	uint32_t item; /* these three as in item_row */
	uint32_t label;
	uint64_t executions;
	uint64_t charged;
	uint64_t results; /* executions, by the compilers' tables */
	uint64_t unsure;  /* results that may be no executions */
	uint64_t self_ns;
	uint64_t cpu_ns;
	uint64_t off_ns;				/* off-CPU time within self_ns */
	struct sample_sum sampled[TRACE_SAMPLE_CAUSES]; /* as in item_row */
	uint64_t probe_ns;				/* that was subtracted from self_ns */
	bool instances; /* it is executed once for each instance of the item */
};

struct item_row {
	uint32_t item;	     /* string id of its path, or TRACE_NO_STRING: none is around */
	uint64_t executions; /* of queries about it */
	uint64_t charged;    /* executions without an item that are charged to it */
	uint64_t results;    /* these two as in item_cell */
	uint64_t unsure;
	bool at_least; /* there may be more executions than `results` */
	/* Of a generic function, by all compiles: 0: unknown. Not of a module, and with those that
	 * other crates made only from items__rows(). */
	uint64_t instances;
	uint64_t self_ns; /* of all of them, without probe time as far as it is known */
	uint64_t cpu_ns;  /* its part on the CPU: on_cpu_ns() */
	/* Of the CPU, the part of that which samples stand for; others are in none of these. */
	struct sample_sum sampled[TRACE_SAMPLE_CAUSES];
	/* Of LLVM, for it or its instances; in none of the other times. */
	struct sample_sum llvm;
	struct item_part
		queries[ITEM_QUERIES]; /* by cpu_ns, the largest first; label 0, 0 ns: none */
	uint32_t n_queries;
};

static inline uint64_t item_row__executions(const struct item_row *row)
{
	return row->executions + row->results;
}

/* Whether its executions are known: not if there are only samples of them. */
static inline bool item_row__is_counted(const struct item_row *row)
{
	const struct sample_sum *of = row->sampled;
	bool only_samples =
		of[TRACE_SAMPLE_CPU].n ||
		(!row->self_ns && (of[TRACE_SAMPLE_OFF_CPU].n || of[TRACE_SAMPLE_FAULT].n));

	return item_row__executions(row) || row->charged || !(only_samples || row->unsure);
}

/* Whether those that are charged to it are known. */
static inline bool item_row__knows_charged(const struct item_row *row)
{
	return item_row__is_counted(row) && !row->results;
}

/* `texts` outlives the items. 0, or -ENOMEM. */
int items__new(const struct trace_texts *texts, struct items **out);

/*
 * Count a span, which is not TRACE_KIND_OFF_CPU, nor a cache hit. `item` is the string id of what
 * it was about (trace_reader__event_string()), or TRACE_NO_STRING. -ENOMEM.
 */
int items__span(struct items *m, const struct trace_span *span, const struct trace_times *times,
		uint32_t item);

/* A span that is not counted, but that others may be charged to. Likewise. */
int items__around(struct items *m, const struct trace_span *span, uint32_t item);

/*
 * Count a sample (enum trace_sample_cause), in an interval with this label, which is charged to
 * `item`: the string id of what the nearest execution around it was about that items__about()
 * takes, or TRACE_NO_STRING. -ENOMEM.
 */
int items__sample(struct items *m, uint32_t label, uint32_t item, uint8_t cause, uint64_t value);

/*
 * LLVM's time for a function of an item, by its text: that of another crate's definition is another
 * string than in its own crate. An item about which no query is known has no row. 0 or -ENOMEM.
 */
int items__llvm(struct items *m, uint32_t item, const struct sample_sum *self);

/*
 * All executions are known now: count the instances of the items that LLVM has compiled. 0 or
 * -ENOMEM.
 */
int items__count_compiled(struct items *m);

/*
 * The instances that compilers made of such an item: 0: not known; *all: that is their number, not
 * a lower limit.
 */
uint64_t items__compiled(const struct items *m, uint32_t item, bool *all);

/* Count executions of a query by the compiler's tables. 0 or -ENOMEM. */
int items__results(struct items *m, const struct trace_results *results);

/* The same, about definitions of another crate: of instances they are counted. 0 or -ENOMEM. */
int items__foreign_results(struct items *m, const struct trace_results *results);

/*
 * The queries of which some results are not listed, or may be no executions; *n is the number of
 * labels, which belong to the items. Of any other query all results are listed.
 */
const uint32_t *items__unlisted(const struct items *m, uint32_t *n);

/*
 * A compiler's results, or all its executions, of a query are known, whether or not they are
 * counted. Definitions of other crates are left out by a compiler that does not know their path, so
 * of several compilers their instances are a lower limit.
 */
void items__note_compiler(struct items *m, uint32_t process, uint32_t label);

/* A compiler may have more results of a query than are listed. 0 or -ENOMEM. */
int items__note_limit(struct items *m, uint32_t label);

/* There may be executions that are in no results. */
void items__miss_results(struct items *m);
bool items__misses_results(const struct items *m);

/*
 * A query is about what a text names: whether that is an item: 1 or 0; or -ENOMEM. Queries that
 * rustc runs of each module tell which items are modules.
 */
int items__about(struct items *m, uint32_t label, uint32_t string);

/* The string ids of their paths, which belong to the items. */
const uint32_t *items__modules(const struct items *m, uint32_t *n);

/* Some execution was about an item. */
bool items__any(const struct items *m);

/* `keyed_by_instance` says whether a query has exactly an Instance as its key. */
void items__count_instances(struct items *m,
			    bool (*keyed_by_instance)(const void *ctx, uint32_t label),
			    const void *ctx);

/* Whether a query has such a key; if so, whether its definition is another crate's matters. */
bool items__counts_instances_by(struct items *m, uint32_t label);

/* Such a query was executed about a definition of another crate, with this path. 0 or -ENOMEM. */
int items__foreign_instance(struct items *m, uint32_t label, uint32_t path);

/*
 * The `most` rows of items with a time on the CPU or in LLVM that are first if they are ordered by
 * these two together, the largest first, and then by path; *n is their number, and *all that of all
 * such rows. The instances that other crates made are not in these. Memory for twice as many rows
 * is taken. Call it once. Free with free(). -ENOMEM.
 */
int items__first(struct items *m, size_t most, struct item_row **rows, size_t *n, size_t *all);

/* One row per item, in no particular order; call it once. Free with free(). -ENOMEM. */
int items__rows(struct items *m, struct item_row **rows, size_t *n);

/*
 * Call `take` for each query about each item, in no particular order. 0, -ENOMEM, or the first
 * value that is not 0.
 */
int items__each(struct items *m, int (*take)(void *ctx, const struct item_cell *cell), void *ctx);

/* Add a query, which was not added before, to a row of all zeroes or more. */
void item_row__add(struct item_row *row, const struct item_cell *cell);

void items__free(struct items *m);
DEFINE_CLEANUP(struct items, items__free)
#define _items_ __cleanup(items__free_p)

#endif /* QPROF_ANALYZE_ITEMS_H */
