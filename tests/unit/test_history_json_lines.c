// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/json_lines.h"

#include "../fixtures/output.h"
#include "../fixtures/sample_history.h"
#include "history/columns.h"
#include "test.h"

#define ID    "0f1e2d3c-4b5a-4978-8695-000000000001"
#define BUILD "\"build\":\"" ID "\",\"start_ns\":5"
#define HEAD  "{\"table\":\"build\",\"schema\":\"qprof-rows/4\","

/* The first build of a text; its problem is "" if there is none. */
struct result {
	int err;
	char problem[256];
	struct history_rows rows;
};

static void result__clear(struct result *r)
{
	history_rows__clear(&r->rows);
}
#define _result_ __cleanup(result__clear)

static struct result read_bytes(const void *bytes, size_t size)
{
	_fclose_ FILE *in = fmemopen((void *)bytes, size, "r");
	_json_lines_ struct json_lines *l = NULL;
	struct result r = {};

	assert_non_null(in);
	assert_int_equal(json_lines__new(in, &l), 0);
	history_rows__init(&r.rows);
	r.err = json_lines__next(l, &r.rows);
	snprintf(r.problem, sizeof(r.problem), "%s", json_lines__problem(l) ?: "");
	return r;
}

static struct result read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void assert_problem(const char *text, const char *problem)
{
	_result_ struct result r = read_text(text);

	assert_struct(r, err, -EBADMSG, problem, problem);
}

TEST_CASE(rows_are_printed_as_documented)
{
	_history_rows_ struct history_rows r;

	sample_history(&r, 1);
	assert_shows(printed_text(json_lines__write(out, &r)), "@history-rows.jsonl");
}

TEST_CASE(a_row_alone_has_only_columns)
{
	_free_ char *text = NULL;
	const struct history_item row = {.build = ID, .item = "a\"b", .count = HISTORY_UNKNOWN};

	text = printed_text((json_lines__row(out, HISTORY_ITEM, &row), 0));
	assert_string_equal(text,
			    "{\"build\":\"" ID "\",\"start_ns\":0,\"crate\":null,"
			    "\"item\":\"a\\\"b\",\"how\":null,\"count\":null,\"self_ns\":0}\n");
}

TEST_CASE(bad_utf8_is_replaced)
{
	const struct history_item row = {.item = "a\xff\x01"};

	assert_shows(printed_text((json_lines__row(out, HISTORY_ITEM, &row), 0)),
		     "\"item\":\"a\xef\xbf\xbd\\u0001\"");
}

TEST_CASE(what_was_printed_is_read_again)
{
	_free_ char *text = NULL, *again = NULL;
	_json_lines_ struct json_lines *l = NULL;
	_fclose_ FILE *in = NULL;
	_history_rows_ struct history_rows r;
	FILE *out;
	size_t size;

	out = open_memstream(&text, &size);
	for (unsigned int i = 0; i < 3; i++) {
		sample_history(&r, i);
		assert_int_equal(json_lines__write(out, &r), 0);
		history_rows__clear(&r);
	}
	fclose(out);
	in = fmemopen(text, size, "r");
	assert_int_equal(json_lines__new(in, &l), 0);
	out = open_memstream(&again, &size);
	while (json_lines__next(l, &r) == 1) {
		assert_int_equal(json_lines__write(out, &r), 0);
		history_rows__clear(&r);
	}
	fclose(out);
	assert_null(json_lines__problem(l));
	assert_string_equal(again, text);
}

TEST_CASE(a_build_may_have_no_other_rows)
{
	_result_ struct result r = read_text(
		"\n" HEAD
		"\"compile_rows\":0,\"query_rows\":0,\"item_rows\":0,\"llvm_rows\":0," BUILD
		"}\n\n");

	assert_struct(r, err, 1, rows.build.build, ID, rows.build.start_ns, 5);
	assert_true(r.rows.build.cpu_ns == HISTORY_UNKNOWN);
	assert_null(r.rows.build.commit);
}

