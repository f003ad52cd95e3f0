// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_history.h"
#include "history/columns.h"
#include "history/sql.h"
#include "history/json_lines.h"
#include "history/sqlite_add.h"
#include "history/sqlite_place.h"
#include "history/sqlite_schema.h"
#include "test.h"

static struct store *opened(const char *name)
{
	struct store *s = NULL;

	assert_int_equal(sqlite__open(directory_path(name), STORE_WRITE, &s), 0);
	return s;
}

static int add(struct store *s, unsigned int number)
{
	_history_rows_ struct history_rows r;

	sample_history(&r, number);
	return store__add(s, &r);
}

static uint64_t rounded(uint64_t ns)
{
	return ns == HISTORY_UNKNOWN ? ns : sqlite_time__ns(sqlite_time(ns) - 3);
}

/* Times of queries, items and LLVM are not kept to the ns. */
static void round_times(struct history_rows *r)
{
	struct history_query *queries = r->rows[HISTORY_QUERY];
	struct history_item *items = r->rows[HISTORY_ITEM];
	struct history_llvm *llvm = r->rows[HISTORY_LLVM];

	for (size_t i = 0; i < r->n[HISTORY_QUERY]; i++) {
		queries[i].self_ns = rounded(queries[i].self_ns);
		queries[i].total_ns = rounded(queries[i].total_ns);
	}
	for (size_t i = 0; i < r->n[HISTORY_ITEM]; i++)
		items[i].self_ns = rounded(items[i].self_ns);
	for (size_t i = 0; i < r->n[HISTORY_LLVM]; i++)
		llvm[i].self_ns = rounded(llvm[i].self_ns);
}

static int write_build(void *ctx, const struct history_rows *rows)
{
	return json_lines__write(ctx, rows);
}

#define CASE(name)                                                                         \
	TEST_CASE_GIVEN(name, directory_make, directory_remove, _store_ struct store *, s, \
			opened("a.db"))

/* Build 1 is all that is there. */
static void assert_has_build_1(struct store *s)
{
	_history_rows_ struct history_rows r;
	_free_ char *expected = NULL, *read = NULL;

	sample_history(&r, 1);
	round_times(&r);
	expected = printed_text(json_lines__write(out, &r));
	read = printed_text(store__each(s, write_build, out));
	assert_string_equal(read, expected);
}

CASE(a_build_is_read_as_it_was_added)
{
	assert_int_equal(add(s, 1), 0);
	assert_has_build_1(s);
}

static int keep_number(void *ctx, const struct store_value *cells, size_t n)
{
	assert_int_equal(n, 1);
	assert_int_equal(cells[0].type, STORE_INTEGER);
	*(int64_t *)ctx = cells[0].integer;
	return 0;
}

static int64_t number(struct store *s, const char *sql)
{
	int64_t n = -1;

	assert_int_equal(store__select(s, sql, NULL, 0, keep_number, &n), 0);
	return n;
}

/* How many rows there are "FROM" this. */
static int64_t rows(struct store *s, const char *from)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", from);
	return number(s, sql);
}

CASE(a_build_is_added_once)
{
	assert_int_equal(add(s, 1), 0);
	assert_int_equal(add(s, 1), 1);
	assert_int_equal(rows(s, "build"), 1);
}

static int add_in_state(struct store *s, const char *state, size_t less)
{
	_history_rows_ struct history_rows r;

	sample_history(&r, 1);
	r.build.state = history_rows__text(&r, state);
	r.n[HISTORY_COMPILE] -= less;
	r.n[HISTORY_QUERY] -= less;
	return store__add(s, &r);
}

CASE(the_whole_build_replaces_an_unfinished_one)
{
	assert_int_equal(add_in_state(s, "unfinished", 1), 0);
	assert_int_equal(add_in_state(s, "damaged", 0), 1);
	assert_int_equal(add_in_state(s, "whole", 0), 0);
	assert_int_equal(add_in_state(s, "unfinished", 1), 1);
	assert_has_build_1(s);
}

