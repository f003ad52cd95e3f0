// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/self_time.h"

#include <errno.h>

#include "base/array.h"
#include "base/choose.h"
#include "base/map.h"

/* Constant arguments then keep unused parts out of the code that most spans run. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Ended spans of one depth that nothing encloses yet. */
struct siblings {
	uint64_t start_ns; /* of the first */
	uint64_t end_ns;   /* of the last */
	uint64_t sum_ns;   /* of their durations */
	/* Picoseconds that probes took: of their parent; and of the spans with all in them, too. */
	uint64_t outside_ps;
	uint64_t all_ps;
	/* Off the CPU: between them, and in all. */
	uint64_t between_off_ns;
	uint64_t all_off_ns;
	uint32_t level; /* depth + 1 */
};

/* The same sums, of the spans that a span encloses. */
struct enclosed {
	uint64_t sum_ns;
	uint64_t outside_ps;
	uint64_t all_ps;
	uint64_t between_off_ns;
	uint64_t all_off_ns;
	/* The same, before it, in what was lost: its parent's. */
	uint64_t before_between_off_ns;
	uint64_t before_all_off_ns;
};

struct thread {
	uint32_t process;
	uint32_t tid;
	struct siblings *open; /* levels ascend from open[0], which has no parent */
	struct siblings *top;
	struct siblings *last; /* there is room for; NULL like the others without any */
	uint32_t next_free;    /* of a thread that was forgotten */
};

struct self_time {
	struct u64_map thread_of; /* process << 32 | tid -> index into threads */
	struct thread *threads;
	uint32_t n;
	uint32_t capacity;
	uint32_t first_free; /* or U64_MAP_NONE */
	/* The thread that came last, which mostly comes again. */
	uint32_t last;	     /* or U64_MAP_NONE */
	uint64_t inside_ps;  /* of a span's two hits, what is in its own interval */
	uint64_t outside_ps; /* the rest */
	uint64_t hit_ps;
	bool more; /* than durations: costs are known, or a thread was off the CPU */
};

int self_time__new(struct self_time **out)
{
	struct self_time *st = calloc(1, sizeof(*st));

	if (!st)
		return -ENOMEM;
	st->first_free = U64_MAP_NONE;
	st->last = U64_MAP_NONE;
	*out = st;
	return 0;
}

