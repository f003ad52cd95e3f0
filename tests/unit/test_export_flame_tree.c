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

/* ---- Flame frames ---------------------------------------------------------------------------- */

static void a_name_has_one_frame(void **state)
{
	struct flame_frames f = {0};
	uint32_t first = flame_frames__named(&f, 1, "parse_crate", 5);
	uint32_t second = flame_frames__named(&f, 2, "typeck", 6);

	assert_int_not_equal(first, second);
	assert_int_equal(flame_frames__named(&f, 1, "parse", 5), first);
	assert_string_equal(flame_frames__name(&f, first), "parse");
	assert_string_equal(flame_frames__name(&f, second), "typeck");
	/* Each is the first of its own: they share no probe costs. */
	assert_int_equal(f.all.at[first].query, first);
	assert_int_equal(f.all.at[second].query, second);
	flame_frames__destroy(&f);
}

static void spans_of_one_label_share_its_first_frame(void **state)
{
	const struct export_job job = {0};
	struct flame_frames f = {.job = &job};
	struct trace_span s = {.kind = TRACE_KIND_QUERY, .label = 7};
	uint32_t query, again, activity, other;

	assert_int_equal(flame_frames__of(&f, &s, &query), 0);
	assert_int_equal(flame_frames__of(&f, &s, &again), 0);
	s.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(flame_frames__of(&f, &s, &activity), 0);
	s.label = 8;
	assert_int_equal(flame_frames__of(&f, &s, &other), 0);
	assert_int_equal(again, query);
	assert_int_not_equal(activity, query);
	assert_int_equal(f.all.at[activity].query, query);
	assert_int_equal(f.all.at[other].query, other);
	flame_frames__destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_found_by_frame),
		cmocka_unit_test(nodes_of_the_same_label_are_merged),
		cmocka_unit_test(deep_trees_are_moved),
		cmocka_unit_test(a_name_has_one_frame),
		cmocka_unit_test(spans_of_one_label_share_its_first_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
