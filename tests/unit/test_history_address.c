// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/address.h"

#include <sys/stat.h>

#include "base/diag.h"
#include "test.h"

static char home[32], directory[64], file[80], said[512];

static int make_home(void **state)
{
	strcpy(home, "/tmp/qprof-test.XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(directory, sizeof(directory), "%s/qprof-bpf", home);
	snprintf(file, sizeof(file), "%s/clickhouse", directory);
	setenv("XDG_CONFIG_HOME", home, 1);
	unsetenv("QPROF_CLICKHOUSE_USER");
	unsetenv("QPROF_CLICKHOUSE_PASSWORD");
	diag_hold_errors(said, sizeof(said));
	return mkdir(directory, 0700);
}

static int remove_home(void **state)
{
	diag_hold_errors(NULL, 0);
	unlink(file);
	rmdir(directory);
	return rmdir(home);
}

static void keep(const char *text, mode_t mode)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(file, mode);
}

TEST_CASE_WITH(an_address_has_its_parts, make_home, remove_home)
{
	struct address a;

	assert_int_equal(address__parse(&a, "http://ci-db:8124/qprof"), 0);
	assert_string_equal(a.base, "http://ci-db:8124/");
	assert_string_equal(a.database, "qprof");
	assert_string_equal(a.name, "http://ci-db:8124/qprof");
	assert_string_equal(a.directory, "ci-db-8124-qprof");
	assert_int_equal(address__parse(&a, "https://[::1]"), 0);
	assert_string_equal(a.base, "https://[::1]:8443/");
	assert_string_equal(a.database, "default");
	assert_int_equal(address__parse(&a, "https://proxy.example/clickhouse/ci"), 0);
	assert_string_equal(a.base, "https://proxy.example:8443/clickhouse/");
	assert_string_equal(a.database, "ci");
}

TEST_CASE_WITH(what_is_no_address_is_refused, make_home, remove_home)
{
	static const char *const wrong[] = {"http://",	       "http://:8123/a", "http://h:/a",
					    "http://h:123456", "http://h/a?b=c", "http://h/a-b",
					    "http://h a/b",    "http://[::1/a",	 "http://h/a#b"};
	struct address a;

	for (size_t i = 0; i < N_OF(wrong); i++)
		assert_int_equal(address__parse(&a, wrong[i]), -EINVAL);
}

TEST_CASE_WITH(an_address_with_a_password_is_refused_and_not_shown, make_home, remove_home)
{
	struct address a;

	assert_int_equal(address__parse(&a, "https://me:hunter2@ci-db/qprof"), -EINVAL);
	assert_null(strstr(said, "hunter2"));
	assert_non_null(strstr(said, "QPROF_CLICKHOUSE_PASSWORD"));
}

TEST_CASE_WITH(what_may_be_a_password_is_not_shown, make_home, remove_home)
{
	struct address a;

	assert_int_equal(address__parse(&a, "http://ci-db/qprof?password=hunter2"), -EINVAL);
	assert_null(strstr(said, "hunter2"));
	assert_non_null(strstr(said, "http://ci-db/qprof"));
}

TEST_CASE_WITH(the_file_has_user_and_password, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	keep("# of the fleet\n\nuser = me\npassword =  a = b \nca=/etc/ca.pem\n", 0600);
	assert_int_equal(http_login__read(&login), 0);
	assert_string_equal(login.user, "me");
	assert_string_equal(login.password, "a = b");
	assert_string_equal(login.ca_file, "/etc/ca.pem");
}

TEST_CASE_WITH(the_environment_goes_before_the_file, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	keep("user = me\npassword = old\n", 0600);
	setenv("QPROF_CLICKHOUSE_PASSWORD", "new", 1);
	assert_int_equal(http_login__read(&login), 0);
	assert_string_equal(login.user, "me");
	assert_string_equal(login.password, "new");
}

TEST_CASE_WITH(a_file_that_others_may_read_is_refused, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	keep("password = hunter2\n", 0640);
	assert_int_equal(http_login__read(&login), -EPERM);
	assert_non_null(strstr(said, "chmod 600"));
	assert_null(login.password);
}

TEST_CASE_WITH(a_fifo_is_not_waited_for, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	assert_int_equal(mkfifo(file, 0600), 0);
	assert_int_equal(http_login__read(&login), -EINVAL);
	assert_non_null(strstr(said, "it is no file"));
}

TEST_CASE_WITH(an_unknown_line_is_refused_and_not_shown, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	keep("user = me\nhunter2\n", 0600);
	assert_int_equal(http_login__read(&login), -EINVAL);
	assert_non_null(strstr(said, "line 2"));
	assert_null(strstr(said, "hunter2"));
}

TEST_CASE_WITH(the_file_has_a_timeout, make_home, remove_home)
{
	static const char *const wrong[] = {"timeout =\n", "timeout = 0\n", "timeout = 3601\n",
					    "timeout = 1s\n", "timeout = -1\n"};
	_http_login_ struct http_login login = {};

	keep("timeout = 60\n", 0600);
	assert_int_equal(http_login__read(&login), 0);
	assert_string_equal(login.timeout, "60");
	for (size_t i = 0; i < N_OF(wrong); i++) {
		_http_login_ struct http_login other = {};

		keep(wrong[i], 0600);
		assert_int_equal(http_login__read(&other), -EINVAL);
	}
}

TEST_CASE_WITH(without_a_file_there_is_no_login, make_home, remove_home)
{
	_http_login_ struct http_login login = {};

	assert_int_equal(http_login__read(&login), 0);
	assert_null(login.user);
}

TEST_MAIN(NULL, NULL)