static void change(const char *file, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(directory_path(file), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void assert_wrong(struct store *s, const char *sql, const char *why)
{
	_output_ struct output said = {};
	_free_ char *read = NULL;

	change("a.db", sql);
	output_begin(&said);
	read = printed_text(store__each(s, write_build, out) + EBADMSG);
	output_end(&said);
	assert_string_equal(read, "");
	assert_one_line(said.text[1]);
	assert_contains(said.text[1], why);
}

CASE(a_row_that_no_build_has_is_refused)
{
	assert_int_equal(add(s, 1), 0);
	assert_wrong(s, "UPDATE builds SET lost = -1", "has a wrong \"lost\"");
	assert_wrong(s, "UPDATE builds SET lost = 9223372036854775807",
		     "is wrong: \"lost\" is no number");
	assert_wrong(s, "UPDATE builds SET lost = 0, build = 'x'", "\"build\" is no UUID");
}

TEST_CASE_WITH(a_file_that_cannot_be_there_is_not_made, directory_make, directory_remove)
{
	_output_ struct output said = {};
	struct store *s = NULL;
	char path[512];

	output_write(directory_path("file"), "");
	snprintf(path, sizeof(path), "%s/file/a.db", directory);
	output_begin(&said);
	assert_int_equal(sqlite__open(path, STORE_READ, &s), -ENOTDIR);
	output_end(&said);
	assert_one_line(said.text[1]);
	assert_contains(said.text[1], "cannot read");
}

CASE(old_builds_are_pruned)
{
	uint64_t n;

	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(add(s, i), 0);
	assert_int_equal(store__prune(s, SAMPLE_HISTORY_START + UINT64_C(120000000000), &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows(s, "build"), 3);
}

static off_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(directory_path(name), &st), 0);
	return st.st_size;
}

/* A build with items of long names. */
static void add_with_items(struct store *s, unsigned int number, unsigned int items)
{
	_history_rows_ struct history_rows r;

	sample_history(&r, number);
	for (unsigned int i = 0; i < items; i++) {
		struct history_item *item = history_rows__append(&r, HISTORY_ITEM);
		char name[256];

		assert_non_null(item);
		snprintf(name, sizeof(name), "only::of::%u::%0200u", number, i);
		*item = *(struct history_item *)r.rows[HISTORY_ITEM];
		item->item = history_rows__text(&r, name);
	}
	assert_int_equal(store__add(s, &r), 0);
}

TEST_CASE_WITH(what_only_old_builds_needed_is_pruned, directory_make, directory_remove)
{
	_free_ char *expected = NULL, *read = NULL;
	_store_ struct store *s = opened("a.db");
	uint64_t n;

	add_with_items(s, 0, 500);
	add_with_items(s, 1, 0);
	store__close(s);
	s = opened("a.db");
	assert_true(size_of("a.db") > 200000);
	assert_true(rows(s, "names") > 500);
	assert_int_equal(store__prune(s, SAMPLE_HISTORY_START + 1, &n), 0);
	assert_int_equal(n, 1);
	assert_true(rows(s, "names") < 30);
	assert_int_equal(rows(s, "lists WHERE what = 'item'"), 1);
	assert_int_equal(rows(s, "entries JOIN lists USING(list) WHERE what = 'item'"), 1);
	assert_int_equal(rows(s, "counts"), 4);
	assert_int_equal(rows(s, "llvm WHERE name = 'InstCombine'"), 1);
	assert_int_equal(rows(s, "item WHERE item = 'syn::parse::Parser'"), 1);
	assert_true(size_of("a.db") < 200000);
	/* The rest is whole, and takes further builds. */
	expected = printed_text(store__each(s, write_build, out));
	add_with_items(s, 2, 10);
	assert_int_equal(store__prune(s, SAMPLE_HISTORY_START + 1, &n), 0);
	assert_int_equal(n, 0);
	read = printed_text(store__each(s, write_build, out));
	assert_memory_equal(read, expected, strlen(expected));
	assert_int_equal(rows(s, "item"), 1 + 11);
}

/* The content of tests/fixtures/history/version-<version>.<extension>; the caller frees it. */
static char *kept(int version, const char *extension, size_t *size)
{
	int here = strrchr(__FILE__, '/') - __FILE__;
	_free_ char *path = NULL;
	char *content = NULL;
	_fclose_ FILE *in = NULL;
	FILE *out = open_memstream(&content, size);

	assert_non_null(out);
	assert_true(asprintf(&path, "%.*s/../fixtures/history/version-%d.%s", here, __FILE__,
			     version, extension) > 0);
	in = fopen(path, "re");
	assert_non_null(in);
	for (int c; (c = getc(in)) != EOF;)
		putc(c, out);
	assert_int_equal(fclose(out), 0);
	return content;
}

static void keep(int version)
{
	_free_ char *content = NULL;
	_fclose_ FILE *out = NULL;
	size_t size;

	content = kept(version, "db", &size);
	out = fopen(directory_path("kept.db"), "we");
	assert_non_null(out);
	assert_int_equal(fwrite(content, 1, size, out), size);
	assert_int_equal(fflush(out), 0);
}

static struct store *opened_as_kept(int version)
{
	keep(version);
	return opened("kept.db");
}

/* Of a query over all crates, as a trend asks. */
static int64_t executions(struct store *s, const char *table)
{
	_free_ char *sql = NULL;

	assert_true(asprintf(&sql, "SELECT sum(count) FROM %s WHERE query = 'typeck'", table) > 0);
	return number(s, sql);
}

/* The rows of a kept file as they are in today's version, by their lines. */
static char *as_of_today(int version)
{
	size_t size;
	_free_ char *lines = kept(version, "jsonl", &size);
	_fclose_ FILE *in = fmemopen(lines, size, "r");
	_json_lines_ struct json_lines *l = NULL;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(json_lines__new(in, &l), 0);
	for (int more = 1; more;) {
		_history_rows_ struct history_rows r;

		history_rows__init(&r);
		more = json_lines__next(l, &r);
		assert_null(json_lines__problem(l));
		if (more)
			assert_int_equal(json_lines__write(out, &r), 0);
	}
	/* The text may move when the stream is closed. */
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST_CASE_WITH(files_of_all_versions_are_read_and_written, directory_make, directory_remove)
{
	for (int version = 1; version <= SQLITE_FILE_VERSION; version++) {
		_store_ struct store *s = opened_as_kept(version);
		_free_ char *expected = NULL, *read = NULL;
		int64_t builds = rows(s, "build");
		uint64_t n;

		expected = as_of_today(version);
		read = printed_text(store__each(s, write_build, out));
		assert_string_equal(read, expected);
		assert_true(executions(s, "query") > 0);
		assert_int_equal(executions(s, dialect__query_sums(STORE_SQLITE)),
				 executions(s, "query"));
		assert_int_equal(add(s, 1000000), 0);
		assert_int_equal(rows(s, "build"), builds + 1);
		assert_int_equal(number(s, "PRAGMA user_version"), SQLITE_FILE_VERSION);
		assert_int_equal(store__prune(s, SAMPLE_HISTORY_START + 1, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(rows(s, "build"), builds);
	}
}

/* A file of version 4 has none; its builds stay, and get more. */
TEST_CASE_WITH(llvms_work_is_there_from_version_5_on, directory_make, directory_remove)
{
	for (int version = 4; version <= 6; version++) {
		_store_ struct store *s = opened_as_kept(version);
		int64_t had = version < 5 ? 0 : 26;

		assert_int_equal(rows(s, "build"), 130);
		assert_int_equal(rows(s, "llvm"), 3 * had);
		assert_int_equal(add(s, 1000000), 0);
		assert_int_equal(rows(s, "llvm"), 3 * had + 2);
		/* Without a crate the name finds it, and with another crate it does not. */
		assert_int_equal(rows(s, "llvm WHERE name = 'InstCombine'"), had + 1);
		assert_int_equal(
			rows(s,
			     "llvm WHERE name = 'InstCombine' AND crate = 'syn' AND kind = 'pass'"),
			1);
		assert_int_equal(rows(s, "llvm WHERE name = 'app::main' AND crate = 'syn'"), 0);
		assert_int_equal(number(s, "SELECT self_ns FROM llvm WHERE name = "
					   "'syn::parse::Parser::next'"),
				 (int64_t)rounded(20000000 + 1000000));
	}
}

/* Of version 2 every tenth build had a budget; of its rows one query and one item is an estimate.
 */
TEST_CASE_WITH(estimates_are_in_no_file_any_more, directory_make, directory_remove)
{
	static const char series[] = "SELECT count(*) FROM query_sum WHERE query = 'mir_borrowck'";
	_store_ struct store *s = opened_as_kept(2);

	assert_int_equal(rows(s, "build"), 130);
	assert_int_equal(rows(s, "build WHERE how = 'sampled'"), 13);
	assert_int_equal(rows(s, "build WHERE how = 'exact'"), 117);
	assert_int_equal(rows(s, "query WHERE how = 'estimated'"), 0);
	assert_int_equal(rows(s, "query"), 3 * 130 - 13);
	assert_int_equal(rows(s, "item"), 2 * 26 - 13);
	assert_int_equal(rows(s, "compile"), 26);
	assert_int_equal(rows(s, "build WHERE results IS NOT NULL"), 0);
	/* A sum over crates of which one is an estimate. */
	assert_int_equal(number(s, series), 130 - 13);
	assert_int_equal(rows(s, "names WHERE text = 'estimated'"), 0);
	assert_int_equal(rows(s, "sqlite_schema WHERE sql LIKE '%budget%'"), 0);
}

/* In place of a table or beside the tables; each would run without end, or change the file. */
static const char *const of_another[] = {
	"ALTER TABLE builds RENAME TO b; CREATE VIEW builds AS WITH RECURSIVE r(n) AS "
	"(SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
	"CREATE TRIGGER t AFTER DELETE ON names BEGIN DELETE FROM builds; END",
	"CREATE VIEW more AS SELECT 1",
	"CREATE INDEX more ON builds(abs(n))",
	"CREATE TABLE more(x)",
	"DROP INDEX builds_start",
};

TEST_CASE_WITH(a_file_with_other_objects_is_refused, directory_make, directory_remove)
{
	for (int version = 1; version <= SQLITE_FILE_VERSION; version++)
		for (size_t i = 0; i < N_OF(of_another); i++) {
			struct store *s = NULL;
			_output_ struct output said = {};

			keep(version);
			change("kept.db", of_another[i]);
			assert_int_equal(CAPTURED(&said, sqlite__open(directory_path("kept.db"),
								      STORE_WRITE, &s)),
					 -EBADMSG);
			assert_one_line(said.text[1]);
			assert_contains(said.text[1], "not those of a history");
			assert_null(s);
		}
}

TEST_CASE_WITH(files_of_others_beside_it_are_refused, directory_make, directory_remove)
{
	static const char *const beside[] = {"a.db-wal", "a.db-shm", "a.db-journal"};

	store__close(opened("a.db"));
	for (size_t i = 0; i < N_OF(beside); i++) {
		struct store *s = NULL;
		_output_ struct output said = {};

		assert_int_equal(mkfifo(directory_path(beside[i]), 0600), 0);
		assert_int_equal(
			CAPTURED(&said, sqlite__open(directory_path("a.db"), STORE_READ, &s)),
			-EPERM);
		assert_contains(said.text[1], "remove it");
		assert_int_equal(unlink(directory_path(beside[i])), 0);
	}
}

/* Another user puts a link in the place of its directory, before the log is made. */
TEST_CASE_WITH(a_directory_that_another_replaces_stays_the_place, directory_make, directory_remove)
{
	static const char *const files[] = {"moved/a.db", "moved/a.db-wal", "moved/a.db-shm"};
	_free_ char *path = NULL;
	_close_ int fd = -1;
	sqlite3 *db;

	must(mkdir(directory_path("here"), 0700), mkdir(directory_path("victim"), 0700),
	     sqlite_place__open(directory_path("here/a.db"), &fd, &path));
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
					 sqlite_place__vfs()),
			 SQLITE_OK);
	assert_int_equal(renameat(directory_fd, "here", directory_fd, "moved"), 0);
	assert_int_equal(symlinkat("victim", directory_fd, "here"), 0);
	assert_int_equal(sqlite3_exec(db,
				      "PRAGMA journal_mode = WAL; CREATE TABLE t (x);"
				      "INSERT INTO t VALUES (1)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	for (size_t i = 0; i < N_OF(files); i++)
		assert_int_equal(access(directory_path(files[i]), F_OK), 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	for (size_t i = 0; i < N_OF(files); i++)
		assert_int_equal(access(directory_path(files[i]), F_OK), i ? -1 : 0);
	must(unlink(directory_path(files[0])), rmdir(directory_path("victim")),
	     rmdir(directory_path("moved")));
}

TEST_CASE_WITH(a_link_that_comes_meanwhile_is_refused, directory_make, directory_remove)
{
	char *path = NULL;
	int fd = -1;

	assert_int_equal(symlinkat(".", directory_fd, "here"), 0);
	assert_int_equal(sqlite_place__open(directory_path("here/a.db"), &fd, &path), -ELOOP);
	assert_null(path);
	assert_int_equal(fd, -1);
}

/* A crate with more queries than a list has. */
CASE(a_build_beyond_the_limits_is_refused_whole)
{
	_history_rows_ struct history_rows r;
	_output_ struct output said = {};

	sample_history(&r, 1);
	for (unsigned int i = 0; i < SQLITE_LIST_MOST; i++) {
		struct history_query *q = history_rows__append(&r, HISTORY_QUERY);
		char name[32];

		assert_non_null(q);
		snprintf(name, sizeof(name), "query_%u", i);
		*q = *(struct history_query *)r.rows[HISTORY_QUERY];
		q->query = history_rows__text(&r, name);
	}
	output_begin(&said);
	assert_int_equal(store__add(s, &r), -EBADMSG);
	output_end(&said);
	assert_one_line(said.text[1]);
	assert_int_equal(rows(s, "build"), 0);
	assert_int_equal(rows(s, "names"), 0);
	assert_int_equal(add(s, 2), 0);
}

CASE(only_its_owner_may_read_a_file)
{
	struct stat st;

	assert_int_equal(stat(directory_path("a.db"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* A build with a query of each of these counts. */
CASE(counts_are_exact_however_large_they_are)
{
	/* At the limits of characters: of one to four bytes, the gap in Unicode, and the last. */
	static const uint64_t counts[] = {
		0, 124, 125, 2044, 2045, 55292, 55293, 65535, 1103868, 1103869, UINT64_C(1) << 62};
	_history_rows_ struct history_rows r;

	sample_history(&r, 1);
	for (size_t i = 0; i < N_OF(counts); i++) {
		struct history_query *q = history_rows__append(&r, HISTORY_QUERY);
		char name[32];

		assert_non_null(q);
		snprintf(name, sizeof(name), "query_%zu", i);
		*q = *(struct history_query *)r.rows[HISTORY_QUERY];
		q->query = history_rows__text(&r, name);
		q->count = counts[i];
	}
	assert_int_equal(store__add(s, &r), 0);
	for (size_t i = 0; i < N_OF(counts); i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT count FROM query WHERE query = 'query_%zu'", i);
		assert_int_equal(number(s, sql), counts[i]);
	}
	assert_int_equal(rows(s, "large_counts"), 4);
}

/* What docs/history.md says of rounding, and the SQL of a view, which is not that of C. */
CASE(times_are_as_exact_as_documented)
{
	static const struct {
		uint64_t below_ns;
		double off;
	} limits[] = {
		{128000, 0.032},   {1024000, 0.016},   {8192000, 0.008},
		{65536000, 0.004}, {524288000, 0.002}, {UINT64_C(1) << 62, 0.001},
	};
	uint64_t last = 0;

	assert_int_equal(add(s, 1), 0);
	for (uint64_t ns = 0; ns < 32000; ns += 123)
		assert_in_range(rounded(ns) + 500, ns, ns + 1000);
	for (uint64_t ns = 32000; ns < UINT64_C(1) << 62; ns += ns / 37) {
		uint64_t is = rounded(ns);
		size_t i = 0;

		while (ns >= limits[i].below_ns)
			i++;
		assert_true(is >= last && rounded(is) == is);
		assert_true((is > ns ? is - ns : ns - is) <= ns * limits[i].off);
		last = is;
	}
	for (uint64_t ns = 1000; ns < UINT64_C(1) << 61; ns *= 3) {
		char sql[128];

		snprintf(sql, sizeof(sql), "UPDATE parts SET self = char(%u)", sqlite_time(ns));
		change("a.db", sql);
		assert_int_equal(number(s, "SELECT max(self_ns) FROM query"), rounded(ns));
	}
}

static unsigned int items_of(unsigned int number)
{
	return 3 + number % 4;
}

/* Another number of items in each build, which all have the counts that they had. */
CASE(items_that_come_and_go_are_in_one_list)
{
	for (unsigned int i = 0; i < 12; i++) {
		_history_rows_ struct history_rows r;

		sample_history(&r, i);
		for (unsigned int k = 0; k < items_of(i); k++) {
			struct history_item *item = history_rows__append(&r, HISTORY_ITEM);
			char name[32];

			assert_non_null(item);
			snprintf(name, sizeof(name), "item_%u", (i * 3 + k) % 8);
			*item = *(struct history_item *)r.rows[HISTORY_ITEM];
			item->item = history_rows__text(&r, name);
			item->count = 10 + (i * 3 + k) % 8;
		}
		assert_int_equal(store__add(s, &r), 0);
	}
	assert_int_equal(rows(s, "lists WHERE what = 'item'"), 1);
	assert_in_range(rows(s, "counts JOIN lists USING(list) WHERE what = 'item'"), 1, 3);
	assert_int_equal(rows(s, "item WHERE item LIKE 'item_%' AND count <> 10 + substr(item, 6)"),
			 0);
	assert_int_equal(rows(s, "item WHERE item LIKE 'item_%'"), 3 * (3 + 4 + 5 + 6));
}

TEST_MAIN(NULL, NULL)
