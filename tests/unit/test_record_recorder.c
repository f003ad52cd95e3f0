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

/* The recording of a test: its recorder, and what it has written at its end. */
static struct recorder *r;
static FILE *live;
static char *shown; /* by the live view, and then the summary */
static char *trace; /* the finished one, as text */
static struct output said;

static int end_test(void **state)
{
	recorder__free(take_ptr(r));
	if (live)
		fclose(take_ptr(live));
	free(take_ptr(shown));
	free(take_ptr(trace));
	output_free(&said);
	return unlink(path) && errno != ENOENT;
}

static int give_plan(void)
{
	static const bool all[8] = {true, true, true, true, true, true, true, true};

	return recorder__take(
		r,
		&(struct record){.kind = RECORD_LIBRARY, .lib = LIB, .library = {plan, all, all}});
}

/* A recorder with a file and the sample plan as library LIB. */
static void start_with(const struct recorder_options *opt)
{
	assert_int_equal(recorder__open(opt, &r), 0);
	assert_int_equal(recorder__create_file(r), 0);
	assert_int_equal(give_plan(), 0);
}

/* The same; with a view, and then the summary, in `shown`. */
static void start_shown(enum live_mode mode)
{
	static size_t size;

	live = live ?: open_memstream(&shown, &size);
	start_with(&(struct recorder_options){.output = path,
					      .live = live,
					      .mode = mode,
					      .summary = true,
					      .report = cmd_print_report});
}

static void start(void)
{
	start_with(&(struct recorder_options){.output = path, .live = stdout, .mode = LIVE_NONE});
}

static void finish(void)
{
	assert_int_equal(CAPTURED(&said, recorder__finish(r, no_counters)), 0);
	if (live)
		fclose(take_ptr(live));
	trace = dump_trace(path);
}

static void take(const struct record *record)
{
	assert_int_equal(recorder__take(r, record), 0);
}

static int give(const void *record, size_t size)
{
	return take_bytes(recorder__take, r, record, size);
}

static void compile(uint32_t pid, char crate)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = pid, .time_ns = 1000, .comm = "rustc"};
	char args[] = "rustc\0--crate-name\0?";

	args[sizeof(args) - 2] = crate;
	e.args_len = sizeof(args);
	memcpy(e.args, args, sizeof(args));
	assert_int_equal(give(&e, sizeof(e)), 0);
}

static void execute(uint32_t pid)
{
	compile(pid, 'a');
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

static int give_span(uint16_t query, uint16_t depth, uint64_t start, uint64_t end)
{
	struct wire_span s = span(query, depth, start, end);

	return give(&s, sizeof(s));
}

static void add_span(uint16_t query, uint16_t depth, uint64_t start, uint64_t end)
{
	assert_int_equal(give_span(query, depth, start, end), 0);
}

static void end_process(uint32_t pid)
{
	struct wire_exit e = {.type = WIRE_EXIT, .pid = pid, .time_ns = 9000, .exit_code = 1 << 8};

	assert_int_equal(give(&e, sizeof(e)), 0);
}

static int lines_of(const char *text, const char *with)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, with)); at++)
		n++;
	return n;
}

TEST_CASE_WITH(records_become_a_trace_and_a_summary, NULL, end_test)
{
	start_shown(LIVE_NONE);
	execute(PID);
	add_span(0, 1, 2000, 3000);
	add_span(1, 0, 1500, 4000);
	end_process(PID);
	assert_int_equal(recorder__processes(r), 1);
	finish();
	assert_contains(trace, "pid=4711 parent=0 start=1000 end=9000 exit=256 "
			       "[rustc --crate-name a] [a] [-] [rustc version 1.95.0] [abcd01]");
	assert_contains(trace, "span 0/4711 depth=1 2000..3000 mir_built #77\n"
			       "span 0/4711 depth=0 1500..4000 typeck #77\n");
	assert_contains(trace, "whole\n");
	assert_contains(shown, "typeck");
	assert_contains(shown, "mir_built");
	assert_contains(said.text[1], "recorded 2 queries of 1 compiler, 0 lost; wrote ");
	assert_contains(said.text[1], path);
}

