// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/definitions.h"

#include "test.h"
#include "../fixtures/names.h"

static struct definitions all;
static struct dependencies crates;
static struct names out;
static struct plan_layout layout;

#define N 400

/* Of paths: definition `i` is called by its number; 0 is the root. */
static struct {
	uint32_t parent[N];
	uint32_t strings[N];
	bool missing[N], nameless[N];
	bool keeps; /* strings */
	uint32_t asked;
} source;

static int setup(void **state)
{
	layout = names_layout();
	memset(&source, 0, sizeof(source));
	for (uint32_t i = 0; i < N; i++)
		source.parent[i] = i ? i - 1 : PATHS_ROOT;
	return 0;
}

static int teardown(void **state)
{
	definitions__clear(&all);
	dependencies__destroy(&crates);
	names_clear(&out);
	return 0;
}

#define CASE(name) TEST_CASE_WITH(name, setup, teardown)

static int string_of(uint32_t index, uint32_t *id)
{
	const struct decoder_sink sink = names_sink(&out);

	return definitions__string(&all, &layout, "a", index, &sink, id);
}

/* The path of a definition, or NULL. */
static const char *path(uint32_t index)
{
	uint32_t id = 0;

	assert_int_equal(string_of(index, &id), 0);
	return id == TRACE_NO_STRING ? NULL : out.strings[id];
}

static void assert_unnamed(uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		if (path(i))
			fail_msg("definition %u is called %.80s", i, path(i));
}

static void add(const struct wire_piece *r)
{
	assert_int_equal(definitions__add(&all, r), 0);
}

/* The root, and these rows: tag, symbol, disambiguator and parent. */
#define add_table(...)                               \
	add_rows((const uint32_t[][4]){__VA_ARGS__}, \
		 sizeof((const uint32_t[][4]){__VA_ARGS__}) / 16)

static void add_rows(const uint32_t (*rows)[4], size_t n)
{
	struct wire_piece r = names_piece(1, 0);

	names_root(&r);
	for (size_t i = 0; i < n; i++)
		names_row(&r, rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
	add(&r);
}

static void add_texts(const struct wire_symbols *r)
{
	assert_int_equal(definitions__add_symbols(&all, r), 0);
}

/* The fixed symbols, and "one", "two" and "three" from SYMBOL_FIRST on. */
static void add_usual_texts(void)
{
	struct wire_symbols r = names_texts(1);

	names_symbol(&r, SYMBOL_CRATE, "crate");
	names_symbol(&r, SYMBOL_IMPL, "impl");
	names_symbol(&r, SYMBOL_PLAIN, "'_");
	names_symbol(&r, SYMBOL_FIRST, "one");
	names_symbol(&r, SYMBOL_FIRST + 1, "two");
	names_symbol(&r, SYMBOL_FIRST + 2, "three");
	add_texts(&r);
}

CASE(a_path_is_printed_as_rustc_prints_it)
{
	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0}, {TAG_IMPL, 77, 0, 1}, {TAG_IMPL, 77, 3, 1},
		  {TAG_NAMED, SYMBOL_FIRST + 1, 0, 3}, {TAG_NAMED, SYMBOL_FIRST + 1, UINT32_MAX, 3},
		  {TAG_PLAIN, 0, 2, 4});
	add_usual_texts();
	assert_string_equal(path(6), "a::one::{{impl}}[3]::two::'_[2]");
	assert_string_equal(path(0), "a");
	assert_string_equal(path(1), "a::one");
	assert_string_equal(path(2), "a::one::{{impl}}");
	assert_string_equal(path(5), "a::one::{{impl}}[3]::two[4294967295]");
	assert_null(path(7));
	assert_null(path(UINT32_MAX));
}

/* As of an adopted process whose command line could not be read. */
CASE(a_crate_without_a_name_is_called_crate)
{
	const struct decoder_sink sink = names_sink(&out);
	struct wire_piece r = names_piece(1, 0);
	uint32_t id;

	names_root(&r);
	add(&r);
	assert_int_equal(definitions__string(&all, &layout, NULL, 0, &sink, &id), 0);
	assert_string_equal(out.strings[id], "crate");
}

/* Strings are asked for once: a name stays what it was. */
CASE(a_second_copy_adds_nothing)
{
	struct wire_symbols texts = names_texts(1);

	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0});
	add_usual_texts();
	add_table({TAG_NAMED, SYMBOL_FIRST + 1, 0, 0});
	names_symbol(&texts, SYMBOL_FIRST, "other");
	add_texts(&texts);
	assert_int_equal(all.table.size, 2 * NAMES_ROW);
	assert_string_equal(path(1), "a::one");
}

