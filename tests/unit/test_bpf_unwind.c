// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The walk over a thread's stack. A model calls functions at random, with frames of all the forms
 * that there are rules for, and writes the stack that they would leave; the walk must find them.
 */
#include "test.h"

#include "../../bpf/unwind.h"
#include "../fixtures/random.h"
#include "pctab/linear.h"

#define CODE	   0x7f1200000000ull /* address of the first file's code */
#define BIAS	   (CODE - 0x40000)
#define STACK	   0x7ffe00000000ull
#define WORDS	   65536
#define FUNCTION   64 /* bytes of each function */
#define FUNCTIONS  (WIRE_UNWIND_PAGE_BYTES / FUNCTION)
#define SERIAL	   77
#define RULES_AT   8
#define RULES_MOST 64

static struct {
	wire_u64 memory[WORDS];
	wire_u64 absent; /* the page with this address is not resident; 0: all are */
	struct wire_mappings mappings;
	wire_u32 n_mappings;
	struct wire_unwind_file files[4];
	wire_u8 block[WIRE_UNWIND_BLOCK_VALUE];
	struct wire_unwind_rule rules[RULES_MOST];
	wire_u32 n_rules;
	struct unwind_recent recent[UNWIND_RECENT_MAX];
	wire_u64 n_reads;
	wire_u64 llvm_returns; /* unwind_llvm() of the first file */
	struct unwind u;
	/* The model: innermost last. */
	wire_u64 frames[WIRE_SAMPLE_FRAMES + 8];
	wire_u32 n;
	wire_u64 sp, bp, pc;
	struct rng rng;
} w;

static const wire_u8 *unwind_block(wire_u32 number)
{
	return number ? NULL : w.block;
}

static struct unwind_recent *unwind_recent(wire_u32 at)
{
	return &w.recent[at];
}

static wire_u64 unwind_llvm(wire_u32 file)
{
	return file == 1 ? w.llvm_returns : 0;
}

static wire_u32 unwind_lib(wire_u32 file)
{
	return 0;
}

static const struct wire_unwind_file *unwind_file(wire_u32 number)
{
	return number < N_OF(w.files) ? &w.files[number] : NULL;
}

static int unwind_find_mapping(struct unwind *u, wire_u64 pc)
{
	assert_ptr_equal(u, &w.u);
	return unwind_search(u, &w.mappings, pc);
}

static int unwind_read(wire_u64 words[2], wire_u32 size, wire_u64 addr)
{
	w.n_reads++;
	assert_true(size == 8 || size == 16);
	if (addr < STACK || addr - STACK > sizeof(w.memory) - size)
		return -1;
	if (w.absent && (addr >> 12 == w.absent >> 12 || (addr + size - 1) >> 12 == w.absent >> 12))
		return -1;
	memcpy(words, (const char *)w.memory + (addr - STACK), size);
	return 0;
}

static void unwind_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
	for (wire_u32 i = 0; i < n && !fn(i, ctx); i++)
		;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Function i, of FUNCTION bytes, has rule rule_of(i). */
static wire_u32 rule_of(wire_u32 function)
{
	return 1 + function % (w.n_rules - 1);
}

static void write_tables(void)
{
	_pctab_runs_ struct pctab_runs runs = {0};
	_pctab_buffer_ struct pctab_buffer buffer = {0};
	const wire_u32 directory = RULES_AT + 8 * RULES_MOST, table = directory + 8;

	for (wire_u32 i = 0; i < FUNCTIONS; i++)
		assert_int_equal(pctab_runs__add(&runs, (i + 1) * FUNCTION, (int)rule_of(i)), 0);
	assert_int_equal(pctab_linear__encode(&buffer, &runs, 0), 0);
	memset(w.block, 0, sizeof(w.block));
	memcpy(w.block + RULES_AT, w.rules, sizeof(w.rules));
	memcpy(w.block + directory, &table, sizeof(table));
	memcpy(w.block + table, buffer.data, buffer.size);
	w.files[1] = (struct wire_unwind_file){
		.start = CODE - BIAS,
		.pages = 1,
		.directory = directory,
		.rules = RULES_AT,
		.n_rules = w.n_rules,
	};
}

static void add_rule(struct wire_unwind_rule rule)
{
	w.rules[w.n_rules++] = rule;
}

