// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/parsed_json.h"
#include "analyze/cost.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_items.h"
#include "../fixtures/sample_summary.h"
#include "../fixtures/sampled_build.h"
#include "view/report_columns.h"

static char *report_of(struct summary *s, const struct trace_losses *losses,
		       const struct report_options *opt)
{
	char *text = printed_text(report_json(out, s, losses, &sample_names, opt));

	summary__free(s);
	return text;
}

/* --top does not limit it. A row has the exit, or the signal, or neither. */
TEST_CASE(the_document_is_stable)
{
	struct trace_losses losses = sample_losses();

	for (size_t top = 0; top < 2; top++) {
		const struct report_options opt = {.top = top};
		_free_ char *text = report_of(sample_three(), &losses, &opt);

		json_object_put(parsed_json(text));
		assert_golden("view/report_three.json", text);
	}
}

TEST_CASE(what_is_not_known_is_null)
{
	const struct report_options opt = {.problem = "cut \""};
	_free_ char *text = report_of(sample_three(), NULL, &opt);

	json_object_put(parsed_json(text));
	assert_contains(text, "\"problem\":\"cut \\\"\",");
	assert_contains(text, "\"lost\":null,");
	assert_contains(text, "\"losses\":null,");
}

TEST_CASE(extras_are_members_where_there_are_any)
{
	const struct trace_tally hits = {
		.kind = TRACE_KIND_HIT_COUNT, .label = SAMPLE_TYPECK, .sum = 12};
	const struct trace_tally size = {.kind = TRACE_KIND_ARTIFACT_SIZE,
					 .label = SAMPLE_LAYOUT_OF,
					 .events = 2,
					 .sum = 5000};
	struct summary *s = sample_one();
	_free_ char *text = NULL;

	must(summary__tally(s, &hits), summary__tally(s, &size));
	text = report_of(s, NULL, &(struct report_options){});
	json_object_put(parsed_json(text));
	assert_contains(text, "\"max_ns\":1002000,\"hits\":12}");
	assert_contains(text, "\"max_ns\":1500}");
	assert_contains(text, "],\"tallies\":[\n{\"pid\":4711,\"kind\":\"ArtifactSize\","
			      "\"name\":\"layout_of\",\"events\":2,\"sum\":5000}]}\n");
}

static ssize_t refuse(void *cookie, const char *data, size_t size)
{
	(void)cookie;
	(void)data;
	(void)size;
	errno = EFBIG;
	return 0;
}

static const char *count_text(const void *ctx, uint32_t id)
{
	++**(unsigned int *const *)ctx;
	return sample_text(NULL, id);
}

/* A limit of the output limits the time only if nothing is formatted after it was reached. */
TEST_CASE(a_document_that_fails_asks_for_no_more_names)
{
	unsigned int asked = 0, *counter = &asked;
	const struct trace_texts names = {.ctx = &counter, .text = count_text};
	struct summary *s = sample_one();
	FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = refuse});

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	for (uint32_t i = 0; i < 100; i++) {
		const struct trace_tally t = {
			.kind = TRACE_KIND_ARTIFACT_SIZE, .label = i, .events = 1, .sum = 1};

		assert_int_equal(summary__tally(s, &t), 0);
	}
	assert_int_equal(report_json(out, s, NULL, &names, &(struct report_options){}), -EIO);
	assert_int_equal(asked, 0);
	fclose(out);
	summary__free(s);
}

/* Two executions about sample_text(2), which charge one of a type, and one about nothing. */
static struct items *sample_items(void)
{
	static const uint32_t about[] = {TRACE_NO_STRING, SAMPLE_HOSTILE, SAMPLE_HOSTILE,
					 TRACE_NO_STRING};
	static const uint16_t depths[] = {1, 0, 0, 0};
	struct items *items;

	assert_int_equal(items__new(&sample_names, &items), 0);
	for (uint32_t i = 0; i < N_OF(about); i++) {
		const struct trace_span span = {.label = SAMPLE_TYPECK, .depth = depths[i]};
		const struct trace_times times = {.self_ns = 10 << i};

		assert_int_equal(items__span(items, &span, &times, about[i]), 0);
	}
	return items;
}

