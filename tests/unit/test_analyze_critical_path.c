// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_graph.h"
#include "analyze/critical_path.h"

#include "test.h"
#include "../fixtures/path_build.h"
#include "../fixtures/random.h"

struct expected {
	uint32_t process;
	enum path_part part;
	uint64_t start, end;
	uint64_t saved;
};

#define NOTHING (PATH_UNKNOWN / PATH_MS)

static struct path_build b;
static struct critical_path path;
static struct compile_graph graph;

static int clear(void **state)
{
	compile_graph__destroy(&graph);
	critical_path__destroy(&path);
	path_build__destroy(&b);
	graph = (struct compile_graph){};
	path = (struct critical_path){};
	b = (struct path_build){};
	return 0;
}

static void find_path(const struct path_compile *of, size_t n)
{
	path_build__make(&b, of, n);
	assert_int_equal(critical_path__of(&path, b.build), 0);
}

static void assert_path(const struct expected *of, size_t n)
{
	uint64_t at = path.start_ns;

	assert_int_equal(path.n_steps, n);
	for (size_t i = 0; i < n; i++) {
		const struct path_step *step = &path.steps[i];

		assert_struct(*step, start_ns, at, process, of[i].process, part, of[i].part,
			      start_ns, of[i].start * PATH_MS, end_ns, of[i].end * PATH_MS);
		assert_int_equal(step->saved_ns / PATH_MS, of[i].saved);
		at = step->end_ns;
	}
	assert_int_equal(at, path.start_ns + path.wall_ns);
}

TEST_CASE_WITH(a_link_waits_for_what_is_needed_indirectly, NULL, clear)
{
	/* All of a, which b uses, and not b, which ended earlier. */
	static const struct expected steps[] = {
		{1, PATH_FRONT_END, 0, 200, 200},  {1, PATH_CODEGEN, 200, 880, 302},
		{1, PATH_LINK, 880, 900, 20},	   {3, PATH_OTHER, 900, 903, NOTHING},
		{3, PATH_FRONT_END, 903, 930, 27}, {3, PATH_CODEGEN, 930, 950, 20},
		{3, PATH_LINK, 950, 1000, 50},
	};
	find_path(path_chain, N_OF(path_chain));
	assert_path(steps, N_OF(steps));
	assert_struct(path, jobs, 2, wall_ns, 1000 * PATH_MS, scheduled_ns, 997 * PATH_MS,
		      unlimited_ns, 997 * PATH_MS);
}

TEST_CASE_WITH(a_library_waits_for_metadata, NULL, clear)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 300, 310, 320, 0},
		{"b", "lib", LIB("b1", RMETA("a", "a1")), 300, 500, 550, 600, 0},
	};
	static const struct expected steps[] = {
		{0, PATH_FRONT_END, 0, 300, 300},
		{1, PATH_FRONT_END, 300, 500, 200},
		{1, PATH_CODEGEN, 500, 550, 50},
		{1, PATH_LINK, 550, 600, 50},
	};
	find_path(of, N_OF(of));
	assert_path(steps, N_OF(steps));
}

TEST_CASE_WITH(the_run_of_a_build_script_is_a_step, NULL, clear)
{
	static const struct path_compile of[] = {
		{"build_script_build", "bin", "/r/a/build.rs", 10, 20, 30, 50, 0},
		{"a", "lib", "/r/a/src/lib.rs", 250, 300, 310, 350, 0},
	};
	static const struct expected steps[] = {
		{0, PATH_FRONT_END, 10, 20, 10},   {0, PATH_CODEGEN, 20, 30, 10},
		{0, PATH_LINK, 30, 50, 20},	   {0, PATH_RUN, 50, 250, 200},
		{1, PATH_FRONT_END, 250, 300, 50}, {1, PATH_CODEGEN, 300, 310, 10},
		{1, PATH_LINK, 310, 350, 40},
	};
	find_path(of, N_OF(of));
	assert_path(steps, N_OF(steps));
}

