// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Images as the decoder makes them of records. */
#include "decode/images.h"
#include <signal.h>
#include "test.h"
#include "../fixtures/sunk.h"

#define CASE(name) TEST_CASE_OF(name, setup, teardown, struct fixture *f)

CASE(a_compiler_lives_and_dies)
{
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_fork(f->t, 10, 11, 100), 0);
	assert_int_equal(f->out.n_processes, 0);
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_struct(*f, out.n_processes, 1, t->images.n_running, 1);
	assert_struct(*p, pid, 11, parent_pid, 10, start_ns, 200, end_ns, 0, exit_status,
		      TRACE_EXIT_UNKNOWN, command, "rustc --crate-name a", crate, "a", build_id,
		      NULL, attached_late, false);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_struct(*p, build_id, "abcd", rustc_version, "1.95.0");
	assert_int_equal(do_exit(f->t, 11, 500, 1 << 8), 0);
	assert_struct(*p, end_ns, 500, exit_status, 1 << 8);
	assert_struct(f->t->images, n_running, 0, n_processes, 1);
	assert_int_equal(f->out.updates[0], 3);
}

/* Kani's and others' link rustc's library, and get its options. */
CASE(a_compiler_of_another_name_has_its_crate)
{
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_exec(f->t, 11, 200, "a-driver\0--crate-type\0bin\0--crate-name\0a"), 0);
	assert_int_equal(f->out.n_processes, 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_struct(*p, crate, "a", crate_type, "bin");
	must(do_exec(f->t, 12, 200, "a-driver\0a.rs"), do_span(f->t, 12, 0, 300, 400));
	assert_null(p[1].crate);
}

CASE(linkers_and_shells_are_left_out)
{
	must(do_fork(f->t, 10, 11, 100), do_exec(f->t, 11, 200, "/bin/sh\0-c\0true"),
	     do_exec(f->t, 11, 300, "cc\0-o\0a.out"), do_exit(f->t, 11, 400, 0),
	     do_exit(f->t, 999, 400, 0));
	assert_int_equal(f->t->images.n_processes, 0);
}

