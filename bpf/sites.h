/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The actions of each role of probe site. Its struct wire_site says what a site means: no symbols
 * and no files are known here.
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

/* The site that a probe belongs to. NULL: the table has no such entry. */
static __always_inline const struct wire_site *site_of_probe(struct pt_regs *ctx)
{
	__u32 cookie = bpf_get_attach_cookie(ctx);

	return bpf_map_lookup_elem(&sites, &cookie);
}

#define SITE_BODY_SP(ctx, site) (PT_REGS_SP(ctx) + (site)->sp_delta)
/* The ELF address of what is at `address`, if that is a part of the site's library. */
#define SITE_ELF(ctx, site, address) ((site)->addr + (address)-PT_REGS_IP(ctx))

/* The key of `query`, which starts at this site. */
static __noinline __u64 site_key(struct pt_regs *ctx, const struct wire_key_place *place, __u32 lib,
				 __u32 query)
{
	return knobs.keys && place ? operand_key(ctx, place, wire_lib_key(lib, query)) : 0;
}

/* The current event: the query that the site names starts. */
static __always_inline void site_start_event(struct thread_stack *t, struct pt_regs *ctx,
					     const struct wire_site *site, __u64 sp, __u8 state)
{
	t->scratch.event = (struct frame){
		.sp = sp,
		.query = site->query,
		.group = site->group,
		.lib = site->lib,
		.state = state,
		.hidden = site->hidden,
	};
	t->scratch.event.key = site_key(ctx, &site->key, site->lib, site->query);
}

static __always_inline void site_push(struct thread_stack *t)
{
	stack_push(t, off_cpu_begin(t, bpf_ktime_get_ns()));
	off_cpu_done(t);
}

/* WIRE_ROLE_START, WIRE_ROLE_START_BODY, and without callers WIRE_ROLE_WRAPPER. */
static __noinline int site_start(struct pt_regs *ctx, const struct wire_site *site)
{
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	if (knobs.keys)
		contexts_see(t, site->lib, PT_REGS_IP(ctx));
	site_start_event(t, ctx, site, SITE_BODY_SP(ctx, site),
			 site->role == WIRE_ROLE_WRAPPER ? FRAME_WRAPPED : FRAME_STARTED);
	site_push(t);
	return 0;
}

/* The caller of the wrapper that is being entered; 0 if it is no code of the library. */
static __always_inline __u32 site_caller(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 caller = 0;

	if (!bpf_probe_read_user(&caller, sizeof(caller), (void *)(PT_REGS_SP(ctx) + site->slot)))
		caller = SITE_ELF(ctx, site, caller);
	if (caller && !(caller >> 32))
		return caller;
	maps_count(WIRE_COUNT_NO_CALLER);
	return 0;
}

/* The caller's sp at the call of the wrapper. */
#define SITE_REQUEST_SP(ctx, site) (PT_REGS_SP(ctx) + (site)->slot + 8)

static __always_inline int site_request(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 sp = SITE_REQUEST_SP(ctx, site);
	struct thread_stack *t = thread_current();
	__u64 now;

	if (!t)
		return 0;
	now = off_cpu_begin(t, stack_in_segment(t, sp) ? 0 : bpf_ktime_get_ns());
	stack_request(t, site, sp, site_caller(ctx, site), now);
	off_cpu_done(t);
	return 0;
}

