// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_samples.h"

#include "test.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "export/flame.h"

/* The stacks of a tree, a line each, with their samples and values. */
static char *stacks_of(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	job->r = job->r ?: sampled_build_open();
	assert_int_equal(flame__build(job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		const struct flame_node *node = stack__node(&s);

		if (!flame__self(f, node))
			continue;
		for (uint32_t i = 0; i < s.n; i++)
			fprintf(to, "%s%s", i ? ";" : "",
				flame__name(f, flame__node(f, s.nodes[i])));
		fprintf(to, " %lu %lu\n", node->count, flame__self(f, node));
	}
	fclose(to);
	trace_reader__free(job->r);
	return text;
}

static void stacks_go_from_queries_to_functions(void **state)
{
	struct export_job job = {.cause = TRACE_SAMPLE_CPU, .short_names = true};
	_free_ char *text = stacks_of(&job);

	assert_golden("export/sampled_stacks.txt", text);
}

static void each_cause_has_its_stacks(void **state)
{
	struct export_job memory = {.cause = TRACE_SAMPLE_FAULT};
	struct export_job waits = {.cause = TRACE_SAMPLE_OFF_CPU};
	_free_ char *of_memory = stacks_of(&memory), *of_waits = stacks_of(&waits);

	assert_contains(of_memory, "dep (200);std::rt::lang_start;[analysis];"
				   "rustc_interface::passes::analysis 5 2048000\n");
	assert_contains(of_waits, "app (bin) (100);std::rt::lang_start;"
				  "<jobserver::imp::Client>::acquire_allow_interrupts;__read 1 "
				  "30000000\n");
}

static void waits_are_in_the_wall_time_alone(void **state)
{
	struct export_job cpu = {.cause = TRACE_SAMPLE_CPU};
	struct export_job wall = {.cause = TRACE_SAMPLE_CPU, .wall = true};
	_free_ char *of_cpu = stacks_of(&cpu), *of_wall = stacks_of(&wall);

	assert_null(strstr(of_cpu, "acquire_allow_interrupts"));
	assert_contains(of_wall, "app (bin) (100);std::rt::lang_start;"
				 "<jobserver::imp::Client>::acquire_allow_interrupts;__read 0 "
				 "30000000\n");
}

/* Before LLVM's own functions, or behind all that are known. */
static void what_llvm_compiles_is_in_the_stack(void **state)
{
	struct export_job job = {.cause = TRACE_SAMPLE_CPU, .r = llvm_build_open(true)};
	_free_ char *text = stacks_of(&job);

	assert_contains(text, "app (bin) (100);rustc_codegen_llvm::back::write::codegen;"
			      "[InstCombine];[app::generic_big];"
			      "llvm::legacy::PassManagerImpl::run 200 200000000\n");
	assert_contains(text, ";[IPSCCP];llvm::legacy::PassManagerImpl::run 6 6000000\n");
	assert_contains(text, "write::codegen;[X86AsmPrinter];llvm::legacy::PassManagerImpl::run;"
			      "llvm::DwarfDebug::endModule 8 8000000\n");
	assert_contains(text, "app (bin) (100);rustc_hir_typeck::typeck 57 57000000\n");
}

static void a_trace_may_have_none(void **state)
{
	struct export_job job = {};
	_flame_samples_ struct flame_samples *s = NULL;
	_flame_ struct flame *f = NULL;

	assert_int_equal(trace_reader__open("tests/golden/good-plain.qpt", &job.r, NULL), 0);
	assert_int_equal(flame_samples__new(&job, TRACE_SAMPLE_CPU, false, &s), 0);
	assert_false(flame_samples__any(s));
	assert_int_equal(flame_samples__finish(s, &f), 0);
	assert_int_equal(flame__n_stacks(f), 0);
	trace_reader__free(job.r);
}

static void a_sample_of_no_process_is_refused(void **state)
{
	struct trace_item item = {.kind = TRACE_ITEM_SAMPLE,
				  .sample = {.cause = TRACE_SAMPLE_CPU, .process = 7}};
	struct export_job job = {.r = sampled_build_open()};
	_flame_samples_ struct flame_samples *s = NULL;

	assert_int_equal(flame_samples__new(&job, TRACE_SAMPLE_CPU, false, &s), 0);
	assert_int_equal(flame_samples__item(s, &item), -EINVAL);
	trace_reader__free(job.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_go_from_queries_to_functions),
		cmocka_unit_test(each_cause_has_its_stacks),
		cmocka_unit_test(waits_are_in_the_wall_time_alone),
		cmocka_unit_test(what_llvm_compiles_is_in_the_stack),
		cmocka_unit_test(a_trace_may_have_none),
		cmocka_unit_test(a_sample_of_no_process_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
