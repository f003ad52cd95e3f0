/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * Unwind tables, as the user half makes them and the kernel half reads them (docs/unwind.md).
 *
 * The tables of all files of a capture lie in one area of blocks. A file has rules, a directory,
 * and per page of 64 KiB of its code a pc-value table in the linear-index encoding (docs/pctab.md),
 * whose values are numbers of rules. Rules, directory and each table lie within one block, so a
 * look-up takes three blocks at most. bpf/unwind_lookup.h is the look-up.
 */
#ifndef QPROF_WIRE_UNWIND_H
#define QPROF_WIRE_UNWIND_H

#include "qprof/wire_types.h"

/*
 * An offset in the area has the block's number above, and the offset in the block below. A block
 * has WIRE_UNWIND_BLOCK_VALUE bytes: its content, and padding for loads of whole words. Arrays of
 * the kernel hold values of up to 4 MiB (6.1).
 */
#define WIRE_UNWIND_BLOCK_SHIFT 20
#define WIRE_UNWIND_BLOCK_BYTES (1u << WIRE_UNWIND_BLOCK_SHIFT)
#define WIRE_UNWIND_PADDING	64
#define WIRE_UNWIND_BLOCK_VALUE (WIRE_UNWIND_BLOCK_BYTES + WIRE_UNWIND_PADDING)
#define WIRE_UNWIND_BLOCKS_MAX	64 /* in an area; it may have fewer */

/* No table, no directory. Nothing is at the first bytes of an area. */
#define WIRE_UNWIND_NOWHERE 0u

#define WIRE_UNWIND_PAGE_SHIFT 16
#define WIRE_UNWIND_PAGE_BYTES (1u << WIRE_UNWIND_PAGE_SHIFT)
/* Of one file, whose code so spans up to 4 GiB. */
#define WIRE_UNWIND_PAGES_MAX 65536u

/* Of one file. Number 0 is no rule: a pc in no function, or a rule that nobody here can follow. */
#define WIRE_UNWIND_RULES_MAX 4096

/*
 * How to find the canonical frame address, CFA: the caller's rsp. Unless something else is said,
 * the return address is at CFA - 8.
 */
enum wire_unwind_base {
	WIRE_UNWIND_NONE = 0,  /* unknown */
	WIRE_UNWIND_END,       /* the thread's outermost frame: it has no caller */
	WIRE_UNWIND_RSP,       /* rsp + cfa */
	WIRE_UNWIND_RBP,       /* rbp + cfa */
	WIRE_UNWIND_RSP_DEREF, /* the word at rsp + cfa */
	WIRE_UNWIND_RBP_DEREF, /* the word at rbp + cfa */
	WIRE_UNWIND_R11,       /* r11 + cfa: only where the thread itself is, in no caller */
	/* In a PLT entry of 16 bytes: rsp + 8, and 8 more from byte `cfa` of the entry on. */
	WIRE_UNWIND_PLT,
	/*
	 * The code that a signal handler returns to. At rsp + cfa the kernel has saved rsp, 8 bytes
	 * further pc, 40 bytes before rbp. That pc was interrupted: it is no return address.
	 */
	WIRE_UNWIND_SIGNAL,
	WIRE_UNWIND_BASES,
};

/* Where the caller's rbp is. */
enum wire_unwind_rbp {
	WIRE_UNWIND_RBP_SAME = 0, /* in rbp */
	WIRE_UNWIND_RBP_AT_CFA,	  /* the word at CFA + rbp */
	WIRE_UNWIND_RBP_AT_RBP,	  /* the word at this frame's rbp + rbp */
	WIRE_UNWIND_RBP_LOST,	  /* nowhere */
	WIRE_UNWIND_RBP_WAYS,
};

struct wire_unwind_rule {
	wire_s32 cfa;
	wire_s16 rbp;
	wire_u8 base;	/* enum wire_unwind_base */
	wire_u8 rbp_is; /* enum wire_unwind_rbp */
};

_Static_assert(sizeof(struct wire_unwind_rule) == 8, "wire_unwind_rule");

/* A file of the capture. */
struct wire_unwind_file {
	wire_u64 start; /* ELF virtual address of the first page; a multiple of the page's size */
	wire_u32 pages; /* 0: the file has no tables */
	wire_u32 directory; /* wire_u32 per page: the offset of its table, or WIRE_UNWIND_NOWHERE */
	wire_u32 rules;	    /* struct wire_unwind_rule, by their numbers */
	wire_u32 n_rules;
};

_Static_assert(sizeof(struct wire_unwind_file) == 24, "wire_unwind_file");

/* The number of chunks of a page's table, which always covers the whole page. */
#define WIRE_UNWIND_CHUNKS (WIRE_UNWIND_PAGE_BYTES / 256)

#endif /* QPROF_WIRE_UNWIND_H */
