// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/cfa.h"

#include "test.h"
#include "../fixtures/cfa_runs.h"
#include "../fixtures/eh_frame_builder.h"
#include "../fixtures/random.h"
#include "base/cleanup.h"

#define START 0x1000u

/* A function of 32 bytes at START with this program. */
static struct eh_fde function(const char *program, size_t n)
{
	return (struct eh_fde){
		.start = START,
		.length = 0x20,
		.cie = {.code_factor = 1,
			.data_factor = -8,
			.encoding = DW_EH_PE_udata4,
			.program = {(const uint8_t *)EH_BUILDER_INITIAL,
				    sizeof(EH_BUILDER_INITIAL) - 1}},
		.program = {(const uint8_t *)program, n},
	};
}

static int run(const struct eh_fde *fde, struct cfa_runs *r)
{
	struct eh_frame frame = {fde->program.bytes, fde->program.size, 0};

	r->n = 0;
	return cfa__run(&frame, fde, cfa_runs__add, r);
}

/* From byte 4 on, the rule after these operations. */
static struct wire_unwind_rule rule_after(const char *program, size_t n)
{
	struct eh_fde fde = function(program, n);
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), 0);
	assert_int_equal(r.runs[r.n - 1].end, START + 0x20);
	return r.runs[r.n - 1].rule;
}

#define assert_rule_after(program, rule) assert_rule(rule_after(BYTES(program)), rule)

TEST_CASE(a_program_makes_runs)
{
	/* push rbp; mov rbp, rsp; ...; leave */
	struct eh_fde fde = function(BYTES("\x41\x0e\x10\x86\x02\x43\x0d\x06\x58\x0c\x07\x08"));
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 1, RSP_RULE(8)},
		    {START + 1, START + 4, SAVED_RULE(16, -16)},
		    {START + 4, START + 0x1c, RBP_RULE(16, -16)},
		    {START + 0x1c, START + 0x20, SAVED_RULE(8, -16)});
}

TEST_CASE(advances_have_many_sizes)
{
	struct eh_fde fde = function(BYTES("\x0e\x10\x02\x02\x0e\x18\x03\x03\x00\x0e\x20"
					   "\x04\x04\x00\x00\x00\x0e\x28\x01\x10\x10\x00\x00"));
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 2, RSP_RULE(16)}, {START + 2, START + 5, RSP_RULE(24)},
		    {START + 5, START + 9, RSP_RULE(32)}, {START + 9, START + 0x10, RSP_RULE(40)},
		    {START + 0x10, START + 0x20, RSP_RULE(40)});
	fde.cie.code_factor = 4;
	fde.program.size = 6;
	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 8, RSP_RULE(16)}, {START + 8, START + 0x20, RSP_RULE(24)});
}

TEST_CASE(nothing_is_said_of_code_behind_the_function)
{
	struct eh_fde fde = function(BYTES("\x50\x0e\x10\x5f\x0e\x18\x50\x0e\x20"));
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 0x10, RSP_RULE(8)},
		    {START + 0x10, START + 0x20, RSP_RULE(16)});
}

TEST_CASE(each_operation_changes_the_rule)
{
	assert_rule_after("", RSP_RULE(8));
	assert_rule_after("\x00", RSP_RULE(8));
	assert_rule_after("\x0c\x06\x10",
			  ((struct wire_unwind_rule){.base = WIRE_UNWIND_RBP, .cfa = 16}));
	assert_rule_after("\x0d\x0b\x0e\x10\x86\x02",
			  ((struct wire_unwind_rule){.base = WIRE_UNWIND_R11,
						     .cfa = 16,
						     .rbp_is = WIRE_UNWIND_RBP_AT_CFA,
						     .rbp = -16}));
	assert_rule_after("\x12\x07\x7d", RSP_RULE(24)); /* in units of -8 */
	assert_rule_after("\x0e\x80\x02", RSP_RULE(256));
	assert_rule_after("\x13\x7c", RSP_RULE(32));
	assert_rule_after("\x2e\x10", RSP_RULE(8)); /* the size of arguments */
	/* rbp */
	assert_rule_after("\x86\x02", SAVED_RULE(8, -16));
	assert_rule_after("\x86\x02\xc6", RSP_RULE(8));
	assert_rule_after("\x05\x06\x03", SAVED_RULE(8, -24));
	assert_rule_after("\x05\x06\x03\x06\x06", RSP_RULE(8));
	assert_rule_after("\x11\x06\x7f", SAVED_RULE(8, 8));
	assert_rule_after("\x2f\x06\x02", SAVED_RULE(8, 16));
	assert_rule_after("\x86\x02\x08\x06", RSP_RULE(8));
	/* Registers that are not followed. */
	assert_rule_after("\x83\x02\xc3\x07\x03\x08\x0c\x09\x03\x0c\x14\x03\x02\x10\x0d\x01\x96",
			  RSP_RULE(8));
}

