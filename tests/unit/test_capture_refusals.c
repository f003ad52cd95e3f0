// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/refusals.h"

#include "test.h"
#include "../fixtures/output.h"

static unsigned int lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

TEST_CASE(each_user_is_reported_once_and_counted)
{
	struct refusals r = {0};
	struct output o;

	output_begin(&o);
	for (int i = 0; i < 5; i++)
		refusals__add(&r, 1001, REFUSAL_MANY);
	refusals__add(&r, 1002, REFUSAL_MANY);
	refusals__add(&r, 1002, REFUSAL_SERVED);
	output_end(&o);
	assert_int_equal(lines(o.text[1]), 3);
	output_free(&o);
	output_begin(&o);
	refusals__print(&r);
	output_end(&o);
	assert_contains(o.text[1], "5 compilers are missing: user 1001 had too many");
	assert_contains(o.text[1], "1 compiler is missing: user 1002 had too many");
	assert_contains(o.text[1], "1 compiler is missing: user 1002 had the library on FUSE");
	output_free(&o);
}

TEST_CASE(many_users_are_counted_together)
{
	struct refusals r = {0};
	struct output o;

	output_begin(&o);
	for (uid_t uid = 0; uid < REFUSALS_USERS + 7; uid++)
		refusals__add(&r, uid, REFUSAL_MANY);
	output_end(&o);
	assert_int_equal(lines(o.text[1]), REFUSALS_USERS);
	output_free(&o);
	output_begin(&o);
	refusals__print(&r);
	output_end(&o);
	assert_contains(o.text[1],
			"7 compilers are missing for the same reason; other users started them");
	output_free(&o);
}

TEST_MAIN(NULL, NULL)
