// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "record/traces.h"

#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "analyze/cost.h"
#include "trace/reader.h"

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/records.h"
#include "../fixtures/sample_plan.h"
#include "../fixtures/trace_dump.h"
#include "../fixtures/rows.h"

#define LIB 4
/* Above the kernel's largest process id. */
#define GONE 0x40000000

static struct plan *plan;
static const uint64_t no_counters[WIRE_COUNTER_MAX];

static int make_directory(void **state)
{
	plan = sample_plan();
	return directory_make(state);
}

static int remove_directory(void **state)
{
	plan__free(plan);
	return directory_remove(state);
}

static int remove_files(void **state)
{
	directory_files(true);
	return 0;
}

static struct traces *begin(void)
{
	const struct recorder_options ro = {.mode = LIVE_NONE};
	const struct traces_options o = {.dir = directory, .recorder = &ro};
	static const bool all[8] = {true, true, true, true, true, true, true, true};
	const struct record library = {
		.kind = RECORD_LIBRARY, .lib = LIB, .library = {plan, all, all}};
	struct traces *t = NULL;

	assert_int_equal(traces__open(&o, &t), 0);
	assert_int_equal(traces__take(t, &library), 0);
	return t;
}

static int give(struct traces *t, const void *record, size_t size)
{
	return take_bytes(traces__take, t, record, size);
}

static void give_span(struct traces *t, uint32_t pid)
{
	const struct wire_span s = {.type = WIRE_SPAN,
				    .lib = LIB,
				    .query = 1,
				    .pid = pid,
				    .tid = pid,
				    .start_ns = 1000,
				    .end_ns = 2000};

	assert_int_equal(give(t, &s, sizeof(s)), 0);
}

static void give_exit(struct traces *t, uint32_t pid)
{
	const struct wire_exit e = {.type = WIRE_EXIT, .pid = pid, .time_ns = 3000};

	assert_int_equal(give(t, &e, sizeof(e)), 0);
}

/* The only trace whose name ends so, as text; freed by the caller. */
static char *dump_of(const char *end)
{
	char pattern[64];
	glob_t found;
	char *text;

	snprintf(pattern, sizeof(pattern), "%s/*%s", directory, end);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	text = dump_trace(found.gl_pathv[0]);
	globfree(&found);
	return text;
}

static void assert_spans_of(const char *trace, uint32_t pid)
{
	char line[64];

	snprintf(line, sizeof(line), "/%u depth=0 1000..2000 typeck", pid);
	assert_contains(trace, line);
}

/* Nothing that was recorded is lost, whatever is known of its process. */
TEST_CASE_WITH(processes_of_no_build_share_a_trace, NULL, remove_files)
{
	_free_ char *own = NULL, *unknown = NULL;
	_traces_ struct traces *t = begin();
	char end[64];
	_output_ struct output o;

	output_begin(&o);
	give_span(t, GONE);
	give_span(t, (uint32_t)getpid());
	give_span(t, GONE + 1);
	assert_int_equal(traces__processes(t), 3);
	assert_int_equal(traces__finish(t, no_counters), 0);
	output_end(&o);
	assert_int_equal(directory_files(false), 2);
	unknown = dump_of("-u65534-p0.qpt");
	assert_spans_of(unknown, GONE);
	assert_spans_of(unknown, GONE + 1);
	assert_contains(unknown, "\npart 1\n");
	assert_contains(unknown, "whole\n");
	snprintf(end, sizeof(end), "-u%u-p*.qpt", (unsigned int)getuid());
	own = dump_of(end);
	assert_spans_of(own, (uint32_t)getpid());
	assert_null(strstr(own, "\npart "));
	assert_contains(o.text[1], "-u65534-p0.qpt has compilers that were gone before their "
				   "build could be found\n");
}

TEST_CASE_WITH(a_wait_of_a_process_that_is_gone_is_kept, NULL, remove_files)
{
	const struct wire_off_cpu w = {
		.type = WIRE_OFF_CPU, .pid = GONE, .tid = GONE, .start_ns = 1000, .end_ns = 2000};
	_traces_ struct traces *t = begin();
	_output_ struct output o;

	output_begin(&o);
	assert_int_equal(give(t, &w, sizeof(w)), 0);
	assert_int_equal(traces__finish(t, no_counters), 0);
	output_end(&o);
	assert_int_equal(directory_files(false), 1);
}

