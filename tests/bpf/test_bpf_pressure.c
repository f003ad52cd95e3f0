// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * All kinds of records, sent faster than the ring is drained: stored and lost records add up to the
 * sent ones, spans nest, and each span has its own label or none.
 */
#include "capture.h"

#define PAGE 4096u
/* Queries, guards, timers, labels, loads, hashing and hits, nested and one after the other. */
#define ALL_KINDS "a(n(l(v(o(i(m))))))LmvlnaLi"

static void open_small(struct capture *c)
{
	struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = PAGE, .hits = true};

	capture_open_with(c, &opt, 0);
}

/* The span has the label of its guard or timer, or its label was lost. */
static void assert_own_label(const struct capture *c, const struct wire_span *s)
{
	const struct wire_label *l;

	if (s->kind != WIRE_KIND_ACTIVITY || s->label == WIRE_LABEL_LOST)
		return;
	if (s->query == GUARD_OUTER || s->query == GUARD_INNER) {
		assert_int_equal(s->label, 0);
		return;
	}
	assert_in_range(s->label, 1, c->got.n_labels);
	l = &c->got.labels[s->label - 1];
	assert_int_equal(l->key.timer, s->query == WIRE_NO_QUERY);
	if (l->key.timer)
		assert_string_equal(l->key.text, "timer");
	else
		assert_true(!strcmp(l->key.text, "short") || !strncmp(l->key.text, "a_label_", 8));
}

static void assert_adds_up(struct capture *c)
{
	struct expectation e;
	unsigned int kinds = 0;

	assert_int_equal(c->status, 0);
	read_expectation(c, &e);
	assert_true(c->counters[WIRE_LOST_RING_FULL] > 0);
	assert_int_equal(c->got.n_spans, c->counters[WIRE_COUNT_SPANS]);
	assert_int_equal(c->got.n_spans + c->counters[WIRE_LOST_RING_FULL], e.total);
	assert_int_equal(c->counters[WIRE_LOST_STACK_FULL], 0);
	assert_int_equal(c->counters[WIRE_DROP_END_WITHOUT_START], 0);
	assert_int_equal(c->counters[WIRE_COUNT_LEFT], 0);
	assert_all_nested(&c->got);
	for (size_t i = 0; i < c->got.n_spans; i++) {
		kinds |= 1u << c->got.spans[i].kind;
		assert_own_label(c, &c->got.spans[i]);
	}
	assert_int_equal(kinds, 1 << WIRE_KIND_QUERY | 1 << WIRE_KIND_ACTIVITY |
					1 << WIRE_KIND_LOAD | 1 << WIRE_KIND_HASHING |
					1 << KIND_HIT);
	free(e.spans);
}

static void never_drained(const char *script)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_small(&c);
	capture_begin(&c, script);
	capture_finish_undrained(&c);
	capture_stop(&c);
	assert_adds_up(&c);
}

TEST_CASE(the_ring_is_not_drained)
{
	never_drained("~*5000(" ALL_KINDS ")");
}

TEST_CASE(threads_together)
{
	never_drained("p4(~*3000(" ALL_KINDS "))");
}

/* The ring is full and drained in turns, in the middle of intervals too. */
TEST_CASE(drained_too_seldom)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_small(&c);
	capture_begin(&c, "~*40(*50(" ALL_KINDS ")a(n(l(v(o(i(*30(" ALL_KINDS ").m)))))))");
	for (int i = 0; i < 40; i++) {
		capture_wait_for_dot(&c);
		capture_drain(&c);
		capture_go(&c);
	}
	capture_finish_target(&c);
	capture_stop(&c);
	/* Records that are sent while there is room arrive. */
	assert_true(c.got.n_spans > 40 * (PAGE / 2) / sizeof(struct wire_span));
	assert_adds_up(&c);
}

TEST_MAIN(NULL, NULL)
