// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel half: what is done at each role of probe site, and the life of the followed processes.
 * Knows no symbols and no files: what a site means is in its cookie (qprof/wire.h).
 *
 * Entry-style probes only. A return probe replaces the return address on the compiler's stack, and
 * rustc, which unwinds for every error it reports, would abort on it.
 */
#include "counted.h"
#include "environment.h"
#include "guards.h"
#include "labels.h"
#include "maps.h"
#include "operands.h"
#include "queries.h"
#include "switches.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* A thread may be gone before anybody could ask for its name. */
static __always_inline void send_thread(const struct thread_stack *t)
{
	struct wire_thread *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count(WIRE_LOST_PROCESS_RECORD);
		return;
	}
	*r = (struct wire_thread){
		.type = WIRE_THREAD,
		.pid = t->pid,
		.tid = t->tid,
		.time_ns = bpf_ktime_get_ns(),
	};
	bpf_get_current_comm(r->name, sizeof(r->name));
	bpf_ringbuf_submit(r, wakeup_flags());
}

/* The current thread has no storage. True if it has now: its process is followed. */
STACK_APART int begin_thread(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct thread_stack *t;

	if (!bpf_map_lookup_elem(&targets, &pid)) {
		count(WIRE_COUNT_HITS_OTHER);
		return 0;
	}
	t = bpf_task_storage_get(&stacks, bpf_get_current_task_btf(), NULL,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count(WIRE_COUNT_HITS);
		count(WIRE_LOST_NO_STORAGE);
		return 0;
	}
	t->hits = 1;
	t->pid = pid;
	t->tid = (__u32)id;
	send_thread(t);
	return 1;
}

/*
 * The current thread's stack, or NULL if its process is not followed. A followed thread has
 * storage, so the table of targets is only asked once per thread.
 */
static __always_inline struct thread_stack *current_stack(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_stack *t;

	if (!enabled)
		return NULL;
	t = bpf_task_storage_get(&stacks, task, NULL, 0);
	if (t) {
		t->hits++;
		if (knobs.governed && t->hits >= HITS_STEP)
			count_n(WIRE_COUNT_HITS, __sync_lock_test_and_set(&t->hits, 0));
		return t;
	}
	return begin_thread() ? bpf_task_storage_get(&stacks, task, NULL, 0) : NULL;
}

/*
 * A probe was hit, at the time at which this is called, which becomes the one that counts: see
 * off_cpu.h. NULL if the thread is not followed; else the work on its stack ends with
 * off_cpu_done().
 */
static __always_inline struct thread_stack *begin_hit(__u64 *now)
{
	struct thread_stack *t;

	*now = bpf_ktime_get_ns();
	t = current_stack();
	if (t)
		*now = off_cpu_begin(t, *now);
	return t;
}

/*
 * For programs that may sleep, and be overtaken by the end of the capture: who saw it going on
 * after the stack was marked as busy is waited for by that mark. The hit is done if it has stopped.
 */
static __always_inline int has_stopped(struct thread_stack *t)
{
	OFF_CPU_BARRIER();
	if (enabled)
		return 0;
	off_cpu_done(t);
	return 1;
}

#define BODY_SP(ctx, cookie) (PT_REGS_SP(ctx) + wire_cookie_sp_delta(cookie))

/* A query starts, unless executions of it are but counted. */
static __always_inline void push(struct thread_stack *t, __u64 cookie, __u64 sp, __u8 state)
{
	/* Before it is asked whether to record it: a span that is older than a lapse is known. */
	__u64 now = bpf_ktime_get_ns();

	if (count_execution(t, wire_cookie_lib(cookie), wire_cookie_query(cookie), now))
		return;
	stack_push(t, cookie, sp, state, off_cpu_begin(t, now));
	off_cpu_done(t);
}

/* At the instruction that names the query. Returns 0. */
static __always_inline int push_named(struct pt_regs *ctx, __u64 cookie, __u8 state)
{
	struct thread_stack *t = current_stack();

	if (t)
		push(t, cookie, BODY_SP(ctx, cookie), state);
	return 0;
}

static __always_inline int on_start(struct pt_regs *ctx, __u64 cookie)
{
	return push_named(ctx, cookie, FRAME_STARTED);
}

