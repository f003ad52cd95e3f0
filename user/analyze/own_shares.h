/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where not all queries have probes, the self time of one that has them also holds the time of
 * others that ran within it. Samples show which part was its own. So times can be divided that are
 * sums over intervals of several queries, such as those of an item.
 */
#ifndef QPROF_ANALYZE_OWN_SHARES_H
#define QPROF_ANALYZE_OWN_SHARES_H

#include "analyze/summary.h"
#include "base/table.h"

/* All zeroes: all times are a query's own. */
struct own_shares {
	/* By label; without those whose time is all their own. Those without a sample have none. */
	TABLE(struct own_share) of;
};

enum own_shares_of {
	OWN_SHARES_OF_QUERY, /* the time of the query itself */
	/*
	 * Also that of queries without probes, within it, which are not about an item themselves:
	 * these are charged to the item around.
	 */
	OWN_SHARES_OF_ITEM,
};

/* The shares of all queries, after all samples were added. 0 or -ENOMEM. */
int own_shares__init(struct own_shares *s, const struct summary *summary, enum own_shares_of of);

/* Whether any time is divided. */
static inline bool own_shares__any(const struct own_shares *s)
{
	return s->of.n;
}

/* The part of a query's self time that samples show to be its own; 1 if there is no sample. */
double own_shares__part(const struct own_shares *s, uint32_t label);

void own_shares__destroy(struct own_shares *s);

/*
 * The samples between the probes of each label in each process. The sums over one process, or over
 * some, are divided by those in them: by what a report of these processes alone divides by. All
 * zeroes: all times are a query's own.
 */
struct process_shares {
	TABLE(struct own_share) of; /* by process << 32 | label */
};

/* After all samples were added. 0 or -ENOMEM. */
int process_shares__init(struct process_shares *s, const struct summary *summary);

/* NULL: the time is the label's own. `s` may be NULL. */
const struct own_share *process_shares__find(const struct process_shares *s, uint32_t process,
					     uint32_t label);

void process_shares__destroy(struct process_shares *s);

/* A sum of self times on the CPU, divided. All zeroes: no time. */
struct own_time {
	uint64_t cpu_ns;    /* the part that is shown to be own; or all, where no sample is */
	uint64_t others_ns; /* the rest */
	double variance;    /* of cpu_ns, in ns^2, if executions of one query are alike */
	bool is_share;	    /* a part of the sum was divided */
	bool is_limit;	    /* of a part there is no sample: it is at most what is in cpu_ns */
};

/*
 * Add the self time on the CPU of all intervals of one label that are in the sum: the error of a
 * label's share is common to them, those of several labels are independent. `s` may be NULL.
 */
void own_time__add(struct own_time *t, const struct own_shares *s, uint32_t label, uint64_t cpu_ns);

/* Add the time that samples stand for. */
void own_time__add_sampled(struct own_time *t, const struct sample_sum *sum);

/* Add a sum of intervals of other labels. */
void own_time__merge(struct own_time *to, const struct own_time *from);

/* The standard error of cpu_ns. */
uint64_t own_time__error(const struct own_time *t);

/* How cpu_ns is known. */
static inline enum summary_self own_time__by(const struct own_time *t)
{
	if (t->is_share)
		return SUMMARY_SELF_SHARE;
	return t->is_limit ? SUMMARY_SELF_LIMIT : SUMMARY_SELF_SPANS;
}

/* Self times on the CPU by row and label, so that each label is divided once in a row. */
struct own_sum {
	uint32_t row;
	uint32_t label;
	uint64_t cpu_ns;
	struct own_share samples; /* that divide it; with has_samples */
	bool has_samples;
};

struct own_sums {
	TABLE(struct own_sum) of; /* by row << 32 | label */
};

/* 0 or -ENOMEM. */
int own_sums__add(struct own_sums *s, uint32_t row, uint32_t label, uint64_t cpu_ns);

/* Have the sum divided by these samples, and by those that are added later. 0 or -ENOMEM. */
int own_sums__add_samples(struct own_sums *s, uint32_t row, uint32_t label,
			  const struct own_share *samples);

/*
 * The divided times of rows 0 to n - 1, by `shares` where a sum has no samples; NULL without
 * memory. Free with free().
 */
struct own_time *own_sums__divide(const struct own_sums *s, const struct own_shares *shares,
				  size_t n);

void own_sums__destroy(struct own_sums *s);
#define _own_sums_ __cleanup(own_sums__destroy)

#endif /* QPROF_ANALYZE_OWN_SHARES_H */