TEST_CASE(an_empty_file_has_no_build)
{
	_result_ struct result r = read_text("\n");

	assert_struct(r, err, 0, problem, "");
}

#define ONE_ITEM \
	HEAD "\"compile_rows\":0,\"query_rows\":0,\"item_rows\":1,\"llvm_rows\":0," BUILD "}\n"
#define ITEM "{\"table\":\"item\"," BUILD ",\"crate\":\"a\",\"item\":\"b\""

TEST_CASE(a_build_that_is_not_whole_is_refused)
{
	_result_ struct result whole = read_text(ONE_ITEM ITEM "}");

	assert_int_equal(whole.err, 1);
	assert_problem(ONE_ITEM, "line 2: the file ends within a build");
	assert_problem(ONE_ITEM ONE_ITEM, "line 2: the build before it announced other rows");
	assert_problem(ITEM "}\n", "line 1: it belongs to no build: more rows than were announced");
	assert_problem(ONE_ITEM "{\"table\":\"query\"," BUILD "}",
		       "line 2: the build before it announced other rows");
}

TEST_CASE(rows_of_another_build_are_refused)
{
	assert_problem(ONE_ITEM "{\"table\":\"item\",\"build\":\"" ID
				"\",\"start_ns\":6,\"crate\":\"a\",\"item\":\"b\"}",
		       "line 2: it is not of the build before it");
	assert_problem(ONE_ITEM "{\"table\":\"item\",\"build\":\"x\",\"start_ns\":5,"
				"\"crate\":\"a\",\"item\":\"b\"}",
		       "line 2: it is not of the build before it");
}

TEST_CASE(values_are_checked)
{
	assert_problem(ONE_ITEM ITEM ",\"count\":-1}",
		       "line 2: \"count\" is no number from 0 to 2^63 - 2");
	assert_problem(ONE_ITEM ITEM ",\"count\":1.5}",
		       "line 2: \"count\" is no number from 0 to 2^63 - 2");
	assert_problem(ONE_ITEM ITEM ",\"count\":9223372036854775807}",
		       "line 2: \"count\" is no number from 0 to 2^63 - 2");
	assert_problem(ONE_ITEM ITEM ",\"count\":99999999999999999999999}",
		       "line 2: \"count\" is no number from 0 to 2^63 - 2");
	assert_problem(ONE_ITEM ITEM ",\"count\":\"1\"}",
		       "line 2: \"count\" is no number from 0 to 2^63 - 2");
	assert_problem(ONE_ITEM ITEM ",\"how\":1}", "line 2: \"how\" is no text");
	assert_problem(ONE_ITEM ITEM ",\"how\":\"a\\u0000b\"}",
		       "line 2: \"how\" is longer than 4096 bytes, or has a null");
	assert_problem(ONE_ITEM ITEM ",\"new\":1}",
		       "line 2: the table \"item\" has no column \"new\"");
	assert_problem(ONE_ITEM ITEM ",\"how\":[1]}", "line 2: it is no JSON object");
	assert_problem(ONE_ITEM "{\"table\":\"item\"," BUILD ",\"crate\":\"a\",\"item\":null}",
		       "line 2: it has no \"item\"");
}

TEST_CASE(what_is_no_object_is_refused)
{
	assert_problem("[]", "line 1: it is no JSON object");
	assert_problem("\n\n{\"a\":[[[]]]}", "line 3: it is no JSON object");
	assert_problem("{} {}", "line 1: it is no JSON object");
	assert_problem("{", "line 1: it is no JSON object");
	assert_problem("{\"a\":\"\xff\"}", "line 1: it is no JSON object");
	assert_problem("{}", "line 1: it has no \"table\"");
	assert_problem("{\"table\":\"builds\"}", "line 1: there is no table \"builds\"");
}