/* A compiler under another name is recognised by its spans. */
CASE(a_span_makes_any_command_a_compiler)
{
	assert_int_equal(do_exec(f->t, 11, 200, "/opt/my-driver\0x.rs"), 0);
	assert_int_equal(f->t->images.n_processes, 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_int_equal(f->t->images.n_processes, 1);
	assert_struct(f->out.processes[0], command, "/opt/my-driver x.rs", attached_late, false,
		      start_ns, 200);
}

CASE(an_unknown_pid_was_attached_late)
{
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_struct(f->out.processes[0], attached_late, true, command, NULL);
	/* Before its first span, which is not one that began before. */
	assert_int_equal(f->out.processes[0].start_ns, 299);
	must(images__adopt(&f->t->images, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a")), false));
	assert_struct(f->out.processes[0], crate, "a", parent_pid, 10);
	assert_int_equal(f->t->images.n_processes, 1);
}

CASE(an_adopted_process_was_attached_late)
{
	must(images__adopt(&f->t->images, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a")), false));
	assert_struct(f->out.processes[0], attached_late, true, start_ns, 50);
	assert_int_equal(images__adopt(&f->t->images, 12, 10, 50, "cargo", 5, false), 0);
	assert_int_equal(f->t->images.n_processes, 1);
	/* The exec is recorded, so nothing after it is missing. */
	assert_int_equal(do_exec(f->t, 12, 200, RUSTC("b")), 0);
	assert_struct(f->out.processes[1], attached_late, false, parent_pid, 10);
	/* The kernel's record takes precedence over a later read of /proc. */
	assert_int_equal(images__adopt(&f->t->images, 12, 1, 300, "x", 1, false), 0);
	assert_string_equal(f->out.processes[1].crate, "b");
}

CASE(what_ran_already_begins_with_the_recording)
{
	const struct trace_process *p = f->out.processes;

	must(images__adopt(&f->t->images, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a")), false),
	     do_exec(f->t, 12, 80, RUSTC("b")), images__begin(&f->t->images, 100));
	assert_int_equal(p[0].start_ns, 100);
	assert_int_equal(p[1].start_ns, 80);
	must(do_span(f->t, 11, 1, 100, 400), do_span(f->t, 11, 1, 101, 400),
	     do_span(f->t, 12, 1, 80, 400));
	assert_true(trace_span__began_before(&f->out.spans[0], &p[0]));
	assert_false(trace_span__began_before(&f->out.spans[1], &p[0]));
	assert_false(trace_span__began_before(&f->out.spans[2], &p[1]));
}

/* rustup's rustc execs the compiler in the same process. */
CASE(an_exec_before_the_first_span_goes_on)
{
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_exec(f->t, 11, 250, "/toolchain/bin/rustc\0--crate-name=a"), 0);
	assert_struct(f->t->images, n_processes, 1, n_running, 1);
	assert_int_equal(f->out.processes[0].start_ns, 250);
	assert_string_equal(f->out.processes[0].command, "/toolchain/bin/rustc --crate-name=a");
}

CASE(an_exec_after_a_span_begins_another)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_span(f->t, 11, 1, 300, 400),
	     do_exec(f->t, 11, 500, RUSTC("b")));
	assert_struct(f->t->images, n_processes, 2, n_running, 1);
	assert_int_equal(f->out.processes[0].end_ns, 500);
	assert_int_equal(f->out.processes[0].exit_status, TRACE_EXIT_UNKNOWN);
	/* The first compiler's spans do not count in the second one's self times. */
	assert_int_equal(do_span(f->t, 11, 0, 510, 600), 0);
	assert_struct(f->out, spans[1].process, 1, self_ns[1], 90);
	assert_int_equal(do_exec(f->t, 11, 700, "/bin/true"), 0);
	assert_int_equal(f->t->images.n_running, 0);
}

static int do_peak(struct fixture *f, uint32_t pid, uint64_t time, bool exec, uint32_t kib)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = pid, .time_ns = time, .comm = "rustc"};
	struct wire_exit r = {.type = WIRE_EXIT, .pid = pid, .time_ns = time, .peak_kib = kib};

	e.peak_kib = kib;
	return exec ? decoder__record(f->t, &e, offsetof(struct wire_exec, args))
		    : decoder__record(f->t, &r, sizeof(r));
}

/* The peak of a process before an exec does not count for the program that it executes. */
CASE(peaks_are_of_the_image)
{
	const struct trace_process *p = f->out.processes;

	must(do_peak(f, 11, 200, true, 50), do_span(f->t, 11, 0, 300, 400),
	     do_peak(f, 11, 500, true, 70));
	assert_int_equal(p[0].peak_bytes, 70 << 10);
	assert_int_equal(do_peak(f, 11, 600, false, 90), 0);
	assert_int_equal(p[1].peak_bytes, 90 << 10);
	/* Not larger than its parent, whose memory it had after vfork(). */
	must(do_peak(f, 12, 700, true, 90), do_peak(f, 12, 800, false, 90));
	assert_struct(p[2], end_ns, 800, peak_bytes, 0);
	/* 4 TiB */
	must(do_peak(f, 13, 900, true, 0), do_peak(f, 13, 950, false, UINT32_MAX));
	assert_true(p[3].peak_bytes == (uint64_t)UINT32_MAX << 10);
}

/* The kernel's figures are of all programs that a process has executed. */
CASE(cpu_times_are_of_the_image)
{
	struct wire_exec e = {
		.type = WIRE_EXEC, .pid = 11, .time_ns = 200, .cpu_ns = 20, .comm = "rustc"};
	struct wire_exit r = {.type = WIRE_EXIT, .pid = 11, .time_ns = 600, .cpu_ns = 500};

	assert_int_equal(decoder__record(f->t, &e, offsetof(struct wire_exec, args)), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	e.time_ns = 500;
	e.cpu_ns = 320;
	assert_int_equal(decoder__record(f->t, &e, offsetof(struct wire_exec, args)), 0);
	assert_int_equal(f->out.processes[0].cpu_ns, 300);
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
	assert_int_equal(f->out.processes[1].cpu_ns, 180);
}

/* A process may be chosen for its memory, and end before the signal comes. */
CASE(a_kill_for_memory_is_a_sigkill)
{
	struct wire_exit r = {.type = WIRE_EXIT, .time_ns = 500, .kill = WIRE_KILL_MEMORY};

	for (r.pid = 11; r.pid < 13; r.pid++) {
		assert_int_equal(do_exec(f->t, r.pid, 200, RUSTC("a")), 0);
		r.exit_code = r.pid == 11 ? SIGKILL : SIGSEGV;
		assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
	}
	assert_int_equal(f->out.processes[0].kill, TRACE_KILL_MEMORY);
	assert_int_equal(f->out.processes[1].kill, TRACE_KILL_UNKNOWN);
}

CASE(a_pid_is_used_again)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_span(f->t, 11, 0, 300, 400),
	     do_exit(f->t, 11, 500, 0), do_fork(f->t, 10, 11, 600),
	     do_exec(f->t, 11, 700, RUSTC("b")), do_span(f->t, 11, 0, 800, 900));
	assert_struct(*f, t->images.n_processes, 2, out.spans[1].process, 1,
		      out.processes[0].end_ns, 500, out.processes[1].end_ns, 0);
}

