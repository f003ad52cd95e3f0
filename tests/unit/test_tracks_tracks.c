// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/tracks.h"

#include <signal.h>

#include "test.h"
#include "../fixtures/sunk.h"

static int do_fork(struct tracks *t, uint32_t parent, uint32_t child, uint64_t time)
{
	struct wire_fork r = {
		.type = WIRE_FORK, .parent_pid = parent, .child_pid = child, .time_ns = time};

	return tracks__record(t, &r, sizeof(r));
}

static int do_interval(struct tracks *t, uint8_t kind, uint16_t query, uint32_t label)
{
	struct wire_span r = span(11, 0, 300, 400);

	r.kind = kind;
	r.query = query;
	r.label = label;
	return tracks__record(t, &r, sizeof(r));
}

static int do_label(struct tracks *t, uint32_t label, const char *text)
{
	struct wire_label r = {
		.type = WIRE_LABEL, .label = label, .key = {.len = (uint32_t)strlen(text)}};

	strncpy(r.key.text, text, sizeof(r.key.text));
	return tracks__record(t, &r, sizeof(r));
}

static void assert_last(const struct fixture *f, unsigned int kind, uint32_t label)
{
	const struct trace_span *s = &f->out.spans[f->out.n_spans - 1];

	assert_int_equal(s->kind, kind);
	assert_int_equal(s->label, label);
	assert_int_equal(s->caller, TRACE_NO_LOCATION);
}

static void an_interval_has_the_label_of_its_guard_or_query(void **state)
{
	static const uint32_t guards[] = {90, TRACKS_NO_LABEL};
	struct fixture *f = *state;

	assert_int_equal(tracks__set_guards(f->t, 2, guards, 2), 0);
	assert_int_equal(tracks__guard_label(f->t, 2, 0), 90);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 0, 0), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 90);
	assert_int_equal(do_interval(f->t, WIRE_KIND_BLOCKED, 2, 0), 0);
	assert_last(f, TRACE_KIND_BLOCKED, 72);
	assert_int_equal(do_interval(f->t, WIRE_KIND_LOAD, 0, 0), 0);
	assert_last(f, TRACE_KIND_LOAD, 70);
	assert_int_equal(do_interval(f->t, WIRE_KIND_HASHING, 1, 0), 0);
	assert_last(f, TRACE_KIND_HASHING, 71);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 2, 0), -EBADMSG);
	assert_int_equal(do_interval(f->t, WIRE_KIND_LOAD, 3, 0), -EBADMSG);
	assert_int_equal(do_interval(f->t, WIRE_KIND_MAX, 0, 0), -EBADMSG);
	assert_int_equal(f->out.n_spans, 4);
	assert_int_equal(f->out.n_labels, 0);
}

static void a_dynamic_label_comes_before_its_intervals(void **state)
{
	struct fixture *f = *state;
	char longest[90];

	assert_int_equal(tracks__dynamic_label(f->t, 0), TRACKS_NO_LABEL);
	assert_int_equal(tracks__dynamic_label(f->t, 2), TRACKS_NO_LABEL);
	assert_int_equal(do_label(f->t, 2, "dynamic"), 0);
	assert_int_equal(tracks__dynamic_label(f->t, 2), 80);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 2), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 80);
	assert_string_equal(f->out.labels[0], "dynamic");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(do_label(f->t, 1, longest), 0);
	strcpy(longest + WIRE_LABEL_MAX, "...");
	assert_string_equal(f->out.labels[1], longest);
	assert_int_equal(do_label(f->t, 0, "none"), -EBADMSG);
	assert_int_equal(do_label(f->t, UINT32_MAX, "none"), -EBADMSG);
}

static void an_interval_without_a_label_is_marked_unknown(void **state)
{
	static const uint32_t guards[] = {TRACKS_NO_LABEL};
	struct fixture *f = *state;

	assert_int_equal(tracks__set_guards(f->t, 2, guards, 1), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, WIRE_LABEL_LOST), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 80);
	assert_string_equal(f->out.labels[0], TRACKS_UNKNOWN);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 7), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 0, 0), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_HASHING, WIRE_NO_QUERY, 0), 0);
	assert_last(f, TRACE_KIND_HASHING, 80);
	assert_int_equal(do_interval(f->t, WIRE_KIND_QUERY, WIRE_NO_QUERY, 0), -EBADMSG);
	assert_int_equal(f->out.n_labels, 1);
}

