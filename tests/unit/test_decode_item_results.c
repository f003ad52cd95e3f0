// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/item_results.h"

#include "test.h"
#include "decode/results.h"
#include "decode/symbols.h"

#define N    6
#define MARK 2

static uint8_t fed[N] = {PLAN_FED_NOT, PLAN_FED_LOCAL, PLAN_FED_SOME,
			 PLAN_FED_NOT, PLAN_FED_NOT,   PLAN_FED_NOT};
static uint8_t items[N] = {LIBRARY_ITEMS,      LIBRARY_NO_ITEMS,     LIBRARY_ITEMS,
			   LIBRARY_ITEM_CRATE, LIBRARY_ITEMS_UNREAD, LIBRARY_ITEMS_MANY};
static uint32_t labels[N] = {10, 11, 12, 13, 14, 15}, caches[N] = {8, 16, 24, 32, 40, 48};
static struct library lib = {.labels = labels,
			     .n_labels = N,
			     .fed = fed,
			     .items = items,
			     .key_mark = MARK,
			     .caches = caches};

struct got {
	char text[4096]; /* "10:1,2 12?3 14!" */
	uint32_t names;
};

/* The results that each test uses. */
static struct results r;
static uint64_t lost, unnamed;

static void append(struct got *got, const char *format, uint32_t value)
{
	size_t used = strlen(got->text);

	snprintf(got->text + used, sizeof(got->text) - used, format, value);
}

static int on_results(void *ctx, const struct trace_results *r)
{
	static const char kinds[] = {':', '?', '!'};
	struct got *got = ctx;

	assert_int_equal(r->process, 3);
	append(got, got->text[0] ? " %u" : "%u", r->label);
	append(got, "%c", kinds[r->kind]);
	for (uint32_t i = 0; i < r->n; i++)
		append(got, i ? ",%u" : "%u", r->items[i]);
	return 0;
}

/* Definition 9 has no name. */
static int name(void *ctx, uint64_t definition, uint32_t *string)
{
	struct got *got = ctx;

	got->names++;
	*string = definition == wire_key(WIRE_KEY_LOCAL_CRATE, 9)
			  ? TRACE_NO_STRING
			  : 100 * (wire_key_crate(definition) + 1) + (uint32_t)definition;
	return 0;
}

static void begin(uint8_t moment, const uint32_t n[N])
{
	struct wire_counts c = {.moment = moment, .n = N, .of = N};

	for (int i = 0; i < N; i++)
		c.items[i].results = n[i];
	assert_int_equal(results__add(&r, &lib, RESULTS_NO_LOADS, &c, &lost), 0);
}

/* Keys of a query, the first of which has number `from`. */
static void add(uint32_t query, uint32_t from, uint32_t n, const uint32_t *keys)
{
	struct wire_piece p = {.number = query, .offset = 4 * from, .size = 4 * n};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = keys[i] + MARK;

		memcpy(p.bytes + 4 * i, &key, 4);
	}
	assert_int_equal(results__add_keys(&r, &lib, &p), 0);
}

static struct got give(bool end)
{
	struct got got = {0};
	const struct decoder_sink sink = {.ctx = &got, .results = on_results};
	const struct item_results_naming how = {
		.ctx = &got, .name = name, .sink = &sink, .lib = &lib, .process = 3};

	assert_int_equal(item_results__give(&r.items, &how, &unnamed, &lost), 0);
	if (end)
		assert_int_equal(item_results__end(&r.items, &how), 0);
	return got;
}

static struct got drop(void)
{
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	return give(false);
}

static int end(void **state)
{
	results__clear(&r);
	memset(&r, 0, sizeof(r));
	lost = unnamed = 0;
	return 0;
}

#define CASE(name) TEST_CASE_WITH(name, NULL, end)

/* They are not copied from outside. */
CASE(keys_that_are_not_copied_are_no_loss)
{
	static const uint32_t n[N] = {4, 3, 2, 2, 0};
	struct got got;

	lib.no_keys = true;
	begin(WIRE_COUNTS_FINISHED, n);
	drop();
	got = give(true);
	lib.no_keys = false;
	assert_int_equal(lost, 0);
	assert_non_null(strstr(got.text, "10!"));
}

