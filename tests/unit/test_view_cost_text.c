// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/cost_view.h"

#include "test.h"
#include "../fixtures/output.h"

static const struct cost known = {
	.ns = {100000000, 70000000, 25000000, 5000000, 50000000},
	.added_ns = 250000000,
	.set_up_ns = 40000000,
	.whole = true,
	.in_compilers_ns = 200000000,
	.compilers_ns = 1000000000,
	.hits = 100000,
	.breakpoints = 14000,
	.waited_ns = 5000000,
	.n_waited = 1,
};

static void every_part_has_a_line(void **state)
{
	_free_ char *text = printed_text(cost_text(out, &known));

	assert_string_equal(text,
			    "what recording added                             CPU     %   number\n"
			    "hits of probes                                100 ms  10.0  100,000\n"
			    "breakpoints, written into each new compiler  70.0 ms   7.0   14,000\n"
			    "samples of stacks                            25.0 ms   2.5        -\n"
			    "copies of names                              5.00 ms   0.5        -\n"
			    "qprof-bpf itself                             50.0 ms   5.0        -\n"
			    "  of it once, for set-up                     40.0 ms   4.0        -\n"
			    "together                                      250 ms  25.0        -\n"
			    "  of it in compilers                          200 ms  20.0        -\n"
			    "\n"
			    "100 %: 1.00 s, the CPU time of the compilers without it\n"
			    "1 compiler waited for probes, 5.00 ms in all, which is no CPU time\n");
}

static void other_recordings_have_a_line(void **state)
{
	static const char *const lines[] = {
		"",
		"- 1 other recording at the same time: probes make compilers slower\n",
		"- 2 other recordings at the same time: probes make compilers slower\n",
	};

	for (size_t n = 0; n < N_OF(lines); n++) {
		const struct cost c = {.n_beside = n};
		_free_ char *text = printed_text((cost_text_beside(out, &c, "- "), 0));

		assert_string_equal(text, lines[n]);
	}
}

static void the_line_has_the_share(void **state)
{
	_free_ char *text = printed_text(cost_text_line(out, &known, "; ") ? 0 : -1);

	assert_string_equal(text,
			    "recording added 250 ms of CPU, 25.0 % of what the compilers used");
}

/* A small crate: little was compiled in the time that set-up took. */
static void the_line_tells_a_large_set_up(void **state)
{
	struct cost c = known;
	_free_ char *text = NULL;

	c.ns[COST_OWN] = 1100000000;
	c.set_up_ns = 1000000000;
	c.added_ns = 1300000000;
	c.compilers_ns = 100000000;
	text = printed_text(cost_text_line(out, &c, "; ") ? 0 : -1);
	assert_string_equal(text, "recording added 1.30 s of CPU, 1300.0 % of what the compilers "
				  "used; 1.00 s of it once, for set-up");
}

/* It is in no sum: the next recording has it from the store. */
static void the_line_tells_that_a_toolchain_was_new(void **state)
{
	struct cost c = known;
	_free_ char *text = NULL;

	c.read_ns = 1800000000;
	text = printed_text(cost_text_line(out, &c, "; ") ? 0 : -1);
	assert_string_equal(text, "recording added 250 ms of CPU, 25.0 % of what the compilers "
				  "used; 1.80 s more, before, to read a new toolchain");
}

static void what_is_not_told_is_not_printed(void **state)
{
	const struct cost none = {};
	_free_ char *text = printed_text(cost_text_line(out, &none, "; ") ? -1 : 0);
	_free_ char *table = printed_text(cost_text(out, &none));

	assert_string_equal(text, "");
	assert_string_equal(table, "the cost of this recording is unknown\n");
}

static void json_has_the_share(void **state)
{
	struct json j = {};
	_free_ char *text = NULL;
	size_t size;

	j.out = open_memstream(&text, &size);
	assert_non_null(j.out);
	cost_json(&j, &known);
	assert_int_equal(fclose(j.out), 0);
	assert_int_equal(j.err, 0);
	assert_non_null(strstr(text, "\"share_of_cpu\":0.25,"));
	assert_non_null(strstr(text, "\"set_up_ns\":40000000,"));
	assert_non_null(strstr(text, "\"breakpoints_ns\":70000000,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_has_a_line),
		cmocka_unit_test(other_recordings_have_a_line),
		cmocka_unit_test(the_line_has_the_share),
		cmocka_unit_test(the_line_tells_a_large_set_up),
		cmocka_unit_test(the_line_tells_that_a_toolchain_was_new),
		cmocka_unit_test(what_is_not_told_is_not_printed),
		cmocka_unit_test(json_has_the_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
