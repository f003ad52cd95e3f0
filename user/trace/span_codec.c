// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Why it is small: a query and its first child start together, as do its last child and it end. So
 * a span that encloses others stores its distance from theirs; one that encloses none stores the
 * gap to the span before it and its own duration. What is left is close to the clock's noise.
 */
#include "trace/span_codec.h"

#include <errno.h>
#include <string.h>

#include "base/choose.h"
#include "qprof/trace_format.h"
#include "trace/batch_threads.h"

/* Siblings that nothing encloses yet. */
struct sibling_run {
	uint32_t level;	   /* depth + 1 */
	uint64_t start_ns; /* of the first of them */
};

/* The stored parts of a span: walking them column by column touches less memory than spans. */
struct columns {
	uint64_t a, b; /* the two distances */
	uint32_t label;
	uint32_t invocation;
	uint32_t caller;
	uint16_t depth;
	uint8_t flags;
};

struct span_codec {
	struct batch_threads threads;
	struct trace_span *spans;   /* grouped by thread */
	struct columns *columns_of; /* per span */
	uint64_t *values;	    /* a column being read */
	uint32_t capacity;	    /* of these arrays */
	struct sibling_run *runs; /* of a thread; levels ascend from runs[0], which has no parent */
	uint64_t base_ns;
	bool has_callers; /* any span of the batch */
	/* By label: its callers, the latest first. */
	uint32_t recent[QPT_RECENT_LABELS][QPT_RECENT_CALLERS];
};

/* The prediction of a thread's next span. */
struct prediction {
	uint64_t start_ns; /* of the first span it encloses, or the end of the span before it */
	bool encloses;
};

int span_codec__new(struct span_codec **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void span_codec__free(struct span_codec *c)
{
	if (!c)
		return;
	batch_threads__destroy(&c->threads);
	free(c->spans);
	free(c->columns_of);
	free(c->values);
	free(c->runs);
	free(c);
}

static int resize(void *array_p, size_t n, size_t item_size)
{
	void **array = array_p;
	void *p = reallocarray(*array, n, item_size);

	if (!p)
		return -ENOMEM;
	*array = p;
	return 0;
}

static int reserve(struct span_codec *c, uint32_t n)
{
	if (n <= c->capacity)
		return 0;
	if (batch_threads__reserve(&c->threads, n) || resize(&c->spans, n, sizeof(*c->spans)) ||
	    resize(&c->columns_of, n, sizeof(*c->columns_of)) ||
	    resize(&c->values, n, sizeof(*c->values)) || resize(&c->runs, n + 1, sizeof(*c->runs)))
		return -ENOMEM;
	c->capacity = n;
	return 0;
}

/* Begin a thread without runs. Returns the top of the runs, which belongs to no span. */
static struct sibling_run *no_runs(struct span_codec *c)
{
	c->runs[0] = (struct sibling_run){0};
	return c->runs;
}

/*
 * Predict the span of `level` that follows one that ended at `previous_end_ns`. Drops the runs it
 * encloses, mostly one or none: once its start is known, run_starts() puts it in their place.
 */
static inline struct prediction predict(struct sibling_run **top, uint32_t level,
					uint64_t previous_end_ns)
{
	struct sibling_run *run = *top;
	struct prediction p = {.encloses = run->level > level};

	p.start_ns = choose(p.encloses, run->start_ns, previous_end_ns);
	run -= p.encloses;
	while (run->level > level)
		p.start_ns = (run--)->start_ns;
	*top = run;
	return p;
}

/* There is room for a run of each span. */
static inline void run_starts(struct sibling_run **top, uint32_t level, uint64_t start_ns)
{
	bool first = (*top)->level != level;
	struct sibling_run *run = *top += first;

	run->level = level;
	run->start_ns = choose(first, start_ns, run->start_ns);
}

int span_codec__add_threads(const struct span_codec *c, struct thread_set *to)
{
	return batch_threads__add_to(&c->threads, to);
}

static int group_by_thread(struct span_codec *c, const struct trace_span *spans, uint32_t n)
{
	uint32_t callers = TRACE_NO_LOCATION;

	if (reserve(c, n))
		return -ENOMEM;
	batch_threads__begin(&c->threads);
	for (uint32_t i = 0; i < n; i++)
		if (batch_threads__add(&c->threads, i, spans[i].process, spans[i].tid))
			return -ENOMEM;
	batch_threads__arrange(&c->threads);
	for (uint32_t i = 0; i < n; i++) {
		c->spans[batch_threads__place(&c->threads, i)] = spans[i];
		callers |= spans[i].caller;
	}
	c->has_callers = callers != TRACE_NO_LOCATION;
	c->base_ns = spans[0].start_ns;
	return 0;
}

/* Columns that need no prediction from times: flags, depths, labels, invocations. */
static uint8_t *encode_plain(const struct span_codec *c, uint32_t n, uint8_t *p)
{
	const struct trace_span *s = c->spans;
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++)
		*p++ = s[i].flags;
	for (uint32_t i = 0; i < n; i++) {
		p = bytes_store_varint(p, bytes_zigzag(s[i].depth - last));
		last = s[i].depth;
	}
	for (uint32_t i = 0; i < n; i++)
		p = bytes_store_varint(p, s[i].label);
	last = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (s[i].invocation == TRACE_NO_INVOCATION) {
			*p++ = 0;
			continue;
		}
		/* rustc numbers executions in the order of their ends: mostly the one after. */
		p = bytes_store_varint(p, 1 + bytes_zigzag(s[i].invocation - last));
		last = s[i].invocation + 1ULL;
	}
	return p;
}