/* In the order of definitions, each of which is named once. */
CASE(each_result_is_about_a_definition)
{
	static const uint32_t n[N] = {4, 3, 2, 2, 0};
	struct got got;

	begin(WIRE_COUNTS_FINISHED, n);
	add(0, 0, 2, (uint32_t[]){70, 3});
	add(0, 2, 2, (uint32_t[]){9, 1});
	add(2, 0, 2, (uint32_t[]){3, 1});
	add(3, 0, 2, (uint32_t[]){0, 5});
	got = drop();
	assert_struct(got, text, "10:101,103,170 12?101,103 13:100", names, 5);
	assert_int_equal(unnamed, 1);
	/* One of them has no name. */
	assert_string_equal(give(true).text, "10!");
	assert_int_equal(lost, 0);
}

static const uint8_t three_of_instances[N] = {LIBRARY_ITEMS_INSTANCES, LIBRARY_NO_ITEMS,
					      LIBRARY_NO_ITEMS,	       LIBRARY_ITEMS_INSTANCES,
					      LIBRARY_NO_ITEMS,	       LIBRARY_ITEMS_INSTANCES};

static void add_instances(uint32_t query, uint32_t n, const uint64_t *keys)
{
	struct wire_piece p = {.table = WIRE_TABLE_INSTANCES, .number = query, .size = 16 * n};

	for (uint32_t i = 0; i < n; i++) {
		struct wire_instance instance = {keys[i], 77};

		memcpy(p.bytes + 16 * i, &instance, 16);
	}
	assert_int_equal(results__add_keys(&r, &lib, &p), 0);
}

/* Of other crates', those of the query that has the fewest: 200 and more. */
CASE(instances_are_of_any_crate)
{
	static const uint32_t n[N] = {4, 0, 0, 6, 0, 5}, none[N] = {4, 0, 0, 6, 0, 0};
	const uint64_t own = wire_key(0, 3), other = wire_key(1, 5), another = wire_key(1, 4);
	uint8_t before[N];

	memcpy(before, items, N);
	memcpy(items, three_of_instances, N);
	begin(WIRE_COUNTS_FINISHED, n);
	add_instances(0, 4, (uint64_t[]){own, other, another, other});
	add_instances(3, 6, (uint64_t[]){own, own, other, another, other, other});
	add_instances(5, 5, (uint64_t[]){own, 0, other, 0, other});
	assert_string_equal(drop().text, "10:103 10:204,205,205 13:103,103 15:103");
	/* One that has none: so the compiler made none. */
	begin(WIRE_COUNTS_FINISHED, none);
	add_instances(0, 4, (uint64_t[]){own, other, another, other});
	add_instances(3, 6, (uint64_t[]){own, own, other, another, other, other});
	assert_string_equal(drop().text, "10:103 13:103,103");
	/* One that is not whole. */
	begin(WIRE_COUNTS_FINISHED, n);
	add_instances(0, 4, (uint64_t[]){own, other, another, other});
	assert_string_equal(drop().text, "10:103");
	assert_int_equal(lost, 2);
	memcpy(items, before, N);
}

CASE(instances_that_are_malformed)
{
	static const uint32_t n[N] = {2, 0, 0, 0, 0, 0};
	struct wire_piece p = {.table = WIRE_TABLE_INSTANCES, .size = 24};
	uint8_t before[N];

	memcpy(before, items, N);
	memcpy(items, three_of_instances, N);
	begin(WIRE_COUNTS_FINISHED, n);
	assert_int_equal(results__add_keys(&r, &lib, &p), -EBADMSG);
	/* A definition with such a number there is in no crate. */
	add_instances(0, 2, (uint64_t[]){wire_key(0, 3), wire_key(0, 1 << 24)});
	assert_string_equal(drop().text, "");
	assert_int_equal(lost, 1);
	memcpy(items, before, N);
}

