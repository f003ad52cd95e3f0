// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/report_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "../fixtures/output.h"
#include "../fixtures/sample_summary.h"

typedef int report_fn(FILE *out, const struct summary *s, const struct trace_losses *losses,
		      const struct view_names *names, const struct report_options *opt);

static char *print(report_fn *fn, const struct summary *s, const struct report_options *opt)
{
	const struct trace_losses none = {};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(fn(out, s, &none, &sample_names, opt), 0);
	fclose(out);
	return text;
}

static struct summary *sample_unrecorded(void)
{
	const struct trace_tally counted = {
		.kind = TRACE_KIND_COUNTED, .label = SAMPLE_LAYOUT_OF, .events = 1998};
	const struct trace_tally estimated = {
		.kind = TRACE_KIND_ESTIMATED, .label = SAMPLE_TYPECK, .events = 3, .sum = 2998000};
	struct summary *s = sample_one();

	assert_int_equal(summary__tally(s, &counted), 0);
	assert_int_equal(summary__tally(s, &estimated), 0);
	return s;
}

static void what_includes_an_estimate_is_marked(void **state)
{
	_summary_ struct summary *s = sample_unrecorded();
	_free_ char *text = print(report_text, s, &(struct report_options){});

	(void)state;
	assert_contains(text, "typeck        ~4  ~4.00 ms  1.00 ms    99.8  1.00 ms  1.00 ms\n"
			      "layout_of  2,000  ~2.00 ms  2.00 us     0.2  1.00 us  1.50 us\n");
	assert_contains(text,
			"\n~ includes executions that were not recorded (1,998 counted, about 3 "
			"estimated)");
	assert_lacks(text, "budget");
}

static void json_keeps_what_is_exact_apart(void **state)
{
	_summary_ struct summary *s = sample_unrecorded();
	_free_ char *text = print(report_json, s, &(struct report_options){});

	(void)state;
	assert_contains(text,
			"{\"name\":\"typeck\",\"count\":1,\"unwound\":0,\"total_ns\":1002000,");
	assert_contains(text, "\"max_ns\":1002000,\"estimated\":3,\"estimated_ns\":2998000}");
	assert_contains(text, "{\"name\":\"layout_of\",\"count\":2000,\"unwound\":0,"
			      "\"total_ns\":2000,\"self_ns\":2000,\"mean_ns\":1000,");
	assert_contains(text, "\"max_ns\":1500,\"counted\":1998,\"estimated_ns\":1998000}");
	assert_lacks(text, "tallies");
}

static void other_rows_say_whether_they_have_it(void **state)
{
	_summary_ struct summary *s = sample_unrecorded();
	struct groups *g;
	struct report_options opt = {.by = GROUP_BY_THREAD};
	_free_ char *threads = NULL, *crates = NULL;

	(void)state;
	assert_int_equal(groups__new(&g), 0);
	opt.groups = g;
	threads = print(report_text, s, &opt);
	assert_contains(threads, "not recorded, and in no row: 1,998 executions, and about 3 ");
	opt.by = GROUP_BY_CRATE;
	crates = print(report_text, s, &opt);
	assert_contains(crates,
			"not recorded: 1,998 executions, which are counted above, and about");
	assert_lacks(crates, "~");
	groups__free(g);
}

static void decisions_are_told_by_query(void **state)
{
	static const struct trace_decision all[] = {
		{100, SAMPLE_LAYOUT_OF, TRACE_WATCH_COUNTED, 61000, 50000},
		{1100, SAMPLE_LAYOUT_OF, TRACE_WATCH_OFF, 61000, 50000},
		{3100, SAMPLE_TYPECK, TRACE_WATCH_FULL, 61000, 50000},
	};
	_summary_ struct summary *s = sample_one();
	struct budget b = {0};
	struct report_options opt = {.budget = &b};
	_free_ char *text = NULL, *top = NULL, *json = NULL;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(budget__decision(&b, &all[i]), 0);
	budget__end(&b, 3101);
	text = print(report_text, s, &opt);
	assert_contains(text,
			"\nbudget: 5.0 % of CPU time for the probes; to keep it, 3 decisions\n"
			"watched less  decisions  counted for  off for   at last\n"
			"layout_of             2      1.00 us  2.00 us       off\n"
			"typeck                1         0 ns     0 ns  recorded\n");
	json = print(report_json, s, &opt);
	assert_contains(json, ",\"budget\":{\"budget_ppm\":50000,\"decisions\":3,\"queries\":["
			      "{\"name\":\"layout_of\",\"decisions\":2,\"watch\":\"off\","
			      "\"counted_ns\":1000,\"off_ns\":2001},");
	opt.top = 1;
	top = print(report_text, s, &opt);
	assert_contains(top, "  and 1 more query\n");
	budget__destroy(&b);
}

static void add_span(struct summary *s, uint32_t process, uint32_t tid, uint8_t kind, uint32_t id)
{
	const struct trace_span span = {
		.process = process,
		.tid = tid,
		.kind = kind,
		.label = SAMPLE_TYPECK,
		.invocation = id,
	};

	assert_int_equal(summary__span(s, &span, &(struct trace_off){0}), 0);
}

static void what_was_taken_over_is_told_by_process(void **state)
{
	_summary_ struct summary *s = sample_three();
	_free_ char *text = NULL, *none = print(report_text, s, &(struct report_options){});
	_free_ char *json = NULL;

	(void)state;
	assert_lacks(none, "incremental");
	assert_contains(none, "count");
	add_span(s, 0, 1, TRACE_KIND_QUERY, 1999);
	add_span(s, 0, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	add_span(s, 1, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	add_span(s, 1, 1, TRACE_KIND_QUERY, 7);
	add_span(s, 1, 2, TRACE_KIND_QUERY, 300);
	text = print(report_text, s, &(struct report_options){});
	assert_contains(text, "\nincremental    pid  results  executed  loaded  neither\n"
			      "regex_syntax  4711    2,000         4       1    1,995\n"
			      "serde         4712        ?         3       0        ?\n"
			      "neither: reused as they were, ");
	assert_contains(text, "query             executed ");
	assert_contains(text, "  loaded\n");
	json = print(report_json, s, &(struct report_options){});
	assert_contains(json, ",\"incremental\":{\"executed\":4,\"loads\":1,\"loaded\":1,"
			      "\"results\":2000},\"queries\"");
	assert_contains(json, ",\"incremental\":{\"executed\":3,\"loads\":1,\"loaded\":0,"
			      "\"results\":null},\"queries\"");
	assert_contains(json, ",\"loaded\":1,\"loads\":2}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_includes_an_estimate_is_marked),
		cmocka_unit_test(json_keeps_what_is_exact_apart),
		cmocka_unit_test(other_rows_say_whether_they_have_it),
		cmocka_unit_test(decisions_are_told_by_query),
		cmocka_unit_test(what_was_taken_over_is_told_by_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
