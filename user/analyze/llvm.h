/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CPU time in LLVM, by its samples: by pass, by the function of the source that it compiles, by
 * generic function, and what it does for no function. Knows no output format.
 *
 * A sample is in LLVM if it has an entry of LLVM (struct trace_llvm), or if a function of LLVM is
 * in its stack. Memory: 40 bytes for each pair of a process and an entry, 8 bytes for each entry
 * of stacks, 32 for each thread; while there are rows, the names of functions.
 */
#ifndef QPROF_ANALYZE_LLVM_H
#define QPROF_ANALYZE_LLVM_H

#include "analyze/sampled.h"
#include "base/cleanup.h"

struct llvm;

struct llvm_source {
	const void *ctx;
	/* NULL: there is none of this number. As trace_reader__llvm(). */
	const struct trace_llvm *(*entry)(const void *ctx, uint32_t id);
	/*
	 * The item that a symbol is an instance of, which its path does not show: the string id of
	 * the item's path, or TRACE_NO_STRING. The function is NULL if no recording knows it.
	 */
	uint32_t (*item)(const void *ctx, uint32_t process, uint32_t symbol);
};

/* Instances of an item that the compilers of the trace made: items__compiled(). */
struct llvm_instances {
	const void *ctx;
	uint64_t (*of)(const void *ctx, uint32_t item, bool *all); /* NULL: not known */
};

/* What LLVM was at. */
enum llvm_work {
	LLVM_OPTIMISES,	   /* in a pass over its own code */
	LLVM_MACHINE_CODE, /* in the code generator, or writing debug information or objects */
	LLVM_ELSE,	   /* bitcode, import of functions, making and freeing its code */
	LLVM_WORKS,
};

/* Why nothing is known of passes and functions. */
enum llvm_unknown {
	LLVM_KNOWN,
	LLVM_NO_SAMPLES, /* the CPU was not sampled */
	LLVM_NOT_RUN,	 /* no sample is in LLVM */
	LLVM_NOT_READ,	 /* samples are in LLVM, and what it did was not read */
};

struct llvm_totals {
	struct sample_sum all;
	struct sample_sum of[LLVM_WORKS];
	struct sample_sum functions; /* of all, for a function that is known */
	/* Of these, in passes over functions that call each other: it is the first of them. */
	struct sample_sum components;
	struct sample_sum no_function;
	/* The rest: a function without a name, or it was not read what LLVM did. */
	struct sample_sum unknown_function;
};

struct llvm_pass_row {
	char *name;	     /* that LLVM's type has, without "Pass" at its end; NULL: not known */
	char *type;	     /* the whole name of the type; or NULL */
	bool codegen;	     /* of the code generator */
	enum llvm_work work; /* that its time counts for in the totals */
	struct sample_sum self;
};

struct llvm_function {
	char *path; /* in Rust syntax, with generic arguments as far as the symbol has them */
	const char *symbol;    /* the trace's, with the suffix of one of its modules */
	const char *generic;   /* path of its struct llvm_generic */
	const char *crate;     /* likewise */
	uint32_t item;	       /* string id of the item it is an instance of, or TRACE_NO_STRING */
	const char *item_path; /* its text, or NULL */
	struct sample_sum self;
	struct sample_sum component; /* of self, as in the totals */
};

#define LLVM_PARTS 3

/* The time of a generic function in one crate. */
struct llvm_part {
	const char *crate; /* NULL: unknown */
	struct sample_sum self;
};

/* A definition, with all instances. */
struct llvm_generic {
	char *path;	    /* struct generic_name */
	char *crate;	    /* that defines it; NULL: not known */
	uint32_t symbols;   /* of instances that samples met */
	uint64_t instances; /* by the compilers' tables, else symbols */
	bool at_least;	    /* there may be more instances */
	uint32_t item;	    /* string id of the definition, or of one of these; TRACE_NO_STRING */
	bool is_one;	    /* no other definition is known to have this name */
	struct sample_sum self;
	struct sample_sum component;	     /* of self, as in the totals */
	uint32_t n_crates;		     /* that it was compiled in */
	struct llvm_part crates[LLVM_PARTS]; /* the most expensive, in order */
};

