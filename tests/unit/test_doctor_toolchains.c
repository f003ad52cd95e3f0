// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "doctor/toolchains.h"

#include "../fixtures/fake_root.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_plan.h"

/* Make a toolchain whose library is not an ELF file. */
static void put_toolchain(const char *dir)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/bin/rustc", dir);
	fake_root_file(name, "");
	snprintf(name, sizeof(name), "%s/lib/librustc_driver-1.so", dir);
	fake_root_file(name, "not an ELF file, but long enough for the header of one: "
			     "sixty-four bytes");
}

static void rustups_have_the_names_of_their_directories(void **state)
{
	_toolchains_ struct toolchains list = {0};
	char home[64];

	put_toolchain("/home/.rustup/toolchains/nightly");
	put_toolchain("/home/.rustup/toolchains/stable");
	fake_root_file("/home/.rustup/toolchains/broken/bin/rustc", "");
	snprintf(home, sizeof(home), "%s/home/.rustup", fake_root);
	assert_int_equal(toolchains__add_rustup(&list, home), 0);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.items[0].name, "nightly");
	assert_string_equal(list.items[1].name, "stable");
	assert_contains(list.items[1].library, "/stable/lib/librustc_driver-1.so");
	assert_false(list.items[0].wanted);
	assert_int_equal(toolchains__add_rustup(&list, "/nonexistent"), 0);
	assert_int_equal(list.n, 2);
}

static void systems_have_the_names_of_their_executables(void **state)
{
	_toolchains_ struct toolchains list = {0};

	put_toolchain("/usr");
	put_toolchain("/usr/lib/rust-1.85");
	assert_int_equal(toolchains__add_system(&list, fake_root), 0);
	assert_int_equal(list.n, 2);
	assert_contains(list.items[0].name, "/usr/bin/rustc");
	assert_contains(list.items[1].name, "/usr/lib/rust-1.85/bin/rustc");
}

static void one_library_is_one_toolchain(void **state)
{
	_toolchains_ struct toolchains list = {0};

	assert_int_equal(toolchains__add(&list, "stable", "/a.so", false), 0);
	assert_int_equal(toolchains__add(&list, "rustc", "/a.so", true), 0);
	assert_int_equal(toolchains__add(&list, "stable", "/b.so", false), 0);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.items[0].name, "stable");
	assert_true(list.items[0].wanted);
	assert_false(list.items[1].wanted);
}

static void a_survey_keeps_errors_of_plans_and_prints_none(void **state)
{
	_toolchains_ struct toolchains list = {0};
	struct output o;

	put_toolchain("/usr");
	assert_int_equal(toolchains__add_system(&list, fake_root), 0);
	assert_int_equal(toolchains__add(&list, "gone", "/nonexistent.so", false), 0);
	output_begin(&o);
	toolchains__survey(&list);
	output_end(&o);
	assert_string_equal(o.text[1], "");
	output_free(&o);
	assert_int_equal(list.items[0].err, -ENOEXEC);
	assert_contains(list.items[0].why, "is not an ELF file");
	assert_int_equal(list.items[1].err, -ENOENT);
	assert_contains(list.items[1].why, "/nonexistent.so");
}

static void a_plan_is_summed_up(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	struct toolchain t = {0};

	assert_int_equal(toolchain__take(&t, plan), 0);
	assert_string_equal(t.version, plan->rustc_version);
	assert_int_equal(t.queries, 2);
	assert_int_equal(t.complete, 1);
	assert_int_equal(t.sites[PLAN_EMULATED], 6);
	assert_int_equal(t.sites[PLAN_STEPPED], 2);
	assert_int_equal(t.events[WIRE_KIND_ACTIVITY].n, 1);
	assert_int_equal(t.events[WIRE_KIND_ACTIVITY].exact, 1);
	assert_int_equal(t.events[WIRE_KIND_BLOCKED].exact, 0);
	free(t.version);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_root_make, fake_root_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rustups_have_the_names_of_their_directories),
		TEST(systems_have_the_names_of_their_executables),
		TEST(one_library_is_one_toolchain),
		TEST(a_survey_keeps_errors_of_plans_and_prints_none),
		TEST(a_plan_is_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
