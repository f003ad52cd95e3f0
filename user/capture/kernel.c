// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/kernel_attach.h"
#include "capture/kernel_load.h"
#include "capture/misses.h"

/* A ring buffer's record has a header. */
#define RECORD_HEADER 8
/* As many as there are in bpf/maps.h. */
#define MOST_TARGETS 65536
/* Ends a drain that has handed over enough; not an error. */
#define ENOUGH (-4096)
/* How often to wait 2 ms for a program that sleeps. */
#define BUSY_TRIES 250
/* The kernel does not wait for the lock of our mappings, which another thread may hold. */
#define INODE_TRIES 1000

struct kernel {
	struct loaded loaded;
	struct attachments *attachments;
	struct ring_buffer *ring;
	size_t ring_bytes;
	record_fn fn;
	void *ctx;
	size_t handed_over; /* bytes of the ring, in this drain */
	uint64_t n_labels_lost;
	struct wire_label label; /* the newest, as the kernel half knows it */
};

/* A label's text is not known. */
static const char unknown[] = "<unknown>";

/* Segments of a library that are looked at. */
#define SEGMENTS_MOST 64

/* Where an ELF address of a library is in its file; -1: nowhere. */
static off_t offset_of(int fd, uint64_t addr)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || e.e_phentsize != sizeof(p))
		return -1;
	for (uint64_t i = 0; i < e.e_phnum && i < SEGMENTS_MOST; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(e.e_phoff + i * sizeof(p))) != sizeof(p))
			return -1;
		if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < p.p_filesz)
			return (off_t)(p.p_offset + (addr - p.p_vaddr));
	}
	return -1;
}

/*
 * The text of a label whose page was not there. The file may be another one, if the process has
 * mapped another, or if the library's number was given away.
 */
static void read_label(struct kernel *k, struct wire_label_key *key)
{
	size_t n = key->len < sizeof(key->text) ? key->len : sizeof(key->text);
	int fd = attachments__fd(k->attachments, key->place.lib);
	char text[sizeof(key->text)] = {0};
	struct wire_file_key file;
	off_t at = -1;

	if (fd >= 0 && key->in_file == WIRE_LABEL_IN_LIBRARY)
		at = offset_of(fd, key->place.offset);
	else if (fd >= 0 && !kernel__file_key(k, fd, &file) &&
		 !memcmp(&file, &key->place.file, sizeof(file)))
		at = (off_t)key->place.offset;

	key->in_file = WIRE_LABEL_IN_KEY;
	if (at < 0 || pread(fd, text, n, at) != (ssize_t)n) {
		k->n_labels_lost++;
		key->len = sizeof(unknown) - 1;
		memset(text, 0, sizeof(text));
		memcpy(text, unknown, sizeof(unknown));
	}
	memcpy(key->text, text, sizeof(text));
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct record r = record_of(data, size);
	struct kernel *k = ctx;
	struct wire_label label;
	int err;

	if (r.kind == WIRE_LABEL) {
		k->label = label = *r.label;
		if (label.key.in_file)
			read_label(k, &label.key);
		r.label = &label;
	}
	err = k->fn(k->ctx, &r);
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
	err = loaded__init(&k->loaded, opt);
	if (err)
		return err;
	err = attachments__new(&k->loaded, &k->attachments);
	if (err)
		return diag_error_r(err, "out of memory");
	k->ring = ring_buffer__new(bpf_map__fd(k->loaded.skel->maps.ring), on_record, k, NULL);
	if (!k->ring)
		return diag_error_r(-errno, "cannot map the ring buffer: %s%s", strerror(errno),
				    diag_step(-errno, ""));
	*out = take_ptr(k);
	return 0;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

struct attachments *kernel__attachments(const struct kernel *k)
{
	return k->attachments;
}

int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib)
{
	uint8_t number;
	int err = kernel__attach_always(k, plan, filter, false, &number);

	if (err)
		return err;
	for (enum plan_part part = PLAN_PART_ALWAYS + 1; part < PLAN_PARTS && !err; part++)
		err = attachments__attach_part(k->attachments, number, plan, part);
	if (!err) {
		*lib = number;
		return 0;
	}
	attachments__begin_detach(k->attachments, number);
	attachments__release(k->attachments, number);
	return err;
}

