// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

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

TEST_CASE(the_document_is_stable)
{
	struct trace_losses losses = sample_losses();
	_free_ char *text = report_of(sample_three(), &losses, &(struct report_options){});

	assert_golden("view/report_three.json", text);
}

TEST_CASE(any_name_makes_valid_json)
{
	_free_ char *text =
		report_of(sample_three(), NULL, &(struct report_options){.problem = "cut \""});
	struct json_object *report = parsed_json(text);
	struct json_object *queries = member(report, "queries");
	struct json_object *last = json_object_array_get_idx(queries, 2);

	assert_int_equal(json_object_array_length(queries), 3);
	assert_string_equal(json_object_get_string(member(last, "name")),
			    "evil\033[2J\n\xef\xbf\xbd\"name\"");
	assert_string_equal(json_object_get_string(member(report, "problem")), "cut \"");
	assert_null(member(report, "lost"));
	assert_null(member(report, "losses"));
	json_object_put(report);
}

TEST_CASE(exits_and_signals_are_distinguished)
{
	_free_ char *text = report_of(sample_three(), NULL, &(struct report_options){});
	struct json_object *report = parsed_json(text);
	struct json_object *all = member(report, "processes"), *p;

	p = json_object_array_get_idx(all, 0);
	assert_int_equal(json_object_get_int(member(p, "exit")), 1);
	assert_null(member(p, "signal"));
	p = json_object_array_get_idx(all, 1);
	assert_null(member(p, "exit"));
	assert_int_equal(json_object_get_int(member(p, "signal")), 9);
	p = json_object_array_get_idx(all, 2);
	assert_null(member(p, "exit"));
	assert_null(member(p, "signal"));
	assert_null(member(p, "crate"));
	json_object_put(report);
}

static uint64_t sum_of(struct json_object *rows, const char *name, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (!strcmp(json_object_get_string(member(row, "name")), name))
			sum += json_object_get_uint64(member(row, key));
	}
	return sum;
}

TEST_CASE(the_sum_is_that_of_the_processes)
{
	_free_ char *text = report_of(sample_three(), NULL, &(struct report_options){.top = 1});
	struct json_object *report = parsed_json(text);
	struct json_object *all = member(report, "processes");
	uint64_t count = 0, self = 0;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *p = json_object_array_get_idx(all, i);

		count += sum_of(member(p, "queries"), "typeck", "count");
		self += sum_of(member(p, "queries"), "typeck", "self_ns");
	}
	assert_int_equal(count, 2);
	assert_int_equal(sum_of(member(report, "queries"), "typeck", "count"), count);
	assert_int_equal(sum_of(member(report, "queries"), "typeck", "self_ns"), self);
	json_object_put(report);
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

	assert_int_equal(summary__tally(s, &hits), 0);
	assert_int_equal(summary__tally(s, &size), 0);
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
	_free_ char *text =
		report_of(sample_one(), NULL, &(struct report_options){.items = items, .top = 1});
	struct json_object *report = parsed_json(text), *rows = member(report, "items"), *row;
	struct json_object *queries;

	assert_int_equal(json_object_array_length(rows), 2);
	row = json_object_array_get_idx(rows, 0);
	assert_null(member(row, "name"));
	assert_int_equal(json_object_get_int(member(row, "executions")), 0);
	assert_int_equal(json_object_get_int(member(row, "charged")), 1);
	assert_int_equal(json_object_get_int(member(row, "self_ns")), 80);
	row = json_object_array_get_idx(rows, 1);
	assert_string_equal(json_object_get_string(member(row, "name")),
			    "evil\033[2J\n\xef\xbf\xbd\"name\"");
	assert_int_equal(json_object_get_int(member(row, "executions")), 2);
	assert_int_equal(json_object_get_int(member(row, "charged")), 1);
	assert_int_equal(json_object_get_int(member(row, "self_ns")), 70);
	queries = member(row, "queries");
	assert_int_equal(json_object_array_length(queries), 1);
	assert_int_equal(sum_of(queries, "typeck", "self_ns"), 70);
	json_object_put(report);
}

TEST_CASE(a_module_has_its_sums_and_the_number_of_items)
{
	_sample_items_ struct sample_items items = {};
	struct summary *s = sample_one();
	struct json_object *report, *modules, *row;
	_free_ char *text = NULL;

	sample_items__make(&items);
	text = printed_text(
		report_json(out, s, NULL, &sample_item_texts,
			    &(struct report_options){.items = items.items, .modules = true}));
	summary__free(s);
	report = parsed_json(text);
	modules = member(report, "modules");
	row = json_object_array_get_idx(modules, 0);
	assert_int_equal(json_object_array_length(modules), 4);
	assert_string_equal(json_object_get_string(member(row, "name")), "app::shapes");
	assert_int_equal(json_object_get_int64(member(row, "items")), 2);
	assert_int_equal(json_object_get_int64(member(row, "self_ns")), 11230000);
	row = json_object_array_get_idx(modules, 1);
	assert_null(member(row, "name"));
	assert_int_equal(json_object_get_int64(member(row, "items")), 0);
	json_object_put(report);
}

