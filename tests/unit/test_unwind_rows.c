// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/rows.h"

#include "test.h"
#include "../fixtures/cfa_runs.h"
#include "../fixtures/eh_frame_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/libdw_rules.h"
#include "../fixtures/random.h"
#include "../fixtures/rows.h"
#include "base/bisect.h"

/* The rule of an address, by the rows alone. */
static struct wire_unwind_rule rule_at(const struct unwind_rows *r, uint64_t addr)
{
	size_t after = bisect(r->n, i, r->start + r->rows[i].at <= addr);

	return after ? r->rules.rules[r->rows[after - 1].rule] : NO_RULE;
}

/* Rows rise, and neighbours differ. */
static void assert_sound(const struct unwind_rows *r)
{
	assert_int_equal(r->start % WIRE_UNWIND_PAGE_BYTES, 0);
	assert_true(r->n > 1);
	assert_int_equal(r->rows[0].at, 0);
	assert_int_equal(r->rows[r->n - 1].rule, 0);
	for (uint32_t i = 1; i < r->n; i++) {
		assert_true(r->rows[i].at > r->rows[i - 1].at);
		assert_int_not_equal(r->rows[i].rule, r->rows[i - 1].rule);
		assert_true(r->rows[i].rule < r->rules.n);
	}
}

/* ---- Sections made here ---------------------------------------------------------------------- */

/* All code is from 0x10000 up to 0x30000. */
static struct unwind_input input_of(const struct eh_builder *b)
{
	return (struct unwind_input){
		.frame = eh_builder__frame(b),
		.segments = {{0x10000, 0, 0x20000}},
		.n_segments = 1,
	};
}

static void read_rows(const struct unwind_input *in, struct unwind_rows *r)
{
	assert_int_equal(unwind_rows__read(in, r), 0);
	assert_sound(r);
}

static void assert_rows(const struct unwind_rows *r, const struct unwind_row *rows, size_t n)
{
	for (size_t i = 0; i < n && i < r->n; i++) {
		assert_int_equal(r->rows[i].at, rows[i].at);
		assert_int_equal(r->rows[i].rule, rows[i].rule);
	}
	assert_int_equal(r->n, n);
}

#define ASSERT_ROWS(r, ...)                                      \
	assert_rows(r, (const struct unwind_row[]){__VA_ARGS__}, \
		    N_OF(((const struct unwind_row[]){__VA_ARGS__})))

/* A section with one CIE, its input and its rows. */
static struct eh_builder b;
static uint32_t cie;
static struct unwind_input in;
static struct unwind_rows r;

static int begin(void **state)
{
	b = eh_builder_new();
	cie = eh_builder__cie(&b);
	r = (struct unwind_rows){};
	return 0;
}

static int end(void **state)
{
	eh_builder__destroy(&b);
	unwind_rows__destroy(&r);
	return 0;
}

/* Returns where the FDE is. */
static uint32_t add(uint64_t start, uint32_t length, const char *program, size_t n)
{
	return eh_builder__fde(&b, cie, start, length, program, n);
}

/* Of what the section has by now. */
static void read_section(void)
{
	unwind_rows__destroy(&r);
	r = (struct unwind_rows){};
	in = input_of(&b);
	read_rows(&in, &r);
}

TEST_CASE_WITH(functions_are_sorted_and_merged, begin, end)
{
	add(0x10200, 0x20, BYTES("\x41\x0e\x10"));
	add(0x10220, 0x20, BYTES("\x0e\x10\x50\x0e\x08"));
	add(0x10080, 0x40, BYTES(""));
	read_section();
	assert_pairs(r.start, 0x10000, r.functions, 3, r.unreadable, 0);
	/* Rule 1 is rsp + 8, rule 2 rsp + 16. The second function goes on as the first one ends. */
	ASSERT_ROWS(&r, {0, 0}, {0x80, 1}, {0xc0, 0}, {0x200, 1}, {0x201, 2}, {0x230, 1},
		    {0x240, 0});
}

