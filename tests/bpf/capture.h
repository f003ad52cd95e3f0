/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A capture of the test program: runs and follows it, keeps every record, and compares the records
 * with the program's own account.
 */
#ifndef QPROF_TESTS_BPF_CAPTURE_H
#define QPROF_TESTS_BPF_CAPTURE_H

#include <bpf/bpf.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../unit/test.h"
#include "base/cleanup.h"
#include "capture/kernel.h"
#include "capture/kernel_attach.h"
#include "capture/privilege.h"
#include "capture/uprobe_multi.h"
#include "plan_of_target.h"
#include "../fixtures/library.h"

struct records {
	struct wire_span *spans;
	size_t n_spans, room;
	struct wire_fork forks[64];
	struct wire_exec execs[16];
	struct wire_exit exits[64];
	struct wire_label labels[16]; /* indexed by number - 1 */
	size_t n_forks, n_execs, n_exits, n_threads, n_labels, n_others;
	/* Takes the records of names, unless it is NULL. */
	void (*on_names)(void *ctx, const void *record, size_t size);
	void *names;
};

struct capture {
	struct kernel *kernel;
	struct plan *plan;
	uint8_t lib;
	pid_t pid;
	int to_target, from_target;
	int status; /* of the target, once it has ended */
	bool ended;
	char target[PATH_MAX];
	char expected[32]; /* the file that the target writes */
	bool callers;
	uint64_t asked[3]; /* return addresses of ASKED_HERE and ASKED_THERE */
	struct plan_hit hits[3];
	struct records got;
	uint64_t counters[WIRE_COUNTER_MAX];
};

#define CAPTURE_NONE ((struct capture){.to_target = -1, .from_target = -1})

/* CMOCKA_TEST_FILTER selects tests by a glob, for example to repeat one many times. */
__attribute__((constructor)) static void pick_tests(void)
{
	cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
}

/* Whether BPF and the needed privileges are there; prints what is missing. */
static inline bool can_capture(void)
{
	char missing[128];

	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		print_message("skipped: this kernel has no BTF\n");
		return false;
	}
	if (privilege_missing(privilege_effective(), 1, missing, sizeof(missing))) {
		print_message("skipped: %s is missing; run as root\n", missing);
		return false;
	}
	return true;
}

#define need_capture()                \
	do {                          \
		if (!can_capture()) { \
			skip();       \
			return;       \
		}                     \
	} while (0)

/* Kernels before 6.6 have no uprobe_multi; QPROF_TEST_ATTACH=perf tests as on these. */
static inline bool have_multi(void)
{
	const char *attach = getenv("QPROF_TEST_ATTACH");

	return (!attach || strcmp(attach, "perf")) && uprobe_multi_is_available();
}

/* The requested way to attach, or perf events; skips tests that need uprobe_multi. */
static inline enum kernel_attach attach_as(const struct kernel_options *opt)
{
	if (opt->attach == KERNEL_ATTACH_PERF || have_multi())
		return opt->attach;
	if (opt->hits) {
		print_message("skipped: cache hits take uprobe_multi links, which came with Linux "
			      "6.6\n");
		skip();
	}
	return KERNEL_ATTACH_PERF;
}

/* The kind of off-CPU intervals among the spans; the label is the reason. */
#define KIND_OFF_CPU 255

static inline void keep_span(struct records *r, const struct wire_span *span)
{
	if (r->n_spans == r->room) {
		r->room = r->room * 2 + 1024;
		r->spans = reallocarray(r->spans, r->room, sizeof(*r->spans));
		assert_non_null(r->spans);
	}
	r->spans[r->n_spans++] = *span;
}

static inline void keep_off_cpu(struct records *r, const struct wire_off_cpu *off)
{
	keep_span(r, &(struct wire_span){
			     .type = off->type,
			     .flags = (uint8_t)off->flags,
			     .kind = KIND_OFF_CPU,
			     .label = off->reason,
			     .depth = off->depth,
			     .pid = off->pid,
			     .tid = off->tid,
			     .start_ns = off->start_ns,
			     .end_ns = off->end_ns,
		     });
}

/* Keep a hit as a span of length 0, so its position among the spans is compared, too. */
static inline void keep_hit(struct records *r, const struct wire_hit *hit)
{
	keep_span(r, &(struct wire_span){
			     .type = WIRE_HIT,
			     .lib = hit->lib,
			     .kind = KIND_HIT,
			     .query = WIRE_NO_QUERY,
			     .depth = hit->depth,
			     .pid = hit->pid,
			     .tid = hit->tid,
			     .start_ns = hit->time_ns,
			     .end_ns = hit->time_ns,
			     .invocation = hit->invocation,
		     });
}

