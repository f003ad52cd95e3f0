// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/own_shares.h"

#include "test.h"

enum { DIVIDED, ITEMLESS, OWN, UNSAMPLED };

/* Samples between the probes of a label: all, its own, and of these of none within an item. */
static void add(struct summary *s, uint32_t label, uint64_t all, uint64_t own, uint64_t itemless)
{
	const struct trace_span span = {.label = label, .end_ns = 1000};
	const struct trace_times times = {.self_ns = 1000};
	const struct sample_sums sums = {
		.nearest = {all, all}, .own = {own, own}, .itemless = {itemless, itemless}};

	assert_int_equal(summary__span(s, &span, &times), 0);
	assert_int_equal(summary__samples(s, 0, label, 1, &sums), 0);
}

static struct summary *sample(void)
{
	const struct trace_process p = {.pid = 1};
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	assert_int_equal(summary__process(s, &p), 0);
	summary__set_sampled(s);
	add(s, DIVIDED, 100, 20, 30);
	add(s, ITEMLESS, 10, 4, 6);
	add(s, OWN, 50, 50, 0);
	add(s, UNSAMPLED, 0, 0, 0);
	return s;
}

static struct own_time time_of(const struct own_shares *s, uint32_t label, uint64_t cpu_ns)
{
	struct own_time t = {};

	own_time__add(&t, s, label, cpu_ns);
	assert_int_equal(t.cpu_ns + t.others_ns, cpu_ns);
	return t;
}

static void check(const struct own_shares *s, uint32_t label, uint64_t own_ns, enum summary_self by)
{
	const struct own_time t = time_of(s, label, 1000);

	assert_int_equal(t.cpu_ns, own_ns);
	assert_int_equal(own_time__by(&t), by);
}

static void samples_say_what_part_was_a_querys_own(void **state)
{
	_summary_ struct summary *s = sample();
	struct own_shares query = {}, item = {};

	summary__set_unwatched(s);
	assert_int_equal(own_shares__init(&query, s, OWN_SHARES_OF_QUERY), 0);
	assert_int_equal(own_shares__init(&item, s, OWN_SHARES_OF_ITEM), 0);
	assert_true(own_shares__any(&query));
	check(&query, DIVIDED, 200, SUMMARY_SELF_SHARE);
	check(&query, ITEMLESS, 400, SUMMARY_SELF_SHARE);
	check(&query, OWN, 1000, SUMMARY_SELF_SPANS);
	check(&query, UNSAMPLED, 1000, SUMMARY_SELF_LIMIT);
	/* Time about no item is charged to the item around. */
	check(&item, DIVIDED, 500, SUMMARY_SELF_SHARE);
	check(&item, ITEMLESS, 1000, SUMMARY_SELF_SPANS);
	check(&item, UNSAMPLED, 1000, SUMMARY_SELF_LIMIT);
	assert_true(own_shares__part(&query, DIVIDED) == 0.2);
	assert_true(own_shares__part(&query, UNSAMPLED) == 1);
	own_shares__destroy(&query);
	own_shares__destroy(&item);
}

static void sums_have_the_error_of_their_parts(void **state)
{
	_summary_ struct summary *s = sample();
	struct own_shares shares = {};
	struct own_time sum = {}, part;

	summary__set_unwatched(s);
	assert_int_equal(own_shares__init(&shares, s, OWN_SHARES_OF_QUERY), 0);
	/* 10,000 sqrt(0.2 * 0.8 / 100), and 3,000 without an error. */
	part = time_of(&shares, DIVIDED, 10000);
	assert_int_equal(own_time__error(&part), 400);
	own_time__merge(&sum, &part);
	part = time_of(&shares, UNSAMPLED, 3000);
	assert_int_equal(own_time__error(&part), 0);
	own_time__merge(&sum, &part);
	assert_int_equal(sum.cpu_ns, 5000);
	assert_int_equal(sum.others_ns, 8000);
	assert_int_equal(own_time__error(&sum), 400);
	assert_int_equal(own_time__by(&sum), SUMMARY_SELF_SHARE);
	/* No time, no doubt. */
	part = time_of(&shares, UNSAMPLED, 0);
	assert_int_equal(own_time__by(&part), SUMMARY_SELF_SPANS);
	own_shares__destroy(&shares);
}

/*
 * The share of DIVIDED is 0.2 with an error of sqrt(0.2 * 0.8 / 100) = 0.04, that of ITEMLESS 0.4
 * with one of sqrt(0.4 * 0.6 / 10) = 0.15492.
 */
static void parts_of_one_label_share_its_error(void **state)
{
	_summary_ struct summary *s = sample();
	_free_ struct own_time *own = NULL;
	struct own_shares shares = {};
	_own_sums_ struct own_sums sums = {};

	summary__set_unwatched(s);
	assert_int_equal(own_shares__init(&shares, s, OWN_SHARES_OF_QUERY), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(own_sums__add(&sums, 0, DIVIDED, 2500), 0);
	assert_int_equal(own_sums__add(&sums, 2, DIVIDED, 6000), 0);
	assert_int_equal(own_sums__add(&sums, 2, ITEMLESS, 1000), 0);
	assert_int_equal(own_sums__add(&sums, 2, DIVIDED, 4000), 0);
	assert_int_equal(own_sums__add(&sums, 2, UNSAMPLED, 7), 0);
	own = own_sums__divide(&sums, &shares, 3);
	assert_non_null(own);
	/* 10,000 * 0.04, not twice 2,500 * 0.04. */
	assert_int_equal(own[0].cpu_ns, 2000);
	assert_int_equal(own[0].others_ns, 8000);
	assert_int_equal(own_time__error(&own[0]), 400);
	assert_int_equal(own[1].cpu_ns + own[1].others_ns, 0);
	assert_int_equal(own_time__by(&own[1]), SUMMARY_SELF_SPANS);
	/* sqrt(400^2 + 154.92^2) */
	assert_int_equal(own[2].cpu_ns, 2000 + 400 + 7);
	assert_int_equal(own_time__error(&own[2]), 429);
	assert_int_equal(own_time__by(&own[2]), SUMMARY_SELF_SHARE);
	own_shares__destroy(&shares);
}

static void nothing_is_divided_if_all_queries_have_probes(void **state)
{
	_summary_ struct summary *s = sample();
	struct own_shares shares = {};

	assert_int_equal(own_shares__init(&shares, s, OWN_SHARES_OF_QUERY), 0);
	assert_false(own_shares__any(&shares));
	check(&shares, DIVIDED, 1000, SUMMARY_SELF_SPANS);
	check(NULL, UNSAMPLED, 1000, SUMMARY_SELF_SPANS);
	own_shares__destroy(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_say_what_part_was_a_querys_own),
		cmocka_unit_test(sums_have_the_error_of_their_parts),
		cmocka_unit_test(parts_of_one_label_share_its_error),
		cmocka_unit_test(nothing_is_divided_if_all_queries_have_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
