// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/rates.h"

#include <unistd.h>

#include "test.h"

static struct plan_query queries[] = {{.name = (char *)"a"}, {.name = (char *)"b"}};
static struct plan_guard guards[] = {
	{.kind = WIRE_KIND_BLOCKED, .scope = 1, .number = 1},
	{.kind = WIRE_KIND_ACTIVITY, .label = (char *)"x", .scope = 1, .number = 2},
};
static struct plan plan = {
	.path = (char *)"library",
	.queries = queries,
	.n_queries = 2,
	.guards = guards,
	.n_guards = 2,
};
static struct library_file *one_file, *another_file;
static char home[] = "/tmp/qprof-rates-XXXXXX";

static struct rates *some(double a, double b, double cpu_s)
{
	struct rates *r;

	assert_int_equal(rates__new(&plan, &r), 0);
	r->queries[0] = (struct rates_query){a, cpu_s};
	r->queries[1] = (struct rates_query){b, cpu_s};
	return r;
}

static struct rates *some_groups(double blocked, double x, double cpu_s)
{
	struct rates *r = some(1, 1, 1);

	assert_int_equal(r->n_groups, 2);
	r->groups[0] = (struct rates_group){blocked, cpu_s};
	r->groups[1] = (struct rates_group){x, cpu_s};
	return r;
}

static void none_are_known_at_first(void **state)
{
	_rates_ struct rates *r = NULL;

	assert_int_equal(rates__load(&plan, &r), 0);
	assert_true(rates__is_empty(r));
	assert_true(rates__of(r, 0, 70) == 70);
	assert_true(rates__of_group(r, 0) == 0);
	assert_true(rates__compilers(r) == 1);
	assert_false(rates__never(r, 0) || rates__never(r, 1));
}

static void they_are_kept(void **state)
{
	_rates_ struct rates *r = some(1000, 500, 2), *again = NULL;

	r->compilers = 9;
	r->cpu_s = 2.5;
	r->others = 70;
	r->usual_others = 300;
	rates__store(r);
	assert_int_equal(rates__load(&plan, &again), 0);
	assert_false(rates__is_empty(again));
	assert_int_equal((int)again->queries[0].executions, 1000);
	assert_int_equal((int)again->queries[1].executions, 500);
	assert_true(again->queries[1].cpu_s == 2);
	assert_true(again->compilers == 9 && again->cpu_s == 2.5);
	assert_true(again->others == 70 && again->usual_others == 300);
	rates__free(again);
	/* The rates of another library are unknown. */
	plan.file = another_file;
	assert_int_equal(rates__load(&plan, &again), 0);
	plan.file = one_file;
	assert_true(rates__is_empty(again));
}

static void they_are_sums(void **state)
{
	_rates_ struct rates *r = some(1000, 0, 1), *more = some(0, 300, 3);

	rates__add(r, more);
	assert_true(r->queries[0].executions == 1000 && r->queries[0].cpu_s == 4);
	assert_true(r->queries[1].executions == 300 && r->queries[1].cpu_s == 4);
}

static void old_rates_lose_their_weight(void **state)
{
	_rates_ struct rates *r = some(1000000, 0, 100), *more = some(0, 0, 10);

	for (int i = 0; i < 20; i++)
		rates__add(r, more);
	assert_in_range((uint64_t)rates__of(r, 0, 0), 0, 10);
	assert_in_range((uint64_t)r->queries[0].cpu_s, 29, 31);
}

static void little_cpu_time_changes_little_of_what_is_usual(void **state)
{
	_rates_ struct rates *some_ms = some(0, 100, 0.001), *long_ones = some(0, 100, 20);

	assert_in_range((uint64_t)rates__of(some_ms, 0, 1000), 980, 1000);
	assert_in_range((uint64_t)rates__of(long_ones, 0, 1000), 1, 10);
	assert_in_range((uint64_t)rates__of(some_ms, 1, 1000), 1000, 2000);
	assert_true(rates__of(long_ones, 1, 1000) < 11);
	some_ms->compilers = 1000;
	some_ms->cpu_s = 100;
	assert_true(rates__compilers(some_ms) > 9 && rates__compilers(some_ms) < 11);
}

static void no_compile_has_all_that_is_usual(void **state)
{
	_rates_ struct rates *r = some(1, 1, 1), *more = some(1, 1, 1);

	assert_true(rates__share_of_usual(r) > 0.1 && rates__share_of_usual(r) < 0.5);
	more->cpu_s = 1;
	more->others = 100000;
	more->usual_others = 1000000;
	for (int i = 0; i < 40; i++)
		rates__add(r, more);
	assert_in_range((uint64_t)(rates__share_of_usual(r) * 1000), 99, 101);
	assert_in_range((uint64_t)r->others, 2900000, 3100000);
	r->others = 1e9;
	assert_true(rates__share_of_usual(r) == 1);
}

static void a_group_without_hits_is_known_after_a_while(void **state)
{
	_rates_ struct rates *r = some_groups(0, 3, 5), *again = NULL;
	_rates_ struct rates *short_one = some_groups(0, 0, 0.1);

	r->turn = 7;
	rates__store(r);
	assert_int_equal(rates__load(&plan, &again), 0);
	assert_true(rates__never(again, 0));
	assert_false(rates__never(again, 1));
	assert_int_equal(again->turn, 7);
	assert_false(rates__never(short_one, 0));
}