/* Such as the instances of a function. */
CASE(several_may_be_about_one_definition)
{
	static const uint32_t n[N] = {0, 0, 0, 0, 0, 7}, others = WIRE_KEY_OF_OTHERS - MARK;

	begin(WIRE_COUNTS_FINISHED, n);
	add(5, 0, 4, (uint32_t[]){7, 3, others, 7});
	add(5, 4, 3, (uint32_t[]){7, others, 70});
	assert_string_equal(drop().text, "15:103,107,107,107,170");
	/* As many are missing as of another crate would be. */
	begin(WIRE_COUNTS_FINISHED, n);
	add(5, 0, 4, (uint32_t[]){7, 3, others, 7});
	assert_string_equal(drop().text, "");
	assert_string_equal(give(true).text, "15!");
	assert_int_equal(lost, 1);
}

/* The reading at a drop has no fewer results, and each context names its own definitions. */
CASE(a_second_context_has_results_of_its_own)
{
	static const uint32_t n[N] = {1, 0, 0, 0, 0}, none[N] = {0};

	begin(WIRE_COUNTS_FINISHED, n);
	add(0, 0, 1, (uint32_t[]){1});
	begin(WIRE_COUNTS_DROPPED, n);
	add(0, 0, 1, (uint32_t[]){2});
	assert_string_equal(drop().text, "10:101");
	begin(WIRE_COUNTS_DROPPED, n);
	add(0, 0, 1, (uint32_t[]){2});
	assert_string_equal(drop().text, "10:102");
	begin(WIRE_COUNTS_DYING, none);
	results__end(&r, &lib, RESULTS_NO_LOADS, &lost);
	assert_string_equal(give(true).text, "");
	assert_int_equal(lost, 0);
}

CASE(keys_that_are_not_read_are_unknown)
{
	static const uint32_t n[N] = {0, 0, 0, 0, 2};

	begin(WIRE_COUNTS_FINISHED, n);
	assert_string_equal(drop().text, "");
	assert_string_equal(give(true).text, "14!");
	assert_int_equal(lost, 0);
}

CASE(of_keys_that_are_not_whole_none_is_given)
{
	static const uint32_t n[N] = {3, 0, 0, 0, 0};
	static const struct {
		uint32_t from, n;
		uint32_t keys[4];
	} wrong[] = {
		{0, 2, {1, 2}},		      /* the rest is lost */
		{1, 2, {1, 2}},		      /* the first one is */
		{0, 4, {1, 2, 3, 4}},	      /* more than there are */
		{0, 3, {1, 2, 1}},	      /* twice the same */
		{0, 3, {1, 2, (uint32_t)-1}}, /* below the mark: being written */
		{0, 3, {1, 2, 1u << 24}},     /* no crate has so many definitions */
		{0, 3, {1, 2, WIRE_KEY_OF_OTHERS - MARK}},
	};

	for (size_t i = 0; i < N_OF(wrong); i++) {
		begin(WIRE_COUNTS_FINISHED, n);
		add(0, wrong[i].from, wrong[i].n, wrong[i].keys);
		assert_string_equal(drop().text, "");
		assert_string_equal(give(true).text, "10!");
		assert_int_equal(lost, 1);
		end(NULL);
	}
}

/* One key of each query, the largest that may be true: it takes a set of 2 MiB. */
CASE(sets_of_many_queries_are_not_endless)
{
	static uint32_t many_labels[64];
	static uint8_t many_items[64];
	const struct library many = {.labels = many_labels, .n_labels = 64, .items = many_items};
	const uint32_t key = (1u << 24) - 1;
	struct wire_piece p = {.size = 4};
	struct item_results r = {0};
	struct got got = {0};
	const struct decoder_sink sink = {.ctx = &got, .results = on_results};
	const struct item_results_naming how = {
		.ctx = &got, .name = name, .sink = &sink, .lib = &many, .process = 3};

	memcpy(p.bytes, &key, sizeof(key));
	assert_int_equal(item_results__begin(&r, 64), 0);
	for (p.number = 0; p.number < 64; p.number++) {
		assert_int_equal(item_results__add(&r, &many, &p), 0);
		assert_true(item_results__settle(&r, p.number, 1, 0));
	}
	assert_int_equal(item_results__give(&r, &how, &unnamed, &lost), 0);
	assert_int_equal(got.names, 1);
	assert_int_equal(lost, 32);
	item_results__clear(&r);
}

