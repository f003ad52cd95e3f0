/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of LLVM's passes, by the vtables of the objects that are passes: in LLVM's library, and
 * in a compiler's own, which instantiates some.
 *
 * A pass of the new pass managers is in a PassModel, whose name() is a virtual function that
 * returns a constant:
 *
 *	lea  TEXT(%rip), %rax
 *	mov  $LENGTH, %edx
 *	ret
 *
 * One of the old ones, which generate code, is of a class derived from Pass: some of the virtual
 * functions in its vtable are Pass's own. The class has its name in the vtable's symbol, or in the
 * type that is before the vtable; else getPassName() may return a constant. Other classes that are
 * alike are named too, which does no harm: none of their objects is a pass.
 */
#ifndef QPROF_PLAN_MINE_LLVM_PASSES_H
#define QPROF_PLAN_MINE_LLVM_PASSES_H

#include "plan/mine/llvm_symbols.h"

#define LLVM_PASSES_MAX	   8192
#define LLVM_PASS_NAME_MAX 128

struct llvm_pass {
	uint64_t vtable; /* ELF address, as objects have it */
	char *name;	 /* "InstCombinePass" */
};

struct llvm_passes {
	struct llvm_pass *items; /* by vtable */
	uint32_t n, capacity;
};

/* 0 or -ENOMEM. Destroy them in any case. */
int llvm_passes__mine(const struct elf_image *img, const struct llvm_symbols *s,
		      struct llvm_passes *out);

/* Printable, and neither empty nor too long. */
bool llvm_passes__is_name(const char *name, size_t len);

/* Add one behind the others; copies `len` bytes of the name. 0 or -ENOMEM. */
int llvm_passes__add(struct llvm_passes *p, uint64_t vtable, const char *name, size_t len);

/* NULL: it is none's. */
const char *llvm_passes__name(const struct llvm_passes *p, uint64_t vtable);

void llvm_passes__destroy(struct llvm_passes *p);
#define _llvm_passes_ __cleanup(llvm_passes__destroy)

#endif /* QPROF_PLAN_MINE_LLVM_PASSES_H */
