/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a file with LLVM's code shows of what LLVM does: where the list of a thread is, in LLVM's
 * own library, and the names of passes. It is made of the ELF file once, and stored with the other
 * tables of the file's code (unwind/job.h). All numbers are little endian:
 *
 *   magic, revision (u32 each)
 *   checksum of all that follows (u64)
 *   problem (u8), and 7 zeroes
 *   layout: struct wire_llvm, field by field
 *   passes, bytes of their names (u32 each)
 *   passes, by vtable: vtable (u64)
 *   names, each with a NUL behind it
 */
#ifndef QPROF_PLAN_MINE_LLVM_H
#define QPROF_PLAN_MINE_LLVM_H

#include "base/cleanup.h"
#include "plan/mine/llvm_layout.h"
#include "plan/mine/llvm_passes.h"

struct llvm_plan {
	uint32_t users;		   /* less 1; all of one thread */
	enum llvm_problem problem; /* LLVM_FOUND: the layout is known */
	struct wire_llvm layout;
	struct llvm_passes passes;
};

/* In front of the passes. */
#define LLVM_PLAN_HEADER 24

/* *out stays NULL if the file has no passes. 0 or -ENOMEM. */
int llvm_plan__mine(struct elf_image *img, struct llvm_plan **out);

/* 0 and *buf, the caller's, or -ENOMEM. */
int llvm_plan__encode(const struct llvm_plan *p, uint8_t **buf, size_t *len);

/*
 * 0 and a plan of bytes that may be anything. -EBADMSG unless they are exactly one, of this state
 * of the code, with all of the layout within its limits; -ENOMEM.
 */
int llvm_plan__decode(const uint8_t *buf, size_t len, struct llvm_plan **out);

/* Set magic, revision and checksum of bytes of at least LLVM_PLAN_HEADER; for tests. */
void llvm_plan__seal(uint8_t *buf, size_t len);

/* One more user, each of whom frees it. */
struct llvm_plan *llvm_plan__ref(struct llvm_plan *p);
void llvm_plan__free(struct llvm_plan *p);
DEFINE_CLEANUP(struct llvm_plan, llvm_plan__free)
#define _llvm_plan_ __cleanup(llvm_plan__free_p)

#endif /* QPROF_PLAN_MINE_LLVM_H */
