// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_text.h"
#include "view/waits.h"
#include "view/memory.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/sample_items.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/sampled_tree.h"

static void assert_head(const struct samples_totals *t, const char *expected)
{
	_free_ char *text = PRINTED(samples_text_head(to_, t));

	assert_string_equal(text, expected);
}

static void assert_notes(const struct samples_totals *t, const char *expected)
{
	_free_ char *text = PRINTED(samples_text_notes(to_, t));

	assert_string_equal(text, expected);
}

TEST_CASE(the_head_has_time_rate_and_share)
{
	struct samples_totals t = {
		.sampling = {.hz = 499},
		.of = {[TRACE_SAMPLE_CPU] = {.n = 1000, .value = 2000000000}},
		.no_query = {[TRACE_SAMPLE_CPU] = {.n = 250}},
	};

	assert_head(&t, "1,000 samples, 499 a second of CPU time, 75.0 % in queries and passes\n");
	/* Traces that were cut may lack the rate. */
	t.sampling.hz = 0;
	assert_head(&t, "1,000 samples, 75.0 % in queries and passes\n");
}

TEST_CASE(memory_is_elsewhere_and_nothing_is_nothing)
{
	struct samples_totals t = {.of = {[TRACE_SAMPLE_OFF_CPU] = {.n = 1, .value = 1}}};

	assert_head(&t, "");
	t.of[TRACE_SAMPLE_FAULT].n = 1;
	assert_head(&t, "page faults were sampled: report --memory shows them\n");
}

TEST_CASE(whole_stacks_need_no_note)
{
	const struct samples_totals t = {.of = {[TRACE_SAMPLE_CPU] = {.n = 10}},
					 .cut = {[TRACE_CUT_NOT] = 10},
					 .compared = 10};

	assert_notes(&t, "");
}

TEST_CASE(each_cause_of_a_cut_is_named)
{
	const struct samples_totals t = {
		.of = {[TRACE_SAMPLE_CPU] = {.n = 20}},
		.cut = {[TRACE_CUT_NOT] = 10,
			[TRACE_CUT_NO_MAP] = 1,
			[TRACE_CUT_NO_RULE] = 2,
			[TRACE_CUT_NO_PAGE] = 3,
			[TRACE_CUT_TOO_DEEP] = 4},
	};

	assert_notes(&t, "stacks that do not reach the start of their thread: 50.0 %\n"
			 "  code in no known file: 1\n"
			 "  no unwind rule: 2\n"
			 "  a part of the stack not in memory: 3\n"
			 "  too many frames: 4\n");
}

TEST_CASE(what_disagrees_is_a_share_of_what_was_compared)
{
	const struct samples_totals t = {
		.of = {[TRACE_SAMPLE_CPU] = {.n = 100}},
		.cut = {[TRACE_CUT_NOT] = 100},
		.unknown = 20,
		.compared = 50,
		.differ = 5,
	};

	assert_notes(&t, "in a query that its code does not name: 20.0 %, counted for the one "
			 "around it\n"
			 "stacks that show another query than the probes: 10.0 %\n");
}

/* ---- Samples json ---------------------------------------------------------------------------- */

/* A document with nothing but these totals. */
static struct json_object *document_of(const struct samples_totals *t)
{
	_free_ char *text = printed_columns(samples_columns, t);

	return parsed_json(text);
}

static void assert_number(struct json_object *in, const char *name, uint64_t expected)
{
	assert_int_equal(json_object_get_uint64(member(in, name)), expected);
}