/* The exit record was lost: the next use of the pid bounds the end. */
CASE(a_pid_is_used_again_without_an_exit)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_fork(f->t, 10, 11, 600));
	assert_int_equal(f->out.processes[0].end_ns, 600);
	assert_int_equal(f->out.processes[0].exit_status, TRACE_EXIT_UNKNOWN);
	assert_int_equal(f->t->images.n_running, 0);
	assert_int_equal(do_exec(f->t, 11, 700, RUSTC("b")), 0);
	assert_int_equal(f->t->images.n_running, 1);
}

CASE(late_spans_find_their_process)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_span(f->t, 11, 1, 310, 320),
	     do_exit(f->t, 11, 500, 0), do_exit(f->t, 11, 501, 7), do_span(f->t, 11, 0, 300, 499));
	assert_struct(*f, t->images.n_processes, 1, out.self_ns[1], 189,
		      out.processes[0].exit_status, 0);
	/* Begun after the exit: another process, whose fork and exec were not recorded. */
	assert_int_equal(do_span(f->t, 11, 0, 600, 700), 0);
	assert_int_equal(f->t->images.n_processes, 2);
	assert_true(f->out.processes[1].attached_late);
}

CASE(only_the_last_exits_are_remembered)
{
	for (uint32_t pid = 1; pid <= 200; pid++) {
		assert_int_equal(do_exec(f->t, pid, pid * 10, RUSTC("a")), 0);
		assert_int_equal(do_exit(f->t, pid, pid * 10 + 5, 0), 0);
	}
	assert_int_equal(do_span(f->t, 200, 0, 2001, 2002), 0);
	assert_int_equal(f->out.spans[0].process, 199);
	assert_int_equal(do_span(f->t, 1, 0, 11, 12), 0);
	assert_int_equal(f->out.spans[1].process, 200);
}

static void live_and_die(struct decoder *t, uint32_t pid, uint64_t time)
{
	must(do_exec(t, pid, time, RUSTC("a")), do_exit(t, pid, time + 5, 0));
}

