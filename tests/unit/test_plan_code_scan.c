// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/scan.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/random.h"
#include "../fixtures/symbols.h"
#include "plan/code/opcode.h"

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

static void code_is_looked_at_once(void **state)
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

static void every_call_is_found(void **state)
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
static void calls_through_the_got_are_found(void **state)
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

static void an_error_ends_it(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_looked_at_once),
		cmocka_unit_test(every_call_is_found),
		cmocka_unit_test(calls_through_the_got_are_found),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
