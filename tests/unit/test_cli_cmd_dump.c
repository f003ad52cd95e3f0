// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "view/columns.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "cli/cmd.h"
#include "cli/dump_stacks.h"
#include "options/exit_code.h"

#define TO_BEGINNING 1 /* as to_ns; here, 0 is "to the end" */

static char *dump(struct cli_dump_options options)
{
	struct output o;
	char *text;

	options.to_ns = options.to_ns == TO_BEGINNING ? 0 : options.to_ns ?: UINT64_MAX;
	output_begin(&o);
	assert_int_equal(cmd_dump(&options), EXIT_CODE_OK);
	output_end(&o);
	text = strdup(o.text[0]);
	output_free(&o);
	return text;
}

#define DUMP(...) dump((struct cli_dump_options){__VA_ARGS__})

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static struct cli_texts one(const char **text)
{
	return (struct cli_texts){text, 1};
}

TEST_CASE(filters_pick_spans)
{
	static const char *const file = "tests/golden/good-plain.qpt";
	const char *type = "type*", *pid = "4711", *crate = "?", *other = "b";
	static const struct {
		uint64_t from_ns, to_ns;
		size_t n;
	} times[] = {{0, 0, 4},	      {2050, 0, 2},	    {2301, 0, 1},	   {0, 2000, 2},
		     {2046, 2049, 0}, {0, TO_BEGINNING, 0}, {0, UINT64_MAX - 1, 4}};
	_free_ char *by_query = DUMP(.file = file, .queries = one(&type));
	_free_ char *by_pid = DUMP(.file = file, .of.ids = one(&pid));
	_free_ char *by_crate = DUMP(.file = file, .of.ids = one(&crate));
	_free_ char *by_other = DUMP(.file = file, .of.ids = one(&other));

	assert_int_equal(count(by_query, "\"query\":\"typeck\""), 2);
	assert_int_equal(count(by_query, "\"type\":\"span\""), 2);
	assert_int_equal(count(by_pid, "\"type\":\"span\""), 4);
	assert_int_equal(count(by_crate, "\"type\":\"span\""), 4);
	assert_int_equal(count(by_other, "\"type\":\"span\""), 0);
	assert_int_equal(count(by_other, "\"type\":\"process\""), 0);
	/* Times are since the capture began, at 1000. */
	for (size_t i = 0; i < N_OF(times); i++) {
		_free_ char *text =
			DUMP(.file = file, .from_ns = times[i].from_ns, .to_ns = times[i].to_ns);

		assert_int_equal(count(text, "\"type\":\"span\""), times[i].n);
	}
}

TEST_CASE(events_and_threads_are_dumped)
{
	_free_ char *others = DUMP(.file = "tests/golden/good-threads-and-costs.qpt");

	assert_shows(
		DUMP(.file = "tests/golden/good-strings.qpt"),
		"\"query\":\"typeck\",\"kind\":\"Query\",\"event\":\"regex_syntax::ast::Parser\"",
		"\"query\":\"late\",\"kind\":\"Query\",\"event\":null");
	assert_contains(others, "\"type\":\"thread\",\"process\":0,\"pid\":0,\"tid\":4712,"
				"\"name\":\"a\"");
	assert_contains(others, "\"type\":\"costs\",\"emulated_ps\":430000,\"stepped_ps\":13800000,"
				"\"emulated_inside_ps\":400000,\"stepped_inside_ps\":13700000,"
				"\"subtracted\":true");
	assert_contains(others, "\"cwd\":\"mir_built\"");
}

TEST_CASE(callers_are_dumped)
{
	_free_ char *text = DUMP(.file = "tests/golden/good-callers.qpt");

	assert_contains(text, "\"caller\":{\"locindex\":3,\"function\":\"rustc::ask\",\"offset\":2,"
			      "\"file\":\"src/a.rs\",\"line\":7}}\n");
	assert_contains(text, "\"caller\":{\"locindex\":1,\"function\":\"rustc::ask\",\"offset\":0,"
			      "\"file\":null,\"line\":null}}\n");
	assert_contains(text, "\"caller\":{\"locindex\":8,\"function\":null,\"offset\":null,"
			      "\"file\":null,\"line\":null}}\n");
	assert_int_equal(count(text, "\"type\":\"span\""), 7);
	assert_int_equal(count(text, "\"caller\""), 6);
}

TEST_CASE(samples_are_dumped_as_they_are_filtered)
{
	static const char *const file = "tests/golden/good-samples.qpt";
	const char *query = "mir*";
	_free_ char *all = DUMP(.file = file);
	_free_ char *one_query = DUMP(.file = file, .queries = one(&query));
	_free_ char *late = DUMP(.file = file, .from_ns = 7999000);

	assert_contains(all, "{\"type\":\"sampling\",\"hz\":499,\"fault_period\":100,\"light\":"
			     "false,\"off_cpu\":true}");
	assert_contains(all,
			"{\"type\":\"sample\",\"process\":0,\"pid\":4711,\"tid\":9,"
			"\"cause\":\"faults\",\"time_ns\":8000000,\"value\":409600,\"stack\":11,"
			"\"cut\":\"too_deep\",\"query\":\"typeck\",\"kind\":\"QueryBlocked\","
			"\"depth\":2}\n");
	assert_contains(all, "\"stack\":null,\"cut\":null}\n");
	assert_int_equal(count(all, "\"type\":\"sample\""), 7);
	/* One sample in mir_built, and what its stack needs. */
	assert_int_equal(count(one_query, "\"type\":\"sample\""), 1);
	assert_int_equal(count(one_query, "\"type\":\"stack\""), 5);
	assert_int_equal(count(late, "\"type\":\"sample\""), 3);
}