static void unwanted_intervals_are_left_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_label(f->t, 1, "unwanted"), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 1), 0);
	assert_int_equal(f->out.n_spans, 0);
	assert_int_equal(f->out.n_processes, 0);
}

static int do_hit(struct tracks *t, uint32_t pid, uint32_t invocation)
{
	const struct wire_hit r = {
		.type = WIRE_HIT,
		.lib = 2,
		.depth = 1,
		.pid = pid,
		.tid = pid,
		.invocation = invocation,
		.time_ns = 500,
	};

	return tracks__record(t, &r, sizeof(r));
}

static void a_hit_is_of_the_query_that_was_executed(void **state)
{
	struct fixture *f = *state;
	const struct trace_span *s = &f->out.spans[1];

	tracks__expect_hits(f->t);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_int_equal(do_hit(f->t, 11, 5), 0);
	assert_last(f, TRACE_KIND_HIT, 71);
	assert_int_equal(s->invocation, 5);
	assert_int_equal(s->start_ns, 500);
	assert_int_equal(s->end_ns, 500);
	assert_int_equal(s->depth, 1);
	assert_int_equal(tracks__unknown_hits(f->t), 0);
	/* An id without an execution; an id of another process. */
	assert_int_equal(do_hit(f->t, 11, 6), 0);
	assert_last(f, TRACE_KIND_HIT, 80);
	assert_string_equal(f->out.labels[0], TRACKS_UNKNOWN);
	assert_int_equal(do_hit(f->t, 12, 5), 0);
	assert_last(f, TRACE_KIND_HIT, 80);
	assert_int_equal(tracks__unknown_hits(f->t), 2);
}

static int do_off_cpu(struct tracks *t, uint8_t reason, uint32_t flags, uint64_t end)
{
	const struct wire_off_cpu r = {
		.type = WIRE_OFF_CPU,
		.reason = reason,
		.depth = 1,
		.pid = 11,
		.tid = 12,
		.flags = flags,
		.start_ns = 500,
		.end_ns = end,
	};

	return tracks__record(t, &r, sizeof(r));
}

static void the_cause_of_off_cpu_time_is_reported(void **state)
{
	struct fixture *f = *state;
	const struct trace_span *s = &f->out.spans[0];

	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, 0, 600), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 80);
	assert_string_equal(f->out.labels[0], TRACE_OFF_WAITING);
	assert_int_equal(s->tid, 12);
	assert_int_equal(s->depth, 1);
	assert_int_equal(s->start_ns, 500);
	assert_int_equal(s->end_ns, 600);
	assert_int_equal(s->invocation, TRACE_NO_INVOCATION);
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_PREEMPTED, WIRE_SPAN_OPEN, 600), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 81);
	assert_string_equal(f->out.labels[1], TRACE_OFF_PREEMPTED);
	assert_int_equal(f->out.spans[1].flags, TRACE_SPAN_OPEN);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, 0, 700), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 80);
	assert_int_equal(do_off_cpu(f->t, 0, 0, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_MAX, 0, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, WIRE_SPAN_UNWOUND, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, 0, 499), -EBADMSG);
}

static void a_compiler_lives_and_dies(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_fork(f->t, 10, 11, 100), 0);
	assert_int_equal(f->out.n_processes, 0);
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(tracks__running(f->t), 1);
	assert_int_equal(p->pid, 11);
	assert_int_equal(p->parent_pid, 10);
	assert_int_equal(p->start_ns, 200);
	assert_int_equal(p->end_ns, 0);
	assert_int_equal(p->exit_status, TRACE_EXIT_UNKNOWN);
	assert_string_equal(p->command, "rustc --crate-name a");
	assert_string_equal(p->crate, "a");
	assert_null(p->build_id);
	assert_false(p->attached_late);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_string_equal(p->build_id, "abcd");
	assert_string_equal(p->rustc_version, "1.95.0");
	assert_int_equal(do_exit(f->t, 11, 500, 1 << 8), 0);
	assert_int_equal(p->end_ns, 500);
	assert_int_equal(p->exit_status, 1 << 8);
	assert_int_equal(tracks__running(f->t), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_int_equal(f->out.updates[0], 3);
}

