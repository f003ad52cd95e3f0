// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>
#include <signal.h>
#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "cli/gates.h"
#include "options/exit_code.h"
#include "options/value.h"
#include "trace/writer.h"

#define MS 1000000ull

static const struct trace_process demo = {.pid = 1,
					  .end_ns = 1000 * MS,
					  .crate = (char *)"demo",
					  .crate_type = (char *)"lib",
					  .rustc_version = (char *)"rustc 1.0"};

static struct trace_writer *begin(const char *name)
{
	const struct trace_info info = {.tool = "test"};
	struct trace_writer *w;

	assert_int_equal(trace_writer__open(directory_path(name), &info, &w), 0);
	return w;
}

static void end(struct trace_writer *w, bool finish)
{
	const struct trace_losses none = {};

	assert_int_equal(trace_writer__losses(w, &none), 0);
	assert_int_equal(finish ? trace_writer__finish(w) : trace_writer__flush(w), 0);
}

/* A trace of compilers, of which the first executes typeck `typecks` times, and mir_built once. */
static void write_compilers(const char *name, const struct trace_process *p, uint32_t n,
			    uint64_t typecks, uint64_t ns, bool finish)
{
	_trace_writer_ struct trace_writer *w = begin(name);
	struct trace_span span = {.tid = 1, .invocation = TRACE_NO_INVOCATION};
	uint32_t typeck, mir_built;

	assert_int_equal(trace_writer__intern(w, "typeck", &typeck), 0);
	assert_int_equal(trace_writer__intern(w, "mir_built", &mir_built), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(trace_writer__process(w, &p[i]), 0);
	for (uint64_t i = 0; i <= typecks; i++) {
		span.start_ns = span.end_ns + 1;
		span.end_ns = span.start_ns + (i ? ns : 10 * MS);
		span.label = i ? typeck : mir_built;
		assert_int_equal(trace_writer__span(w, &span), 0);
	}
	end(w, finish);
}

static void write_compiler(const char *name, const struct trace_process *p, uint64_t typecks,
			   uint64_t ns, bool finish)
{
	write_compilers(name, p, 1, typecks, ns, finish);
}

static void write_trace(const char *name, uint64_t typecks, uint64_t ns, bool finish)
{
	write_compiler(name, &demo, typecks, ns, finish);
}

/* Traces of builds that did less than the others, or of which less was recorded. */
static void write_lesser_traces(void)
{
	struct trace_process late = demo, killed = demo, running = demo, asks = demo;
	struct trace_process failed = demo, profile = demo, newer = demo;
	struct trace_process light = demo, heavy = demo;
	_trace_writer_ struct trace_writer *fresh = begin("fresh");

	end(fresh, true);
	late.attached_late = true;
	killed.exit_status = SIGKILL;
	running.exit_status = profile.exit_status = TRACE_EXIT_UNKNOWN;
	running.end_ns = 0;
	asks.attached_late = true;
	asks.command = (char *)"rustc - --crate-name ___ --print=cfg";
	failed.exit_status = 1 << 8;
	newer.rustc_version = (char *)"rustc 2.0";
	light.peak_bytes = 100 << 20;
	heavy.peak_bytes = 200 << 20;
	write_compiler("light", &light, 10, 10 * MS, true);
	write_compiler("heavy", &heavy, 10, 10 * MS, true);
	write_compiler("late", &late, 10, 10 * MS, true);
	write_compiler("killed compiler", &killed, 10, 10 * MS, true);
	write_compiler("running", &running, 10, 10 * MS, true);
	asks.index = 1;
	write_compilers("asks", (struct trace_process[]){demo, asks}, 2, 10, 10 * MS, true);
	write_compiler("failed", &failed, 10, 10 * MS, true);
	write_compiler("profile", &profile, 10, 10 * MS, true);
	write_compiler("newer", &newer, 10, 10 * MS, true);
}

/* Begin a trace with one execution of typeck, as of one query the noise is not known, and one of
 * mir_built. */
static struct trace_writer *begin_executed(const char *name, const struct trace_process *p,
					   uint32_t *mir_built)
{
	struct trace_writer *w = begin(name);
	struct trace_span span = {.tid = 1, .invocation = TRACE_NO_INVOCATION, .end_ns = 10 * MS};

	must(trace_writer__intern(w, "mir_built", mir_built),
	     trace_writer__intern(w, "typeck", &span.label), trace_writer__process(w, p),
	     trace_writer__span(w, &span));
	span.start_ns = span.end_ns;
	span.end_ns += 10 * MS;
	span.label = *mir_built;
	assert_int_equal(trace_writer__span(w, &span), 0);
	return w;
}

/*
 * A trace without probes of queries. The compiler's tables have the results of typeck, and of
 * mir_built unless `unsure`; samples met both, the first `ns` long.
 */
static void write_counted(const char *name, uint64_t typecks, bool unsure, uint64_t ns)
{
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	_trace_writer_ struct trace_writer *w = begin(name);
	struct trace_tally tallies[] = {
		{.kind = TRACE_KIND_RESULTS, .events = typecks},
		{.kind = TRACE_KIND_RESULTS, .events = 1, .sum = unsure},
	};
	struct trace_sample sample = {.tid = 1, .cause = TRACE_SAMPLE_CPU};

	must(trace_writer__intern(w, "typeck", &tallies[0].label),
	     trace_writer__intern(w, "mir_built", &tallies[1].label),
	     trace_writer__process(w, &demo), trace_writer__sampling(w, &sampling));
	for (size_t i = 0; i < N_OF(tallies); i++) {
		sample.time_ns++;
		sample.value = i ? 2 * MS : ns;
		sample.label = tallies[i].label;
		must(trace_writer__sample(w, &sample), trace_writer__tally(w, &tallies[i]));
	}
	end(w, true);
}

/*
 * A build of `wall_ns`, of which recording took `probes_ns`. They are recorded differently, as one
 * knows when threads were off the CPU.
 */
static void write_costly(const char *name, uint64_t wall_ns, uint64_t probes_ns, bool off_cpu)
{
	const struct trace_overhead overhead = {.of[TRACE_OVERHEAD_PROBES] = probes_ns};
	struct trace_process compile = demo;
	struct trace_span off = {.kind = TRACE_KIND_OFF_CPU,
				 .tid = 1,
				 .end_ns = MS,
				 .invocation = TRACE_NO_INVOCATION};
	uint32_t mir_built;
	_trace_writer_ struct trace_writer *w = NULL;

	compile.end_ns = wall_ns;
	w = begin_executed(name, &compile, &mir_built);
	off.label = mir_built;
	if (off_cpu)
		assert_int_equal(trace_writer__span(w, &off), 0);
	assert_int_equal(trace_writer__overhead(w, &overhead), 0);
	end(w, true);
}

static int make_traces(void **state)
{
	if (directory_make(state))
		return -1;
	write_trace("base", 10, 10 * MS, true);
	write_trace("slow", 10, 80 * MS, true);
	write_trace("slower", 10, 11 * MS, true);
	write_trace("more", 11, 10 * MS, true);
	write_trace("killed", 10, 10 * MS, false);
	write_lesser_traces();
	write_counted("counted", 10, false, 2 * MS);
	write_counted("counted more", 11, false, 2 * MS);
	write_counted("unsure", 10, true, 2 * MS);
	write_costly("costly", 1000 * MS, 300 * MS, false);
	write_costly("cheap", 950 * MS, 0, true);
	write_costly("as cheap", 950 * MS, 0, false);
	return 0;
}

/* The output of the last comparison; the next one frees it. */
static struct output output;

/* Compare two sides; `gate` may be NULL. */
static int diff_sides(const char *paths[2], const char *gate, struct cli_diff_options *o)
{
	struct cli_gates gates = {};
	int status;

	o->sides = (struct cli_files){paths, 2};
	o->min.ns = o->min.ns ?: 5 * MS;
	if (gate)
		assert_int_equal(value_gate(gate, &gates), 0);
	o->gates = gates;
	output_free(&output);
	output_begin(&output);
	status = cmd_diff(o);
	output_end(&output);
	for (size_t i = 0; i < gates.n; i++) {
		free(gates.gates[i].crate);
		free(gates.gates[i].query);
	}
	free(gates.gates);
	return status;
}

/* Compare two traces; `gate` may be NULL. */
static int diff(const char *base, const char *new, const char *gate, struct cli_diff_options *o)
{
	_free_ char *base_path = strdup(directory_path(base));
	_free_ char *new_path = strdup(directory_path(new));

	return diff_sides((const char *[]){base_path, new_path}, gate, o);
}

/* The same trace three times. */
static char *thrice(const char *name)
{
	const char *path = directory_path(name);
	char *side;

	return asprintf(&side, "%s,%s,%s", path, path, path) < 0 ? NULL : side;
}

TEST_CASE(a_query_that_got_slower_comes_first)
{
	struct cli_diff_options o = {};

	assert_says(&output, diff("base", "slow", NULL, &o), EXIT_CODE_OK,
		    "self time:    110 ms -> 810 ms, +700 ms (+636.4 %)\n",
		    "crate/query\n+700 ms  +700.0  100 ms  800 ms          10  demo/typeck\n",
		    "2>=");
}

TEST_CASE(limits_decide_the_status)
{
	static const struct {
		const char *base, *new, *gate;
		int status;
	} cases[] = {
		{"base", "slow", "5%", EXIT_CODE_ABOVE},
		{"slow", "base", "5%", EXIT_CODE_OK},
		{"base", "base", "0%", EXIT_CODE_OK},
		{"base", "slow", "1000%", EXIT_CODE_OK},
		{"base", "slow", "699ms", EXIT_CODE_ABOVE},
		{"base", "slow", "700ms", EXIT_CODE_OK},
		{"base", "slow", "typeck=5%", EXIT_CODE_ABOVE},
		{"base", "slow", "type*=5%", EXIT_CODE_ABOVE},
		{"base", "slow", "mir_built=5%", EXIT_CODE_OK},
		{"base", "slow", "demo/typeck=5%", EXIT_CODE_ABOVE},
		{"base", "slow", "demo/*=5%", EXIT_CODE_ABOVE},
		{"base", "slow", "typek=5%", EXIT_CODE_FAILURE},
		{"base", "slow", "other/typeck=5%", EXIT_CODE_FAILURE},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct cli_diff_options o = {};
		int status = diff(cases[i].base, cases[i].new, cases[i].gate, &o);

		if (status != cases[i].status)
			fail_msg("%s: %d\n%s", cases[i].gate, status, output.text[0]);
		if (status == EXIT_CODE_FAILURE)
			assert_contains(
				output.text[1],
				"none of the traces has that; for the names there are: "
				"qprof-bpf report --by query|crate; an item: add --by item");
	}
}

TEST_CASE(a_change_below_the_minimum_passes_the_limit)
{
	struct cli_diff_options o = {.min.ns = 701 * MS};

	assert_says(&output, diff("base", "slow", "5%", &o), EXIT_CODE_OK,
		    "passed --fail-above 5%: self time 110 ms -> 810 ms, +700 ms "
		    "(+636.4 %): within noise\n");
}

/* One trace a side does not show whether this is noise, so the limit neither passes nor fails. */
TEST_CASE(growth_above_the_limit_that_may_be_noise_has_no_verdict)
{
	static const char *const gates[] = {"5%", "9ms", "typeck=5%", "demo/*=5%"};
	struct cli_diff_options o = {};

	for (size_t i = 0; i < N_OF(gates); i++)
		assert_says(&output, diff("base", "slower", gates[i], &o), EXIT_CODE_FAILURE,
			    "NO VERDICT --fail-above ",
			    "it may be noise, which fewer than five traces a side do not show");
	assert_int_equal(diff("base", "slower", "11%", &o), EXIT_CODE_OK);
}

TEST_CASE(executions_are_compared_exactly)
{
	struct cli_diff_options o = {.metric = CLI_METRIC_COUNT};

	assert_says(&output, diff("base", "more", "1%", &o), EXIT_CODE_ABOVE,
		    "executions:   11 -> 12, +1 (+9.1 %)\n");
	assert_int_equal(diff("base", "slow", "0%", &o), EXIT_CODE_OK);
}

/* The CPU time of a query is not known: its self time stands in for it. */
TEST_CASE(a_limit_on_a_query_is_of_a_metric_that_queries_have)
{
	struct cli_diff_options o = {.metric = CLI_METRIC_CPU};

	assert_says(&output, diff("base", "slow", "typeck=5%", &o), EXIT_CODE_ABOVE,
		    "FAILED --fail-above typeck=5%: self time 100 ms -> 800 ms, +700 ms");
	o.json = true;
	assert_says(&output, diff("base", "slow", "typeck=5%", &o), EXIT_CODE_ABOVE,
		    "\"metric\":\"self\",\"exceeded\":true");
	o = (struct cli_diff_options){.metric = CLI_METRIC_CPU, .markdown = true};
	assert_says(&output, diff("base", "slow", "typeck=5%", &o), EXIT_CODE_ABOVE,
		    "self time 100 ms -> 800 ms");
}

/* The last line says what the exit status does. */
TEST_CASE(the_status_is_said_last)
{
	static const struct {
		const char *base, *new, *gate, *said;
		unsigned int metric;
	} cases[] = {
		{"light", "heavy", "50%", "exit status 1: 1 of 1 limits exceeded\n",
		 CLI_METRIC_PEAK},
		{"light", "heavy", "90MiB", "exit status 1: 1 of 1 limits exceeded\n",
		 CLI_METRIC_PEAK},
		{"light", "heavy", "200M", "exit status 0: no limit exceeded\n", CLI_METRIC_PEAK},
		{"heavy", "light", "0%", "exit status 0: no limit exceeded\n", CLI_METRIC_PEAK},
		{"light", "heavy", "demo/*=50%", "exit status 1: 1 of 1 limits exceeded\n",
		 CLI_METRIC_PEAK},
		{"base", "slow", "5%",
		 "(it is not known on both sides)\n"
		 "exit status 125: no verdict on 1 of 1 limits\n",
		 CLI_METRIC_CPU},
		{"base", "slow", "5%",
		 "(it needs three traces a side, recorded alike)\n"
		 "exit status 125: no verdict on 1 of 1 limits\n",
		 CLI_METRIC_WALL},
		{"base", "killed", "5%",
		 "(the traces do not have all of the builds)\n"
		 "exit status 125: no verdict on 1 of 1 limits\n",
		 CLI_METRIC_COUNT},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct cli_diff_options o = {.metric = cases[i].metric};
		int status = diff(cases[i].base, cases[i].new, cases[i].gate, &o);
		char number[32];

		snprintf(number, sizeof(number), "exit status %d:", status);
		assert_contains(output.text[0], cases[i].said);
		assert_contains(cases[i].said, number);
	}
}

/*
 * The new build is 50 ms faster, and recording took 300 ms less of it: with one and a half times
 * that, it may be 400 ms slower.
 */
TEST_CASE(a_recording_that_costs_less_does_not_hide_growth)
{
	static const struct {
		const char *new, *gate;
		bool is_passed;
	} cases[] = {{"cheap", "39%", false},
		     {"cheap", "41%", true},
		     {"cheap", "399ms", false},
		     {"cheap", "400ms", true},
		     {"as cheap", "5%", true}};
	_free_ char *base = thrice("costly");

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct cli_diff_options o = {.metric = CLI_METRIC_WALL};
		_free_ char *new = thrice(cases[i].new);
		int status = diff_sides((const char *[]){base, new}, cases[i].gate, &o);

		assert_int_equal(status, cases[i].is_passed ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
		if (cases[i].is_passed)
			assert_contains(output.text[0], "exit status 0: no limit exceeded\n");
		else
			assert_contains(output.text[0],
					"(recording added more to one side, which may hide growth)"
					"\nexit status 125:");
	}
}

/* The cost of recording is known of the build, not of a query. */
TEST_CASE(json_has_no_cost_of_queries)
{
	struct cli_diff_options o = {.json = true};
	struct json_object *document, *gate, *side, *cost = NULL;

	assert_int_equal(diff("costly", "costly", "mir_built=5%", &o), EXIT_CODE_OK);
	document = json_tokener_parse(output.text[0]);
	assert_true(json_object_object_get_ex(document, "gates", &gate));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(gate, 0), "base", &side));
	assert_true(json_object_object_get_ex(side, "in_compilers_ns", &cost));
	assert_null(cost);
	json_object_put(document);
	assert_says(&output, diff("costly", "costly", "5%", &o), EXIT_CODE_OK,
		    "\"in_compilers_ns\":300000000");
}