static inline int keep_record(void *ctx, const struct record *record)
{
	struct records *r = ctx;

	assert_int_not_equal(record->kind, RECORD_BAD);
	switch (record->kind) {
	case WIRE_SPAN:
		keep_span(r, record->span);
		return 0;
	case WIRE_FORK:
		assert_in_range(r->n_forks, 0, 63);
		r->forks[r->n_forks++] = *record->fork;
		return 0;
	case WIRE_EXEC:
		assert_in_range(r->n_execs, 0, 15);
		assert_int_equal(record->size, sizeof(*r->execs));
		r->execs[r->n_execs++] = *record->exec;
		return 0;
	case WIRE_EXIT:
		assert_in_range(r->n_exits, 0, 63);
		r->exits[r->n_exits++] = *record->exit;
		return 0;
	case WIRE_LABEL:
		/* Two labels that two threads meet at the same time may arrive in either order. */
		assert_in_range(record->label->label, 1, 16);
		r->labels[record->label->label - 1] = *record->label;
		r->n_labels++;
		return 0;
	case WIRE_THREAD:
		r->n_threads++;
		return 0;
	case WIRE_OFF_CPU:
		keep_off_cpu(r, record->off_cpu);
		return 0;
	case WIRE_HIT:
		keep_hit(r, record->hit);
		return 0;
	case WIRE_PIECE:
	case WIRE_SYMBOLS:
	case WIRE_NAMES_END:
	case WIRE_COUNTS:
	case WIRE_FED:
	case WIRE_ARGUMENT:
		if (r->on_names) {
			r->on_names(r->names, record->bytes, record->size);
			return 0;
		}
		/* fall through */
	default:
		r->n_others++;
		return 0;
	}
}

static inline void capture_drain(struct capture *c)
{
	assert_int_equal(kernel__drain(c->kernel, keep_record, &c->got), 0);
}

