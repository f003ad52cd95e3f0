/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which pass of LLVM a sampled thread is in, and on which function it works (wire_llvm.h).
 *
 * Everything here is the compiler's memory, and may hold anything. So many entries and buckets are
 * looked at; an entry lies on the thread's stack, further out than the one before, and its vtable
 * is one of LLVM's; a function is a value of that kind; a name has a limit. If any of that is not
 * so, or cannot be read now, nothing is known of the sample, and it is counted. The list and the
 * LLVMContext are the thread's own, so nobody changes them meanwhile; the thread itself may have
 * been interrupted in a change of the table of names.
 */
#ifndef QPROF_LLVM_H
#define QPROF_LLVM_H

#include "contexts.h"
#include "jobs.h"
#include "maps.h"
#include "unwind.h"

/* By file of a sample: unwind_llvm(). The user half sets it. */
volatile __u64 llvm_files[JOBS_FILES];

/* By file. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_llvm);
} llvm_layouts SEC(".maps");

struct llvm_sent_key {
	__u64 number;
	__u32 pid;
	__u32 pad;
};

/* Names that were sent; one that is forgotten is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct llvm_sent_key);
	__type(value, __u32);
} llvm_sent SEC(".maps");

/* The working memory of a sample, by CPU. Only samples of the CPU use it, one at a time. */
struct llvm_scan {
	__u64 words[8]; /* of an entry */
	__u8 value[WIRE_LLVM_VALUE];
	__u64 bias;
	__u64 next;	  /* the entry to be looked at; 0: there is none */
	__u64 low;	  /* entries are above, */
	__u64 high;	  /* and below */
	__u64 pass;	  /* of the innermost entry; 0: none */
	__u64 function;	  /* 0: none */
	__u64 bucket;	  /* that is looked at */
	__u64 buckets;	  /* address of the table of names */
	__u64 name;	  /* address of the name's entry; 0: not found */
	__u64 number;	  /* of the name */
	__u32 mask;	  /* of the number of a bucket */
	__u32 entries;	  /* that were understood */
	__u32 is_legacy;  /* the innermost is, */
	__u32 is_certain; /* and the function is one of PassManager<Function> */
	__u32 failed;
	__u32 pad;
	__u64 pair[2];
	struct wire_llvm_name record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct llvm_scan);
} llvm_scans SEC(".maps");

/* The verifier knows a pointer only on the stack. */
struct llvm_ctx {
	struct llvm_scan *s;
	const struct wire_llvm *l;
};

static wire_u64 unwind_llvm(wire_u32 file)
{
	return llvm_files[file & (JOBS_FILES - 1)];
}

