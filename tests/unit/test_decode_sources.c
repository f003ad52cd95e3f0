// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/sources.h"

#include "test.h"

static const struct wire_layout_places layout = {.known = 1, .first = 1, .step = 2};

static struct sources s;

static int teardown(void **state)
{
	sources__clear(&s);
	return 0;
}

static int add(uint8_t table, uint32_t number, uint32_t offset, const void *bytes, uint32_t size)
{
	struct wire_piece *r = calloc(1, sizeof(*r));
	int err;

	r->table = table;
	r->number = number;
	r->offset = offset;
	r->size = size;
	memcpy(r->bytes, bytes, size);
	err = sources__add(&s, r);
	free(r);
	return err;
}

/* That of definition 0. Bucket 0 has those of 0 to 2, bucket 1 those of 3 to 14. */
static void add_span(uint64_t span)
{
	assert_int_equal(add(WIRE_TABLE_SPANS, 0, 0, &span, 8), 0);
}

static uint64_t span(uint32_t position, uint64_t length, uint64_t context)
{
	return context << 48 | length << 32 | position;
}

static void add_file(uint32_t number, uint32_t start, uint32_t length, uint32_t n_lines,
		     const char *name)
{
	uint32_t bytes[64] = {number, start, length, n_lines, (uint32_t)strlen(name)};
	uint32_t size = 20 + ((uint32_t)strlen(name) + 3) / 4 * 4;

	memcpy(&bytes[5], name, strlen(name));
	assert_int_equal(add(WIRE_TABLE_FILES, 0, 0, bytes, size), 0);
}

#define ADD_LINES(number, offset, ...)                                                          \
	do {                                                                                    \
		const uint32_t lines_[] = {__VA_ARGS__};                                        \
                                                                                                \
		assert_int_equal(add(WIRE_TABLE_LINES, number, offset, lines_, sizeof(lines_)), \
				 0);                                                            \
	} while (0)

static void assert_place(uint32_t index, const char *name, uint32_t line, uint32_t context)
{
	struct place p;

	assert_true(sources__find(&s, &layout, index, &p));
	assert_string_equal(sources__name(&s, p.file), name);
	assert_struct(p, line, line, context, context);
}

static void assert_no_place(uint32_t index)
{
	struct place p;

	assert_false(sources__find(&s, &layout, index, &p));
}

static void add_two_files(void)
{
	ADD_LINES(7, 0, 0, 10, 20);
	add_file(7, 101, 30, 3, "src/b.rs");
	add_file(6, 0, 100, 2, "src/a.rs");
	ADD_LINES(6, 0, 0, 50);
}

TEST_CASE_WITH(a_position_is_in_a_line_of_a_file, NULL, teardown)
{
	static const struct {
		uint32_t position;
		const char *name;
		uint32_t line;
	} rows[] = {{1, "src/a.rs", 1},	  {49, "src/a.rs", 1},	{50, "src/a.rs", 2},
		    {100, "src/a.rs", 2}, {101, "src/b.rs", 1}, {110, "src/b.rs", 1},
		    {111, "src/b.rs", 2}, {131, "src/b.rs", 3}};

	for (size_t i = 0; i < N_OF(rows); i++) {
		sources__clear(&s);
		add_two_files();
		add_span(span(rows[i].position, 5, 0));
		assert_place(0, rows[i].name, rows[i].line, 0);
	}
	sources__clear(&s);
	add_two_files();
	add_span(span(132, 5, 0));
	assert_no_place(0);
}

TEST_CASE_WITH(buckets_follow_one_another, NULL, teardown)
{
	uint64_t spans[12];

	add_two_files();
	for (uint32_t i = 0; i < 12; i++)
		spans[i] = span(101 + i, 1, i);
	assert_int_equal(add(WIRE_TABLE_SPANS, 0, 0, spans, 24), 0);
	assert_int_equal(add(WIRE_TABLE_SPANS, 1, 0, spans, 96), 0);
	assert_place(0, "src/b.rs", 1, 0);
	assert_place(2, "src/b.rs", 1, 2);
	assert_place(3, "src/b.rs", 1, 0);
	assert_place(14, "src/b.rs", 2, 11);
	assert_no_place(15);
	assert_no_place(UINT32_MAX);
}

