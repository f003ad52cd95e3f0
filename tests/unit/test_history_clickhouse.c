// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sql.h"
#include "test.h"
#include "history/clickhouse_tables.h"
#include "history/address.h"
#include <sys/stat.h>
#include "base/diag.h"
#include "../fixtures/output.h"
#include "history/tab_separated.h"

static char filled[512];

static int fill(const char *sql, const struct store_value *args, size_t n)
{
	FILE *out = fmemopen(filled, sizeof(filled), "w");
	int err;

	assert_non_null(out);
	err = sql_text__fill(out, sql, args, n);
	fclose(out);
	return err;
}

TEST_CASE(values_take_the_places_of_question_marks)
{
	const struct store_value args[] = {
		{STORE_TEXT, .text = "main"},
		{STORE_INTEGER, .integer = INT64_MIN},
		{.type = STORE_NULL},
		{STORE_REAL, .real = 0.1},
	};

	assert_int_equal(fill("a = ? AND b < ? AND c = ? OR d > ?", args, 4), 0);
	assert_string_equal(filled, "a = 'main' AND b < -9223372036854775808 AND c = NULL OR d > "
				    "0.10000000000000001");
}

TEST_CASE(a_text_cannot_leave_its_quotes)
{
	const struct store_value args[] = {{STORE_TEXT, .text = "x' OR 1 -- \\"},
					   {STORE_TEXT, .text = "?"}};

	assert_int_equal(fill("a = ? AND b = ?", args, 2), 0);
	assert_string_equal(filled, "a = 'x\\' OR 1 -- \\\\' AND b = '?'");
}

TEST_CASE(question_marks_within_quotes_are_no_places)
{
	const struct store_value one = {STORE_INTEGER, .integer = 7};

	assert_int_equal(fill("'?' \"?\" `?` '\\'?' ?", &one, 1), 0);
	assert_string_equal(filled, "'?' \"?\" `?` '\\'?' 7");
	assert_int_equal(fill("'? ", NULL, 0), 0);
}

TEST_CASE(another_number_of_values_is_an_error)
{
	const struct store_value two[] = {{.type = STORE_INTEGER}, {.type = STORE_INTEGER}};

	assert_int_equal(fill("a = ?", two, 2), -EINVAL);
	assert_int_equal(fill("a = ? AND b = ?", two, 1), -EINVAL);
}

/* ---- Clickhouse tables ----------------------------------------------------------------------- */

static char *print(const char *cluster, uint64_t days)
{
	const struct clickhouse_tables t = {"ci", cluster, days};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	clickhouse_tables__print(&t, out);
	fclose(out);
	return text;
}

TEST_CASE(one_server_has_plain_tables)
{
	_free_ char *text = print(NULL, 0);

	assert_contains(text,
			"CREATE TABLE IF NOT EXISTS ci.query (\n    \"build\" UUID,\n"
			"    \"start_ns\" Int64,\n    \"crate\" String,\n    \"query\" String,\n");
	assert_contains(text, "\"self_ns\" Nullable(Int64)");
	assert_contains(
		text,
		"CREATE TABLE IF NOT EXISTS ci.llvm (\n    \"build\" UUID,\n    \"start_ns\" "
		"Int64,\n"
		"    \"crate\" String,\n    \"name\" String,\n    \"kind\" Nullable(String),\n");
	assert_contains(text, "ORDER BY (crate, name, start_ns, build)");
	assert_contains(
		text,
		"ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(toDateTime(intDiv(start_ns, "
		"1000000000), 'UTC')) ORDER BY (crate, query, start_ns, build)");
	assert_contains(text, "INSERT INTO ci.qprof_schema VALUES (4, '');\n");
	assert_int_equal(occurrences(text, "ENGINE = ReplacingMergeTree()"), HISTORY_TABLES + 1);
	assert_lacks(text, "CLUSTER");
	assert_lacks(text, "TTL");
}

TEST_CASE(a_cluster_has_replicas_and_a_name_for_all_shards)
{
	_free_ char *text = print("the-fleet", 0);

	assert_contains(text, "CREATE DATABASE IF NOT EXISTS ci ON CLUSTER `the-fleet`;");
	assert_contains(text, "CREATE TABLE IF NOT EXISTS ci.item_local ON CLUSTER `the-fleet` (");
	assert_contains(
		text,
		"ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/ci/item', '{replica}')");
	assert_contains(
		text,
		"ENGINE = Distributed(`the-fleet`, ci, item_local, cityHash64(toString(build)))");
	assert_int_equal(occurrences(text, "Distributed("), HISTORY_TABLES);
	assert_int_equal(occurrences(text, "ReplicatedReplacingMergeTree("), HISTORY_TABLES + 1);
}

