// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/array.h"

#include "test.h"

static void growing_the_array_keeps_its_items(void **state)
{
	uint64_t *items = NULL;
	uint32_t capacity = 0, n = 0;

	for (; n < 1000; n++) {
		assert_int_equal(array__reserve_one(&items, n, &capacity, sizeof(*items)), 0);
		assert_true(n < capacity);
		items[n] = n;
	}
	assert_true(capacity < 2 * n + 16);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void an_added_item_is_copied_to_the_end(void **state)
{
	struct pair {
		uint64_t key;
		char name[3];
	} *items = NULL;
	uint32_t capacity = 0, n = 0;

	for (uint64_t i = 0; i < 100; i++) {
		struct pair p = {100 - i, {(char)i, 'x'}};

		assert_int_equal(array__add(&items, &n, &capacity, &p), 0);
		assert_int_equal(n, i + 1);
	}
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(items[i].key, 100 - i);
		assert_int_equal(items[i].name[0], i);
		assert_int_equal(items[i].name[1], 'x');
	}
	free(items);
}

static void numbers_are_found_and_ordered_as_unsigned(void **state)
{
	uint64_t at[] = {1ull << 63, 3, UINT64_MAX, 0, 3};
	const uint64_t sorted[] = {0, 3, 3, 1ull << 63, UINT64_MAX}, key = 1ull << 63;

	assert_true(array__has_u64(at, 5, 0));
	assert_false(array__has_u64(at, 3, 0));
	assert_false(array__has_u64(NULL, 0, 0));
	qsort(at, 5, sizeof(*at), array__by_u64);
	assert_memory_equal(at, sorted, sizeof(sorted));
	assert_ptr_equal(bsearch(&key, at, 5, sizeof(*at), array__by_u64), &at[3]);
}

static void reserving_an_index_zeroes_the_new_items(void **state)
{
	static const uint32_t at[] = {0, 15, 16, 17, 1000, 40, 2500, 2001};
	uint16_t *items = NULL;
	uint32_t n = 0;

	for (size_t k = 0; k < N_OF(at); k++) {
		uint32_t before = n;

		assert_int_equal(array__reserve_at(&items, at[k], &n, sizeof(*items)), 0);
		assert_true(at[k] < n && n >= before);
		assert_true(n == before || n >= 2 * before);
		for (uint32_t i = before; i < n; i++)
			assert_int_equal(items[i], 0);
		items[at[k]] = 7;
	}
	for (size_t k = 0; k < N_OF(at); k++)
		assert_int_equal(items[at[k]], 7);
	assert_int_equal(array__reserve_at(&items, UINT32_MAX, &n, sizeof(*items)), -ENOMEM);
	assert_true(n < 10000);
	free(items);
}

static void appended_bytes_keep_their_order(void **state)
{
	char *bytes = NULL;
	size_t len = 0, capacity = 0;

	for (int i = 0; i < 3000; i++) {
		assert_int_equal(bytes__append(&bytes, &len, &capacity, "abc", 3), 0);
		assert_int_equal(len, 3 * (i + 1));
		assert_true(capacity >= len);
	}
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], "abc"[i % 3]);
	free(bytes);
}

static void memory_that_is_not_there_changes_nothing(void **state)
{
	char *items = NULL;
	uint32_t capacity = 0, n = 0;

	assert_int_equal(array__reserve_one(&items, 0, &capacity, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(array__add_bytes(&items, &n, &capacity, "", SIZE_MAX / 2), -ENOMEM);
	assert_null(items);
	assert_int_equal(n, 0);
	assert_int_equal(capacity, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growing_the_array_keeps_its_items),
		cmocka_unit_test(an_added_item_is_copied_to_the_end),
		cmocka_unit_test(appended_bytes_keep_their_order),
		cmocka_unit_test(reserving_an_index_zeroes_the_new_items),
		cmocka_unit_test(numbers_are_found_and_ordered_as_unsigned),
		cmocka_unit_test(memory_that_is_not_there_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