TEST_CASE(states_are_remembered)
{
	char deep[2 * CFA_STATES_MAX + 1];
	struct eh_fde fde;
	struct cfa_runs r = {};

	assert_rule_after("\x0a\x0e\x10\x86\x02\x0a\x0e\x18\x0b", SAVED_RULE(16, -16));
	assert_rule_after("\x0a\x0e\x10\x86\x02\x0a\x0e\x18\x0b\x0b", RSP_RULE(8));
	/* The CFA as well. */
	assert_rule_after("\x0a\x0d\x06\x0b", RSP_RULE(8));
	memset(deep, 0x0a, CFA_STATES_MAX);
	memset(deep + CFA_STATES_MAX, 0x0b, CFA_STATES_MAX);
	assert_rule(rule_after(deep, 2 * CFA_STATES_MAX), RSP_RULE(8));
	memset(deep, 0x0a, sizeof(deep));
	fde = function(deep, CFA_STATES_MAX + 1);
	assert_int_equal(run(&fde, &r), -EBADMSG);
}

/* Where rbp is lost, it is not where it was. */
TEST_CASE(what_cannot_be_followed_is_lost)
{
	const struct wire_unwind_rule lost = {
		.base = WIRE_UNWIND_RSP, .cfa = 8, .rbp_is = WIRE_UNWIND_RBP_LOST};

	assert_rule_after("\x07\x06", lost);	 /* undefined */
	assert_rule_after("\x09\x06\x03", lost); /* in rbx */
	assert_rule_after("\x14\x06\x02", lost); /* a value, not a place */
	assert_rule_after("\x15\x06\x02", lost);
	assert_rule_after("\x16\x06\x02\x77\x08", lost);
	assert_rule_after("\x10\x06\x03\x77\x08\x06", lost); /* another expression */
	assert_rule_after("\x86\x81\x20", lost);	     /* at CFA - 32776 */
	assert_rule_after("\x86\x80\x20", SAVED_RULE(8, -32768));
	/* The CFA by rbx, in the word at r11, far away, or by an expression. */
	assert_rule_after("\x0c\x03\x08", NO_RULE);
	assert_rule_after("\x0f\x03\x7b\x08\x06", NO_RULE);
	assert_rule_after("\x0e\x80\x80\x80\x80\x08", NO_RULE);
	assert_rule_after("\x0f\x03\x77\x08\x1f", NO_RULE);
	assert_rule_after("\x0f\x00", NO_RULE);
	/* The return address elsewhere, or nowhere: the thread's first function. */
	assert_rule_after("\x90\x02", NO_RULE);
	assert_rule_after("\x09\x10\x03", NO_RULE);
	assert_rule_after("\x08\x10", NO_RULE);
	assert_rule_after("\x07\x10", END_RULE);
	assert_rule_after("\x07\x10\x86\x02\xd0", SAVED_RULE(8, -16));
}

TEST_CASE(expressions_of_compilers_are_known)
{
	/* A realigned stack: the CFA is in the word at rbp - 8, the caller's rbp at rbp. */
	assert_rule_after("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00",
			  ((struct wire_unwind_rule){.base = WIRE_UNWIND_RBP_DEREF,
						     .cfa = -8,
						     .rbp_is = WIRE_UNWIND_RBP_AT_RBP}));
	assert_rule_after("\x0f\x03\x77\x10\x06",
			  ((struct wire_unwind_rule){.base = WIRE_UNWIND_RSP_DEREF, .cfa = 16}));
	/* A register and a number is no other rule than without an expression. */
	assert_rule_after("\x0f\x02\x77\x18", RSP_RULE(24));
	assert_rule_after("\x0f\x02\x77\x18\x10\x06\x02\x77\x08", SAVED_RULE(24, -16));
	/* rbp relative to rsp, which the CFA does not follow from. */
	assert_rule_after("\x0d\x06\x10\x06\x02\x77\x08",
			  ((struct wire_unwind_rule){.base = WIRE_UNWIND_RBP,
						     .cfa = 8,
						     .rbp_is = WIRE_UNWIND_RBP_LOST}));
}

TEST_CASE(entries_of_a_plt_are_known)
{
	assert_rule_after("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", PLT_RULE(11));
	assert_rule_after("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x39\x2a\x33\x24\x22", PLT_RULE(9));
	/* Not quite. */
	assert_rule_after("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x40\x2a\x33\x24\x22", NO_RULE);
	assert_rule_after("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x2f\x2a\x33\x24\x22", NO_RULE);
	assert_rule_after("\x0f\x0b\x77\x10\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", NO_RULE);
	assert_rule_after("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x1c", NO_RULE);
	assert_rule_after("\x0f\x0a\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24", NO_RULE);
}

/* As glibc describes the code that a signal handler returns to. */
static const char signal_program[] = "\x0f\x04\x77\xa0\x01\x06"
				     "\x10\x06\x03\x77\xf8\x00"
				     "\x10\x10\x03\x77\xa8\x01";

