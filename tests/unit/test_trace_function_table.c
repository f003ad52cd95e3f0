// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/function_table.h"

#include "test.h"
#include "../fixtures/functions.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"
#include "base/cleanup.h"

#define N_FILES 20

struct tables {
	struct string_table *strings;
	struct string_pairs files;
	struct function_table *functions;
};

/* A string table of "file_0", "file_1" and so on. */
static void open_tables(struct tables *t, uint32_t n_strings)
{
	struct byte_buffer b = {0};
	struct byte_reader in;
	uint32_t first, n;
	const char *why;
	char text[16];

	byte_buffer__varint(&b, 0);
	byte_buffer__varint(&b, n_strings);
	for (uint32_t i = 0; i < n_strings; i++) {
		int size = snprintf(text, sizeof(text), "file_%u", i);

		byte_buffer__varint(&b, size << 1);
		byte_buffer__bytes(&b, text, size);
	}
	in = (struct byte_reader){.at = b.data, .end = b.data + b.size};
	assert_int_equal(string_table__new(NULL, &t->strings), 0);
	assert_int_equal(string_table__take(t->strings, &in, &first, &n, &why), 0);
	t->files = (struct string_pairs){0};
	assert_int_equal(function_table__new(t->strings, &t->files, &t->functions), 0);
	byte_buffer__destroy(&b);
}

static void close_tables(struct tables *t)
{
	function_table__free(t->functions);
	string_table__free(t->strings);
}

/* The copy has the exact size, so a sanitizer reports a read past the end. */
static int take(struct tables *t, const uint8_t *bytes, size_t size, bool lines)
{
	_free_ uint8_t *copy = malloc(size ? size : 1);
	struct byte_reader in = {.at = copy, .end = copy + size};

	if (size)
		memcpy(copy, bytes, size);
	return lines ? function_table__take_lines(t->functions, &in, string_table__n(t->strings))
		     : function_table__take(t->functions, &in, string_table__n(t->strings));
}

/* A FUNCTIONS payload of functions `from` to `to`; each is named by the string with its number. */
static struct byte_buffer functions_payload(struct function_list *l, const struct functions *all,
					    uint32_t from, uint32_t to)
{
	struct byte_buffer b = {0};

	for (uint32_t i = from; i < to; i++)
		assert_int_equal(function_list__add(l, &all->at[i].f, i % 7, i % N_FILES), 0);
	assert_int_equal(function_list__payload(l, &b), 0);
	return b;
}

/* A LINES payload of all functions, the last one first. */
static struct byte_buffer lines_payload(struct function_list *l, const struct functions *all,
					uint32_t n)
{
	struct byte_buffer records = {0}, b = {0};
	uint32_t n_records = 0;

	for (uint32_t i = n; i-- > 0;) {
		const struct function_model *m = &all->at[i];
		size_t size = records.size;

		must(function_list__lines(l, m->f.first, m->rows, m->n_rows, N_FILES, &records));
		n_records += records.size != size;
	}
	byte_buffer__varint(&b, n_records);
	byte_buffer__bytes(&b, records.data, records.size);
	byte_buffer__destroy(&records);
	return b;
}

static void assert_location(struct tables *t, const struct functions *all, uint32_t locindex)
{
	const struct function_model *m = functions_find(all, locindex);
	const struct trace_line *line;
	struct trace_location got;
	char file[16];

	assert_int_equal(function_table__has(t->functions, locindex), m != NULL);
	assert_int_equal(function_table__locate(t->functions, locindex, &got), m != NULL);
	if (!m)
		return;
	assert_struct(*got.function, first, m->f.first, size, m->f.size, addr, m->f.addr);
	assert_int_equal(got.offset, locindex - m->f.first);
	snprintf(file, sizeof(file), "file_%u", (uint32_t)(m - all->at) % N_FILES);
	assert_string_equal(got.function->name, file);
	line = function_model__line(m, got.offset);
	assert_int_equal(got.line, line ? line->line : 0);
	assert_int_equal(got.file != NULL, line != NULL);
	if (!line)
		return;
	snprintf(file, sizeof(file), "file_%u", line->file);
	assert_string_equal(got.file, file);
}