static __always_inline int llvm_read(void *to, __u32 n, __u64 from)
{
	return bpf_probe_read_user(to, n, (void *)from) != 0;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* A module's number has no memory in this thread, or not yet. */
#define LLVM_NO_MEMORY (~0ull)

/*
 * Set s->next to the head of the thread's list. Nonzero: it cannot be read. As in all systems whose
 * compilers we know, thread-local memory is found by a vector of 16 bytes for each module, whose
 * length is before it.
 */
static __always_inline int llvm_find_head(struct llvm_scan *s, const struct wire_llvm *l)
{
	__u64 vector = contexts_word(internals_fs_base() + 8), n = contexts_word(vector - 16);
	__u64 module = contexts_word(s->bias + l->module), memory;

	s->next = 0;
	if (!vector || !module)
		return 1;
	if (module > n)
		return 0;
	memory = contexts_word(vector + 16 * module);
	if (!memory || memory == LLVM_NO_MEMORY)
		return 0;
	return llvm_read(&s->next, sizeof(s->next), memory + l->head);
}

static __always_inline void llvm_understand(struct llvm_scan *s, const struct wire_llvm *l,
					    __u32 kind)
{
	__u64 unit = s->words[l->unit[kind] & 7];

	if (!s->entries++) {
		s->pass = s->words[l->pass[kind] & 7];
		s->is_legacy = kind == WIRE_LLVM_LEGACY;
	}
	/* Of legacy entries the outermost: a loop's pass has a basic block as its value. */
	if (s->is_certain || kind == WIRE_LLVM_OF_MODULE || !unit)
		return;
	s->function = unit;
	s->is_certain = kind == WIRE_LLVM_OF_FUNCTION;
}

static long llvm_see_entry(__u32 i, struct llvm_ctx *c)
{
	struct llvm_scan *s = c->s;
	const struct wire_llvm *l = c->l;
	__u64 vtable;

	if (!s || !l || !s->next)
		return 1;
	if (s->next < s->low || s->next >= s->high || s->next & 7 ||
	    llvm_read(s->words, 8 * WIRE_LLVM_WORDS, s->next))
		goto fail;
	vtable = s->words[0] - s->bias;
	if (!vtable || vtable >= l->size)
		goto fail;
	for (__u32 kind = 0; kind < WIRE_LLVM_KINDS; kind++)
		if (vtable == l->vtables[kind])
			llvm_understand(s, l, kind);
	s->low = s->next + 8;
	s->next = s->words[l->next & 7];
	if (!s->next || i + 1 < WIRE_LLVM_ENTRIES)
		return 0;
fail:
	s->failed = 1;
	return 1;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static long llvm_see_bucket(__u32 i, struct llvm_ctx *c)
{
	struct llvm_scan *s = c->s;

	if (!s || llvm_read(s->pair, sizeof(s->pair),
			    s->buckets + (s->bucket & s->mask) * WIRE_LLVM_BUCKET))
		return 1;
	if (s->pair[0] == s->function) {
		s->name = s->pair[1];
		return 1;
	}
	s->bucket += i + 1;
	return s->pair[0] == WIRE_LLVM_EMPTY;
}

/* Find the table of names of the function's context. Nonzero: it is none, or not to be read. */
static __always_inline int llvm_find_table(struct llvm_scan *s, const struct wire_llvm *l)
{
	__u64 type = *(const __u64 *)(s->value + (l->type_at & (WIRE_LLVM_VALUE - 8)));
	__u64 context = contexts_word(type + l->context), impl;
	__u32 count = 0;

	if (!context)
		return 1;
	impl = contexts_word(context + l->impl);
	s->buckets = contexts_word(impl + l->names);
	if (!impl || !s->buckets || llvm_read(&count, sizeof(count), impl + l->count))
		return 1;
	s->mask = count - 1;
	return !count || count & s->mask;
}

/* As a value of the kind of functions; nonzero: it is none. */
STACK_APART int llvm_find_name(struct llvm_scan *s, const struct wire_llvm *l)
{
	struct llvm_ctx c = {s, l};

	if (!s || !l || llvm_read(s->value, sizeof(s->value), s->function) ||
	    s->value[l->kind_at & (WIRE_LLVM_VALUE - 1)] != l->kind)
		return 1;
	s->name = 0;
	if (!(s->value[l->named_at & (WIRE_LLVM_VALUE - 1)] & l->named))
		return 0;
	if (llvm_find_table(s, l))
		return 1;
	s->bucket = (__u32)s->function >> 4 ^ (__u32)s->function >> 9;
	bpf_loop(WIRE_LLVM_STEPS, llvm_see_bucket, &c, 0);
	return !s->name;
}

static long llvm_hash_word(__u32 i, struct llvm_ctx *c)
{
	struct llvm_scan *s = c->s;
	__u32 at = 8 * i & (WIRE_LLVM_NAME_MAX - 8);

	if (!s || at >= s->record.size)
		return 1;
	s->number = wire_symbol_add(s->number, *(const __u64 *)(s->record.bytes + at));
	return 0;
}

/* Another process that gets this pid has other numbers. */
static __always_inline __u64 llvm_seed(__u32 pid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 begun = 0;

	if (bpf_core_field_exists(struct task_struct, start_boottime) &&
	    bpf_core_field_exists(struct task_struct, group_leader))
		begun = BPF_CORE_READ(task, group_leader, start_boottime);
	return begun ^ (__u64)pid << 32;
}

/* Copy the name, and set s->number. Nonzero: it is too long, or not to be read. */
STACK_APART int llvm_copy_name(struct llvm_scan *s, const struct wire_llvm *l, __u32 pid)
{
	struct llvm_ctx c = {s, l};
	__u64 size = 0;

	if (!s || !l || llvm_read(&size, sizeof(size), s->name + l->length))
		return 1;
	if (!size || size >= WIRE_LLVM_NAME_MAX)
		return 1;
	/* The last word is hashed whole. */
	*(__u64 *)(s->record.bytes + ((size - 1) & (WIRE_LLVM_NAME_MAX - 8))) = 0;
	UNWIND_KEEP(size);
	size &= WIRE_LLVM_NAME_MAX - 1;
	if (llvm_read(s->record.bytes, size, s->name + l->bytes))
		return 1;
	s->record.size = size;
	s->number = llvm_seed(pid) ^ size;
	bpf_loop(WIRE_LLVM_NAME_MAX / 8, llvm_hash_word, &c, 0);
	s->number = s->number ?: 1;
	return 0;
}

STACK_APART int llvm_send_name(struct llvm_scan *s, __u32 pid)
{
	/* Linux 6.1 takes no key from the memory that a function is given. */
	struct llvm_sent_key key = {.pid = pid};
	__u32 sent = 1;
	__u64 size;

	if (!s)
		return 0;
	key.number = s->number;
	if (bpf_map_lookup_elem(&llvm_sent, &key))
		return 0;
	s->record.type = WIRE_LLVM_NAME;
	s->record.pid = pid;
	s->record.number = s->number;
	size = s->record.size & (WIRE_LLVM_NAME_MAX - 1);
	UNWIND_KEEP(size);
	if (size >= WIRE_LLVM_NAME_MAX)
		return 0;
	/* Else the next sample tries again; the user half counts samples without a name. */
	if (!bpf_ringbuf_output(&ring, &s->record,
				__builtin_offsetof(struct wire_llvm_name, bytes) + size,
				maps_wakeup_flags()))
		bpf_map_update_elem(&llvm_sent, &key, &sent, BPF_ANY);
	return 0;
}

/* ---- A sample -------------------------------------------------------------------------------- */

/*
 * Read the list. Nonzero: something is not as it has to be. All entries are further out than what
 * the thread stands in, and within the stack as far as it was walked.
 */
STACK_APART int llvm_read_list(struct unwind *u, struct llvm_scan *s, const struct wire_llvm *l)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct llvm_ctx c = {s, l};

	if (!u || !s || !l)
		return 1;
	s->bias = u->llvm_bias;
	s->low = regs->sp;
	s->high = u->sample.cut == WIRE_CUT_NOT ? u->sp : s->low + (1ull << 30);
	s->pass = s->function = 0;
	s->entries = s->is_legacy = s->is_certain = s->failed = 0;
	if (llvm_find_head(s, l))
		return 1;
	bpf_loop(WIRE_LLVM_ENTRIES, llvm_see_entry, &c, 0);
	return s->failed;
}

/*
 * LLVM makes no entries for passes over components of the call graph. But the function that runs
 * these has the component on the stack, at a frame that the walk has met.
 */
static __always_inline int llvm_is_of_component(const struct unwind *u, const struct llvm_scan *s)
{
	return u->llvm_sp && s->entries && !s->is_legacy && !s->function;
}

/* Of a component whose functions are gone, the node may have anything. */
static __always_inline __u64 llvm_first_of_component(const struct unwind *u,
						     const struct wire_llvm *l)
{
	__u64 component = contexts_word(u->llvm_sp + l->component);
	__u64 node = contexts_word(contexts_word(component + l->nodes));

	return contexts_word(node + l->node_function);
}

/* Set s->number, and send the name if it is new. Nonzero: the function's name is not known. */
STACK_APART int llvm_name(struct llvm_scan *s, const struct wire_llvm *l, __u32 pid)
{
	if (!s || !l)
		return 1;
	s->number = 0;
	/* Without keys no names of the program are wanted. */
	if (!s->function || !knobs.keys)
		return 0;
	if (llvm_find_name(s, l) || (s->name && llvm_copy_name(s, l, pid)))
		return 1;
	if (s->name)
		llvm_send_name(s, pid);
	return 0;
}

/* The compiler's own library instantiates some passes. */
static __always_inline __u64 llvm_pass_of(const struct unwind *u, const struct llvm_scan *s,
					  const struct wire_llvm *l)
{
	__u64 vtable = s->pass ? contexts_word(s->pass) : 0;

	if (vtable - s->bias < l->size)
		return wire_place(u->llvm, vtable - s->bias);
	return vtable && u->lib && u->lib_file ? wire_place(u->lib_file, vtable - u->lib_bias) : 0;
}

/* Note in the sample what LLVM does, and send the function's name if it is new. */
STACK_APART int llvm_note(struct unwind *u)
{
	__u32 file = u ? u->llvm : 0, zero = 0, scope;
	const struct wire_llvm *l = bpf_map_lookup_elem(&llvm_layouts, &file);
	struct llvm_scan *s = bpf_map_lookup_elem(&llvm_scans, &zero);

	if (!u || !l || !s)
		return 0;
	if (llvm_read_list(u, s, l))
		goto fail;
	scope = s->function ? WIRE_LLVM_FUNCTION : s->entries ? WIRE_LLVM_MODULE : WIRE_LLVM_NONE;
	if (llvm_is_of_component(u, s)) {
		scope = WIRE_LLVM_COMPONENT;
		s->function = llvm_first_of_component(u, l);
	}
	if (llvm_name(s, l, u->sample.pid) && scope != WIRE_LLVM_COMPONENT)
		goto fail;
	u->sample.llvm = scope | (s->is_legacy ? WIRE_LLVM_CODEGEN : 0);
	u->sample.llvm_function = s->number;
	u->sample.llvm_pass = llvm_pass_of(u, s, l);
	return 0;
fail:
	maps_count(WIRE_LOST_LLVM);
	return 0;
}

#endif /* QPROF_LLVM_H */