static void name_thread(uint32_t tid, const char *name)
{
	struct wire_thread t = {.type = WIRE_THREAD, .pid = PID, .tid = tid};

	strcpy(t.name, name);
	assert_int_equal(give(&t, sizeof(t)), 0);
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
static void record_a_build(void)
{
	struct wire_span open = span(1, 0, 2500, 5000);
	struct wire_exit killed = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000, .exit_code = 9};

	compile(PID - 1, 'z');
	end_process(PID - 1);
	compile(PID, 'a');
	name_thread(PID, "rustc");
	add_span(0, 1, 3000, 4000);
	open.flags = WIRE_SPAN_OPEN;
	assert_int_equal(give(&open, sizeof(open)), 0);
	assert_int_equal(give(&killed, sizeof(killed)), 0);
}

TEST_CASE_WITH(several_crates_end_with_the_report_of_a_build, NULL, end_test)
{
	_free_ char *report = NULL;

	start_shown(LIVE_NONE);
	record_a_build();
	finish();
	report = reported();
	assert_contains(shown, "crates compiled: 2 (1 failed, 1 killed)");
	assert_contains(shown, "a 4711, killed by SIGKILL; thread 4711 rustc was in\n  typeck (");
	assert_string_equal(shown, report);
}

TEST_CASE_WITH(slow_intervals_are_reported_as_they_end, NULL, end_test)
{
	start_with(&(struct recorder_options){.output = path, .mode = LIVE_NONE, .slow_ns = 1000});
	execute(PID);
	output_begin(&said);
	add_span(0, 1, 2000, 2999);
	add_span(0, 1, 3000, 4000);
	/* Half of its time is explained, then not. */
	add_span(1, 0, 1500, 4000);
	add_span(0, 1, 5000, 6500);
	add_span(1, 0, 4500, 7000);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	output_end(&said);
	assert_int_equal(lines_of(said.text[1], "slow: "), 3);
	assert_contains(said.text[1],
			"slow: mir_built 1.00 us (self 1.00 us) in a, process 4711\n"
			"qprof-bpf: slow: typeck 2.50 us (self 501 ns) in a, process 4711\n"
			"qprof-bpf: slow: mir_built 1.50 us (self 1.50 us) in a, process 4711\n");
	assert_string_equal(said.text[0], "");
}

/* One compiler as in a build: a name, threads, and a row for each query of the plan. */
static void compile_once(uint32_t i)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = PID, .time_ns = 1000 * i, .comm = "rustc"};
	struct wire_exit ended = {.type = WIRE_EXIT, .pid = PID + i, .time_ns = 1000 * i + 900};

	e.pid += i;
	e.args_len =
		1 + (uint32_t)snprintf(e.args, sizeof(e.args), "rustc%c--crate-name%cc%u", 0, 0, i);
	assert_int_equal(give(&e, sizeof(e)), 0);
	for (uint32_t k = 0; k < 8; k++) {
		struct wire_span s = span(k % plan->n_queries, 0, 1000 * i + 100 * k + 1,
					  1000 * i + 100 * k + 50);

		s.pid += i;
		s.tid += i + k % 2;
		assert_int_equal(give(&s, sizeof(s)), 0);
	}
	assert_int_equal(give(&ended, sizeof(ended)), 0);
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

TEST_CASE_WITH(an_ended_compiler_frees_its_query_rows, NULL, end_test)
{
	enum { FIRST = 2000, MORE = 10000 };
	size_t before, after;

	start();
	for (uint32_t i = 0; i < FIRST; i++)
		compile_once(i);
	before = memory_in_use();
	for (uint32_t i = FIRST; i < FIRST + MORE; i++)
		compile_once(i);
	after = memory_in_use();
	if (after - before > MORE * KEPT_BYTES)
		fail_msg("%zu bytes for each compiler that is over", (after - before) / MORE);
	assert_int_equal(CAPTURED(&said, recorder__finish(r, no_counters)), 0);
	assert_contains(said.text[1], "recorded 96000 queries of 12000 compilers, 0 lost");
}