TEST_CASE(listed_functions_are_found_by_location)
{
	struct rng rng = rng_new();
	_free_ struct functions *all = functions_new(&rng, FUNCTIONS_MAX, N_FILES);
	struct function_list l = {0};
	struct tables t;
	struct byte_buffer b;

	open_tables(&t, N_FILES);
	for (uint32_t at = 0; at < all->n;) {
		uint32_t to = at + 1 + rng_below(&rng, all->n - at);

		b = functions_payload(&l, all, at, to);
		assert_int_equal(take(&t, b.data, b.size, false), 0);
		byte_buffer__destroy(&b);
		at = to;
		assert_int_equal(function_table__n(t.functions), at);
		assert_int_equal(function_table__end(t.functions, at), function_list__end(&l));
	}
	assert_int_equal(function_table__end(t.functions, all->n), all->end);
	assert_int_equal(function_table__end(t.functions, 0), 1);
	b = lines_payload(&l, all, all->n);
	assert_int_equal(take(&t, b.data, b.size, true), 0);
	byte_buffer__destroy(&b);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct trace_function *f = &all->at[i].f;

		assert_location(&t, all, f->first - 1);
		assert_location(&t, all, f->first);
		assert_location(&t, all, f->first + f->size);
		assert_location(&t, all, f->first + f->size + 1);
		for (uint32_t k = 0; k < all->at[i].n_rows; k++) {
			assert_location(&t, all, f->first + all->at[i].rows[k].offset);
			assert_location(&t, all, f->first + all->at[i].rows[k].offset + 1);
		}
	}
	for (int i = 0; i < 2000; i++)
		assert_location(&t, all, rng_below(&rng, all->end + 10UL));
	assert_location(&t, all, 0);
	assert_location(&t, all, UINT32_MAX);
	function_list__destroy(&l);
	close_tables(&t);
}

/* A refused payload leaves the table unchanged. */
TEST_CASE(damage_changes_nothing)
{
	struct rng rng = rng_new();
	_free_ struct functions *all = functions_new(&rng, 30, N_FILES);
	struct function_list l = {0};
	struct byte_buffer functions, lines;
	struct tables t;

	functions = functions_payload(&l, all, 0, 30);
	lines = lines_payload(&l, all, 30);
	/* By chance no function may have lines. */
	if (lines.size == 1)
		skip();
	open_tables(&t, N_FILES);
	for (size_t size = 0; size < functions.size; size++)
		assert_int_equal(take(&t, functions.data, size, false), -EBADMSG);
	assert_int_equal(function_table__n(t.functions), 0);
	assert_int_equal(take(&t, functions.data, functions.size, false), 0);
	for (size_t size = 0; size < lines.size; size++)
		assert_int_equal(take(&t, lines.data, size, true), -EBADMSG);
	assert_int_equal(function_table__n_with_lines(t.functions), 0);
	for (int i = 0; i < 5000; i++) {
		size_t at = rng_below(&rng, lines.size);
		uint8_t old = lines.data[at];
		int err;

		lines.data[at] = rng_u64(&rng);
		err = take(&t, lines.data, lines.size, true);
		lines.data[at] = old;
		assert_true(err == 0 || err == -EBADMSG);
		if (err) {
			assert_int_equal(function_table__n_with_lines(t.functions), 0);
			continue;
		}
		close_tables(&t);
		open_tables(&t, N_FILES);
		assert_int_equal(take(&t, functions.data, functions.size, false), 0);
	}
	assert_int_equal(take(&t, lines.data, lines.size, true), 0);
	/* Lines of a function that has lines already are refused. */
	assert_int_equal(take(&t, lines.data, lines.size, true), -EBADMSG);
	for (uint32_t i = 0; i < all->end; i += 1 + rng_below(&rng, 100))
		assert_location(&t, all, i);
	byte_buffer__destroy(&functions);
	byte_buffer__destroy(&lines);
	function_list__destroy(&l);
	close_tables(&t);
}

