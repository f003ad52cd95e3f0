// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/tree_first.h"

#include "../fixtures/random.h"
#include "base/cleanup.h"
#include "test.h"

static void a_key_is_first_where_none_above_has_it(void **state)
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

static void random_trees_agree_with_the_definition(void **state)
{
	struct rng rng = rng_new();
	struct tree_node nodes[300];

	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < N_OF(nodes); i++)
			nodes[i] = (struct tree_node){
				.parent = i && rng_below(&rng, 20) ? rng_below(&rng, i) : TREE_NONE,
				.key = rng_below(&rng, 8),
			};
		assert_int_equal(tree_first(nodes, N_OF(nodes), 8), 0);
		for (uint32_t i = 0; i < N_OF(nodes); i++)
			assert_int_equal(nodes[i].is_first, is_first(nodes, i));
	}
}

/* One chain: a recursion would need a frame for each node. */
static void a_deep_tree_takes_no_stack(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_first_where_none_above_has_it),
		cmocka_unit_test(random_trees_agree_with_the_definition),
		cmocka_unit_test(a_deep_tree_takes_no_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
