// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/keys.h"

#include "test.h"
#include "../fixtures/names.h"

#define OWN KEYS_OWN_IDS

static struct keys keys;
static struct definitions definitions;
static struct crates crates;
static struct dependencies dependencies;
static struct names out;
static struct plan_layout layout;

/* Definitions 0 to 3: the crate, "one", one that has no name, "two". */
static int setup(void **state)
{
	struct wire_piece r = names_piece(1, 0);
	struct wire_symbols texts = names_texts(1);

	layout = names_layout();
	names_root(&r);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_row(&r, TAG_UNKNOWN, 0, 0, 0);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST + 1, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "one");
	names_symbol(&texts, SYMBOL_FIRST + 1, "two");
	return definitions__add(&definitions, &r) ?: definitions__add_symbols(&definitions, &texts);
}

static int teardown(void **state)
{
	keys__clear(&keys);
	definitions__clear(&definitions);
	crates__clear(&crates);
	dependencies__destroy(&dependencies);
	names_clear(&out);
	return 0;
}

static uint64_t local(uint32_t index)
{
	return wire_key(WIRE_KEY_LOCAL_CRATE, index);
}

static void note(uint64_t key, uint32_t invocation)
{
	uint32_t id = invocation;

	assert_int_equal(keys__note(&keys, key, &id), 0);
	assert_int_equal(id, invocation);
}

/* The id that an execution without one gets. */
static uint32_t note_own(uint64_t key)
{
	uint32_t id = TRACE_NO_INVOCATION;

	assert_int_equal(keys__note(&keys, key, &id), 0);
	return id;
}

static int name_all(uint64_t *n_unnamed)
{
	const struct decoder_sink sink = names_sink(&out);
	const struct keys_naming how = {.sink = &sink,
					.definitions = &definitions,
					.crates = &crates,
					.dependencies = &dependencies,
					.layout = &layout,
					.crate = "a",
					.process = 6};

	return keys__name(&keys, &how, n_unnamed);
}

/* Returns the executions without a name. */
static uint64_t name(void)
{
	uint64_t n_unnamed = 0;

	assert_int_equal(name_all(&n_unnamed), 0);
	return n_unnamed;
}

static void assert_name(uint32_t id, const char *expected)
{
	const char *found = names_of(&out, 6, id);

	if (!expected)
		assert_null(found);
	else if (!found)
		fail_msg("%u is not mapped", id);
	else
		assert_string_equal(found, expected);
}

TEST_CASE_WITH(ids_are_mapped_to_what_their_executions_were_about, setup, teardown)
{
	note(local(1), 7);
	note(local(3), 2);
	note(local(0), 3);
	note(local(1), 0);
	assert_int_equal(name(), 0);
	assert_name(7, "a::one");
	assert_name(2, "a::two");
	assert_name(3, "a");
	assert_name(0, "a::one");
	/* One run: what lies between has an empty name. */
	assert_name(1, "");
	assert_name(8, NULL);
	assert_struct(out, n_runs, 1, n_mapped, 8);
}

TEST_CASE_WITH(keys_without_a_name_are_mapped_to_nothing_and_counted, setup, teardown)
{
	note(local(2), 0);	 /* its tag is unknown */
	note(local(4), 1);	 /* beyond the table */
	note(wire_key(1, 1), 2); /* another crate's */
	note(wire_key(WIRE_NO_CRATE - 1, 1), 3);
	note(KEY_UNIT, 4);
	note(local(1), 5);
	assert_int_equal(name(), 4);
	for (uint32_t id = 0; id < 4; id++)
		assert_name(id, "");
	assert_name(4, "()");
	assert_name(5, "a::one");
}

TEST_CASE_WITH(executions_without_an_id_get_one, setup, teardown)
{
	uint32_t first = note_own(local(1)), second = note_own(local(3)), third;

	assert_int_equal(first, OWN);
	assert_int_equal(second, OWN + 1);
	assert_int_equal(name(), 0);
	assert_name(OWN, "a::one");
	assert_name(OWN + 1, "a::two");
	/* Later ones are mapped without the earlier ones. */
	third = note_own(local(3));
	assert_int_equal(third, OWN + 2);
	assert_int_equal(name(), 0);
	assert_name(OWN + 2, "a::two");
	assert_int_equal(out.n_mapped, 3);
	assert_int_equal(name(), 0);
	assert_int_equal(out.n_mapped, 3);
}

/* Spans of a process may come after its exit. They must not take the names of the others. */
TEST_CASE_WITH(late_executions_are_mapped_alone, setup, teardown)
{
	note(local(1), 1);
	note(local(1), 4);
	assert_int_equal(name(), 0);
	note(local(3), 3);
	note(local(3), 6);
	assert_int_equal(name(), 0);
	assert_name(1, "a::one");
	assert_name(3, "a::two");
	assert_name(4, "a::one");
	assert_name(5, NULL);
	assert_name(6, "a::two");
	assert_int_equal(out.n_runs, 3);
}

