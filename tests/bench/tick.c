// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Measures what one tick of a perf event of the CPU's clock takes from the thread that it
 * interrupts, without a program of ours: reads the clock in a loop on one CPU, and prints the
 * median of the gaps that are as long as an interrupt, in ns. There are ten times as many ticks of
 * the event as of the kernel's own.
 */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HZ	 9973
#define SECONDS	 1
#define GAP_NS	 700   /* the loop itself takes less */
#define LIMIT_NS 50000 /* another thread ran */
#define GAPS_MAX (2 * HZ * SECONDS)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / HZ,
		.exclude_idle = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int by_length(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t find_gaps(uint32_t gaps[GAPS_MAX])
{
	uint64_t last = now_ns(), end = last + SECONDS * 1000000000ull;
	uint32_t n = 0;

	while (last < end && n < GAPS_MAX) {
		uint64_t now = now_ns(), gap = now - last;

		if (gap >= GAP_NS && gap < LIMIT_NS)
			gaps[n++] = (uint32_t)gap;
		last = now;
	}
	return n;
}

int main(void)
{
	static uint32_t gaps[GAPS_MAX];
	int cpu = sched_getcpu();
	cpu_set_t set;
	uint32_t n;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || open_event(cpu) < 0) {
		perror("tick: cannot open a perf event of this CPU's clock");
		return 1;
	}
	n = find_gaps(gaps);
	qsort(gaps, n, sizeof(gaps[0]), by_length);
	printf("%u\n", n ? gaps[n / 2] : 0);
	return 0;
}