int kernel__attach_always(struct kernel *k, const struct plan *plan, const struct filter *filter,
			  bool foreign, uint8_t *lib)
{
	return attachments__attach(k->attachments, plan, filter, foreign ? KERNEL_LIBS_KEPT : 1,
				   lib);
}

int kernel__attached(struct kernel *k, uint8_t lib, uint64_t *begun_ns, uint64_t *done_ns)
{
	return lib < WIRE_MAX_LIBS ? attachments__progress(k->attachments, lib, begun_ns, done_ns)
				   : -ENODATA;
}

/* ---- Processes ------------------------------------------------------------------------------- */

int kernel__follow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(k->loaded.skel->maps.targets), &key, &one, BPF_ANY);
}

void kernel__unfollow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(k->loaded.skel->maps.targets), &key);
}

bool kernel__follows_any(const struct kernel *k)
{
	uint32_t key;

	return !bpf_map_get_next_key(bpf_map__fd(k->loaded.skel->maps.targets), NULL, &key);
}

int kernel__followed(const struct kernel *k, pid_t **pids, size_t *n)
{
	int map = bpf_map__fd(k->loaded.skel->maps.targets);
	uint32_t key, next, capacity = 0, count = 0;
	_free_ pid_t *found = NULL;
	bool more = !bpf_map_get_next_key(map, NULL, &key);

	/* The kernel half removes keys meanwhile, and then the iteration restarts. */
	while (more && count < MOST_TARGETS) {
		if (array__reserve_one(&found, count, &capacity, sizeof(*found)))
			return -ENOMEM;
		found[count++] = (pid_t)key;
		more = !bpf_map_get_next_key(map, &key, &next);
		key = next;
	}
	*pids = take_ptr(found);
	*n = count;
	return 0;
}

bool kernel__follows(const struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, value;

	return !bpf_map_lookup_elem(bpf_map__fd(k->loaded.skel->maps.targets), &key, &value);
}

int kernel__context(const struct kernel *k, pid_t pid, struct wire_context *out)
{
	uint32_t key = (uint32_t)pid;

	return bpf_map_lookup_elem(bpf_map__fd(k->loaded.skel->maps.contexts), &key, out) ? -errno
											  : 0;
}

static int find_inode_at(struct kernel *k, uint64_t addr)
{
	int prog = bpf_program__fd(k->loaded.skel->progs.find_inode);

	for (int i = 0; i < INODE_TRIES; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &addr, .ctx_size_in = sizeof(addr));

		if (bpf_prog_test_run_opts(prog, &o))
			return -errno;
		if ((int)o.retval != -EBUSY)
			return (int)o.retval;
		sched_yield();
	}
	return -EBUSY;
}

/* The kernel puts breakpoints into a private mapping, and reads the file for that. */
static int find_inode(struct kernel *k, int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	int err;

	if (map == MAP_FAILED)
		return -errno;
	err = find_inode_at(k, (uint64_t)(uintptr_t)map);
	munmap(map, size);
	return err;
}

uint64_t kernel__inode_of(struct kernel *k, int fd)
{
	return find_inode(k, fd) ? 0 : k->loaded.skel->bss->found_inode;
}

int kernel__file_key(struct kernel *k, int fd, struct wire_file_key *key)
{
	int err = find_inode(k, fd);

	if (err)
		return err;
	_Static_assert(sizeof(*key) == sizeof(k->loaded.skel->bss->found_key), "one type");
	memcpy(key, &k->loaded.skel->bss->found_key, sizeof(*key));
	return key->ino ? 0 : -ENODATA;
}

