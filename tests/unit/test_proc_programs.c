// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/programs.h"

#include <unistd.h>

#include "test.h"

static void compilers_run_queries(void **state)
{
	assert_true(is_compiler_program("/opt/rust/bin/rustc"));
	assert_true(is_compiler_program("rustdoc"));
	assert_true(is_compiler_program("/x/clippy-driver"));
	assert_true(is_compiler_program("miri"));
	assert_false(is_compiler_program("/opt/rustc/bin/cargo"));
	assert_false(is_compiler_program("/usr/bin/rust-lld"));
}

static void names_are_whole(void **state)
{
	assert_true(is_compiler_name("rustc", 5));
	assert_true(is_compiler_name("miri", 4));
	assert_false(is_compiler_name("rustc-wrapper", 13));
	assert_false(is_compiler_name("cargo-miri", 10));
}

static void cargo_is_of_the_toolchain(void **state)
{
	assert_true(is_toolchain_program("cargo"));
	assert_true(is_toolchain_program("/x/cargo-clippy"));
	assert_true(is_toolchain_program("/x/rustc"));
	assert_false(is_toolchain_program("/cargo/bin/ld"));
}

/* /usr/bin holds rustc and ld, but only rustc uses the library. */
static void a_library_belongs_to_the_programs_of_its_toolchain(void **state)
{
	char top[] = "/tmp/qprof-test-XXXXXX", command[300], *path = NULL;

	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(system("mkdir bin lib && touch bin/rustc bin/ld lib/librustc_driver-1.so"),
			 0);
	snprintf(command, sizeof(command), "%s/bin/ld", top);
	assert_int_equal(library_beside(command, &path), -ENOENT);
	assert_null(path);
	snprintf(command, sizeof(command), "%s/bin/rustc", top);
	assert_int_equal(library_beside(command, &path), 0);
	assert_non_null(strstr(path, "lib/librustc_driver-1.so"));
	free(path);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_run_queries),
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(cargo_is_of_the_toolchain),
		cmocka_unit_test(a_library_belongs_to_the_programs_of_its_toolchain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