/* The two distances of a span, each positive where intervals nest; modulo 2^64 where not. */
static void make_distances(struct span_codec *c, const struct batch_thread *t)
{
	struct sibling_run *top = no_runs(c);
	uint64_t last_end_ns = c->base_ns;

	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct trace_span *s = &c->spans[i];
		struct prediction guess = predict(&top, s->depth + 1u, last_end_ns);

		if (guess.encloses) {
			c->columns_of[i].a = guess.start_ns - s->start_ns;
			c->columns_of[i].b = s->end_ns - last_end_ns;
		} else {
			c->columns_of[i].a = s->start_ns - guess.start_ns;
			c->columns_of[i].b = s->end_ns - s->start_ns;
		}
		run_starts(&top, s->depth + 1u, s->start_ns);
		last_end_ns = s->end_ns;
	}
}

/* Low bytes are noise, and compress best by themselves; the rest is mostly one byte. */
static uint8_t *encode_distances(const struct span_codec *c, uint32_t n, uint8_t *p)
{
	const struct columns *s = c->columns_of;

	for (uint32_t i = 0; i < n; i++)
		*p++ = (uint8_t)s[i].a;
	for (uint32_t i = 0; i < n; i++)
		p = bytes_store_varint(p, s[i].a >> 8);
	for (uint32_t i = 0; i < n; i++)
		*p++ = (uint8_t)s[i].b;
	for (uint32_t i = 0; i < n; i++)
		p = bytes_store_varint(p, s[i].b >> 8);
	return p;
}

/* `caller`, which was at `at` or dropped out of the list to be, is the most recent one now. */
static void remember(uint32_t *recent, uint32_t at, uint32_t caller)
{
	if (!at)
		return;
	memmove(recent + 1, recent, at * sizeof(*recent));
	recent[0] = caller;
}

/* Most queries have few callers, and mostly the same one as the last time. */
static uint8_t *encode_callers(struct span_codec *c, uint32_t n, uint8_t *p)
{
	memset(c->recent, 0, sizeof(c->recent));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *recent = c->recent[c->spans[i].label % QPT_RECENT_LABELS];
		uint32_t caller = c->spans[i].caller, at = 0;

		while (at < QPT_RECENT_CALLERS && recent[at] != caller)
			at++;
		if (at < QPT_RECENT_CALLERS) {
			*p++ = at;
		} else {
			p = bytes_store_varint(p, (uint64_t)caller + QPT_RECENT_CALLERS);
			at = QPT_RECENT_CALLERS - 1;
		}
		remember(recent, at, caller);
	}
	return p;
}

