// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Why it is small: a query and its first child start together, as do its last child and it end. So
 * a span that encloses others stores its distance from theirs; one that encloses none stores the
 * gap to the span before it and its own duration. What is left is close to the clock's noise.
 */
#include "trace/span_codec.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "qprof/trace_format.h"

struct thread {
	uint32_t process;
	uint32_t tid;
	uint32_t n;	/* spans */
	uint32_t first; /* index of its first span in the grouped order */
};

/* Siblings that nothing encloses yet. */
struct sibling_run {
	uint32_t depth;
	uint64_t start_ns; /* of the first of them */
};

/* What is stored of a span: less to walk over, column by column, than whole spans. */
struct columns {
	uint64_t a, b; /* the two distances */
	uint32_t label;
	uint32_t invocation;
	uint32_t caller;
	uint16_t depth;
	uint8_t flags;
};

struct span_codec {
	struct u64_map thread_of; /* process << 32 | tid -> index into threads */
	struct thread *threads;
	uint32_t n_threads;
	struct trace_span *spans;   /* grouped by thread */
	uint32_t *thread_index;	    /* per span, in the caller's order */
	struct columns *columns_of; /* per span */
	uint32_t capacity;	    /* of the four arrays */
	struct sibling_run *runs;   /* of the current thread; depths ascend */
	uint32_t n_runs;
	uint32_t runs_capacity;
	uint64_t base_ns;
	bool has_callers; /* any span of the batch */
	/* By label: its callers, the latest first. */
	uint32_t recent[QPT_RECENT_LABELS][QPT_RECENT_CALLERS];
};

/* What the next span of a thread is predicted from. */
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
	u64_map__destroy(&c->thread_of);
	free(c->threads);
	free(c->spans);
	free(c->thread_index);
	free(c->columns_of);
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
	if (resize(&c->threads, n, sizeof(*c->threads)) ||
	    resize(&c->spans, n, sizeof(*c->spans)) ||
	    resize(&c->thread_index, n, sizeof(*c->thread_index)) ||
	    resize(&c->columns_of, n, sizeof(*c->columns_of)))
		return -ENOMEM;
	c->capacity = n;
	return 0;
}

/*
 * Predict the span of `depth` that follows one that ended at `previous_end_ns`. Drops the runs it
 * encloses: once its start is known, run_starts() puts it in their place.
 */
static struct prediction predict(struct span_codec *c, uint32_t depth, uint64_t previous_end_ns)
{
	struct prediction p = {.start_ns = previous_end_ns};

	while (c->n_runs && c->runs[c->n_runs - 1].depth > depth) {
		p.start_ns = c->runs[--c->n_runs].start_ns;
		p.encloses = true;
	}
	return p;
}

static int more_runs(struct span_codec *c)
{
	uint32_t capacity = c->runs_capacity ? c->runs_capacity * 2 : 64;
	int err = resize(&c->runs, capacity, sizeof(*c->runs));

	if (!err)
		c->runs_capacity = capacity;
	return err;
}

static inline int run_starts(struct span_codec *c, uint32_t depth, uint64_t start_ns)
{
	if (c->n_runs && c->runs[c->n_runs - 1].depth == depth)
		return 0;
	if (c->n_runs == c->runs_capacity && more_runs(c))
		return -ENOMEM;
	c->runs[c->n_runs++] = (struct sibling_run){depth, start_ns};
	return 0;
}

static int find_threads(struct span_codec *c, const struct trace_span *spans, uint32_t n)
{
	uint32_t current = 0;

	u64_map__clear(&c->thread_of);
	c->n_threads = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_span *s = &spans[i];
		uint64_t key = (uint64_t)s->process << 32 | s->tid;

		if (i && s->tid == spans[i - 1].tid && s->process == spans[i - 1].process) {
			c->thread_index[i] = current;
			c->threads[current].n++;
			continue;
		}
		current = u64_map__get(&c->thread_of, key);
		if (current == U64_MAP_NONE) {
			current = c->n_threads++;
			c->threads[current] = (struct thread){s->process, s->tid, 0, 0};
			if (u64_map__put(&c->thread_of, key, current))
				return -ENOMEM;
		}
		c->thread_index[i] = current;
		c->threads[current].n++;
	}
	return 0;
}

static int group_by_thread(struct span_codec *c, const struct trace_span *spans, uint32_t n)
{
	uint32_t at = 0, callers = TRACE_NO_LOCATION;

	if (reserve(c, n) || find_threads(c, spans, n))
		return -ENOMEM;
	for (uint32_t t = 0; t < c->n_threads; t++) {
		c->threads[t].first = at;
		at += c->threads[t].n;
		c->threads[t].n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = &c->threads[c->thread_index[i]];

		c->spans[t->first + t->n++] = spans[i];
		callers |= spans[i].caller;
	}
	c->has_callers = callers != TRACE_NO_LOCATION;
	c->base_ns = spans[0].start_ns;
	return 0;
}