TEST_CASE(items_are_an_array_of_their_own)
{
	_items_ struct items *items = sample_items();
	const struct report_options opt = {.items = items, .top = 1};

	assert_shows(
		report_of(sample_one(), NULL, &opt),
		"\"items\":[\n"
		"{\"name\":null,\"self_ns\":80,\"executions\":0,\"charged\":1,\"instances\":null,"
		"\"queries\":[{\"name\":\"typeck\",\"self_ns\":80}]},\n"
		"{\"name\":\"evil\\u001b[2J\\n\xef\xbf\xbd\\\"name\\\"\",\"self_ns\":70,"
		"\"executions\":2,\"charged\":1,\"instances\":null,"
		"\"queries\":[{\"name\":\"typeck\",\"self_ns\":70}]}],\"processes\":[");
}

TEST_CASE(a_module_has_its_sums_and_the_number_of_items)
{
	_sample_items_ struct sample_items items = {};
	_summary_ struct summary *s = sample_one();
	struct report_options opt = {.modules = true};

	sample_items__make(&items);
	opt.items = items.items;
	assert_shows(
		printed_text(report_json(out, s, NULL, &sample_item_texts, &opt)),
		"\"modules\":[\n"
		"{\"name\":\"app::shapes\",\"self_ns\":11230000,\"executions\":4,\"charged\":0,"
		"\"items\":2,",
		"\n{\"name\":null,\"self_ns\":6000000,\"executions\":0,\"charged\":0,\"items\":0,",
		"\n{\"name\":\"app::shapes::{{impl}}[1]\",",
		"\n{\"name\":\"app\",\"self_ns\":25000,");
}

/* Three items of 10 ms each: one waited, and the time of one is by samples. */
TEST_CASE(the_part_of_items_on_the_cpu_is_a_member)
{
	static const struct trace_times times[] = {{.self_ns = 10000000},
						   {.self_ns = 10000000, .self_off_ns = 1000}};
	const struct trace_span span = {.label = SI_TYPECK, .end_ns = 1};
	_items_ struct items *items = NULL;
	_summary_ struct summary *s = sample_one();
	struct report_options opt = {};

	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	for (uint32_t i = 0; i < N_OF(times); i++)
		assert_int_equal(items__span(items, &span, &times[i], SI_FUNCTION + i), 0);
	for (int i = 0; i < 4; i++)
		for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
			assert_int_equal(
				items__sample(items, SI_TYPECK, SI_FUNCTION + 2, cause, 2500000),
				0);
	opt.items = items;
	assert_shows(
		printed_text(report_json(out, s, NULL, &sample_item_texts, &opt)),
		"{\"name\":\"app::shapes::area\",\"self_ns\":10000000,\"executions\":1,\"charged\":"
		"0,\"instances\":null,\"queries\":[{\"name\":\"typeck\",\"self_ns\":10000000}]},\n"
		"{\"name\":\"app::evil\\u001b[2J|`\\\"name\\\"\",\"self_ns\":10000000,"
		"\"self_by\":\"samples\",\"best_self_ns\":10000000,\"best_self_error_ns\":5000000,"
		"\"sampled_off_ns\":10000000,\"memory_bytes\":10000000,\"executions\":null,"
		"\"charged\":null,\"instances\":null,"
		"\"queries\":[{\"name\":\"typeck\",\"self_ns\":10000000}]},\n"
		"{\"name\":\"app::shapes::{{impl}}[1]::grow\",\"self_ns\":10000000,"
		"\"self_cpu_ns\":9999000,\"executions\":1,\"charged\":0,\"instances\":null,"
		"\"queries\":[{\"name\":\"typeck\",\"self_ns\":10000000,\"self_cpu_ns\":9999000}]}]"
		",");
}

/* Of a crate, the sum of its processes: one of them seems to have waited longer than it ran. */
TEST_CASE(time_of_a_crate_is_that_of_its_processes)
{
	static const struct trace_times times[] = {{.self_ns = 100, .self_off_ns = 150},
						   {.self_ns = 100, .self_off_ns = 10}};
	_pivot_ struct pivot *groups = NULL;
	struct report_options opt = {.by = GROUP_BY_CRATE};

	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	for (uint32_t i = 0; i < N_OF(times); i++) {
		const struct trace_process p = {.index = i, .pid = i + 1, .crate = "a"};
		const struct trace_span span = {.process = i, .tid = i + 1, .end_ns = 200};

		must(pivot__process(groups, &p), pivot__span(groups, &span, &times[i]));
	}
	opt.groups = groups;
	assert_shows(report_of(sample_one(), NULL, &opt),
		     "\"groups\":[\n{\"name\":\"a\",\"processes\":2,", "\"self_cpu_ns\":90,");
}