TEST_CASE_WITH(a_compile_may_wait_for_a_job, NULL, clear)
{
	static const struct path_compile of[] = {
		{"x", "lib", LIB("x1", ""), 0, 100, 200, 200, 0},
		{"y", "lib", LIB("y1", ""), 201, 300, 400, 400, 0},
	};
	static const struct expected steps[] = {
		{0, PATH_FRONT_END, 0, 100, 100},   {0, PATH_CODEGEN, 100, 200, 100},
		{1, PATH_OTHER, 200, 201, NOTHING}, {1, PATH_FRONT_END, 201, 300, 99},
		{1, PATH_CODEGEN, 300, 400, 100},
	};
	find_path(of, N_OF(of));
	assert_path(steps, N_OF(steps));
	assert_struct(path, steps[1].freed_job, true, steps[0].freed_job, false, jobs, 1,
		      scheduled_ns, 399 * PATH_MS, unlimited_ns, 200 * PATH_MS);
}

TEST_CASE_WITH(time_between_two_commands_is_no_compile, NULL, clear)
{
	static const struct path_compile of[] = {
		{"x", "lib", LIB("x1", ""), 0, 100, 200, 200, 7},
		{"y", "lib", LIB("y1", ""), 900, 950, 960, 1000, 8},
	};
	static const struct expected steps[] = {
		{0, PATH_FRONT_END, 0, 100, 100},   {0, PATH_CODEGEN, 100, 200, 100},
		{1, PATH_OTHER, 200, 900, NOTHING}, {1, PATH_FRONT_END, 900, 950, 50},
		{1, PATH_CODEGEN, 950, 960, 10},    {1, PATH_LINK, 960, 1000, 40},
	};
	find_path(of, N_OF(of));
	assert_path(steps, N_OF(steps));
	assert_int_equal(path.unlimited_ns, 300 * PATH_MS);
}

TEST_CASE_WITH(a_build_may_have_no_compile, NULL, clear)
{
	find_path(NULL, 0);
	assert_struct(path, n_steps, 0, wall_ns, 0);
	assert_int_equal(compile_graph__of(&graph, b.build), 0);
	assert_int_equal(graph.n_nodes, 0);
}

/* More than are tried, and each longer than any compile. */
TEST_CASE_WITH(waits_do_not_displace_what_can_be_tried, NULL, clear)
{
	struct path_compile of[PATH_COMPILES_MOST] = {};
	size_t tried = 0;

	for (uint32_t i = 0; i < N_OF(of); i++) {
		uint64_t start = i * 110, end = start + 10;

		of[i] = (struct path_compile){"a", "lib", "a.rs", start, end, end, end, i + 2};
	}
	find_path(of, N_OF(of));
	for (size_t i = 0; i < path.n_steps; i++)
		tried += path.steps[i].saved_ns != PATH_UNKNOWN;
	assert_int_equal(tried, 32);
}

/* A library with a part that goes on beside what needs its metadata, on few jobs. */
TEST_CASE_WITH(no_step_saves_more_than_it_took, NULL, clear)
{
	struct rng r = rng_new();

	for (int round = 0; round < 300; round++) {
		struct path_compile of[12] = {};
		char crates[N_OF(of)][8], commands[N_OF(of)][512];
		uint64_t start = 0, metadata[N_OF(of)];

		for (size_t i = 0; i < N_OF(of); i++) {
			int len = snprintf(commands[i], sizeof(commands[i]), LIB("%zu", ""), i, i);
			uint64_t codegen = start + 1 + rng_below(&r, 200);
			uint64_t link = codegen + rng_below(&r, 300);

			snprintf(crates[i], sizeof(crates[i]), "c%zu", i);
			for (size_t on = 0; on < i; on++)
				if (metadata[on] <= start && !rng_below(&r, 3))
					len += snprintf(commands[i] + len,
							sizeof(commands[i]) - len,
							RMETA("c%zu", "%zu"), on, on, on);
			of[i] = (struct path_compile){crates[i],
						      "lib",
						      commands[i],
						      start,
						      codegen,
						      link,
						      link + rng_below(&r, 20),
						      0};
			metadata[i] = start + 1 + rng_below(&r, link - start);
			start += rng_below(&r, 150);
		}
		path_build__make_with(&b, of, metadata, N_OF(of));
		assert_int_equal(critical_path__of(&path, b.build), 0);
		for (size_t i = 0; i < path.n_steps; i++)
			if (path.steps[i].saved_ns != PATH_UNKNOWN)
				assert_in_range(path.steps[i].saved_ns, 0,
						path.steps[i].end_ns - path.steps[i].start_ns);
		clear(state);
	}
}

