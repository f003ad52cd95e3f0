/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The actions of each role of probe site. A site's meaning is in its cookie (qprof/wire.h): no
 * symbols and no files are known here.
 */
#ifndef QPROF_SITES_H
#define QPROF_SITES_H

#include "arguments.h"
#include "contexts.h"
#include "labels.h"
#include "operands.h"
#include "stack_guards.h"
#include "stack_queries.h"
#include "threads.h"

#define SITE_BODY_SP(ctx, cookie) (PT_REGS_SP(ctx) + wire_cookie_sp_delta(cookie))

/* A query starts. */
static __always_inline void site_push(struct thread_stack *t, __u64 cookie, __u64 sp, __u8 state)
{
	stack_push(t, cookie, sp, state, off_cpu_begin(t, bpf_ktime_get_ns()));
	off_cpu_done(t);
}

static __always_inline __u32 site_query_id(__u64 cookie)
{
	return wire_wrapper_key(wire_cookie_lib(cookie), wire_cookie_query(cookie));
}

/* The key of the query that starts here, and that the cookie names. */
static __always_inline __u64 site_key(struct pt_regs *ctx, __u64 cookie, __u32 place)
{
	return knobs.keys ? operand_key(ctx, place, site_query_id(cookie)) : 0;
}

/* At the instruction that names the query. Returns 0. */
static __always_inline int site_push_named(struct pt_regs *ctx, __u64 cookie, __u8 state)
{
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	if (knobs.keys)
		contexts_see(t, wire_cookie_lib(cookie), PT_REGS_IP(ctx));
	t->scratch.key = site_key(ctx, cookie, wire_cookie_reg(cookie));
	site_push(t, cookie, SITE_BODY_SP(ctx, cookie), state);
	return 0;
}

/* A key on the stack is read where the rest of the cookie has room for its slot. */
static __noinline int site_start_body(struct pt_regs *ctx, __u64 cookie)
{
	__u32 place = wire_cookie_reg(cookie);
	struct thread_stack *t;

	if (place >= WIRE_HIDDEN || (place & 0xf) != WIRE_KEY_ON_STACK)
		return site_push_named(ctx, cookie, FRAME_STARTED);
	t = thread_current();
	if (!t)
		return 0;
	t->scratch.key = 0;
	if (knobs.keys)
		t->scratch.key = operand_key_on_stack(ctx, place >> 4, wire_cookie_key_slot(cookie),
						      site_query_id(cookie));
	site_push(t, cookie, PT_REGS_SP(ctx), FRAME_STARTED);
	return 0;
}

static __always_inline int site_start(struct pt_regs *ctx, __u64 cookie)
{
	return site_push_named(ctx, cookie, FRAME_STARTED);
}

/* The caller of the wrapper that is being entered; 0 if it is no code of the library. */
static __always_inline __u32 site_caller(struct pt_regs *ctx, __u64 cookie)
{
	__u64 at = PT_REGS_SP(ctx) + 8 * wire_cookie_request_slot(cookie), caller = 0;

	if (!bpf_probe_read_user(&caller, sizeof(caller), (void *)at))
		caller += wire_cookie_request_addr(cookie) - PT_REGS_IP(ctx);
	if (caller && !(caller >> 32))
		return caller;
	maps_count(WIRE_COUNT_NO_CALLER);
	return 0;
}

/* The caller's sp at the call of the wrapper. */
#define SITE_REQUEST_SP(ctx, cookie) (PT_REGS_SP(ctx) + 8 * wire_cookie_request_slot(cookie) + 8)

static __always_inline int site_request(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = SITE_REQUEST_SP(ctx, cookie);
	struct thread_stack *t = thread_current();
	__u64 now;

	if (!t)
		return 0;
	now = off_cpu_begin(t, stack_in_segment(t, sp) ? 0 : bpf_ktime_get_ns());
	stack_request(t, cookie, sp, site_caller(ctx, cookie), now);
	off_cpu_done(t);
	return 0;
}

/*
 * The cookie of the start of a wrapper's query, whose group and key do not fit into the cookie of a
 * request.
 */
static __noinline __u64 site_wrapper_cookie(__u32 lib, __u32 query)
{
	__u32 key = wire_wrapper_key(lib, query);
	const struct wire_wrappers *w = bpf_map_lookup_elem(&wrappers, &key);

	return wire_cookie(0, lib, query, w ? w->group : WIRE_NO_GROUP,
			   w ? (w->hidden ? WIRE_HIDDEN : w->key) : WIRE_REG_NONE, 0);
}

