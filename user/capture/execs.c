// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/execs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/epoll.h"
#include "capture/broker.h"
#include "capture/misses.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "execs.skel.h"
#include "qprof/wire.h"

#define MS UINT64_C(1000000)
/*
 * A loader maps rustc's library within a millisecond, and relocates it for some 20. Looks become
 * rarer as the program gets older: a few per cent of one CPU while many programs start.
 */
#define PAUSE_MIN_NS (MS / 2)
#define PAUSE_MAX_NS (20 * MS)
#define LOOK_FOR_NS  (2000 * MS)
/* Of looks at one program that took too long; the last one counts. */
#define LATE_LOOKS 4
/* No compiler finishes sooner. A process that exited unseen later may have been a compiler. */
#define SHORTEST_NS (10 * MS)

/* The kernel's PID_MAX_LIMIT. */
#define PIDS_MAX (4u << 20)

struct young {
	pid_t pid;
	bool seen;	/* its mappings were read once at least */
	uint8_t n_late; /* looks that took too long */
	uint64_t exec_ns;
	uint64_t due_ns; /* look at it then */
	/*
	 * 0, or the end of the last look. The process stays in the list until the next read, which
	 * may return the second record of the same exec (execs.bpf.c).
	 */
	uint64_t over_ns;
};

struct execs {
	struct broker *broker; /* the caller's */
	struct execs_bpf *skel;
	struct ring_buffer *ring;
	struct young *young;
	uint32_t n, capacity;
	uint8_t is_young[PIDS_MAX / 8]; /* a bit for each process in `young` */
	int timer;
	int epoll;
	uint64_t gone;	 /* programs that were gone before they were looked at */
	uint64_t closed; /* programs that we may not look into */
};

static bool is_young(const struct execs *e, pid_t pid)
{
	return e->is_young[(uint32_t)pid % PIDS_MAX / 8] & 1u << pid % 8;
}

static void set_young(struct execs *e, pid_t pid, bool young)
{
	uint8_t *byte = &e->is_young[(uint32_t)pid % PIDS_MAX / 8], bit = (uint8_t)(1u << pid % 8);

	*byte = (uint8_t)(young ? *byte | bit : *byte & ~bit);
}

/* A process that calls execve again counts as young again. */
static int on_exec(void *ctx, void *data, size_t size)
{
	struct execs *e = ctx;
	const struct wire_any_exec *r = data;
	uint32_t i;

	if (size != sizeof(*r))
		return 0;
	/* Programs start by the thousand: search the list only if the process is in it already. */
	i = is_young(e, (pid_t)r->pid) ? 0 : e->n;
	while (i < e->n && e->young[i].pid != (pid_t)r->pid)
		i++;
	if (i == e->n) {
		if (array__reserve_one(&e->young, e->n, &e->capacity, sizeof(*e->young))) {
			e->gone++;
			return 0;
		}
		e->young[e->n++] = (struct young){0};
		set_young(e, (pid_t)r->pid, true);
	}
	if (r->time_ns > e->young[i].over_ns)
		e->young[i] = (struct young){.pid = (pid_t)r->pid, .exec_ns = r->time_ns};
	return 0;
}

int execs__open(struct broker *broker, struct execs **out)
{
	_execs_ struct execs *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->broker = broker;
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (e->epoll < 0 || e->timer < 0)
		return -errno;
	e->skel = execs_bpf__open_and_load();
	if (!e->skel)
		return -errno;
	err = execs_bpf__attach(e->skel);
	if (err)
		return err;
	e->ring = ring_buffer__new(bpf_map__fd(e->skel->maps.execs), on_exec, e, NULL);
	if (!e->ring)
		return -errno;
	err = epoll_watch(e->epoll, ring_buffer__epoll_fd(e->ring))
		      ?: epoll_watch(e->epoll, e->timer);
	if (err)
		return err;
	*out = take_ptr(e);
	return 0;
}

int execs__fd(const struct execs *e)
{
	return e->epoll;
}

uint64_t execs_pause_ns(uint64_t age_ns)
{
	uint64_t pause = age_ns / 4;

	if (age_ns >= LOOK_FOR_NS)
		return 0;
	if (pause < PAUSE_MIN_NS)
		return PAUSE_MIN_NS;
	return pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

static bool is_closed(int err)
{
	return err == -EACCES || err == -ETIME;
}

/*
 * The library of another user's process, or a deleted one, cannot be read. True if the process has
 * a compiler's name.
 */
static bool is_closed_compiler(const struct young *y, int err)
{
	char name[32];

	if (err == -EPERM || err == -BROKER_SERVED)
		return true;
	process_name(y->pid, name, sizeof(name));
	return is_closed(err) && is_compiler_program(name);
}

/*
 * A look may take too long because the CPUs are busy. A process that blocks readers would delay
 * each look at it, so it gets few.
 */
static bool is_looked_at_again(struct young *y, int found)
{
	return found == -ENOENT || (found == -ETIME && ++y->n_late < LATE_LOOKS);
}

/* True if the process must be looked at again. */
static bool look(struct execs *e, struct young *y, mapped_fn fn, void *ctx, int *err)
{
	_library_file_ struct library_file *file = NULL;
	int found = broker__library(e->broker, y->pid, &file, NULL);
	uint64_t now = clock_ns(CLOCK_MONOTONIC), age = now > y->exec_ns ? now - y->exec_ns : 0;
	uint64_t pause = execs_pause_ns(age);

	if (pause && is_looked_at_again(y, found)) {
		y->seen |= found == -ENOENT;
		y->due_ns = now + pause;
		return true;
	}
	if (!found || is_closed_compiler(y, found))
		*err = fn(ctx, y->pid,
			  &(struct mapped_library){
				  .path = file ? library_file__path(file) : "a compiler's library",
				  .time_ns = y->exec_ns,
			  });
	else if (found == -ESRCH)
		e->gone += !y->seen && age >= SHORTEST_NS;
	else if (is_closed(found))
		e->closed++;
	return false;
}

int execs__read(struct execs *e, mapped_fn fn, void *ctx)
{
	uint64_t now, due_ns = UINT64_MAX;
	uint32_t kept = 0;
	int n = ring_buffer__consume(e->ring), err = 0;

	if (n < 0)
		return n;
	for (uint32_t i = 0; i < e->n; i++) {
		if (e->young[i].over_ns)
			set_young(e, e->young[i].pid, false);
		else
			e->young[kept++] = e->young[i];
	}
	e->n = kept;
	now = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < e->n && !err; i++) {
		struct young *y = &e->young[i];

		if (y->due_ns > now || look(e, y, fn, ctx, &err))
			continue;
		y->due_ns = UINT64_MAX;
		y->over_ns = clock_ns(CLOCK_MONOTONIC);
	}
	/* To the next look, or never. Setting the timer also clears its expiry. */
	for (uint32_t i = 0; i < e->n; i++)
		if (e->young[i].due_ns < due_ns)
			due_ns = e->young[i].due_ns;
	epoll_set_timer(e->timer, due_ns == UINT64_MAX ? 0 : due_ns);
	return err;
}

uint64_t execs__lost(const struct execs *e)
{
	return e->gone + e->skel->bss->n_lost +
	       misses_of_both(e->skel->progs.report_exec, e->skel->progs.report_exec_again);
}

uint64_t execs__closed(const struct execs *e)
{
	return e->closed;
}

void execs__free(struct execs *e)
{
	if (!e)
		return;
	ring_buffer__free(e->ring);
	execs_bpf__destroy(e->skel);
	cleanup_close_p(&e->timer);
	cleanup_close_p(&e->epoll);
	free(e->young);
	free(e);
}
