// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "record/recorder.h"

#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/directory.h"
#include "../fixtures/file_limit.h"
#include "../fixtures/names.h"
#include "../fixtures/output.h"
#include "../fixtures/records.h"
#include "../fixtures/sample_plan.h"
#include "../fixtures/trace_dump.h"
#include "base/diag.h"
#include "cargo/rebuilt.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "qprof/trace_format.h"
#include "decode/caller_index.h"

#define LIB 4
#define PID 4711

static char path[sizeof(directory) + 8];
static struct plan *plan;
static uint64_t no_counters[WIRE_COUNTER_MAX];

static int make_directory(void **state)
{
	int err = directory_make(state);

	plan = sample_plan();
	snprintf(path, sizeof(path), "%s/a.qpt", directory);
	return err;
}

static int remove_directory(void **state)
{
	plan__free(plan);
	return directory_remove(state);
}

static int remove_file(void **state)
{
	return unlink(path) && errno != ENOENT;
}

static int give_plan(struct recorder *r)
{
	static const bool all[8] = {true, true, true, true, true, true, true, true};

	return recorder__take(
		r,
		&(struct record){.kind = RECORD_LIBRARY, .lib = LIB, .library = {plan, all, all}});
}

/* A recorder with a file and the sample plan as library LIB. */
static struct recorder *start_with(const struct recorder_options *opt)
{
	struct recorder *r = NULL;

	assert_int_equal(recorder__open(opt, &r), 0);
	assert_int_equal(recorder__create_file(r), 0);
	assert_int_equal(give_plan(r), 0);
	return r;
}

/* The same; the live view and the summary go to `live`. */
static struct recorder *start(FILE *live, enum live_mode mode, bool summary)
{
	return start_with(&(struct recorder_options){.output = path,
						     .live = live,
						     .mode = mode,
						     .summary = summary,
						     .report = cmd_print_report});
}

static void finish(struct recorder *r, struct output *o)
{
	output_begin(o);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	output_end(o);
}

/* The finished trace as text; freed by the caller. */
static char *finished_trace(struct recorder *r)
{
	_output_ struct output o;

	finish(r, &o);
	return dump_trace(path);
}

static int give(struct recorder *r, const void *record, size_t size)
{
	return take_bytes(recorder__take, r, record, size);
}

static void compile(struct recorder *r, uint32_t pid, char crate)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = pid, .time_ns = 1000, .comm = "rustc"};
	char args[] = "rustc\0--crate-name\0?";

	args[sizeof(args) - 2] = crate;
	e.args_len = sizeof(args);
	memcpy(e.args, args, sizeof(args));
	assert_int_equal(give(r, &e, sizeof(e)), 0);
}

static void execute(struct recorder *r, uint32_t pid)
{
	compile(r, pid, 'a');
}

static struct wire_span span(uint16_t query, uint16_t depth, uint64_t start, uint64_t end)
{
	return (struct wire_span){.type = WIRE_SPAN,
				  .lib = LIB,
				  .query = query,
				  .depth = depth,
				  .pid = PID,
				  .tid = PID,
				  .start_ns = start,
				  .end_ns = end,
				  .invocation = 77};
}

static int give_span(struct recorder *r, uint16_t query, uint16_t depth, uint64_t start,
		     uint64_t end)
{
	struct wire_span s = span(query, depth, start, end);

	return give(r, &s, sizeof(s));
}

static void end_process(struct recorder *r, uint32_t pid)
{
	struct wire_exit e = {.type = WIRE_EXIT, .pid = pid, .time_ns = 9000, .exit_code = 1 << 8};

	assert_int_equal(give(r, &e, sizeof(e)), 0);
}

static int lines_of(const char *text, const char *with)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, with)); at++)
		n++;
	return n;
}