/* What LLVM did for no function. */
struct llvm_rest {
	char *name; /* in words, or of a pass, or of a native function */
	enum llvm_rest_kind {
		LLVM_REST_WORDS,
		LLVM_REST_PASS,
		LLVM_REST_NATIVE,
		LLVM_REST_UNKNOWN,
	} kind;
	struct sample_sum self;
};

/* The most expensive first. Texts may be the sums' or the trace's. */
struct llvm_rows {
	struct llvm_totals totals;
	enum llvm_unknown unknown;
	const char *why; /* of some compiler at least; NULL: it is not known of any */
	struct llvm_pass_row *passes;
	struct llvm_function *functions;
	struct llvm_generic *generics;
	struct llvm_rest *rests;
	uint32_t n_passes, n_functions, n_generics, n_rests;
};

/*
 * "InstCombine" of the type "InstCombinePass", "X86DAGToDAGISel" of "X86DAGToDAGISelLegacy". Freed
 * by the caller; NULL: no memory.
 */
char *llvm_pass_name(const char *type);

/* What these refer to outlives the sums. 0 or -ENOMEM. */
int llvm__new(const struct llvm_source *source, const struct stack_source *stacks,
	      const struct trace_texts *texts, struct llvm **out);

/* All items are known now. `instances`->ctx outlives the sums. */
void llvm__set_instances(struct llvm *l, const struct llvm_instances *instances);

/* Add or update a process, whose texts outlive the sums. 0 or -ENOMEM. */
int llvm__process(struct llvm *l, const struct trace_process *p);

/* Add a sample, the latest of its thread; those of other causes are ignored. 0 or -ENOMEM. */
int llvm__sample(struct llvm *l, const struct trace_sample *sample);

/*
 * Make the rows. `wants` or NULL: only of functions whose path, path without arguments, symbol or
 * item it wants; nothing for no function is in the rows then, the totals stay those of LLVM. 0 or
 * -ENOMEM; clear them in any case.
 */
int llvm__rows(struct llvm *l, bool (*wants)(const void *ctx, const char *name), const void *ctx,
	       struct llvm_rows *out);

/*
 * The same in groups of processes, without what is for no function. `groups` has the group of each
 * process, by its index. `fn` is called for each group that LLVM did something for; an error of it
 * ends that. The time is that of sorting what LLVM did, however many groups there are.
 */
#define LLVM_NO_GROUP UINT32_MAX
typedef int (*llvm_group_fn)(void *ctx, uint32_t group, const struct llvm_rows *rows);
int llvm__rows_by_group(struct llvm *l, const uint32_t *groups, uint32_t n, llvm_group_fn fn,
			void *ctx);

void llvm_rows__clear(struct llvm_rows *rows);
#define _llvm_rows_ __cleanup(llvm_rows__clear)

/* What LLVM did on a thread in its latest sample. The caller frees the texts. */
struct llvm_doing {
	char *what;	/* a pass, or words for what it does for no function; NULL: not known */
	char *function; /* path of the definition, as of struct llvm_generic; NULL: none */
};

/* 0; -ENOENT: that sample was not in LLVM, or nothing is known of it; -ENOMEM. */
int llvm__doing(const struct llvm *l, uint32_t process, uint32_t tid, struct llvm_doing *out);

void llvm_doing__clear(struct llvm_doing *d);
#define _llvm_doing_ __cleanup(llvm_doing__clear)

void llvm__free(struct llvm *l);
DEFINE_CLEANUP(struct llvm, llvm__free)
#define _llvm_ __cleanup(llvm__free_p)

#endif /* QPROF_ANALYZE_LLVM_H */