static void spans_are_converted(void **state)
{
	struct fixture *f = *state;
	struct wire_span r = span(11, 3, 300, 400);
	const struct trace_span *s = f->out.spans;

	r.tid = 12;
	r.query = 2;
	r.flags = WIRE_SPAN_LEFT | WIRE_SPAN_UNWOUND;
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
	assert_int_equal(s->start_ns, 300);
	assert_int_equal(s->end_ns, 400);
	assert_int_equal(f->out.self_ns[0], 100);
	assert_int_equal(s->process, 0);
	assert_int_equal(s->tid, 12);
	assert_int_equal(s->label, 72);
	assert_int_equal(s->invocation, 5);
	assert_int_equal(s->depth, 3);
	assert_int_equal(s->flags, TRACE_SPAN_LEFT | TRACE_SPAN_UNWOUND);
	r.flags = WIRE_SPAN_OPEN;
	r.invocation = WIRE_NO_INVOCATION;
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
	assert_true(s[1].invocation == TRACE_NO_INVOCATION);
	assert_int_equal(s[1].flags, TRACE_SPAN_OPEN);
}

static void linkers_and_shells_are_left_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_fork(f->t, 10, 11, 100), 0);
	assert_int_equal(do_exec(f->t, 11, 200, "/bin/sh\0-c\0true"), 0);
	assert_int_equal(do_exec(f->t, 11, 300, "cc\0-o\0a.out"), 0);
	assert_int_equal(do_exit(f->t, 11, 400, 0), 0);
	assert_int_equal(do_exit(f->t, 999, 400, 0), 0);
	assert_int_equal(tracks__processes(f->t), 0);
}

/* A compiler under another name is recognised by its spans. */
static void a_span_makes_any_command_a_compiler(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, "/opt/my-driver\0x.rs"), 0);
	assert_int_equal(tracks__processes(f->t), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_string_equal(f->out.processes[0].command, "/opt/my-driver x.rs");
	assert_false(f->out.processes[0].attached_late);
	assert_int_equal(f->out.processes[0].start_ns, 200);
}

static void an_unknown_pid_was_attached_late(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_true(f->out.processes[0].attached_late);
	assert_null(f->out.processes[0].command);
	/* Before its first span, which is not one that began before. */
	assert_int_equal(f->out.processes[0].start_ns, 299);
	assert_int_equal(tracks__adopt(f->t, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a"))), 0);
	assert_string_equal(f->out.processes[0].crate, "a");
	assert_int_equal(f->out.processes[0].parent_pid, 10);
	assert_int_equal(tracks__processes(f->t), 1);
}

static void a_thread_has_a_name(void **state)
{
	struct fixture *f = *state;
	struct wire_thread r = {WIRE_THREAD, .pid = 10, .tid = 11, .time_ns = 5, .name = "opt a"};

	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(f->out.processes[0].pid, 10);
	assert_int_equal(f->out.n_threads, 1);
	assert_int_equal(f->out.threads[0].tid, 11);
	assert_string_equal(f->out.thread_names[0], "opt a");
	memset(r.name, 'x', sizeof(r.name));
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), -EBADMSG);
	assert_int_equal(tracks__record(f->t, &r, sizeof(r) - 1), -EBADMSG);
	assert_int_equal(f->out.n_threads, 1);
}

