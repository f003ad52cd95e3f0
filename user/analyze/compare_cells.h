/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a comparison holds of its traces: compare.c adds them, compare_result.c compares. */
#ifndef QPROF_ANALYZE_COMPARE_CELLS_H
#define QPROF_ANALYZE_COMPARE_CELLS_H

#include "analyze/compare_rows.h"
#include "analyze/cost.h"
#include "base/table.h"
#include "trace/interner.h"

#define WHOLE UINT32_MAX /* as a label: the whole unit; as a unit: all units */
/* As a unit: the label is a row of this kind, which has none. */
#define TABLE_OF(of) (UINT32_MAX - 1 - (uint32_t)(of))
#define ITEMS	     TABLE_OF(COMPARE_OF_ITEMS)

/* After the parts of a cost: wall time of compilers until their library was attached to. */
#define WAITED COST_PARTS

struct pair {
	uint32_t kinds; /* of its intervals: summary_row.kinds */
	uint32_t unit;
	uint32_t label;
	bool in[COMPARE_N_SIDES];
};

/* The values of a pair in one trace. */
struct cell {
	uint64_t of[COMPARE_N_METRICS];
	uint64_t on_cpu_ns;    /* of self time */
	uint64_t preempted_ns; /* of a compiler, or of the build */
	uint64_t probes_ns;
	uint64_t activities;		    /* of the executions; those of a crate have none */
	uint64_t cost_ns[WAITED + 1];	    /* of a compiler, or of the build */
	double variance[COMPARE_N_METRICS]; /* of times by samples, ns^2 */
	uint8_t by;			    /* enum compare_by */
};

/* Values of one trace add up; of peaks the largest counts. */
static inline void cell__add(struct cell *to, const struct cell *from)
{
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		if (m != COMPARE_PEAK)
			to->of[m] += from->of[m];
		else if (from->of[m] > to->of[m])
			to->of[m] = from->of[m];
		to->variance[m] += from->variance[m];
	}
	for (int part = 0; part <= WAITED; part++)
		to->cost_ns[part] += from->cost_ns[part];
	to->on_cpu_ns += from->on_cpu_ns;
	to->probes_ns += from->probes_ns;
	to->activities += from->activities;
	to->by |= from->by;
}

/* The results of a query that a compiler had no table of are in no row. */
struct blind {
	size_t trace; /* place of its cell */
	uint32_t unit, label;
};

/*
 * The time of a query for an item in one trace. These are kept until all traces are there, as items
 * are compared only if all have some.
 */
struct compare_item {
	uint32_t item, query; /* labels */
	uint32_t trace;
	uint64_t executions;
	uint64_t results; /* by the compilers' tables, of definitions of the crate itself */
	uint64_t self_ns;
	uint64_t cpu_ns;    /* of self_ns, on the CPU */
	uint64_t probes_ns; /* that were subtracted from self_ns */
	uint64_t error_ns;  /* of a time by samples */
};

/* Where an item begins; line 0: unknown. */
struct compare_place {
	uint32_t file; /* the label of its name */
	uint32_t line;
	enum compare_side side;
};

struct compare {
	uint32_t n[COMPARE_N_SIDES];	/* number of traces on each side */
	uint32_t seen[COMPARE_N_SIDES]; /* traces added so far */
	uint32_t with_items;		/* traces */
	uint32_t with_llvm;		/* traces that know what LLVM did */
	bool any_llvm;			/* it did something */
	uint32_t n_sampled;		/* traces in which times are by samples */
	bool any_blind;			/* some trace does not know what it has no row of */
	uint32_t knows_off_cpu;		/* traces that have off-CPU times */
	uint32_t cpu_by_samples;	/* traces in which the kernel's CPU times are missing */
	uint32_t knows_cost;		/* traces that have the cost of recording */
	bool levelled;			/* level() is done */
	uint32_t n_uncounted;		/* queries whose executions not all traces know */
	struct blind *blinds;
	uint32_t n_blinds, blinds_capacity;
	struct compare_item *items;
	uint32_t n_items, items_capacity;
	struct compare_place *places; /* by label of an item */
	uint32_t n_places;
	bool *unlisted; /* by label of a query: not all its results are listed in some trace */
	uint32_t n_unlisted;
	uint32_t n_listing; /* traces that list results */
	struct compare_units units;
	/* Of the trace that was added last: units by process index, or WHOLE. */
	uint32_t *last_units;
	uint32_t n_last_units;
	struct interner
		numbers; /* of the names of queries, items and files, alike for all traces */
	char **names;	 /* by number, which is the label */
	uint32_t n_names;
	TABLE(struct pair) pairs; /* by unit << 32 | label; the first pair is the whole build */
	struct cell *cells;	  /* per pair one for each trace: the base traces first */
	uint32_t cells_capacity;  /* in pairs */
};

static inline uint32_t n_traces(const struct compare *c)
{
	return c->n[COMPARE_BASE] + c->n[COMPARE_NEW];
}

static inline double squared(uint64_t ns)
{
	return (double)ns * (double)ns;
}

/* The table that a row with this unit is in. */
static inline enum compare_of of_unit(uint32_t unit)
{
	return unit != WHOLE && unit >= TABLE_OF(COMPARE_TABLES - 1) ? WHOLE - 1 - unit
								     : COMPARE_OF_QUERIES;
}

static inline struct cell *cells_of(const struct compare *c, uint32_t unit, uint32_t label)
{
	/* A look-up changes only what the table remembers of the last one. */
	const struct pair *pair =
		table__find(&((struct compare *)c)->pairs, (uint64_t)unit << 32 | label);

	return pair ? &c->cells[(size_t)(pair - c->pairs.at) * n_traces(c)] : NULL;
}

/* `place` is of the trace. */
int compare__add_to_pair(struct compare *c, size_t place, uint32_t unit, uint32_t label,
			 uint32_t kinds, const struct cell *cell);

#endif /* QPROF_ANALYZE_COMPARE_CELLS_H */