/* As on a full disk. */
TEST_CASE_WITH(a_trace_that_cannot_be_made_is_a_failure, NULL, remove_files)
{
	_traces_ struct traces *t = begin();
	_output_ struct output o;
	char away[64];

	snprintf(away, sizeof(away), "%s.away", directory);
	assert_int_equal(rename(directory, away), 0);
	output_begin(&o);
	give_span(t, GONE);
	output_end(&o);
	assert_int_equal(rename(away, directory), 0);
	assert_contains(o.text[1], "is not recorded\n");
	assert_int_equal(traces__finish(t, no_counters), -ENOENT);
}

/* As the end of a process whose trace is complete. */
TEST_CASE_WITH(what_adds_nothing_makes_no_trace, NULL, remove_files)
{
	_traces_ struct traces *t = begin();

	give_exit(t, GONE);
	assert_int_equal(traces__finish(t, no_counters), 0);
	assert_int_equal(directory_files(false), 0);
}

/* As of one trace, if there is one. */
TEST_CASE_WITH(most_that_is_lost_is_known_of_most_traces, NULL, remove_files)
{
	const uint64_t lost[WIRE_COUNTER_MAX] = {[WIRE_LOST_RING_FULL] = 458};
	const struct wire_exec e = {.type = WIRE_EXEC, .pid = GONE, .time_ns = 500};

	for (int most = 0; most < 2; most++) {
		_traces_ struct traces *t = begin();
		_output_ struct output o;

		output_begin(&o);
		assert_int_equal(give(t, &e, sizeof(e)), 0);
		give_span(t, GONE);
		give_exit(t, GONE);
		assert_int_equal(traces__finish(t, most ? lost : no_counters), 0);
		output_end(&o);
		assert_int_equal(traces__lost_most(t), most);
		assert_int_equal(occurrences(o.text[1], "were lost; the main cause"), most);
	}
}

static struct cost cost_in(const char *end)
{
	struct model_options options;
	_trace_reader_ struct trace_reader *r = NULL;
	_model_ struct model m = {};
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*%s", directory, end);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(trace_reader__open(found.gl_pathv[0], &r, NULL), 0);
	globfree(&found);
	options = model_options_of(r);
	options.parts = MODEL_BUILD;
	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(model__read(&m, r), 0);
	return cost_of(&m, summary__n_processes(m.summary));
}

/* So long that what the test itself takes is a small part. */
#define LONG_NS UINT64_C(1000000000000)

/* Of 40 hits, three of four spans are of the first process; so is waiting. */
TEST_CASE_WITH(each_trace_has_its_own_cost, NULL, remove_files)
{
	const struct probe_costs costs = {.emulated.hit_ps = 800000};
	const uint64_t counters[WIRE_COUNTER_MAX] = {[WIRE_COUNT_HITS] = 40};
	const struct overhead_input in = {
		.counters = counters,
		.costs = &costs,
		.session = {.breakpoints = 100, .breakpoint_ns = 10, .waited_ns = 8, .n_waited = 1},
		.own_ns = 44 * LONG_NS,
		.set_up_ns = 4 * LONG_NS,
	};
	_traces_ struct traces *t = begin();
	const struct record waited = {.kind = RECORD_WAITED, .pid = GONE, .waited_ns = 8};
	struct cost gone, own;
	char end[64];
	_output_ struct output o;

	output_begin(&o);
	for (int i = 0; i < 3; i++)
		give_span(t, GONE);
	give_span(t, (uint32_t)getpid());
	assert_int_equal(traces__take(t, &waited), 0);
	traces__set_overhead(t, &in);
	assert_int_equal(traces__finish(t, counters), 0);
	output_end(&o);
	gone = cost_in("-u65534-p0.qpt");
	snprintf(end, sizeof(end), "-u%u-p*.qpt", (unsigned int)getuid());
	own = cost_in(end);
	assert_true(gone.whole && own.whole);
	assert_pairs(gone.hits, 30, own.hits, 10, gone.ns[COST_PROBES], 30000, own.ns[COST_PROBES],
		     10000, gone.ns[COST_OWN] / LONG_NS, 30, own.ns[COST_OWN] / LONG_NS, 10);
	/* To complete each is its own, too. */
	assert_true(gone.ns[COST_OWN] % LONG_NS && own.ns[COST_OWN] % LONG_NS);
	assert_pairs(gone.breakpoints, 100, gone.waited_ns, 8, gone.n_waited, 1, own.n_waited, 0);
}

TEST_MAIN(make_directory, remove_directory)