/* A request and a start in one, for callers: two programs at one site run in no certain order. */
static __noinline int site_requested_wrapper(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now, sp = SITE_REQUEST_SP(ctx, cookie);
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	now = off_cpu_begin(t, bpf_ktime_get_ns());
	stack_request(t, cookie, sp, site_caller(ctx, cookie), now);
	cookie = site_wrapper_cookie(wire_cookie_lib(cookie), wire_cookie_query(cookie));
	t->scratch.key = site_key(ctx, cookie, wire_cookie_reg(cookie));
	stack_push(t, cookie, sp - 8, FRAME_WRAPPED, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_wrapper(struct pt_regs *ctx, __u64 cookie)
{
	return knobs.callers ? site_requested_wrapper(ctx, cookie)
			     : site_push_named(ctx, cookie, FRAME_WRAPPED);
}

/*
 * How far the provider in the vtable of the query that a body runs is from the site, or the number
 * of that query. If it cannot be read, it is in no table.
 */
static __always_inline __u32 site_read_distance(struct pt_regs *ctx, __u64 cookie)
{
	__u32 reg = wire_cookie_reg(cookie), slot = wire_cookie_group(cookie);
	int numbered = reg != WIRE_REG_NONE && reg & WIRE_NUMBERED;
	__u64 vtable = 0, provider = 0;

	/* The one above those that there are stands for none. */
	if ((reg & 15) != (WIRE_REG_NONE & 15))
		vtable = operand_reg(ctx, reg & 15);
	else if (bpf_probe_read_user(&vtable, sizeof(vtable), (void *)(PT_REGS_SP(ctx) + 8 * slot)))
		return -1;
	vtable += wire_cookie_vtable_offset(cookie);
	if (bpf_probe_read_user(&provider, sizeof(provider), (void *)vtable))
		return -1;
	return numbered ? (__u16)provider : provider - PT_REGS_IP(ctx);
}

/* The table's entry for the provider that a body is about to call; NULL if there is none. */
static __always_inline struct wire_provider *site_find_provider(struct pt_regs *ctx, __u64 cookie)
{
	struct wire_provider_key key = {};
	struct wire_provider *p;

	key.distance = site_read_distance(ctx, cookie);
	key.site = wire_cookie_query(cookie);
	key.lib = wire_cookie_lib(cookie);
	p = bpf_map_lookup_elem(&providers, &key);
	if (!p)
		maps_count(WIRE_DROP_UNKNOWN_PROVIDER);
	return p;
}

static __noinline __u64 site_identified_key(struct pt_regs *ctx, __u64 cookie,
					    const struct wire_provider *p)
{
	if (knobs.keys && p->key < WIRE_HIDDEN && (p->key & 0xf) == WIRE_KEY_ON_STACK)
		return operand_key_on_stack(ctx, p->key >> 4, p->slot, site_query_id(cookie));
	return site_key(ctx, cookie, p->key);
}

/*
 * Fires for every query of the body. A query with a START site of its own is left to that site; the
 * table has it too, as WIRE_NO_QUERY, so a provider that is not in the table is a miss.
 */
static __noinline int site_identify(struct pt_regs *ctx, __u64 cookie)
{
	struct thread_stack *t = thread_current();
	struct wire_provider *p = t ? site_find_provider(ctx, cookie) : NULL;

	if (!t || !p || p->query == WIRE_NO_QUERY)
		return 0;
	cookie = wire_cookie(0, wire_cookie_lib(cookie), p->query, p->group,
			     p->hidden ? WIRE_HIDDEN : WIRE_REG_NONE, 0);
	t->scratch.key = site_identified_key(ctx, cookie, p);
	site_push(t, cookie, PT_REGS_SP(ctx), FRAME_STARTED);
	return 0;
}

STACK_APART int site_send_hit(struct thread_stack *t, __u32 lib, __u64 now, __u32 invocation)
{
	struct frame *top;
	struct wire_hit *h;

	if (!t)
		return 0;
	top = stack_top(t);
	h = bpf_ringbuf_reserve(&ring, sizeof(*h), 0);
	if (!h) {
		maps_count(WIRE_LOST_RING_FULL);
		return 0;
	}
	*h = (struct wire_hit){
		.type = WIRE_HIT,
		.lib = lib,
		.depth = top ? stack_depth_above(top) : 0,
		.pid = t->pid,
		.tid = t->tid,
		.invocation = invocation,
		.time_ns = now,
	};
	bpf_ringbuf_submit(h, maps_wakeup_flags());
	t->spans++;
	return 0;
}

/*
 * By far the most frequent role: it reads only the top frame, and leaves it to the next start or
 * end to find that frame dead.
 */
static __noinline int site_hit(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_send_hit(t, wire_cookie_lib(cookie), now, operand_hit(ctx, cookie));
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	stack_on_end(t, cookie, PT_REGS_SP(ctx), now, operand_invocation(ctx, cookie));
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_caught(struct pt_regs *ctx, __u64 cookie)
{
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	stack_on_caught(t, PT_REGS_SP(ctx), off_cpu_begin(t, bpf_ktime_get_ns()));
	off_cpu_done(t);
	return 0;
}

static __always_inline void site_guard_event(struct thread_stack *t, struct pt_regs *ctx,
					     __u64 cookie)
{
	t->scratch.event = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = wire_cookie_query(cookie),
		.group = wire_cookie_group(cookie),
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = wire_cookie_number(cookie),
		.kind = wire_cookie_kind(cookie),
	};
}

static __always_inline int site_guard(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);
	__u32 label = wire_cookie_label(cookie);
	__u64 at = PT_REGS_SP(ctx) + 8 * label, text;

	if (!t || thread_has_stopped(t))
		return 0;
	/* So a wait has its job before the first sample. */
	if (knobs.keys)
		contexts_see(t, wire_cookie_lib(cookie), PT_REGS_IP(ctx));
	site_guard_event(t, ctx, cookie);
	if (label == WIRE_LABEL_WITH_ARGUMENT) {
		if (knobs.keys)
			argument_read(ctx, t, cookie);
	} else if (label < WIRE_LABEL_WITH_ARGUMENT) {
		/* Where the text is, and how long: of an unreadable one, as no label is. */
		argument_load(t, at, 8);
		text = t->scratch.value;
		if (argument_load(t, at + 8, 8))
			t->scratch.value = ~0ull;
		label_read(t, text, t->scratch.value, 0);
	}
	stack_on_guard(t, label == WIRE_LABEL_OF_QUERY, now);
	off_cpu_done(t);
	return 0;
}

static __noinline int site_guard_query(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_stack *t = thread_current();
	struct wire_provider *p = t ? site_find_provider(ctx, cookie) : NULL;

	if (!t || !p)
		return 0;
	now = off_cpu_begin(t, now);
	t->scratch.event = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = p->query,
		.group = p->group,
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = p->number,
		.kind = p->kind,
		.hidden = p->hidden,
	};
	stack_on_guard(t, 0, now);
	off_cpu_done(t);
	return 0;
}