/* A capture gives out ranges without gaps; these need no search to test for membership. */
TEST_CASE(ranges_without_gaps_hold_all_numbers)
{
	static const uint8_t functions[] = {2, 1, 2, 5, 2, 3, 0, 0, 77, 0, 0, 99, 0};
	struct tables t;

	open_tables(&t, 1);
	assert_false(function_table__has(t.functions, 1));
	assert_int_equal(take(&t, functions, sizeof(functions), false), 0);
	assert_false(function_table__has(t.functions, 0));
	for (uint32_t i = 1; i < 9; i++)
		assert_true(function_table__has(t.functions, i));
	assert_false(function_table__has(t.functions, 9));
	assert_false(function_table__has(t.functions, UINT32_MAX));
	close_tables(&t);
}

struct refused {
	const char *what;
	uint8_t size;
	uint8_t bytes[24];
};

/*
 * Function 0 is at 10 to 14 already. A table of ranges holds, for each range, the zigzag difference
 * of its function's number from the one before (-1 at first) and its number of locations; 0 ends
 * it.
 */
TEST_CASE(functions_that_cannot_be_are_refused)
{
	static const uint8_t first[] = {1, 10, 2, 5, 0, 0, 77, 0};
	static const uint8_t second[] = {1, 15, 4, 5, 0, 1, 5, 1};
	static const struct refused all[] = {
		{"no function", 3, {0, 15, 0}},
		{"nothing but a gap", 7, {1, 15, 0, 5, 0, 0, 0}},
		{"fewer than it says", 8, {2, 15, 4, 5, 0, 1, 5, 1}},
		{"overlaps the one before", 8, {1, 14, 4, 5, 0, 1, 5, 1}},
		{"goes backwards", 8, {1, 0, 4, 5, 0, 1, 5, 1}},
		{"number left out", 8, {1, 15, 6, 5, 0, 1, 5, 1}},
		{"number given again", 8, {1, 15, 2, 5, 0, 1, 5, 1}},
		{"number of no function", 8, {1, 15, 3, 5, 0, 1, 5, 1}},
		{"beyond 32 bits", 12, {1, 0xff, 0xff, 0xff, 0xff, 0x0f, 4, 1, 0, 1, 5, 1}},
		{"base beyond 32 bits", 12, {1, 0x80, 0x80, 0x80, 0x80, 0x10, 4, 1, 0, 1, 5, 1}},
		{"size beyond 32 bits", 12, {1, 15, 4, 0xf1, 0xff, 0xff, 0xff, 0x0f, 0, 1, 5, 1}},
		{"range of nothing", 8, {1, 15, 4, 0, 0, 1, 5, 1}},
		{"unknown library", 8, {1, 15, 4, 5, 0, 2, 5, 1}},
		{"unknown name", 8, {1, 15, 4, 5, 0, 1, 5, 2}},
		{"bytes left over", 9, {1, 15, 4, 5, 0, 1, 5, 1, 0}},
	};
	struct tables t;

	open_tables(&t, 2);
	assert_int_equal(take(&t, first, sizeof(first), false), 0);
	for (size_t i = 0; i < N_OF(all); i++) {
		if (take(&t, all[i].bytes, all[i].size, false) != -EBADMSG)
			fail_msg("%s: taken", all[i].what);
		assert_int_equal(function_table__n(t.functions), 1);
	}
	assert_int_equal(take(&t, second, sizeof(second), false), 0);
	assert_int_equal(function_table__end(t.functions, 2), 20);
	close_tables(&t);
}

