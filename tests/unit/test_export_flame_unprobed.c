// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_unprobed.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "export/flame.h"
#include "export/stack.h"
#include "trace/writer.h"

enum { PROBED, UNPROBED, N_LABELS };

static const char *const labels[N_LABELS] = {"probed", "unprobed"};

static void write_samples(struct trace_writer *w, bool all_inner)
{
	struct trace_stack outer = {
		.parent = TRACE_NO_STACK, .place = PROBED, .kind = TRACE_STACK_QUERY};
	struct trace_stack inner = {.place = UNPROBED, .kind = TRACE_STACK_QUERY};
	uint32_t outer_id, inner_id;

	assert_int_equal(trace_writer__stack(w, &outer, &outer_id), 0);
	inner.parent = outer_id;
	assert_int_equal(trace_writer__stack(w, &inner, &inner_id), 0);
	for (int i = 0; i < 4; i++) {
		struct trace_sample s = {.time_ns = 100 + i,
					 .value = 2000000,
					 .tid = 1,
					 .stack = i && !all_inner ? outer_id : inner_id,
					 .label = PROBED,
					 .depth = 1,
					 .kind = TRACE_KIND_QUERY,
					 .cause = TRACE_SAMPLE_CPU};

		assert_int_equal(trace_writer__sample(w, &s), 0);
	}
}

/*
 * Four executions within others. The probes of the last took more than it, and so a rounded part of
 * the others; one waited for all of its time. By rounding, one has more time on the CPU than in
 * all.
 */
static void write_rounded(struct trace_writer *w, bool backwards)
{
	static const uint64_t own[] = {152, 142, 282, 0};
	uint64_t now = 1000;

	for (uint32_t i = 0; i < N_OF(own); i++) {
		uint32_t at = backwards ? N_OF(own) - 1 - i : i, id;
		struct trace_span span = {.tid = 1, .invocation = TRACE_NO_INVOCATION};
		char name[] = "parent0";

		name[sizeof(name) - 2] += (char)i;
		assert_int_equal(trace_writer__intern(w, name, &id), 0);
		span.start_ns = now + 100;
		span.end_ns = span.start_ns + own[at];
		span.depth = 2;
		span.kind = TRACE_KIND_OFF_CPU;
		if (at == 2) {
			/* With what its probes took, that is all. */
			span.end_ns -= 2;
			assert_int_equal(trace_writer__span(w, &span), 0);
			span.end_ns += 2;
		}
		span.depth = 1;
		span.kind = TRACE_KIND_QUERY;
		span.label = PROBED;
		assert_int_equal(trace_writer__span(w, &span), 0);
		span.start_ns = now;
		now = span.end_ns += 100;
		span.depth = 0;
		span.kind = TRACE_KIND_ACTIVITY;
		span.label = id;
		assert_int_equal(trace_writer__span(w, &span), 0);
	}
}

struct written {
	bool decided;
	const struct trace_costs *costs; /* NULL: one execution; else those of write_rounded() */
	bool backwards;
};

/*
 * An execution of a microsecond, all on the CPU, and four samples within it; one of them is in a
 * query that a decision left without probes, if there is one.
 */
