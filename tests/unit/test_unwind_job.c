// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/job.h"
#include "unwind/codec.h"

#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/cfa_runs.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/in_child.h"
#include "../fixtures/unwind_rows.h"

#define NICE 7 /* a higher nice value needs no privilege */

static int setup(void **state)
{
	in_child = NULL;
	library_file_settled_ns = 0;
	/* On a busy machine a child may take long to exit. */
	file_job_end_ns = 60000000000;
	return cache_home_make(state);
}

static struct library_file *open_file(const char *path)
{
	struct library_file *file = NULL;

	assert_int_equal(library_file__try(path, &file), 0);
	return file;
}

static struct unwind_job *start(struct library_file *file, bool store)
{
	struct unwind_table *stored = NULL;
	struct unwind_job *j = NULL;

	assert_int_equal(unwind_job__begin(file, NICE, store, &stored, &j), 0);
	assert_null(stored);
	assert_non_null(j);
	return j;
}

static int make(struct library_file *file, struct unwind_table **out)
{
	_unwind_job_ struct unwind_job *j = start(file, true);

	return unwind_job__finish(j, out);
}

static void assert_fails(const char *path, int err)
{
	_library_file_ struct library_file *file = open_file(path);
	struct unwind_table *t = NULL;

	assert_int_equal(make(file, &t), err);
	assert_null(t);
	assert_int_equal(cache_home_count("code-"), 0);
}

TEST_CASE_WITH(a_table_comes_as_if_it_were_made_here, setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	_unwind_table_ struct unwind_table *here = NULL, *there = NULL, *stored = NULL;

	assert_int_equal(unwind_table__of(file, &here), 0);
	assert_int_equal(make(file, &there), 0);
	assert_int_equal(unwind_load__stored(file, &stored), 0);
	assert_true(here->functions > 5);
	assert_int_equal(here->size, there->size);
	assert_int_equal(here->functions, there->functions);
	for (uint64_t at = 0; at < (uint64_t)here->pages * WIRE_UNWIND_PAGE_BYTES; at++) {
		struct wire_unwind_rule rule = unwind_table__rule(here, here->start + at);

		assert_rule(unwind_table__rule(there, here->start + at), rule);
		assert_rule(unwind_table__rule(stored, here->start + at), rule);
	}
	/* The segments with which mappings are compared. */
	assert_int_equal(there->n_segments, here->n_segments);
	assert_memory_equal(there->segments, here->segments, sizeof(here->segments));
}

TEST_CASE_WITH(functions_come_with_it, setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	_functions_ struct functions *here = NULL, *stored = NULL;
	_unwind_table_ struct unwind_table *t = NULL;
	const uint8_t *x, *y;
	size_t len, same;

	assert_int_equal(make(file, &t), 0);
	assert_int_equal(functions__read(file, &here), 0);
	assert_int_equal(unwind_load__functions(file, &stored), 0);
	x = functions__bytes(here, &len);
	y = functions__bytes(stored, &same);
	assert_int_equal(len, same);
	assert_memory_equal(x, y, len);
	assert_true(len > FUNCTIONS_HEADER);
}

TEST_CASE_WITH(a_stored_table_needs_no_job, setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	_unwind_table_ struct unwind_table *made = NULL, *stored = NULL;
	struct unwind_job *j = NULL;

	assert_int_equal(make(file, &made), 0);
	assert_int_equal(unwind_job__begin(file, NICE, true, &stored, &j), 0);
	assert_null(j);
	assert_non_null(stored);
	assert_int_equal(stored->functions, made->functions);
}

TEST_CASE_WITH(one_can_wait_for_it_with_poll, setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	_unwind_table_ struct unwind_table *t = NULL;
	_unwind_job_ struct unwind_job *j = start(file, false);
	int ready;

	while (!(ready = unwind_job__read(j))) {
		struct pollfd pfd = {.fd = unwind_job__fd(j), .events = POLLIN};

		assert_int_equal(poll(&pfd, 1, -1), 1);
	}
	assert_int_equal(ready, 1);
	assert_int_equal(unwind_job__finish(j, &t), 0);
	assert_int_equal(cache_home_count("code-"), 0);
}

TEST_CASE_WITH(a_file_without_a_table_is_an_error, setup, cache_home_remove)
{
	assert_fails(fixture("driver_v0_no_id.so"), -ENODATA);
	assert_fails("/etc/passwd", -ENOEXEC);
}