/* Function 0 has 4 bytes; files are strings 0 and 1. */
TEST_CASE(lines_that_do_not_fit_are_refused)
{
	static const uint8_t function[] = {1, 10, 2, 5, 0, 0, 77, 0};
	static const uint8_t good[] = {1, 0, 6, 4, 0, 20, 2, 2, 2, 0};
	static const struct refused all[] = {
		{"no record", 1, {0}},
		{"unknown function", 10, {1, 1, 6, 4, 0, 20, 2, 2, 2, 0}},
		{"unknown file", 10, {1, 0, 8, 4, 0, 20, 2, 2, 2, 0}},
		{"negative file", 10, {1, 0, 1, 4, 0, 20, 2, 2, 2, 0}},
		{"files of too few bytes", 10, {1, 0, 6, 3, 0, 20, 2, 2, 2, 0}},
		{"files of too many", 10, {1, 0, 6, 5, 0, 20, 2, 2, 2, 0}},
		{"lines of too few bytes", 10, {1, 0, 6, 4, 0, 20, 2, 2, 1, 0}},
		{"lines of too many", 10, {1, 0, 6, 4, 0, 20, 2, 2, 3, 0}},
		{"no lines", 5, {1, 0, 6, 4, 0}},
		{"listed twice", 19, {2, 0, 6, 4, 0, 20, 2, 2, 2, 0, 0, 6, 4, 0, 20, 2, 2, 2, 0}},
		{"bytes left over", 11, {1, 0, 6, 4, 0, 20, 2, 2, 2, 0, 0}},
	};
	struct trace_location got;
	struct tables t;

	open_tables(&t, 2);
	assert_int_equal(take(&t, function, sizeof(function), false), 0);
	for (size_t i = 0; i < N_OF(all); i++) {
		if (take(&t, all[i].bytes, all[i].size, true) != -EBADMSG)
			fail_msg("%s: taken", all[i].what);
		assert_int_equal(function_table__n_with_lines(t.functions), 0);
	}
	assert_int_equal(take(&t, good, sizeof(good), true), 0);
	assert_true(function_table__locate(t.functions, 12, &got));
	assert_struct(got, line, 9, file, "file_1");
	/* The call is before the return address: at a change of lines, its line is the earlier. */
	assert_true(function_table__locate(t.functions, 13, &got));
	assert_int_equal(got.line, 10);
	close_tables(&t);
}

/* ---- Function list --------------------------------------------------------------------------- */

#define _byte_buffer_	__cleanup(byte_buffer__destroy)
#define _function_list_ __cleanup(function_list__destroy)

static int add(struct function_list *l, uint32_t first, uint32_t size)
{
	const struct trace_function f = {.first = first, .size = size, .addr = 77};

	return function_list__add(l, &f, 3, 4);
}

TEST_CASE(ranges_are_one_pc_value_table)
{
	/* n, base; locations: 4 of function 0, 2 of none, 1 of 1; library, address, name of each */
	static const uint8_t want[] = {2, 5, 2, 4, 1, 2, 4, 1, 0, 3, 77, 4, 3, 77, 4};
	static const uint8_t next[] = {1, 12, 6, 1, 0, 3, 77, 4};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(function_list__end(&l), 1);
	must(add(&l, 5, 3), add(&l, 11, 0), function_list__payload(&l, &b));
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	assert_int_equal(function_list__end(&l), 12);
	byte_buffer__clear(&b);
	must(add(&l, 12, 0), function_list__payload(&l, &b));
	assert_int_equal(b.size, sizeof(next));
	assert_memory_equal(b.data, next, sizeof(next));
}

TEST_CASE(ranges_that_overlap_or_do_not_fit_are_refused)
{
	_function_list_ struct function_list l = {0};

	assert_int_equal(add(&l, 0, 1), -EINVAL);
	assert_int_equal(add(&l, 5, 3), 0);
	assert_int_equal(add(&l, 8, 3), -EINVAL);
	assert_int_equal(add(&l, 2, 1), -EINVAL);
	assert_int_equal(add(&l, 10, UINT32_MAX - 10), -EINVAL);
	assert_int_equal(add(&l, UINT32_MAX, 0), -EINVAL);
	assert_int_equal(l.n, 1);
	assert_int_equal(add(&l, 10, UINT32_MAX - 11), 0);
	assert_int_equal(function_list__end(&l), UINT32_MAX);
	assert_int_equal(add(&l, UINT32_MAX, 0), -EINVAL);
}

