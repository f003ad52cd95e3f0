// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_plan.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/schema_fields.h"
#include "../fixtures/temporary.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "view/why_view.h"

#define PLAIN "tests/golden/good-plain.qpt"

/* The output of the last command; the next one frees it. */
static struct output o;

static const char *why(const char *query, const char *file, bool json, int expected)
{
	const char *operands[] = {query, file};
	const struct cli_why_options options = {.operands = {operands, 2}, .json = json};
	int status;

	output_free(&o);
	output_begin(&o);
	status = cmd_why(&options);
	output_end(&o);
	assert_int_equal(status, expected);
	return o.text[0];
}

TEST_CASE(recorded_executions_are_counted_by_probes)
{
	const char *text = why("typeck", PLAIN, false, EXIT_CODE_OK);

	assert_contains(text, "all                2  probes         2          0");
	assert_contains(text, "from probes: each execution was recorded\n");
	assert_contains(text, "events      unknown: the trace does not say\n");
	assert_contains(text, "lost: 3\n  ring buffer full: 3\n");
	assert_contains(text, "plan        the trace has no path of its library");
}

TEST_CASE(a_query_that_nothing_has_is_refused)
{
	assert_output(&o, why("tpyeck", PLAIN, false, EXIT_CODE_FAILURE), "=",
		      "2>has no query called tpyeck, and the trace has no path");
}

static struct json_object *compiler(struct json_object *document, size_t i)
{
	return json_object_array_get_idx(member(document, "compilers"), i);
}

static void assert_row(struct json_object *row, const char *from, int results, int unsure)
{
	assert_string_equal(json_object_get_string(member(row, "from")), from);
	assert_int_equal(json_object_get_int(member(row, "results")), results);
	assert_int_equal(json_object_get_int(member(row, "results_unsure")), unsure);
	assert_int_equal(json_object_get_int(member(row, "recorded")), 0);
}

TEST_CASE(each_compiler_says_where_its_count_comes_from)
{
	char path[] = "/tmp/qprof-why-XXXXXX.qpt";
	_free_ char *schema = printed_text(why_schema(out));
	struct json_object *fields = parsed_json(schema), *document;

	temporary_name(path);
	sampled_build_write(path);
	document = parsed_json(why("evaluate_obligation", path, true, EXIT_CODE_OK));
	assert_int_equal(json_object_array_length(member(document, "compilers")), 3);
	assert_row(compiler(document, 0), "tables", 77, 1);
	assert_row(compiler(document, 1), "tables", 77, 1);
	assert_row(compiler(document, 2), "-", 0, 0);
	assert_int_equal(json_object_get_int(member(compiler(document, 1), "pid")), 100);
	assert_int_equal(json_object_get_int(member(compiler(document, 1), "results_unlisted")),
			 77);
	schema_fields = member(fields, "fields");
	schema_check(document, "");
	json_object_put(document);
	json_object_put(fields);
	unlink(path);
}

static char *why_text_of(struct why_view v)
{
	_summary_ struct summary *s = NULL;

	assert_int_equal(summary__new(&s), 0);
	v.query = "typeck";
	v.summary = s;
	return printed_text(why_text(out, &v));
}

/* Probes in one compiler, and tables in another: as report has it. */
TEST_CASE(a_count_may_be_from_several_sources)
{
	struct why_row rows[] = {{.row = {.count = 3, .results = 2, .results_beside = 2}},
				 {.row = {.count = 3}},
				 {.row = {.results = 2}}};

	assert_shows(why_text_of((struct why_view){.rows = rows, .n = 3, .number = PLAN_NONE}),
		     "all                5  several         3          2",
		     "from several: probes in some compilers, tables in others\n");
}

/* The sample plan lacks things of typeck. Sites are the query's own and those of its body. */
TEST_CASE(the_plan_says_what_it_has_not_found)
{
	_plan_ struct plan *plan = sample_plan();
	const uint8_t attached[] = {PLAN_PARTS, PLAN_PARTS, PLAN_PART_ALWAYS,  PLAN_PARTS,
				    PLAN_PARTS, PLAN_PARTS, PLAN_PART_THREADS, PLAN_PARTS};
	struct why_row row = {.row = {.results = 5, .results_missing = true}};

	assert_shows(
		why_text_of((struct why_view){
			.rows = &row, .n = 1, .plan = plan, .number = 1, .attached = attached}),
		"all             >= 5  reading", "lost: unknown", "\nall starts  no\n",
		"\nall ends    yes\n", "\ncache       no cache\n",
		"start              no   stepped   0x2200  0x1200       -  read\n",
		"end               yes  emulated   0x8080  0x7080  0x8000     -\n",
		"guard-query   threads  emulated   0x8040  0x7040  0x8000     -\n", "!0x1201",
		"!0x9090");
}

TEST_MAIN(NULL, NULL)
