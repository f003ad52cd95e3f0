// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/e2e/test_without_root.py tests an environment that the dynamic linker has changed. */
#include "base/first_environ.h"

#include <unistd.h>

#include "test.h"

static void texts_are_split(void **state)
{
	char block[] = "A=1\0TMPDIR=/t\0\0B=", name[] = "./qprof-bpf";
	char **env;

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

static void an_unterminated_environment_is_refused(void **state)
{
	char block[] = {'A', '=', '1'};
	char **env;

	assert_int_equal(first_environ__split(block, block + 3, &env), -EINVAL);
	assert_int_equal(first_environ__split(block + 3, block, &env), -EINVAL);
}

static void without_capabilities_of_the_file_it_is_ours(void **state)
{
	char name[] = "x", *argv[] = {name, NULL};
	size_t i = 0;

	assert_int_equal(first_environ__save(1, argv), 0);
	for (; environ[i]; i++)
		assert_ptr_equal(first_environ()[i], environ[i]);
	assert_null(first_environ()[i]);
}

/* Each of these makes some library read a file or trust a value. */
static void a_process_with_rights_sees_what_is_known(void **state)
{
	static const char *const unsafe[] = {
		"TERMINFO",
		"TERMINFO_DIRS",
		"TERMCAP",
		"NCURSES_GPM_TERMS",
		"DEBUGINFOD_URLS",
		"LOCPATH",
		"LIBBPF_LOG_LEVEL",
		"TZ",
		"LD_LIBRARY_PATH",
		"PATH",
		"GCONV_PATH",
		"LANGUAGE",
		"TMPDIR",
		"HOM",
		"HOMES",
		"CARGO_HOME",
	};
	char **own = environ;

	for (size_t i = 0; i < N_OF(unsafe); i++)
		setenv(unsafe[i], "/tmp/x", 1);
	setenv("HOME", "/home/me", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("LC_ALL", "../../tmp/x", 1);
	own = environ;
	assert_int_equal(first_environ__restrict(), 0);
	for (size_t i = 0; i < N_OF(unsafe); i++)
		assert_null(getenv(unsafe[i]));
	assert_string_equal(getenv("HOME"), "/home/me");
	assert_string_equal(getenv("LANG"), "C.UTF-8");
	assert_null(getenv("LC_ALL"));
	first_environ__release();
	assert_ptr_equal(environ, own);
	first_environ__release();
	assert_string_equal(getenv("TERMINFO"), "/tmp/x");
}

static void another_environment_replaces_both(void **state)
{
	char **env = calloc(2, sizeof(*env));

	env[0] = strdup("A=1");
	assert_int_equal(first_environ__restrict(), 0);
	first_environ__replace(env);
	assert_ptr_equal(environ, env);
	assert_ptr_equal(first_environ(), env);
	first_environ__release();
	assert_ptr_equal(environ, env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_split),
		cmocka_unit_test(an_unterminated_environment_is_refused),
		cmocka_unit_test(without_capabilities_of_the_file_it_is_ours),
		cmocka_unit_test(a_process_with_rights_sees_what_is_known),
		cmocka_unit_test(another_environment_replaces_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
