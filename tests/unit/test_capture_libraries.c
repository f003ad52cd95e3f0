// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/libraries.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"

struct attached {
	unsigned int n;
	int err; /* to be returned */
};

static int attach(void *ctx, const struct plan *plan)
{
	struct attached *a = ctx;

	assert_non_null(plan);
	a->n++;
	return a->err;
}

static int setup(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", fixture("cache"));
	setenv("XDG_CACHE_HOME", fixture("cache"), 1);
	unsetenv("SUDO_UID");
	return system(command);
}

static struct libraries *make(struct attached *a)
{
	struct libraries *l = NULL;

	assert_int_equal(libraries__new(attach, a, 0, &l), 0);
	return l;
}

/* Until the one that is expected has been planned. */
static struct library_state settle(struct libraries *l, const char *path)
{
	struct library_state state;

	for (;;) {
		struct pollfd pfd = {.fd = libraries__fd(l), .events = POLLIN};

		assert_int_equal(libraries__look(l, path, &state), 0);
		if (state.planned)
			return state;
		poll(&pfd, 1, -1);
		libraries__settle(l);
	}
}

static void a_library_is_attached_to_once(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);

	(void)state;
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), 0);
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), 0);
	libraries__expect(l, fixture("driver_v0.so"));
	assert_int_equal(a.n, 1);
	assert_int_equal(libraries__attached(l), 1);
}

static void another_name_of_it_is_the_same_library(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);
	struct library_state lib;

	(void)state;
	assert_int_equal(chdir(fixture_dir), 0);
	assert_int_equal(link("driver_v0.so", "another-name.so"), 0);
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), 0);
	assert_int_equal(libraries__look(l, fixture("another-name.so"), &lib), 0);
	assert_int_equal(libraries__add(l, fixture("another-name.so")), 0);
	assert_int_equal(a.n, 1);
}

static void one_that_is_expected_is_attached_to_when_its_plan_is_there(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);
	struct library_state lib;

	(void)state;
	assert_int_equal(libraries__look(l, fixture("driver_v0.so"), &lib), -ENOENT);
	libraries__expect(l, fixture("driver_v0.so"));
	assert_int_equal(libraries__look(l, fixture("driver_v0.so"), &lib), 0);
	assert_false(lib.planned);
	assert_int_equal(a.n, 0);
	lib = settle(l, fixture("driver_v0.so"));
	assert_int_equal(lib.err, 0);
	assert_true(lib.attached_ns > 0);
	assert_int_equal(a.n, 1);
}

static void two_are_planned_at_the_same_time(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);

	(void)state;
	libraries__expect(l, fixture("driver_v0.so"));
	libraries__expect(l, fixture("driver_legacy.so"));
	settle(l, fixture("driver_v0.so"));
	settle(l, fixture("driver_legacy.so"));
	assert_int_equal(libraries__attached(l), 2);
}

/* Somebody else cannot go on without it. */
static void one_that_is_expected_can_be_waited_for(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);

	(void)state;
	libraries__expect(l, fixture("driver_v0.so"));
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), 0);
	assert_int_equal(a.n, 1);
	libraries__settle(l);
	assert_int_equal(a.n, 1);
}

static void one_that_failed_is_not_tried_again(void **state)
{
	struct attached a = {.err = -EPERM};
	_libraries_ struct libraries *l = make(&a);
	struct library_state lib;

	(void)state;
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), -EPERM);
	assert_int_equal(libraries__add(l, fixture("driver_v0.so")), -EPERM);
	assert_int_equal(a.n, 1);
	assert_int_equal(libraries__attached(l), 0);
	assert_int_equal(libraries__look(l, fixture("driver_v0.so"), &lib), 0);
	assert_true(lib.planned);
	assert_int_equal(lib.err, -EPERM);
}

static void what_is_no_library_is_never_attached_to(void **state)
{
	struct attached a = {0};
	_libraries_ struct libraries *l = make(&a);
	struct library_state lib;
	struct output o;

	(void)state;
	output_begin(&o);
	libraries__expect(l, "/bin/sh");
	lib = settle(l, "/bin/sh");
	assert_int_equal(libraries__add(l, fixture("no-such.so")), -ENOENT);
	output_end(&o);
	assert_true(lib.err < 0);
	assert_int_equal(a.n, 0);
	assert_contains(o.text[1], "no-such.so");
	output_free(&o);
}

static void one_whose_plan_is_being_made_can_be_given_up(void **state)
{
	struct attached a = {0};
	struct libraries *l = make(&a);

	(void)state;
	libraries__expect(l, fixture("driver_v0.so"));
	libraries__free(l);
	libraries__free(NULL);
	assert_int_equal(a.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_library_is_attached_to_once, setup),
		cmocka_unit_test_setup(another_name_of_it_is_the_same_library, setup),
		cmocka_unit_test_setup(one_that_is_expected_is_attached_to_when_its_plan_is_there,
				       setup),
		cmocka_unit_test_setup(two_are_planned_at_the_same_time, setup),
		cmocka_unit_test_setup(one_that_is_expected_can_be_waited_for, setup),
		cmocka_unit_test_setup(one_that_failed_is_not_tried_again, setup),
		cmocka_unit_test_setup(what_is_no_library_is_never_attached_to, setup),
		cmocka_unit_test_setup(one_whose_plan_is_being_made_can_be_given_up, setup),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
