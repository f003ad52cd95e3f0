// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/definitions.h"

#include "test.h"
#include "../fixtures/names.h"

static struct crates crates;
static struct definitions definitions;
static struct dependencies dependencies;
static struct names out;
static struct plan_layout layout;

enum { ONE = SYMBOL_FIRST, CORE, SELF, LETTER };

/* Texts of symbols; crate 1 is "core", 2 "a", 3 has no text. */
static int setup(void **state)
{
	struct wire_symbols texts = names_texts(1);
	struct wire_piece r = names_crates(1);

	layout = names_layout();
	names_symbol(&texts, SYMBOL_IMPL, "impl");
	names_symbol(&texts, ONE, "one");
	names_symbol(&texts, CORE, "core");
	names_symbol(&texts, SELF, "\xc3\xa4h");
	names_symbol(&texts, LETTER, "a");
	names_crate(&r, 0, WIRE_TAG_UNKNOWN, 0x1000);
	names_crate(&r, 1, CORE, 0x1001);
	names_crate(&r, 2, LETTER, 0x1002);
	names_crate(&r, 3, 999, 0x1003);
	names_crate(&r, 4, SELF, 0x1004);
	return definitions__add_symbols(&definitions, &texts) ?: crates__add(&crates, &r);
}

static int teardown(void **state)
{
	crates__clear(&crates);
	definitions__clear(&definitions);
	dependencies__destroy(&dependencies);
	names_clear(&out);
	return 0;
}

static struct crates_naming naming(const struct decoder_sink *sink)
{
	return (struct crates_naming){.sink = sink,
				      .definitions = &definitions,
				      .layout = &layout,
				      .dependencies = &dependencies};
}

static void add_cache(uint32_t crate, const struct names_key *keys, uint32_t n)
{
	struct wire_piece r = names_cache(1, crate, keys, n);

	assert_int_equal(crates__add_keys(&crates, &layout, &r), 0);
}

static void assert_string(uint32_t crate, uint32_t index, const char *expected, bool numbered)
{
	const struct decoder_sink sink = names_sink(&out);
	const struct crates_naming how = naming(&sink);
	bool is_numbered = !numbered;
	uint32_t id;

	assert_int_equal(crates__string(&crates, &how, crate, index, &id, &is_numbered), 0);
	if (!expected)
		assert_int_equal(id, TRACE_NO_STRING);
	else if (id == TRACE_NO_STRING)
		fail_msg("%s has no name", expected);
	else
		assert_string_equal(out.strings[id], expected);
	assert_int_equal(is_numbered, numbered);
}

TEST_CASE_WITH(a_crate_is_called_by_its_name, setup, teardown)
{
	assert_string(1, 0, "core", false);
	assert_string(2, 0, "a", false);
	assert_string(3, 0, NULL, false);
	assert_string(5, 0, NULL, false);
	assert_true(crates.has_own_id);
	assert_true(crates.own_id == 0x1000);
}

/* Those of one letter cannot be marked. */
TEST_CASE_WITH(names_of_other_crates_are_marked, setup, teardown)
{
	assert_string(1, 7, "core[7]", true);
	assert_string(1, 12345, "core[12345]", true);
	assert_string(1, 0, "core", false);
	assert_string(2, 7, "a[7]", true);
	assert_string(4, 0, "\xc3\xa4h", false);
	assert_struct(out, n_foreign, 2, strings[out.foreign[0]], "core", strings[out.foreign[1]],
		      "\xc3\xa4h");
}

TEST_CASE_WITH(cached_definitions_have_their_path, setup, teardown)
{
	const struct names_key keys[] = {{40, TAG_NAMED, ONE, 2, 7},
					 {0, TAG_ROOT, 0, 0, NAMES_NO_PARENT},
					 {7, TAG_IMPL, 0, 3, 0}};

	add_cache(1, keys, N_OF(keys));
	assert_int_equal(crates.cached.n, 3);
	assert_string(1, 40, "core::{{impl}}[3]::one[2]", false);
	assert_string(1, 7, "core::{{impl}}[3]", false);
	/* An unused entry says so of it. */
	assert_string(1, 41, "core[41]", true);
	assert_string(2, 40, "a[40]", true);
	assert_string(3, 40, NULL, false);
}

TEST_CASE_WITH(what_leads_nowhere_has_a_number, setup, teardown)
{
	const struct names_key keys[] = {
		{5, TAG_NAMED, ONE, 0, 6},
		{6, TAG_NAMED, ONE, 0, 5},
		{8, TAG_NAMED, ONE, 0, 8},
		{9, TAG_NAMED, ONE, 0, 3},
		{11, TAG_ROOT, 0, 0, 0},
		{12, 77, ONE, 0, 0},
		{13, TAG_NAMED, 999, 0, 0},
		{14, TAG_NAMED, ONE, 0, UINT32_MAX},
		{0, TAG_ROOT, 0, 0, NAMES_NO_PARENT},
	};

	add_cache(1, keys, N_OF(keys));
	for (uint32_t i = 0; i < N_OF(keys) - 1; i++) {
		char text[16];

		snprintf(text, sizeof(text), "core[%u]", keys[i].index);
		assert_string(1, keys[i].index, text, true);
	}
}

TEST_CASE_WITH(malformed_pieces_are_refused, setup, teardown)
{
	struct wire_piece r = names_crates(1);

	r.size = 17;
	assert_int_equal(crates__add(&crates, &r), -EBADMSG);
	assert_int_equal(crates__add_keys(&crates, &layout, &r), -EBADMSG);
	r.size = 0;
	assert_int_equal(crates__add_keys(&crates, &layout, &r), -EBADMSG);
	r.size = 21;
	layout.wire.crates.size = 0;
	assert_int_equal(crates__add_keys(&crates, &layout, &r), -EBADMSG);
}

/* A path that one compiler has cached, another one need not have. */
TEST_CASE_WITH(names_are_shared, setup, teardown)
{
	const struct names_key keys[] = {{0, TAG_ROOT, 0, 0, NAMES_NO_PARENT},
					 {7, TAG_NAMED, ONE, 0, 0},
					 {8, TAG_NAMED, 999, 0, 7}};
	struct wire_piece r = names_crates(2), own = names_piece(1, 0);
	struct wire_symbols texts = names_texts(2);
	struct crates_naming how = naming(NULL);

	add_cache(1, keys, N_OF(keys));
	names_root(&own);
	names_row(&own, TAG_NAMED, ONE, 1, 0);
	must(definitions__add(&definitions, &own), crates__share(&crates, &how));
	crates__clear(&crates);
	definitions__clear(&definitions);
	names_symbol(&texts, 55, "kernel");
	names_crate(&r, 9, 55, 0x1001);
	names_crate(&r, 10, 55, 0x1000);
	must(definitions__add_symbols(&definitions, &texts), crates__add(&crates, &r));
	assert_string(9, 7, "kernel::one", false);
	assert_string(9, 8, "kernel[8]", true);
	assert_string(10, 1, "kernel::one[1]", false);
	/* Two crates of one name stay apart. */
	assert_string(10, 7, "kernel[7]", true);
}

TEST_CASE_WITH(an_error_of_the_sink_comes_back, setup, teardown)
{
	const struct decoder_sink sink = names_sink(&out);
	const struct crates_naming how = naming(&sink);
	bool numbered;
	uint32_t id;

	out.err = -ENOSPC;
	assert_int_equal(crates__string(&crates, &how, 1, 7, &id, &numbered), -ENOSPC);
}

TEST_MAIN(NULL, NULL)
