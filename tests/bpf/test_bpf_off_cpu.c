// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Off-CPU intervals of a test program: their number equals the kernel's own counts, and they nest
 * in the spans.
 */
#include "capture.h"

#include <inttypes.h>
#include <sys/syscall.h>

/* Room for all records of a script, as a busy machine may delay every drain. */
#define RING (16u << 20)

static void open_with_off_cpu(struct capture *c)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .off_cpu = true};

	capture_open_with(c, &opt, 0);
}

/* The first and last time that a thread listed its switches, and the switches between them. */
struct counted {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	uint64_t voluntary, involuntary;
};

static size_t read_counted(const struct capture *c, struct counted *all, size_t most)
{
	_fclose_ FILE *f = fopen(c->expected, "re");
	uint64_t ns, voluntary, involuntary;
	char line[128];
	uint32_t tid;
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct counted *last = n ? &all[n - 1] : NULL;

		if (sscanf(line, "%*u %u switches %" SCNu64 " %" SCNu64 " %" SCNu64, &tid, &ns,
			   &voluntary, &involuntary) != 4)
			continue;
		if (last && last->tid == tid) {
			last->to_ns = ns;
			last->voluntary = voluntary - last->voluntary;
			last->involuntary = involuntary - last->involuntary;
			continue;
		}
		assert_in_range(n, 0, most - 1);
		all[n++] = (struct counted){
			.tid = tid,
			.from_ns = ns,
			.voluntary = voluntary,
			.involuntary = involuntary,
		};
	}
	return n;
}

static void assert_counted(const struct capture *c, const struct counted *want)
{
	uint64_t preempted = 0, waited = 0;

	for (size_t i = 0; i < c->got.n_spans; i++) {
		const struct wire_span *s = &c->got.spans[i];

		if (s->tid != want->tid || s->kind != KIND_OFF_CPU || s->start_ns < want->from_ns ||
		    s->end_ns > want->to_ns)
			continue;
		preempted += s->label == WIRE_OFF_PREEMPTED;
		waited += s->label != WIRE_OFF_PREEMPTED;
	}
	assert_int_equal(waited, want->voluntary);
	assert_int_equal(preempted, want->involuntary);
}

/* The depth of an off-CPU interval is the number of spans around it. */
static void assert_depths(const struct capture *c)
{
	for (size_t i = 0; i < c->got.n_spans; i++) {
		const struct wire_span *off = &c->got.spans[i];
		unsigned int depth = 0;

		if (off->kind != KIND_OFF_CPU)
			continue;
		for (size_t k = 0; k < c->got.n_spans; k++) {
			const struct wire_span *s = &c->got.spans[k];

			depth += s->tid == off->tid && s->kind != KIND_OFF_CPU &&
				 s->start_ns <= off->start_ns && off->end_ns <= s->end_ns;
		}
		assert_int_equal(off->depth, depth);
	}
}

/* Without the off-CPU intervals the spans are as usual. */
static void drop_off_cpu(struct capture *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->got.n_spans; i++)
		if (c->got.spans[i].kind != KIND_OFF_CPU)
			c->got.spans[n++] = c->got.spans[i];
	c->counters[WIRE_COUNT_SPANS] -= c->got.n_spans - n;
	c->got.n_spans = n;
}

static void compare(const char *script, struct counted *counted, size_t n)
{
	_capture_ struct capture c = CAPTURE_NONE;

	open_with_off_cpu(&c);
	capture_script(&c, script);
	assert_int_equal(c.status, 0);
	assert_int_equal(read_counted(&c, counted, n), n);
	for (size_t i = 0; i < n; i++)
		assert_counted(&c, &counted[i]);
	assert_all_nested(&c.got);
	assert_depths(&c);
	drop_off_cpu(&c);
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_CASE(sleeps_agree_with_the_kernels_counts)
{
	struct counted counted;

	need_capture();
	compare("aU*20(Z5000a(Z5000b(Z5000)))U", &counted, 1);
	/* The target sleeps 60 times, and no sleep returns at once. */
	assert_true(counted.voluntary >= 60);
}

/* With more threads than CPUs, threads are preempted anywhere, in BPF programs too. */
TEST_CASE(threads_that_crowd_each_other_out)
{
	struct counted counted[16];
	uint64_t involuntary = 0;

	need_capture();
	compare("p16(aU*300(r20(b(v)n)l)U)", counted, 16);
	for (int i = 0; i < 16; i++)
		involuntary += counted[i].involuntary;
	print_message("preempted %" PRIu64 " times\n", involuntary);
}

TEST_CASE(unwinding_and_other_stacks)
{
	struct counted counted;

	need_capture();
	/* A much shorter sleep may be over before the thread has left the CPU. */
	compare("aU{a(Z5000{n(Z5000b(!))}Z5000)}s(b(Z5000S(c(Z5000))))r600(Z5000)U", &counted, 1);
	assert_true(counted.voluntary >= 6);
}

/* The kernel reports a thread's system call only after it has switched the thread away. */
static bool is_switched_away_in_read(pid_t tid)
{
	_fclose_ FILE *f = NULL;
	char name[64];
	long call;

	snprintf(name, sizeof(name), "/proc/%d/syscall", (int)tid);
	f = fopen(name, "re");
	assert_non_null(f);
	return fscanf(f, "%ld", &call) == 1 && call == SYS_read;
}

/* The end of a capture reports the interval of a sleeping thread. */
TEST_CASE(a_thread_that_sleeps_when_the_capture_stops)
{
	const struct wire_span *off = NULL;
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_with_off_cpu(&c);
	capture_begin(&c, "a(.)");
	capture_wait_for_dot(&c);
	while (!is_switched_away_in_read(c.pid))
		usleep(100);
	capture_stop(&c);
	for (size_t i = 0; i < c.got.n_spans; i++)
		if (c.got.spans[i].flags & WIRE_SPAN_OPEN && c.got.spans[i].kind == KIND_OFF_CPU)
			off = &c.got.spans[i];
	assert_non_null(off);
	assert_int_equal(off->depth, 1);
	assert_int_equal(off->label, WIRE_OFF_WAITING);
	assert_all_nested(&c.got);
}

/* An exit, an exec and a new thread each start without an off-CPU interval. */
TEST_CASE(lives_that_end)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_with_off_cpu(&c);
	capture_script(&c,
		       "a(Z100f(a(Z100))x(a(Z100)Z100)t(a(Z100y)))p4(Z100a(Z100)Z100)X(a(Z100))");
	assert_int_equal(c.status, 0);
	assert_all_nested(&c.got);
	assert_depths(&c);
	assert_whole(&c);
	for (size_t i = 0; i < c.got.n_spans; i++)
		assert_true(c.got.spans[i].pid && c.got.spans[i].tid);
}

TEST_CASE(without_callers_no_caller_is_reported)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "a(Z100b(Z100))");
	assert_as_expected(&c);
}

TEST_MAIN(NULL, NULL)