#define RULE(...) add_rule((struct wire_unwind_rule){__VA_ARGS__})

static void map(wire_u64 start, wire_u64 end, wire_u64 bias, wire_u32 file)
{
	w.mappings.items[w.n_mappings++] =
		(struct wire_mapping){.start = start, .end = end, .bias = bias, .file = file};
}

static void unmap_all(void)
{
	w.n_mappings = 0;
	for (wire_u32 i = 0; i < WIRE_MAPPINGS_MAX; i++)
		w.mappings.items[i] = (struct wire_mapping){.start = WIRE_MAPPING_NONE};
}

static int setup(void **state)
{
	struct rng rng = w.rng;

	memset(&w, 0, sizeof(w));
	w.rng = rng.state ? rng : rng_new();
	RULE(.base = WIRE_UNWIND_NONE);
	RULE(.base = WIRE_UNWIND_END);
	unmap_all();
	map(0x1000, 0x2000, 0, 2);
	map(CODE, CODE + WIRE_UNWIND_PAGE_BYTES, BIAS, 1);
	map(CODE + 0x100000, CODE + 0x110000, 0, 3);
	w.sp = STACK + sizeof(w.memory) - 64;
	return 0;
}

/* ---- The model ------------------------------------------------------------------------------- */

static void put(wire_u64 addr, wire_u64 word)
{
	assert_true(addr >= STACK && addr - STACK <= sizeof(w.memory) - 8 && addr % 8 == 0);
	w.memory[(addr - STACK) / 8] = word;
}

/* A place in a function with this rule, not at its start: a return address, or an interrupted pc.
 */
static wire_u64 some_pc(wire_u32 rule)
{
	wire_u32 times = (FUNCTIONS - rule) / (w.n_rules - 1);
	wire_u32 function = rule - 1 + (w.n_rules - 1) * (wire_u32)rng_below(&w.rng, times);

	assert_int_equal(rule_of(function), rule);
	return CODE + FUNCTION * function + 1 + rng_below(&w.rng, FUNCTION - 1);
}

static void add_frame(wire_u64 pc)
{
	w.pc = pc;
	w.frames[w.n++] = wire_place(1, pc - BIAS);
}

/* The outermost function, without a caller. */
static void begin(void)
{
	w.bp = rng_u64(&w.rng);
	add_frame(some_pc(1));
}

/* The running function calls one with this rule. A call pushes the address to return to. */
static void call(wire_u32 number)
{
	const struct wire_unwind_rule *r = &w.rules[number];
	wire_u64 cfa = w.sp, caller_bp = w.bp, size = 8 * (4 + rng_below(&w.rng, 12));
	wire_u64 pc = some_pc(number);

	put(cfa - 8, w.pc);
	w.sp = cfa - 8 * (20 + rng_below(&w.rng, 60));
	switch (r->base) {
	case WIRE_UNWIND_RSP:
		w.sp = cfa - (wire_u64)r->cfa;
		break;
	case WIRE_UNWIND_RBP:
		w.bp = cfa - (wire_u64)r->cfa;
		break;
	case WIRE_UNWIND_RSP_DEREF:
		put(w.sp + (wire_u64)r->cfa, cfa);
		break;
	case WIRE_UNWIND_RBP_DEREF:
		w.bp = cfa - size;
		put(w.bp + (wire_u64)r->cfa, cfa);
		break;
	case WIRE_UNWIND_PLT:
		/* In both halves of an entry, whether the pc is taken for a return address or not.
		 */
		pc = (pc & ~15ull) + (rng_below(&w.rng, 2) ? 5 : 13);
		w.sp = cfa - ((pc - 1) % 16 >= (wire_u64)r->cfa ? 16 : 8);
		break;
	}
	if (r->rbp_is == WIRE_UNWIND_RBP_AT_CFA)
		put(cfa + (wire_u64)r->rbp, caller_bp);
	if (r->rbp_is == WIRE_UNWIND_RBP_AT_RBP)
		put(w.bp + (wire_u64)r->rbp, caller_bp);
	/* A function that has saved rbp uses it at will, unless its own rule needs it. */
	if (r->rbp_is == WIRE_UNWIND_RBP_AT_CFA && r->base == WIRE_UNWIND_RSP)
		w.bp = rng_u64(&w.rng);
	add_frame(pc);
}