/* Who called the wrapper that is being entered; 0 if that is none of the library's code. */
static __always_inline __u32 read_caller(struct pt_regs *ctx, __u64 cookie)
{
	__u64 at = PT_REGS_SP(ctx) + 8 * wire_cookie_request_slot(cookie), caller = 0;

	if (!bpf_probe_read_user(&caller, sizeof(caller), (void *)at))
		caller += wire_cookie_request_addr(cookie) - PT_REGS_IP(ctx);
	if (caller && !(caller >> 32))
		return caller;
	count(WIRE_COUNT_NO_CALLER);
	return 0;
}

/* sp of who calls the wrapper, at the call. */
#define REQUEST_SP(ctx, cookie) (PT_REGS_SP(ctx) + 8 * wire_cookie_request_slot(cookie) + 8)

static __always_inline int on_request(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = REQUEST_SP(ctx, cookie);
	struct thread_stack *t = current_stack();
	__u64 now;

	if (!t)
		return 0;
	now = off_cpu_begin(t, stack_in_segment(t, sp) ? 0 : bpf_ktime_get_ns());
	stack_request(t, cookie, sp, read_caller(ctx, cookie), now);
	off_cpu_done(t);
	return 0;
}

/* A request and a start in one, for callers: two programs at one site run in no certain order. */
static __always_inline int on_requested_wrapper(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = REQUEST_SP(ctx, cookie);
	__u32 lib = wire_cookie_lib(cookie), query = wire_cookie_query(cookie);
	__u32 key = wire_wrapper_key(lib, query);
	struct thread_stack *t = current_stack();
	const struct wire_wrappers *w;
	__u64 now;

	if (!t)
		return 0;
	w = bpf_map_lookup_elem(&wrappers, &key);
	now = bpf_ktime_get_ns();
	if (count_execution(t, lib, query, now))
		return 0;
	now = off_cpu_begin(t, now);
	stack_request(t, cookie, sp, read_caller(ctx, cookie), now);
	cookie = wire_cookie(0, lib, query, w ? w->group : WIRE_NO_GROUP,
			     w && w->hidden ? WIRE_HIDDEN : WIRE_REG_NONE, 0);
	stack_push(t, cookie, sp - 8, FRAME_WRAPPED, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_wrapper(struct pt_regs *ctx, __u64 cookie)
{
	return push_named(ctx, cookie, FRAME_WRAPPED);
}

/* Which query a body runs: what its vtable says the provider is. Zero if it cannot be read. */
static __always_inline __u64 read_provider(struct pt_regs *ctx, __u64 cookie)
{
	__u32 reg = wire_cookie_reg(cookie), slot = wire_cookie_group(cookie);
	__u64 vtable = 0, provider = 0;

	if (reg != WIRE_REG_NONE)
		vtable = read_reg(ctx, reg);
	else if (bpf_probe_read_user(&vtable, sizeof(vtable), (void *)(PT_REGS_SP(ctx) + 8 * slot)))
		return 0;
	vtable += wire_cookie_vtable_offset(cookie);
	if (bpf_probe_read_user(&provider, sizeof(provider), (void *)vtable))
		return 0;
	return provider;
}

/* What the table says of the provider that a body is about to call; NULL if it does not know it. */
static __always_inline struct wire_provider *find_provider(struct pt_regs *ctx, __u64 cookie)
{
	struct wire_provider_key key = {};
	struct wire_provider *p;

	key.distance = read_provider(ctx, cookie) - PT_REGS_IP(ctx);
	key.site = wire_cookie_query(cookie);
	key.lib = wire_cookie_lib(cookie);
	p = bpf_map_lookup_elem(&providers, &key);
	if (!p)
		count(WIRE_DROP_UNKNOWN_PROVIDER);
	return p;
}

/*
 * Fires for every query of the body. Those with a START of their own are left to it; the table
 * names them too, as WIRE_NO_QUERY, so that a provider it does not hold is known to be a miss.
 */
static __always_inline int on_identify(struct pt_regs *ctx, __u64 cookie)
{
	struct thread_stack *t = current_stack();
	struct wire_provider *p = t ? find_provider(ctx, cookie) : NULL;

	if (!t || !p || p->query == WIRE_NO_QUERY)
		return 0;
	cookie = wire_cookie(0, wire_cookie_lib(cookie), p->query, p->group,
			     p->hidden ? WIRE_HIDDEN : WIRE_REG_NONE, 0);
	push(t, cookie, PT_REGS_SP(ctx), FRAME_STARTED);
	return 0;
}

/*
 * By far the hottest: it looks at no frame but the top, whose liveness it leaves to the next start
 * or end to judge.
 */
static __always_inline int on_hit(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	struct wire_hit *h;
	struct frame *top;

	if (!t)
		return 0;
	top = stack_top(t);
	h = bpf_ringbuf_reserve(&ring, sizeof(*h), 0);
	if (!h) {
		count(WIRE_LOST_RING_FULL);
		off_cpu_done(t);
		return 0;
	}
	*h = (struct wire_hit){
		.type = WIRE_HIT,
		.lib = wire_cookie_lib(cookie),
		.depth = top ? stack_depth_above(top) : 0,
		.pid = t->pid,
		.tid = t->tid,
		.invocation = read_hit(ctx, cookie),
		.time_ns = now,
	};
	bpf_ringbuf_submit(h, wakeup_flags());
	t->spans++;
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);

	if (!t)
		return 0;
	stack_on_end(t, cookie, PT_REGS_SP(ctx), now, read_invocation(ctx, cookie));
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_caught(struct pt_regs *ctx, __u64 cookie)
{
	struct thread_stack *t = current_stack();

	if (!t)
		return 0;
	stack_on_caught(t, PT_REGS_SP(ctx), off_cpu_begin(t, bpf_ktime_get_ns()));
	off_cpu_done(t);
	return 0;
}

static __always_inline void frame_of_guard(struct frame *f, struct pt_regs *ctx, __u64 cookie)
{
	*f = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = wire_cookie_query(cookie),
		.group = wire_cookie_group(cookie),
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = wire_cookie_number(cookie),
		.kind = wire_cookie_kind(cookie),
	};
}

static __always_inline int on_guard(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	__u32 label = wire_cookie_label(cookie);
	__u64 slot[2] = {}; /* where its text is, and how long */
	struct frame f;

	if (!t || has_stopped(t))
		return 0;
	frame_of_guard(&f, ctx, cookie);
	if (label < WIRE_LABEL_OF_QUERY) {
		/* Unreadable, its length is none that a label has. */
		if (bpf_copy_from_user(slot, sizeof(slot), (void *)(f.sp + 8 * label)))
			slot[1] = ~0ull;
		tell_label(&f, slot[0], slot[1], 0);
	}
	stack_on_guard(t, &f, label == WIRE_LABEL_OF_QUERY, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_guard_query(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_stack *t = current_stack();
	struct wire_provider *p = t ? find_provider(ctx, cookie) : NULL;
	struct frame f;

	if (!t || !p)
		return 0;
	now = off_cpu_begin(t, now);
	f = (struct frame){
		.sp = PT_REGS_SP(ctx),
		.query = p->query,
		.group = p->group,
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = p->number,
		.kind = p->kind,
		.hidden = p->hidden,
	};
	stack_on_guard(t, &f, 0, now);
	off_cpu_done(t);
	return 0;
}

/* The step from the return address at `at`; NULL if it is not known, or cannot be read. */
static __always_inline struct wire_step *find_step(struct pt_regs *ctx, __u64 at,
						   struct wire_provider_key *key)
{
	__u64 ret = 0;

	if (bpf_probe_read_user(&ret, sizeof(ret), (void *)at))
		return NULL;
	key->distance = ret - PT_REGS_IP(ctx);
	return bpf_map_lookup_elem(&steps, key);
}

/* Whose load it is, by the vtable in the frame of the body that wants it; NULL if it is not told.
 */
static __always_inline struct wire_provider *ask_callers(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = PT_REGS_SP(ctx), vtable = 0, provider = 0;
	struct wire_provider_key key = {};
	struct wire_step *s;

	key.site = wire_cookie_query(cookie);
	key.lib = wire_cookie_lib(cookie);
	s = find_step(ctx, sp + 8 * wire_cookie_label(cookie), &key);
	if (s && s->next)
		s = find_step(ctx, sp + 8 * (__u64)s->slot, &key);
	if (!s || s->next)
		return NULL;
	if (s->reg != WIRE_REG_NONE)
		vtable = read_reg(ctx, s->reg);
	else if (bpf_probe_read_user(&vtable, sizeof(vtable), (void *)(sp + 8 * (__u64)s->slot)))
		return NULL;
	vtable += 8 * (__u64)s->vtable_offset;
	if (bpf_probe_read_user(&provider, sizeof(provider), (void *)vtable))
		return NULL;
	key.distance = provider - PT_REGS_IP(ctx);
	return bpf_map_lookup_elem(&providers, &key);
}

static __always_inline int on_guard_called(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	struct wire_provider *p;
	struct frame f;

	if (!t)
		return 0;
	frame_of_guard(&f, ctx, cookie);
	p = ask_callers(ctx, cookie);
	if (!p)
		count(WIRE_COUNT_NO_LABEL);
	f.query = p ? p->query : WIRE_NO_QUERY;
	f.hidden = p && p->hidden;
	stack_on_guard(t, &f, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_guard_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	struct frame f;

	if (!t)
		return 0;
	frame_of_guard(&f, ctx, cookie);
	stack_on_guard_end(t, &f, 1, now);
	off_cpu_done(t);
	return 0;
}

/* Its number is never 0, which is a query's. */
static __always_inline void frame_of_timer(struct frame *f, struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = BODY_SP(ctx, cookie);

	*f = (struct frame){
		.sp = sp,
		.query = WIRE_NO_QUERY,
		.group = WIRE_SCOPE_TIMER,
		.lib = wire_cookie_lib(cookie),
		.state = FRAME_GUARD,
		.number = (READ_CTX(ctx, di) - sp) / 8 | 0x8000,
		.kind = WIRE_KIND_ACTIVITY,
	};
}

static __always_inline int on_timer(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	struct frame f;

	if (!t || has_stopped(t))
		return 0;
	frame_of_timer(&f, ctx, cookie);
	tell_label(&f, READ_CTX(ctx, dx), READ_CTX(ctx, cx), 1);
	stack_on_guard(t, &f, 0, now);
	off_cpu_done(t);
	return 0;
}

static __always_inline int on_timer_end(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now;
	struct thread_stack *t = begin_hit(&now);
	struct frame f;

	if (!t)
		return 0;
	frame_of_timer(&f, ctx, cookie);
	stack_on_guard_end(t, &f, 0, now);
	off_cpu_done(t);
	return 0;
}

/*
 * All sites but those below. One program for all roles: the verifier, whose work is most of what
 * takes time when a recording begins, looks at what they share once.
 */
SEC("uprobe/site")
int qprof_site(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	switch (wire_cookie_role(cookie)) {
	case WIRE_ROLE_START:
	case WIRE_ROLE_START_BODY:
		return on_start(ctx, cookie);
	case WIRE_ROLE_WRAPPER:
		return knobs.callers ? on_requested_wrapper(ctx, cookie) : on_wrapper(ctx, cookie);
	case WIRE_ROLE_REQUEST:
		return knobs.callers ? on_request(ctx, cookie) : 0;
	case WIRE_ROLE_IDENTIFY:
		return on_identify(ctx, cookie);
	case WIRE_ROLE_END:
		return on_end(ctx, cookie);
	case WIRE_ROLE_CAUGHT:
		return on_caught(ctx, cookie);
	case WIRE_ROLE_GUARD_QUERY:
		return on_guard_query(ctx, cookie);
	case WIRE_ROLE_GUARD_CALLED:
		return on_guard_called(ctx, cookie);
	case WIRE_ROLE_GUARD_END:
		return on_guard_end(ctx, cookie);
	case WIRE_ROLE_TIMER_END:
		return on_timer_end(ctx, cookie);
	case WIRE_ROLE_HIT:
		return on_hit(ctx, cookie);
	}
	return 0;
}

/* The sites where a label is read, for which a page may have to come first. */
SEC("uprobe.s/label_site")
int qprof_label_site(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (wire_cookie_role(cookie) == WIRE_ROLE_TIMER)
		return on_timer(ctx, cookie);
	return on_guard(ctx, cookie);
}

#include "open_stacks.h"
#include "processes.h"
