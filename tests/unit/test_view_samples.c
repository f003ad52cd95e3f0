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
#include "view/functions.h"

#define HEAD(t)	 PRINTED(samples_text_head(to_, t))
#define NOTES(t) PRINTED(samples_text_notes(to_, t))

TEST_CASE(the_head_has_time_rate_and_share)
{
	struct samples_totals t = {
		.sampling = {.hz = 499},
		.of = {[TRACE_SAMPLE_CPU] = {.n = 1000, .value = 2000000000}},
		.no_query = {[TRACE_SAMPLE_CPU] = {.n = 250}},
	};
	struct samples_totals other = {.of = {[TRACE_SAMPLE_OFF_CPU] = {.n = 1, .value = 1}}};

	assert_shows(HEAD(&t),
		     "=1,000 samples, 499 a second of CPU time, 75.0 % in queries and passes\n");
	/* Traces that were cut may lack the rate. */
	t.sampling.hz = 0;
	assert_shows(HEAD(&t), "=1,000 samples, 75.0 % in queries and passes\n");
	/* Memory is elsewhere, and nothing is nothing. */
	assert_shows(HEAD(&other), "=");
	other.of[TRACE_SAMPLE_FAULT].n = 1;
	assert_shows(HEAD(&other), "=page faults were sampled: report --memory shows them\n");
}

/* What disagrees is a share of what was compared. */
TEST_CASE(stacks_that_are_not_whole_have_notes)
{
	static const struct {
		struct samples_totals t;
		const char *want;
	} cases[] = {
		{{.of = {[TRACE_SAMPLE_CPU] = {.n = 10}},
		  .cut = {[TRACE_CUT_NOT] = 10},
		  .compared = 10},
		 "="},
		{{.of = {[TRACE_SAMPLE_CPU] = {.n = 20}},
		  .cut = {[TRACE_CUT_NOT] = 10,
			  [TRACE_CUT_NO_MAP] = 1,
			  [TRACE_CUT_NO_RULE] = 2,
			  [TRACE_CUT_NO_PAGE] = 3,
			  [TRACE_CUT_TOO_DEEP] = 4}},
		 "=stacks that do not reach the start of their thread: 50.0 %\n"
		 "  code in no known file: 1\n"
		 "  no unwind rule: 2\n"
		 "  a part of the stack not in memory: 3\n"
		 "  too many frames: 4\n"},
		{{.of = {[TRACE_SAMPLE_CPU] = {.n = 100}},
		  .cut = {[TRACE_CUT_NOT] = 100},
		  .unknown = 20,
		  .compared = 50,
		  .differ = 5},
		 "=in a query that its code does not name: 20.0 %, counted for the one around it\n"
		 "stacks that show another query than the probes: 10.0 %\n"},
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_shows(NOTES(&cases[i].t), cases[i].want);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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
	/* Of a trace in which only waits were sampled, rates are not known to be 0. */
	const struct samples_totals waits = {.sampling = {.off_cpu = true}};

	assert_shows(printed_columns(samples_columns, &t), "@view/samples.json");
	assert_shows(printed_columns(samples_columns, &waits), "\"hz\":null,",
		     "\"fault_period\":null,", "\"n\":0,");
}

/* ---- Waits ----------------------------------------------------------------------------------- */

TEST_CASE(waits_are_tables_by_kind_and_place)
{
	_sampled_build_ struct sampled_build b = {};
	struct sample_waits_options options = {};
	struct sample_waits waits;
	struct waits_view v = {.waits = &waits, .width = 80};

	sampled_build__make(&b, 0, 1u << TRACE_SAMPLE_OFF_CPU);
	options.texts = b.model.options.texts;
	must(sample_waits__make(&waits, &b.model.stacks[TRACE_SAMPLE_OFF_CPU], &options));
	v.totals = model__sampled(&b.model);
	assert_shows(printed_text(waits_text(out, &v)), "@view/waits.txt");
	assert_shows(printed_text(waits_json(out, &v)), "@view/waits.json");
	/* Rows with less are left out. */
	v.least = 1000000;
	v.width = 0;
	assert_shows(printed_text(waits_text(out, &v)),
		     "rustc_codegen_llvm::back::write::codegen\n", "!typeck", "  and 1 more\n");
	v.top = 1;
	v.problem = "cut short";
	assert_shows(printed_text(waits_text(out, &v)), "  and 2 more\n",
		     "incomplete: cut short\n");
	sample_waits__destroy(&waits);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define MEMORY_TEXT(view) printed_text(memory_text(out, view))
#define MEMORY_JSON(view) printed_text(memory_json(out, view))

static struct memory_view view_of(const struct model *m, const struct call_tree *tree)
{
	return (struct memory_view){.samples = m->samples,
				    .tree = tree,
				    .summary = m->summary,
				    .names = &m->options.texts,
				    .width = 80};
}

TEST_CASE(memory_is_of_crates_queries_and_parts)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s.build.model, &s.tree);
	assert_shows(MEMORY_TEXT(&view), "@view/memory.txt");
	assert_shows(MEMORY_JSON(&view), "@view/memory.json");
	/* Rows with less are left out. */
	view.least = 6 * SAMPLED_FAULT;
	assert_shows(MEMORY_TEXT(&view), "app (bin)", "!\ndep ", "  and 1 more crate\n",
		     "  and 1 more query\n");
	view.least = 0;
	view.top = 1;
	view.problem = "cut short";
	assert_shows(MEMORY_TEXT(&view), "  and 2 more parts\n", "incomplete: cut short\n");
}