TEST_CASE(the_header_names_the_clock)
{
	_free_ char *realtime = DUMP(.file = "tests/golden/good-clock.qpt");

	assert_shows(DUMP(.file = "tests/golden/good-empty.qpt"),
		     "\"clock\":\"monotonic\",\"clock_start_ns\":1000,");
	assert_contains(realtime, "\"clock\":\"realtime\",\"clock_start_ns\":1000,");
}

/* The line must have exactly the members in the definition of its kind. */
static void check_line(struct json_object *defs, const char *text)
{
	struct json_object *line = json_tokener_parse(text), *type, *def, *properties, *required;

	assert_non_null(line);
	assert_true(json_object_object_get_ex(defs,
					      json_object_object_get_ex(line, "type", &type)
						      ? json_object_get_string(type)
						      : "header",
					      &def));
	assert_true(json_object_object_get_ex(def, "properties", &properties));
	assert_true(json_object_object_get_ex(def, "required", &required));
	json_object_object_foreach (line, key, value) {
		(void)value;
		if (!json_object_object_get_ex(properties, key, NULL))
			fail_msg("%s is not in the schema", key);
	}
	for (size_t i = 0; i < json_object_array_length(required); i++) {
		const char *key = json_object_get_string(json_object_array_get_idx(required, i));

		if (!json_object_object_get_ex(line, key, NULL))
			fail_msg("%s is not in the line", key);
	}
	json_object_put(line);
}

TEST_CASE(the_schema_is_that_of_the_lines)
{
	static const char *const files[] = {"tests/golden/good-plain.qpt",
					    "tests/golden/good-strings.qpt",
					    "tests/golden/good-threads-and-costs.qpt",
					    "tests/golden/good-kinds.qpt",
					    "tests/golden/good-callers.qpt",
					    "tests/golden/good-samples.qpt",
					    "tests/golden/good-later-additions.qpt"};
	_free_ char *text = DUMP(.schema = true);
	struct json_object *schema = json_tokener_parse(text), *defs;

	assert_true(json_object_object_get_ex(schema, "$defs", &defs));
	for (size_t i = 0; i < N_OF(files); i++) {
		_free_ char *lines = DUMP(.file = files[i]);

		for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
			check_line(defs, line);
	}
	json_object_put(schema);
}

/* ---- Dump stacks ----------------------------------------------------------------------------- */

static struct trace_reader *read_whole(void)
{
	struct trace_reader *r = NULL;
	struct trace_item item;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	assert_null(trace_reader__problem(r));
	return r;
}

static char *printed(struct dump_stacks *d, const struct trace_reader *r, uint32_t stack)
{
	char *text = NULL;
	size_t size;
	struct columns c = {.to = COLUMNS_JSON, .out = open_memstream(&text, &size)};

	assert_int_equal(dump_stacks__print(d, r, stack, &c), 0);
	fclose(c.out);
	return text;
}

#define LOCATION(locindex, function, offset)                                        \
	"\"location\":{\"locindex\":" #locindex ",\"function\":\"" function         \
	"\",\"offset\":" #offset ",\"file\":null,\"line\":null,\"library\":\"/lib/" \
	"librustc_driver.so\"}}\n"

TEST_CASE_WITH(entries_are_printed_once_and_the_outermost_first, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct dump_stacks d = {0};
	uint32_t first, second, unknown;
	struct trace_reader *r;
	char *text;

	sampled_trace_begin(w);
	first = sampled_trace_stack(w, SAMPLED_TYPECK, 5);
	second = sampled_trace_stack(w, SAMPLED_TYPECK, 6);
	unknown = sampled_trace_entry(w, first, TRACE_STACK_UNKNOWN, 0);
	unknown = sampled_trace_entry(w, unknown, TRACE_STACK_LOCATION, TRACE_NO_LOCATION);
	assert_int_equal(trace_writer__finish(w), 0);
	r = read_whole();
	text = printed(&d, r, first);
	assert_string_equal(
		text, "{\"type\":\"stack\",\"id\":1,\"parent\":null,\"depth\":1," LOCATION(
			      8, "rustc_driver::main",
			      7) "{\"type\":\"stack\",\"id\":2,\"parent\":1,\"depth\":2,"
				 "\"query\":\"typeck\",\"kind\":\"Query\"}\n"
				 "{\"type\":\"stack\",\"id\":3,\"parent\":2,\"depth\":3," LOCATION(
					 106, "rustc_hir::walk", 5));
	free(text);
	text = printed(&d, r, second);
	assert_string_equal(text, "{\"type\":\"stack\",\"id\":4,\"parent\":2,\"depth\":3," LOCATION(
					  107, "rustc_hir::walk", 6));
	free(text);
	text = printed(&d, r, unknown);
	assert_string_equal(text, "{\"type\":\"stack\",\"id\":5,\"parent\":3,\"depth\":4,"
				  "\"query\":null,\"kind\":\"Query\"}\n"
				  "{\"type\":\"stack\",\"id\":6,\"parent\":5,\"depth\":5,"
				  "\"location\":{\"locindex\":0,\"function\":null,\"offset\":null,"
				  "\"file\":null,\"line\":null,\"library\":null}}\n");
	free(text);
	text = printed(&d, r, TRACE_NO_STACK);
	assert_string_equal(text, "");
	free(text);
	dump_stacks__clear(&d);
	trace_reader__free(r);
}

TEST_MAIN(NULL, NULL)
