// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/build.h"

#include "test.h"
#include "../fixtures/sample_build.h"
#include "../fixtures/path_build.h"

static const struct build_process *process_of(const struct sample_build *s, uint32_t index)
{
	uint32_t n;
	const struct build_process *p = build__processes(s->build, &n);

	assert_true(index < n);
	assert_int_equal(p[index].process->index, index);
	return &p[index];
}

static void assert_parts(const struct build_process *p, uint64_t front_end, uint64_t codegen,
			 uint64_t link, uint64_t exit)
{
	assert_struct(*p, parts_known, true, part_ns[BUILD_FRONT_END], front_end * MS,
		      part_ns[BUILD_CODEGEN], codegen * MS, part_ns[BUILD_LINK], link * MS,
		      part_ns[BUILD_EXIT], exit * MS);
	assert_int_equal(p->end_ns - p->start_ns, (front_end + codegen + link + exit) * MS);
}

TEST_CASE(a_compile_has_parts)
{
	_sample_build_ struct sample_build s;

	sample_build__make(&s);
	assert_parts(process_of(&s, SB_SYN), 300, 170, 20, 10);
	assert_int_equal(process_of(&s, SB_SYN)->metadata_ns, 230 * MS);
	/* Without a link interval, the time after codegen counts as exit. */
	assert_parts(process_of(&s, SB_SCRIPT), 60, 20, 0, 80);
	assert_int_equal(process_of(&s, SB_SCRIPT)->metadata_ns, 0);
	assert_parts(process_of(&s, SB_KILLED), 100, 0, 0, 0);
	assert_parts(process_of(&s, SB_FAILED), 50, 0, 0, 0);
	assert_false(process_of(&s, SB_ASKED)->parts_known);
}

TEST_CASE(threads_run_or_wait_within_something)
{
	const struct build_totals *all;
	const struct build_process *p;
	_sample_build_ struct sample_build s;

	sample_build__make(&s);
	p = process_of(&s, SB_SYN);
	/* One thread runs from 110 to 590, less 83 off the CPU, the other from 410 to 560. */
	assert_struct(*p, cpu_ns, (397 + 150) * MS, preempted_ns, 10 * MS);
	assert_struct(p->waits, in_queries, 10 * MS, in_passes, 60 * MS, in_neither, 3 * MS);
	assert_int_equal(p->executions, 2);
	assert_int_equal(process_of(&s, SB_FAILED)->blocked_ns, 10 * MS);
	all = build__totals(s.build);
	assert_struct(*all, off_cpu_known, true, waits.in_passes, 60 * MS, blocked_ns, 10 * MS);
}

TEST_CASE(the_build_adds_up)
{
	const struct build_totals *all;
	_sample_build_ struct sample_build s;
	uint64_t sum = 0;

	sample_build__make(&s);
	all = build__totals(s.build);
	assert_struct(*all, compiles, 4, asked, 1, failed, 1, killed, 1, unended, 0, compiler_ns,
		      (40 + 500 + 160 + 100 + 50) * MS, running.n, 3);
	for (size_t i = 0; i < all->running.n; i++)
		sum += all->running.at[i];
	assert_int_equal(sum, 700 * MS);
	assert_struct(all->running, at[2], 160 * MS, tail_ns, 450 * MS);
	assert_int_equal(process_of(&s, SB_SYN)->alone_ns, 340 * MS);
	assert_int_equal(process_of(&s, SB_SCRIPT)->alone_ns, 0);
}

TEST_CASE(a_killed_process_keeps_its_open_intervals)
{
	const struct build_thread *threads;
	_sample_build_ struct sample_build s;
	uint32_t n;

	sample_build__make(&s);
	threads = build__interrupted(s.build, &n);
	assert_int_equal(n, 1);
	assert_struct(threads[0], process, SB_KILLED, name, "rustc", n_open, 3, open[0].label,
		      SB_TYPECK, open[0].ns, 50 * MS, open[2].label, SB_ANALYSIS, more, 0);
}

