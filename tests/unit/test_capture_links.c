// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/bpf tests attaching and detaching. */
#include "capture/links.h"

#include "test.h"

static void a_library_without_links_has_nothing_to_detach(void **state)
{
	links__begin_free(NULL);
	links__inherit(NULL);
	links__abandon(NULL);
	links__free(NULL);
}

/* Nothing is attached before links__attach(), so a file that is no library does no harm. */
static void links_that_were_never_attached_are_freed(void **state)
{
	struct bpf_program *const progs[ATTACH_ROLES] = {0};
	struct plan_site sites[] = {{.role = WIRE_ROLE_CAUGHT}, {.role = WIRE_ROLE_END}};
	_library_file_ struct library_file *file = NULL;
	struct plan plan = {.sites = sites, .n_sites = 2};
	struct attach_set set = {.plan = &plan};
	struct links *links;

	assert_int_equal(library_file__open("/bin/sh", &file), 0);
	plan.file = file;
	/* No role has a program. */
	assert_int_equal(links__new(progs, &set, &links), 0);
	assert_int_equal(links__attach(links, PLAN_PART_ALWAYS), 0);
	assert_int_equal(links__attach(links, PLAN_PART_THREADS), 0);
	assert_int_equal(links__sites(links), 0);
	links__free(links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_without_links_has_nothing_to_detach),
		cmocka_unit_test(links_that_were_never_attached_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