/* Those without memory have no row. */
TEST_CASE(items_are_a_table)
{
	_sampled_tree_ struct sampled_tree s = {};
	_items_ struct items *items = NULL;
	struct memory_view view;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s.build.model, &s.tree);
	view.names = &sample_item_texts;
	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(items__sample(items, SI_TYPECK, i ? SI_FUNCTION : TRACE_NO_STRING,
					       TRACE_SAMPLE_FAULT, SAMPLED_FAULT),
				 0);
	assert_int_equal(items__sample(items, SI_TYPECK, SI_MODULE, TRACE_SAMPLE_CPU, 1), 0);
	view.items = items;
	assert_shows(MEMORY_TEXT(&view), "\n charged        +-     %  item\n"
					 "3.52 MiB  1.17 MiB  25.7  app::shapes::area\n"
					 " 400 KiB   400 KiB   2.9  (no item)\n\n");
	assert_shows(MEMORY_JSON(&view),
		     "\"items\":[\n{\"name\":\"app::shapes::area\",\"samples\":9,"
		     "\"bytes\":3686400,\"error_bytes\":1228800},\n{\"name\":null,");
	view.least = 9 * SAMPLED_FAULT;
	assert_shows(MEMORY_TEXT(&view), "app::shapes::area\n  and 1 more item\n");
}

/* Callers are not known then, and that is said. */
TEST_CASE_WITH(without_stacks_there_is_no_total, temporary_make, temporary_remove)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_call_tree_ struct call_tree tree = {};
	struct model_options options;
	struct memory_view view;
	_model_ struct model m;

	sampled_trace_write_light(temporary);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	options = model_options_of(r);
	options.stack_causes = 1u << TRACE_SAMPLE_FAULT;
	must(model__init(&m, &options), model__read(&m, r),
	     call_tree__make(&tree, &m.stacks[TRACE_SAMPLE_FAULT],
			     &(struct call_tree_options){.texts = options.texts}));
	view = view_of(&m, &tree);
	assert_shows(MEMORY_TEXT(&view), "@view/memory-light.txt");
	assert_shows(MEMORY_JSON(&view), "\"total_bytes\":null", "\"unknown_query_bytes\":1228800");
}

/* ---- Functions ------------------------------------------------------------------------------- */

#define FUNCTIONS(s) printed_text(functions_text(out, &(s)->view))
#define DOCUMENT(s)  printed_text(functions_json(out, &(s)->view))
#define TREE(s)	     printed_text(call_tree_text(out, &(s)->view))

/* A test with the samples of a cause, or of those the ones in a query. */
#define TREE_CASE(name, cause, query)                      \
	static void name##_of(struct sampled_tree *s);     \
	TEST_CASE(name)                                    \
	{                                                  \
		_sampled_tree_ struct sampled_tree s = {}; \
                                                           \
		sampled_tree__make(&s, cause, query);      \
		name##_of(&s);                             \
	}                                                  \
	static void name##_of(struct sampled_tree *s)

TREE_CASE(functions_are_as_agreed, TRACE_SAMPLE_CPU, NULL)
{
	assert_shows(FUNCTIONS(s), "@view/functions.txt");
	s->view.direction = FUNCTIONS_DOWN;
	s->view.least = 2 * SAMPLED_PERIOD;
	assert_shows(DOCUMENT(s), "@view/functions.json");
	s->view.least = SAMPLED_PERIOD;
	assert_shows(TREE(s), "@view/call_tree_down.txt");
	s->view.direction = FUNCTIONS_UP;
	assert_shows(TREE(s), "@view/call_tree_up.txt");
}