bool kernel__samples(struct kernel *k, struct kernel_samples *out)
{
	const struct qprof_bpf *s = k->loaded.skel;
	const struct bpf_program *cpu = bpf_program__autoload(s->progs.sample_cpu)
						? s->progs.sample_cpu
						: s->progs.sample_cpu_and_count;

	if (!s->rodata->knobs.sampled)
		return false;
	*out = (struct kernel_samples){
		.kernel = k,
		.cpu = s->rodata->knobs.sample_ns ? cpu : NULL,
		.fault = s->rodata->knobs.fault_bytes ? s->progs.sample_fault : NULL,
		.waits = s->links.on_wait,
		.mappings = bpf_map__fd(s->maps.mappings),
		.noted = bpf_map__fd(s->maps.noted),
		.known = bpf_map__fd(s->maps.known_files),
		.programs = bpf_map__fd(s->maps.known_programs),
		.files = bpf_map__fd(s->maps.unwind_files),
		.recent = bpf_map__fd(s->maps.unwind_rules),
		.area = bpf_map__fd(s->maps.unwind_area),
		.llvm = s->rodata->knobs.sample_ns ? bpf_map__fd(s->maps.llvm_layouts) : -1,
		.libs = s->bss->jobs_libs,
		.llvm_files = s->bss->llvm_files,
		.n_files = bpf_map__max_entries(s->maps.unwind_files),
		.n_recent = bpf_map__max_entries(s->maps.unwind_rules),
		.recent_bytes = bpf_map__value_size(s->maps.unwind_rules),
		.n_blocks = bpf_map__max_entries(s->maps.unwind_area),
	};
	return true;
}

int kernel__unsampled(const struct kernel *k)
{
	return k->loaded.unsampled;
}

int kernel__hide_label(struct kernel *k, const struct wire_label *r)
{
	struct wire_label_state state = {.label = r->label, .hidden = 1};
	const struct wire_label_key *key = &r->key;

	if (r->label == k->label.label)
		key = &k->label.key;

	return bpf_map_update_elem(bpf_map__fd(k->loaded.skel->maps.labels), key, &state, BPF_ANY);
}

void kernel__enable(struct kernel *k, bool on)
{
	k->loaded.skel->bss->enabled = on;
}

void kernel__begin_recording(struct kernel *k)
{
	attachments__begin_recording(k->attachments);
	kernel__enable(k, true);
}

/* Wait until every program that was running has ended, except programs that may sleep. */
static void wait_for_programs(void)
{
	/* Programs run under RCU: wait for a grace period. If that fails, the risk is small. */
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

/* Flushes the stacks that are not in use, and counts the others in n_busy. */
static int read_flush_all(struct kernel *k, const struct bpf_link *link)
{
	k->loaded.skel->bss->n_busy = 0;
	return read_tasks(link);
}

/* A stack is in use while its program waits for a page, or for a CPU. */
static int flush_all(struct kernel *k)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct bpf_link *link = bpf_program__attach_iter(k->loaded.skel->progs.flush_all, NULL);
	int err = read_flush_all(k, link);

	for (int i = 0; i < BUSY_TRIES && !err && k->loaded.skel->bss->n_busy; i++) {
		nanosleep(&pause, NULL);
		err = read_flush_all(k, link);
	}
	bpf_link__destroy(link);
	return err ?: k->loaded.skel->bss->n_busy ? -EBUSY : 0;
}

int kernel__show_open(struct kernel *k, const uint32_t *tids, size_t n)
{
	struct qprof_bpf *s = k->loaded.skel;
	uint32_t wanted[WIRE_OPEN_TIDS];

	if (n > WIRE_OPEN_TIDS)
		return -EINVAL;
	memset(wanted, 0xff, sizeof(wanted));
	memcpy(wanted, tids, n * sizeof(*tids));
	qsort(wanted, n, sizeof(*wanted), array__by_u32);
	for (size_t i = 0; i < WIRE_OPEN_TIDS; i++)
		s->bss->open_tids[i] = wanted[i];
	if (!s->links.show_open)
		s->links.show_open = bpf_program__attach_iter(s->progs.show_open, NULL);
	return read_tasks(s->links.show_open);
}