TEST_CASE(tables_may_forget)
{
	_free_ char *text = print("the-fleet", 90);

	assert_contains(text, "ALTER TABLE ci.build_local ON CLUSTER `the-fleet` MODIFY TTL "
			      "toDateTime(intDiv(start_ns, 1000000000), 'UTC') + INTERVAL 90 DAY;");
	assert_int_equal(occurrences(text, "MODIFY TTL"), HISTORY_TABLES);
}

/* ---- Address --------------------------------------------------------------------------------- */

static char home[32], directory[64], file[80], said[512];

static struct address a;
static struct http_login login;

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
	http_login__clear(&login);
	diag_hold_errors(NULL, 0);
	unlink(file);
	rmdir(directory);
	return rmdir(home);
}
#define ADDRESS_CASE(name) TEST_CASE_WITH(name, make_home, remove_home)

static void keep(const char *text, mode_t mode)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(file, mode);
}

ADDRESS_CASE(an_address_has_its_parts)
{
	assert_int_equal(address__parse(&a, "http://ci-db:8124/qprof"), 0);
	assert_struct(a, base, "http://ci-db:8124/", database, "qprof", name,
		      "http://ci-db:8124/qprof", directory, "ci-db-8124-qprof");
	assert_int_equal(address__parse(&a, "https://[::1]"), 0);
	assert_struct(a, base, "https://[::1]:8443/", database, "default");
	assert_int_equal(address__parse(&a, "https://proxy.example/clickhouse/ci"), 0);
	assert_string_equal(a.base, "https://proxy.example:8443/clickhouse/");
	assert_string_equal(a.database, "ci");
}

ADDRESS_CASE(what_is_no_address_is_refused)
{
	static const char *const wrong[] = {"http://",	       "http://:8123/a", "http://h:/a",
					    "http://h:123456", "http://h/a?b=c", "http://h/a-b",
					    "http://h a/b",    "http://[::1/a",	 "http://h/a#b"};
	for (size_t i = 0; i < N_OF(wrong); i++)
		assert_int_equal(address__parse(&a, wrong[i]), -EINVAL);
}

ADDRESS_CASE(an_address_with_a_password_is_refused_and_not_shown)
{
	assert_int_equal(address__parse(&a, "https://me:hunter2@ci-db/qprof"), -EINVAL);
	assert_null(strstr(said, "hunter2"));
	assert_non_null(strstr(said, "QPROF_CLICKHOUSE_PASSWORD"));
}

ADDRESS_CASE(what_may_be_a_password_is_not_shown)
{
	assert_int_equal(address__parse(&a, "http://ci-db/qprof?password=hunter2"), -EINVAL);
	assert_null(strstr(said, "hunter2"));
	assert_non_null(strstr(said, "http://ci-db/qprof"));
}

ADDRESS_CASE(the_file_has_user_and_password)
{
	keep("# of the fleet\n\nuser = me\npassword =  a = b \nca=/etc/ca.pem\n", 0600);
	assert_int_equal(http_login__read(&login), 0);
	assert_struct(login, user, "me", password, "a = b", ca_file, "/etc/ca.pem");
}

ADDRESS_CASE(the_environment_goes_before_the_file)
{
	keep("user = me\npassword = old\n", 0600);
	setenv("QPROF_CLICKHOUSE_PASSWORD", "new", 1);
	assert_int_equal(http_login__read(&login), 0);
	assert_struct(login, user, "me", password, "new");
}

ADDRESS_CASE(a_file_that_others_may_read_is_refused)
{
	keep("password = hunter2\n", 0640);
	assert_int_equal(http_login__read(&login), -EPERM);
	assert_non_null(strstr(said, "chmod 600"));
	assert_null(login.password);
}

ADDRESS_CASE(a_fifo_is_not_waited_for)
{
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_int_equal(http_login__read(&login), -EINVAL);
	assert_non_null(strstr(said, "it is no file"));
}

ADDRESS_CASE(an_unknown_line_is_refused_and_not_shown)
{
	keep("user = me\nhunter2\n", 0600);
	assert_int_equal(http_login__read(&login), -EINVAL);
	assert_non_null(strstr(said, "line 2"));
	assert_null(strstr(said, "hunter2"));
}