/* Whether probes or the compiler's tables did. */
TEST_CASE(executions_are_compared_where_both_traces_count_them)
{
	struct cli_diff_options o = {.metric = CLI_METRIC_COUNT};

	assert_int_equal(diff("counted", "counted", "0%", &o), EXIT_CODE_OK);
	assert_says(&output, diff("counted", "counted more", "0%", &o), EXIT_CODE_ABOVE,
		    "executions:   11 -> 12, +1 (+9.1 %)\n");
	assert_says(&output, diff("base", "counted more", "typeck=0%", &o), EXIT_CODE_ABOVE,
		    "executions 10 -> 11, +1 (+10.0 %)");
	assert_says(&output, diff("base", "unsure", "0%", &o), EXIT_CODE_OK,
		    "passed --fail-above 0%: executions 10 -> 10, of queries "
		    "counted in all traces, no change\n",
		    "not compared, as their number or time is not known in all "
		    "traces: 1 query of a crate (demo/mir_built)\n");
	assert_says(&output, diff("base", "unsure", "mir_built=0%", &o), EXIT_CODE_FAILURE,
		    "(it is not known on both sides)");
}

/* One sample tells nearly nothing. */
TEST_CASE(times_by_samples_have_an_error)
{
	struct cli_diff_options o = {.json = true};

	write_counted("met long", 10, false, 90 * MS);
	assert_says(&output, diff("counted", "met long", "typeck=5%", &o), EXIT_CODE_FAILURE,
		    "\"probed\":false,\"sampled\":true,", "\"change_error\":90022219,");
}

