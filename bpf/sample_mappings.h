/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which file a process has mapped at an address of its code.
 *
 * The user half stores the mappings of each compiler (maps.h), which takes a while, and longer on
 * a busy machine. So the kernel half also looks them up by itself: the kernel has the mapping, and
 * the inode of its file identifies the table. A mapping that was found is kept until the user half
 * stores the mappings of the process, or the process ends or executes another program.
 *
 * In an interrupt one mapping can be looked up (internals.h). So a stack ends in a file that is
 * new to its process only if there is a second one in it.
 */
#ifndef QPROF_SAMPLE_MAPPINGS_H
#define QPROF_SAMPLE_MAPPINGS_H

#include "internals.h"
#include "maps.h"
#include "unwind.h"

/* Files whose tables are there; the user half adds them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2048);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wire_file_key);
	__type(value, struct wire_known_file);
} known_files SEC(".maps");

/* Programs that were compilers, which the user half has told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct wire_file_key);
	__type(value, __u32);
} known_programs SEC(".maps");

static const volatile struct noted_mappings noted_none;

/* ---- Compilers ------------------------------------------------------------------------------- */

/* The key is made in `u`: what reads it from the kernel and a key do not fit on one frame. */
STACK_APART int sample_learn_program(struct unwind *u)
{
	struct wire_file_key key;
	__u32 yes = 1;

	if (!u || internals_program_key(&u->found.key))
		return 0;
	key = u->found.key;
	bpf_map_update_elem(&known_programs, &key, &yes, BPF_ANY);
	return 0;
}

STACK_APART int sample_knows_program(struct unwind *u)
{
	struct wire_file_key key;

	if (!u || internals_program_key(&u->found.key))
		return 0;
	key = u->found.key;
	return bpf_map_lookup_elem(&known_programs, &key) != NULL;
}

/* Whether the current process is a compiler. */
static __always_inline int sample_is_of_compiler(struct unwind *u)
{
	__u32 pid = u->sample.pid;
	struct wire_mappings *m = bpf_map_lookup_elem(&mappings, &pid);

	if (!m)
		return sample_knows_program(u);
	if (!m->seen) {
		m->seen = 1;
		sample_learn_program(u);
	}
	return 1;
}

/* ---- Mappings that were noted ---------------------------------------------------------------- */

static void noted_loop(__u32 n, long (*fn)(__u32 i, void *ctx), void *ctx)
{
	bpf_loop(n, fn, ctx, 0);
}

STACK_APART int sample_find_noted(struct unwind *u, __u64 pc)
{
	const volatile struct noted_mappings *n;
	__u32 pid;

	if (!u)
		return 1;
	pid = u->sample.pid;
	n = bpf_map_lookup_elem(&noted, &pid);
	return !n || noted_find(n, pid, pc, &u->mapping);
}

/* It may be another process's by the time it is used: noted.h. */
static __always_inline struct noted_mappings *sample_noted(__u32 pid)
{
	struct noted_mappings *n = bpf_map_lookup_elem(&noted, &pid);

	if (n)
		return n;
	if (bpf_map_update_elem(&noted, &pid, (const void *)&noted_none, BPF_NOEXIST))
		return NULL;
	n = bpf_map_lookup_elem(&noted, &pid);
	if (n)
		noted_begin(n, pid, bpf_ktime_get_ns());
	return n;
}

STACK_APART int sample_note_mapping(struct unwind *u)
{
	struct noted_mappings *n = u ? sample_noted(u->sample.pid) : NULL;

	if (n)
		noted_add(n, u->sample.pid, &u->mapping);
	return 0;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* bpf_find_vma() passes its callback only a pointer into the caller's frame. */
static long sample_note_vma(struct task_struct *task, struct vm_area_struct *vma,
			    struct unwind_ctx *c)
{
	struct unwind_found *f = &c->u->found;

	if (!internals_has_file_keys() || !internals_has_stacks())
		return 0;
	f->start = vma->vm_start;
	f->end = vma->vm_end;
	f->unknown = internals_mapped_file(task, vma, &f->offset, &f->key);
	return 0;
}

/*
 * Nonzero: there is no mapping of a file, or it is not found now. An interrupt can look up one: the
 * kernel gives back the lock of the mappings when the interrupt is over, and takes it once.
 */
STACK_APART int sample_find_vma(struct unwind *u)
{
	struct unwind_ctx c = {.u = u};

	if (!u)
		return 1;
	u->found.unknown = 1;
	return bpf_find_vma(bpf_get_current_task_btf(), unwind_pc(u), sample_note_vma, &c, 0) ||
	       u->found.unknown;
}

/* As unwind_segments__bias() of the user half. */
static __always_inline int sample_bias(const struct wire_known_file *f, __u64 start, __u64 offset,
				       __u64 *bias)
{
	for (__u32 i = 0; i < WIRE_SEGMENTS_MAX; i++) {
		const struct wire_segment *s = &f->segments[i];

		if (i >= f->n)
			break;
		if (offset < (s->offset & ~4095ull) || offset >= s->offset + s->size)
			continue;
		*bias = start - (s->addr - s->offset + offset);
		return 0;
	}
	return 1;
}

/* Set u->mapping to the one that was found; nonzero: its file is not known. */
STACK_APART int sample_take_found(struct unwind *u)
{
	const struct wire_known_file *f;
	struct wire_file_key key;

	if (!u)
		return 1;
	key = u->found.key;
	f = bpf_map_lookup_elem(&known_files, &key);
	if (!f || sample_bias(f, u->found.start, u->found.offset, &u->mapping.bias))
		return 1;
	u->mapping.start = u->found.start;
	u->mapping.end = u->found.end;
	u->mapping.file = f->file;
	return sample_note_mapping(u);
}

/* Set u->mapping to the one that holds the frame's pc; nonzero: it is not found, or not known. */
static __always_inline int sample_look_up(struct unwind *u)
{
	return sample_find_vma(u) || sample_take_found(u);
}

/*
 * Most mappings of a walk are the one before. The entry may be replaced by a newer one during a
 * walk: what the thread is in stays mapped.
 */
STACK_APART int sample_find_told(struct unwind *u, __u64 pc)
{
	const volatile struct wire_mappings *now;
	const struct wire_mappings *m;
	__u64 serial;
	__u32 pid;

	if (!u)
		return 1;
	pid = u->sample.pid;
	m = bpf_map_lookup_elem(&mappings, &pid);
	now = m;
	if (!m)
		return 1;
	serial = now->serial;
	barrier();
	if (unwind_search(u, m, pc))
		return 1;
	barrier();
	return now->pid != pid || now->serial != serial;
}

static int unwind_find_mapping(struct unwind *u, wire_u64 pc)
{
	return sample_find_told(u, pc) && sample_find_noted(u, pc);
}

#endif /* QPROF_SAMPLE_MAPPINGS_H */
