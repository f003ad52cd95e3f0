// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include "../fixtures/output.h"

static void say_all(void)
{
	diag_error("an %s", "error");
	diag_warn("a warning");
	diag_info("information");
	diag_verbose("detail");
}

static void levels_choose_what_is_printed(void **state)
{
	static const char *const expected[] = {
		"qprof-bpf: error: an error\n",
		"qprof-bpf: error: an error\nqprof-bpf: warning: a warning\n"
		"qprof-bpf: information\n",
		"qprof-bpf: error: an error\nqprof-bpf: warning: a warning\n"
		"qprof-bpf: information\nqprof-bpf: detail\n",
	};

	(void)state;
	for (int level = DIAG_QUIET; level <= DIAG_VERBOSE; level++) {
		struct output o;

		output_begin(&o);
		diag_set_level((enum diag_level)level);
		say_all();
		output_end(&o);
		diag_set_level(DIAG_NORMAL);
		assert_string_equal(o.text[0], "");
		assert_string_equal(o.text[1], expected[level - DIAG_QUIET]);
		output_free(&o);
	}
}

static void held_errors_are_not_printed(void **state)
{
	char text[8] = "";
	struct output o;

	(void)state;
	output_begin(&o);
	diag_hold_errors(text, sizeof(text));
	diag_error("first");
	diag_error("second, and longer");
	diag_hold_errors(NULL, 0);
	diag_error("third");
	output_end(&o);
	assert_string_equal(text, "second,");
	assert_string_equal(o.text[1], "qprof-bpf: error: third\n");
	output_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_choose_what_is_printed),
		cmocka_unit_test(held_errors_are_not_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