/* A build that was cut short looks fast. */
TEST_CASE(an_unfinished_trace_does_not_pass)
{
	struct cli_diff_options o = {};

	assert_says(&output, diff("base", "killed", NULL, &o), EXIT_CODE_OK, "2>warning: ");
	assert_says(&output, diff("base", "killed", "5%", &o), EXIT_CODE_FAILURE,
		    "2>record both sides again");
	assert_says(&output, diff("nothing", "base", NULL, &o), EXIT_CODE_FAILURE, "2>nothing",
		    "=");
}

TEST_CASE(a_build_that_did_less_does_not_pass)
{
	static const struct {
		const char *new, *said;
		int status;
		unsigned int metric; /* of one query the noise of times is unknown */
	} cases[] = {
		{"fresh", "no query was executed", EXIT_CODE_FAILURE, CLI_METRIC_SELF},
		{"late", "1 of 1 compilers began before their probes were", EXIT_CODE_FAILURE,
		 CLI_METRIC_SELF},
		{"killed compiler", "1 of 1 compilers were killed", EXIT_CODE_FAILURE,
		 CLI_METRIC_SELF},
		{"running", "1 of 1 compilers were killed, or still ran", EXIT_CODE_FAILURE,
		 CLI_METRIC_SELF},
		{"asks", "", EXIT_CODE_OK, CLI_METRIC_SELF},
		{"failed", "", EXIT_CODE_OK, CLI_METRIC_SELF},
		{"profile", "", EXIT_CODE_OK, CLI_METRIC_SELF},
		{"counted", "", EXIT_CODE_OK, CLI_METRIC_COUNT},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct cli_diff_options o = {.metric = cases[i].metric};
		int status = diff("base", cases[i].new, "5%", &o);

		if (status != cases[i].status)
			fail_msg("%s: %d\n%s", cases[i].new, status, output.text[1]);
		assert_contains(output.text[1], cases[i].said);
		if (!*cases[i].said)
			assert_string_equal(output.text[1], "");
	}
}

