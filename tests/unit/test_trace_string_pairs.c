// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/string_pairs.h"

#include <errno.h>

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/reader.h"
#include "trace/writer.h"

#define N_STRINGS 6

static int take(struct string_pairs *k, const uint32_t *numbers, size_t n)
{
	uint8_t bytes[256], *at = bytes;
	struct byte_reader in;

	for (size_t i = 0; i < n; i++)
		at = bytes_store_varint(at, numbers[i]);
	in = (struct byte_reader){.at = bytes, .end = at};
	return string_pairs__take(k, &in, N_STRINGS);
}

#define TAKE(k, ...)                                         \
	({                                                   \
		static const uint32_t __n[] = {__VA_ARGS__}; \
		take(k, __n, N_OF(__n));                     \
	})

static void the_later_type_holds(void **state)
{
	struct string_pairs k = {0};

	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	assert_int_equal(TAKE(&k, 2, 1, 3, 5, 0), 0);
	assert_int_equal(TAKE(&k, 1, 1, 4), 0);
	assert_int_equal(string_pairs__get(&k, 1), 4);
	assert_int_equal(string_pairs__get(&k, 5), 0);
	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	assert_int_equal(string_pairs__get(&k, UINT32_MAX), TRACE_NO_STRING);
	string_pairs__destroy(&k);
}

static void of_a_malformed_list_nothing_is_kept(void **state)
{
	struct string_pairs k = {0};

	assert_int_equal(TAKE(&k, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3, 6, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3, 0, 6), -EBADMSG);
	assert_int_equal(TAKE(&k, 1, 1, 3, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 7, 1, 3), -EBADMSG);
	assert_int_equal(string_pairs__get(&k, 1), TRACE_NO_STRING);
	string_pairs__destroy(&k);
}

static void types_are_read_as_they_were_written(void **state)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_info info = {.tool = "test"};
	char path[] = "/tmp/qprof-test-XXXXXX.qpt";
	struct trace_writer *w = NULL;
	struct trace_item item;
	uint32_t query, other;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__intern(w, "symbol_name", &query), 0);
	assert_int_equal(trace_writer__intern(w, "other", &other), 0);
	assert_int_equal(trace_writer__key_type(w, query, "Instance"), 0);
	assert_int_equal(trace_writer__key_type(w, 100, "Instance"), -EINVAL);
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
	assert_int_equal(trace_reader__open(path, &r, NULL), 0);
	assert_int_equal(trace_reader__next(r, &item), 0);
	assert_string_equal(trace_reader__key_type(r, query), "Instance");
	assert_null(trace_reader__key_type(r, other));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_later_type_holds),
		cmocka_unit_test(of_a_malformed_list_nothing_is_kept),
		cmocka_unit_test(types_are_read_as_they_were_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
