/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A compiler is about to drop its query context: a slot is taken, all tables of names are copied
 * (names.h), and the slot is given back.
 */
#ifndef QPROF_NAMES_DROP_H
#define QPROF_NAMES_DROP_H

#include "names.h"
#include "names_places.h"
#include "names_crates.h"
#include "operands.h"
#include "tables.h"
#include "threads.h"

/* All tables, of the context and the globals at these addresses. */
static __always_inline int names_copy(struct names_slot *s, __u64 context, __u64 globals)
{
	if (!s)
		return 0;
	if (names_find_symbols(s, globals)) {
		s->missing++;
		return 0;
	}
	names_copy_definitions(s, context);
	names_copy_crates(s, context);
	names_flush(s);
	s->globals = globals;
	if (s->layout.places.known) {
		places_copy_spans(s, context);
		places_copy_calls(s);
		places_copy_files(s);
	}
	return 0;
}

/* Give the slot back, which may be NULL. */
STACK_APART int names_give_back(struct names_slot *s)
{
	if (!s)
		return 0;
	maps_count_n(WIRE_COUNT_NAMES_NS, bpf_ktime_get_ns() - s->begun_ns);
	__sync_lock_test_and_set(&s->owner, 0);
	return 0;
}

/* The same, and send what became of the copy; without a slot so much is missing. */
STACK_APART int names_end(struct names_slot *s, __u32 pid, __u32 lib, __u32 moment, __u32 missing)
{
	struct wire_names_end *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (r) {
		*r = (struct wire_names_end){
			.type = WIRE_NAMES_END,
			.lib = lib,
			.moment = moment,
			.uncopied = !s,
			.pid = pid,
			.definitions = s ? s->definitions : 0,
			.missing = s ? s->missing : missing,
			.time_ns = bpf_ktime_get_ns(),
		};
		bpf_ringbuf_submit(r, maps_wakeup_flags());
	} else {
		maps_count(WIRE_LOST_PROCESS_RECORD);
	}
	return names_give_back(s);
}

struct names_search {
	struct names_slot *slot;
	__u32 tid;
};

static long names_take(__u32 i, void *p)
{
	struct names_search *c = p;
	struct names_slot *s = bpf_map_lookup_elem(&names_slots, &i);

	if (!s || __sync_val_compare_and_swap(&s->owner, 0, c->tid))
		return 0;
	c->slot = s;
	return 1;
}

/*
 * Take a free slot, for a copy by this layout that may take `most_ns`, or as long as it likes if
 * that is 0; NULL if there is none.
 */
static __always_inline struct names_slot *names_begin(__u32 pid, __u32 lib,
						      const struct wire_layout *l, __u64 most_ns)
{
	struct names_search c = {.tid = (__u32)bpf_get_current_pid_tgid()};
	struct names_slot *s;

	if (!l)
		return NULL;
	bpf_loop(n_names_slots, names_take, &c, 0);
	s = c.slot;
	if (!s)
		return NULL;
	s->serial++;
	s->missing = 0;
	s->definitions = 0;
	s->text_bytes = 0;
	s->layout = *l;
	s->line_bytes = 0;
	s->begun_ns = bpf_ktime_get_ns();
	s->until_ns = most_ns ? s->begun_ns + most_ns : ~0ull;
	s->dying = most_ns != 0;
	s->piece.type = s->gathered.type = WIRE_PIECE;
	s->piece.number = s->gathered.number = 0;
	s->texts.type = WIRE_SYMBOLS;
	s->piece.lib = s->gathered.lib = s->texts.lib = lib;
	s->piece.pid = s->gathered.pid = s->texts.pid = pid;
	return s;
}

/* The globals of the current thread; 0: unknown. */
static __always_inline __u64 names_globals(struct names_slot *s, __u64 at)
{
	__u64 offset, globals;

	if (names_word(s, &offset, at) || names_word(s, &globals, internals_fs_base() + offset))
		return 0;
	return globals;
}

