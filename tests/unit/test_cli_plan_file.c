// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/plan_file.h"

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/output.h"
#include "plan/cache.h"

static char out[64];

static int setup(void **state)
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

	assert_int_equal(plan__load(file, &plan), 0);
	assert_int_equal(plan_file__write(file, plan, out), 0);
	snprintf(command, sizeof(command), "rm -r %s/qprof-bpf", cache_home);
	assert_int_equal(system(command), 0);
	return plan;
}

static void refuse(struct library_file *file, const char *says)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_true(CAPTURED(&o, plan_file__import(file, out, &plan)) < 0);
	assert_contains(o.text[1], says);
	assert_null(plan);
	assert_int_equal(cache_home_count(""), 0);
}

static void an_imported_plan_is_the_one_that_was_written(void **state)
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
	assert_int_equal(plan_cache__load(library_file__identity(file), &by_root, &stored), 0);
	assert_int_equal(plan_cache__encode(plan, &x, &len), 0);
	assert_int_equal(plan_cache__encode(stored, &y, &same), 0);
	assert_int_equal(len, same);
	assert_memory_equal(x, y, len);
}

static void a_damaged_file_is_refused(void **state)
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
	refuse(file, "damaged or cut off");
}

static void another_library_is_refused(void **state)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so"),
					   *other = open_library("bodies.so"), *changed = NULL;
	_plan_ struct plan *plan = written(file);
	_fclose_ FILE *f = NULL;

	refuse(other, "the plan of another library");
	/* One byte of it, and neither its size nor its build-id. */
	f = fopen(fixture("driver_v0.so"), "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, -1, SEEK_END), 0);
	assert_int_equal(fputc(1, f), 1);
	assert_int_equal(fflush(f), 0);
	changed = open_library("driver_v0.so");
	refuse(changed, "the plan of another library");
}

static void a_file_that_others_may_write_is_refused(void **state)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file);

	assert_int_equal(chmod(out, 0664), 0);
	refuse(file, "other users may write to it");
	assert_int_equal(chmod(out, 0644), 0);
	if (!getuid()) {
		assert_int_equal(chown(out, 7, 7), 0);
		refuse(file, "other users may write to it");
	}
}

static void no_file_is_overwritten(void **state)
{
	_library_file_ struct library_file *file = open_library("driver_v0.so");
	_plan_ struct plan *plan = written(file);
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, plan_file__write(file, plan, out)), -EEXIST);
	assert_contains(o.text[1], "exists already");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, cache_home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_imported_plan_is_the_one_that_was_written),
		TEST(a_damaged_file_is_refused),
		TEST(a_file_that_others_may_write_is_refused),
		TEST(no_file_is_overwritten),
		TEST(another_library_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