static void an_adopted_process_was_attached_late(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(tracks__adopt(f->t, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a"))), 0);
	assert_true(f->out.processes[0].attached_late);
	assert_int_equal(f->out.processes[0].start_ns, 50);
	assert_int_equal(tracks__adopt(f->t, 12, 10, 50, "cargo", 5), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	/* The exec is recorded, so nothing after it is missing. */
	assert_int_equal(do_exec(f->t, 12, 200, RUSTC("b")), 0);
	assert_false(f->out.processes[1].attached_late);
	assert_int_equal(f->out.processes[1].parent_pid, 10);
	/* The kernel's record takes precedence over a later read of /proc. */
	assert_int_equal(tracks__adopt(f->t, 12, 1, 300, "x", 1), 0);
	assert_string_equal(f->out.processes[1].crate, "b");
}

static void what_ran_already_begins_with_the_recording(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(tracks__adopt(f->t, 11, 10, 50, RUSTC("a"), sizeof(RUSTC("a"))), 0);
	assert_int_equal(do_exec(f->t, 12, 80, RUSTC("b")), 0);
	assert_int_equal(tracks__begin(f->t, 100), 0);
	assert_int_equal(p[0].start_ns, 100);
	assert_int_equal(p[1].start_ns, 80);
	assert_int_equal(do_span(f->t, 11, 1, 100, 400), 0);
	assert_int_equal(do_span(f->t, 11, 1, 101, 400), 0);
	assert_int_equal(do_span(f->t, 12, 1, 80, 400), 0);
	assert_true(trace_span__began_before(&f->out.spans[0], &p[0]));
	assert_false(trace_span__began_before(&f->out.spans[1], &p[0]));
	assert_false(trace_span__began_before(&f->out.spans[2], &p[1]));
}

/* rustup's rustc execs the compiler in the same process. */
static void an_exec_before_the_first_span_goes_on(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_exec(f->t, 11, 250, "/toolchain/bin/rustc\0--crate-name=a"), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_int_equal(tracks__running(f->t), 1);
	assert_int_equal(f->out.processes[0].start_ns, 250);
	assert_string_equal(f->out.processes[0].command, "/toolchain/bin/rustc --crate-name=a");
}

static void an_exec_after_a_span_begins_another(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_span(f->t, 11, 1, 300, 400), 0);
	assert_int_equal(do_exec(f->t, 11, 500, RUSTC("b")), 0);
	assert_int_equal(tracks__processes(f->t), 2);
	assert_int_equal(tracks__running(f->t), 1);
	assert_int_equal(f->out.processes[0].end_ns, 500);
	assert_int_equal(f->out.processes[0].exit_status, TRACE_EXIT_UNKNOWN);
	/* The first compiler's spans do not count in the second one's self times. */
	assert_int_equal(do_span(f->t, 11, 0, 510, 600), 0);
	assert_int_equal(f->out.spans[1].process, 1);
	assert_int_equal(f->out.self_ns[1], 90);
	assert_int_equal(do_exec(f->t, 11, 700, "/bin/true"), 0);
	assert_int_equal(tracks__running(f->t), 0);
}

static int do_peak(struct fixture *f, uint32_t pid, uint64_t time, bool exec, uint32_t kib)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = pid, .time_ns = time, .comm = "rustc"};
	struct wire_exit r = {.type = WIRE_EXIT, .pid = pid, .time_ns = time, .peak_kib = kib};

	e.peak_kib = kib;
	return exec ? tracks__record(f->t, &e, offsetof(struct wire_exec, args))
		    : tracks__record(f->t, &r, sizeof(r));
}

/* The peak of a process before an exec does not count for the program that it executes. */
static void peaks_are_of_the_image(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_peak(f, 11, 200, true, 50), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_int_equal(do_peak(f, 11, 500, true, 70), 0);
	assert_int_equal(p[0].peak_bytes, 70 << 10);
	assert_int_equal(do_peak(f, 11, 600, false, 90), 0);
	assert_int_equal(p[1].peak_bytes, 90 << 10);
	/* Not larger than its parent, whose memory it had after vfork(). */
	assert_int_equal(do_peak(f, 12, 700, true, 90), 0);
	assert_int_equal(do_peak(f, 12, 800, false, 90), 0);
	assert_int_equal(p[2].end_ns, 800);
	assert_int_equal(p[2].peak_bytes, 0);
	/* 4 TiB */
	assert_int_equal(do_peak(f, 13, 900, true, 0), 0);
	assert_int_equal(do_peak(f, 13, 950, false, UINT32_MAX), 0);
	assert_true(p[3].peak_bytes == (uint64_t)UINT32_MAX << 10);
}