TEST_CASE_WITH(records_become_a_trace_and_a_summary, NULL, remove_file)
{
	_free_ char *summary = NULL, *trace = NULL;
	size_t size;
	FILE *live = open_memstream(&summary, &size);
	_recorder_ struct recorder *r = start(live, LIVE_NONE, true);
	_output_ struct output o;

	execute(r, PID);
	assert_int_equal(give_span(r, 0, 1, 2000, 3000), 0);
	assert_int_equal(give_span(r, 1, 0, 1500, 4000), 0);
	end_process(r, PID);
	assert_int_equal(recorder__processes(r), 1);
	finish(r, &o);
	fclose(live);
	trace = dump_trace(path);
	assert_contains(trace, "pid=4711 parent=0 start=1000 end=9000 exit=256 "
			       "[rustc --crate-name a] [a] [-] [rustc version 1.95.0] [abcd01]");
	assert_contains(trace, "span 0/4711 depth=1 2000..3000 mir_built #77\n"
			       "span 0/4711 depth=0 1500..4000 typeck #77\n");
	assert_contains(trace, "whole\n");
	assert_contains(summary, "typeck");
	assert_contains(summary, "mir_built");
	assert_contains(o.text[1], "recorded 2 queries of 1 compiler, 0 lost; wrote ");
	assert_contains(o.text[1], path);
}

static void name_thread(struct recorder *r, uint32_t tid, const char *name)
{
	struct wire_thread t = {.type = WIRE_THREAD, .pid = PID, .tid = tid};

	strcpy(t.name, name);
	assert_int_equal(give(r, &t, sizeof(t)), 0);
}

/* The output of `report` for the file, which the summary must equal; freed by the caller. */
static char *reported(void)
{
	const struct cli_report_options opt = {.file = path};
	_output_ struct output o;
	char *text;

	output_begin(&o);
	assert_int_equal(cmd_report(&opt), EXIT_CODE_OK);
	output_end(&o);
	text = strdup(o.text[0]);
	return text;
}

/* Two crates; in the second, a thread is inside an interval when a signal kills the process. */
static void record_a_build(struct recorder *r)
{
	struct wire_span open = span(1, 0, 2500, 5000);
	struct wire_exit killed = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000, .exit_code = 9};

	compile(r, PID - 1, 'z');
	end_process(r, PID - 1);
	compile(r, PID, 'a');
	name_thread(r, PID, "rustc");
	assert_int_equal(give_span(r, 0, 1, 3000, 4000), 0);
	open.flags = WIRE_SPAN_OPEN;
	assert_int_equal(give(r, &open, sizeof(open)), 0);
	assert_int_equal(give(r, &killed, sizeof(killed)), 0);
}

TEST_CASE_WITH(several_crates_end_with_the_report_of_a_build, NULL, remove_file)
{
	_free_ char *shown = NULL, *report = NULL;
	size_t size;
	FILE *live = open_memstream(&shown, &size);
	_recorder_ struct recorder *r = start(live, LIVE_NONE, true);
	_output_ struct output o;

	record_a_build(r);
	finish(r, &o);
	fclose(live);
	report = reported();
	assert_contains(shown, "crates compiled: 2 (1 failed, 1 killed)");
	assert_contains(shown, "a 4711, killed by SIGKILL; thread 4711 rustc was in\n  typeck (");
	assert_string_equal(shown, report);
}

TEST_CASE_WITH(slow_intervals_are_reported_as_they_end, NULL, remove_file)
{
	struct recorder_options opt = {.output = path, .mode = LIVE_NONE, .slow_ns = 1000};
	_recorder_ struct recorder *r = start_with(&opt);
	_output_ struct output o;

	execute(r, PID);
	output_begin(&o);
	assert_int_equal(give_span(r, 0, 1, 2000, 2999), 0);
	assert_int_equal(give_span(r, 0, 1, 3000, 4000), 0);
	/* Half of its time is explained, then not. */
	assert_int_equal(give_span(r, 1, 0, 1500, 4000), 0);
	assert_int_equal(give_span(r, 0, 1, 5000, 6500), 0);
	assert_int_equal(give_span(r, 1, 0, 4500, 7000), 0);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	output_end(&o);
	assert_int_equal(lines_of(o.text[1], "slow: "), 3);
	assert_contains(o.text[1],
			"slow: mir_built 1.00 us (self 1.00 us) in a, process 4711\n"
			"qprof-bpf: slow: typeck 2.50 us (self 501 ns) in a, process 4711\n"
			"qprof-bpf: slow: mir_built 1.50 us (self 1.50 us) in a, process 4711\n");
	assert_string_equal(o.text[0], "");
}

