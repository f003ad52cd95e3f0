// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "capture/kernel_state.h"

/* A ring buffer's record has a header. */
#define RECORD_HEADER 8
/* Not an error: a drain has handed over enough. */
#define ENOUGH (-4096)
/* Times to look again whether a program that sleeps is done, 2 ms apart. */
#define BUSY_TRIES 250

static int on_record(void *ctx, void *data, size_t size)
{
	struct kernel *k = ctx;
	int err = k->fn(k->ctx, data, size);

	k->handed_over += size + RECORD_HEADER;
	return !err && k->handed_over >= k->ring_bytes ? ENOUGH : err;
}

int kernel__open(const struct kernel_options *opt, struct kernel **out)
{
	_kernel_ struct kernel *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return diag_error_r(-ENOMEM, "out of memory");
	k->ring_bytes = opt->ring_bytes;
	k->governed = opt->governed;
	err = kernel__load(k, opt);
	if (err)
		return err;
	k->ring = ring_buffer__new(bpf_map__fd(k->skel->maps.ring), on_record, k, NULL);
	if (!k->ring)
		return diag_error_r(-errno, "cannot map the ring buffer: %s", strerror(errno));
	*out = take_ptr(k);
	return 0;
}

uint64_t kernel__hits(const struct kernel *k)
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *values = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*values)) : NULL;
	uint32_t key = WIRE_COUNT_HITS;
	uint64_t sum = 0;

	if (!values || bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.counters), &key, values))
		return 0;
	for (int cpu = 0; cpu < n_cpus; cpu++)
		sum += values[cpu];
	return sum;
}

int kernel__follow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.targets), &key, &one, BPF_ANY) ? -errno
											    : 0;
}

void kernel__unfollow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.targets), &key);
}

bool kernel__follows_any(const struct kernel *k)
{
	uint32_t key;

	return !bpf_map_get_next_key(bpf_map__fd(k->skel->maps.targets), NULL, &key);
}

bool kernel__follows(const struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, value;

	return !bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.targets), &key, &value);
}

int kernel__hide_label(struct kernel *k, const struct wire_label *r)
{
	struct wire_label_state state = {.label = r->label, .hidden = 1};

	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.labels), &r->key, &state, BPF_ANY)
		       ? -errno
		       : 0;
}

void kernel__enable(struct kernel *k, bool on)
{
	k->skel->bss->enabled = on;
}

/* Wait until every program that was running has ended, but for those that may sleep. */
static void wait_for_programs(void)
{
	/* A grace period of RCU, which programs run under. Without it we are right nearly always.
	 */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* Run a program over all tasks. */
static int read_tasks(const struct bpf_link *link)
{
	_close_ int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char buf[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Leaves alone, and counts, those whose stacks are at work. */
static int read_flush_all(struct kernel *k, const struct bpf_link *link)
{
	k->skel->bss->n_busy = 0;
	return read_tasks(link);
}

/* A program that sleeps waits for a page, or for a CPU. */
static int flush_all(struct kernel *k)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct bpf_link *link = bpf_program__attach_iter(k->skel->progs.flush_all, NULL);
	int err = read_flush_all(k, link);

	for (int i = 0; i < BUSY_TRIES && !err && k->skel->bss->n_busy; i++) {
		nanosleep(&pause, NULL);
		err = read_flush_all(k, link);
	}
	bpf_link__destroy(link);
	return err ?: k->skel->bss->n_busy ? -EBUSY : 0;
}

int kernel__show_open(struct kernel *k, pid_t tid)
{
	struct qprof_bpf *s = k->skel;

	if (!s->links.show_open)
		s->links.show_open = bpf_program__attach_iter(s->progs.show_open, NULL);
	s->bss->open_tid = (uint32_t)tid;
	return read_tasks(s->links.show_open);
}

/*
 * Waits twice: a program that still ran would use a stack while it is flushed; and a record that
 * was still being written would hide from the reader those that come after it.
 */
int kernel__flush_open(struct kernel *k)
{
	int err = 0;

	/* Nobody runs who could have anything on a stack. */
	if (!kernel__follows_any(k))
		return 0;
	wait_for_programs();
	err = flush_all(k);
	wait_for_programs();
	return err;
}

int kernel__ring_fd(const struct kernel *k)
{
	return ring_buffer__epoll_fd(k->ring);
}

int kernel__drain(struct kernel *k, kernel_record_fn fn, void *ctx)
{
	int n;

	k->fn = fn;
	k->ctx = ctx;
	k->handed_over = 0;
	n = ring_buffer__consume(k->ring);
	return n < 0 && n != ENOUGH ? n : 0;
}

static uint64_t misses_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!prog || bpf_program__fd(prog) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return 0;
	return info.recursion_misses;
}

/* Hits, and switches, for which the kernel did not run the program, as one of ours was running. */
static uint64_t recursion_misses(const struct kernel *k)
{
	const struct qprof_bpf *s = k->skel;

	return misses_of(s->progs.on_switch) + misses_of(s->progs.qprof_site) +
	       misses_of(s->progs.qprof_label_site);
}

int kernel__counters(const struct kernel *k, uint64_t counters[WIRE_COUNTER_MAX])
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *values = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*values)) : NULL;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++) {
		counters[i] = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.counters), &i, values))
			return -errno;
		for (int cpu = 0; cpu < n_cpus; cpu++)
			counters[i] += values[cpu];
	}
	counters[WIRE_LOST_RECURSION] += recursion_misses(k);
	return 0;
}

int kernel__reset_counters(struct kernel *k)
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *zeros = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*zeros)) : NULL;

	if (!zeros)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++)
		if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.counters), &i, zeros, BPF_ANY))
			return -errno;
	return 0;
}

void kernel__free(struct kernel *k)
{
	if (!k)
		return;
	kernel__free_probes(k);
	ring_buffer__free(k->ring);
	qprof_bpf__destroy(k->skel);
	free(k);
}