TEST_CASE_WITH(compiles_whose_arguments_are_cut_are_counted, NULL, clear)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", "--cfg x ..."), 0, 300, 310, 320, 0},
		{"b", "lib", LIB("b1", "--cfg=..."), 300, 500, 550, 600, 0},
	};
	find_path(of, N_OF(of));
	assert_int_equal(path.n_cut, 1);
}

/* ---- Compile graph --------------------------------------------------------------------------- */

static void find_graph(const struct path_compile *of, size_t n)
{
	path_build__make(&b, of, n);
	assert_int_equal(compile_graph__of(&graph, b.build), 0);
}

static void assert_edge(uint32_t node, uint32_t at, uint32_t on, enum compile_need need)
{
	const struct compile_edge *e = &graph.edges[graph.nodes[node].first_edge + at];

	assert_true(at < graph.nodes[node].n_edges);
	assert_struct(*e, on, on, need, need);
}

TEST_CASE_WITH(externs_are_the_files_of_earlier_compiles, NULL, clear)
{
	find_graph(path_chain, N_OF(path_chain));
	assert_int_equal(graph.n_nodes, 4);
	assert_int_equal(graph.nodes[0].n_edges + graph.nodes[1].n_edges, 0);
	assert_int_equal(graph.nodes[2].n_edges, 2);
	assert_edge(2, 0, 1, NEED_METADATA);
	assert_edge(2, 1, 0, NEED_END);
	assert_int_equal(graph.nodes[3].n_edges, 1);
	assert_edge(3, 0, 2, NEED_ALL);
	assert_int_equal(compile_graph__fulfilled(&graph, &graph.edges[0]), 200 * PATH_MS);
	assert_int_equal(compile_graph__fulfilled(&graph, &graph.edges[1]), 100 * PATH_MS);
	for (uint32_t i = 0; i < graph.n_nodes; i++)
		assert_int_equal(graph.nodes[i].stage, 0);
}

TEST_CASE_WITH(an_extern_has_many_forms, NULL, clear)
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
	find_graph(of, N_OF(of));
	assert_int_equal(graph.nodes[3].n_edges, 3);
	assert_edge(3, 0, 0, NEED_END);
	/* cargo check waits for the end of a compile that writes nothing else. */
	assert_edge(3, 1, 1, NEED_END);
	assert_edge(3, 2, 2, NEED_END);
}

TEST_CASE_WITH(a_build_script_runs_before_its_package, NULL, clear)
{
	static const struct path_compile of[] = {
		{"build_script_build", "bin", "/r/a-1.0/build.rs --out-dir /t/a", 0, 10, 20, 30, 0},
		{"build_script_build", "bin", "/r/b-1.0/build.rs --out-dir /t/b", 0, 10, 20, 40, 0},
		{"a", "lib", "/r/a-1.0/src/lib.rs --emit=metadata,link", 60, 70, 80, 90, 0},
		{"c", "lib", "/r/b-1.0/c/src/lib.rs --emit=metadata,link", 61, 70, 80, 90, 0},
		{"a", "lib", "/r/a-1.0/src/lib.rs --test", 75, 80, 90, 95, 0},
	};
	find_graph(of, N_OF(of));
	assert_int_equal(graph.nodes[2].n_edges, 1);
	assert_edge(2, 0, 0, NEED_RUN);
	assert_int_equal(graph.nodes[3].n_edges, 0);
	assert_edge(4, 0, 0, NEED_RUN);
	/* The first of those that wait for it starts 30 ms after its compile. */
	assert_struct(graph, nodes[0].run_ns, 30 * PATH_MS, nodes[1].run_ns, 0);
}