static void walk(void)
{
	w.u.pc = w.pc;
	w.u.sp = w.sp;
	w.u.bp = w.bp;
	w.n_reads = 0;
	memset(w.u.sample.frames, 0xff, sizeof(w.u.sample.frames));
	unwind_begin(&w.u);
	w.u.most = w.u.most ?: WIRE_SAMPLE_FRAMES;
	unwind_walk(&w.u);
}

static void assert_walk(enum wire_sample_cut cut, wire_u32 n)
{
	walk();
	assert_int_equal(w.u.sample.cut, cut);
	assert_int_equal(w.u.sample.n, n);
	for (wire_u32 i = 0; i < n; i++)
		assert_int_equal(w.u.sample.frames[i], w.frames[w.n - 1 - i]);
	for (wire_u32 i = n; i < WIRE_SAMPLE_FRAMES; i++)
		assert_int_equal(w.u.sample.frames[i], UINT64_MAX);
}

static void add_usual_rules(void)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 8);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 160, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 96, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -56);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 16, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 64, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -64);
	RULE(.base = WIRE_UNWIND_RSP_DEREF, .cfa = 24);
	RULE(.base = WIRE_UNWIND_RBP_DEREF, .cfa = -8, .rbp_is = WIRE_UNWIND_RBP_AT_RBP);
	RULE(.base = WIRE_UNWIND_PLT, .cfa = 11);
}

TEST_CASE_WITH(all_forms_of_frames_are_followed, setup, NULL)
{
	for (int round = 0; round < 500; round++) {
		wire_u32 depth = (wire_u32)rng_below(&w.rng, 300);

		setup(state);
		add_usual_rules();
		write_tables();
		begin();
		for (wire_u32 i = 0; i < depth; i++)
			call(2 + (wire_u32)rng_below(&w.rng, w.n_rules - 2));
		assert_walk(WIRE_CUT_NOT, depth + 1);
	}
}

/* The innermost frame that has called from there has the stack pointer of the call. */
TEST_CASE_WITH(a_place_is_noted_with_its_stack_pointer, setup, NULL)
{
	const wire_u64 pc = CODE + FUNCTION + 5;
	wire_u64 sp = 0;

	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	write_tables();
	begin();
	call(2);
	for (int i = 0; i < 2; i++) {
		sp = w.sp;
		w.pc = pc;
		w.frames[w.n - 1] = wire_place(1, pc - BIAS);
		call(2);
	}
	assert_walk(WIRE_CUT_NOT, 4);
	assert_int_equal(w.u.llvm, 0);
	w.llvm_returns = wire_place(1, 0);
	assert_walk(WIRE_CUT_NOT, 4);
	assert_int_equal(w.u.llvm, 1);
	assert_int_equal(w.u.llvm_bias, BIAS);
	assert_int_equal(w.u.llvm_sp, 0);
	w.u.llvm = 0;
	w.llvm_returns = wire_place(1, pc - BIAS);
	assert_walk(WIRE_CUT_NOT, 4);
	assert_int_equal(w.u.llvm_sp, sp);
}

TEST_CASE_WITH(a_frame_takes_one_read, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 160, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	write_tables();
	begin();
	for (wire_u32 i = 0; i < 100; i++)
		call(2 + i % 2);
	assert_walk(WIRE_CUT_NOT, 101);
	assert_int_equal(w.n_reads, 100);
}

/* The second walk needs no table. */
TEST_CASE_WITH(rules_are_remembered, setup, NULL)
{
	add_usual_rules();
	write_tables();
	begin();
	for (wire_u32 i = 0; i < 20; i++)
		call(2 + i % 4);
	assert_walk(WIRE_CUT_NOT, 21);
	w.files[1] = (struct wire_unwind_file){0};
	assert_walk(WIRE_CUT_NOT, 21);
	memset(w.recent, 0, sizeof(w.recent));
	assert_walk(WIRE_CUT_NO_RULE, 1);
}

