// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/running.h"
#include "analyze/summary.h"
#include "analyze/compile_name.h"

#include "test.h"
#include "../fixtures/random.h"

#define _running_ __cleanup(running__destroy)

TEST_CASE(nothing_runs_for_no_time)
{
	_running_ struct running r;

	assert_int_equal(running__of(&r, NULL, 0), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.end_ns - r.start_ns, 0);
}

TEST_CASE(consecutive_intervals_do_not_overlap)
{
	struct running_interval intervals[] = {{10, 20, 0}, {20, 30, 0}, {40, 50, 0}, {40, 40, 0}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 4), 0);
	assert_struct(r, n, 2, at[0], 10, at[1], 30, tail_ns, 40);
	assert_int_equal(intervals[1].alone_ns, 10);
	assert_int_equal(intervals[3].alone_ns, 0);
}

TEST_CASE(compilers_that_run_alone_are_shown)
{
	struct running_interval intervals[] = {{0, 100, 7}, {10, 30, 7}, {20, 40, 7}, {90, 120, 7}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 4), 0);
	assert_struct(r, n, 4, at[1], 10 + 50 + 20, at[2], 10 + 10 + 10, at[3], 10, tail_ns, 20);
	assert_int_equal(intervals[0].alone_ns, 60);
	assert_int_equal(intervals[1].alone_ns, 0);
	assert_int_equal(intervals[3].alone_ns, 20);
}

/* The times in a trace are untrusted. */
TEST_CASE(an_end_before_its_start_is_no_time)
{
	struct running_interval intervals[] = {{50, 10, 0}, {20, 30, 0}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 2), 0);
	assert_struct(r, start_ns, 20, end_ns, 50, at[0], 20, at[1], 10);
}

#define N     20
#define TICKS 64

/* Compare with a count at each tick. */
TEST_CASE(any_intervals_are_counted_as_by_hand)
{
	struct rng rng = rng_new();

	for (int turn = 0; turn < 200; turn++) {
		struct running_interval intervals[N];
		uint64_t at[N + 1] = {0}, alone[N] = {0};
		_running_ struct running r;

		for (int i = 0; i < N; i++) {
			intervals[i].start_ns = rng_below(&rng, TICKS);
			intervals[i].end_ns = intervals[i].start_ns + rng_below(&rng, TICKS / 8);
		}
		assert_int_equal(running__of(&r, intervals, N), 0);
		for (uint64_t tick = r.start_ns; tick < r.end_ns; tick++) {
			int n = 0, last = 0;

			for (int i = 0; i < N; i++) {
				if (intervals[i].start_ns > tick || intervals[i].end_ns <= tick)
					continue;
				n++;
				last = i;
			}
			at[n]++;
			alone[last] += n == 1;
		}
		for (int i = 0; i <= N; i++)
			assert_int_equal(r.at[i], at[i]);
		for (int i = 0; i < N; i++)
			assert_int_equal(intervals[i].alone_ns, alone[i]);
	}
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void wait_for(struct within_track *t, uint16_t depth, uint64_t ns)
{
	const struct trace_span span = {.end_ns = ns, .depth = depth, .kind = TRACE_KIND_OFF_CPU};

	assert_int_equal(wait_track__wait(t, &span), 0);
}

static void end(struct within_track *t, uint16_t depth, enum trace_kind kind, struct waits *w)
{
	wait_track__span(t, &(struct trace_span){.depth = depth, .kind = kind}, w);
}

static void assert_waits(const struct waits *w, uint64_t queries, uint64_t passes, uint64_t neither)
{
	assert_struct(*w, in_queries, queries, in_passes, passes, in_neither, neither);
}

TEST_CASE(a_query_around_counts_whatever_lies_between)
{
	struct within_track t = {};
	struct waits w = {};

	wait_for(&t, 3, 5);
	end(&t, 2, TRACE_KIND_ACTIVITY, &w);
	end(&t, 1, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 1, 20);
	assert_waits(&w, 0, 0, 0);
	end(&t, 0, TRACE_KIND_QUERY, &w);
	assert_waits(&w, 25, 0, 0);
	wait_track__end(&t, &w);
	assert_waits(&w, 25, 0, 0);
}

TEST_CASE(without_one_it_is_in_a_pass_or_in_neither)
{
	struct within_track t = {};
	struct waits w = {};

	wait_for(&t, 1, 5);
	wait_for(&t, 1, 2);
	end(&t, 0, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 0, 100);
	end(&t, 0, TRACE_KIND_QUERY, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 0, 7, 100);
}

TEST_CASE(all_kinds_of_queries_count)
{
	static const enum trace_kind kinds[] = {TRACE_KIND_BLOCKED, TRACE_KIND_LOAD,
						TRACE_KIND_HASHING};
	struct within_track t = {};
	struct waits w = {};

	for (int i = 0; i < 3; i++) {
		wait_for(&t, 4, 1);
		end(&t, 3, kinds[i], &w);
	}
	/* An instant contains no wait. */
	wait_for(&t, 4, 50);
	end(&t, 3, TRACE_KIND_HIT, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 3, 0, 50);
}

/* Waits below a lost span belong to the span around it. */
TEST_CASE(depths_without_a_span_are_bridged)
{
	struct within_track t = {};
	struct waits w = {};

	wait_for(&t, 9, 1);
	wait_for(&t, 5, 2);
	wait_for(&t, 7, 4);
	end(&t, 3, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 2, 8);
	end(&t, 1, TRACE_KIND_QUERY, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 15, 0, 0);
}

/* ---- Reuse ----------------------------------------------------------------------------------- */

enum { LOAD = TRACE_KIND_LOAD, QUERY = TRACE_KIND_QUERY };

/* An interval ends on thread `tid`. */
static int reuse_end(struct load_tracks *l, uint32_t tid, uint16_t depth, uint8_t kind,
		     uint32_t label)
{
	const struct trace_span s = {.tid = tid, .depth = depth, .kind = kind, .label = label};

	return load_tracks__span(l, &s);
}

TEST_CASE(an_execution_right_after_its_load_found_nothing)
{
	struct load_tracks l = {0};

	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	/* Intervals inside the execution end before it. */
	assert_int_equal(reuse_end(&l, 1, 4, QUERY, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 5, LOAD, 8), 0);
	assert_int_equal(reuse_end(&l, 1, 4, QUERY, 8), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 1);
	/* A load belongs to one execution. */
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	load_tracks__destroy(&l);
}

TEST_CASE(a_load_with_something_else_behind_it_found_something)
{
	struct load_tracks l = {0};

	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 8), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 8), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, TRACE_KIND_ACTIVITY, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	/* The parent of the load ended. */
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 2, QUERY, 9), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 0);
	/* The execution is on another thread. */
	assert_int_equal(reuse_end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(reuse_end(&l, 2, 3, QUERY, 7), 0);
	/* An instant changes nothing. */
	assert_int_equal(reuse_end(&l, 1, 3, TRACE_KIND_HIT, 7), 0);
	assert_int_equal(reuse_end(&l, 1, 3, QUERY, 7), 1);
	load_tracks__destroy(&l);
}

