// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_graph.h"

#include "test.h"
#include "../fixtures/path_build.h"

static void assert_edge(const struct compile_graph *g, uint32_t node, uint32_t at, uint32_t on,
			enum compile_need need)
{
	const struct compile_edge *e = &g->edges[g->nodes[node].first_edge + at];

	assert_true(at < g->nodes[node].n_edges);
	assert_int_equal(e->on, on);
	assert_int_equal(e->need, need);
}

static void externs_are_the_files_of_earlier_compiles(void **state)
{
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, path_chain, N_OF(path_chain));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(g.n_nodes, 4);
	assert_int_equal(g.nodes[0].n_edges + g.nodes[1].n_edges, 0);
	assert_int_equal(g.nodes[2].n_edges, 2);
	assert_edge(&g, 2, 0, 1, NEED_METADATA);
	assert_edge(&g, 2, 1, 0, NEED_END);
	assert_int_equal(g.nodes[3].n_edges, 1);
	assert_edge(&g, 3, 0, 2, NEED_ALL);
	assert_int_equal(compile_graph__fulfilled(&g, &g.edges[0]), 200 * PATH_MS);
	assert_int_equal(compile_graph__fulfilled(&g, &g.edges[1]), 100 * PATH_MS);
	for (uint32_t i = 0; i < g.n_nodes; i++)
		assert_int_equal(g.nodes[i].stage, 0);
}

static void an_extern_has_many_forms(void **state)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 10, 20, 20, 0},
		{"only", "lib", "only.rs --emit metadata", 1, 10, 10, 12, 0},
		{"o", "lib", "o.rs -o /t/libother.rlib", 2, 10, 20, 20, 0},
		{"u", "lib",
		 LIB("u1", "--extern=priv:a=/t/deps/liba-a1.rlib --extern noprelude:only "
			   "--extern x=/t/libother.rlib --extern a2=/t/deps/liba-a2.rmeta "
			   "--extern a=/t/deps/liba-a1.rmeta --extern"),
		 30, 40, 50, 50, 0},
	};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(g.nodes[3].n_edges, 3);
	assert_edge(&g, 3, 0, 0, NEED_END);
	/* cargo check waits for the end of a compile that writes nothing else. */
	assert_edge(&g, 3, 1, 1, NEED_END);
	assert_edge(&g, 3, 2, 2, NEED_END);
}

static void a_build_script_runs_before_its_package(void **state)
{
	static const struct path_compile of[] = {
		{"build_script_build", "bin", "/r/a-1.0/build.rs --out-dir /t/a", 0, 10, 20, 30, 0},
		{"build_script_build", "bin", "/r/b-1.0/build.rs --out-dir /t/b", 0, 10, 20, 40, 0},
		{"a", "lib", "/r/a-1.0/src/lib.rs --emit=metadata,link", 60, 70, 80, 90, 0},
		{"c", "lib", "/r/b-1.0/c/src/lib.rs --emit=metadata,link", 61, 70, 80, 90, 0},
		{"a", "lib", "/r/a-1.0/src/lib.rs --test", 75, 80, 90, 95, 0},
	};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(g.nodes[2].n_edges, 1);
	assert_edge(&g, 2, 0, 0, NEED_RUN);
	assert_int_equal(g.nodes[3].n_edges, 0);
	assert_edge(&g, 4, 0, 0, NEED_RUN);
	/* The first of those that wait for it starts 30 ms after its compile. */
	assert_int_equal(g.nodes[0].run_ns, 30 * PATH_MS);
	assert_int_equal(g.nodes[1].run_ns, 0);
}

static void commands_after_each_other_are_stages(void **state)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 10, 20, 20, 7},
		{"b", "lib", LIB("b1", ""), 30, 40, 50, 50, 7},
		{"c", "lib", LIB("c1", ""), 60, 70, 80, 80, 8},
		{"d", "lib", LIB("d1", ""), 70, 75, 90, 90, 9},
	};
	static const uint32_t stages[] = {0, 0, 1, 1};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	for (uint32_t i = 0; i < N_OF(stages); i++)
		assert_int_equal(g.nodes[i].stage, stages[i]);
}

static void a_build_may_have_no_compile(void **state)
{
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, NULL, 0);
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(g.n_nodes, 0);
}

/* This takes minutes if it is. */
static void a_command_line_is_not_searched_for_each_extern(void **state)
{
	static const char one[] = " --extern=a";
	_free_ char *line = calloc(95000, sizeof(one));
	struct path_compile of[] = {
		{"a", "lib", "a.rs --emit metadata", 0, 10, 10, 12, 0},
		{"u", "lib", NULL, 30, 40, 50, 50, 0},
	};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	assert_non_null(line);
	for (size_t i = 0; i < 95000; i++)
		memcpy(line + i * (sizeof(one) - 1), one, sizeof(one) - 1);
	of[1].command = line;
	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(g.nodes[1].n_edges, 1);
	assert_edge(&g, 1, 0, 0, NEED_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(externs_are_the_files_of_earlier_compiles),
		cmocka_unit_test(an_extern_has_many_forms),
		cmocka_unit_test(a_build_script_runs_before_its_package),
		cmocka_unit_test(commands_after_each_other_are_stages),
		cmocka_unit_test(a_command_line_is_not_searched_for_each_extern),
		cmocka_unit_test(a_build_may_have_no_compile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