TEST_CASE(each_number_has_its_field)
{
	const struct samples_totals t = {
		.sampling = {.hz = 499, .fault_period = 100},
		.of = {[TRACE_SAMPLE_CPU] = {.n = 7, .value = 14000},
		       [TRACE_SAMPLE_OFF_CPU] = {.n = 3, .value = 900},
		       [TRACE_SAMPLE_FAULT] = {.n = 2, .value = 819200}},
		.no_query = {[TRACE_SAMPLE_CPU] = {.n = 4, .value = 8000},
			     [TRACE_SAMPLE_FAULT] = {.n = 1, .value = 409600}},
		.cut = {[TRACE_CUT_NOT] = 6,
			[TRACE_CUT_NO_MAP] = 1,
			[TRACE_CUT_NO_RULE] = 2,
			[TRACE_CUT_NO_PAGE] = 3},
		.unknown = 5,
		.unknown_query = {.n = 9, .value = 36864},
		.light = 13,
		.compared = 11,
		.differ = 10,
	};
	struct json_object *document = document_of(&t), *s = member(document, "samples");

	assert_number(s, "hz", 499);
	assert_number(s, "fault_period", 100);
	assert_number(s, "n", 12);
	assert_number(s, "complete", 6);
	assert_number(s, "light", 13);
	assert_number(s, "unknown", 5);
	assert_number(s, "compared", 11);
	assert_number(s, "differ", 10);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_MAP), 1);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_RULE), 2);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_PAGE), 3);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_TOO_DEEP), 0);
	assert_number(member(s, "cpu"), "n", 7);
	assert_number(member(s, "cpu"), "ns", 14000);
	assert_number(member(s, "cpu"), "no_query", 4);
	assert_number(member(s, "cpu"), "no_query_ns", 8000);
	assert_number(member(s, "off_cpu"), "n", 3);
	assert_number(member(s, "off_cpu"), "ns", 900);
	assert_number(member(s, "off_cpu"), "no_query", 0);
	assert_number(member(s, "faults"), "bytes", 819200);
	assert_number(member(s, "faults"), "no_query_bytes", 409600);
	assert_number(member(s, "faults"), "unknown_query_bytes", 36864);
	assert_false(json_object_object_get_ex(member(s, "cpu"), "unknown_query_bytes", NULL));
	assert_false(json_object_object_get_ex(member(s, "faults"), "ns", NULL));
	json_object_put(document);
}

/* Of a trace in which only waits were sampled, these are not known to be 0. */
TEST_CASE(a_rate_that_was_not_asked_for_is_null)
{
	const struct samples_totals t = {.sampling = {.off_cpu = true}};
	struct json_object *document = document_of(&t), *s = member(document, "samples"), *hz;

	assert_true(json_object_object_get_ex(s, "hz", &hz));
	assert_null(hz);
	assert_true(json_object_object_get_ex(s, "fault_period", &hz));
	assert_null(hz);
	assert_number(s, "n", 0);
	json_object_put(document);
}

/* ---- Waits text ------------------------------------------------------------------------------ */

struct made {
	struct sampled_build build;
	struct sample_waits waits;
	struct waits_view view;
};

static void made__clear(struct made *m)
{
	sample_waits__destroy(&m->waits);
	sampled_build__clear(&m->build);
}

static void make(struct made *m)
{
	struct sample_waits_options options = {};

	sampled_build__make(&m->build, 0, 1u << TRACE_SAMPLE_OFF_CPU);
	options.texts = m->build.model.options.texts;
	assert_int_equal(sample_waits__make(&m->waits, &m->build.model.stacks[TRACE_SAMPLE_OFF_CPU],
					    &options),
			 0);
	m->view = (struct waits_view){
		.waits = &m->waits,
		.totals = model__sampled(&m->build.model),
		.width = 80,
	};
}

TEST_CASE(kinds_and_places_are_tables)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *text = NULL;

	make(&m);
	text = printed_text(waits_text(out, &m.view));
	assert_golden("view/waits.txt", text);
}

TEST_CASE(rows_with_less_are_left_out)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *least = NULL, *top = NULL;

	make(&m);
	m.view.least = 1000000;
	m.view.width = 0;
	least = printed_text(waits_text(out, &m.view));
	assert_contains(least, "rustc_codegen_llvm::back::write::codegen\n");
	assert_lacks(least, "typeck");
	assert_contains(least, "  and 1 more\n");
	m.view.top = 1;
	m.view.problem = "cut short";
	top = printed_text(waits_text(out, &m.view));
	assert_contains(top, "  and 2 more\n");
	assert_contains(top, "incomplete: cut short\n");
}

TEST_CASE(the_document_is_stable)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *text = NULL;

	make(&m);
	text = printed_text(waits_json(out, &m.view));
	json_object_put(parsed_json(text));
	assert_golden("view/waits.json", text);
}