/* The table forgets the first use of the pid, but must keep the second. */
CASE(a_pid_that_exited_twice_is_remembered_by_the_last)
{
	live_and_die(f->t, 1, 10);
	for (uint32_t pid = 2; pid <= 50; pid++)
		live_and_die(f->t, pid, pid * 10);
	live_and_die(f->t, 1, 1000);
	for (uint32_t pid = 51; pid <= 80; pid++)
		live_and_die(f->t, pid, 1000 + pid * 10);
	assert_int_equal(do_span(f->t, 1, 0, 1001, 1002), 0);
	assert_int_equal(f->out.spans[0].process, 50);
}

CASE(a_forked_compiler_runs_its_parents_command)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_fork(f->t, 11, 12, 300));
	assert_int_equal(f->t->images.n_processes, 1);
	assert_int_equal(do_span(f->t, 12, 0, 310, 320), 0);
	assert_int_equal(f->t->images.n_processes, 2);
	assert_struct(f->out.processes[1], crate, "a", parent_pid, 11, start_ns, 300);
}

CASE(a_command_without_arguments_is_known_by_its_name)
{
	assert_int_equal(do_exec_args(f->t, 11, 200, "", 0), 0);
	assert_int_equal(f->t->images.n_processes, 1);
	assert_string_equal(f->out.processes[0].command, "rustc ...");
}

CASE(probes_that_came_late_mark_what_runs)
{
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_exec(f->t, 11, 100, RUSTC("a")), 0);
	assert_false(p[0].attached_late);
	assert_int_equal(images__late(&f->t->images, 11), 0);
	assert_true(p[0].attached_late);
	assert_int_equal(f->out.updates[0], 2);
	assert_int_equal(images__late(&f->t->images, 11), 0);
	assert_int_equal(f->out.updates[0], 2);
	/* The next image starts with the probes in place. */
	must(do_span(f->t, 11, 0, 110, 120), do_exec(f->t, 11, 200, RUSTC("b")));
	assert_true(p[0].attached_late);
	assert_false(p[1].attached_late);
}

CASE(late_is_kept_until_a_process_enters_the_trace)
{
	const struct trace_process *p = f->out.processes;

	must(do_exec(f->t, 11, 100, "driver"), images__late(&f->t->images, 11),
	     images__late(&f->t->images, 12));
	assert_int_equal(f->out.n_processes, 0);
	assert_int_equal(do_span(f->t, 11, 0, 110, 120), 0);
	assert_true(p[0].attached_late);
	f->out.err = -EIO;
	assert_int_equal(do_exec(f->t, 13, 200, RUSTC("c")), -EIO);
	assert_int_equal(images__late(&f->t->images, 13), -EIO);
}

CASE(a_directory_is_kept_with_what_runs_in_it)
{
	const struct trace_process *p = f->out.processes;

	must(do_exec(f->t, 10, 90, RUSTC("z")), do_exec(f->t, 11, 100, "driver"),
	     images__cwd(&f->t->images, 11, "/a"), images__cwd(&f->t->images, 12, "/b"));
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(do_span(f->t, 11, 0, 110, 120), 0);
	assert_string_equal(p[1].cwd, "/a");
	assert_int_equal(images__cwd(&f->t->images, 11, "/a"), 0);
	assert_int_equal(f->out.updates[1], 1);
	assert_int_equal(images__cwd(&f->t->images, 11, "/c"), 0);
	assert_struct(p[1], cwd, "/c", no_llvm, NULL);
	assert_int_equal(images__no_llvm(&f->t->images, 11, "why"), 0);
	assert_string_equal(p[1].no_llvm, "why");
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("b")), 0);
	assert_struct(p[2], cwd, NULL, no_llvm, NULL);
}

/* Query 71 may be fed, and is seen to be. */
static void set_results(struct fixture *f)
{
	static char name[] = "typeck";
	struct plan_query queries[3] = {{.name = name}, {.name = name}, {.name = name}};
	const struct plan plan = {.queries = queries, .n_queries = N_OF(queries)};

	queries[1].key = WIRE_KEY_LOCAL;
	queries[1].table =
		(struct wire_query_table){.kind = WIRE_CACHE_VEC, .cache = 0x1000, .fed = 1};
	assert_int_equal(library__set_results(&f->t->libraries[2], &plan, NULL, true, false), 0);
}