TEST_CASE_WITH(a_first_function_may_begin_a_page, begin, end)
{
	add(0x20000, 0x10000, BYTES(""));
	read_section();
	assert_int_equal(r.start, 0x20000);
	ASSERT_ROWS(&r, {0, 1}, {0x10000, 0});
}

TEST_CASE(padding_has_the_rule_before_it)
{
	for (uint32_t gap = UNWIND_PADDING_MAX; gap <= UNWIND_PADDING_MAX + 1; gap++) {
		begin(NULL);
		add(0x10000, 0x21, BYTES("\x41\x0e\x10"));
		add(0x10021 + gap, 0x20, BYTES(""));
		read_section();
		if (gap == UNWIND_PADDING_MAX)
			ASSERT_ROWS(&r, {0, 1}, {1, 2}, {0x21 + gap, 1}, {0x41 + gap, 0});
		else
			ASSERT_ROWS(&r, {0, 1}, {1, 2}, {0x21, 0}, {0x21 + gap, 1},
				    {0x41 + gap, 0});
		end(NULL);
	}
}

TEST_CASE_WITH(the_function_that_starts_last_counts, begin, end)
{
	add(0x10000, 0x1000, BYTES("\x0e\x10"));
	add(0x10100, 0x40, BYTES("\x0e\x18"));
	/* Of two at one place the first one. */
	add(0x10100, 0x80, BYTES("\x0e\x20"));
	/* Those without code are no functions. */
	add(0x10120, 0, BYTES("\x0e\x28"));
	read_section();
	ASSERT_ROWS(&r, {0, 1}, {0x100, 2}, {0x140, 0});
	assert_rule(rule_at(&r, 0x10100), RSP_RULE(24));
}

TEST_CASE_WITH(what_is_in_no_segment_is_left_out, begin, end)
{
	add(0x1000, 0x1000, BYTES(""));
	add(0xfff0, 0x1000, BYTES(""));
	add(0x2fff0, 0x7fffffff, BYTES(""));
	/* A length is signed, and this one leads around. */
	add(0x2ff00, 0xffffffff, BYTES(""));
	add(0x30000, 0x1000, BYTES(""));
	add(0xffffffff80000000, 0x1000, BYTES(""));
	read_section();
	ASSERT_ROWS(&r, {0, 0}, {0xfff0, 1}, {0x10000, 0});
	assert_int_equal(r.start, 0x20000);
}

TEST_CASE_WITH(damage_is_counted, begin, end)
{
	uint32_t at;

	add(0x10000, 0x40, BYTES("\x50\x3f"));
	at = add(0x10100, 0x40, BYTES(""));
	add(0x10200, 0x40, BYTES(""));
	memset(b.buf + at + 4, 0xff, 4);
	read_section();
	assert_pairs(r.functions, 2, r.unreadable, 2);
	ASSERT_ROWS(&r, {0, 1}, {0x10, 0}, {0x200, 1}, {0x240, 0});
}

TEST_CASE_WITH(nothing_with_a_rule_is_an_error, begin, end)
{
	in = input_of(&b);
	assert_int_equal(unwind_rows__read(&in, &r), -ENODATA);
	unwind_rows__destroy(&r);
	r = (struct unwind_rows){};
	add(0x10000, 0x40, BYTES("\x0c\x03\x08"));
	in = input_of(&b);
	assert_int_equal(unwind_rows__read(&in, &r), -ENODATA);
}

