// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/interval_labels.h"

#include "test.h"

/* Texts get ids from 50 on. */
struct texts {
	char last[64];
	uint32_t n;
	int err;
};

static int label(void *ctx, const char *text, uint32_t *id)
{
	struct texts *texts = ctx;

	snprintf(texts->last, sizeof(texts->last), "%s", text);
	*id = 50 + texts->n++;
	return texts->err;
}

static bool wants(void *ctx, const struct wire_label_key *key)
{
	return key->len != 8;
}

static uint32_t queries[] = {10, 11};
static uint32_t guards[] = {20, TRACKS_NO_LABEL};
static const struct library libraries[WIRE_MAX_LIBS + 1] = {
	[3] = {.labels = queries, .n_labels = 2, .guards = guards, .n_guards = 2}};

static struct texts texts;
static const struct tracks_sink sink = {.ctx = &texts, .label = label, .wants = wants};
static struct interval_labels labels;

static int setup(void **state)
{
	texts = (struct texts){.n = 0};
	interval_labels__init(&labels, &sink, libraries);
	return 0;
}

static int teardown(void **state)
{
	interval_labels__clear(&labels);
	return 0;
}

static uint32_t of(uint8_t kind, uint16_t query, uint32_t number)
{
	uint32_t id = 0;

	assert_int_equal(
		interval_labels__of(&labels, (struct interval_named){3, kind, query, number}, &id),
		0);
	return id;
}

static void assert_none(struct interval_named interval)
{
	uint32_t id;

	assert_int_equal(interval_labels__of(&labels, interval, &id), -EBADMSG);
}

static void a_query_and_a_guard_have_their_own(void **state)
{
	assert_int_equal(of(WIRE_KIND_QUERY, 1, 0), 11);
	assert_int_equal(of(WIRE_KIND_LOAD, 0, 0), 10);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 0, 0), 20);
	assert_int_equal(texts.n, 0);
}

static void what_is_not_there_is_refused(void **state)
{
	assert_none((struct interval_named){3, WIRE_KIND_QUERY, 2, 0});
	assert_none((struct interval_named){3, WIRE_KIND_QUERY, WIRE_NO_QUERY, 0});
	assert_none((struct interval_named){3, WIRE_KIND_LOAD, 2, 0});
	assert_none((struct interval_named){3, WIRE_KIND_ACTIVITY, 2, 0});
	assert_none((struct interval_named){0, WIRE_KIND_QUERY, 0, 0});
}

static void what_is_not_known_has_one_label(void **state)
{
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 0), 50);
	assert_string_equal(texts.last, TRACKS_UNKNOWN);
	assert_int_equal(of(WIRE_KIND_HASHING, WIRE_NO_QUERY, 0), 50);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 0, 9), 50);
	assert_int_equal(texts.n, 1);
}

static void a_dynamic_label_may_be_unwanted(void **state)
{
	struct wire_label r = {.label = 1, .key = {.len = 7, .text = "dynamic"}};

	assert_int_equal(dynamic_labels__record(&labels.dynamic, &sink, &r), 0);
	r = (struct wire_label){.label = 2, .key = {.len = 8, .text = "unwanted"}};
	assert_int_equal(dynamic_labels__record(&labels.dynamic, &sink, &r), 0);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 1), 50);
	assert_string_equal(texts.last, "dynamic");
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 2), DYNAMIC_LABEL_UNWANTED);
	/* A number that is a label's is not one for a query. */
	assert_int_equal(of(WIRE_KIND_QUERY, 1, 2), 11);
}

static void without_a_sink_for_texts_nothing_is_unknown(void **state)
{
	const struct tracks_sink none = {0};
	uint32_t id;

	interval_labels__init(&labels, &none, libraries);
	assert_int_equal(interval_labels__unknown(&labels, &id), -EBADMSG);
	interval_labels__init(&labels, &sink, libraries);
	texts.err = -EIO;
	assert_int_equal(interval_labels__unknown(&labels, &id), -EIO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_query_and_a_guard_have_their_own),
		TEST(what_is_not_there_is_refused),
		TEST(what_is_not_known_has_one_label),
		TEST(a_dynamic_label_may_be_unwanted),
		TEST(without_a_sink_for_texts_nothing_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
