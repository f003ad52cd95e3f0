/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The content of a trace as its readers see it: a summary, and those of the other sums that a
 * reader asks for. Takes the items of a trace as a reader returns them, or as they are recorded.
 *
 * To find the way in this room, read in this order:
 *
 *	model.c		takes each item of a trace, and passes it to the sums that are asked for
 *	summary.c	sums by query; pivot.c has those by thread, process, crate and caller
 *	samples.c	times by samples of stacks; code_name.c names the functions in these
 *	build.c		the compiles of a build; critical_path.c: which of them made it long
 *	items.c		sums by item of the program; llvm_sums.c and llvm_rows.c: of LLVM
 *	compare.c	adds the traces of two builds; compare_result.c makes rows of both, and
 *			compare_judge.c says which of these changed
 *
 * compile_name.h says of a process which compile it is, and sampled.h has what most files share of
 * samples.
 */
#ifndef QPROF_ANALYZE_MODEL_H
#define QPROF_ANALYZE_MODEL_H

#include "analyze/build.h"
#include "analyze/pivot.h"
#include "analyze/hot_functions.h"
#include "analyze/items.h"
#include "analyze/llvm.h"
#include "analyze/sampled_intervals.h"
#include "analyze/samples.h"
#include "analyze/subjects.h"
#include "analyze/summary.h"
#include "trace/reader.h"
#include "trace/self_time.h"

/* Sums besides the summary. */
enum model_part {
	MODEL_BUILD = 1,
	MODEL_CALLERS = 2,
	MODEL_GROUPS = 4,
	MODEL_THREADS = 8,
	MODEL_ITEMS = 16,
	MODEL_MACROS = 32,
	MODEL_UNITS = 64, /* without MODEL_MACROS */
	MODEL_HOT = 128,  /* with MODEL_THREADS: the threads of samples, too */
	MODEL_LLVM = 256,
};

struct model_options {
	unsigned int parts; /* enum model_part, ORed */
	bool raw;	    /* times keep the time of probes */
	bool borrow_texts;  /* as summary__borrow_texts() */
	struct trace_texts texts;
	/*
	 * NULL: all labels are wanted. Else callers, groups and items have only intervals and
	 * tallies of wanted labels, and groups have no off-CPU times by cause.
	 */
	bool (*wants)(const void *ctx, const char *label);
	const void *wants_ctx;
	/* For items: the string id of what an execution was about, or TRACE_NO_STRING. */
	uint32_t (*item)(const void *ctx, const struct trace_span *span);
	/* Likewise, if that is a definition of another crate; NULL: not known. */
	uint32_t (*foreign)(const void *ctx, const struct trace_span *span);
	/* Whether results are about another crate's definitions, by the first of them; or NULL. */
	bool (*foreign_results)(const void *ctx, const struct trace_results *results);
	/* A job of a sample, or NULL; and likewise what it is about. */
	const struct trace_job *(*job)(const void *ctx, uint32_t id);
	uint32_t (*job_item)(const void *ctx, uint32_t process, const struct trace_job *job);
	const void *item_ctx;
	/* For items, or NULL: as items__count_instances(). */
	bool (*keyed_by_instance)(const void *ctx, uint32_t label);
	bool no_blocked_items; /* items have no time of TRACE_KIND_BLOCKED */
	struct stack_source stacks;
	struct llvm_source llvm;
	unsigned int
		stack_causes; /* samples to keep by stack: 1 << enum trace_sample_cause, ORed */
	bool own_items; /* items have only what ran in the user's own crates: compile_is_own() */
};

/* Other files only read it. */
struct model {
	struct model_options options;
	struct summary *summary;
	struct build *build; /* NULL unless asked for, and so on */
	struct pivot *callers;
	struct pivot *groups;
	struct pivot *threads;
	struct hot_functions *hot;
	struct items *items;
	struct subjects *subjects;
	struct llvm *llvm;
	struct self_time *self_time;
	struct samples *samples;		       /* NULL: the trace has none */
	struct sampled_intervals sampled_intervals;    /* with options.job */
	struct stack_sums stacks[TRACE_SAMPLE_CAUSES]; /* of stack_causes */
	struct trace_losses losses;
	struct trace_costs costs;
	struct trace_overhead overhead;
	bool has_losses;
	bool has_costs;
	bool has_overhead;
	uint32_t part; /* of a build that has several traces; 0: it has this one */
	struct trace_rebuilt *rebuilt;
	uint32_t n_rebuilt, rebuilt_capacity;
	bool by_samples; /* not all queries have probes: times are those of samples */
	bool fault_jobs; /* samples of page faults have jobs */
	bool *own;	 /* by process index, with own_items */
	uint32_t n_own;
	uint64_t self_ns; /* of all intervals, with the time of probes */
	uint64_t self_probe_ns;
	uint64_t self_off_ns;
};

/* To read a trace, which must outlive the model; the caller adds parts and the rest. */
struct model_options model_options_of(const struct trace_reader *r);

/*
 * The texts must outlive the model, which must not be moved. 0 or -ENOMEM; destroy the model in any
 * case.
 */
int model__init(struct model *m, const struct model_options *options);

/*
 * Add the next item; spans of one thread come in the order of their ends. 0, -ENOMEM, or -EINVAL
 * if it refers to an unknown process or its times are no interval.
 */
int model__item(struct model *m, const struct trace_item *item);

/* Add a span whose times are computed already. Errors as model__item(). */
int model__span(struct model *m, const struct trace_span *span, const struct trace_times *times);

/*
 * The label that a sample is counted for, or TRACE_NO_STRING: the innermost query that
 * its stack shows, or without one the innermost activity (one within a query may be of those that
 * are not asked for); else the interval of the probes, or the query of its job.
 */
uint32_t model_sample_label(const struct model_options *o, const struct trace_sample *sample);

/*
 * Charge a sample to the item that its innermost interval is charged to. One in no interval is not
 * counted. 0 or -ENOMEM.
 */
int model_charge_sample(const struct model_options *o, struct items *items,
			const struct trace_sample *sample);

/*
 * Whether items have the samples of a cause. Where probes see all queries, times are not those of
 * samples of the CPU; an earlier version recorded no jobs of page faults without stacks.
 */
bool model__charges(const struct model *m, uint8_t cause);

/* Its sums of samples; NULL if it has none. */
static inline const struct samples_totals *model__sampled(const struct model *m)
{
	return m->samples ? samples__totals(m->samples) : NULL;
}

/*
 * Have the rows of the summary know the samples so far; more items may follow. 0, -ENOMEM, or
 * -EOVERFLOW as samples__rows().
 */
int model__show_samples(struct model *m);

/* Finish: call it once, after the last item. 0, -ENOMEM, or -EOVERFLOW as samples__rows(). */
int model__end(struct model *m);

/* Add all items of a reader and finish. Errors as trace_reader__next() and model__item(). */
int model__read(struct model *m, struct trace_reader *r);

void model__destroy(struct model *m);
#define _model_ __cleanup(model__destroy)

#endif /* QPROF_ANALYZE_MODEL_H */