TEST_CASE_WITH(spans_have_four_forms, NULL, teardown)
{
	const uint32_t interned[] = {9, 120, 77};

	add_two_files();
	assert_int_equal(add(WIRE_TABLE_INTERNED, 0, 0, interned, sizeof(interned)), 0);
	add_span(span(120, 0x7ffe, 0x7ffe));
	assert_place(0, "src/b.rs", 2, 0x7ffe);
	sources__clear(&s);
	add_two_files();
	assert_int_equal(add(WIRE_TABLE_INTERNED, 0, 0, interned, sizeof(interned)), 0);
	{
		const uint64_t spans[] = {span(120, 0x8005, 3), span(9, 0xffff, 5),
					  span(9, 0xffff, 0xffff)};

		assert_int_equal(add(WIRE_TABLE_SPANS, 1, 0, spans, sizeof(spans)), 0);
	}
	assert_place(3, "src/b.rs", 2, 0);
	assert_place(4, "src/b.rs", 2, 5);
	assert_place(5, "src/b.rs", 2, 77);
	add_span(span(8, 0xffff, 5));
	assert_no_place(0);
}

TEST_CASE_WITH(a_span_of_zeroes_is_none, NULL, teardown)
{
	add_two_files();
	add_span(0);
	assert_no_place(0);
}

TEST_CASE_WITH(a_file_whose_lines_are_wrong_has_none, NULL, teardown)
{
	add_span(span(101, 5, 0));
	add_file(1, 101, 30, 3, "src/b.rs");
	ADD_LINES(1, 0, 0, 10);
	assert_no_place(0); /* fewer than it is said to have */
	ADD_LINES(1, 8, 10);
	s.sorted = false;
	assert_no_place(0); /* not ascending */
	sources__clear(&s);
	add_span(span(101, 5, 0));
	add_file(1, 101, 30, 1, "src/b.rs");
	ADD_LINES(1, 0, 1);
	assert_no_place(0); /* the first one does not begin where the file does */
	sources__clear(&s);
	add_span(span(101, 5, 0));
	add_file(1, 101, 30, 0, "src/b.rs");
	assert_no_place(0);
}

TEST_CASE_WITH(lines_may_come_in_pieces_and_not_twice, NULL, teardown)
{
	add_span(span(121, 5, 0));
	ADD_LINES(1, 0, 0, 10);
	ADD_LINES(1, 4, 15); /* overlaps: ignored */
	ADD_LINES(1, 8, 20);
	ADD_LINES(2, 4, 3); /* no beginning: ignored */
	ADD_LINES(1, 0, 0, 1, 2);
	add_file(1, 101, 30, 3, "src/b.rs");
	assert_place(0, "src/b.rs", 3, 0);
}

TEST_CASE_WITH(a_name_has_no_control_characters, NULL, teardown)
{
	add_span(span(101, 5, 0));
	ADD_LINES(1, 0, 0);
	add_file(1, 101, 30, 1, "src/\x1b[31m.rs");
	assert_no_place(0);
	add_file(1, 101, 30, 1, "");
	assert_no_place(0);
	add_file(1, 101, 30, 1, "src/\xc3\xbc.rs");
	assert_place(0, "src/\xc3\xbc.rs", 1, 0);
}

TEST_CASE_WITH(malformed_pieces_are_refused, NULL, teardown)
{
	const uint32_t file[] = {1, 2, 3, 4, WIRE_FILE_NAME_MAX + 1, 0};
	const uint32_t cut[] = {1, 2, 3, 4, 8, 0x61616161};

	assert_int_equal(add(WIRE_TABLE_SPANS, SOURCES_BUCKETS, 0, file, 8), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_SPANS, 0, UINT32_MAX, file, 8), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_INTERNED, 0, 0, file, 13), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_FILES, 0, 0, file, 19), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_FILES, 0, 0, file, sizeof(file)), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_FILES, 0, 0, cut, sizeof(cut)), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_LINES, 0, 0, file, 6), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_CONTEXTS, 0, UINT32_MAX, file, 8), -EBADMSG);
	assert_int_equal(add(WIRE_TABLE_EXPANSIONS, 0, SOURCES_BYTES_MAX, file, 8), -EBADMSG);
	assert_int_equal(add(99, 0, 0, file, 4), -EBADMSG);
}