/* ---- Memory text ----------------------------------------------------------------------------- */

static struct memory_view view_of(const struct sampled_tree *s)
{
	return (struct memory_view){
		.samples = s->build.model.samples,
		.tree = &s->tree,
		.summary = s->build.model.summary,
		.names = &s->build.model.options.texts,
		.width = 80,
	};
}

TEST_CASE(crates_queries_and_parts_are_tables)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	text = printed_text(memory_text(out, &view));
	assert_golden("view/memory.txt", text);
}

/* Those without memory have no row. */
TEST_CASE(items_are_a_table)
{
	_sampled_tree_ struct sampled_tree s = {};
	_items_ struct items *items = NULL;
	struct memory_view view;
	_free_ char *text = NULL, *json = NULL, *text_of_least = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	view.names = &sample_item_texts;
	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(items__sample(items, SI_TYPECK, SI_FUNCTION, TRACE_SAMPLE_FAULT,
					       SAMPLED_FAULT),
				 0);
	assert_int_equal(
		items__sample(items, SI_TYPECK, TRACE_NO_STRING, TRACE_SAMPLE_FAULT, SAMPLED_FAULT),
		0);
	assert_int_equal(items__sample(items, SI_TYPECK, SI_MODULE, TRACE_SAMPLE_CPU, 1), 0);
	view.items = items;
	text = printed_text(memory_text(out, &view));
	assert_contains(text, "\n charged        +-     %  item\n"
			      "3.52 MiB  1.17 MiB  25.7  app::shapes::area\n"
			      " 400 KiB   400 KiB   2.9  (no item)\n\n");
	json = printed_text(memory_json(out, &view));
	json_object_put(parsed_json(json));
	assert_contains(json, "\"items\":[\n{\"name\":\"app::shapes::area\",\"samples\":9,"
			      "\"bytes\":3686400,\"error_bytes\":1228800},\n{\"name\":null,");
	view.least = 9 * SAMPLED_FAULT;
	text_of_least = printed_text(memory_text(out, &view));
	assert_contains(text_of_least, "app::shapes::area\n  and 1 more item\n");
}

TEST_CASE(memory_text_rows_with_less_are_left_out)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL, *first = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	view.least = 6 * SAMPLED_FAULT;
	text = printed_text(memory_text(out, &view));
	assert_contains(text, "app (bin)");
	assert_lacks(text, "\ndep ");
	assert_contains(text, "  and 1 more crate\n");
	assert_contains(text, "  and 1 more query\n");
	view.least = 0;
	view.top = 1;
	view.problem = "cut short";
	first = printed_text(memory_text(out, &view));
	assert_contains(first, "  and 2 more parts\n");
	assert_contains(first, "incomplete: cut short\n");
}

TEST_CASE(memory_text_the_document_is_stable)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	text = printed_text(memory_json(out, &view));
	json_object_put(parsed_json(text));
	assert_golden("view/memory.json", text);
}

/* Callers are not known then, and that is said. */
TEST_CASE_WITH(without_stacks_there_is_no_total, temporary_make, temporary_remove)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_call_tree_ struct call_tree tree = {};
	struct model_options options;
	struct memory_view view;
	_free_ char *text = NULL, *json = NULL;
	_model_ struct model m;

	sampled_trace_write_light(temporary);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	options = model_options_of(r);
	options.stack_causes = 1u << TRACE_SAMPLE_FAULT;
	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(model__read(&m, r), 0);
	assert_int_equal(call_tree__make(&tree, &m.stacks[TRACE_SAMPLE_FAULT],
					 &(struct call_tree_options){.texts = options.texts}),
			 0);
	view = (struct memory_view){
		.samples = m.samples,
		.tree = &tree,
		.summary = m.summary,
		.names = &m.options.texts,
		.width = 80,
	};
	text = printed_text(memory_text(out, &view));
	assert_golden("view/memory-light.txt", text);
	json = printed_text(memory_json(out, &view));
	assert_contains(json, "\"total_bytes\":null");
	assert_contains(json, "\"unknown_query_bytes\":1228800");
}

TEST_MAIN(NULL, NULL)