/* The names of what is there do not depend on what is not. */
CASE(a_lost_piece_takes_the_names_within_it_only)
{
	struct wire_piece first = names_piece(1, 0);
	struct wire_piece third = names_piece(1, 400 * NAMES_ROW);
	struct wire_piece far = names_piece(1, 0);

	names_root(&first);
	names_row(&first, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_row(&third, TAG_NAMED, SYMBOL_FIRST + 1, 0, 1);
	names_row(&third, TAG_NAMED, SYMBOL_FIRST + 1, 0, 300);
	add(&first);
	add(&third);
	add_usual_texts();
	assert_unnamed(2, 399);
	assert_string_equal(path(400), "a::one::two");
	assert_unnamed(401, 401);
	far.offset = (uint32_t)all.table.size + DEFINITIONS_GAP_MAX + 1;
	assert_int_equal(definitions__add(&all, &far), -EBADMSG);
	assert_int_equal(all.table.size, 402 * NAMES_ROW);
	far.offset--;
	assert_int_equal(definitions__add(&all, &far), 0);
	assert_int_equal(all.table.size, 402 * NAMES_ROW + DEFINITIONS_GAP_MAX);
}

CASE(parents_that_are_no_parents_give_no_name)
{
	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 1},		 /* itself */
		  {TAG_NAMED, SYMBOL_FIRST, 0, 3},		 /* a cycle of two */
		  {TAG_NAMED, SYMBOL_FIRST, 0, 2},		 /* the other */
		  {TAG_NAMED, SYMBOL_FIRST, 0, 6},		 /* younger */
		  {TAG_NAMED, SYMBOL_FIRST, 0, NAMES_NO_PARENT}, /* no root */
		  {TAG_ROOT, 0, 0, 0},				 /* a root with a parent */
		  {TAG_ROOT, 0, 0, UINT32_MAX}, {TAG_NAMED, SYMBOL_FIRST, 0, 1000000});
	add_usual_texts();
	assert_unnamed(1, 8);
	assert_string_equal(path(0), "a");
}

CASE(tags_that_are_unknown_give_no_name)
{
	static const uint32_t tags[] = {TAG_UNKNOWN, WIRE_TAGS - 1, WIRE_TAGS, UINT32_MAX};
	struct wire_piece r = names_piece(1, 0);

	names_root(&r);
	for (size_t i = 0; i < N_OF(tags); i++) {
		names_row(&r, tags[i], SYMBOL_FIRST, 0, 0);
		names_row(&r, TAG_NAMED, SYMBOL_FIRST, 0, 1 + 2 * (uint32_t)i);
	}
	add(&r);
	add_usual_texts();
	assert_unnamed(1, 2 * N_OF(tags));
}

CASE(symbols_without_a_text_give_no_name)
{
	struct wire_symbols texts = names_texts(1);

	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0}, /* never sent */
		  {TAG_NAMED, 500, 0, 0},	   /* empty */
		  {TAG_IMPL, 0, 0, 0},		   /* a fixed one that was not sent */
		  {TAG_NAMED, 501, 0, 2},	   /* named, but its parent is not */
		  {TAG_NAMED, 501, 0, 0});
	names_symbol(&texts, 500, "");
	names_symbol(&texts, 501, "named");
	add_texts(&texts);
	assert_unnamed(1, 4);
	assert_string_equal(path(5), "a::named");
}

CASE(no_table_and_no_layout_give_no_name)
{
	struct wire_piece r = names_piece(1, 0);

	assert_unnamed(0, 2);
	names_root(&r);
	r.size--;
	add(&r);
	assert_unnamed(0, 0);
	layout.wire.size = 0;
	assert_unnamed(0, 0);
}

/* A chain of `n` definitions below the root: definition i has i segments behind the crate's. */
static void add_chain(uint32_t n)
{
	struct wire_piece r = names_piece(1, 0);

	names_root(&r);
	for (uint32_t i = 1; i <= n; i++) {
		if (r.size == WIRE_PIECE_MAX) {
			add(&r);
			r = names_piece(1, i * NAMES_ROW);
		}
		names_row(&r, TAG_NAMED, SYMBOL_FIRST, 0, i - 1);
	}
	add(&r);
}

#define LONGEST (PATHS_DEPTH_MAX - 1)

CASE(a_path_that_is_too_long_gives_no_name)
{
	add_chain(299);
	add_usual_texts();
	assert_unnamed(LONGEST + 1, 299);
	assert_int_equal(strlen(path(LONGEST)), 1 + 5 * LONGEST);
}

/* An earlier path must not lend its string: a trace nests strings 255 deep at most. */
CASE(a_long_path_has_no_name_in_whatever_order)
{
	add_chain(299);
	add_usual_texts();
	for (uint32_t i = 0; i <= LONGEST; i++)
		assert_non_null(path(i));
	assert_unnamed(LONGEST + 1, 299);
}

