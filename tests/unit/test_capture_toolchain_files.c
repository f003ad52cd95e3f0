// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/toolchain_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char dir[] = "/tmp/qprof-foreseen-XXXXXX";

static const char *at(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(at(name), "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
}

static int setup(void **state)
{
	assert_non_null(mkdtemp(dir));
	assert_int_equal(mkdir(at("lib"), 0755), 0);
	assert_int_equal(mkdir(at("bin"), 0755), 0);
	put("lib/librustc_driver-1.so", "\x7f"
					"ELF driver");
	put("lib/libLLVM.so.22", "\x7f"
				 "ELF llvm");
	put("lib/libLLVM-22.so", "INPUT(libLLVM.so.22)\n");
	put("lib/libother.so", "\x7f"
			       "ELF other");
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const struct toolchain_file *find(const struct toolchain_files *f, const char *end)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const char *path = library_file__path(f->items[i].file);

		if (strlen(path) > strlen(end) && !strcmp(path + strlen(path) - strlen(end), end))
			return &f->items[i];
	}
	return NULL;
}

TEST_CASE(a_toolchain_has_a_library_llvm_and_a_program)
{
	_toolchain_files_ struct toolchain_files f = {0};

	put("bin/rustc", "\x7f"
			 "ELF rustc");
	toolchain_files__add_toolchain(&f, at("lib/librustc_driver-1.so"));
	assert_int_equal(f.n, 3);
	assert_non_null(find(&f, "/librustc_driver-1.so"));
	assert_false(find(&f, "/librustc_driver-1.so")->is_program);
	assert_non_null(find(&f, "/libLLVM.so.22"));
	assert_non_null(find(&f, "/bin/rustc"));
	assert_true(find(&f, "/bin/rustc")->is_program);
}

/* As a wrapper is: its interpreter is no compiler. */
TEST_CASE(a_script_is_no_compiler)
{
	_toolchain_files_ struct toolchain_files f = {0};

	put("bin/rustc", "#!/bin/sh\n");
	toolchain_files__add_toolchain(&f, at("lib/librustc_driver-1.so"));
	assert_int_equal(f.n, 2);
	assert_null(find(&f, "/bin/rustc"));
}

TEST_CASE(what_is_missing_is_left_out)
{
	_toolchain_files_ struct toolchain_files f = {0};

	toolchain_files__add_toolchain(&f, at("none/librustc_driver-1.so"));
	toolchain_files__add_toolchain(&f, "librustc_driver-1.so");
	assert_int_equal(f.n, 0);
}

TEST_CASE(each_file_is_there_once)
{
	_toolchain_files_ struct toolchain_files f = {0};

	assert_int_equal(symlink("libLLVM.so.22", at("lib/libLLVM-22.1.so")), 0);
	toolchain_files__add_toolchain(&f, at("lib/librustc_driver-1.so"));
	toolchain_files__add_toolchain(&f, at("lib/librustc_driver-1.so"));
	assert_int_equal(f.n, 2);
}

TEST_CASE(there_is_a_limit)
{
	_toolchain_files_ struct toolchain_files f = {0};

	char name[32], text[32];

	put("bin/rustc", "\x7f"
			 "ELF rustc");
	for (int i = 0; i < 2 * TOOLCHAIN_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "lib/libLLVM.so.%d", i);
		snprintf(text, sizeof(text),
			 "\x7f"
			 "ELF llvm %d",
			 i);
		put(name, text);
	}
	toolchain_files__add_toolchain(&f, at("lib/librustc_driver-1.so"));
	assert_int_equal(f.n, TOOLCHAIN_FILES_MAX);
	assert_non_null(find(&f, "/bin/rustc"));
}

TEST_CASE(this_process_has_a_c_library_and_a_loader)
{
	_toolchain_files_ struct toolchain_files f = {0};

	toolchain_files__add_own(&f);
	assert_int_equal(f.n, 2);
	assert_false(f.items[0].is_program || f.items[1].is_program);
}

TEST_MAIN(setup, teardown)