/* The kernel's figures are of all programs that a process has executed. */
static void cpu_times_are_of_the_image(void **state)
{
	struct fixture *f = *state;
	struct wire_exec e = {
		.type = WIRE_EXEC, .pid = 11, .time_ns = 200, .cpu_ns = 20, .comm = "rustc"};
	struct wire_exit r = {.type = WIRE_EXIT, .pid = 11, .time_ns = 600, .cpu_ns = 500};

	assert_int_equal(tracks__record(f->t, &e, offsetof(struct wire_exec, args)), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	e.time_ns = 500;
	e.cpu_ns = 320;
	assert_int_equal(tracks__record(f->t, &e, offsetof(struct wire_exec, args)), 0);
	assert_int_equal(f->out.processes[0].cpu_ns, 300);
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
	assert_int_equal(f->out.processes[1].cpu_ns, 180);
}

/* A process may be chosen for its memory, and end before the signal comes. */
static void a_kill_for_memory_is_a_sigkill(void **state)
{
	struct fixture *f = *state;
	struct wire_exit r = {.type = WIRE_EXIT, .time_ns = 500, .kill = WIRE_KILL_MEMORY};

	for (r.pid = 11; r.pid < 13; r.pid++) {
		assert_int_equal(do_exec(f->t, r.pid, 200, RUSTC("a")), 0);
		r.exit_code = r.pid == 11 ? SIGKILL : SIGSEGV;
		assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
	}
	assert_int_equal(f->out.processes[0].kill, TRACE_KILL_MEMORY);
	assert_int_equal(f->out.processes[1].kill, TRACE_KILL_UNKNOWN);
}

static void a_pid_is_used_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_int_equal(do_fork(f->t, 10, 11, 600), 0);
	assert_int_equal(do_exec(f->t, 11, 700, RUSTC("b")), 0);
	assert_int_equal(do_span(f->t, 11, 0, 800, 900), 0);
	assert_int_equal(tracks__processes(f->t), 2);
	assert_int_equal(f->out.spans[1].process, 1);
	assert_int_equal(f->out.processes[0].end_ns, 500);
	assert_int_equal(f->out.processes[1].end_ns, 0);
}

/* The exit record was lost: the next use of the pid bounds the end. */
static void a_pid_is_used_again_without_an_exit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_fork(f->t, 10, 11, 600), 0);
	assert_int_equal(f->out.processes[0].end_ns, 600);
	assert_int_equal(f->out.processes[0].exit_status, TRACE_EXIT_UNKNOWN);
	assert_int_equal(tracks__running(f->t), 0);
	assert_int_equal(do_exec(f->t, 11, 700, RUSTC("b")), 0);
	assert_int_equal(tracks__running(f->t), 1);
}

static void late_spans_find_their_process(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_span(f->t, 11, 1, 310, 320), 0);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_int_equal(do_exit(f->t, 11, 501, 7), 0);
	assert_int_equal(do_span(f->t, 11, 0, 300, 499), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_int_equal(f->out.self_ns[1], 189);
	assert_int_equal(f->out.processes[0].exit_status, 0);
	/* Begun after the exit: another process, whose fork and exec were not recorded. */
	assert_int_equal(do_span(f->t, 11, 0, 600, 700), 0);
	assert_int_equal(tracks__processes(f->t), 2);
	assert_true(f->out.processes[1].attached_late);
}

static void only_the_last_exits_are_remembered(void **state)
{
	struct fixture *f = *state;

	for (uint32_t pid = 1; pid <= 200; pid++) {
		assert_int_equal(do_exec(f->t, pid, pid * 10, RUSTC("a")), 0);
		assert_int_equal(do_exit(f->t, pid, pid * 10 + 5, 0), 0);
	}
	assert_int_equal(do_span(f->t, 200, 0, 2001, 2002), 0);
	assert_int_equal(f->out.spans[0].process, 199);
	assert_int_equal(do_span(f->t, 1, 0, 11, 12), 0);
	assert_int_equal(f->out.spans[1].process, 200);
}