TEST_CASE(another_compiler_is_reported)
{
	struct cli_diff_options o = {}, json = {.json = true};

	assert_says(&output, diff("base", "newer", "5%", &o), EXIT_CODE_OK,
		    "different compilers: base by rustc 1.0, new by rustc 2.0\n");
	assert_says(&output, diff("base", "newer", NULL, &json), EXIT_CODE_OK,
		    "\"differences\":[\"compiler\"]",
		    "\"compiles\":1,\"late\":0,\"cut\":0,"
		    "\"killed_for_memory\":0,\"compiler\":\"rustc 2.0\"");
}

TEST_CASE(all_forms_are_there)
{
	struct cli_diff_options json = {.json = true}, markdown = {.markdown = true};
	struct json_object *object;

	assert_int_equal(diff("base", "killed", NULL, &json), EXIT_CODE_OK);
	object = json_tokener_parse(output.text[0]);
	assert_non_null(object);
	json_object_put(object);
	assert_output(&output, 0, "\"schema\":\"qprof-diff/5\"", "\"problem\":\"unfinished");
	assert_says(&output, diff("base", "slow", NULL, &markdown), EXIT_CODE_OK,
		    "### rustc: two builds compared\n\n- wall time:");
}

/* A trace of one execution of typeck, about an item. */
static void write_item(const char *name, const char *path, uint64_t ns)
{
	_trace_writer_ struct trace_writer *w = begin(name);
	struct trace_span span = {.tid = 1, .end_ns = ns, .invocation = 7};
	struct trace_mapping m = {.first = 7, .n = 1};

	must(trace_writer__intern(w, "typeck", &span.label),
	     trace_writer__intern(w, path, &m.string), trace_writer__process(w, &demo),
	     trace_writer__map(w, &m), trace_writer__span(w, &span));
	end(w, true);
}

