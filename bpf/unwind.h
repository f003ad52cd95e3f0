/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the user stack of a thread, by the unwind tables of the files that its process has mapped.
 *
 * Pure logic, compiled twice, like stack.h. sampling.h defines the functions declared first, and so
 * does each test. All that is read is the process's memory, and may hold anything: a walk takes at
 * most WIRE_SAMPLE_FRAMES steps, and a step at most 3 reads.
 *
 * The caller's rsp is the CFA, and its pc the word below that. Nothing else of its registers is
 * needed but rbp, by which some functions find their CFA: those that align their frame, and the one
 * with which rustc's threads switch to another stack (psm's rust_psm_on_stack()). Functions with a
 * large frame touch its pages one by one, and have their CFA by r11 meanwhile. They call none, so
 * only the innermost frame can be of such a function.
 */
#ifndef QPROF_UNWIND_H
#define QPROF_UNWIND_H

#include "qprof/wire_samples.h"
#include "unwind_lookup.h"
#include "unwind_recent.h"

/* A mapping as the kernel has it. */
struct unwind_found {
	wire_u64 start;
	wire_u64 end;
	wire_u64 offset; /* in the file, of `start` */
	struct wire_file_key key;
	wire_u64 unknown; /* nonzero: the mapping is of no file */
};

/*
 * A walk: its registers are those of the frame that was found last. Only one program at a time may
 * use it.
 */
struct unwind {
	wire_u64 pc, sp, bp;
	wire_u64 r11;		     /* of the innermost frame */
	wire_u64 interval;	     /* the sp that the interval began at; 0: not known */
	wire_u64 words[2];	     /* what was read last */
	struct wire_mapping mapping; /* that held the last pc */
	struct wire_unwind_rule rule;
	wire_u32 table;	       /* of the page that the last pc is in */
	wire_u32 most;	       /* frames to walk */
	wire_u32 lib;	       /* of a compiler, in which a frame was; 0: none */
	wire_u32 lib_file;     /* number of that library's file */
	wire_u64 lib_bias;     /* of that library's mapping */
	wire_u64 llvm_bias;    /* of the mapping of */
	wire_u64 llvm_returns; /* of that file: unwind_llvm() */
	wire_u64 llvm_sp;      /* of the innermost frame at that place; 0: there is none */
	wire_u32 llvm;	       /* LLVM's library, by its file, in which a frame was; 0: none */
	wire_u8 interrupted;   /* the frame was interrupted: pc is no return address */
	wire_u8 bp_lost;       /* bp is unknown */
	wire_u8 ended;
	wire_u8 job_lost;	   /* jobs.h: counted when the sample is sent */
	struct unwind_found found; /* what was looked up last */
	struct wire_sample sample;
};

/* Set u->mapping to the one that holds `pc`; nonzero: there is none. */
static int unwind_find_mapping(struct unwind *u, wire_u64 pc);
/* The number of a compiler's library that a file is, or 0. */
static wire_u32 unwind_lib(wire_u32 file);
/*
 * If a file is LLVM's library, whose layout is known: the place in it that passes over components
 * of the call graph return to, of address 0 if that is not known. Else 0.
 */
static wire_u64 unwind_llvm(wire_u32 file);
/* The tables of a file, or NULL. */
static const struct wire_unwind_file *unwind_file(wire_u32 number);
/* Read 8 or 16 bytes of user memory; nonzero: they are not resident, or not mapped. */
static int unwind_read(wire_u64 words[2], wire_u32 size, wire_u64 addr);

/* Call fn(i, ctx) for i = 0.. below n until it returns nonzero. */
static void unwind_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx);

/* Returns nonzero, as all functions below do at the end of a walk. */
static inline int unwind_end(struct unwind *u, enum wire_sample_cut cut)
{
	u->sample.cut = cut;
	u->ended = 1;
	return 1;
}

static inline void unwind_add(struct unwind *u, wire_u64 place)
{
	wire_u32 n = u->sample.n;

	if (n >= WIRE_SAMPLE_FRAMES)
		return;
	u->sample.frames[n & (WIRE_SAMPLE_FRAMES - 1)] = place;
	u->sample.n = n + 1;
}

/* The address by which the frame is looked up: a call may be the last instruction of a function. */
static inline wire_u64 unwind_pc(const struct unwind *u)
{
	return u->pc - !u->interrupted;
}