TEST_CASE_WITH(places_share_entries, setup, NULL)
{
	const struct wire_unwind_rule one = {.cfa = 8}, other = {.cfa = 16};
	struct wire_unwind_rule found = {0};
	wire_u64 place = wire_place(1, 0x1000), next = place;

	do
		next++;
	while (unwind_recent_slot(next) != unwind_recent_slot(place));
	assert_false(unwind_recall(place, &found));
	unwind_remember(place, &one);
	assert_false(unwind_recall(next, &found));
	assert_true(unwind_recall(place, &found));
	assert_int_equal(found.cfa, 8);
	unwind_remember(next, &other);
	assert_false(unwind_recall(place, &found));
	assert_true(unwind_recall(next, &found));
	assert_int_equal(found.cfa, 16);
}

TEST_CASE_WITH(an_empty_return_address_is_the_end, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	write_tables();
	add_frame(some_pc(2));
	put(w.sp + 56, 0);
	assert_walk(WIRE_CUT_NOT, 1);
}

/* A call can be the last instruction of a function; the next one has another rule. */
TEST_CASE_WITH(a_return_address_belongs_to_the_call_before_it, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_NONE);
	write_tables();
	begin();
	call(2);
	w.frames[w.n - 1] = wire_place(1, CODE + 2 * FUNCTION - BIAS);
	w.pc = CODE + 2 * FUNCTION;
	assert_int_equal(rule_of(1), 2);
	assert_int_equal(rule_of(2), 3);
	call(2);
	assert_walk(WIRE_CUT_NOT, 3);
	/* Not so the place of an interruption. */
	w.pc = CODE + 2 * FUNCTION;
	walk();
	assert_int_equal(w.u.sample.cut, WIRE_CUT_NO_RULE);
	assert_int_equal(w.u.sample.n, 1);
}

TEST_CASE_WITH(a_signal_interrupts_at_any_pc, setup, NULL)
{
	wire_u64 at;

	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_SIGNAL, .cfa = 160);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 16, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	write_tables();
	begin();
	call(4);
	/* At the first instruction of a function: one byte less is another one's. */
	w.pc = CODE + FUNCTION * (2 - 1);
	w.frames[w.n++] = wire_place(1, w.pc - BIAS);
	put(w.sp - 8, w.frames[w.n - 2] - wire_place(1, 0) + BIAS);
	w.sp -= 64;
	/* The kernel's frame. */
	at = w.sp - 400;
	put(at + 160, w.sp);
	put(at + 168, w.pc);
	put(at + 120, w.bp);
	w.sp = at;
	w.bp = 1;
	add_frame(some_pc(3));
	call(2);
	assert_walk(WIRE_CUT_NOT, 5);
}

TEST_CASE_WITH(rbp_may_be_lost, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64, .rbp_is = WIRE_UNWIND_RBP_LOST);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 16, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	write_tables();
	begin();
	call(2);
	call(3);
	call(2);
	/* Nobody needs it. */
	assert_walk(WIRE_CUT_NOT, 4);
	/* It is found again farther out. */
	setup(state);
	w.n_rules = 2;
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64, .rbp_is = WIRE_UNWIND_RBP_LOST);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 16, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	write_tables();
	begin();
	call(4);
	call(5);
	call(3);
	assert_walk(WIRE_CUT_NOT, 4);
	/* It is needed. */
	call(4);
	call(3);
	assert_walk(WIRE_CUT_NO_RULE, 2);
}

/* Functions that touch the pages of a large frame, before they call any other. */
TEST_CASE_WITH(the_innermost_frame_may_be_found_by_r11, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_R11, .cfa = 0x2010, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	RULE(.base = WIRE_UNWIND_RBP, .cfa = 16, .rbp_is = WIRE_UNWIND_RBP_AT_CFA, .rbp = -16);
	write_tables();
	begin();
	call(4);
	w.u.r11 = w.sp - 0x2010;
	call(3);
	w.bp = 1;
	assert_walk(WIRE_CUT_NOT, 3);
	/* Whatever is in r11 farther in is not this function's. */
	call(2);
	assert_walk(WIRE_CUT_NO_RULE, 2);
}

