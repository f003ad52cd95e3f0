// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/filter_asked.h"

#include "test.h"

#define LISTS_MOST 2

/* Whether the events that are asked for have typeck, another query, and passes. */
static void assert_asked(const struct cli_record_options *o, const char *const lists[LISTS_MOST],
			 bool typeck, bool others, bool passes)
{
	_filter_ struct filter *f = NULL;
	struct cli_record_options of = *o;
	size_t n = 0;

	while (n < LISTS_MOST && lists && lists[n])
		n++;
	of.events = (struct cli_texts){(const char **)lists, n};
	assert_int_equal(filter_asked(&of, &f), 0);
	assert_int_equal(filter__passes(f, FILTER_QUERY, "typeck"), typeck);
	assert_int_equal(filter__passes(f, FILTER_QUERY, "type_of"), others);
	assert_int_equal(filter__passes(f, FILTER_TIMER, "link"), passes);
}

TEST_CASE(queries_are_recorded_where_executions_are_wanted)
{
	static const struct cli_record_options exact = {.exact = true, .quiet = true};
	/* Beside a list, these are about what it names. */
	static const struct cli_record_options others[] = {{.slow_ns = 5}, {.callers = true}, {}};
	static const struct {
		const char *lists[LISTS_MOST];
		bool default_typeck, default_others, passes;
		bool typeck, others;
	} cases[] = {
		{{"passes"}, false, false, true, true, true},
		{{"none"}, false, false, false, false, false},
		{{"-passes"}, false, false, false, true, true},
		{{"-type_of"}, false, false, true, true, false},
		{{"typeck"}, true, false, false, true, true},
		{{"none,typeck"}, true, false, false, true, false},
		{{"passes", "typeck"}, true, false, true, true, true},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_asked(&exact, cases[i].lists, cases[i].typeck, cases[i].others,
			     cases[i].passes);
		for (size_t k = 0; k < N_OF(others); k++)
			assert_asked(&others[k], cases[i].lists, cases[i].default_typeck,
				     cases[i].default_others, cases[i].passes);
	}
	for (size_t k = 0; k < N_OF(others); k++)
		assert_asked(&others[k], NULL, others[k].slow_ns || others[k].callers,
			     others[k].slow_ns || others[k].callers, true);
}

/* Samples show intervals of two periods and more. */
TEST_CASE(short_intervals_need_probes_in_queries)
{
	static const struct {
		struct cli_record_options o;
		bool queries;
	} cases[] = {
		{{.slow_ns = 7960000}, true},
		{{.slow_ns = 7970000}, false},
		{{.slow_ns = 7970000, .callers = true}, true},
		{{.slow_ns = 7970000, .sample_hz = 99}, true},
		{{.slow_ns = 1100000, .sample_hz = 1999}, false},
		{{.slow_ns = 7970000, .no_sample = true}, true},
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_asked(&cases[i].o, NULL, cases[i].queries, cases[i].queries, true);
}

/* They are slow to attach: no more of them than are needed. */
TEST_CASE(perf_events_have_a_shorter_default)
{
	static const struct {
		struct cli_record_options o;
		bool queries, passes;
	} cases[] = {
		{{.attach = CLI_ATTACH_MULTI}, false, true},
		{{.attach = CLI_ATTACH_MULTI, .exact = true}, true, true},
		{{.attach = CLI_ATTACH_PERF}, false, false},
		{{.attach = CLI_ATTACH_PERF, .exact = true}, true, false},
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_asked(&cases[i].o, NULL, cases[i].queries, cases[i].queries,
			     cases[i].passes);
}

TEST_CASE(an_empty_word_is_refused)
{
	const char *list = "passes,";
	const struct cli_record_options o = {.events = {&list, 1}};
	struct filter *f = NULL;

	assert_int_equal(filter_asked(&o, &f), -EINVAL);
}

TEST_CASE(something_is_left_to_record)
{
	const char *list = "none";
	struct cli_record_options o = {.events = {&list, 1}, .no_sample = true};
	_filter_ struct filter *f = NULL;
	struct filter *none = NULL;

	assert_int_equal(filter_asked(&o, &none), -EINVAL);
	assert_null(none);
	o.fault_period = 100;
	assert_int_equal(filter_asked(&o, &f), 0);
}

TEST_MAIN(NULL, NULL)