/* The summary subtracts the costs; the trace keeps the measured times. */
TEST_CASE_WITH(costs_are_stored_and_taken_off, NULL, end_test)
{
	static const struct probe_costs costs = {.emulated = {400000, 500000},
						 .stepped = {9000000, 9100000}};

	start_shown(LIVE_NONE);
	recorder__set_costs(r, &costs);
	execute(PID);
	add_span(0, 1, 2000, 3000);
	add_span(1, 0, 1500, 4000);
	end_process(PID);
	finish();
	assert_contains(trace, "costs 400000 9000000 500000 9100000\n");
	assert_contains(trace, "depth=0 1500..4000 typeck");
	assert_contains(shown, "probes took about 1.60 us of CPU");
	assert_contains(shown, "\ntypeck ");
	assert_contains(shown, " 1  700 ns ");
	assert_contains(shown, "\nmir_built ");
	assert_contains(shown, " 1  500 ns ");
}

/* The trace omits a cost that could not be measured; it does not store 0. */
TEST_CASE_WITH(costs_that_are_not_known_are_left_out, NULL, end_test)
{
	static const struct probe_costs unknown;

	start();
	recorder__set_costs(r, &unknown);
	finish();
	assert_null(strstr(trace, "costs"));
}

TEST_CASE_WITH(a_record_that_makes_no_sense_is_lost_and_counted, NULL, end_test)
{
	struct wire_span strange = span(0, 0, 5, 6);

	start();
	execute(PID);
	assert_int_equal(give("?", 1), 0);
	add_span(2, 0, 5, 6); /* the plan has two queries */
	add_span(0, 0, 6, 5);
	strange.lib = LIB + 1;
	assert_int_equal(give(&strange, sizeof(strange)), 0);
	add_span(0, 0, 5, 6);
	finish();
	assert_contains(said.text[1], "recorded 1 queries of 1 compiler, 4 lost");
	assert_contains(trace, "losses bad_record=4\n");
}

TEST_CASE_WITH(a_running_process_and_a_late_one_are_marked, NULL, end_test)
{
	static char text[] = "rustc\0--crate-name\0b";
	const struct arguments args = {text, sizeof(text), true};

	start();
	execute(1);
	execute(2);
	take(&(struct record){.kind = RECORD_RUNNING, .pid = 3, .running = {30, 500, &args}});
	take(&(struct record){.kind = RECORD_LATE, .pid = 2});
	take(&(struct record){.kind = RECORD_LATE, .pid = 4});
	finish();
	assert_contains(trace, "pid=1 parent=0 start=1000 end=0 [");
	assert_contains(trace, "pid=2 parent=0 start=1000 end=0 late [");
	assert_contains(trace, "pid=3 parent=30 start=500 end=0 late [rustc --crate-name b ...]");
}

TEST_CASE_WITH(directories_and_thread_names_are_recorded, NULL, end_test)
{
	struct wire_thread thread = {WIRE_THREAD, .pid = PID, .tid = PID + 1, .name = "opt a"};

	start();
	execute(PID);
	take(&(struct record){.kind = RECORD_CWD, .pid = PID, .text = "/src"});
	assert_int_equal(give(&thread, sizeof(thread)), 0);
	finish();
	assert_contains(trace, "[a] [-] [-] [-] [/src]\n");
	assert_contains(trace, "thread 0/4712 [opt a]\n");
}

/* The file size limit applies to our output too, so the caller asserts later. */
static int record_on_a_full_disk(void)
{
	int err = 0;

	for (uint64_t i = 0; i < 3000; i++)
		err |= give_span(i % 2, 0, 2000 + 1000 * i, 2001 + 1000 * i + i * i * 7919 % 997);
	recorder__tick(r, no_counters);
	/* A library that is found during the failure still has its names in the summary. */
	free(plan->queries[0].name);
	plan->queries[0].name = strdup("late_bound");
	err |= give_plan();
	err |= give_span(0, 0, 5000000, 6000000);
	err |= give_span(1, 0, 6000000, 6000001);
	recorder__tick(r, no_counters);
	return err;
}

/* The linker prefers it to the real function. */
int rebuilt__each(struct rebuilt *r, int (*take)(void *ctx, const struct rebuilt_crate *crate),
		  void *ctx)
{
	const struct rebuilt_crate crates[] = {{"low", TRACE_REBUILT_FILE, "src/lib.rs"},
					       {"app (bin)", TRACE_REBUILT_DEPENDENCY, ""}};

	return take(ctx, &crates[0]) ?: take(ctx, &crates[1]);
}

