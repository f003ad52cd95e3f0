// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_labels.h"

#include "test.h"

static void a_text_has_one_number(void **state)
{
	struct compare_labels l = {};
	uint32_t a, b, again;

	assert_int_equal(compare_labels__id(&l, "a", &a), 0);
	assert_int_equal(compare_labels__id(&l, "b", &b), 0);
	assert_int_equal(compare_labels__id(&l, "a", &again), 0);
	assert_int_equal(a, again);
	assert_int_not_equal(a, b);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.texts[b], "b");
	compare_labels__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_has_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
