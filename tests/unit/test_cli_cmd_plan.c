// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The errors of `plan` if there is nothing to plan, and whose rights it has. test_plan_*.c test the
 * plans of libraries, test_view_plan_*.c how they are printed.
 */

#include <sys/stat.h>
#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "../fixtures/library.h"
#include "cli/cmd.h"
#include "cli/plan_file.h"
#include "options/exit_code.h"
#include "plan/library/file.h"
#include "plan/cache.h"

static void refuse(const char *target, const char *says)
{
	const struct cli_plan_options options = {.target = target, .no_cache = true};
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_plan(&options);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], says);
	assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
	output_free(&o);
}

TEST_CASE(processes_that_are_no_compilers_are_refused)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", getpid());
	refuse(pid, "is not a Rust compiler");
	refuse("2147483647", "no process 2147483647");
	refuse("99999999999999999999", "no process");
	refuse("0", "no process");
}

TEST_CASE(files_that_are_no_libraries_are_refused)
{
	refuse("/nonexistent/librustc_driver-1.so", "/nonexistent/librustc_driver-1.so");
	refuse("/dev/null", "/dev/null");
	refuse("tests/unit/run.sh", "tests/unit/run.sh");
	/* Not a pid. */
	refuse("1x", "1x");
}

TEST_CASE(a_missing_toolchain_says_what_to_do)
{
	char *old = strdup(getenv("PATH"));

	setenv("PATH", "/nonexistent", 1);
	unsetenv("SUDO_UID");
	refuse(NULL, "rustup.rs");
	refuse("+stable", "rustup.rs");
	setenv("PATH", old, 1);
	free(old);
}

/* The library names a debug file that only root may read. */
TEST_CASE(the_owner_of_a_library_cannot_have_root_read_a_file)
{
	const struct cli_plan_options options = {.target = strdup(fixture("driver_linked.so")),
						 .no_cache = true};
	_output_ struct output o = {};

	if (geteuid())
		skip();
	must(chmod(fixture_dir, 0755), chown(options.target, 12345, 12345));
	/* It has symbols, but no code that a plan needs. */
	assert_int_not_equal(CAPTURED(&o, cmd_plan(&options)), EXIT_CODE_OK);
	assert_contains(o.text[1], "is proven to start");
	assert_int_equal(chmod(fixture("driver.debug"), 0600), 0);
	refuse(options.target, "stripped");
	free((char *)options.target);
}

static int setup(void **state)
{
	library_file_settled_ns = 0;
	return cache_home_make(state) ?: fixture_dir_setup(state);
}

static int teardown(void **state)
{
	return cache_home_remove(state) ?: fixture_dir_teardown(state);
}

/* ---- Plan file ------------------------------------------------------------------------------- */

static char out[64];

static int plan_file_setup(void **state)
{
	int err = cache_home_make(state);

	library_file_settled_ns = 0;
	snprintf(out, sizeof(out), "%s/rustc.plan", cache_home);
	return err;
}

static struct library_file *open_library(const char *name)
{
	struct library_file *file = NULL;

	assert_int_equal(library_file__open(fixture(name), &file), 0);
	return file;
}

/* Write the plan of a library, and leave the store empty. */
static struct plan *written(struct library_file *file)
{
	struct plan *plan = NULL;
	char command[64];

	must(plan__load(file, &plan), plan_file__write(file, plan, out));
	snprintf(command, sizeof(command), "rm -r %s/qprof-bpf", cache_home);
	assert_int_equal(system(command), 0);
	return plan;
}

static void plan_file_refuse(struct library_file *file, const char *says)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_true(CAPTURED(&o, plan_file__import(file, out, &plan)) < 0);
	assert_contains(o.text[1], says);
	assert_null(plan);
	assert_int_equal(cache_home_count(""), 0);
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE_WITH(an_imported_plan_is_the_one_that_was_written, plan_file_setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file), *back = NULL, *stored = NULL;
	_free_ uint8_t *x = NULL, *y = NULL;
	size_t len, same;
	bool by_root;

	assert_int_equal(plan_cache__load(library_file__identity(file), &by_root, &stored),
			 -ENOENT);
	assert_int_equal(plan_file__import(file, out, &back), 0);
	assert_string_equal(back->path, fixture("driver_v0.so"));
	must(plan_cache__load(library_file__identity(file), &by_root, &stored),
	     plan_cache__encode(plan, &x, &len), plan_cache__encode(stored, &y, &same));
	assert_int_equal(len, same);
	assert_memory_equal(x, y, len);
}

TEST_CASE_WITH(a_damaged_file_is_refused, plan_file_setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file);
	_fclose_ FILE *f = fopen(out, "r+");
	_free_ uint8_t *bytes = NULL;
	struct plan_file parts;
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	/* The checksum of the library is compared with the library. */
	for (size_t i = 0; i < (size_t)st.st_size; i = i == 7 ? 20 : i + 1) {
		bytes[i] ^= 1;
		assert_int_equal(plan_file__split(bytes, (size_t)st.st_size, &parts), -EBADMSG);
		bytes[i] ^= 1;
	}
	for (size_t n = 0; n < (size_t)st.st_size; n++)
		assert_int_equal(plan_file__split(bytes, n, &parts), -EBADMSG);
	assert_int_equal(ftruncate(fileno(f), st.st_size - 1), 0);
	plan_file_refuse(file, "damaged or cut off");
}

TEST_CASE_WITH(another_library_is_refused, plan_file_setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so"),
					   *other = open_library("bodies.so"), *changed = NULL;
	_plan_ struct plan *plan = written(file);
	_fclose_ FILE *f = NULL;

	plan_file_refuse(other, "the plan of another library");
	/* One byte of it, and neither its size nor its build-id. */
	f = fopen(fixture("driver_v0.so"), "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, -1, SEEK_END), 0);
	assert_int_equal(fputc(1, f), 1);
	assert_int_equal(fflush(f), 0);
	changed = open_library("driver_v0.so");
	plan_file_refuse(changed, "the plan of another library");
}

TEST_CASE_WITH(a_file_that_others_may_write_is_refused, plan_file_setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file);

	assert_int_equal(chmod(out, 0664), 0);
	plan_file_refuse(file, "other users may write to it");
	assert_int_equal(chmod(out, 0644), 0);
	if (!getuid()) {
		assert_int_equal(chown(out, 7, 7), 0);
		plan_file_refuse(file, "other users may write to it");
	}
}

TEST_CASE_WITH(no_file_is_overwritten, plan_file_setup, cache_home_remove)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file);
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, plan_file__write(file, plan, out)), -EEXIST);
	assert_contains(o.text[1], "exists already");
}

TEST_MAIN(setup, teardown)