TEST_CASE_WITH(commands_after_each_other_are_stages, NULL, clear)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 10, 20, 20, 7},
		{"b", "lib", LIB("b1", ""), 30, 40, 50, 50, 7},
		{"c", "lib", LIB("c1", ""), 60, 70, 80, 80, 8},
		{"d", "lib", LIB("d1", ""), 70, 75, 90, 90, 9},
	};
	static const uint32_t stages[] = {0, 0, 1, 1};
	find_graph(of, N_OF(of));
	for (uint32_t i = 0; i < N_OF(stages); i++)
		assert_int_equal(graph.nodes[i].stage, stages[i]);
}

/* This takes minutes if it is. */
TEST_CASE_WITH(a_command_line_is_not_searched_for_each_extern, NULL, clear)
{
	static const char one[] = " --extern=a";
	_free_ char *line = calloc(95000, sizeof(one));
	struct path_compile of[] = {
		{"a", "lib", "a.rs --emit metadata", 0, 10, 10, 12, 0},
		{"u", "lib", NULL, 30, 40, 50, 50, 0},
	};
	assert_non_null(line);
	for (size_t i = 0; i < 95000; i++)
		memcpy(line + i * (sizeof(one) - 1), one, sizeof(one) - 1);
	of[1].command = line;
	find_graph(of, N_OF(of));
	assert_int_equal(graph.nodes[1].n_edges, 1);
	assert_edge(1, 0, 0, NEED_END);
}

/* ---- Schedule -------------------------------------------------------------------------------- */

static void assert_schedule(uint32_t jobs, const struct schedule_without *without, uint64_t ms)
{
	uint64_t ns;

	assert_int_equal(schedule_ns(&graph, jobs, without, &ns), 0);
	assert_int_equal(ns, ms * PATH_MS);
}

TEST_CASE_WITH(a_chain_is_as_long_as_its_needs, NULL, clear)
{
	find_graph(path_chain, N_OF(path_chain));
	assert_int_equal(schedule_jobs(&graph), 2);
	/* a and then app, without the 3 ms between them. */
	assert_schedule(2, NULL, 900 + 97);
	assert_schedule(SCHEDULE_ALL_JOBS, NULL, 900 + 97);
	assert_schedule(1, NULL, 100 + 900 + 398 + 97);
}

TEST_CASE_WITH(a_part_may_take_no_time, NULL, clear)
{
	find_graph(path_chain, N_OF(path_chain));
	/* Codegen of a: then b is the last that app waits for. */
	assert_schedule(2,
			&(struct schedule_without){
				.node = 1, .from_ns = 200 * PATH_MS, .to_ns = 880 * PATH_MS},
			200 + 398 + 97);
	/* Its front end: all of it comes earlier, its metadata too. */
	assert_schedule(2, &(struct schedule_without){.node = 1, .to_ns = 200 * PATH_MS}, 700 + 97);
	/* m is not waited for. */
	assert_schedule(2, &(struct schedule_without){.node = 0, .to_ns = 100 * PATH_MS}, 900 + 97);
}

TEST_CASE_WITH(a_run_takes_no_job, NULL, clear)
{
	static const struct path_compile of[] = {
		{"build_script_build", "bin", "/r/a/build.rs", 0, 10, 20, 30, 0},
		{"x", "lib", LIB("x1", ""), 30, 40, 50, 70, 0},
		{"a", "lib", "/r/a/src/lib.rs", 80, 90, 95, 100, 0},
	};
	find_graph(of, N_OF(of));
	assert_schedule(1, NULL, 30 + 50 + 20);
	assert_schedule(1, &(struct schedule_without){.node = 0, .run = true}, 30 + 40 + 20);
}

TEST_CASE_WITH(a_stage_waits_for_the_one_before, NULL, clear)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 10, 20, 20, 7},
		{"b", "lib", LIB("b1", ""), 5, 40, 50, 50, 7},
		{"c", "lib", LIB("c1", ""), 60, 70, 80, 80, 8},
	};
	find_graph(of, N_OF(of));
	assert_schedule(SCHEDULE_ALL_JOBS, NULL, 45 + 20);
}

TEST_MAIN(NULL, NULL)
