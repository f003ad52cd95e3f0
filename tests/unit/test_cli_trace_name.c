// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/commands.h"

static void a_trace_is_called_by_when_it_was_made(void **state)
{
	char name[CMD_TRACE_NAME_MAX];
	regex_t form;

	(void)state;
	assert_int_equal(regcomp(&form, "^qprof-[0-9]{8}T[0-9]{6}Z[.]qpt$", REG_EXTENDED), 0);
	cmd_default_trace_name(name);
	assert_int_equal(regexec(&form, name, 0, NULL, 0), 0);
	regfree(&form);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_is_called_by_when_it_was_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
