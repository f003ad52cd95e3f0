// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A list as LLVM keeps it, in memory that a walk has copied; and lists that lie in each field. */
#include "stuck/llvm.h"
#include "test.h"
#include "../fixtures/llvm_list.h"

static struct stuck_llvm doing(void)
{
	struct stuck_llvm found;

	assert_int_equal(read_list(&found), 0);
	return found;
}

static void assert_doing(uint8_t scope, bool codegen, const char *pass, const char *symbol)
{
	_stuck_llvm_ struct stuck_llvm l = doing();

	assert_struct(l, scope, scope, codegen, codegen);
	assert_string_equal(l.pass ?: "-", pass ?: "-");
	assert_string_equal(l.symbol ?: "-", symbol ?: "-");
}

TEST_CASE(the_pass_and_the_function_are_read)
{
	tell_the_truth();
	assert_doing(WIRE_LLVM_FUNCTION, false, "GVNPass", "_RNvC1a5outer");
	/* One that the compiler's own library instantiates. */
	put(PASS, DRIVER + 0x70);
	assert_doing(WIRE_LLVM_FUNCTION, false, "ThinLTOBitcodeWriterPass", "_RNvC1a5outer");
	put(PASS, DRIVER + 0x78);
	assert_doing(WIRE_LLVM_FUNCTION, false, NULL, "_RNvC1a5outer");
	/* Of a module. */
	tell_the_truth();
	leave_the_function();
	passes_sp = 0;
	assert_doing(WIRE_LLVM_MODULE, false, "GVNPass", NULL);
	/* Of two legacy entries the outer one has the function, the inner one a basic block. */
	put_entry(STACK + 0x100, LEGACY, BLOCK, STACK + 0x200);
	put_entry(STACK + 0x200, LEGACY, VALUE, STACK + 0x300);
	put_entry(STACK + 0x300, OTHER, BLOCK, 0);
	put(TLS + layout.head, BASE + STACK + 0x100);
	assert_doing(WIRE_LLVM_FUNCTION, true, "GVNPass", "_RNvC1a5outer");
}

/* LLVM has no entry for these passes. */
TEST_CASE(of_a_component_the_first_function_is_read)
{
	static const uint32_t leads[] = {PASSES + 0x18, COMPONENT + 8, NODES, NODE + 8};

	tell_the_truth();
	leave_the_function();
	assert_doing(WIRE_LLVM_COMPONENT, false, "GVNPass", "_RNvC1a5outer");
	/* A pass may be replacing the function: this says nothing of the rest. */
	for (size_t i = 0; i < N_OF(leads); i++) {
		static const uint64_t lies[] = {0, 0x10000000000, BASE + BLOCK};

		for (size_t k = 0; k < N_OF(lies); k++) {
			tell_the_truth();
			leave_the_function();
			put(leads[i], lies[k]);
			assert_doing(WIRE_LLVM_COMPONENT, false, "GVNPass", NULL);
		}
	}
	/* Code generation is of no component. */
	tell_the_truth();
	put_entry(STACK + 0x100, LEGACY, 0, 0);
	assert_doing(WIRE_LLVM_MODULE, true, "GVNPass", NULL);
}

TEST_CASE(where_nothing_runs_nothing_is_named)
{
	/* An empty list, and a thread that has no memory of this module. */
	tell_the_truth();
	put(TLS + layout.head, 0);
	assert_doing(WIRE_LLVM_NONE, false, NULL, NULL);
	tell_the_truth();
	put(VECTOR + 16 * 3, ~0ull);
	assert_doing(WIRE_LLVM_NONE, false, NULL, NULL);
	tell_the_truth();
	put(VECTOR - 16, 2);
	assert_doing(WIRE_LLVM_NONE, false, NULL, NULL);
	/* A function without a name. */
	tell_the_truth();
	bytes[VALUE + 23] = 0;
	assert_doing(WIRE_LLVM_FUNCTION, false, "GVNPass", NULL);
}

TEST_CASE(a_name_is_printable_and_may_be_some_buckets_further)
{
	tell_the_truth();
	put(first_bucket(), BASE + BLOCK);
	put(first_bucket() + 16, BASE + BLOCK);
	put(first_bucket() + 48, BASE + VALUE);
	put(first_bucket() + 56, BASE + NAME);
	bytes[NAME + 17] = '\033';
	assert_doing(WIRE_LLVM_FUNCTION, false, "GVNPass", "_?NvC1a5outer");
}