/* One compiler as in a build: a name, threads, and a row for each query of the plan. */
static void compile_once(struct recorder *r, uint32_t i)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = PID, .time_ns = 1000 * i, .comm = "rustc"};
	struct wire_exit ended = {.type = WIRE_EXIT, .pid = PID + i, .time_ns = 1000 * i + 900};

	e.pid += i;
	e.args_len =
		1 + (uint32_t)snprintf(e.args, sizeof(e.args), "rustc%c--crate-name%cc%u", 0, 0, i);
	assert_int_equal(give(r, &e, sizeof(e)), 0);
	for (uint32_t k = 0; k < 8; k++) {
		struct wire_span s = span(k % plan->n_queries, 0, 1000 * i + 100 * k + 1,
					  1000 * i + 100 * k + 50);

		s.pid += i;
		s.tid += i + k % 2;
		assert_int_equal(give(r, &s, sizeof(s)), 0);
	}
	assert_int_equal(give(r, &ended, sizeof(ended)), 0);
}

/*
 * The trace needs names, threads and the list of processes, so these stay. Query rows that were
 * never freed would add 500 bytes per compiler, even with this small plan.
 */
#define KEPT_BYTES 700

static size_t memory_in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd; /* hblkhd: large arrays */
}

TEST_CASE_WITH(an_ended_compiler_frees_its_query_rows, NULL, remove_file)
{
	enum { FIRST = 2000, MORE = 10000 };
	_recorder_ struct recorder *r = start(NULL, LIVE_NONE, false);
	size_t before, after;
	_output_ struct output o;

	for (uint32_t i = 0; i < FIRST; i++)
		compile_once(r, i);
	before = memory_in_use();
	for (uint32_t i = FIRST; i < FIRST + MORE; i++)
		compile_once(r, i);
	after = memory_in_use();
	if (after - before > MORE * KEPT_BYTES)
		fail_msg("%zu bytes for each compiler that is over", (after - before) / MORE);
	finish(r, &o);
	assert_contains(o.text[1], "recorded 96000 queries of 12000 compilers, 0 lost");
}

/* The summary subtracts the costs; the trace keeps the measured times. */
TEST_CASE_WITH(costs_are_stored_and_taken_off, NULL, remove_file)
{
	static const struct probe_costs costs = {.emulated = {400000, 500000},
						 .stepped = {9000000, 9100000}};
	_free_ char *summary = NULL, *trace = NULL;
	size_t size;
	FILE *live = open_memstream(&summary, &size);
	_recorder_ struct recorder *r = start(live, LIVE_NONE, true);

	recorder__set_costs(r, &costs);
	execute(r, PID);
	assert_int_equal(give_span(r, 0, 1, 2000, 3000), 0);
	assert_int_equal(give_span(r, 1, 0, 1500, 4000), 0);
	end_process(r, PID);
	trace = finished_trace(r);
	fclose(live);
	assert_contains(trace, "costs 400000 9000000 500000 9100000\n");
	assert_contains(trace, "depth=0 1500..4000 typeck");
	assert_contains(summary, "probes took about 1.60 us of CPU");
	assert_contains(summary, "\ntypeck ");
	assert_contains(summary, " 1  700 ns ");
	assert_contains(summary, "\nmir_built ");
	assert_contains(summary, " 1  500 ns ");
}

