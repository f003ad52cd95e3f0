// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/stop_times.h"

#include "test.h"
#include "../fixtures/output.h"

static char *printed(const struct stop_times *h)
{
	struct output o;
	char *text;

	output_begin(&o);
	stop_times__print(h);
	output_end(&o);
	text = strdup(o.text[1]);
	output_free(&o);
	return text;
}

TEST_CASE(waits_are_added_up)
{
	struct stop_times h = {};
	char *text = printed(&h);

	assert_string_equal(text, "");
	free(text);
	stop_times__add(&h, 1500000000);
	text = printed(&h);
	assert_contains(text, "1 compiler waited 1.500 s for its probes\n");
	free(text);
	stop_times__add(&h, 500000000);
	text = printed(&h);
	assert_contains(text,
			"2 compilers waited for their probes: 1.500 s at most, 2.000 s in all");
	free(text);
}

TEST_MAIN(NULL, NULL)