/* A member of a row, or UINT64_MAX. */
static uint64_t number_of(struct json_object *rows, size_t i, const char *key)
{
	struct json_object *row = json_object_array_get_idx(rows, i), *value;

	return json_object_object_get_ex(row, key, &value) ? json_object_get_uint64(value)
							   : UINT64_MAX;
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
	struct json_object *report, *rows;
	_free_ char *text = NULL;

	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	for (uint32_t i = 0; i < N_OF(times); i++)
		assert_int_equal(items__span(items, &span, &times[i], SI_FUNCTION + i), 0);
	for (int i = 0; i < 4; i++)
		for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
			assert_int_equal(
				items__sample(items, SI_TYPECK, SI_FUNCTION + 2, cause, 2500000),
				0);
	opt.items = items;
	text = printed_text(report_json(out, s, NULL, &sample_item_texts, &opt));
	report = parsed_json(text);
	rows = member(report, "items");
	assert_int_equal(json_object_array_length(rows), 3);
	for (size_t i = 0; i < 3; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		bool sampled = number_of(rows, i, "executions") == 0;
		bool waited = i == 2;

		assert_int_equal(number_of(rows, i, "self_ns"), 10000000);
		assert_int_equal(number_of(rows, i, "self_cpu_ns"), waited ? 9999000 : UINT64_MAX);
		assert_int_equal(number_of(member(row, "queries"), 0, "self_cpu_ns"),
				 waited ? 9999000 : UINT64_MAX);
		assert_int_equal(number_of(rows, i, "best_self_ns"),
				 sampled ? 10000000 : UINT64_MAX);
		assert_int_equal(number_of(rows, i, "best_self_error_ns"),
				 sampled ? 5000000 : UINT64_MAX);
		assert_int_equal(number_of(rows, i, "sampled_off_ns"),
				 sampled ? 10000000 : UINT64_MAX);
		assert_int_equal(number_of(rows, i, "memory_bytes"),
				 sampled ? 10000000 : UINT64_MAX);
	}
	json_object_put(report);
}

/* Of a crate, the sum of its processes: one of them seems to have waited longer than it ran. */
TEST_CASE(time_of_a_crate_is_that_of_its_processes)
{
	static const struct trace_times times[] = {{.self_ns = 100, .self_off_ns = 150},
						   {.self_ns = 100, .self_off_ns = 10}};
	_pivot_ struct pivot *groups = NULL;
	_summary_ struct summary *s = sample_one();
	struct report_options opt = {.by = GROUP_BY_CRATE};
	struct json_object *report;
	_free_ char *text = NULL;

	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	for (uint32_t i = 0; i < N_OF(times); i++) {
		const struct trace_process p = {.index = i, .pid = i + 1, .crate = "a"};
		const struct trace_span span = {.process = i, .tid = i + 1, .end_ns = 200};

		assert_int_equal(pivot__process(groups, &p), 0);
		assert_int_equal(pivot__span(groups, &span, &times[i]), 0);
	}
	opt.groups = groups;
	text = printed_text(report_json(out, s, NULL, &sample_names, &opt));
	report = parsed_json(text);
	assert_int_equal(number_of(member(report, "groups"), 0, "self_cpu_ns"), 90);
	json_object_put(report);
}

TEST_CASE(samples_are_members_of_all_rows)
{
	_sampled_build_ struct sampled_build b = {};
	_free_ char *text = NULL;

	sampled_build__make(&b, 0, 0);
	text = printed_text(report_json(out, b.model.summary, &b.model.losses,
					&b.model.options.texts,
					&(struct report_options){.samples = b.model.samples}));
	json_object_put(parsed_json(text));
	assert_golden("view/report_sampled.json", text);
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
		assert_int_equal(summary__tally(s, &own), 0);
		assert_int_equal(summary__tally(s, &tally), 0);
		summary__set_unwatched(s);
		assert_int_equal(report_rows__queries(&r, s, SUMMARY_ALL, &sample_names,
						      &(struct report_options){}),
				 0);
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
	_free_ char *part =
		report_of(sample_one(), NULL, &(struct report_options){.costs = &costs});
	_free_ char *all = report_of(sample_one(), NULL,
				     &(struct report_options){.costs = &costs, .cost = &cost});

	assert_contains(part, "\"hits\":null,");
	assert_contains(part, "\"probe_ns\":null,");
	assert_contains(all, "\"probe_ns\":1125899906842624000,");
}

TEST_MAIN(NULL, NULL)