/* One function with a row for each byte of code, of 3 bytes each, up to the limit and beyond. */
static int read_many_rows(uint32_t n)
{
	_free_ uint8_t *bytes = NULL;
	uint32_t at, length;
	int err;

	begin(NULL);
	at = add(0x1000000, n, BYTES(""));
	bytes = malloc(b.len + 3ul * n);
	assert_non_null(bytes);
	memcpy(bytes, b.buf, b.len);
	for (uint32_t i = 0; i < n; i++)
		memcpy(bytes + b.len + 3ul * i, i % 2 ? "\x0e\x08\x41" : "\x0e\x10\x41", 3);
	length = (uint32_t)(b.len - at - 4) + 3 * n;
	memcpy(bytes + at, &length, sizeof(length));
	in = input_of(&b);
	in.frame.data = bytes;
	in.frame.size += 3ul * n;
	in.segments[0] = (struct elf_segment){0x1000000, 0, n};
	err = unwind_rows__read(&in, &r);
	if (!err)
		assert_int_equal(r.n, n + 1);
	end(NULL);
	return err;
}

TEST_CASE(too_many_rows_are_refused)
{
	assert_int_equal(read_many_rows(1000), 0);
	assert_int_equal(read_many_rows(UNWIND_ROWS_MAX - 1), 0);
	assert_int_equal(read_many_rows(UNWIND_ROWS_MAX), -EFBIG);
}

/* The linker's own description comes before ours. */
TEST_CASE_WITH(a_plt_is_described_once, begin, end)
{
	static const char code[] = "\xff\x35\1\2\3\4\xff\x25\1\2\3\4\x0f\x1f\x40\0"
				   "\xff\x25\1\2\3\4\x68\1\0\0\0\xe9\1\2\3\4";
	_unwind_rows_ struct unwind_rows theirs = {};

	in = input_of(&b);
	in.plts[0] = (struct unwind_plt){0x10100, 32, (const uint8_t *)code};
	in.n_plts = 1;
	read_rows(&in, &r);
	ASSERT_ROWS(&r, {0, 0}, {0x100, 1}, {0x106, 2}, {0x110, 3}, {0x120, 0});
	assert_rule(rule_at(&r, 0x10110), PLT_RULE(11));
	assert_int_equal(r.functions, 0);
	add(0x10100, 32, BYTES(""));
	in.frame = eh_builder__frame(&b);
	read_rows(&in, &theirs);
	ASSERT_ROWS(&theirs, {0, 0}, {0x100, 1}, {0x120, 0});
	assert_rule(rule_at(&theirs, 0x10110), RSP_RULE(8));
}

/* As in ld.so: from where a program starts up to the next function. */
TEST_CASE_WITH(a_program_starts_without_a_caller, begin, end)
{
	_unwind_rows_ struct unwind_rows inside = {}, alone = {};

	add(0x10000, 0x100, BYTES(""));
	add(0x10180, 0x100, BYTES(""));
	in = input_of(&b);
	in.entry = 0x10140;
	read_rows(&in, &r);
	ASSERT_ROWS(&r, {0, 1}, {0x100, 0}, {0x140, 2}, {0x180, 1}, {0x280, 0});
	assert_rule(rule_at(&r, 0x10140), END_RULE);
	/* A function says more. */
	in.entry = 0x10010;
	read_rows(&in, &inside);
	ASSERT_ROWS(&inside, {0, 1}, {0x100, 0}, {0x180, 1}, {0x280, 0});
	in.entry = 0x10300;
	read_rows(&in, &alone);
	assert_rule(rule_at(&alone, 0x103ff), END_RULE);
	assert_rule(rule_at(&alone, 0x10400), NO_RULE);
}

/* ---- Files ----------------------------------------------------------------------------------- */

struct file {
	struct library_file *file;
	struct elf_image *img;
	struct unwind_input input;
	struct unwind_rows rows;
};

static void file__open(struct file *f, const char *path)
{
	*f = (struct file){};
	assert_int_equal(library_file__try(path, &f->file), 0);
	assert_int_equal(elf_image__map(f->file, &f->img), 0);
	assert_int_equal(unwind_input__find(f->img, &f->input), 0);
	read_rows(&f->input, &f->rows);
}

static void file__close(struct file *f)
{
	unwind_rows__destroy(&f->rows);
	elf_image__free(f->img);
	library_file__free(f->file);
}