TEST_CASE(items_need_traces_that_have_them)
{
	struct cli_diff_options o = {.by = CLI_DIFF_BY_ITEM, .metric = CLI_METRIC_COUNT};

	write_item("item", "demo::f", 10 * MS);
	write_item("other item", "demo::g", 10 * MS);
	assert_says(&output, diff("item", "other item", "demo::*=1%", &o), EXIT_CODE_OK, "  item\n",
		    "passed --fail-above demo::*=1%: executions 1 -> 1",
		    "new     0    1  demo::g\n");
	assert_says(&output, diff("item", "slow", NULL, &o), EXIT_CODE_FAILURE,
		    "2>does not say what its queries were about");
}

TEST_GROUP(NULL, NULL)

/* ---- Gates ----------------------------------------------------------------------------------- */

/* Limits on changes that noise may hide. */

static int sum_of(void *ctx, compare_pick *pick, const void *pick_ctx, struct compare_row *out)
{
	*out = *(const struct compare_row *)ctx;
	return 1;
}

static struct spread all(uint64_t ns)
{
	return (struct spread){.n = 1, .median = ns, .min = ns, .max = ns};
}

/* The CPU time was 1 s, and is `ns` now. */
static struct diff_gate judged(uint64_t ns, uint64_t noise_ppm, uint64_t limit_ppm, int *status)
{
	struct compare_row row = {.compared = true,
				  .too_noisy = noise_ppm > COMPARE_NOISE_MOST,
				  .noise_ppm = noise_ppm,
				  .of[COMPARE_CPU] = {all(1000 * MS), all(ns)}};
	const struct compare_result result = {.rules = {.metric = COMPARE_CPU},
					      .noise_is_estimated = true,
					      .noise_ppm = noise_ppm,
					      .too_noisy = row.too_noisy};
	struct cli_gate limit = {.text = "limit", .limit.ppm = limit_ppm};
	const struct cli_gates limits = {.gates = &limit, .n = 1};
	struct diff_gate gate = {};
	struct diff_view v = {.result = &result, .n_gates = 1};