/* The step from the return address at `at`; NULL if it is unknown, or cannot be read. */
static __always_inline struct wire_step *site_find_step(struct pt_regs *ctx, __u64 at,
							struct wire_provider_key *key)
{
	__u64 ret = 0;

	if (bpf_probe_read_user(&ret, sizeof(ret), (void *)at))
		return NULL;
	key->distance = ret - PT_REGS_IP(ctx);
	return bpf_map_lookup_elem(&steps, key);
}

/* The query of a load, by the vtable in the frame of the body that wants it, or NULL. */
static __always_inline struct wire_provider *site_ask_callers(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = PT_REGS_SP(ctx), vtable = 0, provider = 0;
	struct wire_provider_key key = {};
	struct wire_step *s;

	key.site = wire_cookie_query(cookie);
	key.lib = wire_cookie_lib(cookie);
	s = site_find_step(ctx, sp + 8 * wire_cookie_label(cookie), &key);
	if (s && s->next)
		s = site_find_step(ctx, sp + 8 * (__u64)s->slot, &key);
	if (!s || s->next)
		return NULL;
	if (s->reg != WIRE_REG_NONE)
		vtable = operand_reg(ctx, s->reg);
	else if (bpf_probe_read_user(&vtable, sizeof(vtable), (void *)(sp + 8 * (__u64)s->slot)))
		return NULL;
	vtable += 8 * (__u64)s->vtable_offset;
	if (bpf_probe_read_user(&provider, sizeof(provider), (void *)vtable))
		return NULL;
	key.distance = provider - PT_REGS_IP(ctx);
	return bpf_map_lookup_elem(&providers, &key);
}

static __noinline int site_guard_called(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);
	struct wire_provider *p;

	if (!t)
		return 0;
	site_guard_event(t, ctx, cookie);
	p = site_ask_callers(ctx, cookie);
	if (!p)
		maps_count(WIRE_COUNT_NO_LABEL);
	t->scratch.event.query = p ? p->query : WIRE_NO_QUERY;
	t->scratch.event.hidden = p && p->hidden;
	stack_on_guard(t, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_guard_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_guard_event(t, ctx, cookie);
	stack_on_guard_end(t, 1, now);
	off_cpu_done(t);
	return 0;
}

/* A timer's number is never 0, which is for queries. */
static __always_inline void site_timer_event(struct thread_stack *t, struct pt_regs *ctx,
					     __u64 cookie)
{
	__u64 sp = SITE_BODY_SP(ctx, cookie);

	t->scratch.event = (struct frame){
		.sp = sp,
		.query = WIRE_NO_QUERY,
		.group = WIRE_SCOPE_TIMER,
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = (OPERAND_FIELD(ctx, di) - sp) / 8 | 0x8000,
		.kind = WIRE_KIND_ACTIVITY,
	};
}

static __always_inline int site_timer(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t || thread_has_stopped(t))
		return 0;
	site_timer_event(t, ctx, cookie);
	label_read(t, OPERAND_FIELD(ctx, dx), OPERAND_FIELD(ctx, cx), 1);
	stack_on_guard(t, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_timer_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_timer_event(t, ctx, cookie);
	stack_on_guard_end(t, 0, now);
	off_cpu_done(t);
	return 0;
}

#endif /* QPROF_SITES_H */