/* Code that .eh_frame need not describe. */
static bool is_ours_alone(const struct unwind_input *in, uint64_t addr)
{
	for (uint32_t i = 0; i < in->n_plts; i++)
		if (addr - in->plts[i].start < in->plts[i].length + UNWIND_PADDING_MAX)
			return true;
	return in->entry && addr - in->entry < 256;
}

/* Where libdw has no rule: there is none, or it is that of a function before padding. */
static void assert_none_of_libdws(const struct libdw_rules *l, const struct file *f, uint64_t addr,
				  struct wire_unwind_rule ours)
{
	struct wire_unwind_rule theirs, before;
	uint64_t back = 1;

	if (rules_equal(ours, NO_RULE) || is_ours_alone(&f->input, addr))
		return;
	while (back <= UNWIND_PADDING_MAX && !libdw_rules__at(l, addr - back, &theirs))
		back++;
	assert_true(back <= UNWIND_PADDING_MAX);
	before = rule_at(&f->rows, addr - back);
	assert_rule(ours, before);
	assert_rule(theirs, before);
}

/* Returns whether libdw has a rule there. */
static bool compare_at(const struct libdw_rules *l, const struct file *f, uint64_t addr)
{
	struct wire_unwind_rule ours = rule_at(&f->rows, addr), theirs;

	if (!libdw_rules__at(l, addr, &theirs)) {
		assert_none_of_libdws(l, f, addr, ours);
		return false;
	}
	if (!rules_equal(ours, theirs))
		fail_msg("at 0x%llx: base %u cfa %d rbp %u %d, and libdw: %u %d %u %d",
			 (unsigned long long)addr, ours.base, ours.cfa, ours.rbp_is, ours.rbp,
			 theirs.base, theirs.cfa, theirs.rbp_is, theirs.rbp);
	return true;
}

/* The first and the last byte of each row, and random places. Returns how many libdw knows. */
static uint32_t compare_with_libdw(const char *path, uint32_t random)
{
	struct rng rng = rng_new();
	struct libdw_rules l;
	struct file f;
	uint32_t known = 0;
	uint64_t span;

	file__open(&f, path);
	libdw_rules__open(&l, path);
	for (uint32_t i = 0; i < f.rows.n; i++) {
		known += compare_at(&l, &f, f.rows.start + f.rows.rows[i].at);
		if (i)
			compare_at(&l, &f, f.rows.start + f.rows.rows[i].at - 1);
	}
	span = f.rows.rows[f.rows.n - 1].at + 64;
	for (uint32_t i = 0; i < random; i++)
		known += compare_at(&l, &f, f.rows.start + rng_below(&rng, span));
	libdw_rules__close(&l);
	file__close(&f);
	return known;
}

TEST_CASE(a_fixture_has_the_rules_of_libdw)
{
	uint32_t bases[WIRE_UNWIND_BASES] = {}, rbp[WIRE_UNWIND_RBP_WAYS] = {};
	struct file f;

	assert_true(compare_with_libdw(fixture("unwind.so"), 20000) > 10000);
	file__open(&f, fixture("unwind.so"));
	assert_int_equal(f.rows.unreadable, 0);
	for (uint32_t i = 0; i < f.rows.rules.n; i++) {
		bases[f.rows.rules.rules[i].base]++;
		rbp[f.rows.rules.rules[i].rbp_is]++;
	}
	/* All kinds of rules are in it, except one that no compiler writes. */
	for (int i = 0; i < WIRE_UNWIND_BASES; i++)
		assert_true(bases[i] || i == WIRE_UNWIND_RSP_DEREF);
	for (int i = 0; i < WIRE_UNWIND_RBP_WAYS; i++)
		assert_true(rbp[i]);
	file__close(&f);
}

