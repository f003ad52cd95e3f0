/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * What LLVM does on a thread. For its crash messages LLVM keeps a list of what runs, per thread: an
 * entry for each pass, in the frame of the function that runs it, the innermost first. The kernel
 * half reads it at a sample of the CPU, by a layout that the user half has read off LLVM's library.
 */
#ifndef QPROF_WIRE_LLVM_H
#define QPROF_WIRE_LLVM_H

#include "qprof/wire_types.h"

/* Kinds of entries that are understood, each with a vtable of its own. */
enum wire_llvm_kind {
	WIRE_LLVM_OF_FUNCTION, /* PassManager<Function>: a pass that runs on a function */
	WIRE_LLVM_OF_MODULE,   /* PassManager<Module>: on a module */
	WIRE_LLVM_LEGACY,      /* code generation: on a value, or on a module if that is 0 */
	WIRE_LLVM_KINDS,
};

/* Words of an entry that are read. */
#define WIRE_LLVM_WORDS 5

/* Bytes within structs. Addresses are ELF addresses of the library. */
struct wire_llvm {
	wire_u64 module; /* of the word that has the number of its thread-local memory */
	wire_u64 size;	 /* above all its addresses; 0: nothing is known */
	wire_u64 vtables[WIRE_LLVM_KINDS]; /* 0: there is no such entry */
	wire_u64 head;			   /* of the list, within that memory */
	wire_u8 next;			   /* words of an entry, by number: the one around, */
	wire_u8 pass[WIRE_LLVM_KINDS];	   /* the pass, */
	wire_u8 unit[WIRE_LLVM_KINDS];	   /* and the function, module or value */
	/* Of a value: */
	wire_u8 kind_at; /* u8: */
	wire_u8 kind;	 /* a function's */
	wire_u8 named_at;
	wire_u8 named;	 /* the bit of that byte that says that it has a name */
	wire_u8 type_at; /* the address of its type, */
	wire_u8 length;	 /* u64, within the entry of a name */
	wire_u8 bytes;	 /* likewise, the name */
	wire_u8 pad;
	wire_u32 context; /* within which is that of the LLVMContext, */
	wire_u32 impl;	  /* within which is that of */
	wire_u32 names;	  /* the struct with the address of a table of names, */
	wire_u32 count;	  /* and how many buckets that has (u32) */
	/* Of passes over components of the call graph: */
	wire_u64 passes_return; /* where they return to; 0: nothing is known of them */
	wire_u32 component;	/* above the stack pointer there is the address of the component, */
	wire_u32 nodes;		/* within which is that of the addresses of nodes; */
	wire_u32 node_function; /* in a node is that of a function */
	wire_u32 pad2;
};

/* Bytes of a value that are read. */
#define WIRE_LLVM_VALUE 32

/*
 * The table has an entry of 16 bytes for each bucket: a value, and its name. A value begins to be
 * looked for at (address >> 4) ^ (address >> 9), then 1, 2, 3.. buckets further.
 */
#define WIRE_LLVM_BUCKET 16
#define WIRE_LLVM_EMPTY	 0xfffffffffffff000ull

/* More: nothing is known of the sample. */
#define WIRE_LLVM_ENTRIES  8
#define WIRE_LLVM_STEPS	   64
#define WIRE_LLVM_NAME_MAX 2048 /* bytes; a power of two; a name is shorter */

/* The unit that a thread works on, as a sample has it. */
enum wire_llvm_scope {
	WIRE_LLVM_UNKNOWN = 0, /* not LLVM, or its library has no layout, or a check failed */
	WIRE_LLVM_FUNCTION,
	WIRE_LLVM_COMPONENT, /* functions that call each other, of which this is the first */
	WIRE_LLVM_MODULE,    /* a whole module */
	WIRE_LLVM_NONE,	     /* in LLVM, in no pass */
	WIRE_LLVM_SCOPES,
};

/* Beside the scope: the pass is one of the code generator, not of the optimiser. */
#define WIRE_LLVM_CODEGEN 0x80

/*
 * The name of a function, by a number that it has in its process. It comes before the first sample
 * with that number. The sender leaves out the unused end.
 */
struct wire_llvm_name {
	wire_u8 type; /* WIRE_LLVM_NAME */
	wire_u8 pad;
	wire_u16 size;
	wire_u32 pid;
	wire_u64 number;
	wire_u8 bytes[WIRE_LLVM_NAME_MAX];
};

_Static_assert(__builtin_offsetof(struct wire_llvm_name, bytes) == 16, "wire_llvm_name");

#endif /* QPROF_WIRE_LLVM_H */