static void live_and_die(struct tracks *t, uint32_t pid, uint64_t time)
{
	assert_int_equal(do_exec(t, pid, time, RUSTC("a")), 0);
	assert_int_equal(do_exit(t, pid, time + 5, 0), 0);
}

/* The table forgets the first use of the pid, but must keep the second. */
static void a_pid_that_exited_twice_is_remembered_by_the_last(void **state)
{
	struct fixture *f = *state;

	live_and_die(f->t, 1, 10);
	for (uint32_t pid = 2; pid <= 50; pid++)
		live_and_die(f->t, pid, pid * 10);
	live_and_die(f->t, 1, 1000);
	for (uint32_t pid = 51; pid <= 80; pid++)
		live_and_die(f->t, pid, 1000 + pid * 10);
	assert_int_equal(do_span(f->t, 1, 0, 1001, 1002), 0);
	assert_int_equal(f->out.spans[0].process, 50);
}

static void a_forked_compiler_runs_its_parents_command(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_fork(f->t, 11, 12, 300), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_int_equal(do_span(f->t, 12, 0, 310, 320), 0);
	assert_int_equal(tracks__processes(f->t), 2);
	assert_string_equal(f->out.processes[1].crate, "a");
	assert_int_equal(f->out.processes[1].parent_pid, 11);
	assert_int_equal(f->out.processes[1].start_ns, 300);
}

static void a_command_without_arguments_is_known_by_its_name(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(do_exec_args(f->t, 11, 200, "", 0), 0);
	assert_int_equal(tracks__processes(f->t), 1);
	assert_string_equal(f->out.processes[0].command, "rustc ...");
}

static void self_times_of_many_threads_are_exact(void **state)
{
	struct fixture *f = *state;
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 15000, 3, 3);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_span *want = &s->at[i];
		struct wire_span r =
			span(100 + want->process, want->depth, want->start_ns, want->end_ns);

		r.tid = want->tid;
		assert_int_equal(tracks__record(f->t, &r, sizeof(r)), 0);
		assert_true(f->out.self_ns[i] == s->self_ns[i]);
	}
	assert_int_equal(tracks__processes(f->t), 3);
}

static void a_malformed_record_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct wire_exec exec = {.type = WIRE_EXEC, .pid = 11, .args_len = 5};
	struct wire_span r = span(11, 0, 300, 400);
	const wire_u8 types[] = {0, WIRE_EXIT + 1, 255};

	assert_int_equal(tracks__record(f->t, &r, 0), -EBADMSG);
	for (size_t size = 1; size < sizeof(r); size++)
		assert_int_equal(tracks__record(f->t, &r, size), -EBADMSG);
	r.query = 3;
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.query = 1;
	r.lib = 3;
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.lib = 2;
	r.end_ns = 299;
	assert_int_equal(tracks__record(f->t, &r, sizeof(r)), -EBADMSG);
	for (size_t i = 0; i < sizeof(types); i++) {
		r.type = types[i];
		assert_int_equal(tracks__record(f->t, &r, sizeof(r)), -EBADMSG);
	}
	assert_int_equal(tracks__record(f->t, &exec, offsetof(struct wire_exec, args) + 4),
			 -EBADMSG);
	exec.args_len = WIRE_ARGS_MAX + 1;
	assert_int_equal(tracks__record(f->t, &exec, sizeof(exec)), -EBADMSG);
	assert_int_equal(do_fork(f->t, 11, 11, 0), -EBADMSG);
	assert_int_equal(tracks__processes(f->t), 0);
	assert_int_equal(f->out.n_spans, 0);
}

static void an_error_of_the_sink_comes_back(void **state)
{
	struct fixture *f = *state;

	f->out.err = -ENOSPC;
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), -ENOSPC);
	f->out.err = 0;
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	f->out.err = -EIO;
	assert_int_equal(do_span(f->t, 11, 0, 500, 600), -EIO);
}

static void a_sink_may_be_empty(void **state)
{
	_tracks_ struct tracks *t = NULL;
	const struct tracks_sink none = {0};
	const uint32_t label = 0;

	assert_int_equal(tracks__new(&none, &t), 0);
	assert_int_equal(tracks__set_library(t, 2, &label, 1, NULL, NULL), 0);
	assert_int_equal(do_exec(t, 11, 200, RUSTC("a")), 0);
	assert_int_equal(do_span(t, 11, 0, 300, 400), -EBADMSG);
	assert_int_equal(do_exit(t, 11, 500, 0), 0);
}