TEST_CASE_WITH(what_was_built_again_is_in_the_trace_and_its_report, NULL, end_test)
{
	start_shown(LIVE_NONE);
	compile(PID, 'a');
	compile(PID + 1, 'b');
	recorder__rebuilt(r, NULL);
	finish();
	assert_contains(trace,
			"\nrebuilt [low] file [src/lib.rs]\nrebuilt [app (bin)] dependency [-]\n");
	assert_contains(shown,
			"\nrebuilt   low: src/lib.rs changed\n          app (bin): a dependency");
}

/* The failure is reported once; the live view and the summary go on. */
TEST_CASE_WITH(a_full_disk_ends_the_file_only, NULL, end_test)
{
	int err, last_err;

	start_shown(LIVE_NONE);
	execute(PID);
	recorder__tick(r, no_counters);
	output_begin(&said);
	set_file_limit(1000); /* room for the error line, not for the spans */
	err = record_on_a_full_disk();
	last_err = recorder__finish(r, no_counters);
	set_file_limit(RLIM_INFINITY);
	output_end(&said);
	fclose(take_ptr(live));
	assert_int_equal(err, 0);
	assert_int_equal(last_err, -EFBIG);
	assert_int_equal(lines_of(said.text[1], "\n"), 1);
	assert_contains(said.text[1], "error: cannot write ");
	/* The limit of the test stands for a disk. */
	assert_contains(said.text[1], "raise the limit of the size of a file (ulimit -f)");
	assert_contains(shown, "typeck");
	assert_contains(shown, "late_bound");
	assert_contains(shown, "1,501"); /* typeck before and after the failure */
	trace = dump_trace(path);
	assert_contains(trace, "pid=4711");
	assert_contains(trace, "problem: ");
}

TEST_CASE_WITH(a_capture_that_could_not_start_leaves_no_file, NULL, end_test)
{
	struct stat st;

	start();
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

TEST_CASE_WITH(a_reader_that_goes_away_ends_its_view_only, NULL, end_test)
{
	live = pipe_without_reader();
	start_shown(LIVE_BLOCKS);
	signal(SIGPIPE, SIG_IGN);
	output_begin(&said);
	execute(PID);
	recorder__tick(r, no_counters);
	add_span(1, 0, 1500, 4000);
	recorder__tick(r, no_counters);
	assert_int_equal(recorder__finish(r, no_counters), 0);
	output_end(&said);
	signal(SIGPIPE, SIG_DFL);
	assert_lacks(said.text[1], "error");
	trace = dump_trace(path);
	assert_contains(trace, "1500..4000 typeck");
	assert_contains(trace, "whole\n");
}

TEST_CASE_WITH(a_view_that_cannot_be_drawn_is_reported_once, NULL, end_test)
{
	live = fopen("/dev/full", "w");
	start_shown(LIVE_BLOCKS);
	output_begin(&said);
	execute(PID);
	for (int i = 0; i < 3; i++)
		recorder__tick(r, no_counters);
	assert_int_equal(recorder__finish(r, no_counters), -ENOSPC);
	output_end(&said);
	assert_int_equal(lines_of(said.text[1], "error: "), 1);
	assert_contains(said.text[1], "cannot show what is recorded: No space left on device");
	trace = dump_trace(path);
	assert_contains(trace, "whole\n");
}

/* As on a kernel that is out of memory: the compiler runs, and nothing of it is recorded. */
static void finish_with(enum wire_counter counter, uint64_t n, const char *events, bool expected,
			const char *line)
{
	struct wire_exit e = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000};
	uint64_t counters[WIRE_COUNTER_MAX] = {0};
	_filter_ struct filter *filter = NULL;

	assert_int_equal(filter__new(&events, 1, &filter), 0);
	counters[counter] = n;
	assert_int_equal(recorder__open(&(struct recorder_options){.output = path,
								   .live = stdout,
								   .mode = LIVE_NONE,
								   .filter = filter,
								   .force = true},
					&r),
			 0);
	assert_int_equal(recorder__create_file(r), 0);
	compile(PID, 'a');
	assert_int_equal(give(&e, sizeof(e)), 0);
	diag_set_level(DIAG_QUIET);
	assert_int_equal(CAPTURED(&said, recorder__finish(r, counters)), 0);
	diag_set_level(DIAG_NORMAL);
	assert_int_equal(recorder__lost_most(r), expected);
	assert_contains(said.text[1], line);
	assert_int_equal(lines_of(said.text[1], "\n"), expected);
	recorder__free(take_ptr(r));
	output_free(&said);
}

