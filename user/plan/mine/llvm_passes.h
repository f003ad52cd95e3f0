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

#include "plan/code/decode.h"
#include "plan/symbols/got.h"

/* ---- Symbols --------------------------------------------------------------------------------- */

/*
 * The symbols of a library that show how LLVM keeps the list of what runs on a thread
 * (llvm_layout.h), and the vtables of passes (llvm_passes.h). All functions are exported, by
 * stripped libraries too; .symtab has more vtables, where it is there.
 */

enum llvm_symbol {
	LLVM_SAVE_STATE,      /* llvm::SavePrettyStackState() */
	LLVM_NEW_ENTRY,	      /* llvm::PrettyStackTraceEntry::PrettyStackTraceEntry() */
	LLVM_GET_NAME,	      /* llvm::Value::getName() const */
	LLVM_IS_FUNCTION,     /* LLVMIsAFunction() */
	LLVM_PRINT_LEGACY,    /* llvm::PassManagerPrettyStackEntry::print() const */
	LLVM_VTABLE_LEGACY,   /* its vtable */
	LLVM_RUN_FUNCTION,    /* llvm::PassManager<llvm::Function>::run() */
	LLVM_RUN_MODULE,      /* the same of llvm::Module */
	LLVM_VTABLE_FUNCTION, /* of the entry that the first of these makes, */
	LLVM_VTABLE_MODULE,   /* and of the second's */
	LLVM_RUN_COMPONENT,   /* PassManager::run() of a component of the call graph, */
	LLVM_RUN_REPEATED,    /* llvm::DevirtSCCRepeatedPass::run(), which runs that, */
	LLVM_RUN_COMPONENTS,  /* and llvm::ModuleToPostOrderCGSCCPassAdaptor::run() */
	LLVM_RUN_INLINER,     /* llvm::InlinerPass::run() */
	LLVM_SYMBOLS,
};

struct llvm_vtable {
	uint64_t addr; /* of the symbol: 16 bytes before the address that objects have */
	const char *name;
};

struct llvm_symbols {
	struct Elf *elf;		     /* holds the names */
	struct code_region of[LLVM_SYMBOLS]; /* address 0: there is none */
	struct llvm_vtable *vtables;	     /* by address */
	uint32_t n_vtables, vtables_capacity;
	uint64_t *of_passes; /* virtual functions of llvm::Pass, sorted */
	uint32_t n_of_passes, of_passes_capacity;
	bool uses_llvm;	  /* it has symbols of namespace llvm, or wants them of others */
	bool wants_llvm;  /* it wants some of others */
	struct got *data; /* the pointers in .data.rel.ro */
};

/* Of a mapped image, which is needed as long as the result. 0 or -ENOMEM; destroy it in any case.
 */
int llvm_symbols__read(struct elf_image *img, struct llvm_symbols *out);

/*
 * True if `addr` is where objects of a class have their vtable: functions from there on, of which
 * *n is the number, up to `most`, to `functions`.
 */
bool llvm_symbols__functions(const struct llvm_symbols *s, const struct elf_image *img,
			     uint64_t addr, uint64_t *functions, uint32_t most, uint32_t *n);

void llvm_symbols__destroy(struct llvm_symbols *s);
#define _llvm_symbols_ __cleanup(llvm_symbols__destroy)

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
