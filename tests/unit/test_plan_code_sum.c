// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/sum.h"
#include "plan/code/insn.h"
#include "plan/code/scan.h"
#include "plan/code/opcode.h"
#include "plan/code/shape.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/random.h"
#include "../fixtures/symbols.h"
#include "../fixtures/rows.h"

static struct sum entry(struct sum_nodes *nodes, uint8_t reg)
{
	return sum_of_node(nodes, (struct sum_node){.kind = SUM_ENTRY, .reg = reg});
}

static struct sum load(struct sum_nodes *nodes, struct sum of, uint8_t size)
{
	return sum_of_node(nodes, (struct sum_node){.kind = SUM_LOAD, .size = size, .of = of});
}

static void assert_same(struct sum a, struct sum b)
{
	assert_true(sum_equal(&a, &b));
}

TEST_CASE(equal_terms_are_one)
{
	static struct sum_nodes nodes;
	struct sum a = entry(&nodes, 1), b = entry(&nodes, 2), ab = sum_add(a, b);

	assert_same(sum_add(a, a), sum_scale(a, 2));
	assert_same(sum_add(ab, sum_scale(a, -1ull)), b);
	assert_same(sum_add(ab, sum_scale(b, -1ull)), a);
	assert_same(sum_add(a, sum_scale(a, -1ull)), sum_constant(0));
	assert_same(sum_scale(ab, 0), sum_constant(0));
	assert_same(sum_scale(sum_add(ab, sum_constant(5)), 3),
		    sum_add(sum_add(sum_scale(b, 3), sum_scale(a, 3)), sum_constant(15)));
}

TEST_CASE(nodes_are_limited)
{
	static struct sum_nodes nodes;

	for (uint32_t i = 0; i < SUM_NODES; i++)
		assert_true(load(&nodes, sum_constant(i), 8).known);
	assert_false(nodes.full);
	assert_true(load(&nodes, sum_constant(0), 8).known);
	assert_false(load(&nodes, sum_constant(SUM_NODES), 8).known);
	assert_true(nodes.full);
}

TEST_CASE(fields_are_of_an_argument)
{
	static struct sum_nodes nodes;
	struct sum a = entry(&nodes, 1), at = sum_add(a, sum_constant(24)), low, field, both;
	uint64_t more;

	low = sum_low(&nodes, a);
	field = load(&nodes, at, 8);
	both = sum_add(sum_scale(field, 3), low);
	assert_true(sum_is_argument(&nodes, &at, 1, &more));
	assert_int_equal(more, 24);
	assert_true(sum_is_argument(&nodes, &low, 1, &more));
	assert_false(sum_is_argument(&nodes, &at, 2, &more));
	assert_false(sum_is_argument(&nodes, &field, 1, &more));
	assert_true(sum_is_field(&nodes, &field, 1, 8, &more));
	assert_int_equal(more, 24);
	assert_false(sum_is_field(&nodes, &field, 1, 4, &more));
	assert_false(sum_is_field(&nodes, &field, 2, 8, &more));
	for (uint32_t i = 0; i < 2; i++)
		assert_same(sum_term(&both, i), both.terms[i].factor == 3 ? field : low);
}

/* ---- Code place ------------------------------------------------------------------------------ */

static struct sum_nodes nodes;

static struct sum place_entry(uint8_t reg)
{
	return sum_of_node(&nodes, (struct sum_node){.kind = SUM_ENTRY, .reg = reg});
}

static struct sum place_load(struct sum from, int64_t at, uint8_t size)
{
	struct sum_node node = {.kind = SUM_LOAD, .size = size};

	node.of = sum_add(from, sum_constant((uint64_t)at));
	return sum_of_node(&nodes, node);
}

static bool place(struct sum value, struct wire_place *out)
{
	return place_of(&nodes, &value, out);
}