/* Addresses of the target's symbols that are not in the plan. */
static inline void capture_look_up(struct capture *c)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(image_of(c->target, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	c->asked[ASKED_HERE] = address_of(syms, n, "asked_here");
	c->asked[ASKED_THERE] = address_of(syms, n, "asked_there");
	describe_hits(img, syms, n, c->hits);
}

/* Load, and make a plan; nothing is attached yet. */
static inline void capture_load(struct capture *c, const struct kernel_options *options,
				uint8_t skip_role)
{
	struct kernel_options can = *options;
	ssize_t n;

	can.attach = attach_as(options);
	*c = CAPTURE_NONE;
	c->callers = can.callers;
	n = readlink("/proc/self/exe", c->target, sizeof(c->target) - 16);
	assert_true(n > 0);
	c->target[n] = '\0';
	strcpy(strrchr(c->target, '/') + 1, "target");
	c->plan = plan_of_target(c->target, skip_role);
	capture_look_up(c);
	assert_int_equal(kernel__open(&can, &c->kernel), 0);
}

static inline void capture_open_with(struct capture *c, const struct kernel_options *opt,
				     uint8_t skip_role)
{
	capture_load(c, opt, skip_role);
	assert_int_equal(kernel__attach(c->kernel, c->plan, NULL, &c->lib), 0);
	assert_true(c->lib);
	if (opt->hits)
		assert_int_equal(
			attachments__attach_hits(kernel__attachments(c->kernel), c->lib, c->plan,
						 &(struct plan_hits){.items = c->hits, .n = 3}),
			0);
}

/* Load and attach; nothing runs yet. */
static inline void capture_open(struct capture *c, enum kernel_attach attach, size_t ring_bytes,
				uint8_t skip_role)
{
	struct kernel_options opt = {.attach = attach, .ring_bytes = ring_bytes};

	capture_open_with(c, &opt, skip_role);
}

/* Our descriptor of a map. */
static inline int map_of_ours(const char *name, struct bpf_map_info *info)
{
	for (int fd = 3; fd < 1024; fd++) {
		uint32_t size = sizeof(*info);

		memset(info, 0, sizeof(*info));
		if (!bpf_obj_get_info_by_fd(fd, info, &size) && !strcmp(info->name, name))
			return fd;
	}
	fail_msg("no map %s", name);
	return -1;
}

/* Fork a process that executes the target once a byte is written to it. */
static inline void capture_start(struct capture *c, const char *script)
{
	const pid_t test = getpid();
	int in[2], out[2];
	char byte;

	strcpy(c->expected, "/tmp/qprof-test-XXXXXX");
	close(mkstemp(c->expected));
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		/* One that hangs in a fault of memory delays all detaching on the machine. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != test)
			_exit(127);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		if (read(STDIN_FILENO, &byte, 1) == 1)
			execl(c->target, "target", c->expected, script, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->to_target = in[1];
	c->from_target = out[0];
}

static inline void capture_go(struct capture *c)
{
	assert_int_equal(write(c->to_target, "", 1), 1);
}

/* Wait until the script is at a '.'. */
static inline void capture_wait_for_dot(struct capture *c)
{
	char byte;

	assert_int_equal(read(c->from_target, &byte, 1), 1);
}

/* Wait for the target without draining, so the ring is certain to overflow. */
static inline void capture_finish_undrained(struct capture *c)
{
	assert_int_equal(waitpid(c->pid, &c->status, 0), c->pid);
	c->ended = true;
}

/* Drain until the target has ended. */
static inline void capture_finish_target(struct capture *c)
{
	struct pollfd ring = {.fd = kernel__ring_fd(c->kernel), .events = POLLIN};
	pid_t pid;

	while ((pid = waitpid(c->pid, &c->status, WNOHANG)) == 0) {
		poll(&ring, 1, 1);
		capture_drain(c);
	}
	assert_int_equal(pid, c->pid);
	c->ended = true;
}

static inline void capture_stop(struct capture *c)
{
	kernel__enable(c->kernel, false);
	assert_int_equal(kernel__flush_open(c->kernel), 0);
	capture_drain(c);
	assert_int_equal(kernel__counters(c->kernel, c->counters), 0);
}

/* Follow the script from its first instruction on. */
static inline void capture_begin(struct capture *c, const char *script)
{
	capture_start(c, script);
	assert_int_equal(kernel__follow(c->kernel, c->pid), 0);
	kernel__enable(c->kernel, true);
	capture_go(c);
}

/* Follow the whole script. */
static inline void capture_script(struct capture *c, const char *script)
{
	capture_begin(c, script);
	capture_finish_target(c);
	capture_stop(c);
}

static inline void capture_close(struct capture *c)
{
	if (c->pid > 0 && !c->ended) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	cleanup_close_p(&c->to_target);
	cleanup_close_p(&c->from_target);
	unlink(c->expected);
	kernel__free(c->kernel);
	plan__free(c->plan);
	free(c->got.spans);
}
#define _capture_ __cleanup(capture_close)

/* ---- Comparing ---------------------------------------------------------------------------------
 */

struct expected_span {
	uint32_t pid, tid, query, depth, invocation, flags, kind, asked;
	char label[80]; /* of a dynamic label, or "-" */
};

/* The target's account; `total` sums up the spans of quiet threads. */
struct expectation {
	struct expected_span *spans;
	size_t n;
	unsigned long total;
};

static inline void read_expectation(const struct capture *c, struct expectation *e)
{
	_fclose_ FILE *f = fopen(c->expected, "re");
	size_t room = 0;
	char line[128];

	*e = (struct expectation){0};
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct expected_span s;
		unsigned long total;

		if (sscanf(line, "%u %u total %lu", &s.pid, &s.tid, &total) == 3) {
			e->total += total;
			continue;
		}
		if (strstr(line, "switches"))
			continue;
		if (e->n == room) {
			room = room * 2 + 1024;
			e->spans = reallocarray(e->spans, room, sizeof(*e->spans));
		}
		assert_int_equal(sscanf(line, "%u %u %u %u %u %u %u %79s %u", &s.pid, &s.tid,
					&s.query, &s.depth, &s.invocation, &s.flags, &s.kind,
					s.label, &s.asked),
				 9);
		assert_in_range(s.asked, ASKED_UNKNOWN, ASKED_THERE);
		e->spans[e->n++] = s;
	}
}

/* Records of one thread are in order; records of several threads are mixed. */
static inline const struct wire_span *next_of_thread(const struct records *r, uint32_t tid,
						     size_t *at)
{
	for (; *at < r->n_spans; ++*at)
		if (r->spans[*at].tid == tid)
			return &r->spans[(*at)++];
	return NULL;
}

static inline bool has_label(const struct capture *c, const struct wire_span *got,
			     const char *label)
{
	const struct wire_label *l;

	if (got->kind != WIRE_KIND_ACTIVITY || !got->label)
		return !strcmp(label, "-");
	if (got->label > c->got.n_labels)
		return false;
	l = &c->got.labels[got->label - 1];
	return l->key.len == strlen(label) && !strncmp(l->key.text, label, sizeof(l->key.text));
}

static inline void assert_same_span(const struct capture *c, const struct wire_span *got,
				    const struct expected_span *e)
{
	uint64_t caller = c->callers ? c->asked[e->asked] : 0;

	if (got && got->pid == e->pid && got->query == e->query && got->depth == e->depth &&
	    got->invocation == e->invocation && got->flags == e->flags && got->lib == c->lib &&
	    got->kind == e->kind && has_label(c, got, e->label) && got->start_ns <= got->end_ns &&
	    (got->kind != WIRE_KIND_QUERY || got->caller == caller))
		return;
	print_message(
		"expected pid %u tid %u query %u depth %u invocation %u flags %u caller %lx\n",
		e->pid, e->tid, e->query, e->depth, e->invocation, e->flags, (long)caller);
	if (!got)
		fail_msg("and the thread has no more spans");
	else
		fail_msg("not pid %u query %u depth %u invocation %u flags %u caller %x lib %u, "
			 "%lu ns",
			 got->pid, got->query, got->depth, got->invocation, got->flags, got->caller,
			 got->lib, (long)(got->end_ns - got->start_ns));
}

/*
 * Spans of a thread come in the order of their ends. Spans nest, and depth increases inwards; this
 * holds for the remaining spans if some were lost, too.
 */
static inline void assert_nested(const struct wire_span *spans, size_t n, uint32_t tid)
{
	const struct wire_span **open = calloc(n + 1, sizeof(*open));
	size_t n_open = 0;

	for (size_t i = 0; i < n; i++) {
		const struct wire_span *s = &spans[i];

		if (s->tid != tid)
			continue;
		for (; n_open && open[n_open - 1]->start_ns >= s->start_ns; n_open--) {
			assert_true(open[n_open - 1]->end_ns <= s->end_ns);
			assert_true(open[n_open - 1]->depth > s->depth);
		}
		if (n_open)
			assert_true(open[n_open - 1]->end_ns <= s->start_ns);
		open[n_open++] = s;
	}
	free(open);
}

static inline void assert_all_nested(const struct records *r)
{
	uint32_t done[256];
	size_t n = 0;

	for (size_t i = 0; i < r->n_spans; i++) {
		bool seen = false;

		for (size_t j = 0; j < n && !seen; j++)
			seen = done[j] == r->spans[i].tid;
		if (seen)
			continue;
		assert_in_range(n, 0, 255);
		done[n++] = r->spans[i].tid;
		assert_nested(r->spans, r->n_spans, r->spans[i].tid);
	}
}

/* The spans are those of the target, without any more, less or different. */
static inline void assert_as_expected(const struct capture *c)
{
	struct expectation e;
	size_t at = 0;

	read_expectation(c, &e);
	for (size_t i = 0; i < e.n; i++) {
		if (i && e.spans[i].tid != e.spans[i - 1].tid)
			at = 0;
		assert_same_span(c, next_of_thread(&c->got, e.spans[i].tid, &at), &e.spans[i]);
	}
	assert_int_equal(c->got.n_spans, e.n);
	assert_int_equal(c->counters[WIRE_COUNT_SPANS], e.n);
	assert_int_equal(c->got.n_others, 0);
	assert_all_nested(&c->got);
	free(e.spans);
}

/* Nothing was lost or dropped. */
static inline void assert_whole(const struct capture *c)
{
	for (int i = WIRE_LOST_RING_FULL; i <= WIRE_DROP_END_WITHOUT_START; i++)
		if (c->counters[i])
			fail_msg("counter %d is %lu", i, (long)c->counters[i]);
	assert_int_equal(c->counters[WIRE_DROP_UNKNOWN_PROVIDER], 0);
}

static inline void assert_not_disturbed(const struct capture *c)
{
	assert_true(WIFEXITED(c->status));
	assert_int_equal(WEXITSTATUS(c->status), 0);
	assert_whole(c);
	assert_int_equal(c->got.n_others, 0);
}

#endif /* QPROF_TESTS_BPF_CAPTURE_H */
