/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings of a process that the kernel half has found by itself (sample_mappings.h).
 *
 * Pure logic, compiled twice, like unwind.h. The map gives an entry that was not used for long to
 * another process, and does so at any moment: also while a thread adds to it, whose CPU may stand
 * still between two instructions in a virtual machine. So each mapping has a seal, of the mapping
 * and of the entry's serial, which no other content has. What was written for another process, or
 * is half written, does not fit its seal: readers pass over it, and it takes room at most.
 */
#ifndef QPROF_NOTED_H
#define QPROF_NOTED_H

#include "qprof/wire_samples.h"

#define NOTED_MAX 32

struct noted_mapping {
	struct wire_mapping mapping;
	wire_u64 seal;
};

struct noted_mappings {
	wire_u64 serial; /* of this content; 0: it is being made */
	wire_u32 pid;
	wire_u32 n; /* items that were given out; may be more than there are */
	struct noted_mapping items[NOTED_MAX];
};

static inline wire_u64 noted_mix(wire_u64 seal, wire_u64 word)
{
	return (seal ^ word) * 0x9e3779b97f4a7c15ull;
}

static inline wire_u64 noted_seal(wire_u64 serial, const struct wire_mapping *m)
{
	wire_u64 seal = noted_mix(noted_mix(serial, m->start), m->end);

	return noted_mix(noted_mix(seal, m->bias), m->file);
}

/* The entry is new, and all zeroes. */
static inline void noted_begin(volatile struct noted_mappings *n, wire_u32 pid, wire_u64 serial)
{
	n->pid = pid;
	n->serial = serial;
}

/* Several threads of the process may add at a time. One without room is looked up again. */
static inline void noted_add(volatile struct noted_mappings *n, wire_u32 pid,
			     const struct wire_mapping *m)
{
	volatile struct noted_mapping *to;
	wire_u64 serial = n->serial;
	wire_u32 at;

	if (!serial || n->pid != pid || n->n >= NOTED_MAX)
		return;
	at = __sync_fetch_and_add(&n->n, 1);
	if (at >= NOTED_MAX)
		return;
	to = &n->items[at];
	to->mapping.start = m->start;
	to->mapping.end = m->end;
	to->mapping.bias = m->bias;
	to->mapping.file = m->file;
	to->seal = noted_seal(serial, m);
}

/* Call fn(i, ctx) for i = 0.. below n until it returns nonzero. */
static void noted_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx);

struct noted_search {
	const volatile struct noted_mappings *in;
	struct wire_mapping *out;
	wire_u64 serial;
	wire_u64 pc;
	int found;
};

static long noted_find_at(wire_u32 i, void *p)
{
	struct noted_search *s = p;
	const volatile struct noted_mapping *item = &s->in->items[i & (NOTED_MAX - 1)];
	struct wire_mapping *out = s->out;

	if (s->pc - item->mapping.start >= item->mapping.end - item->mapping.start)
		return 0;
	out->start = item->mapping.start;
	out->end = item->mapping.end;
	out->bias = item->mapping.bias;
	out->file = item->mapping.file;
	s->found = item->seal == noted_seal(s->serial, out) &&
		   s->pc - out->start < out->end - out->start;
	return s->found;
}

/* Set *out to the mapping that holds `pc`; nonzero: there is none, and *out may be anything. */
static inline int noted_find(const volatile struct noted_mappings *n, wire_u32 pid, wire_u64 pc,
			     struct wire_mapping *out)
{
	struct noted_search s = {.in = n, .out = out, .serial = n->serial, .pc = pc};

	if (s.serial && n->pid == pid)
		noted_loop(NOTED_MAX, noted_find_at, &s);
	return !s.found;
}

#endif /* QPROF_NOTED_H */