TEST_CASE_WITH(a_walk_says_why_it_ends, setup, NULL)
{
	wire_u64 page;

	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	RULE(.base = WIRE_UNWIND_NONE);
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 8192);
	write_tables();
	begin();
	page = w.sp - 8;
	call(4);
	call(2);
	call(2);
	w.absent = page;
	assert_walk(WIRE_CUT_NO_PAGE, 3);
	w.absent = 0;
	assert_walk(WIRE_CUT_NOT, 4);
	call(3);
	assert_walk(WIRE_CUT_NO_RULE, 1);
	call(2);
	assert_walk(WIRE_CUT_NO_RULE, 2);
	/* Code of no file. */
	w.frames[w.n - 1] = wire_place(WIRE_NO_FILE, CODE - 5);
	w.pc = CODE - 5;
	assert_walk(WIRE_CUT_NO_MAP, 1);
	/* Of a file without tables, but one that can be placed. */
	w.frames[w.n - 1] = wire_place(3, CODE + 0x100040);
	w.pc = CODE + 0x100040;
	assert_walk(WIRE_CUT_NO_RULE, 1);
}

TEST_CASE_WITH(a_stack_may_be_too_deep, setup, NULL)
{
	RULE(.base = WIRE_UNWIND_RSP, .cfa = 64);
	write_tables();
	begin();
	for (wire_u32 i = 1; i < WIRE_SAMPLE_FRAMES; i++)
		call(2);
	assert_walk(WIRE_CUT_NOT, WIRE_SAMPLE_FRAMES);
	call(2);
	assert_walk(WIRE_CUT_TOO_DEEP, WIRE_SAMPLE_FRAMES);
}

TEST_CASE_WITH(the_mapping_is_found_among_many, setup, NULL)
{
	wire_u32 n;

	for (n = 0; n <= WIRE_MAPPINGS_MAX; n++) {
		unmap_all();
		for (wire_u32 i = 0; i < n; i++)
			map(0x10000 * (i + 1), 0x10000 * (i + 1) + 0x8000, i, i + 1);
		for (wire_u32 i = 0; i < n; i++) {
			wire_u64 start = 0x10000 * (i + 1);

			assert_int_equal(unwind_search(&w.u, &w.mappings, start), 0);
			assert_int_equal(w.u.mapping.file, i + 1);
			assert_int_equal(unwind_search(&w.u, &w.mappings, start + 0x7fff), 0);
			assert_int_equal(w.u.mapping.file, i + 1);
			assert_int_not_equal(unwind_search(&w.u, &w.mappings, start + 0x8000), 0);
			assert_int_not_equal(unwind_search(&w.u, &w.mappings, start - 1), 0);
		}
		assert_int_not_equal(unwind_search(&w.u, &w.mappings, 0), 0);
		assert_int_not_equal(unwind_search(&w.u, &w.mappings, UINT64_MAX), 0);
	}
}

/* Whatever the memory and the tables hold, the walk ends, and stays within its bounds. */
TEST_CASE_WITH(random_memory_and_tables_are_harmless, setup, NULL)
{
	setup(state);
	for (int round = 0; round < 300; round++) {
		for (wire_u32 i = 0; i < WORDS; i++)
			w.memory[i] = rng_below(&w.rng, 2) ? CODE + rng_below(&w.rng, 70000)
							   : STACK + rng_below(&w.rng, 8 * WORDS);
		for (wire_u32 i = 0; i < 4096; i++)
			w.block[i] = (wire_u8)rng_any_size(&w.rng);
		w.files[1] = (struct wire_unwind_file){
			.start = CODE - BIAS,
			.pages = 1 + (wire_u32)rng_below(&w.rng, 3),
			.directory = (wire_u32)rng_below(&w.rng, 4096),
			.rules = (wire_u32)rng_below(&w.rng, 4096),
			.n_rules = (wire_u32)rng_any_size(&w.rng),
		};
		w.pc = CODE + rng_below(&w.rng, 65536);
		w.sp = STACK + rng_below(&w.rng, 8 * WORDS);
		w.bp = STACK + rng_below(&w.rng, 8 * WORDS);
		walk();
		assert_in_range(w.u.sample.n, 1, WIRE_SAMPLE_FRAMES);
		assert_in_range(w.u.sample.cut, WIRE_CUT_NOT, WIRE_CUT_MAX - 1);
		assert_in_range(w.n_reads, 0, 3 * WIRE_SAMPLE_FRAMES);
	}
}

TEST_MAIN(NULL, NULL)