TEST_CASE(what_a_probe_cannot_read_is_no_place)
{
	struct sum bx = place_entry(WIRE_REG_BX), deep = bx, thread;
	struct sum_node at_fs = {.kind = SUM_LOAD, .size = 8, .thread = true, .of = bx};
	struct wire_place p = {.reg = 77};

	thread = sum_of_node(&nodes, at_fs);
	for (int i = 0; i < WIRE_PLACE_LOADS; i++)
		deep = place_load(deep, 8, 8);
	assert_true(place(deep, &p));
	assert_int_equal(p.n, WIRE_PLACE_LOADS);
	p.reg = 77;
	assert_false(place(place_load(deep, 8, 8), &p));
	assert_false(place(sum_unknown, &p));
	assert_false(place(sum_constant(5), &p));
	assert_false(place(sum_add(bx, sum_constant(8)), &p));
	assert_false(place(sum_scale(bx, 2), &p));
	assert_false(place(sum_add(bx, place_entry(WIRE_REG_CX)), &p));
	assert_false(place(thread, &p));
	assert_false(place(place_load(bx, 0, 2), &p));
	assert_false(place(place_load(place_load(bx, 0, 4), 0, 8), &p));
	assert_false(place(place_load(bx, 1 << 20, 8), &p));
	assert_false(place(place_load(bx, -(1 << 20), 8), &p));
	assert_int_equal(p.reg, 77);
}

TEST_CASE(a_plan_holds_only_sound_places)
{
	const struct wire_place good = {WIRE_REG_R15, 1, 8, 0, {8}};
	struct wire_place p = good;

	assert_true(place_is_sound(&p));
	p.reg = WIRE_PLACE_SP + 1;
	assert_false(place_is_sound(&p));
	p = good;
	p.n = WIRE_PLACE_LOADS + 1;
	assert_false(place_is_sound(&p));
	p = good;
	p.size = 2;
	assert_false(place_is_sound(&p));
	p = good;
	p.at[3] = 1 << 20;
	assert_false(place_is_sound(&p));
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static uint64_t letter_of(struct sum a, const char *shape, char letter)
{
	struct letters l = {.known = 0};

	return shape__is(&nodes, &a, shape, &l) ? letters__of(&l, letter) : UINT64_MAX;
}

static bool has_shape(struct sum a, const char *shape)
{
	return letter_of(a, shape, 'A') != UINT64_MAX;
}

TEST_CASE(a_shape_is_written_as_assembly)
{
	struct sum di = place_entry(WIRE_REG_DI), si = place_entry(WIRE_REG_SI);
	struct sum field = place_load(di, 0x18, 8);
	struct sum item = place_load(sum_add(field, sum_scale(si, 24)), 4, 4);

	assert_true(has_shape(di, "di"));
	assert_true(has_shape(sum_low(&nodes, di), "di"));
	assert_false(has_shape(di, "si"));
	assert_false(has_shape(place_load(di, 8, 8), "di"));
	assert_int_equal(letter_of(field, "[di+A]8", 'A'), 0x18);
	assert_true(has_shape(field, "[di+24]8"));
	assert_true(has_shape(field, "[di+?]"));
	assert_false(has_shape(field, "[di]8"));
	assert_false(has_shape(field, "[di+A]4"));
	assert_false(has_shape(field, "fs[di+A]8"));
	/* In either order, and in no other. */
	assert_int_equal(letter_of(item, "[[di+A]8+S*si+B]4", 'B'), 4);
	assert_int_equal(letter_of(item, "[S*si+[di+A]8+B]4", 'S'), 24);
	assert_true(has_shape(item, "[#X+24*si+4]4"));
	assert_false(has_shape(item, "[[di+A]8+8*si+B]4"));
	assert_false(has_shape(item, "[[di+A]8+si+B]4"));
	assert_false(has_shape(item, "[[si+A]8+S*di+B]4"));
	assert_true(has_shape(sum_unknown, "_"));
	assert_false(has_shape(sum_unknown, "?"));
	assert_false(has_shape(di, "?"));
}

TEST_CASE(a_letter_is_one_number_in_its_range)
{
	struct sum di = place_entry(WIRE_REG_DI);
	struct sum twice = place_load(place_load(di, 8, 8), 8, 8);
	struct letters l = {.known = 0};

	assert_true(has_shape(twice, "[[di+A]8+A]8"));
	assert_false(has_shape(place_load(place_load(di, 8, 8), 16, 8), "[[di+A]8+A]8"));
	assert_false(has_shape(place_load(di, 1 << 20, 8), "[di+A]8"));
	assert_true(has_shape(place_load(di, -8, 8), "[di+U]8"));
	assert_true(has_shape(place_load(di, 0, 8), "[di+A]8"));
	assert_false(has_shape(place_load(di, 0, 8), "[di+N]8"));
	assert_false(has_shape(sum_scale(di, 65), "S*di"));
	assert_false(has_shape(sum_scale(di, 4), "S*di"));
	/* One that does not fit leaves all as it was. */
	letters__set(&l, 'B', 9);
	assert_false(shape__is(&nodes, &twice, "[[di+A]8+B]8", &l));
	assert_int_equal(l.known, 1 << 1);
	letters__set(&l, 'B', 8);
	assert_true(shape__is(&nodes, &twice, "[[di+A]8+B]8", &l));
}

TEST_CASE(places_may_have_to_agree)
{
	static struct eval e;
	struct letters l = {.known = 0}, none = {.known = 0};
	struct sum a, b;

	a = sum_add(entry(&e.nodes, WIRE_REG_DI), sum_constant(8));
	b = load(&e.nodes, a, 8);
	e.compares.items[0] = (struct eval_pair){b, sum_constant(0)};
	e.compares.items[1] = (struct eval_pair){sum_constant(1), b};
	e.compares.n = 2;
	assert_true(shape__shown(&e, "compare [di+A]8, 0", &l));
	assert_int_equal(letters__of(&l, 'A'), 8);
	assert_false(shape__shown(&e, "compare [di+A]8, 1", &l));
	assert_true(shape__shown(&e, "compare [di+A]8 = 1", &l));
	assert_int_equal(shape__agreed(&e, "compare [di+A]8 = ?", &none), 1);
	none.known = 0;
	assert_int_equal(shape__agreed(&e, "compare [di+A]8 = B", &none), -1);
	assert_int_equal(none.known, 0);
	assert_int_equal(shape__agreed(&e, "return [di+A]8, _", &none), 0);
	e.calls[0] = (struct eval_call){.target = 0, .first = a};
	e.n_calls = 1;
	assert_false(shape__shown(&e, "call U: di+A", &none));
	assert_true(shape__shown(&e, "call ?: di+A", &none));
}

TEST_CASE(a_way_is_gone_so_often_and_there_are_so_many)
{
	struct visits v = {.n = 0}, many = {.n = 0};

	for (int i = 0; i < VISITS_MAX; i++)
		assert_true(visits__add(&v, 1, 2));
	assert_false(visits__add(&v, 1, 2));
	for (uint64_t i = 0; i < VISITS_WAYS; i++)
		assert_true(visits__add(&many, i, 0));
	assert_false(visits__add(&many, VISITS_WAYS, 0));
	assert_true(visits__add(&many, 0, 0));
}

/* ---- Code scan ------------------------------------------------------------------------------- */

#define TEXT   ELF_BUILDER_TEXT_ADDR
#define SIZE   ELF_BUILDER_TEXT_SIZE
#define MOST   64
#define ROUNDS 20

struct call {
	uint64_t addr, to;
};

struct seen {
	struct call calls[MOST];
	size_t n;
	size_t n_spans;
	struct code_span spans[8];
	size_t stop_after;
};

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct seen *seen = arg;

	assert_true(seen->n < MOST);
	seen->calls[seen->n++] = (struct call){addr, to};
	return seen->n == seen->stop_after ? -ECANCELED : 0;
}