/* lld writes no unwind information of its PLTs. */
TEST_CASE(a_plt_has_the_rules_of_the_linker)
{
	struct file with, without;
	uint32_t known = 0;

	file__open(&with, fixture("unwind.so"));
	file__open(&without, fixture("unwind_no_plt.so"));
	assert_int_equal(with.rows.functions, without.rows.functions + 2);
	assert_int_equal(with.input.n_plts, 2);
	for (uint32_t i = 0; i < with.input.n_plts; i++) {
		const struct unwind_plt *plt = &with.input.plts[i], *same = &without.input.plts[i];

		assert_int_equal(plt->start, same->start);
		assert_int_equal(plt->length, same->length);
		for (uint64_t at = plt->start; at < plt->start + plt->length; at++) {
			struct wire_unwind_rule rule = rule_at(&with.rows, at);

			assert_rule(rule_at(&without.rows, at), rule);
			known += !rules_equal(rule, NO_RULE);
		}
	}
	assert_true(known > 3 * 16);
	file__close(&with);
	file__close(&without);
}

/* dl_iterate_phdr() gives the path of the C library. */
TEST_CASE(libc_has_the_rules_of_libdw)
{
	assert_true(compare_with_libdw(path_of_libc(), 20000) > 20000);
}

TEST_CASE(this_program_has_the_rules_of_libdw)
{
	assert_true(compare_with_libdw("/proc/self/exe", 20000) > 1000);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static uint32_t number(struct unwind_rules *r, struct wire_unwind_rule rule)
{
	uint32_t n = UINT32_MAX;

	assert_int_equal(unwind_rules__number(r, rule, &n), 0);
	return n;
}

TEST_CASE(a_rule_has_one_number)
{
	_unwind_rules_ struct unwind_rules r = {};

	assert_int_equal(number(&r, RSP_RULE(8)), 1);
	assert_int_equal(number(&r, SAVED_RULE(8, -16)), 2);
	assert_int_equal(number(&r, RSP_RULE(8)), 1);
	assert_int_equal(number(&r, NO_RULE), 0);
	assert_int_equal(number(&r, RBP_RULE(8, -16)), 3);
	assert_int_equal(number(&r, SAVED_RULE(8, -16)), 2);
	assert_int_equal(r.n, 4);
	assert_rule(r.rules[2], SAVED_RULE(8, -16));
}

TEST_CASE(too_many_rules_have_no_number)
{
	_unwind_rules_ struct unwind_rules r = {};

	for (int i = 1; i < WIRE_UNWIND_RULES_MAX; i++)
		assert_int_equal(number(&r, RSP_RULE(8 * i)), i);
	assert_int_equal(r.refused, 0);
	assert_int_equal(number(&r, RSP_RULE(1)), 0);
	assert_int_equal(number(&r, RSP_RULE(2)), 0);
	assert_int_equal(r.refused, 2);
	/* Those that are there keep theirs. */
	assert_int_equal(number(&r, RSP_RULE(8 * 77)), 77);
	assert_int_equal(r.n, WIRE_UNWIND_RULES_MAX);
}

TEST_CASE(those_used_most_get_the_smallest_numbers)
{
	const uint32_t uses[] = {1, 5, 9, 5};
	_unwind_rules_ struct unwind_rules r = {};
	uint32_t numbers[4];

	number(&r, RSP_RULE(8));
	number(&r, RSP_RULE(16));
	number(&r, RSP_RULE(24));
	assert_int_equal(unwind_rules__sort(&r, uses, numbers), 0);
	/* Whatever its use, no rule is number 0; equal ones keep their order. */
	assert_pairs(numbers[0], 0, numbers[1], 2, numbers[2], 1, numbers[3], 3);
	assert_rule(r.rules[0], NO_RULE);
	assert_rule(r.rules[1], RSP_RULE(16));
	assert_rule(r.rules[2], RSP_RULE(8));
	assert_int_equal(number(&r, RSP_RULE(16)), 1);
	assert_int_equal(number(&r, RSP_RULE(8)), 2);
	assert_int_equal(number(&r, RSP_RULE(32)), 4);
}

TEST_CASE(nothing_to_sort_is_no_error)
{
	_unwind_rules_ struct unwind_rules r = {};

	assert_int_equal(unwind_rules__sort(&r, NULL, NULL), 0);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
