// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The probes that a budget governs. tests/bpf tests attaching and detaching. */
#include "capture/links.h"

#include "test.h"

static void the_distinguishing_part_of_a_query_stays(void **state)
{
	struct plan_site site = {.query = 0, .body = 0};

	site.role = WIRE_ROLE_START;
	assert_true(links_govern(&site));
	site.role = WIRE_ROLE_END;
	assert_true(links_govern(&site));
	site.role = WIRE_ROLE_IDENTIFY;
	assert_false(links_govern(&site));
	site.role = WIRE_ROLE_CAUGHT;
	assert_false(links_govern(&site));
	site.role = WIRE_ROLE_TIMER;
	assert_false(links_govern(&site));
	site.role = WIRE_ROLE_TIMER_END;
	assert_false(links_govern(&site));
}

static void guards_come_with_their_ends(void **state)
{
	static const enum wire_role roles[] = {WIRE_ROLE_GUARD, WIRE_ROLE_GUARD_QUERY,
					       WIRE_ROLE_GUARD_CALLED, WIRE_ROLE_GUARD_END};
	struct plan_site site = {.query = PLAN_NONE, .body = PLAN_NONE};

	for (int i = 0; i < 4; i++) {
		site.role = roles[i];
		assert_true(links_govern(&site));
	}
}

static void a_library_that_was_detached_has_nothing_to_attach(void **state)
{
	assert_int_equal(links__attach(NULL, NULL, NULL, NULL), 0);
	assert_int_equal(links__set_starts(NULL, 0, true), 0);
	assert_int_equal(links__set_ends(NULL, 0, false), 0);
	assert_int_equal(links__add_group(NULL, 0), 0);
	assert_int_equal(links__sites(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_distinguishing_part_of_a_query_stays),
		cmocka_unit_test(guards_come_with_their_ends),
		cmocka_unit_test(a_library_that_was_detached_has_nothing_to_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