/* The parent of each node comes before it, and has at least its total. */
static void check_tree(struct json_object *nodes, const char *total)
{
	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i), *parent;

		if (!member(node, "parent"))
			continue;
		assert_true(json_object_get_uint64(member(node, "parent")) < i);
		parent = json_object_array_get_idx(nodes,
						   json_object_get_uint64(member(node, "parent")));
		assert_true(json_object_get_uint64(member(parent, total)) >=
			    json_object_get_uint64(member(node, total)));
	}
}

TREE_CASE(trees_are_lists_of_nodes, TRACE_SAMPLE_CPU, NULL)
{
	static const enum functions_tree directions[] = {FUNCTIONS_DOWN, FUNCTIONS_UP};

	for (size_t i = 0; i < N_OF(directions); i++) {
		struct json_object *document;
		_free_ char *text = NULL;

		s->view.direction = directions[i];
		text = DOCUMENT(s);
		document = parsed_json(text);
		check_tree(member(document, directions[i] == FUNCTIONS_DOWN ? "down" : "up"),
			   "total_ns");
		json_object_put(document);
	}
}

/* Each wait has a sample, so it has no error. */
TREE_CASE(waits_have_their_units, TRACE_SAMPLE_OFF_CPU, NULL)
{
	assert_shows(DOCUMENT(s), "\"cause\":\"off_cpu\",\"n\":6,\"ns\":240800000,", "!error");
	assert_shows(FUNCTIONS(s), "6 samples, 241 ms of waiting\n", "!+-",
		     " 210 ms    87.2   210 ms              libc  syscall\n");
}

/* Memory has no time. */
TREE_CASE(memory_has_its_units, TRACE_SAMPLE_FAULT, NULL)
{
	assert_shows(FUNCTIONS(s), "35 samples, 13.7 MiB that page faults made resident\n",
		     "7.81 MiB  1.75 MiB    57.1");
	s->view.direction = FUNCTIONS_UP;
	assert_shows(DOCUMENT(s), "\"cause\":\"faults\",\"n\":35,\"bytes\":14336000,",
		     "\"self_error_bytes\":", "!total_ns");
}

TREE_CASE(wide_names_are_whole, TRACE_SAMPLE_CPU, NULL)
{
	s->view.width = 0;
	s->view.by_total = true;
	s->view.top = 2;
	s->view.problem = "cut short";
	assert_shows(FUNCTIONS(s),
		     "      -              0.0  50.0 ms              std  std::rt::lang_start\n"
		     "8.00 ms  4.00 ms    13.8  36.0 ms  rustc_interface  "
		     "rustc_interface::passes::analysis\n"
		     "  and 9 more functions\n",
		     "\nincomplete: cut short\n");
}

TREE_CASE(rows_and_nodes_with_less_are_left_out, TRACE_SAMPLE_CPU, "typeck")
{
	s->view.least = 3 * SAMPLED_PERIOD;
	assert_shows(FUNCTIONS(s), "13 samples, 26.0 ms on the CPU: 44.8 % of the recording\n",
		     "check_expr\n", "rustc_trait_selection  SelectionContext::evaluate\n",
		     "  and 2 more parts\n", "!malloc");
	s->view.least = 4 * SAMPLED_PERIOD;
	s->view.direction = FUNCTIONS_DOWN;
	s->view.width = 0;
	assert_shows(TREE(s),
		     "   26.0 ms     12.0 ms  100.0  [typeck] > rustc_hir_typeck::typeck > "
		     "<rustc_hir_typeck::fn_ctxt::FnCtxt>::check_expr\n",
		     "   10.0 ms     8.00 ms   38.5   [evaluate_obligation] > ", "!malloc",
		     "!memmove");
}

TREE_CASE(nothing_is_no_table, TRACE_SAMPLE_CPU, "no such query")
{
	assert_shows(FUNCTIONS(s), "=0 samples, 0 ns on the CPU: 0.0 % of the recording\n\n");
}

TREE_CASE(lines_fit_any_width, TRACE_SAMPLE_CPU, NULL)
{
	s->view.direction = FUNCTIONS_DOWN;
	s->view.least = 1;
	for (s->view.width = 60; s->view.width < 100; s->view.width++) {
		_free_ char *text = TREE(s);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= s->view.width);
	}
}

TEST_MAIN(NULL, NULL)
