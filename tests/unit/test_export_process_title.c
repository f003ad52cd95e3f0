// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "export/process_title.h"
static void titles(void **state)
{
	static const struct {
		struct trace_process process;
		const char *title;
	} rows[] = {
		{{.crate = "a", .pid = 7, .command = "/bin/rustc x"}, "a (7)"},
		{{.crate = "", .command = "/bin/rustc x/y"}, "rustc x/y (0)"},
		{{.crate = "a", .crate_type = "bin", .pid = 8}, "a (bin) (8)"},
		{{.command = "rustdoc"}, "rustdoc (0)"},
		{{.command = "/bin/ x"}, "unknown (0)"},
		{{.command = ""}, "unknown (0)"},
		{{.pid = 4294967295u}, "unknown (4294967295)"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char *title = process_title(&rows[i].process);

		assert_string_equal(title, rows[i].title);
		free(title);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
