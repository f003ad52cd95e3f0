// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/mappings.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/epoll.h"
#include "plan/library/find.h"

/*
 * Pages, powers of two. An exec of a compiler makes some 20 records of 100 bytes, and every exec on
 * the machine is reported, even while a library is being attached to. LEAST_PAGES is less than the
 * 516 KiB for each CPU that a user without CAP_IPC_LOCK has by default.
 */
#define LEAST_PAGES 64
#define MOST_PAGES  256
#define ALL_PAGES   8192 /* of all CPUs together: with many CPUs, each one has fewer records */

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page; /* followed by the data; or NULL */
};

struct mappings {
	struct execs *execs;	 /* used in place of the rings */
	int refused;		 /* the error that refused the rings, or 0 */
	mappings_other_fn other; /* or NULL */
	void *other_ctx;
	int epoll;
	size_t page_size;
	size_t data_pages; /* of each ring; a power of two */
	int n;
	uint64_t lost;	    /* records behind an invalid record */
	uint64_t forgotten; /* records that were lost before the first followed process */
	struct cpu_ring rings[];
};

/* As the kernel writes them with SAMPLE_TYPE; see perf_event_open(2). */
#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

/* The result of read(2). */
struct event_counts {
	uint64_t value;
	uint64_t lost;
};

#define RECORD_MAX 65536 /* header.size is 16 bits wide */

_Static_assert(sizeof(struct mmap2_record) == 72, "perf's mmap2 record");
_Static_assert(sizeof(struct sample_id) == 16, "what follows each record");

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_LOST,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark =
			1, /* in bytes: wake at once. As events, only samples would count */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void unmap_rings(struct mappings *m)
{
	for (int i = 0; i < m->n; i++) {
		if (m->rings[i].page)
			munmap(m->rings[i].page, (1 + m->data_pages) * m->page_size);
		m->rings[i].page = NULL;
	}
}

static int map_rings(struct mappings *m, size_t data_pages)
{
	m->data_pages = data_pages;
	for (int i = 0; i < m->n; i++) {
		void *page = mmap(NULL, (1 + data_pages) * m->page_size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, m->rings[i].fd, 0);

		if (page == MAP_FAILED)
			return -errno;
		m->rings[i].page = page;
	}
	return 0;
}

/*
 * Make all rings as large as possible and of one size: the limit of locked memory counts all CPUs
 * together, so larger rings for the first CPUs would leave nothing for the last.
 */
static int map_largest(struct mappings *m)
{
	size_t n = MOST_PAGES;
	int err;

	while (n > LEAST_PAGES && n * (size_t)m->n > ALL_PAGES)
		n /= 2;
	while ((err = map_rings(m, n)) && n > LEAST_PAGES) {
		unmap_rings(m);
		n /= 2;
	}
	return err;
}

static struct mappings *new_mappings(int cpus)
{
	struct mappings *m = calloc(1, sizeof(*m) + (size_t)cpus * sizeof(m->rings[0]));

	if (m)
		m->epoll = -1;
	return m;
}

static int open_rings(struct mappings **out)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	_mappings_ struct mappings *m = NULL;

	if (cpus < 0)
		return cpus;
	m = new_mappings(cpus);
	if (!m)
		return -ENOMEM;
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		return -errno;
	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		int fd = open_event(cpu);

		/* An absent CPU runs no programs, so it needs no ring. */
		if (fd >= 0)
			m->rings[m->n++].fd = fd;
		else if (fd != -ENODEV)
			err = fd;
	}
	err = err ?: map_largest(m);
	for (int i = 0; i < m->n && !err; i++)
		err = epoll_watch(m->epoll, m->rings[i].fd);
	if (err)
		return err;
	*out = take_ptr(m);
	return 0;
}

int mappings__try_rings(void)
{
	_mappings_ struct mappings *m = NULL;

	return open_rings(&m);
}

int mappings__open(struct broker *broker, struct mappings **out)
{
	int refused = open_rings(out), err;
	_mappings_ struct mappings *m = NULL;

	if (!refused)
		return 0;
	m = new_mappings(0);
	if (!m)
		return -ENOMEM;
	m->refused = refused;
	err = execs__open(broker, &m->execs);
	if (err)
		return err;
	*out = take_ptr(m);
	return 0;
}