static uint64_t thread_key(uint32_t process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

/* An unused thread, or U64_MAP_NONE without memory. It is taken only when first_free moves on. */
static uint32_t find_free(struct self_time *st)
{
	if (st->first_free != U64_MAP_NONE)
		return st->first_free;
	if (array__reserve_one(&st->threads, st->n, &st->capacity, sizeof(*st->threads)))
		return U64_MAP_NONE;
	st->threads[st->n] = (struct thread){.next_free = U64_MAP_NONE};
	st->first_free = st->n++;
	return st->first_free;
}

/* Not inlined, like more_room(): what is needed once a thread would slow down each span of it. */
static __attribute__((noinline)) struct thread *find_thread(struct self_time *st, uint32_t process,
							    uint32_t tid)
{
	uint64_t key = thread_key(process, tid);
	uint32_t i = u64_map__get(&st->thread_of, key);

	if (i == U64_MAP_NONE) {
		i = find_free(st);
		if (i == U64_MAP_NONE || u64_map__put(&st->thread_of, key, i))
			return NULL;
		st->first_free = st->threads[i].next_free;
		st->threads[i] = (struct thread){.process = process, .tid = tid};
	}
	st->last = i;
	return &st->threads[i];
}

static inline struct thread *get_thread(struct self_time *st, uint32_t process, uint32_t tid)
{
	struct thread *t = st->last == U64_MAP_NONE ? NULL : &st->threads[st->last];

	return t && t->tid == tid && t->process == process ? t : find_thread(st, process, tid);
}

/* The time since `start_ns` that siblings fill. */
static inline uint64_t filled(const struct siblings *s, uint64_t start_ns)
{
	uint64_t within = choose(s->end_ns > start_ns, s->end_ns - start_ns, 0);

	/* Only where a parent was lost can some of them have begun before. */
	return choose((s->start_ns >= start_ns) | (s->sum_ns < within), s->sum_ns, within);
}

static inline uint64_t at_most(uint64_t ns, uint64_t most)
{
	return choose(ns < most, ns, most);
}

/* Add the sums that only some traces have. */
static inline void enclose_more(struct enclosed *all, const struct siblings *s, uint64_t start_ns)
{
	uint64_t within = choose(s->end_ns > start_ns, s->end_ns - start_ns, 0);
	uint64_t between_off_ns = at_most(s->between_off_ns, within);
	uint64_t all_off_ns = at_most(s->all_off_ns, within);

	all->outside_ps += s->outside_ps;
	all->all_ps += s->all_ps;
	all->between_off_ns += between_off_ns;
	all->all_off_ns += all_off_ns;
	all->before_between_off_ns += s->between_off_ns - between_off_ns;
	all->before_all_off_ns += s->all_off_ns - all_off_ns;
}

/*
 * Take the siblings below `level` away; their sum is what they fill of the time since `start_ns`.
 */
static ALWAYS_INLINE struct enclosed take_enclosed(struct thread *t, uint32_t level,
						   uint64_t start_ns, bool more)
{
	struct siblings *s = t->top;
	bool encloses = s->level > level;
	struct enclosed all = {.sum_ns = choose(encloses, filled(s, start_ns), 0)};

	if (more && encloses)
		enclose_more(&all, s, start_ns);
	for (s -= encloses; s->level > level; s--) {
		all.sum_ns += filled(s, start_ns);
		if (more)
			enclose_more(&all, s, start_ns);
	}
	t->top = s;
	return all;
}

static __attribute__((noinline)) int more_room(struct thread *t)
{
	size_t n = t->open ? t->last + 1 - t->open : 0;
	size_t capacity = n ? n * 2 : 4;
	struct siblings *open = reallocarray(t->open, capacity, sizeof(*open));

	if (!open)
		return -ENOMEM;
	if (!n)
		open[0] = (struct siblings){0};
	t->open = open;
	t->top = open + (n ? n - 1 : 0);
	t->last = open + capacity - 1;
	return 0;
}

/* Put a span after its elder siblings; it is the last of the siblings on top then. */
static ALWAYS_INLINE struct siblings *add_sibling(struct thread *t, uint32_t level,
						  const struct trace_span *span, uint64_t fills_ns,
						  bool more)
{
	bool first = t->top->level != level;
	struct siblings *s = t->top += first;

	s->start_ns = choose(first, span->start_ns, s->start_ns);
	s->sum_ns = choose(first, 0, s->sum_ns) + fills_ns;
	s->end_ns = span->end_ns;
	s->level = level;
	if (more && first) {
		s->outside_ps = s->all_ps = 0;
		s->between_off_ns = s->all_off_ns = 0;
	}
	return s;
}

/* A span that has probes, and its own time. */
static ALWAYS_INLINE void of_interval(const struct self_time *st, struct thread *t,
				      const struct trace_span *span, struct trace_times *times,
				      bool more)
{
	uint64_t duration = span->end_ns - span->start_ns;
	uint32_t level = span->depth + 1u;
	struct enclosed in = take_enclosed(t, level, span->start_ns, more);
	struct siblings *s = add_sibling(t, level, span, duration, more);

	*times = (struct trace_times){.self_ns = in.sum_ns < duration ? duration - in.sum_ns : 0};
	if (more) {
		/* One more probe reported the caller. */
		bool asked = span->caller != TRACE_NO_LOCATION;
		uint64_t request_ps = choose(asked, st->hit_ps, 0);
		/* An instant has one probe, and its own time holds nothing of it. */
		bool instant = span->kind == TRACE_KIND_HIT;
		uint64_t inside_ps = choose(instant, 0, st->inside_ps);
		uint64_t outside_ps = choose(instant, st->hit_ps, st->outside_ps + request_ps);

		times->self_probe_ns = (inside_ps + in.outside_ps) / 1000;
		times->probe_ns = (inside_ps + in.all_ps) / 1000;
		times->off_ns = in.all_off_ns;
		times->self_off_ns = in.between_off_ns;
		s->outside_ps += outside_ps;
		s->all_ps += in.all_ps + inside_ps + outside_ps;
		s->all_off_ns += in.all_off_ns + in.before_all_off_ns;
		s->between_off_ns += in.before_between_off_ns;
	}
}

static __attribute__((noinline)) void of_interval_with_more(const struct self_time *st,
							    struct thread *t,
							    const struct trace_span *span,
							    struct trace_times *times)
{
	of_interval(st, t, span, times, true);
}

/* Sums that were not kept up to now are 0. */
static __attribute__((noinline)) void begin_more(struct self_time *st)
{
	st->more = true;
	for (uint32_t i = 0; i < st->n; i++) {
		struct thread *t = &st->threads[i];

		for (struct siblings *s = t->open; s && s <= t->top; s++) {
			s->outside_ps = s->all_ps = 0;
			s->between_off_ns = s->all_off_ns = 0;
		}
	}
}

/* A span off the CPU encloses nothing: deeper spans belong to one that was lost before it. */
static __attribute__((noinline)) void of_off_cpu(struct self_time *st, struct thread *t,
						 const struct trace_span *span,
						 struct trace_times *times)
{
	uint64_t duration = span->end_ns - span->start_ns;
	uint32_t level = span->depth + 1u;
	struct enclosed in;
	struct siblings *s;

	if (!st->more)
		begin_more(st);
	in = take_enclosed(t, level, span->end_ns, true);
	s = add_sibling(t, level, span, 0, true);
	*times = (struct trace_times){.off_ns = duration};
	s->outside_ps += in.outside_ps;
	s->all_ps += in.all_ps;
	s->between_off_ns += in.before_between_off_ns + duration;
	s->all_off_ns += in.before_all_off_ns + duration;
}

void self_time__set_costs(struct self_time *st, const struct trace_costs *costs)
{
	uint64_t both = 2 * costs->ps[TRACE_COST_EMULATED];
	uint64_t inside = costs->ps[TRACE_COST_EMULATED_INSIDE];
	bool known = both && inside <= both && !costs->subtracted;

	st->inside_ps = known ? inside : 0;
	st->outside_ps = known ? both - inside : 0;
	st->hit_ps = known ? both / 2 : 0;
	if (known && !st->more)
		begin_more(st);
}

int self_time__span(struct self_time *st, const struct trace_span *span, struct trace_times *times)
{
	struct thread *t = get_thread(st, span->process, span->tid);

	if (!t || (t->top == t->last && more_room(t)))
		return -ENOMEM;
	if (span->kind == TRACE_KIND_OFF_CPU)
		of_off_cpu(st, t, span, times);
	else if (st->more)
		of_interval_with_more(st, t, span, times);
	else
		of_interval(st, t, span, times, false);
	return 0;
}

void self_time__forget(struct self_time *st, uint32_t process)
{
	for (uint32_t i = 0; i < st->n; i++) {
		struct thread *t = &st->threads[i];
		uint64_t key = thread_key(process, t->tid);

		if (t->process != process || u64_map__get(&st->thread_of, key) != i)
			continue;
		u64_map__remove(&st->thread_of, key);
		free(t->open);
		*t = (struct thread){.next_free = st->first_free};
		st->first_free = i;
	}
	st->last = U64_MAP_NONE;
}

void self_time__free(struct self_time *st)
{
	if (!st)
		return;
	for (uint32_t i = 0; i < st->n; i++)
		free(st->threads[i].open);
	free(st->threads);
	u64_map__destroy(&st->thread_of);
	free(st);
}
