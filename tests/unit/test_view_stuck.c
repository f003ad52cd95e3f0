// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_snapshot.h"
#include "view/stuck_view.h"

TEST_CASE(a_snapshot_is_a_line)
{
	struct other other = {.pid = 70,
			      .parent = 1,
			      .kind = OTHER_BUILD_SCRIPT,
			      .name = (char *)"build-script-build",
			      .subject = (char *)"a",
			      .age_ns = 5,
			      .cpu_ns = 6,
			      .state = 'S',
			      .waits = "wait4"};
	struct snapshot snapshot = sample_snapshot;
	struct json_object *parsed;
	_free_ char *text = NULL;

	sample_threads[1].keys_problem = "no context";
	sample_threads[2].llvm = (struct stuck_llvm){.scope = WIRE_LLVM_FUNCTION,
						     .codegen = true,
						     .pass = (char *)"GVNPass",
						     .symbol = (char *)"_RNvCs1_3app4huge"};
	snapshot.others = &other;
	snapshot.n_others = 1;
	text = printed_text(stuck_json(out, &snapshot));
	assert_golden("view/stuck.json", text);
	sample_threads[2].llvm.scope = WIRE_LLVM_COMPONENT;
	assert_shows(printed_text(stuck_json(out, &snapshot)),
		     "\"app::huge\",\"symbol\":\"_RNvCs1_3app4huge\",\"scope\":\"scc\"");
	sample_threads[2].llvm = (struct stuck_llvm){};
	sample_threads[1].keys_problem = NULL;
	parsed = json_tokener_parse(text);
	assert_non_null(parsed);
	json_object_put(parsed);
}

/* ---- Stuck text ------------------------------------------------------------------------------ */

static char *styled(const struct snapshot *p, const struct stuck_style style)
{
	return printed_text(stuck_text(out, p, &style));
}

static char *text_of(const struct snapshot *p, bool full)
{
	return styled(p, (struct stuck_style){.full = full});
}

TEST_CASE(the_busy_come_first_with_what_they_are_in)
{
	assert_shows(text_of(&sample_snapshot, false),
		     "=syn (proc-macro): compiler 4711, started 65.0 s ago\n"
		     "  thread 4713 rustc: waiting for 400 ms, 3.00 s of CPU time\n"
		     "    at least  5.00 s  analysis\n"
		     "              2.00 s  typeck(syn::parse)\n"
		     "              1.00 s  <some query>\n"
		     "              500 ms  type_of (blocked: another thread executes it)\n"
		     "              in rustc_middle::wait?[2J\n"
		     "  thread 4714 opt a: running, 10.0 ms of CPU time\n"
		     "              its stack cannot be read: a debugger has it, or it takes root\n"
		     "              it went on while this was read\n"
		     "  thread 4712 ctrl-c: waiting in futex, 0 ns of CPU time, in "
		     "ctrlc::sem_wait_forever\n");
}

TEST_CASE(why_the_keys_are_unknown_is_said)
{
	_free_ char *text = NULL;

	sample_threads[1].keys_problem = "no context";
	text = text_of(&sample_snapshot, false);
	sample_threads[1].keys_problem = NULL;
	assert_contains(text, "              what its queries are about is unknown: no context\n");
}

/* Also of a thread that waits, and is in no query. */
TEST_CASE(of_llvm_the_pass_and_the_function_are_shown)
{
	static const struct {
		struct stuck_llvm llvm;
		const char *want;
	} cases[] = {
		{{.scope = WIRE_LLVM_FUNCTION,
		  .pass = (char *)"InstCombinePass",
		  .symbol = (char *)"_RINvCs1_3app11generic_bigKj7_EB2_"},
		 "              LLVM: InstCombine(app::generic_big)\n"},
		{{.scope = WIRE_LLVM_FUNCTION, .symbol = (char *)"_RNvCs1_3app4huge.llvm.1"},
		 "              LLVM: <some pass>(app::huge)\n"},
		{{.scope = WIRE_LLVM_MODULE, .pass = (char *)"IPSCCPPass"},
		 "              LLVM: IPSCCP\n"},
		{{.scope = WIRE_LLVM_FUNCTION,
		  .pass = (char *)"InstCombinePass",
		  .symbol = (char *)"_RNvNtNtCs1_3app14some_long_path14to_be_cut_here4huge"},
		 "              LLVM: InstCombine(..ath::to_be_cut_here::huge)\n"},
		{{.scope = WIRE_LLVM_COMPONENT,
		  .pass = (char *)"ModuleToPostOrderCGSCCPassAdaptor",
		  .symbol = (char *)"_RNvCs1_3app4huge"},
		 "(app::huge), first of a component\n"},
		{{.scope = WIRE_LLVM_COMPONENT,
		  .pass = (char *)"ModuleToPostOrderCGSCCPassAdaptor"},
		 "              LLVM: ModuleToPostOrderCGSCCPassAdaptor\n"},
		{{.scope = WIRE_LLVM_NONE}, NULL},
		{{.scope = WIRE_LLVM_UNKNOWN}, NULL},
	};
	struct snapshot_process process = sample_process;
	struct snapshot snapshot = sample_snapshot;

	snapshot.processes = &process;
	process.n_threads = 1;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct snapshot_thread thread = sample_threads[2];
		_free_ char *text = NULL;

		thread.task.state = cases[i].llvm.symbol ? 'S' : 'R';
		thread.llvm = cases[i].llvm;
		process.threads = &thread;
		text = styled(&snapshot, (struct stuck_style){.width = 60});
		assert_contains(text, cases[i].want ?: "opt a");
		assert_int_equal(strstr(text, "LLVM:") != NULL, cases[i].want != NULL);
	}
}