/* Nothing says when its context ended: a better reading may come, or the end of the process. */
CASE(a_compiler_that_dies_has_what_was_read_last)
{
	static const uint32_t n[N] = {1, 0, 0, 0, 0};

	begin(WIRE_COUNTS_RUNNING, n);
	begin(WIRE_COUNTS_DYING, n);
	add(0, 0, 1, (uint32_t[]){4});
	results__end(&r, &lib, RESULTS_NO_LOADS, &lost);
	assert_string_equal(give(true).text, "10:104");
	begin(WIRE_COUNTS_RUNNING, n);
	results__end(&r, &lib, RESULTS_NO_LOADS, &lost);
	assert_string_equal(give(true).text, "10!");
	assert_int_equal(lost, 0);
}

CASE(malformed_pieces_are_refused)
{
	static const uint32_t n[N] = {1, 0, 0, 0, 0};
	struct wire_piece p = {.number = N, .size = 4};

	assert_int_equal(results__add_keys(&r, &lib, &(struct wire_piece){.size = 4}), 0);
	begin(WIRE_COUNTS_FINISHED, n);
	assert_int_equal(results__add_keys(&r, &lib, &p), -EBADMSG);
	p = (struct wire_piece){.size = 3};
	assert_int_equal(results__add_keys(&r, &lib, &p), -EBADMSG);
}

/* ---- Symbols --------------------------------------------------------------------------------- */

#define _symbols_ __cleanup(symbols__clear)

struct symbols_got {
	char text[1024]; /* "10=203 " */
};

static int on_symbol(void *ctx, const struct trace_symbol *s)
{
	struct symbols_got *symbols_got = ctx;
	size_t used = strlen(symbols_got->text);

	assert_int_equal(s->process, 3);
	snprintf(symbols_got->text + used, sizeof(symbols_got->text) - used, "%u=%u ", s->symbol,
		 s->item);
	return 0;
}

/* Definition 9 has no path. */
static int symbols_name(void *ctx, uint64_t definition, uint32_t *string)
{
	(void)ctx;
	*string = (uint32_t)definition == 9
			  ? TRACE_NO_STRING
			  : 100 * (wire_key_crate(definition) + 1) + (uint32_t)definition;
	return 0;
}

static struct symbols_got symbols_give(struct symbols *s)
{
	struct symbols_got symbols_got = {0};
	const struct decoder_sink sink = {.ctx = &symbols_got, .symbol = on_symbol};
	const struct item_results_naming how = {
		.ctx = &symbols_got, .name = symbols_name, .sink = &sink, .process = 3};

	assert_int_equal(symbols__give(s, &how), 0);
	return symbols_got;
}

static void symbols_add(struct symbols *s, uint64_t key, uint64_t hash)
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

TEST_CASE(those_that_are_wanted_have_an_item)
{
	_symbols_ struct symbols s = {0};

	symbols_add(&s, wire_key(0, 3), symbols__hash("_ZN1a1bE"));
	want(&s, "_ZN1a1bE", 10);
	want(&s, "_ZN1a1cE", 11);
	want(&s, "_ZN1a1dE", 12);
	want(&s, "_ZN1a1bE", 10);
	want(&s, "nowhere", 13);
	symbols_add(&s, wire_key(1, 5), symbols__hash("_ZN1a1cE"));
	symbols_add(&s, wire_key(0, 9), symbols__hash("_ZN1a1dE"));
	symbols_add(&s, wire_key(0, 4), symbols__hash("_ZN1a1eE"));
	assert_string_equal(symbols_give(&s).text, "10=103 11=205 ");
	/* All are forgotten: another query context follows. */
	want(&s, "_ZN1a1bE", 10);
	assert_string_equal(symbols_give(&s).text, "");
}