TEST_CASE(signal_frames_are_known)
{
	const struct wire_unwind_rule signal = {.base = WIRE_UNWIND_SIGNAL, .cfa = 160};
	struct eh_fde fde = function(BYTES(signal_program));
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 0x20, NO_RULE});
	fde.cie.signal = true;
	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 0x20, signal});
	/* Without where rbp is, it is none. */
	fde = function(BYTES("\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"));
	fde.cie.signal = true;
	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 0x20, NO_RULE});
}

static void assert_damaged(const char *program, size_t n, uint32_t runs)
{
	struct eh_fde fde = function(program, n);
	struct cfa_runs r = {};

	assert_int_equal(run(&fde, &r), -EBADMSG);
	assert_int_equal(r.n, runs);
}

TEST_CASE(a_damaged_program_ends_there)
{
	assert_damaged(BYTES("\x44\x3f"), 1); /* no such operation */
	assert_damaged(BYTES("\x44\x0e"), 1); /* without an operand */
	assert_damaged(BYTES("\x44\x0c\x07"), 1);
	assert_damaged(BYTES("\x44\x02"), 1);
	assert_damaged(BYTES("\x44\x86\x80"), 1);
	assert_damaged(BYTES("\x44\x0b"), 1);	      /* nothing was remembered */
	assert_damaged(BYTES("\x44\x0f\x7f\x77"), 1); /* a block that ends too late */
	assert_damaged(BYTES("\x44\x10\x06\x7f\x77"), 1);
	assert_damaged(BYTES("\x44\x16\x06\x7f\x77"), 1);
	assert_damaged(BYTES("\x44\x01\x00\x10\x00\x00"), 1); /* backwards */
	assert_damaged(BYTES("\x44\x0f\x03\x77\x08\x06\x0e\x08"), 1);
	assert_damaged(BYTES("\x44\x0f\x03\x77\x08\x06\x0d\x06"), 1);
	/* Numbers that do not fit. */
	assert_damaged(BYTES("\x44\x86\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 1);
	assert_damaged(BYTES("\x44\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1);
}

TEST_CASE(pcs_do_not_wrap)
{
	struct eh_fde fde = function(BYTES("\x44\x04\xff\xff\xff\xff"));
	struct cfa_runs r = {};

	fde.cie.code_factor = UINT64_MAX;
	assert_int_equal(run(&fde, &r), -EBADMSG);
	fde.cie.code_factor = 1;
	fde.start = UINT64_MAX - 0x20;
	assert_int_equal(run(&fde, &r), -EBADMSG);
	assert_int_equal(r.n, 1);
	fde.start++;
	assert_int_equal(run(&fde, &r), -EBADMSG);
	assert_int_equal(r.n, 0);
}

TEST_CASE(a_cie_has_no_pcs)
{
	struct eh_fde fde = function(BYTES(""));
	struct cfa_runs r = {};

	fde.cie.program = (struct eh_program){(const uint8_t *)"\x0c\x07\x08\x41", 4};
	assert_int_equal(run(&fde, &r), -EBADMSG);
	assert_int_equal(r.n, 0);
	/* An empty one says nothing of the return address. */
	fde.cie.program.size = 0;
	assert_int_equal(run(&fde, &r), 0);
	assert_runs(&r, {START, START + 0x20, NO_RULE});
}

TEST_CASE(an_error_of_the_caller_is_returned)
{
	struct eh_fde fde = function(BYTES("\x41\x0e\x10\x41\x0e\x18"));
	struct cfa_runs r = {.fail_at = 2};

	assert_int_equal(run(&fde, &r), -ENOMEM);
	assert_int_equal(r.n, 2);
}

/* A cfa_run_fn that checks only the order. */
static int check_order(void *ctx, uint64_t start, uint64_t end, struct wire_unwind_rule rule)
{
	uint64_t *at = ctx;

	assert_int_equal(start, *at);
	assert_true(end > start && end <= START + 0x20);
	assert_true(rule.base < WIRE_UNWIND_BASES && rule.rbp_is < WIRE_UNWIND_RBP_WAYS);
	*at = end;
	return 0;
}

TEST_CASE(any_bytes_make_runs_in_order)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 100000; i++) {
		size_t n = rng_below(&rng, 40);
		_free_ char *program = malloc(n ?: 1);
		struct eh_fde fde;
		uint64_t at = START;
		int err;

		for (size_t k = 0; k < n; k++)
			program[k] =
				(char)(rng_below(&rng, 3) ? rng_below(&rng, 0x30) : rng_u64(&rng));
		fde = function(program, n);
		err = cfa__run(&(struct eh_frame){(const uint8_t *)program, n, 0}, &fde,
			       check_order, &at);
		assert_true(err == -EBADMSG || (!err && at == START + 0x20));
	}
}

TEST_MAIN(NULL, NULL)