TEST_CASE(lines_are_two_pc_value_tables)
{
	/* function 0; files: none for 1 byte, 2 for 9; lines: 0 for 1, 100 for 3, 99 for 6 */
	static const uint8_t want[] = {0, 2, 1, 6, 9, 0, 2, 1, 0xc8, 1, 3, 1, 6, 0};
	static const struct trace_line rows[] = {{1, 2, 100}, {4, 2, 99}};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	must(add(&l, 5, 10), function_list__lines(&l, 5, rows, 2, 3, &b));
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
}

TEST_CASE(function_list_lines_that_do_not_fit_are_refused)
{
	static const struct trace_line back[] = {{1, 0, 5}, {1, 0, 6}};
	static const struct trace_line beyond[] = {{0, 0, 5}, {10, 0, 6}};
	static const struct trace_line file[] = {{0, 3, 5}};
	static const struct trace_line none[] = {{0, 3, 0}};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), -EINVAL);
	must(add(&l, 5, 10), add(&l, 20, 0));
	assert_int_equal(function_list__lines(&l, 6, none, 1, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 20, none, 1, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, back, 2, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, beyond, 2, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, file, 1, 3, &b), -EINVAL);
	assert_int_equal(b.size, 0);
	/* A row without a line needs no file. Only the second attempt is refused. */
	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), 0);
	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), -EINVAL);
	byte_buffer__clear(&b);
	assert_int_equal(function_list__lines(&l, 20, NULL, 0, 3, &b), 0);
	assert_int_equal(b.size, 0);
}

TEST_CASE(lines_beyond_a_chunk_are_refused)
{
	enum { N = 800000 };
	_free_ struct trace_line *rows = calloc(N, sizeof(*rows));
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	for (uint32_t i = 0; i < N; i++)
		rows[i] = (struct trace_line){i, 0, i % 2 ? 10 : 100000};
	assert_int_equal(add(&l, 5, N), 0);
	assert_int_equal(function_list__lines(&l, 5, rows, N, 1, &b), -E2BIG);
	assert_int_equal(b.size, 0);
	assert_int_equal(function_list__lines(&l, 5, rows, 1000, 1, &b), 0);
	assert_true(l.line_bytes >= 1000 && l.line_bytes <= b.size);
}

TEST_CASE(lines_beyond_a_trace_are_refused)
{
	const struct trace_line row = {0, 0, 1};
	_function_list_ struct function_list l = {.line_bytes = QPT_LINE_BYTES_MAX - 3};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(add(&l, 5, 10), 0);
	assert_int_equal(function_list__lines(&l, 5, &row, 1, 1, &b), -E2BIG);
	assert_int_equal(b.size, 0);
	l.line_bytes = 0;
	assert_int_equal(function_list__lines(&l, 5, &row, 1, 1, &b), 0);
}

/* ---- Locations ------------------------------------------------------------------------------- */

#define N_LIBRARIES 5
#define N_FUNCTIONS 400 /* per library */

/* The expected range of a function. */
struct model {
	uint32_t size;
	uint32_t start; /* 0: not touched yet */
};

static uint32_t touch(struct locations *l, uint64_t key, uint32_t size, uint32_t offset, bool new)
{
	uint32_t locindex = 0;
	bool is_new = !new;

	assert_int_equal(locations__index(l, key, size, offset, &locindex, &is_new), 0);
	assert_int_equal(is_new, new);
	return locindex;
}

