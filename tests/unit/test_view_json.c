// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/json.h"

#include "test.h"
#include "base/cleanup.h"

static char *printed(struct json *j, int (*put)(struct json *))
{
	char *text = NULL;
	size_t len;

	j->out = open_memstream(&text, &len);
	assert_int_equal(put(j), 0);
	fclose(j->out);
	return text;
}

TEST_CASE(members_keep_their_order_and_type)
{
	struct json j = {};
	char *text;

	json__begin(&j);
	json__text(&j, "text", "a/b");
	json__text(&j, "none", NULL);
	json__number(&j, "most", UINT64_MAX);
	json__bool(&j, "yes", true);
	json__null(&j, "null");
	text = printed(&j, json__put);
	assert_string_equal(text, "{\"text\":\"a/b\",\"none\":null,\"most\":18446744073709551615,"
				  "\"yes\":true,\"null\":null}");
	free(text);
}

TEST_CASE(an_open_object_takes_more_members)
{
	struct json j = {};
	char *text;

	json__begin(&j);
	json__number(&j, "a", 1);
	text = printed(&j, json__put_open);
	assert_string_equal(text, "{\"a\":1");
	free(text);
}

TEST_CASE(an_array_separates_its_items)
{
	char *text = NULL;
	size_t len;
	struct json j = {.out = open_memstream(&text, &len)};
	struct json inner = {};

	json__array(&j, "items");
	for (size_t i = 0; i < 3; i++) {
		if (i < 2)
			json__item(&j, i);
		else
			json__line(&j, i);
		json__known(&j, "n", i, i);
		json__begin(&inner);
		json__value(&j, "inner", json__take(&inner));
		assert_int_equal(json__put(&j), 0);
	}
	json__print(&j, "]");
	json__print_text(&j, NULL);
	json__print_text(&j, "\"");
	fclose(j.out);
	assert_string_equal(text, ",\"items\":[{\"n\":null,\"inner\":{}},{\"n\":1,\"inner\":{}},\n"
				  "{\"n\":2,\"inner\":{}}]null\"\\\"\"");
	free(text);
}

TEST_CASE(texts_become_valid_utf8)
{
	struct json_object *object = json_new_text("\xff\xc3\xa9\xe2\x82");

	assert_string_equal(json_object_get_string(object),
			    "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	json_object_put(object);
}

TEST_CASE(losses_name_every_cause)
{
	struct trace_losses losses = {};
	struct json j = {};
	char *text;

	losses.count[TRACE_LOST_RING_FULL] = 5;
	json__begin(&j);
	json__losses(&j, "losses", &losses);
	json__losses(&j, "unknown", NULL);
	text = printed(&j, json__put);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		assert_non_null(strstr(text, trace_loss_name(i)));
	assert_non_null(strstr(text, "\"ring_full\":5"));
	assert_non_null(strstr(text, "\"unknown\":null"));
	free(text);
}

TEST_CASE(the_first_failure_is_kept_and_ends_the_document)
{
	char *text = NULL;
	size_t len;
	struct json j = {.out = open_memstream(&text, &len)};

	json__begin(&j);
	json__value(&j, "failed", NULL);
	json__number(&j, "after", 1);
	assert_int_equal(json__put(&j), -ENOMEM);
	json__item(&j, 1);
	json__number(&j, "next", 1);
	assert_int_equal(json__put(&j), -ENOMEM);
	json__array(&j, "array");
	json__print(&j, "]");
	assert_null(json__take(&j));
	fclose(j.out);
	assert_string_equal(text, "");
	free(text);
}

TEST_MAIN(NULL, NULL)
