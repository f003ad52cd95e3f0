// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/eval.h"

#include <inttypes.h>

#include "test.h"
#define LIBRARY "eval.so"
#include "../fixtures/image.h"

static struct eval *run(struct eval_function f, const char *name)
{
	const struct elf_symbol *sym = symbol(img, name);
	const struct code_region region = {sym->addr, sym->size};
	struct eval *e = NULL;

	f.img = img;
	f.entry = sym->addr;
	f.regions = &region;
	f.n_regions = 1;
	assert_int_equal(eval__run(&f, &e), 0);
	return e;
}

static struct eval *eval(const char *name)
{
	return run((struct eval_function){.has_first = false}, name);
}

static struct eval *eval_of(const char *name, uint64_t first)
{
	return run((struct eval_function){.has_first = true, .first = first}, name);
}

/* As text: "rdi*2 + load8(rsi + 16) + 5". */
static void print(FILE *out, const struct eval *e, const struct sum *s);

static void print_node(FILE *out, const struct eval *e, const struct sum_node *n)
{
	if (n->kind == SUM_ENTRY) {
		fputs(n->reg == CODE_REG_SP ? "rsp" : plan_reg_name(n->reg), out);
		return;
	}
	if (n->kind == SUM_LOAD)
		fprintf(out, n->thread ? "thread%u(" : "load%u(", n->size);
	else
		fputs(n->kind == SUM_LOW       ? "low("
		      : n->kind == SUM_CALL    ? "call("
		      : n->kind == SUM_CALL_BY ? "call_by("
					       : "below(",
		      out);
	print(out, e, &n->of);
	fputc(')', out);
}

static void print(FILE *out, const struct eval *e, const struct sum *s)
{
	if (!s->known) {
		fputc('?', out);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		fputs(i ? " + " : "", out);
		print_node(out, e, &e->nodes.items[s->terms[i].node]);
		if (s->terms[i].factor != 1)
			fprintf(out, "*%lld", (long long)s->terms[i].factor);
	}
	if (!s->n)
		fprintf(out, "%lld", (long long)s->constant);
	else if (s->constant)
		fprintf(out, " + %lld", (long long)s->constant);
}