/* Old hits lose their weight slowly. */
static void a_group_hit_long_ago_counts_as_never_hit(void **state)
{
	_rates_ struct rates *r = some_groups(3, 3, 10), *more = some_groups(0, 0, 10);

	rates__add(r, more);
	rates__add(r, more);
	assert_false(rates__never(r, 0));
	for (int i = 0; i < 10; i++)
		rates__add(r, more);
	assert_true(rates__never(r, 0));
}

/* A process may exit before its CPU time is read. The file must be valid all the same. */
static void a_query_without_cpu_time_has_no_rate(void **state)
{
	_rates_ struct rates *r = some(0, 0, 0), *more = some(1000, 1000, 0), *again = NULL;

	r->queries[1].cpu_s = 1;
	more->groups[0].intervals = 1000;
	rates__add(r, more);
	rates__store(r);
	assert_int_equal(rates__load(&plan, &again), 0);
	assert_false(rates__is_empty(again));
	assert_true(again->queries[0].executions == 0);
	assert_true(again->queries[1].executions == 1000);
	assert_true(again->groups[0].intervals == 0);
}

static int decode(const uint8_t *buf, size_t len, const struct plan *of)
{
	_rates_ struct rates *r = NULL;
	int err;

	assert_int_equal(rates__new(of, &r), 0);
	err = rates__decode(buf, len, r);
	for (uint32_t i = 0; i < r->n && !err; i++)
		assert_true(rates__of(r, i, 0) >= 0 && rates__of(r, i, 0) <= 1e8);
	return err;
}

/* Encode the rates of `plan`, and decode them for a plan. */
static int decode_for(const struct rates *r, const struct plan *of)
{
	_free_ uint8_t *buf = NULL;
	size_t len;

	assert_int_equal(rates__encode(r, &buf, &len), 0);
	return decode(buf, len, of);
}

static void a_file_that_is_not_whole_is_none(void **state)
{
	_rates_ struct rates *r = some(1000, 500, 2);
	_free_ uint8_t *buf = NULL;
	size_t len;

	assert_int_equal(rates__encode(r, &buf, &len), 0);
	assert_int_equal(decode(buf, len, &plan), 0);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(decode(buf, n, &plan), -EBADMSG);
	for (size_t i = 0; i < len; i++) {
		buf[i] ^= 0x40;
		assert_int_equal(decode(buf, len, &plan), -EBADMSG);
		buf[i] ^= 0x40;
	}
}

static void other_queries_have_other_rates(void **state)
{
	struct plan_query others[] = {{.name = (char *)"b"}, {.name = (char *)"a"}};
	struct plan other = {.queries = others, .n_queries = 2};
	_rates_ struct rates *r = some(1000, 500, 2);

	assert_int_equal(decode_for(r, &other), -EBADMSG);
	other.n_queries = 1;
	assert_int_equal(decode_for(r, &other), -EBADMSG);
}

static void other_guards_have_other_rates(void **state)
{
	struct plan_guard others[] = {guards[0], guards[1]};
	struct plan other = plan;
	_rates_ struct rates *r = some(1000, 500, 2);

	other.guards = others;
	assert_int_equal(decode_for(r, &other), 0);
	others[1].label = (char *)"y";
	assert_int_equal(decode_for(r, &other), -EBADMSG);
	others[1].label = guards[1].label;
	others[0].kind = WIRE_KIND_LOAD;
	assert_int_equal(decode_for(r, &other), -EBADMSG);
	others[0] = others[1];
	assert_int_equal(decode_for(r, &other), -EBADMSG);
}

/* The checksum is right, but a number is impossible. */
static void a_file_with_impossible_rates_is_refused(void **state)
{
	_rates_ struct rates *r = some(1e15, 500, 2), *many = some(1, 1, 1);
	_rates_ struct rates *met = some_groups(1e15, 0, 1);

	many->cpu_s = 1;
	many->compilers = 1e15;
	assert_int_equal(decode_for(r, &plan), -EBADMSG);
	assert_int_equal(decode_for(many, &plan), -EBADMSG);
	assert_int_equal(decode_for(met, &plan), -EBADMSG);
}

static int make_home(void **state)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	if (!mkdtemp(home) || setenv("XDG_CACHE_HOME", home, 1) ||
	    library_file__open("/proc/self/exe", &one_file) ||
	    library_file__open("/bin/sh", &another_file))
		return -1;
	plan.file = one_file;
	return 0;
}

static int remove_home(void **state)
{
	char command[64];

	library_file__free(one_file);
	library_file__free(another_file);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_are_known_at_first),
		cmocka_unit_test(they_are_kept),
		cmocka_unit_test(they_are_sums),
		cmocka_unit_test(old_rates_lose_their_weight),
		cmocka_unit_test(little_cpu_time_changes_little_of_what_is_usual),
		cmocka_unit_test(no_compile_has_all_that_is_usual),
		cmocka_unit_test(a_group_without_hits_is_known_after_a_while),
		cmocka_unit_test(a_group_hit_long_ago_counts_as_never_hit),
		cmocka_unit_test(a_query_without_cpu_time_has_no_rate),
		cmocka_unit_test(a_file_that_is_not_whole_is_none),
		cmocka_unit_test(other_queries_have_other_rates),
		cmocka_unit_test(other_guards_have_other_rates),
		cmocka_unit_test(a_file_with_impossible_rates_is_refused),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
