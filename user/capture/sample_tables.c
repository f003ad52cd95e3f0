// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sample_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "unwind/area.h"

/* What the kernel half has of a file. */
struct told_file {
	struct wire_unwind_file table; /* no pages: it has none */
	struct wire_file_key key;
	bool is_known;	 /* by that key */
	bool is_removed; /* but its table still takes room */
};

struct sample_tables {
	struct kernel_samples kernel;
	struct told_file *files; /* by number */
	bool removes;		 /* some are removed */
	struct unwind_area area;
	size_t mapped; /* bytes of the area */
	uint64_t serial;
};

/* The kernel fills its reserve of entries after it was used, in the background. */
#define MAP_TRIES 20

/* More than the kernel half keeps; it may note more meanwhile. */
#define NOTED_PROCESSES_MAX 4096

/* Kernels map whole pages. */
static size_t area_bytes(uint32_t blocks)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       size = blocks * (size_t)WIRE_UNWIND_BLOCK_VALUE;

	return (size + page - 1) / page * page;
}

int sample_tables__new(const struct kernel_samples *k, struct sample_tables **out)
{
	_sample_tables_ struct sample_tables *t = calloc(1, sizeof(*t));
	uint8_t *memory;

	if (!t)
		return -ENOMEM;
	t->kernel = *k;
	t->files = calloc(k->n_files, sizeof(*t->files));
	if (!t->files)
		return -ENOMEM;
	memory =
		mmap(NULL, area_bytes(k->n_blocks), PROT_READ | PROT_WRITE, MAP_SHARED, k->area, 0);
	if (memory == MAP_FAILED)
		return -errno;
	/* No child needs it, and each fork would copy the tables of its pages. */
	madvise(memory, area_bytes(k->n_blocks), MADV_DONTFORK);
	t->mapped = area_bytes(k->n_blocks);
	unwind_area__init(&t->area, memory, k->n_blocks);
	*out = take_ptr(t);
	return 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* The area is written before the file refers to it. */
int sample_tables__add(struct sample_tables *t, uint32_t number, const struct unwind_table *table)
{
	struct wire_unwind_file file;
	int err = unwind_area__add(&t->area, table, &file);

	if (err && t->removes) {
		sample_tables__end_removals(t);
		err = unwind_area__add(&t->area, table, &file);
	}
	if (err)
		return err;
	__sync_synchronize();
	if (bpf_map_update_elem(t->kernel.files, &number, &file, BPF_ANY)) {
		err = -errno;
		unwind_area__remove(&t->area, &file);
		return err;
	}
	t->files[number].table = file;
	return 0;
}

int sample_tables__set_llvm(struct sample_tables *t, uint32_t number, const struct wire_llvm *l)
{
	if (!t->kernel.llvm_files || t->kernel.llvm < 0)
		return 0;
	if (bpf_map_update_elem(t->kernel.llvm, &number, l, BPF_ANY))
		return -errno;
	t->kernel.llvm_files[number] = wire_place(number, l->passes_return);
	return 0;
}

void sample_tables__remove(struct sample_tables *t, uint32_t number)
{
	const struct wire_unwind_file none = {0};
	struct told_file *f = &t->files[number];

	if (t->kernel.llvm_files && t->kernel.llvm_files[number]) {
		t->kernel.llvm_files[number] = 0;
		bpf_map_delete_elem(t->kernel.llvm, &number);
	}
	if (f->is_known)
		bpf_map_delete_elem(t->kernel.known, &f->key);
	if (f->table.pages)
		bpf_map_update_elem(t->kernel.files, &number, &none, BPF_ANY);
	f->is_known = false;
	f->is_removed = true;
	t->removes = true;
}

void sample_tables__end_removals(struct sample_tables *t)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	int cpus = libbpf_num_possible_cpus();
	_free_ uint8_t *none = NULL;
	uint32_t pid;

	if (!t->removes)
		return;
	/*
	 * Walks run with preemption off, so that all that have begun are over after this. Where the
	 * kernel refuses, they almost certainly are after a while: one that is not may give a wrong
	 * stack.
	 */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&pause, NULL);
	/* A mapping that the kernel half has noted by itself may be of a file that was removed. */
	for (int i = 0; i < NOTED_PROCESSES_MAX; i++)
		if (bpf_map_get_next_key(t->kernel.noted, NULL, &pid) ||
		    bpf_map_delete_elem(t->kernel.noted, &pid))
			break;
	/* A rule is remembered by the number of its file. */
	none = cpus > 0 ? calloc((size_t)cpus, t->kernel.recent_bytes) : NULL;
	for (uint32_t i = 0; none && i < t->kernel.n_recent; i++)
		bpf_map_update_elem(t->kernel.recent, &i, none, BPF_ANY);
	for (uint32_t i = 0; i < t->kernel.n_files; i++) {
		if (!t->files[i].is_removed)
			continue;
		if (t->files[i].table.pages)
			unwind_area__remove(&t->area, &t->files[i].table);
		t->files[i] = (struct told_file){0};
	}
	t->removes = false;
}