/* Each pair as "a, b", and "; " between. */
static void assert_pairs(const struct eval *e, const struct eval_pairs *pairs, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < pairs->n; i++) {
		fputs(i ? "; " : "", out);
		print(out, e, &pairs->items[i].a);
		fputs(", ", out);
		print(out, e, &pairs->items[i].b);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_returns(const char *name, const char *expected)
{
	_free_ struct eval *e = eval(name);

	assert_false(e->partial);
	assert_pairs(e, &e->returns, expected);
}

TEST_CASE(values_are_sums)
{
	assert_returns("sums", "rsi*3 + rdi*2 + 9, load4(rdi*3 + 16)*8 + -2");
	assert_returns("too_much", "0, ?");
	/* Small numbers are read from the file. */
	assert_returns("looked_up", "65244, -7");
}

TEST_CASE(the_stack_keeps_values)
{
	assert_returns("kept", "rsi + rdi, low(rdx)");
	assert_returns("lost", "?, ?");
	assert_returns("changed", "?, ?");
	assert_returns("exchanged", "?, rdi");
	assert_returns("swapped", "load8(rdi + 8) + 4, rsi");
}

TEST_CASE(a_given_argument_decides)
{
	for (uint64_t first = 4; first < 7; first++) {
		_free_ struct eval *e = eval_of("decided", first);
		int32_t x = (int32_t)first;
		uint32_t u = (uint32_t)first;
		uint64_t sum = (x != 5) + 2 * (x == 5) + 4 * (u <= 5) + 8 * (u < 5) +
			       0x10 * (u >= 5) + 0x20 * (u > 5) + 0x40 * (x <= -1) +
			       0x80 * (x < -1) + 0x100 * (x >= -1) + 0x200 * (x > -1) +
			       0x400 * (u <= UINT32_MAX);

		assert_int_equal(e->returns.n, 1);
		assert_true(sum_is_constant(&e->returns.items[0].a));
		assert_int_equal(e->returns.items[0].a.constant, sum);
		assert_false(e->partial);
	}
}

static uint64_t variant_of(uint32_t word)
{
	const struct eval_given given = {WIRE_REG_DI, 4, 0, word};
	_free_ struct eval *e =
		run((struct eval_function){.given = &given, .n_given = 1}, "variant");

	assert_int_equal(e->returns.n, 1);
	assert_true(sum_is_constant(&e->returns.items[0].a));
	return e->returns.items[0].a.constant;
}

TEST_CASE(a_given_word_decides)
{
	assert_int_equal(variant_of(0xffffff01), 0);
	assert_int_equal(variant_of(0xffffff02), 0x101);
	assert_int_equal(variant_of(0xffffff03), 0x102);
	assert_int_equal(variant_of(0xffffff04), 3);
	assert_int_equal(variant_of(0xffffff00), 9);
	assert_int_equal(variant_of(7), 9);
}

TEST_CASE(a_condition_moves)
{
	static const uint64_t moved[] = {4, 1, 6};

	for (uint64_t first = 4; first < 7; first++) {
		_free_ struct eval *e = eval_of("moved_if", first);

		assert_int_equal(e->returns.items[0].a.constant, moved[first - 4]);
	}
	assert_returns("moved_if", "?, ?");
	for (uint64_t first = 4; first < 7; first += 2) {
		_free_ struct eval *e = eval_of("moved_by_sign", first);

		assert_int_equal(e->returns.items[0].a.constant, first < 5 ? 2 : 1);
	}
	assert_returns("moved_by_sign", "?, ?");
	assert_returns("bit", "1, rdx; 3, rdx");
}

TEST_CASE(both_ways_are_gone_if_nothing_decides)
{
	_free_ struct eval *e = eval("either");

	assert_pairs(e, &e->compares, "rsi, load8(rdi); load4(rdi + 4), 4294967295; 2, 0");
	assert_int_equal(e->returns.n, 3);
	assert_false(e->partial);
}

static void assert_fields(uint64_t second, const char *expected)
{
	struct eval_function f = {.has_second = true, .second = second};
	_free_ struct eval *e = run(f, "fields");

	assert_false(e->partial);
	assert_pairs(e, &e->returns, expected);
}

TEST_CASE(constants_are_computed)
{
	/* 0x123 >> 1 is 0x91, with 0x100 0x191: its highest bit is 8, and 0x91 & 63 is 17. */
	assert_fields(0x0123ull << 32, "8, -131072");
	assert_fields(0x8123ull << 32 | 7, "below(rdi), below(load8(rdi))");
	assert_fields(0x0122ull << 32, "below(rdi), below(load8(rdi))");
}

TEST_CASE(a_pointer_is_not_read_from_the_file)
{
	_free_ struct eval *e = eval("thread");
	const struct sum_node *node;
	uint64_t more;

	assert_int_equal(e->returns.n, 1);
	assert_false(e->returns.items[0].b.known);
	node = sum_node_of(&e->nodes, &e->returns.items[0].a, &more);
	assert_true(node->thread);
	node = sum_node_of(&e->nodes, &node->of, &more);
	assert_int_equal(more, 8);
	assert_int_equal(node->kind, SUM_LOAD);
	assert_false(node->thread);
	assert_true(sum_is_constant(&node->of));
	assert_int_equal(node->of.constant, symbol(img, "pointer")->addr);
}

TEST_CASE(stores_outside_the_stack_are_noted)
{
	_free_ struct eval *e = eval("stores");

	assert_pairs(e, &e->stores, "rdi + 8, rsi; rdi + 16, 3");
}

TEST_CASE(loops_end)
{
	_free_ struct eval *endless = eval("endless"), *spins = eval("spins");

	assert_true(endless->partial);
	assert_int_equal(endless->returns.n, 1);
	assert_true(spins->partial);
	assert_int_equal(spins->returns.n, 0);
}

TEST_CASE(a_path_that_leaves_is_cut)
{
	_free_ struct eval *leaves = eval("leaves"), *anywhere = eval("jumps_anywhere");

	_free_ struct eval *part = eval("passes_a_part");

	assert_true(leaves->partial);
	assert_int_equal(leaves->returns.n, 0);
	assert_int_equal(leaves->leaves.n, 1);
	assert_int_equal(part->leaves.items[0].a.constant, symbol(img, "outside")->addr);
	assert_int_equal(part->leaves.items[0].b.constant, 0x18);
	assert_true(anywhere->partial);
	assert_returns("panics", "1, rdx");
}

TEST_CASE(pointers_that_are_relocated_are_followed)
{
	_free_ struct eval *in = run((struct eval_function){.follows = true}, "by_key");
	_free_ struct eval *out = eval("by_key");
	char expected[96];

	snprintf(expected, sizeof(expected), "thread8(load8(%" PRIu64 ")), 0",
		 symbol(img, "slot")->addr);
	assert_pairs(in, &in->returns, expected);
	assert_int_equal(out->n_calls, 1);
	assert_int_equal(out->calls[0].target, 0);
}

TEST_CASE(steps_are_limited)
{
	_free_ struct eval *e = run((struct eval_function){.steps = 3}, "either");

	assert_true(e->partial);
	assert_pairs(e, &e->compares, "rsi, load8(rdi)");
}

TEST_MAIN(image_setup, image_teardown)