	assert_int_equal(gates__judge(&limits, &result.rules, sum_of, &row, "report", &gate), 0);
	gates__decide(true, &v, &gate);
	*status = v.status;
	return gate;
}

/* 18 % more where a machine that is busy may have 60 % more or less. */
TEST_CASE(a_limit_within_the_noise_has_no_verdict)
{
	static const struct {
		uint64_t ns, noise, limit;
		enum diff_verdict verdict;
	} cases[] = {
		{1183 * MS, 600000, 200000, DIFF_NO_VERDICT},
		{1183 * MS, 600000, 100000, DIFF_NO_VERDICT},
		{1000 * MS, 600000, 200000, DIFF_NO_VERDICT},
		{700 * MS, 600000, 200000, DIFF_NO_VERDICT},
		/* Even so it is too little. */
		{500 * MS, 600000, 200000, DIFF_PASSED},
		{1183 * MS, 600000, 1000000, DIFF_PASSED},
		{1000 * MS, UINT64_MAX, 1000000, DIFF_NO_VERDICT},
		/* An estimate that is worth something. */
		{1040 * MS, 80000, 100000, DIFF_PASSED},
		{1183 * MS, 80000, 200000, DIFF_PASSED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		struct diff_gate gate =
			judged(cases[i].ns, cases[i].noise, cases[i].limit, &status);

		if (gate.verdict != cases[i].verdict)
			fail_msg("case %zu: %d", i, gate.verdict);
		assert_int_equal(status,
				 gate.verdict == DIFF_PASSED ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
		if (gate.verdict == DIFF_NO_VERDICT)
			assert_string_equal(gate.why, "there is too much noise");
	}
}

TEST_MAIN(make_traces, directory_remove)