static void probes_that_came_late_mark_what_runs(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_exec(f->t, 11, 100, RUSTC("a")), 0);
	assert_false(p[0].attached_late);
	assert_int_equal(tracks__late(f->t, 11), 0);
	assert_true(p[0].attached_late);
	assert_int_equal(f->out.updates[0], 2);
	assert_int_equal(tracks__late(f->t, 11), 0);
	assert_int_equal(f->out.updates[0], 2);
	/* The next image starts with the probes in place. */
	assert_int_equal(do_span(f->t, 11, 0, 110, 120), 0);
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("b")), 0);
	assert_true(p[0].attached_late);
	assert_false(p[1].attached_late);
}

static void late_is_kept_until_a_process_enters_the_trace(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_exec(f->t, 11, 100, "driver"), 0);
	assert_int_equal(tracks__late(f->t, 11), 0);
	assert_int_equal(tracks__late(f->t, 12), 0);
	assert_int_equal(f->out.n_processes, 0);
	assert_int_equal(do_span(f->t, 11, 0, 110, 120), 0);
	assert_true(p[0].attached_late);
	f->out.err = -EIO;
	assert_int_equal(do_exec(f->t, 13, 200, RUSTC("c")), -EIO);
	assert_int_equal(tracks__late(f->t, 13), -EIO);
}

static void a_directory_is_kept_with_what_runs_in_it(void **state)
{
	struct fixture *f = *state;
	const struct trace_process *p = f->out.processes;

	assert_int_equal(do_exec(f->t, 10, 90, RUSTC("z")), 0);
	assert_int_equal(do_exec(f->t, 11, 100, "driver"), 0);
	assert_int_equal(tracks__cwd(f->t, 11, "/a"), 0);
	assert_int_equal(tracks__cwd(f->t, 12, "/b"), 0);
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(do_span(f->t, 11, 0, 110, 120), 0);
	assert_string_equal(p[1].cwd, "/a");
	assert_int_equal(tracks__cwd(f->t, 11, "/a"), 0);
	assert_int_equal(f->out.updates[1], 1);
	assert_int_equal(tracks__cwd(f->t, 11, "/c"), 0);
	assert_string_equal(p[1].cwd, "/c");
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("b")), 0);
	assert_null(p[2].cwd);
}

/* A function takes the first 0x80 bytes of every 0x100. */
static bool find_function(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	*addr = pc & ~0xffu;
	*size = 0x80;
	return pc - *addr < *size;
}

static char *name_function(const void *ctx, uint32_t pc)
{
	char name[16];

	snprintf(name, sizeof(name), "%s_%x", (const char *)ctx, pc >> 8);
	return strdup(name);
}

static int do_span_called(struct tracks *t, uint32_t caller, uint64_t start)
{
	struct wire_span r = span(11, 0, start, start + 10);

	r.caller = caller;
	return tracks__record(t, &r, sizeof(r));
}

static void a_caller_is_a_place_in_a_known_function(void **state)
{
	static const struct tracks_functions functions = {"f", find_function, name_function, NULL,
							  1};
	struct fixture *f = *state;
	const struct trace_span *s = f->out.spans;

	/* Without functions the address is unknown. */
	assert_int_equal(do_span_called(f->t, 0x9010, 100), 0);
	tracks__set_functions(f->t, 2, &functions);
	assert_int_equal(do_span_called(f->t, 0x1234, 200), 0);
	assert_int_equal(f->out.n_functions, 1);
	assert_string_equal(f->out.names[0], "f_12");
	assert_int_equal(f->out.functions[0].addr, 0x1200);
	assert_int_equal(f->out.functions[0].size, 0x80);
	assert_true(f->out.functions[0].first >= 1);
	assert_int_equal(s[0].caller, TRACE_NO_LOCATION);
	assert_int_equal(s[1].caller, f->out.functions[0].first + 0x34);
	assert_int_equal(do_span_called(f->t, 0x1236, 300), 0);
	/* A call that ends a function returns right behind it; a byte further is no function. */
	assert_int_equal(do_span_called(f->t, 0x1280, 400), 0);
	assert_int_equal(do_span_called(f->t, 0x1281, 500), 0);
	assert_int_equal(do_span_called(f->t, 0, 600), 0);
	assert_int_equal(f->out.n_functions, 1);
	assert_int_equal(s[2].caller, f->out.functions[0].first + 0x36);
	assert_int_equal(s[3].caller, f->out.functions[0].first + 0x80);
	assert_int_equal(s[4].caller, TRACE_NO_LOCATION);
	assert_int_equal(s[5].caller, TRACE_NO_LOCATION);
	f->out.err = -EIO;
	assert_int_equal(do_span_called(f->t, 0x1310, 700), -EIO);
}