static void begun(FILE *out, const struct snapshot *p)
{
	stuck_begun(out, p);
}

TEST_CASE(a_line_says_what_a_compiler_that_ran_before_is_in)
{
	assert_shows(printed_text((begun(out, &sample_snapshot), 0)),
		     "=qprof-bpf: syn (proc-macro), compiler 4711, started 65.0 s ago, is in "
		     "analysis, typeck(syn::parse), <some query>, type_of\n");
}

TEST_CASE(in_full_every_function_is_there)
{
	assert_shows(text_of(&sample_snapshot, true),
		     "in libc.so.6\n              of rustc_middle::wait?[2J\n"
		     "              of try_execute_query\n",
		     "of std::thread::park\n");
}

/* A long path keeps its end, which is the function. */
TEST_CASE(a_name_too_long_for_a_line_is_cut_or_continued_below)
{
	assert_shows(styled(&sample_snapshot, (struct stuck_style){.width = 40}),
		     "              in ..wait?[2J\n",
		     "  thread 4712 ctrl-c: waiting in futex,\n"
		     "              0 ns of CPU time, in\n"
		     "              ..sem_wait_forever\n");
}

/* A path keeps its function, even if the line gets too long. */
TEST_CASE(a_narrow_terminal_has_room_for_functions)
{
	assert_shows(styled(&sample_snapshot, (struct stuck_style){.width = 1}),
		     "              in ..wait?[2J\n");
}

static struct other others[] = {
	{.pid = 70,
	 .parent = 1,
	 .name = (char *)"cargo",
	 .age_ns = 9000000000,
	 .state = 'S',
	 .waits = "poll"},
	{.pid = 71,
	 .parent = 70,
	 .kind = OTHER_BUILD_SCRIPT,
	 .name = (char *)"build-script-build",
	 .subject = (char *)"a\033",
	 .age_ns = 5000000000,
	 .state = 'S',
	 .waits = "wait4"},
	{.pid = 72,
	 .parent = 71,
	 .name = (char *)"cc1",
	 .age_ns = 1000000000,
	 .state = 'R',
	 .cpu_ns = 990000000},
	{.pid = 73,
	 .parent = 70,
	 .kind = OTHER_COMPILER,
	 .name = (char *)"rustc",
	 .subject = (char *)"b",
	 .age_ns = 20000000,
	 .state = 'R'},
	{.pid = 74,
	 .parent = 4711,
	 .kind = OTHER_LINKER,
	 .name = (char *)"cc",
	 .age_ns = 2000000000,
	 .state = 'S',
	 .waits = "wait4"},
};

TEST_CASE(where_no_compiler_works_others_do)
{
	const struct snapshot p = {.time_ns = SAMPLE_NOW, .others = others, .n_others = 4};

	assert_shows(
		text_of(&p, false),
		"=no compiler runs now\n"
		"cargo: process 70, started 9.00 s ago, waiting in poll\n"
		"  build script of a?: process 71, started 5.00 s ago, waiting in wait4\n"
		"    cc1: process 72, started 1.00 s ago, running, 990 ms of CPU time\n"
		"  b: compiler 73, not at its first query yet, started 20.0 ms ago, running\n");
}

TEST_CASE(of_a_compiler_that_cannot_be_read_the_reason_is_printed)
{
	struct other unreadable = others[3];
	const struct snapshot p = {.time_ns = SAMPLE_NOW, .others = &unreadable, .n_others = 1};

	unreadable.problem = "it was deleted; run with sudo";
	assert_shows(text_of(&p, false),
		     "=b: compiler 73, started 20.0 ms ago, running; its queries are "
		     "unknown: it was deleted; run with sudo\n");
}

/* The text omits cargo, as it only waits for compilers that are shown. */
TEST_CASE(a_compiler_has_what_it_started)
{
	struct snapshot p = sample_snapshot;
	struct other both[] = {others[0], others[4]};

	p.others = both;
	p.n_others = 2;
	assert_shows(text_of(&p, false),
		     "ctrlc::sem_wait_forever\n"
		     "  linker cc: process 74, started 2.00 s ago, waiting in wait4\n",
		     "!cargo");
}

/* The outermost queries show the request, the innermost ones the current work. */
TEST_CASE(of_a_deep_stack_the_middle_is_left_out)
{
	struct stuck_row rows[100] = {};
	struct snapshot_thread thread = {.task = {.tid = 1, .name = "a", .state = 'R'},
					 .rows = {.items = rows, .n = 100}};
	struct snapshot_process process = {.pid = 1, .threads = &thread, .n_threads = 1};
	struct snapshot p = {.processes = &process, .n = 1};
	char names[100][8];

	for (int i = 0; i < 100; i++) {
		sprintf(names[i], "q%d", i);
		rows[i].name = names[i];
	}
	assert_shows(text_of(&p, false), "unknown: compiler 1",
		     "  q2\n                      ... and 85 more\n    at least    0 ns  q88\n",
		     "  q99\n");
	assert_shows(text_of(&p, true), "  q50\n", "!more");
}

TEST_CASE(nothing_is_said_to_be_so)
{
	const struct snapshot p = {0};

	assert_shows(text_of(&p, false), "=no compiler runs now\n");
}

TEST_MAIN(NULL, NULL)
