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

/* ---- Dynamic labels -------------------------------------------------------------------------- */

static int dynamic_labels_label(void *ctx, const char *text, uint32_t *id)
{
	char *last = ctx;

	strcpy(last, text);
	*id = 100 + strlen(text);
	return 0;
}

static bool dynamic_labels_wants(void *ctx, const struct wire_label_key *key)
{
	return key->text[0] != 'n';
}

static struct wire_label record(uint32_t number, const char *text)
{
	struct wire_label r = {.type = WIRE_LABEL, .label = number, .key.len = strlen(text)};

	memcpy(r.key.text, text, strnlen(text, sizeof(r.key.text)));
	return r;
}

static void a_number_has_its_text_once_it_was_recorded(void **state)
{
	char last[sizeof(((struct wire_label *)0)->key.text) + 4] = "";
	const struct tracks_sink sink = {
		.ctx = last, .label = dynamic_labels_label, .wants = dynamic_labels_wants};
	struct wire_label yes = record(3, "yes"), no = record(2, "no"), none = record(0, "none");
	struct wire_label far = record((1u << 20) + 1, "far");
	struct dynamic_labels l = {0};

	assert_int_equal(dynamic_labels__id(&l, 3), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__record(&l, &sink, &yes), 0);
	assert_string_equal(last, "yes");
	assert_int_equal(dynamic_labels__record(&l, &sink, &no), 0);
	assert_string_equal(last, "yes");
	assert_int_equal(dynamic_labels__id(&l, 1), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__id(&l, 2), DYNAMIC_LABEL_UNWANTED);
	assert_int_equal(dynamic_labels__id(&l, 3), 103);
	assert_int_equal(dynamic_labels__id(&l, 4), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__record(&l, &sink, &none), -EBADMSG);
	assert_int_equal(dynamic_labels__record(&l, &sink, &far), -EBADMSG);
	dynamic_labels__clear(&l);
}

static void a_longer_text_ends_in_dots(void **state)
{
	char last[sizeof(((struct wire_label *)0)->key.text) + 4] = "";
	const struct tracks_sink sink = {.ctx = last, .label = dynamic_labels_label};
	struct wire_label r = {.type = WIRE_LABEL, .label = 1};
	struct dynamic_labels l = {0};

	memset(r.key.text, 'x', sizeof(r.key.text));
	r.key.len = sizeof(r.key.text);
	assert_int_equal(dynamic_labels__record(&l, &sink, &r), 0);
	assert_int_equal(strlen(last), sizeof(r.key.text));
	r.key.len++;
	assert_int_equal(dynamic_labels__record(&l, &sink, &r), 0);
	assert_string_equal(last + sizeof(r.key.text), "...");
	dynamic_labels__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_query_and_a_guard_have_their_own),
		TEST(what_is_not_there_is_refused),
		TEST(what_is_not_known_has_one_label),
		TEST(a_dynamic_label_may_be_unwanted),
		TEST(without_a_sink_for_texts_nothing_is_unknown),
		cmocka_unit_test(a_number_has_its_text_once_it_was_recorded),
		cmocka_unit_test(a_longer_text_ends_in_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