static void a_number_goes_to_another_library(void **state)
{
	static const struct tracks_functions one = {"one", find_function, name_function, NULL, 1};
	static const struct tracks_functions two = {"two", find_function, name_function, NULL, 2};
	static const uint32_t labels[] = {77, 78, 79};
	struct fixture *f = *state;
	const struct trace_span *s = f->out.spans;

	tracks__set_functions(f->t, 2, &one);
	assert_int_equal(do_span_called(f->t, 0x1234, 100), 0);
	assert_int_equal(tracks__set_library(f->t, 2, labels, 3, "abcd", NULL), 0);
	assert_int_equal(do_span_called(f->t, 0x1234, 200), 0);
	tracks__set_functions(f->t, 2, &two);
	assert_int_equal(do_span_called(f->t, 0x1244, 300), 0);
	assert_int_equal(f->out.n_functions, 2);
	assert_string_equal(f->out.names[0], "one_12");
	assert_string_equal(f->out.names[1], "two_12");
	assert_int_equal(s[0].caller, f->out.functions[0].first + 0x34);
	assert_int_equal(s[1].caller, TRACE_NO_LOCATION);
	assert_int_equal(s[2].caller, f->out.functions[1].first + 0x44);
	assert_int_equal(s[2].label, labels[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_interval_has_the_label_of_its_guard_or_query),
		TEST(a_dynamic_label_comes_before_its_intervals),
		TEST(an_interval_without_a_label_is_marked_unknown),
		TEST(unwanted_intervals_are_left_out),
		TEST(a_compiler_lives_and_dies),
		TEST(a_directory_is_kept_with_what_runs_in_it),
		TEST(spans_are_converted),
		TEST(a_caller_is_a_place_in_a_known_function),
		TEST(a_number_goes_to_another_library),
		TEST(linkers_and_shells_are_left_out),
		TEST(a_span_makes_any_command_a_compiler),
		TEST(an_unknown_pid_was_attached_late),
		TEST(a_thread_has_a_name),
		TEST(an_adopted_process_was_attached_late),
		TEST(what_ran_already_begins_with_the_recording),
		TEST(an_exec_before_the_first_span_goes_on),
		TEST(an_exec_after_a_span_begins_another),
		TEST(peaks_are_of_the_image),
		TEST(cpu_times_are_of_the_image),
		TEST(probes_that_came_late_mark_what_runs),
		TEST(late_is_kept_until_a_process_enters_the_trace),
		TEST(a_kill_for_memory_is_a_sigkill),
		TEST(a_pid_is_used_again),
		TEST(a_pid_is_used_again_without_an_exit),
		TEST(late_spans_find_their_process),
		TEST(only_the_last_exits_are_remembered),
		TEST(a_pid_that_exited_twice_is_remembered_by_the_last),
		TEST(a_forked_compiler_runs_its_parents_command),
		TEST(a_command_without_arguments_is_known_by_its_name),
		TEST(self_times_of_many_threads_are_exact),
		TEST(a_malformed_record_changes_nothing),
		TEST(an_error_of_the_sink_comes_back),
		TEST(the_cause_of_off_cpu_time_is_reported),
		TEST(a_hit_is_of_the_query_that_was_executed),
		cmocka_unit_test(a_sink_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
