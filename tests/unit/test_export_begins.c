// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/spans.h"
#include "export/timeline.h"
#define MAX_EVENTS 40000

/* A start or an end, with its position in the file. */
struct event {
	uint64_t at_ns;
	uint32_t order;
	const struct trace_span *span;
	bool begin;
};

struct file {
	struct event events[MAX_EVENTS];
	uint32_t n;
	struct trace_span copies[MAX_EVENTS];
};

static struct file file;

static int put(struct file *f, const struct trace_span *s, bool begin)
{
	f->copies[f->n] = *s;
	f->events[f->n] =
		(struct event){begin ? s->start_ns : s->end_ns, f->n, &f->copies[f->n], begin};
	f->n++;
	return 0;
}

static int put_begin(void *ctx, const struct trace_span *s)
{
	return put(ctx, s, true);
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
	return (x->order > y->order) - (x->order < y->order);
}

/* Each end belongs to the last open start; the invocation identifies the span. */
static void assert_nests(struct file *f)
{
	static const struct trace_span *open[MAX_EVENTS];
	uint32_t depth = 0;

	qsort(f->events, f->n, sizeof(*f->events), compare);
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->events[i].begin) {
			assert_int_equal(f->events[i].span->depth, depth);
			open[depth++] = f->events[i].span;
			continue;
		}
		assert_true(depth > 0);
		assert_int_equal(open[--depth]->invocation, f->events[i].span->invocation);
	}
	assert_int_equal(depth, 0);
}

static void write_all(struct file *f, const struct trace_span *spans, uint32_t n)
{
	__cleanup(begins__destroy) struct begins b = {0};

	f->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(begins__span(&b, &spans[i], put_begin, f), 0);
		put(f, &spans[i], false);
	}
	assert_int_equal(begins__finish(&b, put_begin, f), 0);
}

struct generator {
	struct rng rng;
	struct trace_span spans[MAX_EVENTS / 2];
	uint32_t n;
	uint64_t now;
};

static struct generator gen;

/* The clock advances seldom, so that most starts and ends coincide. */
static void pass(struct generator *g)
{
	g->now += rng_below(&g->rng, 4) ? 0 : 1 + rng_below(&g->rng, 3);
}

static void nest(struct generator *g, uint16_t depth, uint32_t most)
{
	uint64_t start = g->now;

	while (g->n + depth + 1 < most && depth < 60 && rng_below(&g->rng, 5) < 3) {
		pass(g);
		nest(g, depth + 1, most);
	}
	pass(g);
	g->now += g->now == start;
	g->spans[g->n] = (struct trace_span){
		.start_ns = start, .end_ns = g->now, .depth = depth, .invocation = g->n};
	g->n++;
}

static void any_nesting_is_kept(void **state)
{
	gen.rng = rng_new();
	while (gen.n < 15000) {
		pass(&gen);
		nest(&gen, 0, gen.n + 200);
	}
	write_all(&file, gen.spans, gen.n);
	assert_int_equal(file.n, 2 * gen.n);
	assert_nests(&file);
}

/* The number of kept starts depends on the nesting depth, not on the number of spans. */
static void few_are_kept(void **state)
{
	struct trace_span s = {.depth = 3};
	__cleanup(begins__destroy) struct begins b = {0};

	file.n = 0;
	for (uint32_t i = 0; i < 10000; i++) {
		s.start_ns = 10 * i;
		s.end_ns = s.start_ns + 5;
		assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
		assert_int_equal(b.n, 1);
	}
	s = (struct trace_span){.depth = 2, .start_ns = 0, .end_ns = 200000};
	assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
	assert_int_equal(b.n, 2);
	s = (struct trace_span){.depth = 0, .start_ns = 0, .end_ns = 200000};
	assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
	assert_int_equal(b.n, 0);
	assert_int_equal(file.n, 10002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_nesting_is_kept),
		cmocka_unit_test(few_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