TEST_CASE(open_intervals_of_a_killed_thread_are_limited)
{
	const struct build_thread *threads;
	_sample_build_ struct sample_build s = {};
	uint32_t n;

	sample_build__begin(&s);
	sb_process(&s, 0, 1, 0, "a", "lib", "rustc", TRACE_EXIT_UNKNOWN);
	for (uint16_t depth = BUILD_OPEN_MOST + 3; depth-- > 0;)
		sb_span(&s, &(struct sb_span){.label = SB_TYPECK,
					      .start = 2,
					      .end = 9,
					      .depth = depth,
					      .flags = TRACE_SPAN_OPEN});
	assert_int_equal(build__end(s.build), 0);
	threads = build__interrupted(s.build, &n);
	assert_int_equal(n, 1);
	assert_struct(threads[0], n_open, BUILD_OPEN_MOST, more, 3);
	assert_int_equal(build__totals(s.build)->unended, 1);
	/* The end of its last span stands for the end of the process. */
	assert_int_equal(build__totals(s.build)->compiler_ns, 8 * MS);
	assert_false(build__totals(s.build)->off_cpu_known);
	assert_false(process_of(&s, 0)->parts_known);
}

/* Without a probe nothing else tells how long it ran. */
TEST_CASE(a_compile_without_an_end_ran_until_its_last_sample)
{
	struct trace_sample sample = {.time_ns = 60 * MS, .value = 40 * MS};
	_sample_build_ struct sample_build s = {};

	sample_build__begin(&s);
	sb_process(&s, 0, 10, 0, "a", "lib", "rustc", TRACE_EXIT_UNKNOWN);
	sb_process(&s, 1, 10, 20, "b", "lib", "rustc", 0);
	sample.cause = TRACE_SAMPLE_OFF_CPU;
	assert_int_equal(build__sample(s.build, &sample), 0);
	sample.cause = TRACE_SAMPLE_CPU;
	assert_int_equal(build__sample(s.build, &sample), 0);
	sample.process = 1;
	assert_int_equal(build__sample(s.build, &sample), 0);
	sample.process = 2;
	assert_int_equal(build__sample(s.build, &sample), -EINVAL);
	assert_int_equal(build__end(s.build), 0);
	assert_int_equal(process_of(&s, 0)->end_ns, 100 * MS);
	assert_int_equal(process_of(&s, 1)->end_ns, 20 * MS);
}

TEST_CASE(a_link_that_never_ended_lasts_to_the_end)
{
	_sample_build_ struct sample_build s = {};

	sample_build__begin(&s);
	sb_process(&s, 0, 10, 100, "a", "bin", "rustc", 15);
	sb_span(&s, &(struct sb_span){0, 1, SB_CODEGEN, 30, 40, 0, TRACE_KIND_ACTIVITY, 0});
	sb_span(&s,
		&(struct sb_span){0, 1, SB_LINK, 50, 90, 0, TRACE_KIND_ACTIVITY, TRACE_SPAN_OPEN});
	assert_int_equal(build__end(s.build), 0);
	assert_parts(process_of(&s, 0), 20, 20, 50, 0);
}

TEST_CASE(parts_that_were_missed_are_not_guessed)
{
	const struct trace_process late = {
		.end_ns = 100 * MS, .attached_late = true, .crate = (char *)"a"};
	_sample_build_ struct sample_build s = {};

	sample_build__begin(&s);
	sb_process(&s, 0, 0, 0, "a", "lib", "rustc", 0);
	assert_int_equal(build__process(s.build, &late), 0);
	sb_span(&s, &(struct sb_span){0, 1, SB_LINK, 50, 90, 0, TRACE_KIND_ACTIVITY, 0});
	assert_int_equal(build__end(s.build), 0);
	assert_false(process_of(&s, 0)->parts_known);
}

