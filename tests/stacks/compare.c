// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * compare HZ N COMMAND...: runs the command, samples the compilers that it starts, and holds each
 * stack against the one that libdw finds in a copy of the same registers and memory. Ends the
 * comparison after N samples; the command runs on.
 *
 * Prints one line of JSON: how many stacks are equal, are equal as far as libdw or the copy
 * reaches, and differ; how many are whole, and why the others are cut. Each that differs is printed
 * to stderr. Needs root.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/mappings.h"
#include "capture/sampling.h"
#include "copy.h"
#include "copy.skel.h"
#include "libdw_walk.h"

#define FILES_MAX     2048
#define PROCESSES_MAX 64
/* Files and blocks, as many as kernel_load.c has. */
#define N_FILES	 2048
#define N_BLOCKS 32
/* Addresses in files are below this one. */
#define FILE_MOST (1ull << 32)

struct process {
	pid_t pid;
	struct libdw_walker *walker;
};

static struct {
	struct copy_bpf *skel;
	struct sampling *sampling;
	struct broker *broker;
	struct library_file *files[FILES_MAX];
	struct process processes[PROCESSES_MAX];
	unsigned int n_processes;
	struct wire_sample last; /* the sample that the next copy belongs to */
	bool have_last;
	uint32_t most;
	struct {
		uint32_t n, equal, as_far, differ, skipped, deepest;
		uint32_t cut[WIRE_CUT_MAX];
		uint64_t frames;
	} count;
} all;

