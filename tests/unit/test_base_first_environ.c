// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What the dynamic linker does to it is tested in tests/e2e/test_without_root.py. */
#include "base/first_environ.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void texts_are_split(void **state)
{
	char block[] = "A=1\0TMPDIR=/t\0\0B=", name[] = "./qprof-bpf";
	char **env;

	(void)state;
	assert_int_equal(first_environ__split(block, block + sizeof(block), &env), 0);
	assert_string_equal(env[0], "A=1");
	assert_string_equal(env[1], "TMPDIR=/t");
	assert_string_equal(env[2], "");
	assert_string_equal(env[3], "B=");
	assert_null(env[4]);
	free(env);
	assert_int_equal(first_environ__split(name, name, &env), 0);
	assert_null(env[0]);
	free(env);
}

static void what_does_not_end_is_refused(void **state)
{
	char block[] = {'A', '=', '1'};
	char **env;

	(void)state;
	assert_int_equal(first_environ__split(block, block + 3, &env), -EINVAL);
	assert_int_equal(first_environ__split(block + 3, block, &env), -EINVAL);
}

static void without_capabilities_of_the_file_it_is_ours(void **state)
{
	char name[] = "x", *argv[] = {name, NULL};

	(void)state;
	assert_int_equal(first_environ__save(1, argv), 0);
	assert_ptr_equal(first_environ(), environ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_split),
		cmocka_unit_test(what_does_not_end_is_refused),
		cmocka_unit_test(without_capabilities_of_the_file_it_is_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