/* The trace omits a cost that could not be measured; it does not store 0. */
TEST_CASE_WITH(costs_that_are_not_known_are_left_out, NULL, remove_file)
{
	static const struct probe_costs unknown;
	_recorder_ struct recorder *r = start(stdout, LIVE_NONE, false);
	_free_ char *trace = NULL;

	recorder__set_costs(r, &unknown);
	trace = finished_trace(r);
	assert_null(strstr(trace, "costs"));
}

TEST_CASE_WITH(a_record_that_makes_no_sense_is_lost_and_counted, NULL, remove_file)
{
	_recorder_ struct recorder *r = start(stdout, LIVE_NONE, false);
	struct wire_span strange = span(0, 0, 5, 6);
	_free_ char *trace = NULL;
	_output_ struct output o;

	execute(r, PID);
	assert_int_equal(give(r, "?", 1), 0);
	assert_int_equal(give_span(r, 2, 0, 5, 6), 0); /* the plan has two queries */
	assert_int_equal(give_span(r, 0, 0, 6, 5), 0);
	strange.lib = LIB + 1;
	assert_int_equal(give(r, &strange, sizeof(strange)), 0);
	assert_int_equal(give_span(r, 0, 0, 5, 6), 0);
	finish(r, &o);
	assert_contains(o.text[1], "recorded 1 queries of 1 compiler, 4 lost");
	trace = dump_trace(path);
	assert_contains(trace, "losses bad_record=4\n");
}

TEST_CASE_WITH(a_running_process_and_a_late_one_are_marked, NULL, remove_file)
{
	_recorder_ struct recorder *r = start(stdout, LIVE_NONE, false);
	static char text[] = "rustc\0--crate-name\0b";
	const struct arguments args = {text, sizeof(text), true};
	_free_ char *trace = NULL;

	execute(r, 1);
	execute(r, 2);
	assert_int_equal(recorder__take(r, &(struct record){.kind = RECORD_RUNNING,
							    .pid = 3,
							    .running = {30, 500, &args}}),
			 0);
	assert_int_equal(recorder__take(r, &(struct record){.kind = RECORD_LATE, .pid = 2}), 0);
	assert_int_equal(recorder__take(r, &(struct record){.kind = RECORD_LATE, .pid = 4}), 0);
	trace = finished_trace(r);
	assert_contains(trace, "pid=1 parent=0 start=1000 end=0 [");
	assert_contains(trace, "pid=2 parent=0 start=1000 end=0 late [");
	assert_contains(trace, "pid=3 parent=30 start=500 end=0 late [rustc --crate-name b ...]");
}

TEST_CASE_WITH(directories_and_thread_names_are_recorded, NULL, remove_file)
{
	_recorder_ struct recorder *r = start(stdout, LIVE_NONE, false);
	const struct record cwd = {.kind = RECORD_CWD, .pid = PID, .text = "/src"};
	struct wire_thread thread = {WIRE_THREAD, .pid = PID, .tid = PID + 1, .name = "opt a"};
	_free_ char *trace = NULL;

	execute(r, PID);
	assert_int_equal(recorder__take(r, &cwd), 0);
	assert_int_equal(give(r, &thread, sizeof(thread)), 0);
	trace = finished_trace(r);
	assert_contains(trace, "[a] [-] [-] [-] [/src]\n");
	assert_contains(trace, "thread 0/4712 [opt a]\n");
}

/* The file size limit applies to our output too, so the caller asserts later. */
static int record_on_a_full_disk(struct recorder *r)
{
	int err = 0;

	for (uint64_t i = 0; i < 3000; i++)
		err |= give_span(r, i % 2, 0, 2000 + 1000 * i,
				 2001 + 1000 * i + i * i * 7919 % 997);
	recorder__tick(r, no_counters);
	/* A library that is found during the failure still has its names in the summary. */
	free(plan->queries[0].name);
	plan->queries[0].name = strdup("late_bound");
	err |= give_plan(r);
	err |= give_span(r, 0, 0, 5000000, 6000000);
	err |= give_span(r, 1, 0, 6000000, 6000001);
	recorder__tick(r, no_counters);
	return err;
}

