/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What LLVM does on a stopped thread: the pass and the function that its list of entries names,
 * found by the layout of its library, as the kernel half reads them at a sample (bpf/llvm.h). All
 * of it is the compiler's memory and may be anything: the same limits and checks hold here.
 */
#ifndef QPROF_STUCK_LLVM_H
#define QPROF_STUCK_LLVM_H

#include "plan/mine/llvm.h"
#include "stuck/walk.h"

/* All zeroes: the thread is not in LLVM, or it is not known what it does there. */
struct stuck_llvm {
	uint8_t scope; /* enum wire_llvm_scope */
	bool codegen;  /* the pass is one of the code generator */
	char *pass;    /* its type; NULL: in none, or it has no name */
	char *symbol;  /* of the function, or a component's first; NULL: none, or without a name */
};

/* A file with code of LLVM, as a process has mapped it. */
struct llvm_file {
	const struct llvm_plan *plan;
	uint64_t bias;
};

/* Where the thread is. */
struct llvm_thread {
	uint64_t fs_base;
	uint64_t low, high; /* addresses of its stack in use */
	uint64_t passes_sp; /* of the innermost frame at layout.passes_return; 0: there is none */
};

/*
 * Read what a thread does while it is stopped, by the first file that has a layout. Anything that
 * is not as it has to be leaves *out unknown. 0 or -ENOMEM; clear *out in any case.
 */
int stuck_llvm__read(const struct llvm_file *files, uint32_t n, const struct llvm_thread *thread,
		     struct copied *memory, struct stuck_llvm *out);

/* The same by the files that its calls are in. */
int stuck_llvm__of_calls(const struct calls *calls, const struct stopped *s, struct copied *memory,
			 struct stuck_llvm *out);

void stuck_llvm__clear(struct stuck_llvm *l);
#define _stuck_llvm_ __cleanup(stuck_llvm__clear)

#endif /* QPROF_STUCK_LLVM_H */
