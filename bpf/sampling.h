/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples: the stack of a thread of a followed process, at a tick of the CPU's clock, at a page
 * fault, or when it leaves its CPU.
 *
 * Who may be interrupted. A tick comes in an interrupt, and interrupts any program of the thread,
 * but those that run with interrupts off: the programs of switches, and other ticks. A page fault
 * is counted with preemption off; the kernel runs no program of a perf event within another one
 * (bpf_prog_active), so the two do not meet. All the same each has working memory of its own, per
 * CPU, which it takes by an atomic exchange: a sample that finds it in use is lost, and counted.
 * Programs here only read the thread's own storage (sample_intervals.h).
 *
 * The registers are those that the thread entered the kernel with, by the interrupt or before.
 */
#ifndef QPROF_SAMPLING_H
#define QPROF_SAMPLING_H

#include "environment.h"
#include "internals.h"
#include "jobs.h"
#include "llvm.h"
#include "maps.h"
#include "sample_intervals.h"
#include "sample_mappings.h"
#include "unwind.h"

struct sample_slot {
	__u32 taken;
	__u32 pad;
	struct unwind unwind;
};

/* By cause: of a tick and a fault, and of a wait without a stack (job_waits.h). */
#define SAMPLE_SLOT_WAIT 2
#define SAMPLE_SLOTS	 3

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLE_SLOTS);
	__type(key, __u32);
	__type(value, struct sample_slot);
} sample_slots SEC(".maps");

/* The tables of files, by their number. The user half sets the size of both maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_unwind_file);
} unwind_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, WIRE_UNWIND_BLOCK_VALUE);
} unwind_area SEC(".maps");

/* The kernel allocates each entry of such a map by itself: 2,048 of them took 0.8 ms. */
#define SAMPLE_RECENT 64

struct sample_recent {
	struct unwind_recent items[SAMPLE_RECENT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_RECENT_MAX / SAMPLE_RECENT);
	__type(key, __u32);
	__type(value, struct sample_recent);
} unwind_rules SEC(".maps");

static struct unwind_recent *unwind_recent(wire_u32 at)
{
	__u32 key = at / SAMPLE_RECENT;
	struct sample_recent *r = bpf_map_lookup_elem(&unwind_rules, &key);

	return r ? &r->items[at & (SAMPLE_RECENT - 1)] : NULL;
}

static const struct wire_unwind_file *unwind_file(wire_u32 number)
{
	return bpf_map_lookup_elem(&unwind_files, &number);
}

static const wire_u8 *unwind_block(wire_u32 number)
{
	return bpf_map_lookup_elem(&unwind_area, &number);
}

static int unwind_read(wire_u64 words[2], wire_u32 size, wire_u64 addr)
{
	return bpf_probe_read_user(words, size == 16 ? 16 : 8, (void *)addr) != 0;
}

static void unwind_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
	bpf_loop(n, fn, ctx, 0);
}

#define SAMPLE_GO_ON 0xff

/*
 * From `back` bytes before the thread's pc, with the stack as before a word was pushed; or, with
 * SAMPLE_GO_ON, on from where the walk ended, as u->mapping has been found.
 */
STACK_APART int sample_walk(struct unwind *u, __u32 back, __u32 pushed)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	if (!u)
		return 0;
	if (back == SAMPLE_GO_ON) {
		unwind_begin_again(u);
	} else {
		u->pc = regs->ip - back;
		u->sp = regs->sp + pushed;
		u->bp = regs->bp;
		u->r11 = regs->r11;
		unwind_begin(u);
	}
	return unwind_walk(u);
}

#define SAMPLE_INT3 0xcc

/* Whether there is a breakpoint, which is what makes a probe, at the thread's pc and before it. */
enum {
	SAMPLE_PROBE_BEFORE = 1,
	SAMPLE_PROBE_HERE = 2,
};

static __always_inline __u32 sample_probes(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u8 code[2] = {};

	if (bpf_probe_read_user(code, sizeof(code), (void *)(regs->ip - 1)))
		return 0;
	return (code[0] == SAMPLE_INT3 ? SAMPLE_PROBE_BEFORE : 0) |
	       (code[1] == SAMPLE_INT3 ? SAMPLE_PROBE_HERE : 0);
}

/* The caller of the innermost frame is nowhere. */
static __always_inline int sample_is_lost(const struct unwind *u)
{
	return u->sample.n == 2 && u->sample.cut == WIRE_CUT_NO_MAP;
}

/*
 * The thread is in the kernel, perhaps for a probe. It then goes through these states, and where
 * its return address is tells them apart:
 *
 *   it has executed the breakpoint, and stands behind it; not the instruction that is there
 *   the kernel has found the probe: the thread stands at it, and our programs run
 *   the kernel emulates an instruction that pushes: the word is pushed
 *   and the thread stands behind the instruction, which may be one byte long
 */