/* rustc gives an anonymous query that depends on one other that one's id. */
TEST_CASE_WITH(an_id_of_executions_with_several_keys_has_no_name, setup, teardown)
{
	note(local(1), 1);
	note(local(1), 1);
	note(local(1), 2);
	note(local(3), 2);
	note(local(1), 2);
	note(local(1), 3);
	note(KEY_UNIT, 3);
	assert_int_equal(name(), 2);
	assert_name(1, "a::one");
	assert_name(2, "");
	assert_name(3, "");
}

/* Readers show an id that is not mapped as <unknown>. */
TEST_CASE_WITH(an_id_without_a_known_key_has_an_empty_name, setup, teardown)
{
	uint32_t none = TRACE_NO_INVOCATION;

	note(local(1), 1);
	note(0, 4);
	note(0, 5);
	note(local(1), 5);
	assert_int_equal(keys__note(&keys, 0, &none), 0);
	assert_int_equal(none, TRACE_NO_INVOCATION);
	assert_int_equal(name(), 1);
	assert_name(1, "a::one");
	assert_name(4, "");
	/* One of two executions has it. */
	assert_name(5, "");
	/* Late ones, too. */
	note(0, 8);
	assert_int_equal(name(), 0);
	assert_name(1, "a::one");
	assert_name(7, NULL);
	assert_name(8, "");
}

TEST_CASE_WITH(without_a_table_nothing_is_mapped, setup, teardown)
{
	definitions__clear(&definitions);
	note(local(1), 1);
	note(KEY_UNIT, 2);
	note_own(local(1));
	note_own(KEY_UNIT);
	assert_int_equal(name(), 2);
	assert_int_equal(out.n_mapped, 0);
	assert_int_equal(name(), 0);
}

/* The id that an activity about a text gets. */
static uint32_t note_text(const char *text)
{
	const struct decoder_sink sink = names_sink(&out);
	uint32_t string = 0, id = TRACE_NO_INVOCATION;

	assert_int_equal(sink.text(sink.items, text, &string), 0);
	assert_int_equal(keys__note_text(&keys, string, &id), 0);
	return id;
}

TEST_CASE_WITH(a_text_is_mapped_beside_the_names, setup, teardown)
{
	assert_int_equal(note_own(local(1)), OWN);
	assert_int_equal(note_text("x-cgu.0"), OWN + 1);
	assert_int_equal(note_text("x-cgu.0"), OWN + 2);
	assert_int_equal(name(), 0);
	assert_name(OWN, "a::one");
	assert_name(OWN + 1, "x-cgu.0");
	assert_name(OWN + 2, "x-cgu.0");
}

TEST_CASE_WITH(a_text_needs_no_table, setup, teardown)
{
	uint32_t id = note_text("x-cgu.0");

	definitions__clear(&definitions);
	note(local(1), 3);
	assert_int_equal(name(), 1);
	assert_name(id, "x-cgu.0");
	assert_name(3, "");
}

TEST_CASE_WITH(nothing_noted_is_nothing_to_map, setup, teardown)
{
	assert_int_equal(name(), 0);
	assert_int_equal(out.n_mapped, 0);
}

/* A mapping is made of 4,096 ids at most. */
TEST_CASE_WITH(many_ids_take_several_runs, setup, teardown)
{
	for (uint32_t i = 0; i < 10000; i++)
		note(local(i % 2 ? 1 : 3), i);
	assert_int_equal(name(), 0);
	assert_struct(out, n_mapped, 10000, n_runs, 3);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(out.mapped[i].id, i);
		assert_string_equal(out.strings[out.mapped[i].string], i % 2 ? "a::one" : "a::two");
	}
}

TEST_CASE_WITH(memory_is_bounded, setup, teardown)
{
	note(local(1), EXECUTIONS_MAX);
	note(local(1), TRACE_NO_INVOCATION - 1);
	assert_int_equal(keys.n, 0);
	note(local(1), EXECUTIONS_MAX - 1);
	assert_int_equal(keys.n, EXECUTIONS_MAX);
}

TEST_CASE_WITH(an_error_of_the_sink_comes_back, setup, teardown)
{
	uint64_t n_unnamed = 0;

	note(local(1), 1);
	out.err = -EIO;
	assert_int_equal(name_all(&n_unnamed), -EIO);
	out.err = 0;
	assert_int_equal(out.n_mapped, 0);
}

TEST_CASE_WITH(definitions_of_other_crates_have_a_path_or_a_number, setup, teardown)
{
	const struct names_key cached[] = {{5, TAG_NAMED, SYMBOL_FIRST, 0, 0},
					   {0, TAG_ROOT, 0, 0, NAMES_NO_PARENT}};
	struct wire_piece r = names_crates(1), cache = names_cache(1, 3, cached, 2);

	names_crate(&r, 3, SYMBOL_FIRST + 1, 0x33);
	must(crates__add(&crates, &r), crates__add_keys(&crates, &layout, &cache));
	note(wire_key(3, 5), 0);
	note(wire_key(3, 6), 1);
	note(wire_key(3, 0), 2);
	note(wire_key(4, 6), 3);
	/* A number is no name, and nor is nothing. */
	assert_int_equal(name(), 2);
	assert_name(0, "two::one");
	assert_name(1, "two[6]");
	assert_name(2, "two");
	assert_name(3, "");
}

TEST_MAIN(NULL, NULL)