CASE(the_longest_text_fits)
{
	struct wire_symbols texts = names_texts(1);
	char longest[WIRE_SYMBOL_MAX + 1] = {0}, want[WIRE_SYMBOL_MAX + 32];

	memset(longest, 'x', WIRE_SYMBOL_MAX);
	add_table({TAG_IMPL, 0, UINT32_MAX, 0});
	names_symbol(&texts, SYMBOL_IMPL, longest);
	add_texts(&texts);
	snprintf(want, sizeof(want), "a::{{%s}}[4294967295]", longest);
	assert_string_equal(path(1), want);
}

static void assert_refused(struct wire_symbols *r, uint32_t size)
{
	size_t texts = all.texts.size;

	r->size = size;
	assert_int_equal(definitions__add_symbols(&all, r), -EBADMSG);
	assert_int_equal(all.texts.size, texts);
}

CASE(a_malformed_record_of_symbols_changes_nothing)
{
	struct wire_symbols r = names_texts(1);
	uint32_t size;

	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0});
	names_symbol(&r, SYMBOL_FIRST, "one");
	size = r.size;
	names_symbol(&r, SYMBOL_FIRST + 1, "two");
	for (uint32_t n = size + 1; n < r.size; n++) {
		struct wire_symbols cut = r;

		assert_refused(&cut, n);
	}
	bytes_store_u32(r.bytes + size + 4, 5);
	assert_refused(&r, r.size);
	bytes_store_u32(r.bytes + size + 4, UINT32_MAX);
	assert_refused(&r, r.size);
	memset(r.bytes + size + 4, 'x', sizeof(r.bytes) - size - 4);
	bytes_store_u32(r.bytes + size + 4, WIRE_SYMBOL_MAX + 1);
	assert_refused(&r, size + 8 + WIRE_SYMBOL_MAX + 4);
	assert_unnamed(1, 1);
	r.size = size;
	add_texts(&r);
	assert_string_equal(path(1), "a::one");
}

CASE(a_text_with_a_nul_costs_its_own_symbol_only)
{
	struct wire_symbols r = names_texts(1);

	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0}, {TAG_NAMED, SYMBOL_FIRST + 1, 0, 0});
	names_text(&r, SYMBOL_FIRST, "t\0o", 3);
	names_symbol(&r, SYMBOL_FIRST + 1, "two");
	add_texts(&r);
	assert_unnamed(1, 1);
	assert_string_equal(path(2), "a::two");
}

CASE(an_error_of_the_sink_comes_back)
{
	uint32_t id = 5;

	add_table({TAG_NAMED, SYMBOL_FIRST, 0, 0});
	add_usual_texts();
	out.err = -EIO;
	assert_int_equal(string_of(1, &id), -EIO);
	assert_int_equal(id, TRACE_NO_STRING);
	out.err = 0;
	assert_string_equal(path(1), "a::one");
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static bool step(void *ctx, uint32_t index, struct path_step *to)
{
	if (index >= N || source.missing[index])
		return false;
	to->parent = source.parent[index];
	to->string = source.keeps ? &source.strings[index] : NULL;
	return true;
}

static const char *segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	source.asked++;
	snprintf(buf, PATHS_SEGMENT_MAX, "%u", index);
	return source.nameless[index] ? NULL : buf;
}

static int find(uint32_t index, uint32_t *id)
{
	const struct path_source from = {.step = step, .segment = segment};
	const struct decoder_sink sink = names_sink(&out);

	return paths__string(&from, names_string(&out, "a", 0), index, &sink, id);
}

static void assert_path(uint32_t index, const char *expected)
{
	uint32_t id;

	assert_int_equal(find(index, &id), 0);
	if (expected)
		assert_string_equal(out.strings[id], expected);
	else
		assert_int_equal(id, TRACE_NO_STRING);
}

CASE(a_path_begins_at_the_root)
{
	assert_path(0, "a");
	assert_path(3, "a::1::2::3");
	source.parent[3] = 0;
	assert_path(3, "a::3");
}

CASE(what_is_not_below_the_root_has_no_path)
{
	assert_path(N, NULL);
	source.missing[2] = true;
	assert_path(2, NULL);
	assert_path(4, NULL);
	assert_path(1, "a::1");
	/* A cycle. */
	source.parent[6] = 7;
	assert_path(7, NULL);
	source.parent[8] = 8;
	assert_path(8, NULL);
	source.parent[9] = PATHS_ROOT - 1;
	assert_path(9, NULL);
}

CASE(a_segment_without_a_name_takes_its_children_with_it)
{
	source.nameless[2] = true;
	assert_path(1, "a::1");
	assert_path(2, NULL);
	assert_path(3, NULL);
}

CASE(the_depth_is_limited)
{
	uint32_t id;

	assert_int_equal(find(PATHS_DEPTH_MAX - 1, &id), 0);
	assert_int_not_equal(id, TRACE_NO_STRING);
	source.keeps = true;
	assert_path(PATHS_DEPTH_MAX, NULL);
}