STACK_APART int sample_unwind_in_kernel(struct unwind *u)
{
	__u32 probes = sample_probes();

	if (!u)
		return 0;
	sample_walk(u, probes & SAMPLE_PROBE_BEFORE ? 1 : 0, 0);
	if (probes & SAMPLE_PROBE_BEFORE && sample_is_lost(u))
		sample_walk(u, 0, 0);
	if (probes & SAMPLE_PROBE_HERE && sample_is_lost(u))
		sample_walk(u, 0, 8);
	return 0;
}

/* In an interrupt the second look finds nothing; at a page fault each may. */
#define SAMPLE_LOOKS 4

/*
 * The stack of a process that is no compiler, or not known to be one yet, is not walked. The sample
 * is sent all the same, as CPU time.
 */
static __always_inline int sample_unwind(struct unwind *u, int in_kernel, __u32 light)
{
	u->sample.light = light;
	u->most = light == WIRE_LIGHT_HERE   ? 1
		  : light == WIRE_LIGHT_NEAR ? WIRE_LIGHT_FRAMES
					     : WIRE_SAMPLE_FRAMES;
	u->sample.n = 0;
	u->sample.inner = WIRE_INNER_UNKNOWN;
	u->sample.cut = WIRE_CUT_NO_MAP;
	u->sample.job = 0;
	u->sample.llvm = WIRE_LLVM_UNKNOWN;
	u->sample.llvm_pass = 0;
	u->sample.llvm_function = 0;
	u->lib = 0;
	u->llvm = 0;
	if (!sample_is_of_compiler(u))
		return 0;
	if (in_kernel)
		sample_unwind_in_kernel(u);
	else
		sample_walk(u, 0, 0);
	for (int i = 0; i < SAMPLE_LOOKS; i++) {
		if (u->sample.cut != WIRE_CUT_NO_MAP || sample_look_up(u))
			break;
		sample_walk(u, SAMPLE_GO_ON, 0);
	}
	return 0;
}

STACK_APART int sample_send(struct wire_sample *s)
{
	__u32 size;

	if (!s)
		return 0;
	size = __builtin_offsetof(struct wire_sample, frames) + 8 * s->n;
	if (size > sizeof(*s))
		return 0;
	if (bpf_ringbuf_output(&ring, s, size, maps_wakeup_flags()))
		maps_count(WIRE_LOST_SAMPLES_RING);
	else
		maps_count(WIRE_COUNT_SAMPLES);
	return 0;
}

/*
 * Until 6.1 a look-up of the thread's stack fails also while it is interrupted in one: the thread
 * may be at a hit then, unless it was interrupted in user mode. `is_needed`: frames will not show
 * the interval of a thread that has no stack here.
 */
STACK_APART __u64 sample_note(struct wire_sample *s, int in_kernel, int is_needed)
{
	struct thread_stack *t = bpf_task_storage_get(&stacks, bpf_get_current_task_btf(), NULL, 0);

	if (!s)
		return 0;
	if (t)
		return sample_note_interval(t, s);
	sample_note_nothing(s, is_needed || (in_kernel && !internals_can_disable_preemption()));
	return 0;
}

static __always_inline void sample_begin(struct wire_sample *s, __u32 cause, __u64 id, __u64 now)
{
	s->type = WIRE_SAMPLE;
	s->cause = cause;
	s->pid = id >> 32;
	s->tid = (__u32)id;
	s->time_ns = now;
}

/* Take a sample of the current thread, if its process is followed. */
static __always_inline int sample_take(struct bpf_perf_event_data *ctx, __u32 cause, __u32 value)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32, which = cause == WIRE_SAMPLE_FAULT, light = which ? knobs.light : 0;
	int in_kernel = !(ctx->regs.cs & 3);
	struct sample_slot *slot;
	struct wire_sample *s;

	if (!enabled || !pid || !bpf_map_lookup_elem(&targets, &pid))
		return 0;
	if (cause == WIRE_SAMPLE_CPU)
		maps_count(WIRE_COUNT_TICKS);
	slot = bpf_map_lookup_elem(&sample_slots, &which);
	if (!slot || __sync_lock_test_and_set(&slot->taken, 1)) {
		maps_count(WIRE_LOST_SAMPLES_NESTED);
		return 0;
	}
	s = &slot->unwind.sample;
	sample_begin(s, cause, id, bpf_ktime_get_ns());
	s->value = value;
	slot->unwind.interval = sample_note(s, in_kernel, light == WIRE_LIGHT_HERE);
	sample_unwind(&slot->unwind, in_kernel, light);
	jobs_sample(&slot->unwind);
	if (slot->unwind.job_lost)
		maps_count(WIRE_LOST_JOBS);
	if (cause == WIRE_SAMPLE_CPU && slot->unwind.llvm)
		llvm_note(&slot->unwind);
	sample_send(s);
	maps_count_n(WIRE_COUNT_SAMPLES_NS, bpf_ktime_get_ns() - s->time_ns);
	__sync_lock_test_and_set(&slot->taken, 0);
	return 0;
}

#endif /* QPROF_SAMPLING_H */
