/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions and intervals that sampled stacks are made of, each with a number. Instances of a
 * generic function are one. Memory: a name and some 60 bytes of each, 40 of each function of the
 * trace that occurs.
 */
#ifndef QPROF_ANALYZE_CODE_FUNCTIONS_H
#define QPROF_ANALYZE_CODE_FUNCTIONS_H

#include "analyze/sampled.h"
#include "base/table.h"
#include "trace/interner.h"

#define CODE_NO_PART	 UINT32_MAX
#define CODE_NO_FUNCTION UINT32_MAX

struct code_function {
	char *name;	  /* plain (analyze/code_name.h), or that of the query */
	uint32_t part;	  /* of the compiler, a number; CODE_NO_PART: it is an interval */
	uint8_t kind;	  /* of an interval: enum trace_kind */
	bool is_general;  /* code_part_is_general() */
	bool is_unknown;  /* an execution, of which query nobody knows */
	const char *file; /* the path of its file, or NULL; the trace's */
};

/* All zeroes but for the source and the texts, which outlive it, is empty. */
struct code_functions {
	struct stack_source source;
	struct trace_texts texts;
	struct code_function *at;
	uint32_t n;
	uint32_t capacity;
	struct interner keys;	    /* by which equal functions are found: the number of each */
	struct u64_map by_first;    /* locindex of a trace_function -> number */
	struct u64_map by_interval; /* kind << 32 | label -> number */
	char **parts;		    /* names */
	uint32_t n_parts;
	uint32_t parts_capacity;
	struct interner part_keys;  /* a part has the number of its name */
	struct trace_function last; /* the one looked up last */
	uint32_t last_number;
	bool has_last;
};

/* The number of what an entry stands for. 0 or -ENOMEM. */
int code_functions__find(struct code_functions *f, const struct trace_stack *entry, uint32_t *out);

/* Whether a function of this number is of a part (analyze/code_name.h). */
bool code_functions__is_of(const struct code_functions *f, uint32_t number, const char *part);

void code_functions__destroy(struct code_functions *f);

#endif /* QPROF_ANALYZE_CODE_FUNCTIONS_H */