/* The child has only one pipe. */
/* A malicious file may take over the child, which can then send anything. */
static void send_nonsense(void)
{
	static char bytes[5000];

	_exit(write(own_pipe(), bytes, sizeof(bytes)) == sizeof(bytes) ? 0 : EIO);
}

TEST_CASE_WITH(data_from_a_child_process_is_checked, setup, cache_home_remove)
{
	in_child = send_nonsense;
	assert_fails(fixture("unwind.so"), -EBADMSG);
}

static uint8_t *to_send;
static size_t n_to_send;

static void send_prepared(void)
{
	int fd = own_pipe();

	for (size_t at = 0; at < n_to_send;) {
		ssize_t n = write(fd, to_send + at, n_to_send - at);

		if (n <= 0)
			_exit(EIO);
		at += (size_t)n;
	}
	_exit(0);
}

/* A stored one would be refused whole each time. */
TEST_CASE_WITH(a_table_is_used_without_what_is_wrong_of_llvm, setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	_unwind_table_ struct unwind_table *here = NULL, *there = NULL;
	struct unwind_parts parts;
	uint64_t four = htole64(4);
	_free_ uint8_t *bytes = NULL;
	size_t len;

	assert_int_equal(unwind_table__of(file, &here), 0);
	assert_int_equal(unwind_tables__encode(file, &bytes, &len), 0);
	assert_int_equal(unwind_load__split(bytes, len, &parts), 0);
	assert_int_equal(parts.llvm_len, 0);
	assert_true(parts.functions_len >= 4);
	memcpy(bytes + sizeof(four), &four, sizeof(four));
	to_send = bytes;
	n_to_send = UNWIND_LOAD_HEADER + parts.table_len + 4;
	in_child = send_prepared;
	assert_int_equal(make(file, &there), 0);
	assert_null(there->llvm);
	assert_int_equal(there->functions, here->functions);
	assert_int_equal(cache_home_count("code-"), 0);
}

static void send_nothing(void)
{
	_exit(0);
}

TEST_CASE_WITH(nothing_is_no_table, setup, cache_home_remove)
{
	in_child = send_nothing;
	assert_fails(fixture("unwind.so"), -EBADMSG);
}

/* A copy of the fixture, whose descriptor the child's code changes it by. */
static int copy_fd;

static void open_copy(char path[32])
{
	_free_ char *command = NULL;

	strcpy(path, "/tmp/qprof-test-XXXXXX");
	copy_fd = mkstemp(path);
	assert_true(copy_fd >= 0);
	assert_true(asprintf(&command, "cp %s %s", fixture("unwind.so"), path) > 0);
	assert_int_equal(system(command), 0);
}

static void die_of_signals(void)
{
	signal(SIGBUS, SIG_DFL); /* not cmocka's */
}

TEST_CASE_WITH(a_file_that_is_truncated_meanwhile_is_an_error, setup, cache_home_remove)
{
	char path[32];
	_library_file_ struct library_file *file = NULL;
	struct unwind_table *t = NULL;

	open_copy(path);
	file = open_file(path);
	assert_int_equal(ftruncate(copy_fd, 100), 0);
	in_child = die_of_signals;
	assert_int_equal(make(file, &t), -EIO);
	assert_null(t);
	assert_int_equal(cache_home_count("code-"), 0);
	close(copy_fd);
	unlink(path);
}

/* A table of a file that has changed since it was opened is used, but not kept. */
TEST_CASE_WITH(a_file_that_changes_is_not_cached, setup, cache_home_remove)
{
	char path[32];
	_library_file_ struct library_file *file = NULL;
	_unwind_table_ struct unwind_table *t = NULL;

	open_copy(path);
	file = open_file(path);
	assert_int_equal(pwrite(copy_fd, "x", 1, 15), 1);
	assert_int_equal(make(file, &t), 0);
	assert_int_equal(cache_home_count("code-"), 0);
	close(copy_fd);
	unlink(path);
}

/* ---- Load ------------------------------------------------------------------------------------ */

/* The stored and the loaded table are of this file. */
static struct library_file *file;
static char path[] = "/tmp/qprof-test-XXXXXX";

static int load_setup(void **state)
{
	int fd;

	strcpy(path, "/tmp/qprof-test-XXXXXX");
	fd = mkstemp(path);
	if (cache_home_make(state) || fd < 0)
		return -1;
	close(fd);
	library_file_settled_ns = 0;
	return library_file__try(path, &file);
}