TEST_CASE_WITH(an_unknown_layout_has_no_places, NULL, teardown)
{
	const struct wire_layout_places unknown = {.first = 1, .step = 2};
	struct place p;

	add_two_files();
	add_span(span(101, 5, 0));
	assert_false(sources__find(&s, &unknown, 0, &p));
}

/* A context is a crate and the number of an expansion; that is the span of its call, and a kind. */
static const struct wire_layout_calls calls = {
	.context_size = 8, .number = 4, .expansion_size = 12, .call = 4, .kind = 1, .tag = 3};

static void add_context(uint32_t context, uint32_t crate, uint32_t expansion)
{
	const uint32_t bytes[] = {crate, expansion};

	assert_int_equal(add(WIRE_TABLE_CONTEXTS, 0, context * 8, bytes, 8), 0);
}

static void add_expansion(uint32_t expansion, uint8_t kind, uint64_t call)
{
	uint8_t bytes[12] = {9, kind};

	memcpy(bytes + 4, &call, 8);
	assert_int_equal(add(WIRE_TABLE_EXPANSIONS, 0, expansion * 12, bytes, 12), 0);
}

static void assert_call(uint32_t context, const char *name, uint32_t line)
{
	const struct place of = {.context = context};
	struct place p;

	assert_true(sources__call(&s, &calls, &of, &p));
	assert_string_equal(sources__name(&s, p.file), name);
	assert_int_equal(p.line, line);
}

static void assert_no_call(uint32_t context)
{
	const struct place of = {.context = context};
	struct place p;

	assert_false(sources__call(&s, &calls, &of, &p));
}

TEST_CASE_WITH(what_a_macro_made_has_the_outermost_call, NULL, teardown)
{
	const uint32_t interned[] = {9, 50, 1};

	add_two_files();
	add_context(1, 0, 1);
	add_context(2, 0, 2);
	add_context(3, 0, 3);
	add_context(4, 0, 4);
	add_expansion(1, 3, span(111, 5, 0));
	add_expansion(2, 3, span(1, 5, 1)); /* called in what 1 made */
	add_expansion(3, 2, span(1, 5, 0)); /* no macro */
	add_expansion(4, 2, span(9, 0xffff, 0xffff));
	assert_int_equal(add(WIRE_TABLE_INTERNED, 0, 0, interned, sizeof(interned)), 0);
	assert_no_call(0);
	assert_call(1, "src/b.rs", 2);
	assert_call(2, "src/b.rs", 2);
	assert_no_call(3);
	assert_call(4, "src/b.rs", 2); /* no macro, in what 1 made */
}

TEST_CASE_WITH(wrong_contexts_have_no_call, NULL, teardown)
{
	const struct wire_layout_calls unknown = {0};
	const struct place of = {.context = 1};
	struct place p;

	add_two_files();
	assert_no_call(1); /* no tables */
	add_context(1, 0, 1);
	assert_no_call(1); /* no expansions */
	add_expansion(1, 3, span(5000, 5, 0));
	assert_no_call(1); /* in no file */
	assert_no_call(2);
	assert_no_call(UINT32_MAX);
	add_context(2, 7, 1);
	assert_no_call(2); /* of another crate */
	add_context(3, 0, UINT32_MAX);
	assert_no_call(3);
	add_expansion(2, 3, span(1, 0xffff, 0)); /* interned, and not at hand */
	add_context(4, 0, 2);
	assert_no_call(4);
	add_context(6, 0, 3); /* 5 was not copied, nor the call of 0 */
	add_expansion(3, 3, span(1, 5, 7));
	add_expansion(4, 3, span(1, 5, 6));
	add_context(7, 0, 4);
	assert_no_call(5);
	assert_no_call(6); /* a cycle */
	assert_false(sources__call(&s, &unknown, &of, &p));
}

TEST_MAIN(NULL, NULL)
