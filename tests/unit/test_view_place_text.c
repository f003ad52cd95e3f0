// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/place_text.h"

#include "test.h"

static void sources_of_dependencies_are_named_by_package(void **state)
{
	static const char *const cases[][2] = {
		{"src/lib.rs:1", "src/lib.rs:1"},
		{"tool/src/main.rs:1", "tool/src/main.rs:1"},
		{"/r/registry/src/index.crates.io-1/a-0.1.0/src/b/c.rs:7", "a-0.1.0/src/b/c.rs:7"},
		{"/rustc/1f/library/core/src/num/mod.rs:7", "core/src/num/mod.rs:7"},
		{"/u/.cargo/git/checkouts/a-01/2f/src/lib.rs:7", "a-01/2f/src/lib.rs:7"},
		{"/usr/share/cargo/registry/a-1.0.0/src/lib.rs:7", "a-1.0.0/src/lib.rs:7"},
		{"/r/lib/rustlib/src/rust/library/core/src/num/mod.rs:7", "core/src/num/mod.rs:7"},
		{"/registry/src/x.rs:7", "/registry/src/x.rs:7"},
		{"/home/u/mylib/src/lib.rs:3", "/home/u/mylib/src/lib.rs:3"},
		{"/src/lib.rs:1", "/src/lib.rs:1"},
		{"/r/a-0.1.0/build.rs:1", "/r/a-0.1.0/build.rs:1"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(place_in_package(cases[i][0]), cases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_of_dependencies_are_named_by_package),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