/* A request and a start in one, for callers: two programs at one site run in no certain order. */
static __noinline int site_requested_wrapper(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now, sp = SITE_REQUEST_SP(ctx, site);
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	now = off_cpu_begin(t, bpf_ktime_get_ns());
	stack_request(t, site, sp, site_caller(ctx, site), now);
	site_start_event(t, ctx, site, sp - 8, FRAME_WRAPPED);
	stack_push(t, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_wrapper(struct pt_regs *ctx, const struct wire_site *site)
{
	return knobs.callers ? site_requested_wrapper(ctx, site) : site_start(ctx, site);
}

/*
 * How far the provider in the vtable of the query that a body runs is from the site, or the number
 * of that query. If it cannot be read, it is in no table.
 */
static __always_inline __u32 site_read_distance(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 vtable = 0, provider = 0;

	if (site->reg != WIRE_REG_NONE)
		vtable = operand_reg(ctx, site->reg);
	else if (bpf_probe_read_user(&vtable, sizeof(vtable),
				     (void *)(PT_REGS_SP(ctx) + site->slot)))
		return -1;
	if (bpf_probe_read_user(&provider, sizeof(provider), (void *)(vtable + site->offset)))
		return -1;
	return site->numbered ? (__u16)provider : provider - PT_REGS_IP(ctx);
}

/* The table's entry for the provider that a body is about to call; NULL if there is none. */
static __always_inline struct wire_provider *site_find_provider(struct pt_regs *ctx,
								const struct wire_site *site)
{
	struct wire_provider_key key = {};
	struct wire_provider *p;

	key.distance = site_read_distance(ctx, site);
	key.site = bpf_get_attach_cookie(ctx);
	p = bpf_map_lookup_elem(&providers, &key);
	if (!p)
		maps_count(WIRE_DROP_UNKNOWN_PROVIDER);
	return p;
}

/*
 * Fires for every query of the body. A query with a START site of its own is left to that site; the
 * table has it too, as WIRE_NO_QUERY, so a provider that is not in the table is a miss.
 */
static __noinline int site_identify(struct pt_regs *ctx, const struct wire_site *site)
{
	struct thread_stack *t = thread_current();
	struct wire_provider *p = t ? site_find_provider(ctx, site) : NULL;

	if (!t || !p || p->query == WIRE_NO_QUERY)
		return 0;
	t->scratch.event = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = p->query,
		.group = p->group,
		.lib = site->lib,
		.state = FRAME_STARTED,
		.hidden = p->hidden,
	};
	t->scratch.event.key = site_key(ctx, &p->key, site->lib, p->query);
	site_push(t);
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
static __noinline int site_hit(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_send_hit(t, site->lib, now, operand_invocation(ctx, site));
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_end(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	stack_on_end(t, site, PT_REGS_SP(ctx), now, operand_invocation(ctx, site));
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_caught(struct pt_regs *ctx, const struct wire_site *site)
{
	struct thread_stack *t = thread_current();

	if (!t)
		return 0;
	stack_on_caught(t, PT_REGS_SP(ctx), off_cpu_begin(t, bpf_ktime_get_ns()));
	off_cpu_done(t);
	return 0;
}

static __always_inline void site_guard_event(struct thread_stack *t, struct pt_regs *ctx,
					     const struct wire_site *site)
{
	t->scratch.event = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = site->query,
		.group = site->group,
		.lib = site->lib,
		.state = FRAME_GUARD,
		.number = site->number,
		.kind = site->kind,
	};
}

static __always_inline int site_guard(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);
	__u64 at = PT_REGS_SP(ctx) + site->slot, text;

	if (!t || thread_has_stopped(t))
		return 0;
	/* So a wait has its job before the first sample. */
	if (knobs.keys)
		contexts_see(t, site->lib, PT_REGS_IP(ctx));
	site_guard_event(t, ctx, site);
	if (site->label == WIRE_LABEL_WITH_ARGUMENT) {
		if (knobs.keys)
			argument_read(ctx, t, site);
	} else if (site->label == WIRE_LABEL_IN_MEMORY) {
		/* Where the text is, and how long: of an unreadable one, as no label is. */
		argument_load(t, at, 8);
		text = t->scratch.value;
		if (argument_load(t, at + 8, 8))
			t->scratch.value = ~0ull;
		label_read(t, text, SITE_ELF(ctx, site, text), t->scratch.value, 0);
	}
	stack_on_guard(t, site->label == WIRE_LABEL_OF_QUERY, now);
	off_cpu_done(t);
	return 0;
}

static __noinline int site_guard_query(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_stack *t = thread_current();
	struct wire_provider *p = t ? site_find_provider(ctx, site) : NULL;

	if (!t || !p)
		return 0;
	now = off_cpu_begin(t, now);
	t->scratch.event = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = p->query,
		.group = p->group,
		.lib = site->lib,
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
static __always_inline struct wire_provider *site_ask_callers(struct pt_regs *ctx,
							      const struct wire_site *site)
{
	__u64 sp = PT_REGS_SP(ctx), vtable = 0, provider = 0;
	struct wire_provider_key key = {};
	struct wire_step *s;

	key.site = bpf_get_attach_cookie(ctx);
	s = site_find_step(ctx, sp + site->slot, &key);
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

static __noinline int site_guard_called(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);
	struct wire_provider *p;

	if (!t)
		return 0;
	site_guard_event(t, ctx, site);
	p = site_ask_callers(ctx, site);
	if (!p)
		maps_count(WIRE_COUNT_NO_LABEL);
	t->scratch.event.query = p ? p->query : WIRE_NO_QUERY;
	t->scratch.event.hidden = p && p->hidden;
	stack_on_guard(t, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_guard_end(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_guard_event(t, ctx, site);
	stack_on_guard_end(t, 1, now);
	off_cpu_done(t);
	return 0;
}

/* A timer's number is never 0, which is for queries. */
static __always_inline void site_timer_event(struct thread_stack *t, struct pt_regs *ctx,
					     const struct wire_site *site)
{
	__u64 sp = SITE_BODY_SP(ctx, site);

	t->scratch.event = (struct frame){
		.sp = sp,
		.query = WIRE_NO_QUERY,
		.group = WIRE_SCOPE_TIMER,
		.lib = site->lib,
		.state = FRAME_GUARD,
		.number = (OPERAND_FIELD(ctx, di) - sp) / 8 | 0x8000,
		.kind = WIRE_KIND_ACTIVITY,
	};
}

static __always_inline int site_timer(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t || thread_has_stopped(t))
		return 0;
	site_timer_event(t, ctx, site);
	label_read(t, OPERAND_FIELD(ctx, dx), SITE_ELF(ctx, site, OPERAND_FIELD(ctx, dx)),
		   OPERAND_FIELD(ctx, cx), 1);
	stack_on_guard(t, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int site_timer_end(struct pt_regs *ctx, const struct wire_site *site)
{
	__u64 now;
	struct thread_stack *t = thread_begin_hit(&now);

	if (!t)
		return 0;
	site_timer_event(t, ctx, site);
	stack_on_guard_end(t, 0, now);
	off_cpu_done(t);
	return 0;
}

#endif /* QPROF_SITES_H */