/* Each makes the thread's work unknown: nothing is read outside of the memory, nothing loops. */
TEST_CASE(a_list_that_lies_says_nothing)
{
	static const struct {
		uint32_t at;
		uint64_t value;
	} lies[] = {
		{FS_BASE + 8, 0},
		{FS_BASE + 8, 0xdead0000},
		{TLS + 0x48, 0xffffffff81000000},      /* an entry nowhere, */
		{TLS + 0x48, BASE + STACK + 0x104},    /* unaligned, */
		{TLS + 0x48, BASE + BLOCK},	       /* not on the stack, */
		{STACK + 0x108, BASE + STACK + 0x100}, /* around itself, */
		{STACK + 0x208, BASE + STACK + 0x100}, /* or further in */
		{STACK + 0x100, 0x10000000000},	       /* whose vtable is none of LLVM's */
		{STACK + 0x100, BIAS},
		{STACK + 0x118, 0x10000000000}, /* a function nowhere, */
		{STACK + 0x118, BASE + BLOCK},	/* or another value */
		{VALUE + 8, 0x10000000000},
		{TYPE + 24, 0x10000000000},
		{CONTEXT + 40, 0x10000000000},
		{IMPL + 0xa0, 0x10000000000},
		{IMPL + 0xb0, 63},
		{IMPL + 0xb0, 0},
		{NAME, 0},
		{NAME, WIRE_LLVM_NAME_MAX},
		{NAME, 1ull << 60},
	};

	for (size_t i = 0; i < N_OF(lies); i++) {
		tell_the_truth();
		put(lies[i].at, lies[i].value);
		assert_doing(WIRE_LLVM_UNKNOWN, false, NULL, NULL);
	}
	/* The table has another value in each bucket; the name goes past the memory. */
	tell_the_truth();
	for (uint32_t i = 0; i < N_BUCKETS; i++)
		put(BUCKETS + 16 * i, BASE + BLOCK);
	assert_doing(WIRE_LLVM_UNKNOWN, false, NULL, NULL);
	tell_the_truth();
	put(first_bucket() + 8, BASE + SIZE - 24);
	put(SIZE - 24, 40);
	assert_doing(WIRE_LLVM_UNKNOWN, false, NULL, NULL);
}

TEST_CASE(more_entries_than_the_limit_say_nothing)
{
	for (uint32_t n = WIRE_LLVM_ENTRIES; n <= WIRE_LLVM_ENTRIES + 1; n++) {
		tell_the_truth();
		for (uint32_t i = 0; i < n; i++)
			put_entry(STACK + 0x100 + 64 * i, OF_FUNCTION, VALUE,
				  i + 1 < n ? STACK + 0x140 + 64 * i : 0);
		assert_doing(n > WIRE_LLVM_ENTRIES ? WIRE_LLVM_UNKNOWN : WIRE_LLVM_FUNCTION, false,
			     n > WIRE_LLVM_ENTRIES ? NULL : "GVNPass",
			     n > WIRE_LLVM_ENTRIES ? NULL : "_RNvC1a5outer");
	}
}

/* Of a stack without a file of LLVM nothing is read. */
TEST_CASE(a_thread_that_is_not_in_llvm)
{
	const struct llvm_plan plan = {.problem = LLVM_NO_HEAD};
	const struct llvm_file file = {&plan, BIAS};
	const struct llvm_thread thread = {BASE + FS_BASE, BASE + STACK, BASE + STACK + 0x1000, 0};
	struct copied memory = {.parts = &part, .n = 1};
	struct stuck_llvm l;

	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(stuck_llvm__read(&file, n, &thread, &memory, &l), 0);
		assert_int_equal(l.scope, WIRE_LLVM_UNKNOWN);
	}
	must(stuck_llvm__of_calls(&(struct calls){}, &(struct stopped){}, &memory, &l));
	assert_int_equal(l.scope, WIRE_LLVM_UNKNOWN);
}

TEST_MAIN(NULL, NULL)