int mappings__refused(const struct mappings *m)
{
	return m->refused;
}

int mappings__fd(const struct mappings *m)
{
	return m->execs ? execs__fd(m->execs) : m->epoll;
}

struct reading {
	struct mappings *m;
	mapped_fn fn;
	void *ctx;
};

static int on_mmap(const struct reading *g, const char *bytes, size_t size)
{
	size_t fixed = sizeof(struct mmap2_record), end = size - sizeof(struct sample_id);
	const char *name = bytes + fixed;
	struct mapped_library library = {.path = name};
	struct mmap2_record record;
	struct sample_id id;

	if (size < fixed + sizeof(id) || !memchr(name, '\0', end - fixed))
		return 0;
	memcpy(&record, bytes, fixed);
	if (!plan_find__is_library(name)) {
		if (g->m->other)
			g->m->other(g->m->other_ctx, (pid_t)record.pid);
		return 0;
	}
	memcpy(&id, bytes + end, sizeof(id));
	library.time_ns = id.time;
	library.dev = makedev(record.maj, record.min);
	library.ino = record.ino;
	return g->fn(g->ctx, (pid_t)record.pid, &library);
}

/* Copy the record, as it may wrap around the end of the ring. */
static struct perf_event_header copy_record(const struct mappings *m, const struct cpu_ring *r,
					    uint64_t at, char *bytes)
{
	const char *data = (const char *)r->page + m->page_size;
	size_t ring = m->data_pages * m->page_size;
	struct perf_event_header header;
	size_t from = at % ring, first;

	/* Records are aligned to 8 bytes, the size of a header, so a header never wraps around. */
	memcpy(&header, data + from, sizeof(header));
	first = ring - from < header.size ? ring - from : header.size;
	memcpy(bytes, data + from, first);
	memcpy(bytes + first, data, header.size - first);
	return header;
}

static int read_ring(const struct reading *g, struct cpu_ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	char bytes[RECORD_MAX] __attribute__((aligned(8)));
	int err = 0;

	while (tail < head && !err) {
		struct perf_event_header header = copy_record(g->m, r, tail, bytes);

		/* The next record cannot be found: drop all data, as one lost record. */
		if (header.size < sizeof(header)) {
			g->m->lost++;
			tail = head;
			break;
		}
		tail += header.size;
		if (header.type == PERF_RECORD_MMAP2)
			err = on_mmap(g, bytes, header.size);
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

int mappings__read(struct mappings *m, mapped_fn fn, void *ctx)
{
	struct reading g = {m, fn, ctx};
	int err = 0;

	if (m->execs)
		return execs__read(m->execs, fn, ctx);
	for (int i = 0; i < m->n && !err; i++)
		err = read_ring(&g, &m->rings[i]);
	return err;
}

/*
 * Read the counters of lost records: the kernel writes a record of a loss only with the next record
 * that has room, which may never come.
 */
static uint64_t all_lost(const struct mappings *m)
{
	uint64_t sum = m->execs ? execs__lost(m->execs) : m->lost;

	for (int i = 0; i < m->n; i++) {
		struct event_counts counts;

		if (read(m->rings[i].fd, &counts, sizeof(counts)) == sizeof(counts))
			sum += counts.lost;
	}
	return sum;
}

void mappings__set_other(struct mappings *m, mappings_other_fn fn, void *ctx)
{
	m->other = fn;
	m->other_ctx = ctx;
}

static int pass_over(void *ctx, pid_t pid, const struct mapped_library *library)
{
	(void)ctx, (void)pid, (void)library;
	return 0;
}

void mappings__forget(struct mappings *m)
{
	mappings__read(m, pass_over, NULL);
	m->forgotten = all_lost(m);
}

uint64_t mappings__lost(const struct mappings *m)
{
	return all_lost(m) - m->forgotten;
}

uint64_t mappings__closed(const struct mappings *m)
{
	return m->execs ? execs__closed(m->execs) : 0;
}

void mappings__free(struct mappings *m)
{
	if (!m)
		return;
	unmap_rings(m);
	for (int i = 0; i < m->n; i++)
		close(m->rings[i].fd);
	cleanup_close_p(&m->epoll);
	execs__free(m->execs);
	free(m);
}
