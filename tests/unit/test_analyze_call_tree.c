// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/call_tree.h"
#include "analyze/tree_first.h"

#include "analyze/model.h"
#include "test.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/random.h"
#include "base/cleanup.h"

#define CPU	 TRACE_SAMPLE_CPU
#define CHECK	 "<rustc_hir_typeck::fn_ctxt::FnCtxt>::check_expr"
#define CLONE	 "<alloc::vec::Vec as core::clone::Clone>::clone"
#define EVALUATE "<rustc_trait_selection::traits::select::SelectionContext>::evaluate"

/* A tree and what it was made of. */
struct made {
	struct sampled_build b;
	struct call_tree t;
};

static void made__clear(struct made *made)
{
	call_tree__destroy(&made->t);
	sampled_build__clear(&made->b);
}

static bool is(const void *ctx, const char *label)
{
	return !strcmp(ctx, label);
}

static void make(struct made *made, enum trace_sample_cause cause, const char *query, bool own)
{
	struct call_tree_options options = {.wants = query ? is : NULL, .ctx = query, .own = own};

	sampled_build__make(&made->b, 0, 1u << cause);
	options.texts = model_options_of(made->b.r).texts;
	assert_int_equal(call_tree__make(&made->t, &made->b.model.stacks[cause], &options), 0);
}

