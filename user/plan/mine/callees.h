/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of the compiler that show, where they are called, what their arguments mean. */
#ifndef QPROF_PLAN_MINE_CALLEES_H
#define QPROF_PLAN_MINE_CALLEES_H

#include "plan/code/eval.h"
#include "plan/symbols/elf_image.h"

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

#endif /* QPROF_PLAN_MINE_CALLEES_H */
