/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the functions that hold some addresses, with all the parts that the compiler and BOLT split
 * them into. Functions that were folded into one count as one, which has the parts of all.
 */
#ifndef QPROF_PLAN_MINE_OWNERS_H
#define QPROF_PLAN_MINE_OWNERS_H

#include "plan/code/decode.h"
#include "plan/code/eval.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/function_name.h"

struct owner {
	uint64_t entry;
	const char *name; /* mangled, the image's: that of the first symbol at the entry */
	uint32_t n_names; /* symbols there: more than one where functions were folded */
	struct code_region *regions;
	size_t n_regions;
};

struct owners {
	struct owner *items; /* by entry */
	size_t n;
};

/*
 * The functions that hold any of `addrs`. An address outside all symbols, or in a part without an
 * entry, has none. Returns 0 or -ENOMEM; free it in any case.
 */
int owners__find(struct elf_image *img, const uint64_t *addrs, size_t n, struct owners *out);
void owners__destroy(struct owners *o);

/* The one that holds an address, or NULL. */
const struct owner *owners__at(const struct owners *o, uint64_t addr);
#define _owners_ __cleanup(owners__destroy)

/* ---- Functions that call another ------------------------------------------------------------- */

/* Calls and jumps, by address; the caller's to free. */
struct calls {
	struct call {
		uint64_t addr, to;
	} * items;
	uint32_t n, capacity;
};

/*
 * The calls of any of `targets`, which are `n` structs of `size` bytes that begin with an address,
 * and sorted by that. They are found by their bytes, so one may be too many. 0, -ENOMEM, or an
 * error of elf_image__symbols().
 */
int calls__find(struct elf_image *img, const void *targets, size_t n, size_t size,
		struct calls *out);

/* The functions that hold the calls, as owners__find(). */
int calls__owners(struct elf_image *img, const struct calls *c, struct owners *out);

/*
 * The functions that call any of these, or jump there, as owners__find(): found by their bytes, so
 * one may be too many. 0, -ENOMEM, or an error of elf_image__symbols(); destroy them in any case.
 */
int callers__find(struct elf_image *img, const uint64_t *targets, size_t n, struct owners *out);

/* The same of the cold sides whose kind is one of `first` to `last`. */
int callers__of_cold(struct elf_image *img, const struct known_symbols *known, enum name_kind first,
		     enum name_kind last, struct owners *out);

/* ---- Callers of the profiler's cold sides ---------------------------------------------------- */

/* The remains of rustc's self-profiler in a library: its functions, and the calls of its cold
 * sides. */

struct profiler_cold {
	uint64_t addr;
	enum name_kind kind; /* NAME_COLD_... */
};

struct profiler_addrs {
	uint64_t *items;
	uint32_t n, capacity;
};

struct profiler {
	struct profiler_cold *cold; /* functions that start guards */
	uint32_t n_cold, cold_capacity;
	struct profiler_addrs drops;	   /* functions that drop one */
	struct profiler_addrs timer_drops; /* the same of a timer's */
	uint64_t timer;			   /* verbose_generic_activity, or 0 */
	/*
	 * Possible calls of, or jumps to, a function in `cold` that is no query's. Found by their
	 * bytes, which may lie within another instruction.
	 */
	struct profiler_addrs calls;
};

/*
 * Returns 0 or -ENOMEM, or an error of elf_image__symbols(); call profiler__destroy() in any case.
 */
int profiler__find(struct elf_image *img, const struct known_symbols *known, struct profiler *out);
void profiler__destroy(struct profiler *p);

/* The cold side that starts at `addr`, or NULL. */
const struct profiler_cold *profiler__cold(const struct profiler *p, uint64_t addr);

/* True if the function at `addr` drops a guard. */
bool profiler__drops(const struct profiler *p, uint64_t addr);

/* The function that a call or jump goes to; 0 if that is not known. */
uint64_t profiler__callee(const struct code_insn *insn);

/* ---- Callees by name ------------------------------------------------------------------------- */

/* Functions of the compiler that show, where they are called, what their arguments mean. */

enum callee {
	CALLEE_NONE,
	CALLEE_COLD_WITH_ARGUMENT, /* a cold_call whose event has an argument */
	CALLEE_INTERN,		   /* SelfProfiler::get_or_alloc_cached_string::<&str> */
	CALLEE_PRINT_SYMBOL,	   /* <Symbol as Display>::fmt */
	CALLEE_PRINT_NUMBER,	   /* <usize>::_fmt, and what that calls */
	CALLEE_DISPLAY_NUMBER,	   /* <usize as Display>::fmt, which has its address */
	CALLEE_RECORD_SPAN,	   /* EventArgRecorder::record_arg_with_span */
	CALLEE_EXPANSION_TEXT,	   /* ExtCtxt::expansion_descr */
	CALLEE_EXPANSION,	   /* LocalExpnId::expn_data */
	CALLEE_EXPANSION_OF,	   /* HygieneData::expn_data, of any crate */
	CALLEE_LOCAL_EXPANSION,	   /* HygieneData::local_expn_data, of the compiled crate */
	CALLEE_WALK_CHAIN,	   /* rustc_span::hygiene::walk_chain */
	CALLEE_EXPANSION_KIND,	   /* ExpnKind::descr */
	CALLEE_FORMAT,		   /* alloc::fmt::format */
	CALLEE_DEBUG_C_STRING,	   /* <CString as Debug>::fmt */
};

struct callees_entry {
	uint64_t addr;
	uint32_t kind;
	uint32_t pad;
};

struct callees {
	struct callees_entry *functions; /* by address */
	uint32_t n, capacity;
};

/* Returns 0 or -ENOMEM, or an error of elf_image__symbols(); callees__destroy() in any case. */
int callees__find(struct elf_image *img, struct callees *out);
void callees__destroy(struct callees *c);

/* The kind of the function at `addr`. */
enum callee callees__at(const struct callees *c, uint64_t addr);

#endif /* QPROF_PLAN_MINE_OWNERS_H */
