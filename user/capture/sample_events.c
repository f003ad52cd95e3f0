// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sample_events.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/diag.h"

#define ONLINE	   "/sys/devices/system/cpu/online"
#define REFRESH_NS 1000000000ull

struct cpu_events {
	struct bpf_link *clock; /* or NULL */
	struct bpf_link *faults;
	int fd;		     /* of one of them, which owns it */
	uint64_t enabled_ns; /* how long its event had been enabled at the last look */
	bool on;
};

struct sample_events {
	struct sampling_options opt;
	const struct bpf_program *cpu, *fault;
	uint64_t looked_ns;
	uint64_t missed; /* ticks */
	bool warned;
	unsigned int n;
	struct cpu_events cpus[];
};

/* Take a number from the start of *text. False: there is none. */
static bool take_number(const char **text, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return true;
}

int sample_events_parse_cpus(const char *text, bool *on, unsigned int n)
{
	_free_ bool *found = calloc(n ? n : 1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	while (*text && *text != '\n') {
		unsigned long first, last;

		if (!take_number(&text, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &last) || last < first)
				return -EINVAL;
		}
		for (unsigned long i = first; i <= last && i < n; i++)
			found[i] = true;
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	memcpy(on, found, n * sizeof(*on));
	return 0;
}

/* Without the file, which every kernel has, all CPUs count as on. */
static void read_online(bool *on, unsigned int n)
{
	_fclose_ FILE *f = fopen(ONLINE, "re");
	char text[4096];

	if (f && fgets(text, sizeof(text), f) && !sample_events_parse_cpus(text, on, n))
		return;
	for (unsigned int i = 0; i < n; i++)
		on[i] = true;
}

static int attach(struct sample_events *e, unsigned int cpu, bool clock)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = clock ? 1000000000 / e->opt.hz : e->opt.fault_period,
		.disabled = 1,
		/* The clock of an idle CPU ticks, too, but nothing runs then. */
		.exclude_idle = clock,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.wakeup_events = 1,
	};
	const struct bpf_program *prog = clock ? e->cpu : e->fault;
	struct cpu_events *c = &e->cpus[cpu];
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return -errno;
	/* The link owns the descriptor. */
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	*(clock ? &c->clock : &c->faults) = link;
	c->fd = fd;
	return 0;
}

static void close_cpu(struct cpu_events *c)
{
	bpf_link__destroy(take_ptr(c->clock));
	bpf_link__destroy(take_ptr(c->faults));
	c->on = false;
}

/* A CPU may be switched off meanwhile. */
static int open_cpu(struct sample_events *e, unsigned int cpu)
{
	struct cpu_events *c = &e->cpus[cpu];
	int err = 0;

	if (e->opt.hz)
		err = attach(e, cpu, true);
	if (!err && e->opt.fault_period)
		err = attach(e, cpu, false);
	c->on = !err;
	c->enabled_ns = 0;
	if (err)
		close_cpu(c);
	return err == -ENODEV ? 0 : err;
}

/*
 * Whether the CPU was switched off since the last look: its events have stopped for good then, also
 * if it is on again.
 */
static bool has_stopped(struct cpu_events *c)
{
	struct {
		uint64_t value, enabled_ns;
	} now = {0};
	bool stopped =
		read(c->fd, &now, sizeof(now)) != sizeof(now) || now.enabled_ns == c->enabled_ns;

	c->enabled_ns = now.enabled_ns;
	return stopped;
}

static int update(struct sample_events *e, uint64_t now_ns)
{
	_free_ bool *on = calloc(e->n, sizeof(*on));
	int err = 0;

	if (!on)
		return -ENOMEM;
	read_online(on, e->n);
	for (unsigned int i = 0; i < e->n && !err; i++) {
		if (e->cpus[i].on && (!on[i] || has_stopped(&e->cpus[i])))
			close_cpu(&e->cpus[i]);
		if (e->cpus[i].on || !on[i])
			continue;
		/* It may have had no events since the last look. */
		if (e->looked_ns)
			e->missed += (now_ns - e->looked_ns) * e->opt.hz / 1000000000;
		err = open_cpu(e, i);
	}
	e->looked_ns = now_ns;
	return err;
}

int sample_events__open(const struct sampling_options *opt, const struct bpf_program *cpu,
			const struct bpf_program *fault, struct sample_events **out)
{
	int n = libbpf_num_possible_cpus(), err;
	_sample_events_ struct sample_events *e = NULL;
	bool any_on = false;

	if (n < 0)
		return n;
	e = calloc(1, sizeof(*e) + (size_t)n * sizeof(e->cpus[0]));
	if (!e)
		return -ENOMEM;
	e->opt = *opt;
	e->cpu = cpu;
	e->fault = fault;
	e->n = (unsigned int)n;
	err = update(e, clock_ns(CLOCK_MONOTONIC));
	for (unsigned int i = 0; i < e->n; i++)
		any_on |= e->cpus[i].on;
	if (!err && !any_on)
		err = -ENODEV;
	if (err)
		return err;
	*out = take_ptr(e);
	return 0;
}

void sample_events__refresh(struct sample_events *e, uint64_t now_ns)
{
	int err;

	if (now_ns - e->looked_ns < REFRESH_NS)
		return;
	err = update(e, now_ns);
	if (err && !e->warned)
		diag_warn("no samples are taken on a CPU that was switched on: %s", strerror(-err));
	e->warned = e->warned || err;
}

uint64_t sample_events__missed(const struct sample_events *e)
{
	return e ? e->missed : 0;
}

void sample_events__free(struct sample_events *e)
{
	if (!e)
		return;
	for (unsigned int i = 0; i < e->n; i++)
		close_cpu(&e->cpus[i]);
	free(e);
}