/* Add the frame to the sample. */
UNWIND_APART int unwind_locate(struct unwind *u)
{
	wire_u64 pc, place;

	if (!u)
		return 1;
	pc = unwind_pc(u);
	if ((pc < u->mapping.start || pc >= u->mapping.end) && unwind_find_mapping(u, pc)) {
		unwind_add(u, wire_place(WIRE_NO_FILE, u->pc));
		return unwind_end(u, WIRE_CUT_NO_MAP);
	}
	place = wire_place(u->mapping.file, u->pc - u->mapping.bias);
	unwind_add(u, place);
	if (!u->lib) {
		u->lib = unwind_lib(u->mapping.file);
		u->lib_file = u->mapping.file;
		u->lib_bias = u->mapping.bias;
	}
	if (!u->llvm) {
		u->llvm_returns = unwind_llvm(u->mapping.file);
		u->llvm = u->llvm_returns ? u->mapping.file : 0;
		u->llvm_bias = u->mapping.bias;
	}
	if (place == u->llvm_returns && !u->llvm_sp)
		u->llvm_sp = u->sp;
	return 0;
}

/*
 * unwind_lookup() in three functions, whose frames are small. Each is what the pc's file, then its
 * page, then the number of its rule is found by.
 */
UNWIND_APART int unwind_find_table(struct unwind *u)
{
	const struct wire_unwind_file *f = u ? unwind_file(u->mapping.file) : 0;

	if (!u)
		return 1;
	u->table = f ? unwind_page_table(f, unwind_pc(u) - u->mapping.bias) : WIRE_UNWIND_NOWHERE;
	return u->table == WIRE_UNWIND_NOWHERE ? unwind_end(u, WIRE_CUT_NO_RULE) : 0;
}

UNWIND_APART wire_u32 unwind_find_number(wire_u32 table, wire_u32 offset)
{
	return unwind_page_value(table, offset & (WIRE_UNWIND_PAGE_BYTES - 1));
}

UNWIND_APART int unwind_look_up(struct unwind *u)
{
	const struct wire_unwind_file *f;
	wire_u32 number;

	if (!u || unwind_find_table(u))
		return 1;
	number = unwind_find_number(u->table, (wire_u32)(unwind_pc(u) - u->mapping.bias));
	f = unwind_file(u->mapping.file);
	if (!f || unwind_rule_at(f, number, &u->rule))
		return unwind_end(u, WIRE_CUT_NO_RULE);
	return 0;
}

UNWIND_APART int unwind_find_rule(struct unwind *u)
{
	wire_u64 place;

	if (!u)
		return 1;
	place = wire_place(u->mapping.file, unwind_pc(u) - u->mapping.bias);
	if (unwind_recall(place, &u->rule))
		return 0;
	if (unwind_look_up(u))
		return 1;
	unwind_remember(place, &u->rule);
	return 0;
}

/* Set *word to a word of user memory. */
static inline int unwind_word_at(struct unwind *u, wire_u64 addr, wire_u64 *word)
{
	if (unwind_read(u->words, 8, addr))
		return unwind_end(u, WIRE_CUT_NO_PAGE);
	*word = u->words[0];
	return 0;
}

/* The frame that a signal handler returns to. */
static inline int unwind_signal(struct unwind *u)
{
	wire_u64 at = u->sp + (wire_u64)u->rule.cfa;

	if (unwind_word_at(u, at - 40, &u->bp))
		return 1;
	if (unwind_read(u->words, 16, at))
		return unwind_end(u, WIRE_CUT_NO_PAGE);
	u->sp = u->words[0];
	u->pc = u->words[1];
	u->bp_lost = 0;
	u->interrupted = 1;
	return 0;
}

/* Set sp to the CFA. */
static inline int unwind_find_cfa(struct unwind *u, wire_u32 base)
{
	int by_rbp = base == WIRE_UNWIND_RBP || base == WIRE_UNWIND_RBP_DEREF;
	wire_u64 cfa = (by_rbp ? u->bp : u->sp) + (wire_u64)u->rule.cfa;

	if (by_rbp && u->bp_lost)
		return unwind_end(u, WIRE_CUT_NO_RULE);
	if (base == WIRE_UNWIND_PLT)
		cfa = u->sp + ((unwind_pc(u) & 15) >= (wire_u32)u->rule.cfa ? 16 : 8);
	else if (base == WIRE_UNWIND_R11 && u->sample.n == 1)
		cfa = u->r11 + (wire_u64)u->rule.cfa;
	else if (base == WIRE_UNWIND_RSP_DEREF || base == WIRE_UNWIND_RBP_DEREF)
		return unwind_word_at(u, cfa, &u->sp);
	else if (base != WIRE_UNWIND_RSP && base != WIRE_UNWIND_RBP)
		return unwind_end(u, WIRE_CUT_NO_RULE);
	u->sp = cfa;
	return 0;
}