TEST_CASE(the_number_of_unseen_results_is_never_negative)
{
	assert_int_equal(reuse__unseen(&(struct reuse){.executed = 3, .loaded = 2, .results = 9}),
			 4);
	assert_int_equal(reuse__unseen(&(struct reuse){.executed = 8, .loaded = 2, .results = 9}),
			 0);
}

/* ---- Compile name ---------------------------------------------------------------------------- */

static struct trace_process process(const char *crate, const char *type, const char *command)
{
	return (struct trace_process){
		.crate = (char *)crate, .crate_type = (char *)type, .command = (char *)command};
}

static void assert_name(const char *crate, const char *type, const char *command,
			const char *expected)
{
	struct trace_process p = process(crate, type, command);
	_free_ char *name = compile_name(&p);

	assert_string_equal(name, expected);
}

TEST_CASE(the_type_distinguishes_crates)
{
	assert_name("syn", "lib", "rustc", "syn");
	assert_name("syn", NULL, "rustc", "syn");
	assert_name("app", "bin", "rustc", "app (bin)");
	assert_name("app", "lib", "rustc --test src/lib.rs", "app (test)");
	assert_name("x", "proc-macro", NULL, "x (proc-macro)");
	assert_name(NULL, NULL, "rustc -vV", "rustc -vV");
	assert_name(NULL, NULL, NULL, "unknown");
	assert_name(NULL, NULL, "/opt/bin/rustc --cfg f1 ...", "rustc (crate unknown)");
	assert_name(NULL, NULL, "rustc @args ...", "rustc (crate unknown)");
	assert_name("a", "lib", "rustc --crate-name a --cfg f1 ...", "a");
	assert_name("", NULL, "/opt/bin/rustc /a/b", "rustc /a/b");
	assert_name(NULL, NULL, "/opt/bin/ x", "unknown");
	assert_name("___", "lib", "rustc - --crate-name ___ --print=cfg", "rustc --print");
}

TEST_CASE(the_tool_distinguishes_compiles_of_a_target)
{
	assert_name("semver", "lib", "/opt/bin/rustdoc --crate-name semver src/lib.rs",
		    "semver (doc)");
	assert_name("x", "proc-macro", "rustdoc --crate-name x", "x (proc-macro doc)");
	assert_name("semver", "lib", "rustdoc --test src/lib.rs", "semver (doctests)");
	assert_name("semver", "lib", "/opt/bin/clippy-driver /opt/bin/rustc", "semver clippy");
	assert_name("x", "proc-macro", "clippy-driver rustc", "x (proc-macro) clippy");
	assert_name("app", "bin", "miri --crate-name app", "app (bin) miri");
	assert_name("build_script_build", "bin",
		    "clippy-driver rustc --out-dir /t/build/quote-0123456789abcdef",
		    "quote (build script) clippy");
}

