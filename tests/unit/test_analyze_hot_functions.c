// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/hot_functions.h"

#include "test.h"
#include "../fixtures/sampled_build.h"
#include "analyze/code_name.h"

static void each_thread_has_one(void **state)
{
	_sampled_build_ struct sampled_build b;
	struct hot_function hot;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	assert_true(hot_functions__of(b.model.hot, 0, 100, &hot));
	assert_string_equal(hot.part, "rustc_hir_typeck");
	/* With its instances, and the general code that it calls. */
	assert_string_equal(hot.name, "FnCtxt::check_expr");
	assert_true(hot_functions__of(b.model.hot, 0, 101, &hot));
	assert_string_equal(hot.part, CODE_LLVM);
	assert_true(hot_functions__of(b.model.hot, 1, 200, &hot));
	assert_string_equal(hot.part, "rustc_interface");
	/* It has no sample of the CPU. */
	assert_false(hot_functions__of(b.model.hot, 0, 102, &hot));
	assert_false(hot_functions__of(b.model.hot, 7, 100, &hot));
}

static void cpu_time_is_that_of_samples_of_the_cpu(void **state)
{
	_sampled_build_ struct sampled_build b;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 0, 100), 16 * SAMPLED_PERIOD);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 0, 102), 0);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 7, 100), 0);
}

/* ---- Made-up stacks: entry i is in function i ------------------------------------------------ */

#define N_FUNCTIONS 200u

static char names[N_FUNCTIONS + 1][16];
static struct trace_function functions[N_FUNCTIONS + 1];
static struct trace_stack entries[N_FUNCTIONS + 1];

static const struct trace_stack *entry_of(const void *ctx, uint32_t id)
{
	return id && id <= N_FUNCTIONS ? &entries[id] : NULL;
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	*out = (struct trace_location){.function = &functions[locindex]};
	return locindex && locindex <= N_FUNCTIONS;
}

static struct hot_functions *start(void)
{
	const struct stack_source source = {.entry = entry_of, .locate = locate};
	struct hot_functions *h;

	for (uint32_t i = 1; i <= N_FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "c::f%u", i);
		functions[i] = (struct trace_function){.name = names[i], .first = i};
		entries[i] =
			(struct trace_stack){.place = i, .depth = 1, .kind = TRACE_STACK_LOCATION};
	}
	assert_int_equal(hot_functions__new(&source, &(struct trace_texts){}, &h), 0);
	return h;
}

static void add(struct hot_functions *h, uint32_t stack, uint64_t ns)
{
	const struct trace_sample s = {
		.time_ns = 5, .value = ns, .tid = 1, .stack = stack, .cause = TRACE_SAMPLE_CPU};

	assert_int_equal(hot_functions__add(h, &s), 0);
}

static const char *hottest(const struct hot_functions *h)
{
	struct hot_function hot;

	return hot_functions__of(h, 0, 1, &hot) ? hot.name : NULL;
}

static void old_samples_count_less(void **state)
{
	_hot_functions_ struct hot_functions *h = start();

	for (int i = 0; i < 10; i++)
		add(h, 1, HOT_HALF_NS);
	assert_string_equal(hottest(h), "c::f1");
	for (int i = 0; i < 2; i++)
		add(h, 2, HOT_HALF_NS);
	assert_string_equal(hottest(h), "c::f2");
	assert_int_equal(hot_functions__cpu_ns(h, 0, 1), 12 * HOT_HALF_NS);
}

static void a_sample_without_a_stack_has_no_function(void **state)
{
	_hot_functions_ struct hot_functions *h = start();

	add(h, TRACE_NO_STACK, 10);
	add(h, N_FUNCTIONS + 1, 10);
	assert_null(hottest(h));
	assert_int_equal(hot_functions__cpu_ns(h, 0, 1), 20);
}

static void many_functions_need_no_more_memory(void **state)
{
	_hot_functions_ struct hot_functions *h = start();

	for (uint32_t i = 1; i <= N_FUNCTIONS; i++)
		add(h, i, 100);
	for (int i = 0; i < 50; i++)
		add(h, 7, 100);
	assert_string_equal(hottest(h), "c::f7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_one),
		cmocka_unit_test(cpu_time_is_that_of_samples_of_the_cpu),
		cmocka_unit_test(old_samples_count_less),
		cmocka_unit_test(a_sample_without_a_stack_has_no_function),
		cmocka_unit_test(many_functions_need_no_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