/* The failure is reported once; the live view and the summary go on. */
/* The linker prefers it to the real function. */
int rebuilt__each(struct rebuilt *r, int (*take)(void *ctx, const struct rebuilt_crate *crate),
		  void *ctx)
{
	const struct rebuilt_crate crates[] = {{"low", TRACE_REBUILT_FILE, "src/lib.rs"},
					       {"app (bin)", TRACE_REBUILT_DEPENDENCY, ""}};

	return take(ctx, &crates[0]) ?: take(ctx, &crates[1]);
}

TEST_CASE_WITH(what_was_built_again_is_in_the_trace_and_its_report, NULL, remove_file)
{
	_recorder_ struct recorder *r = NULL;
	_free_ char *trace = NULL, *text = NULL;
	FILE *live = tmpfile();
	_output_ struct output o;

	r = start(live, LIVE_NONE, true);
	compile(r, PID, 'a');
	compile(r, PID + 1, 'b');
	recorder__rebuilt(r, NULL);
	finish(r, &o);
	trace = dump_trace(path);
	assert_contains(trace,
			"\nrebuilt [low] file [src/lib.rs]\nrebuilt [app (bin)] dependency [-]\n");
	rewind(live);
	text = calloc(1, 4096);
	assert_true(fread(text, 1, 4095, live) > 0);
	assert_contains(text,
			"\nrebuilt   low: src/lib.rs changed\n          app (bin): a dependency");
	fclose(live);
}

TEST_CASE_WITH(a_full_disk_ends_the_file_only, NULL, remove_file)
{
	_free_ char *summary = NULL, *trace = NULL;
	size_t size;
	FILE *live = open_memstream(&summary, &size);
	_recorder_ struct recorder *r = start(live, LIVE_NONE, true);
	_output_ struct output o;
	int err, last_err;

	execute(r, PID);
	recorder__tick(r, no_counters);
	output_begin(&o);
	set_file_limit(1000); /* room for the error line, not for the spans */
	err = record_on_a_full_disk(r);
	last_err = recorder__finish(r, no_counters);
	set_file_limit(RLIM_INFINITY);
	output_end(&o);
	fclose(live);
	assert_int_equal(err, 0);
	assert_int_equal(last_err, -EFBIG);
	assert_int_equal(lines_of(o.text[1], "\n"), 1);
	assert_contains(o.text[1], "error: cannot write ");
	/* The limit of the test stands for a disk. */
	assert_contains(o.text[1], "raise the limit of the size of a file (ulimit -f)");
	assert_contains(summary, "typeck");
	assert_contains(summary, "late_bound");
	assert_contains(summary, "1,501"); /* typeck before and after the failure */
	trace = dump_trace(path);
	assert_contains(trace, "pid=4711");
	assert_contains(trace, "problem: ");
}

TEST_CASE_WITH(a_capture_that_could_not_start_leaves_no_file, NULL, remove_file)
{
	_recorder_ struct recorder *r = start(stdout, LIVE_NONE, false);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	recorder__discard_file(r);
	assert_int_equal(stat(path, &st), -1);
}

/* The output end of `qprof-bpf ... | head`. */
static FILE *pipe_without_reader(void)
{
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	close(pipes[0]);
	return fdopen(pipes[1], "w");
}

TEST_CASE_WITH(a_reader_that_goes_away_ends_its_view_only, NULL, remove_file)
{
	FILE *live = pipe_without_reader();
	_recorder_ struct recorder *r = start(live, LIVE_BLOCKS, true);
	_free_ char *trace = NULL;
	_output_ struct output o;

	signal(SIGPIPE, SIG_IGN);
	output_begin(&o);
	execute(r, PID);
	recorder__tick(r, no_counters);
	assert_int_equal(give_span(r, 1, 0, 1500, 4000), 0);
	recorder__tick(r, no_counters);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	output_end(&o);
	signal(SIGPIPE, SIG_DFL);
	fclose(live);
	assert_lacks(o.text[1], "error");
	trace = dump_trace(path);
	assert_contains(trace, "1500..4000 typeck");
	assert_contains(trace, "whole\n");
}