TEST_CASE(samples_are_members_of_all_rows)
{
	_sampled_build_ struct sampled_build b = {};

	sampled_build__make(&b, 0, 0);
	assert_shows(printed_text(report_json(
			     out, b.model.summary, &b.model.losses, &b.model.options.texts,
			     &(struct report_options){.samples = b.model.samples})),
		     "@view/report_sampled.json");
}

static int print_rows(const struct report_row *rows, size_t n, FILE *out)
{
	const struct report_rows all = {};
	const struct report_options opt = {};
	struct columns c = {.to = COLUMNS_JSON, .out = out};

	columns__begin(&c, "x", "x");
	if (LIST(&c, "queries", true, "rows"))
		EACH_ROW (&c, i, n)
			report_query_columns(&c, &rows[i], &all, &opt);
	return columns__end(&c);
}

/* Recorded, in the compilers' tables, met by no sample, and not known in all compilers. */
TEST_CASE(what_an_execution_takes_is_known_of_exact_counts)
{
	static const struct report_row rows[] = {
		{.instead = "", .known_count = 4, .cpu_ns = 4002},
		{.instead = "", .known_count = 8, .cpu_ns = 4000, .self_by = SUMMARY_SELF_SAMPLES},
		{.instead = "", .known_count = 8, .self_by = SUMMARY_SELF_SAMPLES},
		{.instead = "", .count = 4, .cpu_ns = 4000},
	};
	static const uint64_t expected[] = {1000, 500, 0, 0}; /* 0: null */
	_free_ char *text = printed_text(print_rows(rows, N_OF(rows), out));
	struct json_object *report = parsed_json(text), *queries = member(report, "queries");

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct json_object *row = json_object_array_get_idx(queries, i);
		struct json_object *each = member(row, "each_cpu_ns");

		assert_int_equal(each ? json_object_get_uint64(each) : 0, expected[i]);
	}
	json_object_put(report);
}

/* Results of a compiler without recorded executions are some, unless they may be none. */
TEST_CASE(executions_are_known_if_those_of_all_compilers_are)
{
	static const struct {
		struct trace_tally tally;
		uint64_t known;
	} cases[] = {
		{{.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS, .events = 5}, 2 + 5},
		{{.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS, .events = 5, .sum = 2}, 0},
		{{.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS_AT_LEAST, .events = 5}, 0},
		{{.label = SAMPLE_HOSTILE, .kind = TRACE_KIND_RESULTS, .events = 5}, 2},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct trace_tally own = {
			.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS, .events = 2};
		struct trace_tally tally = cases[i].tally;
		struct summary *s = sample_one();
		_report_rows_ struct report_rows r = {};

		sample_span(s, 0, SAMPLE_TYPECK, 1000, 1000, 0);
		sample_process(s, 1, (char *)"serde", 0);
		tally.process = 1;
		must(summary__tally(s, &own), summary__tally(s, &tally));
		summary__set_unwatched(s);
		must(report_rows__queries(&r, s, SUMMARY_ALL, &sample_names,
					  &(struct report_options){}));
		for (size_t k = 0; k < r.n; k++)
			if (!strcmp(r.rows[k].name, "typeck"))
				assert_int_equal(r.rows[k].known_count, cases[i].known);
		summary__free(s);
	}
}

TEST_CASE(hits_of_a_part_of_a_trace_are_unknown)
{
	const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 1000000}};
	const struct cost cost = {.hits = UINT64_C(1) << 50};
	_free_ char *all = report_of(sample_one(), NULL,
				     &(struct report_options){.costs = &costs, .cost = &cost});

	assert_shows(report_of(sample_one(), NULL, &(struct report_options){.costs = &costs}),
		     "\"hits\":null,", "\"probe_ns\":null,");
	assert_contains(all, "\"probe_ns\":1125899906842624000,");
}

TEST_MAIN(NULL, NULL)
