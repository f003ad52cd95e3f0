// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_tree.h"

#include "base/cleanup.h"
#include "test.h"

static uint32_t add(struct flame_tree *t, uint32_t parent, uint32_t frame, uint64_t self_ns)
{
	uint32_t i = flame_tree__new(t, frame);

	assert_int_not_equal(i, FLAME_NONE);
	t->nodes[i].count = 1;
	t->nodes[i].self[FLAME_WALL] = self_ns;
	t->nodes[i].probe_ns = self_ns / 10;
	assert_int_equal(flame_tree__attach(t, parent, i), 0);
	return i;
}

static void children_are_found_by_frame(void **state)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t top = flame_tree__new(&t, 0), a = add(&t, top, 1, 10);

	assert_int_equal(flame_tree__find(&t, top, 1), a);
	assert_int_equal(flame_tree__find(&t, top, 2), FLAME_NONE);
	assert_int_equal(flame_tree__find(&t, a, 1), FLAME_NONE);
	assert_int_equal(t.nodes[a].parent, top);
}

static void nodes_of_the_same_label_are_merged(void **state)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t from = flame_tree__new(&t, 0), to = flame_tree__new(&t, 0);
	uint32_t a = add(&t, to, 1, 10), b = add(&t, a, 2, 20);

	/* from: 1 > (2 > 3), 4; to: 1 > 2 */
	add(&t, add(&t, add(&t, from, 1, 100), 2, 200), 3, 300);
	add(&t, from, 4, 400);
	assert_int_equal(flame_tree__move_children(&t, from, to), 0);
	assert_int_equal(t.nodes[from].child, FLAME_NONE);
	assert_int_equal(flame_tree__find(&t, to, 1), a);
	assert_int_equal(flame_tree__find(&t, a, 2), b);
	assert_int_equal(t.nodes[a].self[FLAME_WALL], 110);
	assert_int_equal(t.nodes[a].probe_ns, 11);
	assert_int_equal(t.nodes[a].count, 2);
	assert_int_equal(t.nodes[b].self[FLAME_WALL], 220);
	assert_int_equal(t.nodes[flame_tree__find(&t, b, 3)].self[FLAME_WALL], 300);
	assert_int_equal(t.nodes[flame_tree__find(&t, to, 4)].self[FLAME_WALL], 400);
	/* New nodes come from the two free ones first. */
	assert_int_equal(t.n_free, 2);
	assert_int_equal(t.n, 8);
	flame_tree__new(&t, 9);
	assert_int_equal(t.n_free, 1);
	assert_int_equal(t.n, 8);
}

/* Moving the deepest possible tree must not recurse. */
static void deep_trees_are_moved(void **state)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t tops[2], node;

	for (int i = 0; i < 2; i++) {
		tops[i] = node = flame_tree__new(&t, 0);
		for (uint32_t depth = 0; depth < 65536; depth++)
			node = add(&t, node, 7, 1);
	}
	assert_int_equal(flame_tree__move_children(&t, tops[0], tops[1]), 0);
	assert_int_equal(t.nodes[node].self[FLAME_WALL], 2);
	assert_int_equal(t.n_free, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_found_by_frame),
		cmocka_unit_test(nodes_of_the_same_label_are_merged),
		cmocka_unit_test(deep_trees_are_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