static struct trace_reader *open_written(const struct written *of)
{
	const struct trace_info info = {.tool = "test", .kernel = "-", .host = "-"};
	const struct trace_process process = {.pid = 100, .exit_status = TRACE_EXIT_UNKNOWN};
	const struct trace_decision decision = {
		.label = UNPROBED, .budget_ppm = 30000, .kind = TRACE_KIND_QUERY};
	const struct trace_sampling sampling = {.hz = 499};
	const struct trace_span span = {.tid = 1,
					.start_ns = 100,
					.end_ns = 1100,
					.label = PROBED,
					.kind = TRACE_KIND_QUERY,
					.invocation = TRACE_NO_INVOCATION};
	_trace_writer_ struct trace_writer *w = NULL;
	char path[] = "/tmp/qprof-unprobed-XXXXXX.qpt";
	struct trace_reader *r;
	uint32_t id;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	for (uint32_t i = 0; i < N_LABELS; i++)
		assert_int_equal(trace_writer__intern(w, labels[i], &id), 0);
	assert_int_equal(trace_writer__process(w, &process), 0);
	if (of->decided)
		assert_int_equal(trace_writer__decision(w, &decision), 0);
	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	write_samples(w, of->costs);
	if (of->costs) {
		assert_int_equal(trace_writer__costs(w, of->costs), 0);
		write_rounded(w, of->backwards);
	} else {
		assert_int_equal(trace_writer__span(w, &span), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(path, &r, NULL), 0);
	unlink(path);
	return r;
}

static struct trace_reader *open_trace(bool decided)
{
	return open_written(&(struct written){.decided = decided});
}

/* The self times of the execution and of the queries without probes within it. */
static void read_times(bool decided, bool raw, uint64_t *own_ns, uint64_t *others_ns)
{
	struct export_job job = {.r = open_trace(decided), .raw = raw};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};

	*own_ns = *others_ns = 0;
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		const struct flame_node *node = stack__node(&s);
		bool others = !strcmp(flame__name(f, node), FLAME_UNPROBED);

		if (node->parent == FLAME_NONE)
			continue;
		assert_true(others || !strcmp(flame__name(f, node), labels[PROBED]));
		assert_int_equal(node->count, others ? 0 : 1);
		assert_int_equal(node->self[FLAME_CPU], node->self[FLAME_WALL]);
		*(others ? others_ns : own_ns) += flame__self(f, node);
	}
	trace_reader__free(job.r);
}

static void samples_divide_the_time_between_probes(void **state)
{
	uint64_t own_ns, others_ns;

	read_times(true, false, &own_ns, &others_ns);
	assert_int_equal(own_ns, 750);
	assert_int_equal(others_ns, 250);
}

static void raw_times_are_those_between_probes(void **state)
{
	uint64_t own_ns, others_ns;

	read_times(true, true, &own_ns, &others_ns);
	assert_int_equal(own_ns, 1000);
	assert_int_equal(others_ns, 0);
}

static void without_a_budget_nothing_is_divided(void **state)
{
	uint64_t own_ns, others_ns;

	read_times(false, false, &own_ns, &others_ns);
	assert_int_equal(own_ns, 1000);
	assert_int_equal(others_ns, 0);
}

static void a_label_without_samples_keeps_its_time(void **state)
{
	struct trace_reader *r = open_trace(true);
	struct unprobed *u;

	assert_int_equal(unprobed__new(r, &u), 0);
	assert_int_equal(unprobed__end(u), 0);
	assert_true(unprobed__own(u, PROBED) == 1);
	unprobed__free(u);
	unprobed__free(NULL);
	trace_reader__free(r);
}

static void times_that_differ_by_rounding_are_divided(void **state)
{
	static const struct trace_costs costs = {
		.ps = {[TRACE_COST_EMULATED] = 1000, [TRACE_COST_EMULATED_INSIDE] = 2000}};

	for (int backwards = 0; backwards < 2; backwards++) {
		const struct written of = {
			.decided = true, .costs = &costs, .backwards = backwards};
		struct export_job job = {.r = open_written(&of)};
		_flame_ struct flame *f = NULL;
		_stack_ struct stack s = {0};

		assert_int_equal(flame__build(&job, &f), 0);
		stack__begin(&s, f, 0, UINT32_MAX);
		while (stack__next(&s) == 1)
			for (int value = 0; value < FLAME_VALUES; value++)
				assert_true(stack__node(&s)->self[value] <= 2000);
		trace_reader__free(job.r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_divide_the_time_between_probes),
		cmocka_unit_test(raw_times_are_those_between_probes),
		cmocka_unit_test(without_a_budget_nothing_is_divided),
		cmocka_unit_test(times_that_differ_by_rounding_are_divided),
		cmocka_unit_test(a_label_without_samples_keeps_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