TEST_CASE(results_are_numbered_by_queries)
{
	static const struct {
		uint8_t kind;
		uint32_t invocation;
	} spans[] = {
		{TRACE_KIND_QUERY, 41},
		{TRACE_KIND_QUERY, 99}, /* 57 between them have no probes */
		{TRACE_KIND_QUERY, 7},
		{TRACE_KIND_QUERY, TRACE_NO_INVOCATION},
		/* Ended by a compile error, so the recorder gave it an id of its own. */
		{TRACE_KIND_QUERY, MM_FIRST_REGULAR_ID},
		{TRACE_KIND_HIT, 100},
	};
	_sample_build_ struct sample_build s = {};

	sample_build__begin(&s);
	sb_process(&s, 0, 10, 100, "___", "lib", "rustc --print cfg", 0);
	for (size_t i = 0; i < N_OF(spans); i++) {
		struct trace_span span = {.kind = spans[i].kind, .invocation = spans[i].invocation};

		assert_int_equal(build__span(s.build, &span), 0);
	}
	assert_int_equal(build__end(s.build), 0);
	assert_struct(*process_of(&s, 0), results, 100, executions, 5);
}

TEST_CASE(strangers_are_refused)
{
	const struct trace_process gap = {.index = 1};
	const struct trace_thread thread = {.process = 0};
	const struct trace_span span = {.process = 0};
	struct build *b;

	assert_int_equal(build__new(&sample_build_texts, &b), 0);
	assert_int_equal(build__process(b, &gap), -EINVAL);
	assert_int_equal(build__thread(b, &thread), -EINVAL);
	assert_int_equal(build__span(b, &span), -EINVAL);
	assert_int_equal(build__end(b), 0);
	assert_int_equal(build__totals(b)->compiles, 0);
	build__free(b);
	build__free(NULL);
}

/* As sccache asks for: a has a result in the cache, b has not. */
TEST_CASE(listings_of_a_cache_are_no_compiles)
{
	static const struct path_compile of[] = {
		{"a", "lib", "a.rs --emit dep-info -C metadata=1", 0, 10, 10, 10, 0},
		{"b", "lib", "b.rs --emit=dep-info -C metadata=2", 0, 10, 10, 10, 0},
		{"b", "lib", "b.rs --emit=dep-info,link -C metadata=2", 10, 20, 30, 40, 0},
		{"a", "lib", "a.rs --emit=dep-info -C metadata=1", 50, 60, 60, 60, 0},
	};
	_path_build_ struct path_build b;
	const struct build_totals *t;

	path_build__make(&b, of, N_OF(of));
	t = build__totals(b.build);
	assert_struct(*t, compiles, 1, listed, 3, cached, 1, asked, 0);
}

TEST_CASE(a_part_knows_the_whole)
{
	static const struct path_compile of[] = {
		{"a", "lib", "a.rs", 0, 100, 200, 200, 0},
		{"b", "lib", "b.rs", 50, 300, 350, 400, 0},
	};
	_path_build_ struct path_build whole, part, other;
	const struct build_process *p;
	uint32_t n;

	path_build__make(&whole, of, N_OF(of));
	assert_ptr_equal(build__whole(whole.build), whole.build);
	assert_true(build__has(whole.build, 0));
	path_build__make(&part, of, 1);
	assert_int_equal(build__set_whole(part.build, whole.build), 0);
	assert_ptr_equal(build__whole(part.build), whole.build);
	assert_true(build__has(part.build, 0));
	assert_false(build__has(part.build, 1));
	assert_false(build__has(part.build, 2));
	/* Alone in the whole, not in the part. */
	p = build__processes(part.build, &n);
	assert_int_equal(n, 1);
	assert_int_equal(p[0].alone_ns, 50 * PATH_MS);
	path_build__make(&other, of, 1);
	assert_int_equal(build__set_whole(other.build, NULL), 0);
	assert_null(build__whole(other.build));
}

TEST_MAIN(NULL, NULL)
