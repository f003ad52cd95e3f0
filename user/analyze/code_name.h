/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names of native functions, as symbols demangle to, for tables and trees; and the part of a
 * compiler that a function is in.
 */
#ifndef QPROF_ANALYZE_CODE_NAME_H
#define QPROF_ANALYZE_CODE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/sampled.h"
#include "base/table.h"
#include "trace/interner.h"

/*
 * Without arguments of generic types and functions, and without parameters of C++. Of a Rust
 * method, "<T as Trait>::f" and "<T>::f" stay so. Freed by the caller; NULL: no memory.
 */
char *code_name_plain(const char *name);

/*
 * The last segments of a plain name: "SelectionContext::evaluate_candidate" of
 * "<rustc_trait_selection::traits::select::SelectionContext>::evaluate_candidate". A closure keeps
 * the function that it is in. Freed by the caller; NULL: no memory.
 */
char *code_name_short(const char *plain);

/* Texts that code_part() gives beside names of crates and files. */
#define CODE_LLVM      "LLVM"
#define CODE_ALLOCATOR "allocator"
#define CODE_LIBC      "libc"
#define CODE_UNKNOWN   "(unknown)"

/*
 * The part of the compiler that a function is in: the crate of a Rust function (its first path
 * segment; of a method, that of its type), LLVM, the allocator, the C library, or else the name of
 * its file without directory and version ("libz"). `name` is demangled, plain or not, and empty
 * without a symbol. `file` is the path of its file, or NULL. Freed by the caller; NULL: no memory.
 */
char *code_part(const char *name, const char *file);

/*
 * Whether code of this part works for its callers, whatever they are: allocator, C library, std and
 * its parts. Costs are better charged to the caller.
 */
bool code_part_is_general(const char *part);

/*
 * The functions and intervals that sampled stacks are made of, each with a number. Instances of a
 * generic function are one. Memory: a name and some 60 bytes of each, 40 of each function of the
 * trace that occurs.
 */

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

#endif /* QPROF_ANALYZE_CODE_NAME_H */