static int find_key(const struct sample_tables *t, const struct library_file *file,
		    struct wire_file_key *key)
{
	struct kernel *k = t->kernel.kernel;
	int err = k ? kernel__file_key(k, library_file__fd(file), key) : -ENODATA;

	/* After the key was read, which is of this content then. */
	return err ?: library_file__is_same(file) ? 0 : -ESTALE;
}

int sample_tables__know(struct sample_tables *t, uint32_t number, const struct library_file *file,
			const struct elf_segment *segments, uint32_t n)
{
	struct wire_known_file known = {.file = number};
	struct wire_file_key key = {0};
	int err;

	err = file ? find_key(t, file, &key) : 0;
	if (err)
		return err;
	known.n = n < WIRE_SEGMENTS_MAX ? n : WIRE_SEGMENTS_MAX;
	for (uint32_t i = 0; i < known.n; i++)
		known.segments[i] = (struct wire_segment){segments[i].offset, segments[i].size,
							  segments[i].addr};
	if (bpf_map_update_elem(t->kernel.known, &key, &known, BPF_ANY))
		return -errno;
	t->files[number].key = key;
	t->files[number].is_known = true;
	return 0;
}

int sample_tables__know_program(struct sample_tables *t, const struct library_file *file)
{
	struct wire_file_key key;
	uint32_t yes = 1;
	int err = find_key(t, file, &key);

	return err ?: bpf_map_update_elem(t->kernel.programs, &key, &yes, BPF_ANY) ? -errno : 0;
}

uint32_t sample_tables__bytes(const struct sample_tables *t)
{
	return unwind_area__bytes(&t->area);
}

uint32_t sample_tables__left(const struct sample_tables *t)
{
	return unwind_area__left(&t->area);
}

uint32_t sample_tables__numbers(const struct sample_tables *t)
{
	return t->kernel.n_files;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

int sample_tables__map(struct sample_tables *t, struct wire_mappings *m)
{
	const struct timespec pause = {.tv_nsec = 100000};
	int err = -ENOMEM;

	m->serial = ++t->serial;
	for (int i = 0; i < MAP_TRIES && err == -ENOMEM; i++) {
		if (i)
			nanosleep(&pause, NULL);
		err = bpf_map_update_elem(t->kernel.mappings, &m->pid, m, BPF_ANY) ? -errno : 0;
	}
	if (!err)
		bpf_map_delete_elem(t->kernel.noted, &m->pid);
	return err;
}

void sample_tables__unmap(struct sample_tables *t, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(t->kernel.mappings, &key);
	bpf_map_delete_elem(t->kernel.noted, &key);
}

void sample_tables__free(struct sample_tables *t)
{
	if (!t)
		return;
	if (t->mapped)
		munmap(t->area.memory, t->mapped);
	free(t->files);
	free(t);
}