static int teardown(void **state)
{
	library_file__free(file);
	unlink(path);
	return cache_home_remove(state);
}

/* Store a table, and behind it `n` bytes as functions. */
static void store_with(const struct unwind_table *t, const uint8_t *functions, size_t n)
{
	_free_ uint8_t *bytes = NULL, *both = NULL;
	uint64_t sizes[2] = {0};
	size_t len;

	assert_int_equal(unwind_encode(t, &bytes, &len), 0);
	both = malloc(UNWIND_LOAD_HEADER + len + n);
	assert_non_null(both);
	sizes[0] = htole64(len);
	memcpy(both, sizes, sizeof(sizes));
	memcpy(both + UNWIND_LOAD_HEADER, bytes, len);
	if (n)
		memcpy(both + UNWIND_LOAD_HEADER + len, functions, n);
	unwind_load__store(file, both, UNWIND_LOAD_HEADER + len + n);
}

static void store(const struct unwind_table *t)
{
	store_with(t, NULL, 0);
}

static struct unwind_table *sample(uint32_t rule)
{
	_unwind_rows_ struct unwind_rows r = {};

	rows_add(&r, 0, rule);
	rows_add(&r, 1000, 0);
	return rows_table(&r);
}

TEST_GROUP(NULL, NULL)

TEST_CASE_WITH(a_stored_table_is_loaded, load_setup, teardown)
{
	_unwind_table_ struct unwind_table *t = sample(1), *back = NULL;

	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	store(t);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	for (uint64_t addr = ROWS_START; addr < ROWS_START + 1100; addr++)
		assert_rule(unwind_table__rule(back, addr), unwind_table__rule(t, addr));
}

TEST_CASE_WITH(a_file_has_one_table, load_setup, teardown)
{
	_unwind_table_ struct unwind_table *t = sample(1), *other = sample(5), *back = NULL;

	store(t);
	store(other);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	assert_rule(unwind_table__rule(back, ROWS_START), RSP_RULE(40));
}

/* The look-up by identity: another content is another file. */
TEST_CASE_WITH(another_identity_has_another_table, load_setup, teardown)
{
	_unwind_table_ struct unwind_table *t = sample(1);
	_library_file_ struct library_file *later = NULL;
	struct unwind_table *back = NULL;

	store(t);
	assert_int_equal(truncate(path, 5), 0);
	assert_int_equal(library_file__try(path, &later), 0);
	assert_int_equal(unwind_load__stored(later, &back), -ENOENT);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	unwind_table__free(back);
}

TEST_CASE_WITH(functions_are_beside_the_table, load_setup, teardown)
{
	/* One of 4 bytes at 0x1000. */
	uint8_t bytes[FUNCTIONS_HEADER + FUNCTIONS_RANGE + 2] = {0};
	_functions_ struct functions *f = NULL, *none = NULL;
	_unwind_table_ struct unwind_table *t = sample(1);
	struct function_range range;

	store(t);
	assert_int_equal(unwind_load__functions(file, &none), -ENOENT);
	bytes[9] = 0x10;
	bytes[16] = 1;
	bytes[20] = 2;
	bytes[FUNCTIONS_HEADER + 4] = 4;
	bytes[FUNCTIONS_HEADER + FUNCTIONS_RANGE] = 'f';
	functions__seal(bytes, sizeof(bytes));
	store_with(t, bytes, sizeof(bytes));
	assert_int_equal(unwind_load__functions(file, &f), 0);
	assert_true(functions__find(f, 0x1003, &range));
	assert_string_equal(range.symbol, "f");
	/* A file that is cut off, as by a full disk, is not used. */
	store_with(t, bytes, sizeof(bytes) - 1);
	assert_int_equal(unwind_load__functions(file, &none), -ENOENT);
	assert_null(none);
	/* Whoever has mapped the earlier one keeps it. */
	assert_true(functions__find(f, 0x1000, &range));
}

TEST_CASE_WITH(what_is_no_table_is_not_loaded, load_setup, teardown)
{
	struct unwind_table *back = NULL;

	unwind_load__store(file, (const uint8_t *)"no table", 8);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	unwind_load__store(file, (const uint8_t *)"", 0);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	assert_null(back);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
