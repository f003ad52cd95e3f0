// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_names.h"

#include "test.h"
#include "plan/symbols/names.h"

static struct name_info info_of(const struct recovered *r, uint32_t i, uint64_t addr)
{
	struct name_info info;

	assert_int_equal(r->items[i].addr, addr);
	name_classify(r->text + r->items[i].at, &info);
	return info;
}

static void assert_query(const struct name_info *info, enum name_kind kind)
{
	assert_int_equal(info->kind, kind);
	assert_int_equal(info->query_len, strlen("type_of"));
	assert_memory_equal(info->query, "type_of", info->query_len);
}

static void functions_have_the_names_that_a_plan_looks_for(void **state)
{
	__cleanup(recovered__destroy) struct recovered r = {0};
	struct name_info info[3];

	/* The text goes on behind the name. */
	assert_int_equal(query_names__wrappers(&r, "type_of_", 7, 0x10, 0x20), 0);
	assert_int_equal(query_names__provider(&r, "type_of_", 7, 0x30), 0);
	assert_int_equal(query_names__loader(&r, "type_of_", 7, 0x40), 0);
	assert_int_equal(r.n, 4);
	for (uint32_t i = 0; i < N_OF(info); i++)
		info[i] = info_of(&r, i, 0x10 * (i + 1));
	assert_query(&info[0], NAME_WRAPPER_NON_INCR);
	assert_query(&info[1], NAME_WRAPPER_INCR);
	assert_query(&info[2], NAME_PROVIDER);
	assert_non_null(strstr(r.text + r.items[3].at, "7type_of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_the_names_that_a_plan_looks_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