TEST_CASE(numbers_follow_the_order_of_first_touches)
{
	_locations_ struct locations *l = NULL;

	assert_int_equal(locations__new(&l), 0);
	/* 0 means "none", so the first is 1. A function of 10 bytes takes 11 numbers. */
	assert_int_equal(touch(l, 70, 10, 4, true), 5);
	assert_int_equal(touch(l, 30, 0, 0, true), 12);
	assert_int_equal(touch(l, 50, 3, 3, true), 16);
	assert_int_equal(touch(l, 70, 10, 0, false), 1);
	assert_int_equal(touch(l, 70, 10, 10, false), 11);
	assert_int_equal(touch(l, 50, 3, 0, false), 13);
}

/* A function's key contains its library, so libraries do not collide. */
TEST_CASE(every_location_has_its_own_number)
{
	static struct model all[N_LIBRARIES * N_FUNCTIONS];
	struct rng rng = rng_new();
	_locations_ struct locations *l = NULL;
	uint64_t next = 1;

	assert_int_equal(locations__new(&l), 0);
	for (int i = 0; i < N_LIBRARIES * N_FUNCTIONS; i++)
		all[i] = (struct model){rng_below(&rng, 5000), 0};
	for (int i = 0; i < 50000; i++) {
		uint32_t library = rng_below(&rng, N_LIBRARIES);
		uint32_t function = rng_below(&rng, N_FUNCTIONS);
		struct model *m = &all[library * N_FUNCTIONS + function];
		uint32_t offset = rng_below(&rng, m->size + 1);
		uint64_t key = (uint64_t)library << 56 | (uint64_t)function * 16;
		uint32_t locindex = touch(l, key, m->size, offset, !m->start);

		if (!m->start) {
			m->start = next;
			next += m->size + 1;
		}
		assert_int_equal(locindex, m->start + offset);
	}
}

TEST_CASE(offsets_beyond_the_function_are_refused)
{
	_locations_ struct locations *l = NULL;
	uint32_t locindex = 77;
	bool is_new;

	assert_int_equal(locations__new(&l), 0);
	assert_int_equal(locations__index(l, 1, 8, 9, &locindex, &is_new), -EINVAL);
	assert_int_equal(locations__index(l, 1, 8, UINT32_MAX, &locindex, &is_new), -EINVAL);
	assert_int_equal(locindex, 77);
	/* A refused index does not touch the function. */
	assert_int_equal(touch(l, 1, 8, 8, true), 9);
}

TEST_CASE(numbers_that_run_out_are_refused_and_never_wrap)
{
	_locations_ struct locations *l = NULL;
	uint32_t locindex = 77;
	bool is_new;

	assert_int_equal(locations__new(&l), 0);
	assert_int_equal(locations__index(l, 9, UINT32_MAX, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(touch(l, 1, UINT32_MAX - 100, 0, true), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(locations__index(l, 2, 98, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(locindex, 77);
	/* A smaller function still fits, and existing numbers stay. */
	assert_int_equal(touch(l, 3, 97, 97, true), UINT32_MAX - 1);
	assert_int_equal(locations__index(l, 4, 0, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(touch(l, 1, UINT32_MAX - 100, UINT32_MAX - 100, false), UINT32_MAX - 99);
	assert_int_equal(touch(l, 3, 97, 0, false), UINT32_MAX - 98);
}

/* Two traces with the same touches have the same numbers. */
TEST_CASE(numbers_depend_on_touches_alone)
{
	_locations_ struct locations *a = NULL, *b = NULL;
	struct rng rng = rng_new();

	must(locations__new(&a), locations__new(&b));
	for (int i = 0; i < 10000; i++) {
		uint64_t key = rng_below(&rng, 3000) * 0x9e3779b97f4a7c15;
		uint32_t size = key >> 52, offset = rng_below(&rng, size + 1), of_a, of_b;
		bool new_a, new_b;

		assert_int_equal(locations__index(a, key, size, offset, &of_a, &new_a), 0);
		assert_int_equal(locations__index(b, key, size, offset, &of_b, &new_b), 0);
		assert_int_equal(of_a, of_b);
		assert_int_equal(new_a, new_b);
	}
}

TEST_MAIN(NULL, NULL)