int span_codec__encode(struct span_codec *c, const struct trace_span *spans, uint32_t n,
		       struct byte_buffer *out)
{
	uint8_t *p;

	if (group_by_thread(c, spans, n))
		return -ENOMEM;
	for (uint32_t t = 0; t < c->threads.n; t++)
		make_distances(c, &c->threads.at[t]);
	byte_buffer__varint(out, n);
	byte_buffer__varint(out, c->threads.n);
	byte_buffer__varint(out, c->base_ns);
	byte_buffer__varint(out, c->has_callers ? QPT_COLUMN_CALLERS : 0);
	batch_threads__store(&c->threads, out);
	/* Three bytes and six varints per span. */
	if (!byte_buffer__reserve(out, n * (3 + 6 * (size_t)BYTES_VARINT_MAX)))
		return -ENOMEM;
	p = encode_plain(c, n, out->data + out->size);
	p = encode_distances(c, n, p);
	if (c->has_callers)
		p = encode_callers(c, n, p);
	out->size = p - out->data;
	return 0;
}

static const char *decode_head(struct span_codec *c, struct byte_reader *r, uint32_t n,
			       uint32_t n_processes)
{
	uint32_t n_threads = byte_reader__varint_max(r, n);
	int err;

	c->base_ns = byte_reader__varint(r);
	c->has_callers = byte_reader__varint_max(r, QPT_COLUMNS_ALL) & QPT_COLUMN_CALLERS;
	err = batch_threads__load(&c->threads, r, n_threads, n, n_processes);
	if (err == -ENOENT)
		return "spans of a process it does not hold";
	return err ? "the threads of a batch do not add up" : NULL;
}

static const char *decode_labels(struct span_codec *c, struct byte_reader *r, uint32_t n,
				 uint32_t n_strings)
{
	byte_reader__varints(r, c->values, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t label = c->values[i];

		if (label >= n_strings && (label < QPT_VIRTUAL || label > UINT32_MAX))
			return "a span has a name the file does not hold";
		c->columns_of[i].label = label;
	}
	return NULL;
}

static const char *decode_invocations(struct span_codec *c, struct byte_reader *r, uint32_t n)
{
	struct columns *s = c->columns_of;
	uint64_t last = 0;

	byte_reader__varints(r, c->values, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = c->values[i];

		s[i].invocation = TRACE_NO_INVOCATION;
		if (!v)
			continue;
		last += bytes_unzigzag(v - 1);
		if (last >= TRACE_NO_INVOCATION)
			return "an invocation id is out of range";
		s[i].invocation = last++;
	}
	return NULL;
}

/* One distance of all spans, into c->values. */
static void decode_distance(struct span_codec *c, struct byte_reader *r, uint32_t n)
{
	const uint8_t *low = byte_reader__bytes(r, n);
	uint64_t too_far = 0;

	byte_reader__varints(r, c->values, n);
	for (uint32_t i = 0; i < n && low; i++) {
		too_far |= c->values[i] >> 56;
		c->values[i] = c->values[i] << 8 | low[i];
	}
	if (too_far)
		byte_reader__malformed(r);
}

static const char *decode_distances(struct span_codec *c, struct byte_reader *r, uint32_t n)
{
	decode_distance(c, r, n);
	for (uint32_t i = 0; i < n; i++)
		c->columns_of[i].a = c->values[i];
	decode_distance(c, r, n);
	for (uint32_t i = 0; i < n; i++)
		c->columns_of[i].b = c->values[i];
	return r->bad ? "a batch of spans is too short" : NULL;
}