static void encode_head(const struct span_codec *c, uint32_t n, struct byte_buffer *out)
{
	byte_buffer__varint(out, n);
	byte_buffer__varint(out, c->n_threads);
	byte_buffer__varint(out, c->base_ns);
	byte_buffer__varint(out, c->has_callers ? QPT_COLUMN_CALLERS : 0);
	for (uint32_t t = 0; t < c->n_threads; t++) {
		byte_buffer__varint(out, c->threads[t].process);
		byte_buffer__varint(out, c->threads[t].tid);
		byte_buffer__varint(out, c->threads[t].n);
	}
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
static int make_distances(struct span_codec *c, const struct thread *t)
{
	uint64_t last_end_ns = c->base_ns;

	c->n_runs = 0;
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct trace_span *s = &c->spans[i];
		struct prediction guess = predict(c, s->depth, last_end_ns);

		if (guess.encloses) {
			c->columns_of[i].a = guess.start_ns - s->start_ns;
			c->columns_of[i].b = s->end_ns - last_end_ns;
		} else {
			c->columns_of[i].a = s->start_ns - guess.start_ns;
			c->columns_of[i].b = s->end_ns - s->start_ns;
		}
		if (run_starts(c, s->depth, s->start_ns))
			return -ENOMEM;
		last_end_ns = s->end_ns;
	}
	return 0;
}

/* Low bytes are noise, and compress best by themselves; what is above them is mostly one byte. */
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

/* Most queries are asked for at a few places, and mostly at the same one as the last time. */
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
	for (uint32_t t = 0; t < c->n_threads; t++)
		if (make_distances(c, &c->threads[t]))
			return -ENOMEM;
	encode_head(c, n, out);
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
	uint32_t left = n;

	c->n_threads = byte_reader__varint_max(r, n);
	c->base_ns = byte_reader__varint(r);
	c->has_callers = byte_reader__varint_max(r, QPT_COLUMNS_ALL) & QPT_COLUMN_CALLERS;
	for (uint32_t i = 0; i < c->n_threads && !r->bad; i++) {
		struct thread *t = &c->threads[i];

		t->process = byte_reader__varint_max(r, UINT32_MAX);
		t->tid = byte_reader__varint_max(r, UINT32_MAX);
		t->first = n - left;
		t->n = byte_reader__varint_max(r, left);
		left -= t->n;
		if (t->process >= n_processes)
			return "spans of a process it does not hold";
	}
	if (r->bad || left)
		return "the threads of a batch do not add up";
	return NULL;
}

static const char *decode_labels(struct columns *s, struct byte_reader *r, uint32_t n,
				 uint32_t n_strings)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t label = byte_reader__varint(r);

		if (label >= n_strings && (label < QPT_VIRTUAL || label > UINT32_MAX))
			return "a span has a name the file does not hold";
		s[i].label = label;
	}
	return NULL;
}

static const char *decode_invocations(struct columns *s, struct byte_reader *r, uint32_t n)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = byte_reader__varint(r);

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

static const char *decode_distances(struct span_codec *c, struct byte_reader *r, uint32_t n)
{
	struct columns *s = c->columns_of;
	const uint8_t *low = byte_reader__bytes(r, n);

	for (uint32_t i = 0; i < n; i++)
		s[i].a = byte_reader__varint_max(r, UINT64_MAX >> 8) << 8;
	for (uint32_t i = 0; i < n && !r->bad; i++)
		s[i].a |= low[i];
	low = byte_reader__bytes(r, n);
	for (uint32_t i = 0; i < n; i++)
		s[i].b = byte_reader__varint_max(r, UINT64_MAX >> 8) << 8;
	for (uint32_t i = 0; i < n && !r->bad; i++)
		s[i].b |= low[i];
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
	for (uint32_t i = 0; i < n; i++) {
		last += bytes_unzigzag(byte_reader__varint(r));
		if (last > UINT16_MAX)
			return "a span is nested too deep";
		s[i].depth = last;
	}
	why = decode_labels(s, r, n, limits->strings) ?: decode_invocations(s, r, n);
	why = why ?: decode_distances(c, r, n);
	return why || !c->has_callers ? why : decode_callers(c, r, n, limits->locations);
}

static int make_times(struct span_codec *c, const struct thread *t, const char **why)
{
	uint64_t last_end_ns = c->base_ns;

	c->n_runs = 0;
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct columns *columns = &c->columns_of[i];
		struct prediction guess = predict(c, columns->depth, last_end_ns);
		uint64_t start_ns = guess.start_ns + columns->a;
		uint64_t end_ns = start_ns + columns->b;

		if (guess.encloses) {
			start_ns = guess.start_ns - columns->a;
			end_ns = last_end_ns + columns->b;
		}
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
		if (end_ns < start_ns) {
			*why = "a span ends before it starts";
			return -EBADMSG;
		}
		if (run_starts(c, columns->depth, start_ns))
			return -ENOMEM;
		last_end_ns = end_ns;
	}
	return 0;
}

int span_codec__decode(struct span_codec *c, const uint8_t *data, size_t size,
		       const struct span_limits *limits, const struct trace_span **spans,
		       uint32_t *n, const char **why)
{
	struct byte_reader r = {.at = data, .end = data + size};
	uint32_t count = byte_reader__varint_max(&r, QPT_SPANS_MAX);

	*why = "a batch of spans has a bad size";
	/* Each span takes a byte of flags at least: do not trust a count the payload cannot hold.
	 */
	if (!count || count > size)
		return -EBADMSG;
	if (reserve(c, count))
		return -ENOMEM;
	*why = decode_head(c, &r, count, limits->processes);
	if (!*why)
		*why = decode_columns(c, &r, count, limits);
	if (!*why && (r.bad || r.at != r.end))
		*why = "a batch of spans does not fill its chunk";
	if (*why)
		return -EBADMSG;
	for (uint32_t t = 0; t < c->n_threads; t++) {
		int err = make_times(c, &c->threads[t], why);

		if (err)
			return err;
	}
	*spans = c->spans;
	*n = count;
	return 0;
}