CASE(kept_strings_are_not_made_again)
{
	source.keeps = true;
	assert_path(3, "a::1::2::3");
	assert_int_equal(source.asked, 3);
	assert_path(3, "a::1::2::3");
	assert_path(2, "a::1::2");
	assert_int_equal(source.asked, 3);
	assert_path(5, "a::1::2::3::4::5");
	assert_int_equal(source.asked, 5);
}

CASE(paths_an_error_of_the_sink_comes_back)
{
	uint32_t id;

	names_string(&out, "a", 0);
	out.err = -ENOSPC;
	assert_int_equal(find(1, &id), -ENOSPC);
}

/* ---- Dependencies ---------------------------------------------------------------------------- */

/* A crate with `n` definitions, all called `text` and below the root. */
static void add_all(uint64_t id, uint32_t n, const char *text)
{
	struct wire_symbols texts = names_texts(1);
	struct definitions d = {0};
	struct wire_piece r = names_piece(1, 0);

	names_symbol(&texts, SYMBOL_FIRST, text);
	names_root(&r);
	for (uint32_t i = 1; i < n; i++)
		names_row(&r, TAG_NAMED, SYMBOL_FIRST, i, 0);
	must(definitions__add(&d, &r), definitions__add_symbols(&d, &texts),
	     dependencies__add_all(&crates, id, &d, &layout));
	definitions__clear(&d);
}

static void assert_string(uint64_t id, uint32_t index, const char *expected)
{
	const struct decoder_sink sink = names_sink(&out);
	uint32_t root = names_string(&out, "c", 0), string;

	must(dependencies__string(&crates, id, root, index, &sink, &string));
	if (expected)
		assert_string_equal(out.strings[string], expected);
	else
		assert_int_equal(string, TRACE_NO_STRING);
}

CASE(a_crate_that_was_compiled_is_known)
{
	add_all(7, 3, "x");
	assert_string(7, 0, "c");
	assert_string(7, 2, "c::x[2]");
	assert_string(7, 3, NULL);
	assert_string(8, 2, NULL);
}

CASE(the_last_table_of_a_crate_counts)
{
	add_all(7, 3, "x");
	add_all(7, 2, "y");
	assert_string(7, 1, "c::y[1]");
	assert_string(7, 2, NULL);
	add_all(7, 4, "z");
	assert_string(7, 3, "c::z[3]");
}

CASE(single_definitions_fill_in)
{
	assert_int_equal(dependencies__add(&crates, 7, 0, PATHS_ROOT, "unused"), 0);
	assert_int_equal(dependencies__add(&crates, 7, 9, 0, "nine"), 0);
	assert_int_equal(dependencies__add(&crates, 7, 10, 9, NULL), 0);
	assert_int_equal(dependencies__add(&crates, 7, 9, 0, "again"), 0);
	assert_string(7, 9, "c::nine");
	assert_string(7, 10, NULL);
	assert_string(7, 8, NULL);
	add_all(7, 3, "x");
	assert_string(7, 2, "c::x[2]");
	assert_string(7, 9, "c::nine");
}

CASE(a_text_is_kept_once)
{
	size_t before;

	assert_int_equal(dependencies__add(&crates, 7, 0, PATHS_ROOT, "same"), 0);
	before = crates.texts.size;
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(dependencies__add(&crates, i, i, 0, "same"), 0);
	assert_int_equal(crates.texts.size, before);
}

CASE(memory_is_limited)
{
	uint64_t id = 0;

	while (dependencies__bytes(&crates) + 200 * sizeof(struct dependency_row) <
	       DEPENDENCIES_BYTES_MAX) {
		add_all(++id, 200, "x");
		assert_true(id < 1u << 20);
	}
	for (uint32_t i = 0; i < 1000; i++)
		add_all(++id, 200, "x");
	assert_true(dependencies__bytes(&crates) <= DEPENDENCIES_BYTES_MAX);
	assert_string(1, 3, "c::x[3]");
	assert_string(id, 3, NULL);
}

/* Compilers that lie may name any number of crates. */
CASE(the_number_of_crates_is_limited)
{
	uint64_t id = 0;
	uint32_t n;

	while (dependencies__bytes(&crates) + 2 * sizeof(struct dependency) <
	       DEPENDENCIES_BYTES_MAX) {
		assert_int_equal(dependencies__add(&crates, ++id, 1, 0, "x"), 0);
		assert_true(id < 1u << 22);
	}
	n = crates.crates.n;
	assert_true(n * sizeof(struct dependency) < DEPENDENCIES_BYTES_MAX);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(dependencies__add(&crates, ++id, 1, 0, "x"), 0);
	assert_true(crates.crates.n < n + 3);
}

TEST_MAIN(NULL, NULL)