TEST_CASE(the_first_line_is_checked)
{
	_result_ struct result r = read_text("{\"table\":\"build\",\"schema\":\"qprof-rows/5\"}");

	assert_int_equal(r.err, -EPROTONOSUPPORT);
	assert_string_equal(r.problem, "line 1: a newer version of qprof-bpf wrote it");
	assert_problem("{\"table\":\"build\"}", "line 1: it has no \"schema\"");
	assert_problem("{\"table\":\"build\",\"schema\":\"qprof-report/1\"}",
		       "line 1: its schema is not qprof-rows");
	assert_problem("{\"table\":\"build\",\"schema\":\"qprof-rows/0\"}",
		       "line 1: its schema has an unknown version");
	assert_problem("{\"table\":\"build\",\"schema\":\"qprof-rows/2x\"}",
		       "line 1: its schema has an unknown version");
	assert_problem(HEAD BUILD "}", "line 1: it has no \"compile_rows\"");
	assert_problem(HEAD "\"compile_rows\":0,\"query_rows\":0,\"item_rows\":0,"
			    "\"llvm_rows\":0,\"build\":\"0F1E2D3C-4b5a-4978-8695-000000000001\","
			    "\"start_ns\":1}",
		       "line 1: \"build\" is no UUID in lower case");
}

#define OF_VERSION(n, more)                                                                     \
	"{\"table\":\"build\",\"schema\":\"qprof-rows/" n                                       \
	"\",\"compile_rows\":0,\"query_rows\":0,"                                               \
	"\"item_rows\":2," BUILD more "}\n"                                                     \
	"{\"table\":\"item\"," BUILD ",\"crate\":\"a\",\"item\":\"b\",\"how\":\"estimated\"}\n" \
	"{\"table\":\"item\"," BUILD ",\"crate\":\"a\",\"item\":\"c\",\"how\":\"exact\"}\n"

/* As a spool or an export may still have it. */
TEST_CASE(a_build_with_a_budget_comes_without_estimates)
{
	_result_ struct result r =
		read_text(OF_VERSION("1", ",\"how\":\"budget\",\"budget_ppm\":250000"));

	assert_struct(r, err, 1, rows.build.how, "sampled");
	assert_true(r.rows.build.results == HISTORY_UNKNOWN);
	assert_int_equal(history_rows__n(&r.rows, HISTORY_ITEM), 1);
	assert_string_equal(((const struct history_item *)r.rows.rows[HISTORY_ITEM])->item, "c");
	assert_problem(OF_VERSION("2", ",\"budget_ppm\":250000"),
		       "line 1: the table \"build\" has no column \"budget_ppm\"");
}

/* LLVM's work came with version 4: a build without it is whole before, and is not since. */
TEST_CASE(former_builds_have_no_work_of_llvm)
{
	_result_ struct result r = read_text(OF_VERSION("3", ""));

	assert_int_equal(r.err, 1);
	assert_int_equal(history_rows__n(&r.rows, HISTORY_ITEM), 2);
	assert_int_equal(history_rows__n(&r.rows, HISTORY_LLVM), 0);
	assert_problem(OF_VERSION("4", ""), "line 1: it has no \"llvm_rows\"");
}

TEST_CASE(bytes_that_are_no_lines_are_refused)
{
	_free_ char *long_line = malloc(1 << 20);
	_result_ struct result with_null = read_bytes("\0{}", 3), too_long = {};

	assert_non_null(long_line);
	memset(long_line, ' ', 1 << 20);
	too_long = read_bytes(long_line, 1 << 20);
	assert_struct(with_null, err, -EBADMSG, problem, "line 1: it is no text");
	assert_struct(too_long, err, -EBADMSG, problem, "line 1: it is too long");
}

TEST_CASE(nothing_is_read_after_an_error)
{
	_fclose_ FILE *in =
		fmemopen((void *)("[]\n" ONE_ITEM ITEM "}"), strlen("[]\n" ONE_ITEM ITEM "}"), "r");
	_json_lines_ struct json_lines *l = NULL;
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	assert_int_equal(json_lines__new(in, &l), 0);
	assert_int_equal(json_lines__next(l, &r), -EBADMSG);
	assert_int_equal(json_lines__next(l, &r), -EBADMSG);
}

TEST_MAIN(NULL, NULL)