TEST_CASE(two_of_one_hash_are_unknown)
{
	_symbols_ struct symbols s = {0};

	symbols_add(&s, wire_key(0, 3), 77);
	symbols_add(&s, wire_key(0, 4), symbols__hash("a"));
	symbols_add(&s, wire_key(0, 5), symbols__hash("a"));
	symbols_add(&s, wire_key(0, 4), symbols__hash("a"));
	symbols_add(&s, wire_key(0, 6), symbols__hash("b"));
	symbols_add(&s, wire_key(0, 6), symbols__hash("b"));
	want(&s, "a", 10);
	want(&s, "b", 11);
	assert_string_equal(symbols_give(&s).text, "11=106 ");
}

TEST_CASE(what_was_not_read_is_unknown)
{
	struct wire_piece p = {.size = sizeof(struct wire_instance) + 1};
	_symbols_ struct symbols s = {0};

	assert_int_equal(symbols__add(&s, &p), -EBADMSG);
	p.size = sizeof(p.bytes) + sizeof(struct wire_instance);
	assert_int_equal(symbols__add(&s, &p), -EBADMSG);
	symbols_add(&s, 0, symbols__hash("a"));
	symbols_add(&s, wire_key(0, 3), 0);
	assert_int_equal(s.known.n, 0);
	want(&s, "a", 10);
	assert_string_equal(symbols_give(&s).text, "");
}

TEST_CASE(a_suffix_of_llvm_is_no_part_of_a_symbol)
{
	assert_int_equal(symbols__hash("_ZN1a1bE.llvm.1234"), symbols__hash("_ZN1a1bE"));
	assert_true(symbols__hash("_ZN1a1bE") != symbols__hash("_ZN1a1cE"));
}

/* So none is hashed like another one that it is the beginning of. */
TEST_CASE(a_hash_is_of_length_and_text)
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

/* Query 2 was fed a result: by its number, or by the address of its cache. */
static void feed(uint64_t cache, uint32_t at)
{
	const struct wire_fed record = {.cache = cache, .at = at};

	assert_int_equal(results__fed(&r, &lib, &record), 0);
}

/* A reading of query 2, which had 4 results. */
static struct got fed_of_4(void)
{
	static const uint32_t n[N] = {0, 0, 4};

	begin(WIRE_COUNTS_FINISHED, n);
	add(2, 0, 4, (uint32_t[]){40, 30, 20, 10});
	return drop();
}

CASE(fed_results_are_left_out)
{
	fed[2] = PLAN_FED_SEEN;
	assert_string_equal(fed_of_4().text, "12:110,120,130,140");
	feed(2, 1);
	feed(24, 0);
	/* After the reading. */
	feed(2, 4);
	r.feeds[0].n--;
	assert_string_equal(fed_of_4().text, "12:110,120");
	for (uint32_t i = 0; i < 4; i++)
		feed(2, 3 - i);
	assert_string_equal(fed_of_4().text, "");
	fed[2] = PLAN_FED_SOME;
}

CASE(which_results_were_fed_may_not_be_known)
{
	/* Of one it is not known, twice the same, more than there are, of a later result. */
	static const uint32_t at[][2] = {{1, WIRE_NO_COUNT}, {1, 1}, {0, 4}};

	fed[2] = PLAN_FED_SEEN;
	for (size_t i = 0; i < N_OF(at); i++) {
		feed(2, at[i][0]);
		feed(2, at[i][1]);
		assert_string_equal(fed_of_4().text, "12?110,120,130,140");
	}
	feed(2, 0);
	r.records_lost = true;
	assert_string_equal(fed_of_4().text, "12?110,120,130,140");
	fed[2] = PLAN_FED_SOME;
}

TEST_MAIN(NULL, NULL)
