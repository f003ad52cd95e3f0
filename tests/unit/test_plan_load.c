// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/plan.h"

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "base/diag.h"
#include "plan/cache.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

/* An empty cache for each test. */
static int setup(void **state)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", fixture("cache"));
	setenv("XDG_CACHE_HOME", fixture("cache"), 1);
	unsetenv("SUDO_UID");
	library_file_settled_ns = 0;
	diag_set_level(DIAG_VERBOSE);
	return system(command);
}

/* With -v, loading prints a line if it had to read the library. */
static struct plan *load(const char *name, bool cached)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, loaded(fixture(name), &plan)), 0);
	if (cached)
		assert_string_equal(o.text[1], "");
	else
		assert_contains(o.text[1], "for the first time");
	assert_string_equal(plan->path, fixture(name));
	return plan;
}

static void assert_same_plan(const struct plan *a, const struct plan *b)
{
	assert_int_equal(a->n_queries, b->n_queries);
	assert_int_equal(a->n_bodies, b->n_bodies);
	assert_int_equal(a->n_sites, b->n_sites);
	for (uint32_t i = 0; i < a->n_queries; i++)
		assert_string_equal(a->queries[i].name, b->queries[i].name);
	for (uint32_t i = 0; i < a->n_sites; i++) {
		assert_pairs(a->sites[i].addr, b->sites[i].addr, a->sites[i].offset,
			     b->sites[i].offset, a->sites[i].role, b->sites[i].role);
	}
}

TEST_CASE_WITH(a_library_is_read_once, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0.so", false);
	_plan_ struct plan *second = load("driver_v0.so", true);

	assert_same_plan(first, second);
}

/* Store any plan as the one of the library. */
static void store(const struct plan *plan)
{
	_library_file_ struct library_file *file = NULL;

	assert_int_equal(library_file__open(fixture("driver_v0.so"), &file), 0);
	assert_int_equal(plan_cache__store(library_file__identity(file), plan), 0);
}

TEST_CASE_WITH(a_library_without_a_build_id_is_read_once, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0_no_id.so", false);
	_plan_ struct plan *second = load("driver_v0_no_id.so", true);

	assert_same_plan(first, second);
}

TEST_CASE_WITH(another_library_is_another_plan, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0.so", false);
	_plan_ struct plan *second = load("driver_legacy.so", false);

	assert_string_equal(second->mangling, "legacy");
}

/* The cache identifies the inode; the plan has the path that load() was called with. */
TEST_CASE_WITH(a_library_may_have_another_name, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0.so", false), *second = NULL;

	assert_int_equal(symlink("driver_v0.so", fixture("linked.so")), 0);
	second = load("linked.so", true);
	assert_same_plan(first, second);
}

/* The identity of the stored plan is right, but its sites are wrong. */
TEST_CASE_WITH(a_plan_that_does_not_fit_is_made_again, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0.so", false), *second = NULL, *third = NULL;

	first->sites[0].offset += 4096;
	store(first);
	second = load("driver_v0.so", false);
	assert_int_not_equal(first->sites[0].offset, second->sites[0].offset);
	first->sites[0].addr = 1ULL << 40;
	store(first);
	third = load("driver_v0.so", false);
	assert_same_plan(second, third);
	/* The new plan has replaced it. */
	plan__free(third);
	third = load("driver_v0.so", true);
	assert_same_plan(second, third);
}

static void flip_bit(const char *name, uint64_t offset)
{
	FILE *f = fopen(fixture(name), "r+b");
	int byte;

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
	byte = fgetc(f);
	assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
	fputc(byte ^ 1, f);
	assert_int_equal(fclose(f), 0);
}

TEST_CASE_WITH(a_copy_is_another_library, setup, NULL)
{
	char command[600];

	plan__free(load("driver_v0.so", false));
	snprintf(command, sizeof(command), "cp %s/driver_v0.so %s/copy.so", fixture_dir,
		 fixture_dir);
	assert_int_equal(system(command), 0);
	plan__free(load("copy.so", false));
}

/* A change before the next clock tick would not change the identity. */
TEST_CASE_WITH(one_that_was_just_written_is_not_kept, setup, NULL)
{
	library_file_settled_ns = INT64_MAX;
	plan__free(load("driver_v0.so", false));
	library_file_settled_ns = 0;
	plan__free(load("driver_v0.so", false));
	plan__free(load("driver_v0.so", true));
}

/* A patched library has the same build-id, but other code. */
TEST_CASE_WITH(changed_code_at_any_site_is_read_again, setup, NULL)
{
	_plan_ struct plan *first = load("driver_v0.so", false);
	uint32_t sites[] = {0, first->n_sites / 2, first->n_sites - 1};

	for (size_t i = 0; i < N_OF(sites); i++) {
		/* The last byte that is checked; another opcode would change the mined plan. */
		uint64_t offset = first->sites[sites[i]].offset + 7;
		_plan_ struct plan *again = NULL;

		flip_bit("driver_v0.so", offset);
		/* Store the old plan under the new identity. */
		store(first);
		again = load("driver_v0.so", false);
		assert_int_not_equal(again->code_crc, first->code_crc);
		assert_int_equal(again->build_id_len, first->build_id_len);
		assert_memory_equal(again->build_id, first->build_id, first->build_id_len);
		flip_bit("driver_v0.so", offset);
	}
	store(first);
	plan__free(load("driver_v0.so", true));
}

TEST_CASE_WITH(without_a_cache_it_works_too, setup, NULL)
{
	_plan_ struct plan *plan = NULL;
	_output_ struct output o = {};

	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	diag_set_level(DIAG_NORMAL);
	assert_int_equal(CAPTURED(&o, loaded(fixture("driver_v0.so"), &plan)), 0);
	assert_string_equal(o.text[1], "");
	assert_int_equal(plan->n_queries, 3);
}

static void assert_refused(const char *name, int err, const char *cause)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, loaded(fixture(name), &plan)), err);
	assert_null(plan);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], cause);
	assert_contains(o.text[1], fixture(name));
	assert_one_line(o.text[1]);
}

TEST_CASE_WITH(a_library_that_cannot_be_loaded_is_reported_once, setup, NULL)
{
	diag_set_level(DIAG_NORMAL);
	assert_refused("nothing.so", -ENOENT, "No such file");
	assert_refused("driver_stripped.so", -ENODATA, "stripped");
	assert_refused("bodies.so", -ENOTSUP, "no rustc queries");
	assert_int_equal(access(fixture("cache"), F_OK), -1);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
