// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/symbols.h"

#include "test.h"

#define _symbols_ __cleanup(symbols__clear)

struct got {
	char text[1024]; /* "10=203 " */
};

static int on_symbol(void *ctx, const struct trace_symbol *s)
{
	struct got *got = ctx;
	size_t used = strlen(got->text);

	assert_int_equal(s->process, 3);
	snprintf(got->text + used, sizeof(got->text) - used, "%u=%u ", s->symbol, s->item);
	return 0;
}

/* Definition 9 has no path. */
static int name(void *ctx, uint64_t definition, uint32_t *string)
{
	(void)ctx;
	*string = (uint32_t)definition == 9
			  ? TRACE_NO_STRING
			  : 100 * (wire_key_crate(definition) + 1) + (uint32_t)definition;
	return 0;
}

static struct got give(struct symbols *s)
{
	struct got got = {0};
	const struct tracks_sink sink = {.ctx = &got, .symbol = on_symbol};
	const struct item_results_naming how = {
		.ctx = &got, .name = name, .sink = &sink, .process = 3};

	assert_int_equal(symbols__give(s, &how), 0);
	return got;
}

static void add(struct symbols *s, uint64_t key, uint64_t hash)
{
	struct wire_piece p = {.size = sizeof(struct wire_instance)};
	struct wire_instance instance = {key, hash};

	memcpy(p.bytes, &instance, sizeof(instance));
	assert_int_equal(symbols__add(s, &p), 0);
}

static void want(struct symbols *s, const char *text, uint32_t string)
{
	assert_int_equal(symbols__want(s, text, string), 0);
}

static void those_that_are_wanted_have_an_item(void **state)
{
	_symbols_ struct symbols s = {0};

	add(&s, wire_key(0, 3), symbols__hash("_ZN1a1bE"));
	want(&s, "_ZN1a1bE", 10);
	want(&s, "_ZN1a1cE", 11);
	want(&s, "_ZN1a1dE", 12);
	want(&s, "_ZN1a1bE", 10);
	want(&s, "nowhere", 13);
	add(&s, wire_key(1, 5), symbols__hash("_ZN1a1cE"));
	add(&s, wire_key(0, 9), symbols__hash("_ZN1a1dE"));
	add(&s, wire_key(0, 4), symbols__hash("_ZN1a1eE"));
	assert_string_equal(give(&s).text, "10=103 11=205 ");
	/* All are forgotten: another query context follows. */
	want(&s, "_ZN1a1bE", 10);
	assert_string_equal(give(&s).text, "");
}

static void two_of_one_hash_are_unknown(void **state)
{
	_symbols_ struct symbols s = {0};

	add(&s, wire_key(0, 3), 77);
	add(&s, wire_key(0, 4), symbols__hash("a"));
	add(&s, wire_key(0, 5), symbols__hash("a"));
	add(&s, wire_key(0, 4), symbols__hash("a"));
	add(&s, wire_key(0, 6), symbols__hash("b"));
	add(&s, wire_key(0, 6), symbols__hash("b"));
	want(&s, "a", 10);
	want(&s, "b", 11);
	assert_string_equal(give(&s).text, "11=106 ");
}

static void what_was_not_read_is_unknown(void **state)
{
	struct wire_piece p = {.size = sizeof(struct wire_instance) + 1};
	_symbols_ struct symbols s = {0};

	assert_int_equal(symbols__add(&s, &p), -EBADMSG);
	p.size = sizeof(p.bytes) + sizeof(struct wire_instance);
	assert_int_equal(symbols__add(&s, &p), -EBADMSG);
	add(&s, 0, symbols__hash("a"));
	add(&s, wire_key(0, 3), 0);
	assert_int_equal(s.known.n, 0);
	want(&s, "a", 10);
	assert_string_equal(give(&s).text, "");
}

static void a_suffix_of_llvm_is_no_part_of_a_symbol(void **state)
{
	assert_int_equal(symbols__hash("_ZN1a1bE.llvm.1234"), symbols__hash("_ZN1a1bE"));
	assert_true(symbols__hash("_ZN1a1bE") != symbols__hash("_ZN1a1cE"));
}

/* So none is hashed like another one that it is the beginning of. */
static void a_hash_is_of_length_and_text(void **state)
{
	static char text[WIRE_SYMBOL_HASHED + 9];
	uint64_t hashes[sizeof(text)];

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		text[i] = 'a';
		hashes[i] = symbols__hash(text);
	}
	for (size_t i = 0; i + 2 < sizeof(text); i++)
		assert_true(hashes[i] != hashes[i + 1]);
	text[WIRE_SYMBOL_HASHED - 1] = 'b';
	assert_true(symbols__hash(text) != hashes[sizeof(text) - 2]);
	/* Behind that only the length counts. */
	text[WIRE_SYMBOL_HASHED - 1] = 'a';
	text[WIRE_SYMBOL_HASHED] = 'b';
	assert_int_equal(symbols__hash(text), hashes[sizeof(text) - 2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_are_wanted_have_an_item),
		cmocka_unit_test(two_of_one_hash_are_unknown),
		cmocka_unit_test(what_was_not_read_is_unknown),
		cmocka_unit_test(a_suffix_of_llvm_is_no_part_of_a_symbol),
		cmocka_unit_test(a_hash_is_of_length_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