TEST_CASE_WITH(most_that_is_lost_is_an_error_however_quiet, NULL, end_test)
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
TEST_CASE_WITH(a_process_that_ran_already_needs_no_record, NULL, end_test)
{
	char text[] = "rustc\0--crate-name\0a";
	const struct arguments args = {text, sizeof(text), false};
	struct wire_exit e = {.type = WIRE_EXIT, .pid = PID, .time_ns = 9000};

	start();
	take(&(struct record){.kind = RECORD_RUNNING, .pid = PID, .running = {1, 1000, &args}});
	assert_int_equal(give(&e, sizeof(e)), 0);
	assert_int_equal(CAPTURED(&said, recorder__finish(r, no_counters)), 0);
	assert_false(recorder__lost_most(r));
}

/* ---- Names of items -------------------------------------------------------------------------- */

/* Of the plan's query that has a key. */
static int give_keyed(uint32_t invocation, uint32_t index)
{
	struct wire_span s = span(0, 0, 2000, 3000);

	s.invocation = invocation;
	s.key = wire_key(WIRE_KEY_LOCAL_CRATE, index);
	return give(&s, sizeof(s));
}

/* A root and "one", in the layout of names_layout(). */
static void give_names(void)
{
	struct wire_piece table = names_piece(PID, 0);
	struct wire_symbols texts = names_texts(PID);

	names_root(&table);
	names_row(&table, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "one");
	assert_int_equal(give(&table, offsetof(struct wire_piece, bytes) + table.size), 0);
	assert_int_equal(give(&texts, offsetof(struct wire_symbols, bytes) + texts.size), 0);
}

/* A recording of the sample plan with names, of a process that is running, and one named query. */
static void start_naming(bool keys)
{
	plan->layout = names_layout();
	start_with(&(struct recorder_options){
		.output = path, .live = stdout, .mode = LIVE_NONE, .keys = keys});
	plan->layout = (struct plan_layout){0};
	execute(PID);
	assert_int_equal(give_keyed(7, 1), 0);
}

TEST_CASE_WITH(names_of_items_reach_the_trace, NULL, end_test)
{
	start_naming(true);
	assert_int_equal(give_keyed(8, 5), 0);
	assert_int_equal(give_keyed(WIRE_NO_INVOCATION, 0), 0);
	add_span(1, 0, 3000, 4000);
	give_names();
	end_process(PID);
	finish();
	assert_contains(trace, " #7 event=a::one\n");
	assert_contains(trace, " #8 event=\n");
	assert_contains(trace, " #100000003 event=a\n");
	assert_contains(trace, " #77 event=\n");
	assert_contains(trace, "whole\n");
}

/* As after Ctrl-C. */
TEST_CASE_WITH(names_of_a_running_compiler_reach_the_trace, NULL, end_test)
{
	start_naming(true);
	give_names();
	finish();
	assert_contains(trace, " #7 event=a::one\n");
}

TEST_CASE_WITH(without_keys_there_are_no_names, NULL, end_test)
{
	start_naming(false);
	give_names();
	end_process(PID);
	finish();
	assert_contains(trace, " #7\n");
	assert_lacks(trace, "event");
}

/* More ids than a trace may map. The recording goes on, and what was mapped before stays. */
TEST_CASE_WITH(names_without_room_do_not_end_the_recording, NULL, end_test)
{
	enum { FILL_IT = QPT_MAPPED_MAX / EXECUTIONS_MAX };

	start_naming(true);
	give_names();
	end_process(PID);
	for (uint32_t i = 0; i <= FILL_IT; i++) {
		execute(PID);
		assert_int_equal(give_keyed(i < FILL_IT ? EXECUTIONS_MAX - 1 : 9, 1), 0);
		give_names();
		end_process(PID);
	}
	finish();
	assert_lacks(said.text[1], "error");
	assert_contains(trace, " #7 event=a::one\n");
	assert_contains(trace, " #9\n");
	assert_contains(trace, "whole\n");
}

TEST_MAIN(make_directory, remove_directory)