static int keep_tally(void *ctx, const struct trace_tally *t)
{
	struct trace_tally *by_process = ctx;

	if (t->label == 71)
		by_process[t->process] = *t;
	return 0;
}

static void count_5(struct fixture *f, uint32_t pid, uint64_t lost_ns)
{
	struct wire_counts r = {.type = WIRE_COUNTS,
				.lib = 2,
				.moment = WIRE_COUNTS_FINISHED,
				.pid = pid,
				.n = 3,
				.of = 3,
				.lost_ns = lost_ns,
				.time_ns = 300,
				.items[1].results = 5};

	assert_int_equal(decoder__record(f->t, &r, offsetof(struct wire_counts, items[3])), 0);
}

/* A process with 5 results: how many are no executions for sure; -1: it is not known. */
static int fed_of_5(struct fixture *f, uint32_t pid, uint32_t process, uint64_t lost_ns)
{
	struct trace_tally tallies[8] = {0};
	const struct decoder_sink sink = {.ctx = tallies, .tally = keep_tally};

	count_5(f, pid, lost_ns);
	assert_int_equal(images__show_results(&f->t->images, &sink), 0);
	return tallies[process].sum ? -1 : 5 - (int)tallies[process].events;
}

static void feed(struct fixture *f, uint32_t pid)
{
	const struct wire_fed r = {.type = WIRE_FED, .lib = 2, .pid = pid, .cache = 1};

	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
}

static void end_names(struct fixture *f, uint8_t moment)
{
	const struct wire_names_end r = {
		.type = WIRE_NAMES_END, .lib = 2, .moment = moment, .pid = 11, .time_ns = 310};

	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
}

/* Whether or not its drop is seen, each context counts once. */
CASE(a_finished_context_counts_once)
{
	struct trace_tally tallies[8] = {0};
	const struct decoder_sink sink = {.ctx = tallies, .tally = keep_tally};

	set_results(f);
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	for (uint32_t i = 1; i <= 4; i++) {
		count_5(f, 11, 0);
		end_names(f, WIRE_COUNTS_FINISHED);
		if (i % 2)
			end_names(f, WIRE_COUNTS_DROPPED);
		assert_int_equal(images__show_results(&f->t->images, &sink), 0);
		assert_int_equal(tallies[0].events, 5 * i);
	}
}

CASE(what_was_fed_is_of_an_image)
{
	set_results(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_exec(f->t, 12, 200, RUSTC("b")));
	feed(f, 11);
	feed(f, 11);
	feed(f, 12);
	assert_int_equal(fed_of_5(f, 11, 0, 0), 2);
	/* A record was lost, which may have been of one that ran then; not of one that began later.
	 */
	assert_int_equal(fed_of_5(f, 12, 1, 210), -1);
	assert_int_equal(do_exec(f->t, 13, 220, RUSTC("c")), 0);
	feed(f, 13);
	assert_int_equal(fed_of_5(f, 13, 2, 210), 1);
	/* A child has results that its parent was fed. */
	assert_int_equal(do_fork(f->t, 13, 14, 300), 0);
	assert_int_equal(fed_of_5(f, 14, 3, 210), -1);
	must(images__adopt(&f->t->images, 15, 10, 50, RUSTC("d"), sizeof(RUSTC("d")), false));
	assert_int_equal(fed_of_5(f, 15, 4, 0), -1);
}