ADDRESS_CASE(the_file_has_a_timeout)
{
	static const char *const wrong[] = {"timeout =\n", "timeout = 0\n", "timeout = 3601\n",
					    "timeout = 1s\n", "timeout = -1\n"};
	keep("timeout = 60\n", 0600);
	assert_int_equal(http_login__read(&login), 0);
	assert_string_equal(login.timeout, "60");
	for (size_t i = 0; i < N_OF(wrong); i++) {
		_http_login_ struct http_login other = {};

		keep(wrong[i], 0600);
		assert_int_equal(http_login__read(&other), -EINVAL);
	}
}

ADDRESS_CASE(without_a_file_there_is_no_login)
{
	assert_int_equal(http_login__read(&login), 0);
	assert_null(login.user);
}

/* ---- Tab separated --------------------------------------------------------------------------- */

static char seen[1024];
static int wanted; /* what the row function returns */

static int note(void *ctx, const struct store_value *cells, size_t n)
{
	size_t len = strlen(seen);

	for (size_t i = 0; i < n; i++) {
		char *at = seen + len;
		size_t room = sizeof(seen) - len;

		if (cells[i].type == STORE_TEXT)
			len += (size_t)snprintf(at, room, "[%s]", cells[i].text);
		else if (cells[i].type == STORE_INTEGER)
			len += (size_t)snprintf(at, room, "%lld;", (long long)cells[i].integer);
		else if (cells[i].type == STORE_REAL)
			len += (size_t)snprintf(at, room, "%g;", cells[i].real);
		else
			len += (size_t)snprintf(at, room, "null;");
	}
	return wanted;
}

/* Parse in pieces of so many bytes. */
static int parse_in(const char *text, size_t len, size_t piece)
{
	_tab_separated_ struct tab_separated t = {.row = note};
	int err = 0;

	*seen = '\0';
	for (size_t at = 0; !err && at < len; at += piece)
		err = tab_separated__take(&t, text + at, piece < len - at ? piece : len - at);
	return err ? err : tab_separated__end(&t);
}

static int parse(const char *text)
{
	return parse_in(text, strlen(text), strlen(text));
}

TEST_CASE(rows_come_with_their_types)
{
	static const char text[] =
		"a\tb\tc\td\n"
		"UUID\tNullable(Int64)\tFloat64\tLowCardinality(Nullable(String))\n"
		"x\t-5\t0.5\t\\\\ \\t\\n\\'\n"
		"\t\\N\tnan\t\\N\n"
		"y\t9007199254740993\t1e3\t\n";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		assert_int_equal(parse_in(text, sizeof(text) - 1, piece), 0);
		assert_string_equal(seen, "[x]-5;0.5;[\\ \t\n'][]null;nan;null;"
					  "[y]9007199254740993;1000;[]");
	}
}

TEST_CASE(no_rows_are_an_answer_too)
{
	assert_int_equal(parse("a\nUInt8\n"), 0);
	assert_string_equal(seen, "");
}

TEST_CASE(an_unsigned_number_may_be_too_large)
{
	assert_int_equal(parse("a\nUInt64\n18446744073709551615\n"), 0);
	assert_string_equal(seen, "1.84467e+19;");
}

TEST_CASE(half_an_answer_is_an_error)
{
	assert_int_equal(parse(""), -EPROTO);
	assert_int_equal(parse("a\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n1\n2"), -EPROTO);
}

TEST_CASE(another_format_is_an_error)
{
	static const char null_byte[] = "a\nString\nx\0y\n";

	assert_int_equal(parse("a\tb\nUInt8\tUInt8\n1\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n1\t2\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n<html>\n"), -EPROTO);
	assert_int_equal(parse("a\nUInt8\n\n"), -EPROTO);
	assert_int_equal(parse_in(null_byte, sizeof(null_byte) - 1, 4), -EPROTO);
}

TEST_CASE(lines_and_rows_are_bounded)
{
	char many[2 * TAB_SEPARATED_CELLS_MAX + 8] = "a\n";
	size_t n = TAB_SEPARATED_LINE_MAX + 2;
	char *one = malloc(n);

	for (size_t i = 0; i <= TAB_SEPARATED_CELLS_MAX; i++)
		strcat(many, "\t");
	assert_int_equal(parse(strcat(many, "\n")), -EPROTO);
	assert_non_null(one);
	memset(one, 'x', n);
	assert_int_equal(parse_in(one, n, 4096), -EPROTO);
	free(one);
}

TEST_CASE(the_row_function_ends_the_answer)
{
	wanted = 5;
	assert_int_equal(parse("a\nUInt8\n1\n2\n"), 5);
	assert_string_equal(seen, "1;");
	wanted = 0;
}

TEST_MAIN(NULL, NULL)