/* Where the context is that a slot was taken for, and its library. */
STACK_APART int names_place(struct names_slot *s, __u64 parm1, __u64 ip, __u32 moment)
{
	const struct wire_tables *w;
	__u32 lib;

	if (!s)
		return 0;
	lib = s->piece.lib;
	w = bpf_map_lookup_elem(&tables, &lib);
	if (!w)
		return 0;
	s->gcx = moment == WIRE_COUNTS_FINISHED ? parm1 : parm1 + s->layout.context;
	s->bias = ip - (moment == WIRE_COUNTS_FINISHED ? w->finished : s->layout.drop);
	return 0;
}

/* A context that finishes is another than the one that finished before, and was dropped unseen. */
STACK_APART int names_see_over(struct thread_stack *t, __u32 moment)
{
	if (t)
		t->finished &= moment == WIRE_COUNTS_DROPPED;
	return 0;
}

STACK_APART int names_note_over(struct thread_stack *t, struct names_slot *s, __u32 lib,
				__u32 moment)
{
	__u32 missing;

	if (!t)
		return 0;
	/* A drop lacks nothing that was copied before. */
	missing = !t->finished;
	/* Without a slot the drop tries again, if it is seen. */
	t->finished = s && moment == WIRE_COUNTS_FINISHED;
	t->context_tries = t->finished ? CONTEXTS_FOUND : 0;
	return names_end(s, t->pid, lib, moment, missing);
}

/*
 * WIRE_ROLE_DROP: at the site's moment, a query context is dropped, or has executed all its
 * queries. All is copied at the first of these: rustdoc drops its context in a copy of that
 * function that lies in its own program, where no probe is, and results are to be counted before
 * others are loaded. A thread that is killed here comes to the end of the program all the same, its
 * reads failing, so the slot is given back. `moment` is compared elsewhere: the verifier would
 * follow all of this once for each.
 */
static __always_inline int names_over(struct pt_regs *ctx, const struct wire_site *site)
{
	__u32 lib = site->lib, moment = site->moment;
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	struct names_slot *s;
	struct thread_stack *t;
	__u64 now;

	if (!l || (!l->size && moment == WIRE_COUNTS_DROPPED))
		return 0;
	/* As a hit: when the capture stops, it waits for the end of the copy. */
	t = thread_begin_hit(&now);
	if (!t || thread_has_stopped(t))
		return 0;
	/* The memory of the context is freed when this program has ended, or soon. */
	contexts_forget(t->pid);
	names_see_over(t, moment);
	s = names_begin(t->pid, lib, l, 0);
	names_place(s, PT_REGS_PARM1(ctx), PT_REGS_IP(ctx), moment);
	if (s)
		tables_copy(s, s->gcx, s->bias, moment);
	if (s && !t->finished) {
		tables_copy_keys(s);
		if (s->layout.size)
			names_copy(s, s->gcx, names_globals(s, s->bias + s->layout.globals));
	}
	names_note_over(t, s, lib, moment);
	off_cpu_done(t);
	return 0;
}

/*
 * WIRE_ROLE_DROP without a moment. It changes nothing of the thread's, so no end of the capture
 * waits for it. A thread without storage is counted as such, and what it feeds is lost.
 */
static __always_inline int names_fed(struct pt_regs *ctx, const struct wire_site *site)
{
	struct thread_stack *t = thread_current();
	__u64 cache = site->query;
	struct wire_fed *r;

	if (!t)
		return 0;
	if (site->reg != WIRE_REG_NONE)
		cache = operand_reg(ctx, site->reg) + site->offset;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		maps_lose(WIRE_LOST_RING_FULL);
		return 0;
	}
	*r = (struct wire_fed){
		.type = WIRE_FED,
		.lib = site->lib,
		.pid = t->pid,
		.cache = cache,
		.at = site->base == WIRE_REG_NONE
			      ? WIRE_NO_COUNT
			      : (__u32)(operand_reg(ctx, site->base) >> (site->shift & 63)),
	};
	bpf_ringbuf_submit(r, maps_wakeup_flags());
	return 0;
}

#endif /* QPROF_NAMES_DROP_H */
