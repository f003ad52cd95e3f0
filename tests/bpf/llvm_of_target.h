/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fake list of LLVM of the test program: what is in it, and where. target_llvm.c makes it,
 * test_bpf_llvm.c compares what the kernel half sent.
 */
#ifndef QPROF_TESTS_BPF_LLVM_OF_TARGET_H
#define QPROF_TESTS_BPF_LLVM_OF_TARGET_H

/* In shapes.S: an address of its own for the vtable of each kind of entry, and of the pass. */
extern const char llvm_vtables[];

/* Calls run(inner), which returns to `asked_for_pass`. */
void llvm_run_pass(const char *(*run)(const char *inner), const char *inner, const void *component);

/* Bytes within a value, a type, a context and what is private to it, and in the entry of a name. */
enum {
	LLVM_KIND_AT = 16,
	LLVM_KIND = 13,
	LLVM_NAMED_AT = 23,
	LLVM_NAMED = 0x10,
	LLVM_TYPE_AT = 8,
	LLVM_CONTEXT = 24,
	LLVM_IMPL = 40,
	LLVM_NAMES = 0xa0,
	LLVM_COUNT = 0xb0,
	LLVM_LENGTH = 0,
	LLVM_BYTES = 16,
	/* Words of an entry. */
	LLVM_NEXT = 1,
	LLVM_PASS = 4,
	LLVM_UNIT = 3,
	LLVM_LEGACY_PASS = 2,
	LLVM_BUCKETS = 64,
	/* Above the stack pointer of llvm_run_pass(); within a component, and a node. */
	LLVM_COMPONENT_AT = 0x18,
	LLVM_NODES = 8,
	LLVM_NODE_FUNCTION = 16,
};

/* The names of functions; long ones have this length and LLVM_LONGEST. */
#define LLVM_INNER   "_ZN4core3ptr4drop17h0123456789abcdefE"
#define LLVM_OUTER   "_RNvC1a5outer"
#define LLVM_LONGEST 2047

enum llvm_lie {
	LLVM_TRUTH,	  /* PassManager<Function> within PassManager<Module>: LLVM_INNER */
	LLVM_EMPTY_LIST,  /* in LLVM, in no pass */
	LLVM_NO_MEMORY,	  /* as LLVM_TRUTH: the layout has another module, which has no memory */
	LLVM_OF_MODULE,	  /* the innermost is of a module */
	LLVM_LEGACIES,	  /* the inner legacy entry has a basic block, the outer one LLVM_OUTER */
	LLVM_RELEASING,	  /* a legacy entry without a value */
	LLVM_OTHER_ENTRY, /* an entry of another kind is around: LLVM_INNER */
	LLVM_UNNAMED,	  /* the function has no name */
	LLVM_LONG_NAME,	  /* of LLVM_LONGEST bytes */
	LLVM_COLLIDING,	  /* the function is some buckets further: LLVM_INNER */
	LLVM_COMPONENT,	  /* the innermost is of a module; a component has LLVM_INNER first */
	LLVM_RELEASES_IN_COMPONENT, /* the same, but the innermost is LLVM_RELEASING's */
	LLVM_TRUTHS,		    /* all above are known */
	LLVM_HEAD_NOWHERE = LLVM_TRUTHS,
	LLVM_HEAD_KERNEL,
	LLVM_HEAD_UNALIGNED,
	LLVM_HEAD_ELSEWHERE, /* an entry in other memory */
	LLVM_BELOW,	     /* an entry below sp */
	LLVM_SELF,	     /* an entry is around itself, */
	LLVM_INWARD,	     /* or the one around is further in */
	LLVM_TOO_MANY,
	LLVM_VTABLE_NOWHERE,
	LLVM_UNIT_NOWHERE,
	LLVM_NO_FUNCTION, /* a value of another kind */
	LLVM_TYPE_NOWHERE,
	LLVM_CONTEXT_NOWHERE,
	LLVM_IMPL_NOWHERE,
	LLVM_COUNT_ODD, /* no power of two */
	LLVM_COUNT_ZERO,
	LLVM_TABLE_NOWHERE,
	LLVM_TABLE_FULL, /* of other values: no bucket is empty */
	LLVM_MISSING,	 /* the function is not in the table */
	LLVM_NAME_NOWHERE,
	LLVM_NAME_ENDLESS, /* of 2^60 bytes */
	LLVM_NAME_EMPTY,
	LLVM_NAME_TOO_LONG, /* by one byte */
	LLVM_NAME_CUT,	    /* behind it is no memory */
	LLVM_LIES,
	/* It is in a pass over a component, whose functions are not known. */
	LLVM_COMPONENT_NOWHERE = LLVM_LIES,
	LLVM_COMPONENT_KERNEL,
	LLVM_NODES_NOWHERE,
	LLVM_NODE_NOWHERE,
	LLVM_NODE_EMPTY,
	LLVM_NODE_OTHER, /* of a value of another kind */
	LLVM_NODE_GONE,	 /* of a function that is not in the table of names */
	LLVM_CASES,
};

/* The thread's list is that one, in `room` on its stack, until llvm_over(). Returns a component. */
#define LLVM_ROOM 4096
const void *llvm_lie(enum llvm_lie lie, char room[LLVM_ROOM]);
void llvm_over(void);

#endif /* QPROF_TESTS_BPF_LLVM_OF_TARGET_H */