static int note_span(void *arg, const struct code_span *span)
{
	struct seen *seen = arg;

	assert_true(seen->n_spans < 8);
	seen->spans[seen->n_spans++] = *span;
	return seen->n_spans == seen->stop_after ? -ECANCELED : 0;
}

static struct elf_image *image_new(const uint8_t *text, size_t len,
				   const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {.text = text, .text_len = len};
	struct elf_image *img;

	elf_builder__build(&b, syms, n);
	assert_int_equal(image_of_bytes(b.buf, b.len, &img), 0);
	return img;
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE(code_is_looked_at_once)
{
	static const uint8_t text[64];
	static const struct elf_builder_symbol syms[] = {
		{"outer", TEXT, 32, STT_FUNC, ELF_BUILDER_TEXT},
		{"within", TEXT + 8, 8, STT_FUNC, ELF_BUILDER_TEXT},
		{"across", TEXT + 24, 16, STT_FUNC, ELF_BUILDER_TEXT},
		{"apart", TEXT + 50, 4, STT_FUNC, ELF_BUILDER_TEXT},
	};
	static const struct code_span expected[] = {{.addr = TEXT, .len = 32},
						    {.addr = TEXT + 32, .len = 8},
						    {.addr = TEXT + 50, .len = 4}};
	_elf_image_ struct elf_image *img = image_new(text, sizeof(text), syms, 4);
	struct seen seen = {.n = 0};

	assert_int_equal(code_scan__spans(img, note_span, &seen), 0);
	assert_int_equal(seen.n_spans, 3);
	for (size_t i = 0; i < N_OF(expected); i++) {
		assert_int_equal(seen.spans[i].addr, expected[i].addr);
		assert_int_equal(seen.spans[i].len, expected[i].len);
	}
	seen = (struct seen){.stop_after = 2};
	assert_int_equal(code_scan__spans(img, note_span, &seen), -ECANCELED);
	assert_int_equal(seen.n_spans, 2);
}

/* A simple and slow implementation of code_scan__calls(). */
static void find_slowly(const uint8_t *text, size_t len, struct code_range targets,
			struct seen *seen)
{
	for (size_t i = 0; i + 5 <= len; i++) {
		const uint8_t *p = text + i;
		uint64_t to = opcode_target(p + 1, TEXT + i + 5);

		if ((p[0] == 0xe8 || p[0] == 0xe9) && to >= targets.first && to <= targets.last)
			note_call(seen, TEXT + i, to);
	}
}

TEST_CASE(every_call_is_found)
{
	static const uint8_t common[] = {0xe8, 0xe9, 0xff, 0x15, 0x25, 0x35, 0x00, 0xfe};
	const struct code_range low = {1, TEXT + 0x20000000};
	struct rng rng = rng_new();
	size_t n = 0;

	for (size_t round = 0; round < ROUNDS * (SIZE + 1); round++) {
		size_t len = round % (SIZE + 1);
		const struct elf_builder_symbol sym = {"f", TEXT, len, STT_FUNC, ELF_BUILDER_TEXT};
		struct seen found = {.n = 0}, expected = {.n = 0};
		_elf_image_ struct elf_image *img = NULL;
		uint8_t text[SIZE];

		for (size_t i = 0; i < len; i++)
			text[i] = common[rng_below(&rng, sizeof(common))];
		img = image_new(text, SIZE, &sym, 1);
		find_slowly(text, len, low, &expected);
		assert_int_equal(code_scan__calls(img, low, note_call, &found), 0);
		assert_int_equal(found.n, expected.n);
		for (size_t i = 0; i < found.n; i++) {
			assert_int_equal(found.calls[i].addr, expected.calls[i].addr);
			assert_int_equal(found.calls[i].to, expected.calls[i].to);
		}
		n += found.n;
	}
	assert_true(n > ROUNDS);
}

/* The assembled tests/fixtures/got.s: a call and a jump. */
TEST_CASE(calls_through_the_got_are_found)
{
	_elf_image_ struct elf_image *img = NULL;
	struct seen seen = {.n = 0};
	uint64_t local;

	assert_int_equal(image_of(fixture("got.so"), &img), 0);
	local = symbol(img, "local")->addr;
	assert_int_equal(code_scan__calls(img, (struct code_range){local, local}, note_call, &seen),
			 0);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.calls[0].addr, symbol(img, "calls.local")->addr);
	assert_int_equal(seen.calls[1].addr, symbol(img, "calls.tail")->addr);
	assert_int_equal(seen.calls[0].to, local);
	assert_int_equal(seen.calls[1].to, local);
}

TEST_CASE(an_error_ends_it)
{
	/* only calls, each to the next instruction */
	uint8_t text[SIZE] = {0};
	const struct elf_builder_symbol sym = {"f", TEXT, SIZE, STT_FUNC, ELF_BUILDER_TEXT};
	const struct code_range all = {1, UINT64_MAX};
	struct seen seen = {.stop_after = 3};
	_elf_image_ struct elf_image *img = NULL;

	for (size_t i = 0; i < sizeof(text); i += 5)
		text[i] = 0xe8;
	img = image_new(text, sizeof(text), &sym, 1);
	assert_int_equal(code_scan__calls(img, all, note_call, &seen), -ECANCELED);
	assert_int_equal(seen.n, 3);
}

TEST_MAIN(NULL, NULL)
