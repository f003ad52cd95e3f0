// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debuginfod.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/diag.h"

/* Where nothing listens: no test here asks a server. */
#define NO_SERVER "http://127.0.0.1:9/"

static char said[256];

static int fetched(const char *name, const char *urls, char **path)
{
	int err;

	if (urls)
		setenv("DEBUGINFOD_URLS", urls, 1);
	else
		unsetenv("DEBUGINFOD_URLS");
	memset(said, 0, sizeof(said));
	diag_hold_errors(said, sizeof(said));
	err = WITH_LIBRARY(fixture(name), debuginfod__fetch(file_, path));
	diag_hold_errors(NULL, 0);
	return err;
}

static void a_server_must_be_named(void **state)
{
	char *path = NULL;

	assert_int_equal(fetched("driver_stripped.so", NULL, &path), -EINVAL);
	assert_non_null(strstr(said, "no server is named"));
	assert_int_equal(fetched("driver_stripped.so", "", &path), -EINVAL);
	assert_null(path);
}

static void a_library_with_symbols_needs_none(void **state)
{
	char *path = said;

	assert_int_equal(fetched("driver_v0.so", NO_SERVER, &path), 0);
	assert_null(path);
}

static void servers_know_files_by_their_build_id(void **state)
{
	char command[512], *path = NULL;

	snprintf(command, sizeof(command),
		 "objcopy --remove-section=.note.gnu.build-id %s %s/no_id.so",
		 fixture("driver_stripped.so"), fixture_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(fetched("no_id.so", NO_SERVER, &path), -ENODATA);
	assert_non_null(strstr(said, "has no build-id"));
	assert_null(path);
}

/* Only root can give a file to another user. */
static void root_asks_for_no_other_user(void **state)
{
	char *path = NULL;

	if (geteuid())
		skip();
	assert_int_equal(chown(fixture("driver_stripped.so"), 65534, 65534), 0);
	assert_int_equal(fetched("driver_stripped.so", NO_SERVER, &path), -EPERM);
	assert_non_null(strstr(said, "belongs to another user"));
	assert_int_equal(chown(fixture("driver_stripped.so"), 0, 0), 0);
	assert_null(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_must_be_named),
		cmocka_unit_test(a_library_with_symbols_needs_none),
		cmocka_unit_test(servers_know_files_by_their_build_id),
		cmocka_unit_test(root_asks_for_no_other_user),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
