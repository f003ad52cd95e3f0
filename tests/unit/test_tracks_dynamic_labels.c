// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/dynamic_labels.h"

#include "test.h"

static int label(void *ctx, const char *text, uint32_t *id)
{
	char *last = ctx;

	strcpy(last, text);
	*id = 100 + strlen(text);
	return 0;
}

static bool wants(void *ctx, const struct wire_label_key *key)
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
	const struct tracks_sink sink = {.ctx = last, .label = label, .wants = wants};
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
	const struct tracks_sink sink = {.ctx = last, .label = label};
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
		cmocka_unit_test(a_number_has_its_text_once_it_was_recorded),
		cmocka_unit_test(a_longer_text_ends_in_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
