/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arguments of activities: read where the plan says that they are, and sent as text, before the
 * span. All of it is the compiler's memory and may hold anything: every length is limited, and
 * nothing that was read is used as an index of ours.
 */
#ifndef QPROF_ARGUMENTS_H
#define QPROF_ARGUMENTS_H

#include "maps.h"
#include "names.h"
#include "operands.h"

/* By wire_lib_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct wire_source);
} sources SEC(".maps");

/* By library. All zeroes: not known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_LIBS + 1);
	__type(key, __u32);
	__type(value, struct wire_expansions);
} expansions SEC(".maps");

/* Read `size` bytes, 4 or 8, into t->scratch.value. Nonzero if that fails. */
static __always_inline int argument_load(struct thread_stack *t, __u64 at, __u32 size)
{
	t->scratch.value = 0;
	return maps_read_scratch(t, MAPS_SCRATCH(value), size == 4 ? 4 : 8, at);
}

/* Read what is at a place into t->scratch.value. Nonzero if that fails. */
static __noinline int argument_place(struct pt_regs *ctx, struct thread_stack *t,
				     const struct wire_place *p)
{
	__u64 *value;

	if (!t || !p)
		return -1;
	value = &t->scratch.value;
	*value = p->reg == WIRE_PLACE_SP ? PT_REGS_SP(ctx) : operand_reg(ctx, p->reg);
#pragma unroll
	for (__u32 i = 0; i < WIRE_PLACE_LOADS; i++) {
		if (i >= p->n)
			break;
		if (argument_load(t, *value + (__s64)p->at[i], i + 1 < p->n ? 8 : p->size))
			return -1;
	}
	return 0;
}

/* Copy the text of `length` bytes at `text`. Nonzero if that fails. */
STACK_APART int argument_copy(struct thread_stack *t, __u64 text, __u64 length)
{
	struct wire_argument *r;
	__u64 n;

	if (!t || length != (__u32)length)
		return -1;
	r = &t->scratch.argument;
	n = length < WIRE_ARGUMENT_MAX ? length : WIRE_ARGUMENT_MAX;
	r->cut = length - n;
	r->size = n;
	return n ? maps_read_scratch(t, MAPS_SCRATCH(argument.bytes), n, text) : 0;
}

/* Read the address of the globals of the thread's session into t->scratch.value. */
STACK_APART int argument_globals(struct thread_stack *t, const struct wire_layout *l, __u64 bias)
{
	if (!t || !l || !l->size)
		return -1;
	return argument_load(t, bias + l->globals, 8) ||
	       argument_load(t, internals_fs_base() + t->scratch.value, 8);
}

/* Copy the text of a symbol; t->scratch.value are the globals. */
STACK_APART int argument_symbol(struct thread_stack *t, const struct wire_layout *l, __u32 symbol)
{
	__u64 *value, at;

	if (!t || !l)
		return -1;
	value = &t->scratch.value;
	at = *value;
	if (argument_load(t, at + l->n_symbols, 8) || symbol >= *value ||
	    argument_load(t, at + l->symbols, 8))
		return -1;
	at = *value + (__u64)symbol * l->symbol_size;
	if (argument_load(t, at + l->length, 8))
		return -1;
	symbol = *value;
	if (*value != symbol || argument_load(t, at + l->text, 8))
		return -1;
	return argument_copy(t, *value, symbol);
}