static int on_sink(void *ctx, const struct record *r)
{
	(void)ctx;
	if (r->kind == RECORD_FILE && r->file.number < FILES_MAX)
		all.files[r->file.number] = library_file__ref(r->file.file);
	return 0;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static struct process *find_process(pid_t pid)
{
	struct process *p;

	for (unsigned int i = 0; i < all.n_processes; i++)
		if (all.processes[i].pid == pid)
			return &all.processes[i];
	if (all.n_processes == PROCESSES_MAX)
		return NULL;
	p = &all.processes[all.n_processes];
	if (libdw_walker__new(pid, &p->walker))
		return NULL;
	p->pid = pid;
	all.n_processes++;
	return p;
}

/*
 * The probes of other recordings may be in the library. A thread that has hit one is at its address
 * for us, and one byte further for libdw.
 */
static void take_copy(const struct copy *c, struct libdw_copy *s)
{
	uint64_t pc = all.last.frames[0] & 0xffffffffffffull;

	*s = (struct libdw_copy){
		.tid = (pid_t)c->tid,
		.addr = c->from,
		.size = (uint64_t)c->pages * COPY_PAGE,
		.bytes = c->bytes,
	};
	memcpy(s->registers, c->registers, sizeof(s->registers));
	if (((s->registers[LIBDW_PC] - 1 - pc) & (COPY_PAGE - 1)) == 0)
		s->registers[LIBDW_PC]--;
}

static const char *path_of(uint64_t place)
{
	uint32_t file = (uint32_t)(place >> 48);

	return file && file < FILES_MAX && all.files[file] ? library_file__path(all.files[file])
							   : NULL;
}

/* libdw's pc of a caller is in the call, ours behind it. */
static bool is_same_frame(const struct wire_sample *s, uint32_t i, const struct libdw_call *c)
{
	uint64_t addr = (s->frames[i] & 0xffffffffffffull) - (i > 0);
	const char *path = path_of(s->frames[i]);

	if (!path)
		return !c->path && addr == c->pc;
	return c->path && !strcmp(path, c->path) && addr == c->addr;
}

static void print_frame(const char *who, const char *path, uint64_t addr)
{
	fprintf(stderr, "  %s %s+%#" PRIx64 "\n", who, path ?: "?", addr);
}

static void count_difference(const struct wire_sample *s, const struct libdw_calls *calls,
			     uint32_t at)
{
	fprintf(stderr,
		"process %u thread %u: %u frames (cut %u), libdw %u; different from %u on\n",
		s->pid, s->tid, s->n, s->cut, calls->n, at);
	for (uint32_t i = at > 2 ? at - 2 : 0; i < at + 3; i++) {
		if (i < s->n)
			print_frame("ours ", path_of(s->frames[i]),
				    s->frames[i] & 0xffffffffffffull);
		if (i < calls->n)
			print_frame("libdw", calls->items[i].path, calls->items[i].addr);
	}
}

/*
 * libdw goes on where it has no rule, as in LLVM's table of trampolines, and ends in no file, or at
 * address 0. What it found up to there counts.
 */
static void cut_off_lost(struct libdw_calls *calls)
{
	for (uint32_t i = 1; i < calls->n; i++) {
		if (calls->items[i].path && calls->items[i].addr < FILE_MOST)
			continue;
		calls->n = i;
	}
}

static void compare(const struct wire_sample *s, struct libdw_calls *calls)
{
	uint32_t n, i;

	cut_off_lost(calls);
	/* The last frame is an address then, not a place. */
	n = s->n - (s->cut == WIRE_CUT_NO_MAP);
	if (n > calls->n)
		n = calls->n;
	for (i = 0; i < n && is_same_frame(s, i, &calls->items[i]); i++)
		;
	all.count.n++;
	all.count.frames += s->n;
	if (s->n > all.count.deepest)
		all.count.deepest = s->n;
	if (s->cut < WIRE_CUT_MAX)
		all.count.cut[s->cut]++;
	if (i == s->n && i == calls->n)
		all.count.equal++;
	else if (i == n && (s->n > n || s->cut))
		all.count.as_far++;
	else
		count_difference(s, calls, i);
}

/* A file that libdw does not know was mapped since. */
static bool is_lost(const struct libdw_calls *calls)
{
	for (uint32_t i = 0; i < calls->n; i++)
		if (!calls->items[i].path)
			return true;
	return !calls->n;
}

static void on_copy(const struct copy *c)
{
	struct process *p = find_process((pid_t)c->pid);
	__cleanup(libdw_calls__clear) struct libdw_calls calls = {0};
	struct libdw_copy s;

	if (!all.have_last || all.last.tid != c->tid || !all.last.n || !p || !c->pages ||
	    all.count.n >= all.most) {
		all.count.skipped++;
		return;
	}
	all.have_last = false;
	take_copy(c, &s);
	if (libdw_walker__walk(p->walker, &s, &calls) || is_lost(&calls)) {
		libdw_calls__clear(&calls);
		libdw_walker__refresh(p->walker);
		if (libdw_walker__walk(p->walker, &s, &calls))
			return;
	}
	compare(&all.last, &calls);
}

static int on_record(void *ctx, void *record, size_t size)
{
	const struct record r = record_of(record, size);

	(void)ctx;
	if (*(const uint8_t *)record == COPY_TYPE && size == sizeof(struct copy)) {
		on_copy(record);
	} else if (r.kind == WIRE_SAMPLE) {
		sampling__take(all.sampling, &r);
		memcpy(&all.last, record, size);
		all.have_last = true;
	}
	return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool is_followed(pid_t pid)
{
	uint32_t key = (uint32_t)pid, value;

	return !bpf_map_lookup_elem(bpf_map__fd(all.skel->maps.targets), &key, &value);
}

static int on_mapped(void *ctx, pid_t pid, const struct mapped_library *library)
{
	(void)ctx, (void)library;
	return is_followed(pid) ? sampling__expect(all.sampling, pid) : 0;
}

static void on_other(void *ctx, pid_t pid)
{
	(void)ctx;
	sampling__mapped(all.sampling, pid);
}

static int load(void)
{
	struct copy_bpf *s = copy_bpf__open();

	if (!s)
		return -errno;
	all.skel = s;
	s->rodata->knobs.sampled = 1;
	bpf_map__set_max_entries(s->maps.unwind_files, N_FILES);
	bpf_map__set_max_entries(s->maps.unwind_area, N_BLOCKS);
	bpf_map__set_max_entries(s->maps.ring, 64 << 20);
	return copy_bpf__load(s);
}

static int open_sampling(uint32_t hz)
{
	const struct copy_bpf *s = all.skel;
	const struct sampling_options opt = {.hz = hz};
	const struct session_sink sink = {.take = on_sink};
	const struct kernel_samples k = {
		.cpu = s->progs.sample_and_copy,
		.mappings = bpf_map__fd(s->maps.mappings),
		.files = bpf_map__fd(s->maps.unwind_files),
		.area = bpf_map__fd(s->maps.unwind_area),
		.n_files = N_FILES,
		.n_blocks = N_BLOCKS,
	};

	return sampling__open(&opt, &k, all.broker, &sink, 0, &all.sampling);
}

/* A child that executes the command once a byte is written to *go. */
static pid_t start(char *const argv[], int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1) {
			dup2(STDERR_FILENO, STDOUT_FILENO);
			execvp(argv[0], argv);
		}
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static int run(pid_t pid, int go, struct mappings *m)
{
	uint32_t key = (uint32_t)pid, target = 1;
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(all.skel->maps.ring), on_record, NULL, NULL);
	int status, err = ring ? 0 : -errno;

	err = err ?: bpf_map_update_elem(bpf_map__fd(all.skel->maps.targets), &key, &target, 0);
	all.skel->links.follow_fork = bpf_program__attach(all.skel->progs.follow_fork);
	mappings__set_other(m, on_other, NULL);
	mappings__forget(m);
	all.skel->bss->enabled = 1;
	err = err ?: sampling__start(all.sampling);
	if (err || !all.skel->links.follow_fork || write(go, "", 1) != 1)
		return err ?: -EIO;
	while (!waitpid(pid, &status, WNOHANG)) {
		struct pollfd fds[] = {{ring_buffer__epoll_fd(ring), POLLIN, 0},
				       {mappings__fd(m), POLLIN, 0}};

		poll(fds, 2, 5);
		err = mappings__read(m, on_mapped, NULL) ?: sampling__settle(all.sampling);
		if (err)
			return err;
		ring_buffer__consume(ring);
	}
	ring_buffer__free(ring);
	return WIFEXITED(status) ? 0 : -EIO;
}

static void print_result(void)
{
	printf("{\"n\": %u, \"equal\": %u, \"as_far\": %u, \"differ\": %u, \"skipped\": %u, "
	       "\"deepest\": %u, \"frames\": %" PRIu64 ", \"whole\": %u, \"no_map\": %u, "
	       "\"no_rule\": %u, \"no_page\": %u, \"too_deep\": %u, \"copies_lost\": %llu}\n",
	       all.count.n, all.count.equal, all.count.as_far, all.count.differ, all.count.skipped,
	       all.count.deepest, all.count.frames, all.count.cut[WIRE_CUT_NOT],
	       all.count.cut[WIRE_CUT_NO_MAP], all.count.cut[WIRE_CUT_NO_RULE],
	       all.count.cut[WIRE_CUT_NO_PAGE], all.count.cut[WIRE_CUT_TOO_DEEP],
	       all.skel->bss->n_without);
}

int main(int argc, char **argv)
{
	_mappings_ struct mappings *m = NULL;
	int go, err;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: compare HZ N COMMAND...\n");
		return 2;
	}
	all.most = (uint32_t)atoi(argv[2]);
	err = broker__new(&all.broker) ?: mappings__open(all.broker, &m) ?: load()
		      ?: open_sampling((uint32_t)atoi(argv[1]));
	if (err) {
		fprintf(stderr, "compare: %s\n", strerror(-err));
		return 1;
	}
	pid = start(argv + 3, &go);
	err = pid < 0 ? -errno : run(pid, go, m);
	if (err)
		fprintf(stderr, "compare: %s\n", strerror(-err));
	print_result();
	return err ? 1 : 0;
}