int kernel__put_begun(struct kernel *k, pid_t tid, uint64_t start_ns,
		      const struct wire_begun *begun, uint32_t n)
{
	struct qprof_bpf *s = k->loaded.skel;
	int err;

	if (n > WIRE_BEGUN_MAX)
		return -EINVAL;
	memcpy(s->bss->begun, begun, n * sizeof(*begun));
	s->bss->n_begun = n;
	s->bss->begun_ns = start_ns;
	s->bss->begun_tid = (uint32_t)tid;
	s->bss->begun_done = 0;
	if (!s->links.put_begun)
		s->links.put_begun = bpf_program__attach_iter(s->progs.put_begun, NULL);
	err = read_tasks(s->links.put_begun);
	return err ?: s->bss->begun_done ? 0 : -ENOSPC;
}

int kernel__prepare_waits(struct kernel *k, pid_t pid)
{
	struct qprof_bpf *s = k->loaded.skel;

	if (!s->rodata->knobs.wait_ns)
		return 0;
	if (!s->links.prepare_waits)
		s->links.prepare_waits = bpf_program__attach_iter(s->progs.prepare_waits, NULL);
	s->bss->prepare_tgid = (uint32_t)pid;
	return read_tasks(s->links.prepare_waits);
}

/*
 * Waits twice: a program that still runs would use a stack while it is flushed, and a record that
 * is still being written would hide later records from the reader.
 */
int kernel__flush_open(struct kernel *k)
{
	int err = 0;

	/* No process runs that could have anything on a stack. */
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

int kernel__drain(struct kernel *k, record_fn fn, void *ctx)
{
	int n;

	k->fn = fn;
	k->ctx = ctx;
	k->handed_over = 0;
	/* After kernel__leave() there is none. */
	n = k->ring ? ring_buffer__consume(k->ring) : 0;
	return n < 0 && n != ENOUGH ? n : 0;
}

int kernel__counters(const struct kernel *k, uint64_t counters[WIRE_COUNTER_MAX])
{
	const struct qprof_bpf *s = k->loaded.skel;
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *values = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*values)) : NULL;
	uint64_t exits;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++) {
		counters[i] = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(s->maps.counters), &i, values))
			return -errno;
		for (int cpu = 0; cpu < n_cpus; cpu++)
			counters[i] += values[cpu];
	}
	counters[WIRE_LOST_SAMPLES_NESTED] += misses_of(s->progs.on_wait);
	counters[WIRE_COUNT_NO_LABEL] += k->n_labels_lost;
	/* Hits and switches that the kernel skipped, as our program ran on the CPU. */
	counters[WIRE_LOST_RECURSION] +=
		misses_of(s->progs.on_switch) + misses_of(s->progs.qprof_site) +
		misses_of(s->progs.qprof_label_site) + misses_of(s->progs.qprof_drop_site);
	/* Forks, execs and exits that were skipped for the same reason. */
	exits = s->rodata->knobs.again ? misses_of_both(s->progs.on_exit, s->progs.on_exit_again)
				       : misses_of(s->progs.on_exit);
	/* The last switch of a thread makes up for its exit. */
	if (s->data->unseen_exits && (s->links.on_switch || s->links.on_last_switch))
		exits = 0;
	counters[WIRE_LOST_PROCESS_RECORD] +=
		misses_not_made_up(s->progs.on_fork, s->bss->n_made_up[0]) +
		misses_not_made_up(s->progs.on_exec, s->bss->n_made_up[1]) + exits;
	return 0;
}

int kernel__reset_counters(struct kernel *k)
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *zeros = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*zeros)) : NULL;

	if (!zeros)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++)
		if (bpf_map_update_elem(bpf_map__fd(k->loaded.skel->maps.counters), &i, zeros,
					BPF_ANY))
			return -errno;
	return 0;
}

/* ---- The end --------------------------------------------------------------------------------- */

void kernel__leave(struct kernel *k, bool wait)
{
	k->loaded.skel->bss->enabled = 0;
	/* It has no records any more, and a fork would copy the tables of its 8,192 pages. */
	ring_buffer__free(take_ptr(k->ring));
	attachments__leave(k->attachments, wait);
}

void kernel__free(struct kernel *k)
{
	if (!k)
		return;
	/* Opening may have failed before. */
	if (k->loaded.skel)
		k->loaded.skel->bss->enabled = 0;
	attachments__free(k->attachments);
	ring_buffer__free(k->ring);
	loaded__clear(&k->loaded);
	free(k);
}