static const char *decode_callers(struct span_codec *c, struct byte_reader *r, uint32_t n,
				  uint32_t n_locations)
{
	memset(c->recent, 0, sizeof(c->recent));
	for (uint32_t i = 0; i < n; i++) {
		struct columns *s = &c->columns_of[i];
		uint32_t *recent = c->recent[s->label % QPT_RECENT_LABELS];
		uint64_t v = byte_reader__varint(r);

		if (v < QPT_RECENT_CALLERS) {
			s->caller = recent[v];
			remember(recent, v, s->caller);
			continue;
		}
		if (v - QPT_RECENT_CALLERS >= n_locations)
			return "a span has a caller the file does not hold";
		s->caller = v - QPT_RECENT_CALLERS;
		remember(recent, QPT_RECENT_CALLERS - 1, s->caller);
	}
	return NULL;
}

static const char *decode_columns(struct span_codec *c, struct byte_reader *r, uint32_t n,
				  const struct span_limits *limits)
{
	const uint8_t *flags = byte_reader__bytes(r, n);
	struct columns *s = c->columns_of;
	const char *why;
	uint64_t last = 0;

	if (!flags)
		return "a batch of spans is too short";
	for (uint32_t i = 0; i < n; i++) {
		if (flags[i] & ~TRACE_SPAN_FLAGS_ALL)
			return "a span has unknown flags";
		s[i].flags = flags[i];
		s[i].caller = TRACE_NO_LOCATION;
	}
	byte_reader__varints(r, c->values, n);
	for (uint32_t i = 0; i < n; i++) {
		last += bytes_unzigzag(c->values[i]);
		if (last > UINT16_MAX)
			return "a span is nested too deep";
		s[i].depth = last;
	}
	why = decode_labels(c, r, n, limits->strings) ?: decode_invocations(c, r, n);
	why = why ?: decode_distances(c, r, n);
	return why || !c->has_callers ? why : decode_callers(c, r, n, limits->locations);
}

static const char *make_times(struct span_codec *c, const struct batch_thread *t)
{
	struct sibling_run *top = no_runs(c);
	uint64_t last_end_ns = c->base_ns;

	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct columns *columns = &c->columns_of[i];
		struct prediction guess = predict(&top, columns->depth + 1u, last_end_ns);
		uint64_t gap = choose(guess.encloses, -columns->a, columns->a);
		uint64_t start_ns = guess.start_ns + gap;
		uint64_t end_ns = choose(guess.encloses, last_end_ns, start_ns) + columns->b;

		c->spans[i] = (struct trace_span){
			.start_ns = start_ns,
			.end_ns = end_ns,
			.process = t->process,
			.tid = t->tid,
			.label = columns->label,
			.invocation = columns->invocation,
			.caller = columns->caller,
			.depth = columns->depth,
			.flags = columns->flags,
		};
		if (end_ns < start_ns)
			return "a span ends before it starts";
		run_starts(&top, columns->depth + 1u, start_ns);
		last_end_ns = end_ns;
	}
	return NULL;
}

int span_codec__decode(struct span_codec *c, const uint8_t *data, size_t size,
		       const struct span_limits *limits, const struct trace_span **spans,
		       uint32_t *n, const char **why)
{
	struct byte_reader r = {.at = data, .end = data + size};
	uint32_t count = byte_reader__varint_max(&r, QPT_SPANS_MAX);

	*why = "a batch of spans has a bad size";
	/* Each span takes at least its byte of flags, so the payload limits the count. */
	if (!count || count > size)
		return -EBADMSG;
	if (reserve(c, count))
		return -ENOMEM;
	*why = decode_head(c, &r, count, limits->processes);
	if (!*why)
		*why = decode_columns(c, &r, count, limits);
	if (!*why && (r.bad || r.at != r.end))
		*why = "a batch of spans does not fill its chunk";
	for (uint32_t t = 0; t < c->threads.n && !*why; t++)
		*why = make_times(c, &c->threads.at[t]);
	if (*why)
		return -EBADMSG;
	*spans = c->spans;
	*n = count;
	return 0;
}