/* As when a file was written to, and a compiler uses it again. */
CASE(results_outlive_their_library)
{
	static const uint32_t labels[3] = {70, 71, 72};
	const struct sunk *out = &f->out;

	set_results(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_exec(f->t, 12, 200, RUSTC("b")));
	count_5(f, 11, 0);
	count_5(f, 12, 0);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_int_equal(out->n_tallies, 0);
	assert_int_equal(decoder__set_library(f->t, 2, labels, 3, NULL, NULL), 0);
	assert_int_equal(out->n_tallies, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_struct(out->tallies[i], process, i, label, 71, events, 5);
	set_results(f);
	assert_int_equal(decoder__settle(f->t), 0);
	assert_int_equal(out->n_tallies, 2);
}

/* Symbols as they are given: the symbol's string, and the item's. */
struct given {
	struct trace_symbol last;
	uint32_t n;
};

static int give_text(void *ctx, const char *text, uint32_t *id)
{
	*id = 50;
	return 0;
}

static int give_path(void *ctx, const struct trace_piece *pieces, uint32_t n, uint32_t *id)
{
	*id = 60;
	return 0;
}

static int give_nothing(void *ctx, const struct trace_mapping *m)
{
	return 0;
}

static int give_symbol(void *ctx, const struct trace_symbol *s)
{
	struct given *given = ctx;

	given->last = *s;
	given->n++;
	return 0;
}

/* Definition 1 is "a::one", and the instance `symbol` is of it. */
static void copy_names(struct images *all, const struct library *lib, const char *symbol)
{
	const struct wire_instance instance = {wire_key(WIRE_KEY_LOCAL_CRATE, 1),
					       symbols__hash(symbol)};
	struct image *image = images__find(all, 11);
	struct wire_piece r = names_piece(11, 0);
	struct wire_symbols texts = names_texts(11);

	names_root(&r);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "one");
	assert_int_equal(definitions__add(&image->definitions, &r), 0);
	assert_int_equal(definitions__add_symbols(&image->definitions, &texts), 0);
	r = (struct wire_piece){.pid = 11, .size = sizeof(instance)};
	memcpy(r.bytes, &instance, sizeof(instance));
	assert_int_equal(images__on_instances(all, &r, lib), 0);
}

/* By rustdoc, whose drop is not seen: another context has other definitions. */
TEST_CASE(symbols_are_of_one_context)
{
	struct given given = {0};
	const struct decoder_sink sink = {.ctx = &given,
					  .text = give_text,
					  .compose = give_path,
					  .map = give_nothing,
					  .symbol = give_symbol};
	uint8_t keys[1] = {WIRE_KEY_DEF}, fed[1] = {PLAN_FED_NOT};
	uint32_t labels[1] = {70}, caches[1] = {8};
	const struct library lib = {.labels = labels,
				    .n_labels = 1,
				    .keys = keys,
				    .fed = fed,
				    .caches = caches,
				    .layout = names_layout()};
	const struct wire_counts r = {
		.moment = WIRE_COUNTS_FINISHED, .pid = 11, .n = 1, .of = 1, .time_ns = 300};
	struct images all;

	images__init(&all, &sink, NULL);
	assert_int_equal(images__adopt(&all, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a")), false), 0);
	assert_int_equal(images__on_counts(&all, &r, &lib), 0);
	copy_names(&all, &lib, "f");
	images__find(&all, 11)->finished = true;
	assert_int_equal(symbols__want(&images__find(&all, 11)->symbols, "f", 7), 0);
	assert_int_equal(given.n, 0);
	assert_int_equal(images__on_counts(&all, &r, &lib), 0);
	assert_struct(given, n, 1, last.symbol, 7, last.item, 60);
	/* The next context has no such instance. */
	copy_names(&all, &lib, "g");
	images__find(&all, 11)->finished = true;
	assert_int_equal(symbols__want(&images__find(&all, 11)->symbols, "f", 7), 0);
	assert_int_equal(images__on_counts(&all, &r, &lib), 0);
	assert_int_equal(given.n, 1);
	images__destroy(&all);
}

TEST_MAIN(NULL, NULL)