TEST_CASE_WITH(a_view_that_cannot_be_drawn_is_reported_once, NULL, remove_file)
{
	FILE *live = fopen("/dev/full", "w");
	_recorder_ struct recorder *r = start(live, LIVE_BLOCKS, true);
	_free_ char *trace = NULL;
	_output_ struct output o;

	output_begin(&o);
	execute(r, PID);
	for (int i = 0; i < 3; i++)
		recorder__tick(r, no_counters);
	assert_int_equal(recorder__finish(r, no_counters), -ENOSPC);
	output_end(&o);
	fclose(live);
	assert_int_equal(lines_of(o.text[1], "error: "), 1);
	assert_contains(o.text[1], "cannot show what is recorded: No space left on device");
	trace = dump_trace(path);
	assert_contains(trace, "whole\n");
}

/* As on a kernel that is out of memory: the compiler runs, and nothing of it is recorded. */
static void finish_with(enum wire_counter counter, uint64_t n, const char *events, bool expected,
			const char *line)
{
	struct recorder_options opt = {.output = path, .live = stdout, .mode = LIVE_NONE};
	struct wire_exit e = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000};
	uint64_t counters[WIRE_COUNTER_MAX] = {0};
	_recorder_ struct recorder *r = NULL;
	_filter_ struct filter *filter = NULL;
	_output_ struct output o;

	assert_int_equal(filter__new(&events, 1, &filter), 0);
	opt.filter = filter;
	opt.force = true;
	counters[counter] = n;
	assert_int_equal(recorder__open(&opt, &r), 0);
	assert_int_equal(recorder__create_file(r), 0);
	compile(r, PID, 'a');
	assert_int_equal(give(r, &e, sizeof(e)), 0);
	diag_set_level(DIAG_QUIET);
	output_begin(&o);
	assert_int_equal(recorder__finish(r, counters), 0);
	output_end(&o);
	diag_set_level(DIAG_NORMAL);
	assert_int_equal(recorder__lost_most(r), expected);
	assert_contains(o.text[1], line);
	assert_int_equal(lines_of(o.text[1], "\n"), expected);
}

TEST_CASE_WITH(most_that_is_lost_is_an_error_however_quiet, NULL, remove_file)
{
	finish_with(WIRE_LOST_RING_FULL, 458, "default", true,
		    "error: 458 of 458 intervals were lost; the main cause: ring buffer full; use "
		    "a larger --ring-size");
	finish_with(WIRE_LOST_NO_STORAGE, 458, "typeck", true, "458 of 458 probe hits were lost");
	finish_with(WIRE_COUNT_HITS, 0, "default,query-provider", true,
		    "error: no interval was recorded of 1 compilation: no probe fired; see");
	/* A crate may not execute this query at all. */
	finish_with(WIRE_COUNT_HITS, 0, "typeck", false, "");
}

/* The process may have executed its last query before the recording began. */
TEST_CASE_WITH(a_process_that_ran_already_needs_no_record, NULL, remove_file)
{
	FILE *live = fopen("/dev/null", "w");
	_recorder_ struct recorder *r = start(live, LIVE_NONE, false);
	char text[] = "rustc\0--crate-name\0a";
	const struct arguments args = {text, sizeof(text), false};
	const struct record running = {
		.kind = RECORD_RUNNING, .pid = PID, .running = {1, 1000, &args}};
	struct wire_exit e = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000};

	assert_int_equal(recorder__take(r, &running), 0);
	assert_int_equal(give(r, &e, sizeof(e)), 0);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	assert_false(recorder__lost_most(r));
	fclose(live);
}

/* ---- Names of items -------------------------------------------------------------------------- */