/* Copy the name of the macro of an expansion; t->scratch.value are the globals. */
STACK_APART int argument_macro(struct thread_stack *t, __u32 lib, const struct wire_layout *l,
			       __u32 number)
{
	const struct wire_expansions *x = bpf_map_lookup_elem(&expansions, &lib);
	__u64 *value, globals, at, macro, symbol;

	if (!t || !x || !x->size)
		return -1;
	value = &t->scratch.value;
	globals = *value;
	if (argument_load(t, globals + x->count, 8) || number >= *value ||
	    argument_load(t, globals + x->table, 8))
		return -1;
	at = *value + (__u64)number * x->size;
	if (x->call && !argument_load(t, at + x->call, 8))
		t->scratch.argument.number = *value;
	at += x->kind;
	if (maps_read_scratch(t, MAPS_SCRATCH(kind), WIRE_KIND_BYTES, at))
		return -1;
	macro = x->macro;
	symbol = x->symbol;
	NAMES_KEEP(macro);
	NAMES_KEEP(symbol);
	if (macro >= WIRE_KIND_BYTES || symbol > WIRE_KIND_BYTES - 4 ||
	    t->scratch.kind[0] != x->tag)
		return -1;
	macro = t->scratch.kind[macro];
	NAMES_KEEP(macro);
	if (macro >= sizeof(x->macros))
		return -1;
	t->scratch.argument.macro = x->macros[macro];
	*value = globals;
	return argument_symbol(t, l, *(__u32 *)(t->scratch.kind + symbol));
}

/* Read the text of the current event's argument. Nonzero if that fails. */
static __noinline int argument_text(struct pt_regs *ctx, struct thread_stack *t,
				    const struct wire_source *s, __u32 lib)
{
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	__u64 first;

	if (!t || !s || !l || argument_place(ctx, t, &s->string))
		return -1;
	first = t->scratch.value;
	if (s->text == WIRE_ARGUMENT_STRING || s->text == WIRE_ARGUMENT_C_STRING) {
		if (argument_place(ctx, t, &s->length))
			return -1;
		if (s->text == WIRE_ARGUMENT_C_STRING) {
			t->scratch.argument.macro = WIRE_MACRO_QUOTED;
			/* Without a NUL it is no such string, and too long then. */
			t->scratch.value--;
		}
		return argument_copy(t, first, t->scratch.value);
	}
	if (argument_globals(t, l, PT_REGS_IP(ctx) - s->site))
		return -1;
	if (s->text == WIRE_ARGUMENT_EXPANSION)
		return argument_macro(t, lib, l, first);
	return argument_symbol(t, l, first);
}

STACK_APART int argument_send(struct thread_stack *t)
{
	struct wire_argument *r;
	__u64 size;

	if (!t)
		return -1;
	r = &t->scratch.argument;
	r->type = WIRE_ARGUMENT;
	r->pid = t->pid;
	r->argument = __sync_fetch_and_add(&last_argument, 1) + 1;
	size = r->size;
	NAMES_KEEP(size);
	if (size > WIRE_ARGUMENT_MAX)
		return -1;
	NAMES_KEEP(size);
	size += sizeof(*r) - WIRE_ARGUMENT_MAX;
	if (bpf_ringbuf_output(&ring, r, size, maps_wakeup_flags()))
		return -1;
	t->scratch.event.key = r->argument;
	return 0;
}

/*
 * Give the current event, the start of a guard, its argument, if it can be read. The calling
 * program must be sleepable.
 */
static __noinline int argument_read(struct pt_regs *ctx, struct thread_stack *t,
				    const struct wire_site *site)
{
	__u32 lib = site->lib, key = wire_lib_key(lib, site->query);
	const struct wire_source *s = bpf_map_lookup_elem(&sources, &key);
	struct wire_argument *r;

	if (!t || !s || knobs.silent)
		return 0;
	r = &t->scratch.argument;
	r->lib = lib;
	r->value = WIRE_VALUE_NONE;
	r->macro = WIRE_MACRO_UNKNOWN;
	r->number = 0;
	if (argument_text(ctx, t, s, lib))
		return 0;
	if (s->value == WIRE_VALUE_CALL) {
		r->value = r->number ? WIRE_VALUE_SPAN : WIRE_VALUE_NONE;
		return argument_send(t);
	}
	r->number = 0;
	if (s->value && !argument_place(ctx, t, &s->number)) {
		r->value = s->value;
		r->number = t->scratch.value;
	}
	return argument_send(t);
}

#endif /* QPROF_ARGUMENTS_H */