TEST_CASE(an_example_of_the_documentation_has_no_crate)
{
	struct trace_process p =
		process("rust_out", "bin", "rustc @/tmp/rustdoctestX/rustdoc-cfgs -o x -");
	struct trace_process other = process("app", "bin", "rustc @/tmp/rustdoc-cfgs/options");

	assert_true(compile_is_doctest(&p));
	assert_false(compile_is_doctest(&other));
	assert_name(NULL, NULL, "rustc @/tmp/rustdoctestX/rustdoc-cfgs -o x -", "doctest");
}

TEST_CASE(a_build_script_is_called_after_its_package)
{
	const char *crate = "build_script_build";

	assert_name(crate, "bin", "rustc --out-dir /t/build/serde-json-0123456789abcdef -L x",
		    "serde-json (build script)");
	assert_name(crate, "bin", "rustc --out-dir=semver-0123456789abcdef",
		    "semver (build script)");
	assert_name(crate, "bin", "rustc --out-dir /t/build/nl-x/0123456789abcdef/out",
		    "nl-x (build script)");
	assert_name(crate, "bin", "rustc --out-dir /t/made/nl-x/0123456789abcdef/out",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /0123456789abcdef/out",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /t/build/out", "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /t/x-0123456789abcdeg",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir -0123456789abcdef", "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir", "build_script_build (bin)");
	assert_name("app", "lib", "rustc --out-dir /t/x-0123456789abcdef", "app");
}

TEST_CASE(a_build_script_may_lie_in_its_package)
{
	const char *crate = "build_script_main";

	assert_name(crate, "bin", "rustc /r/proc-macro2-1.0.47/build.rs --out-dir /t",
		    "proc-macro2 (build script)");
	assert_name(crate, "bin", "rustc /r/a-2-0.1.0-rc.1/build.rs", "a-2 (build script)");
	assert_name(crate, "bin", "rustc /r/rust-1.95.0/a/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc /r/-1.0/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc /r/a-1/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc build.rs", "build_script_main (bin)");
	assert_name("app", "lib", "rustc /r/app-1.0/lib.rs", "app");
}

TEST_CASE(a_compiler_that_is_only_queried_compiles_nothing)
{
	struct trace_process asks = process("___", "lib", "rustc - --crate-name ___ --print=cfg");
	struct trace_process version = process(NULL, NULL, "rustc -vV");
	struct trace_process compiles = process("a", "lib", "rustc --crate-name a a.rs --printer");
	struct trace_process cut = process(NULL, NULL, "rustc @args ...");
	struct trace_process cut_asks = process(NULL, NULL, "rustc --print cfg @args ...");

	assert_false(compile_only_queries(&cut));
	assert_true(compile_only_queries(&cut_asks));
	assert_true(compile_only_queries(&asks));
	assert_true(compile_only_queries(&version));
	assert_false(compile_only_queries(&compiles));
}

TEST_CASE(metadata_is_one_of_what_is_emitted)
{
	static const char *const with[] = {"rustc --emit=dep-info,metadata,link", "--emit metadata",
					   "--emit=metadata=x.rmeta"};
	static const char *const without[] = {"rustc --emit=dep-info,link", "--emit", "rustc",
					      "rustc -C metadata=abc",
					      "--emit=xmetadata,metadatas"};

	for (size_t i = 0; i < N_OF(with); i++) {
		struct trace_process p = process("a", "lib", with[i]);

		assert_true(compile_emits_metadata(&p));
	}
	for (size_t i = 0; i < N_OF(without); i++) {
		struct trace_process p = process("a", "lib", without[i]);

		assert_false(compile_emits_metadata(&p));
	}
}

TEST_CASE(own_crates_are_not_of_a_registry)
{
	static const char *const own[] = {
		"rustc --crate-name app src/main.rs --crate-type bin",
		"rustc --crate-name app /home/me/../other/src/lib.rs",
		"rustc --crate-name build_script_build build.rs --check-cfg cfg(docsrs)",
		"rustc --crate-name app --cap-lints=warn -Cdebuginfo=1 main.rs",
	};
	static const char *const foreign[] = {
		"rustc --crate-name syn vendor/syn/src/lib.rs -C metadata=1 --cap-lints allow",
		"rustc --crate-name syn vendor/syn/src/lib.rs -Cmetadata=1 --cap-lints=warn -L x",
		"rustc --crate-name syn /home/me/.cargo/registry/src/index-1/syn-2.0/src/lib.rs",
		"rustc --crate-name x /home/me/.cargo/git/checkouts/x-1/2/src/lib.rs",
		"rustc --crate-name core /r/toolchain/lib/rustlib/src/rust/library/core/src/lib.rs",
		"rustc - --crate-name ___ --print=cfg",
	};

	for (size_t i = 0; i < N_OF(own); i++) {
		struct trace_process p = process("app", "lib", own[i]);

		assert_true(compile_is_own(&p));
	}
	for (size_t i = 0; i < N_OF(foreign); i++) {
		struct trace_process p = process("syn", "lib", foreign[i]);

		assert_false(compile_is_own(&p));
	}
}

TEST_MAIN(NULL, NULL)