static const struct call_row *row_of(const struct call_tree *t, const char *name)
{
	for (uint32_t i = 0; i < t->functions.n; i++)
		if (!strcmp(t->functions.at[i].name, name))
			return &t->rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static const struct call_row *part_of(const struct call_tree *t, const char *name)
{
	for (uint32_t i = 0; i < t->functions.n_parts; i++)
		if (!strcmp(t->functions.parts[i], name))
			return &t->parts[i];
	fail_msg("no part %s", name);
	return NULL;
}

/* A path of names from the outermost, as "a;b;c"; NULL: no such node. */
static const struct call_node *node_at(const struct call_nodes *nodes,
				       const struct code_functions *f, const char *path)
{
	_free_ char *copy = strdup(path);
	uint32_t at = CALL_NONE;
	char *rest = copy, *name;

	while ((name = strsep(&rest, ";"))) {
		uint32_t i = 0;

		while (i < nodes->n && (nodes->at[i].parent != at ||
					strcmp(f->at[nodes->at[i].function].name, name) != 0))
			i++;
		if (i == nodes->n)
			return NULL;
		at = i;
	}
	return &nodes->at[at];
}

/* The tree of all samples on the CPU, which tests read. */
static struct made all;

static int make_all(void **state)
{
	make(&all, CPU, NULL, false);
	return 0;
}

static int clear_all(void **state)
{
	made__clear(&all);
	return 0;
}

TEST_CASE(instances_are_one_function)
{
	const struct call_row *row;

	assert_int_equal(all.t.all.n, 29);
	row = row_of(&all.t, CHECK);
	assert_struct(row->self, n, 6, value, 6 * SAMPLED_PERIOD);
	/* However often it is in a stack. */
	assert_int_equal(row->total.n, 13);
	assert_int_equal(row_of(&all.t, "rustc_hir_typeck::typeck")->total.n, 13);
	assert_struct(*row_of(&all.t, "typeck"), total.n, 13, self.n, 0);
	assert_int_equal(row_of(&all.t, "(unknown query)")->total.n, 1);
	/* Code without a symbol. */
	assert_int_equal(row_of(&all.t, "[libLLVM.so.22.1-rust]")->self.n, 3);
}

TEST_CASE(general_code_is_charged_to_its_callers)
{
	assert_int_equal(row_of(&all.t, CHECK)->charged.n, 6 + 2);
	assert_int_equal(row_of(&all.t, "malloc")->charged.n, 0);
	assert_int_equal(part_of(&all.t, "allocator")->self.n, 2);
	assert_struct(*part_of(&all.t, "libc"), self.n, 6, charged.n, 0);
	assert_struct(*part_of(&all.t, "LLVM"), self.n, 3, charged.n, 8, total.n, 8);
	assert_int_equal(part_of(&all.t, "rustc_hir_typeck")->charged.n, 6 + 2 + 1);
	assert_int_equal(part_of(&all.t, "rustc_hir_typeck")->total.n, 13);
	/* Nothing but general code called it. */
	assert_int_equal(row_of(&all.t, CLONE)->charged.n, 2);
	assert_int_equal(part_of(&all.t, "alloc")->charged.n, 2);
}

TEST_CASE(a_tree_may_begin_at_a_query)
{
	__cleanup(made__clear) struct made made = {}, own = {};

	make(&made, CPU, "typeck", false);
	assert_int_equal(made.t.all.n, 13);
	assert_int_equal(node_at(&made.t.down, &made.t.functions, "typeck")->total.n, 13);
	assert_int_equal(node_at(&made.t.down, &made.t.functions,
				 "typeck;rustc_hir_typeck::typeck;" CHECK
				 ";evaluate_obligation;" EVALUATE)
				 ->self.n,
			 4);
	assert_null(node_at(&made.t.down, &made.t.functions, "std::rt::lang_start"));
	/* Without the queries that it called, but with itself called by them. */
	make(&own, CPU, "typeck", true);
	assert_int_equal(own.t.all.n, 9);
	assert_struct(*row_of(&own.t, EVALUATE), self.n, 0, total.n, 1);
	assert_int_equal(row_of(&own.t, "__memmove_avx_unaligned_erms")->self.n, 1);
}

TEST_CASE(a_tree_from_the_inside_out_has_callers)
{
	_call_nodes_ struct call_nodes up = {};
	const struct call_node *node;

	assert_int_equal(call_tree__callers(&all.t, 6 * SAMPLED_PERIOD, &up), 0);
	node = node_at(&up, &all.t.functions, "__memmove_avx_unaligned_erms");
	assert_struct(*node, total.n, 6, self.n, 0);
	node = node_at(&up, &all.t.functions,
		       "__memmove_avx_unaligned_erms;llvm::SelectionDAG::Legalize");
	assert_int_equal(node->total.n, 5);
	node = node_at(&up, &all.t.functions,
		       CHECK ";rustc_hir_typeck::typeck;typeck;rustc_interface::passes::analysis;"
			     "analysis;std::rt::lang_start");
	assert_struct(*node, total.n, 6, self.n, 6);
	/* Less hot. */
	assert_null(node_at(&up, &all.t.functions, "malloc"));
}

TEST_CASE(children_are_ordered_by_their_totals)
{
	_call_order_ struct call_order o = {};
	const struct call_nodes *down;
	uint32_t top, seen = 0;

	down = &all.t.down;
	assert_int_equal(call_order__make(&o, down, &all.t.functions), 0);
	top = o.at[o.first[down->n]];
	assert_string_equal(all.t.functions.at[down->at[top].function].name, "std::rt::lang_start");
	for (uint32_t i = 0; i <= down->n; i++) {
		for (uint32_t k = o.first[i]; k < o.first[i + 1]; k++) {
			assert_int_equal(down->at[o.at[k]].parent, i == down->n ? CALL_NONE : i);
			assert_true(k == o.first[i] || down->at[o.at[k - 1]].total.value >=
							       down->at[o.at[k]].total.value);
			seen++;
		}
	}
	assert_int_equal(seen, down->n);
}

TEST_CASE(samples_of_other_causes_are_trees_too)
{
	__cleanup(made__clear) struct made made = {};

	make(&made, TRACE_SAMPLE_FAULT, NULL, false);
	assert_int_equal(made.t.all.value, 35 * SAMPLED_FAULT);
	assert_int_equal(part_of(&made.t, "LLVM")->charged.value, 20 * SAMPLED_FAULT);
}

/* ---- Tree first ------------------------------------------------------------------------------ */

TEST_CASE(a_key_is_first_where_none_above_has_it)
{
	struct tree_node nodes[] = {
		{TREE_NONE, 0, false}, /* 0 */
		{0, 1, false},	       /* 0 1 */
		{1, 0, false},	       /* 0 1 0 */
		{2, 1, false},	       /* 0 1 0 1 */
		{0, 2, false},	       /* 0 2 */
		{4, 1, false},	       /* 0 2 1 */
		{TREE_NONE, 1, false}, /* 1 */
		{6, 0, false},	       /* 1 0 */
	};
	static const bool expected[] = {true, true, false, false, true, true, true, true};

	assert_int_equal(tree_first(nodes, N_OF(nodes), 3), 0);
	for (size_t i = 0; i < N_OF(nodes); i++)
		assert_int_equal(nodes[i].is_first, expected[i]);
	assert_int_equal(tree_first(NULL, 0, 0), 0);
}

static bool is_first(const struct tree_node *nodes, uint32_t i)
{
	for (uint32_t up = nodes[i].parent; up != TREE_NONE; up = nodes[up].parent)
		if (nodes[up].key == nodes[i].key)
			return false;
	return true;
}

TEST_CASE(random_trees_agree_with_the_definition)
{
	struct rng rng = rng_new();
	struct tree_node nodes[300];

	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < N_OF(nodes); i++)
			nodes[i] = (struct tree_node){
				.parent = i && rng_below(&rng, 20) ? rng_below(&rng, i) : TREE_NONE,
				.key = rng_below(&rng, 8)};
		assert_int_equal(tree_first(nodes, N_OF(nodes), 8), 0);
		for (uint32_t i = 0; i < N_OF(nodes); i++)
			assert_int_equal(nodes[i].is_first, is_first(nodes, i));
	}
}

/* One chain: a recursion would need a frame for each node. */
TEST_CASE(a_deep_tree_takes_no_stack)
{
	uint32_t n = 2000000;
	_free_ struct tree_node *nodes = calloc(n, sizeof(*nodes));

	assert_non_null(nodes);
	for (uint32_t i = 0; i < n; i++)
		nodes[i].parent = i ? i - 1 : TREE_NONE;
	assert_int_equal(tree_first(nodes, n, 1), 0);
	assert_true(nodes[0].is_first);
	assert_false(nodes[n - 1].is_first);
}

TEST_MAIN(make_all, clear_all)