/* Of the plan's query that has a key. */
static int give_keyed(struct recorder *r, uint32_t invocation, uint32_t index)
{
	struct wire_span s = span(0, 0, 2000, 3000);

	s.invocation = invocation;
	s.key = wire_key(WIRE_KEY_LOCAL_CRATE, index);
	return give(r, &s, sizeof(s));
}

/* A root and "one", in the layout of names_layout(). */
static void give_names(struct recorder *r)
{
	struct wire_piece table = names_piece(PID, 0);
	struct wire_symbols texts = names_texts(PID);

	names_root(&table);
	names_row(&table, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "one");
	assert_int_equal(give(r, &table, offsetof(struct wire_piece, bytes) + table.size), 0);
	assert_int_equal(give(r, &texts, offsetof(struct wire_symbols, bytes) + texts.size), 0);
}

/* A recording of the sample plan with names, of a process that is running. */
static struct recorder *start_naming(bool keys)
{
	struct recorder *r;

	plan->layout = names_layout();
	r = start_with(&(struct recorder_options){
		.output = path, .live = stdout, .mode = LIVE_NONE, .keys = keys});
	plan->layout = (struct plan_layout){0};
	execute(r, PID);
	return r;
}

TEST_CASE_WITH(names_of_items_reach_the_trace, NULL, remove_file)
{
	_recorder_ struct recorder *r = start_naming(true);
	_free_ char *trace = NULL;

	assert_int_equal(give_keyed(r, 7, 1), 0);
	assert_int_equal(give_keyed(r, 8, 5), 0);
	assert_int_equal(give_keyed(r, WIRE_NO_INVOCATION, 0), 0);
	assert_int_equal(give_span(r, 1, 0, 3000, 4000), 0);
	give_names(r);
	end_process(r, PID);
	trace = finished_trace(r);
	assert_contains(trace, " #7 event=a::one\n");
	assert_contains(trace, " #8 event=\n");
	assert_contains(trace, " #100000003 event=a\n");
	assert_contains(trace, " #77 event=\n");
	assert_contains(trace, "whole\n");
}

/* As after Ctrl-C. */
TEST_CASE_WITH(names_of_a_running_compiler_reach_the_trace, NULL, remove_file)
{
	_recorder_ struct recorder *r = start_naming(true);
	_free_ char *trace = NULL;

	assert_int_equal(give_keyed(r, 7, 1), 0);
	give_names(r);
	trace = finished_trace(r);
	assert_contains(trace, " #7 event=a::one\n");
}

TEST_CASE_WITH(without_keys_there_are_no_names, NULL, remove_file)
{
	_recorder_ struct recorder *r = start_naming(false);
	_free_ char *trace = NULL;

	assert_int_equal(give_keyed(r, 7, 1), 0);
	give_names(r);
	end_process(r, PID);
	trace = finished_trace(r);
	assert_contains(trace, " #7\n");
	assert_lacks(trace, "event");
}

/* More ids than a trace may map. The recording goes on, and what was mapped before stays. */
TEST_CASE_WITH(names_without_room_do_not_end_the_recording, NULL, remove_file)
{
	enum { FILL_IT = QPT_MAPPED_MAX / EXECUTIONS_MAX };
	_recorder_ struct recorder *r = start_naming(true);
	_free_ char *trace = NULL;
	_output_ struct output o;

	assert_int_equal(give_keyed(r, 7, 1), 0);
	give_names(r);
	end_process(r, PID);
	for (uint32_t i = 0; i < FILL_IT; i++) {
		execute(r, PID);
		assert_int_equal(give_keyed(r, EXECUTIONS_MAX - 1, 1), 0);
		give_names(r);
		end_process(r, PID);
	}
	execute(r, PID);
	assert_int_equal(give_keyed(r, 9, 1), 0);
	give_names(r);
	end_process(r, PID);
	finish(r, &o);
	assert_lacks(o.text[1], "error");
	trace = dump_trace(path);
	assert_contains(trace, " #7 event=a::one\n");
	assert_contains(trace, " #9\n");
	assert_contains(trace, "whole\n");
}

TEST_MAIN(make_directory, remove_directory)