/* Set bp to the caller's, unless it was read with the return address. */
static inline int unwind_find_bp(struct unwind *u, wire_u64 cfa)
{
	wire_u64 offset = (wire_u64)u->rule.rbp;

	if (u->rule.rbp_is == WIRE_UNWIND_RBP_LOST)
		u->bp_lost = 1;
	if (u->rule.rbp_is == WIRE_UNWIND_RBP_AT_RBP && !u->bp_lost)
		return unwind_word_at(u, u->bp + offset, &u->bp);
	if (u->rule.rbp_is != WIRE_UNWIND_RBP_AT_CFA)
		return 0;
	u->bp_lost = 0;
	return unwind_word_at(u, cfa + offset, &u->bp);
}

/*
 * Set pc and bp to the caller's; sp is the CFA, which is the caller's. Most functions that save rbp
 * do so first: then it is beside the return address, and one read has both.
 */
static inline int unwind_load(struct unwind *u)
{
	wire_u32 both = u->rule.rbp_is == WIRE_UNWIND_RBP_AT_CFA && u->rule.rbp == -16;
	wire_u32 size = both ? 16 : 8;

	if (unwind_read(u->words, size, u->sp - size))
		return unwind_end(u, WIRE_CUT_NO_PAGE);
	u->pc = both ? u->words[1] : u->words[0];
	u->interrupted = 0;
	if (!both)
		return unwind_find_bp(u, u->sp);
	u->bp = u->words[0];
	u->bp_lost = 0;
	return 0;
}

UNWIND_APART int unwind_to_caller(struct unwind *u)
{
	if (!u)
		return 1;
	if (u->rule.base == WIRE_UNWIND_END)
		return unwind_end(u, WIRE_CUT_NOT);
	if (u->rule.base == WIRE_UNWIND_SIGNAL)
		return unwind_signal(u);
	if (unwind_find_cfa(u, u->rule.base))
		return 1;
	/* A frame that was called from there ends at that sp, or by a return address above it. */
	if (u->sample.inner != WIRE_INNER_UNKNOWN && u->sp <= u->interval + 8)
		u->sample.inner = u->sample.n;
	if (unwind_load(u))
		return 1;
	/* The kernel, and clone(2) of some libraries, leave this below the outermost frame. */
	return u->pc ? 0 : unwind_end(u, WIRE_CUT_NOT);
}

/* bpf_loop() passes its callback only a pointer into the caller's frame. */
struct unwind_ctx {
	struct unwind *u;
};

static long unwind_step(wire_u32 i, void *ctx)
{
	struct unwind *u = ((struct unwind_ctx *)ctx)->u;

	(void)i;
	return unwind_locate(u) || unwind_find_rule(u) || unwind_to_caller(u);
}

/* Begin a walk: the innermost frame has pc, sp, bp and r11. */
static inline void unwind_begin(struct unwind *u)
{
	u->mapping.start = u->mapping.end = 0;
	u->interrupted = 1;
	u->bp_lost = 0;
	u->llvm_sp = 0;
	u->sample.n = 0;
	/* On another stack, which may be anywhere, nothing is known. */
	u->sample.inner = u->interval && u->sp <= u->interval ? 0 : WIRE_INNER_UNKNOWN;
}

/* Take back the last frame, which was in no known file. Its mapping is in u->mapping now. */
static inline void unwind_begin_again(struct unwind *u)
{
	if (u->sample.n)
		u->sample.n--;
}

/*
 * Fill in the frames of u->sample, u->most at most, after one of the two above. Not a function of
 * its own: calls nest 8 deep at most.
 */
static inline int unwind_walk(struct unwind *u)
{
	struct unwind_ctx c = {.u = u};

	u->ended = 0;
	unwind_loop(u->most - u->sample.n, unwind_step, &c);
	if (!u->ended)
		u->sample.cut = WIRE_CUT_TOO_DEEP;
	return 0;
}

/*
 * Set u->mapping to the one of `m` that holds `pc`; nonzero: there is none. The search has no
 * branches, each of which would double what the verifier follows; nor has it a mask of all bits or
 * none, of which the verifier follows both since 6.18.
 */
static inline int unwind_search(struct unwind *u, const struct wire_mappings *m, wire_u64 pc)
{
	wire_u64 at = 0;

	/* The last one that does not start behind it. */
	for (wire_u64 step = WIRE_MAPPINGS_MAX / 2; step; step /= 2) {
		wire_u64 next = at + step, is_behind;

		UNWIND_KEEP(next);
		is_behind = (pc - m->items[next & (WIRE_MAPPINGS_MAX - 1)].start) >> 63;
		UNWIND_KEEP(is_behind);
		at = next - step * is_behind;
	}
	UNWIND_KEEP(at);
	u->mapping = m->items[at & (WIRE_MAPPINGS_MAX - 1)];
	return pc < u->mapping.start || pc >= u->mapping.end;
}

#endif /* QPROF_UNWIND_H */
