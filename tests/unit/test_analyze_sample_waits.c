// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_waits.h"

#include "analyze/model.h"
#include "test.h"
#include "../fixtures/sampled_build.h"

static const char *function_name(const struct sample_waits *w, uint32_t number)
{
	return number == CODE_NO_FUNCTION ? "none" : w->functions.at[number].name;
}

static bool is_typeck(const void *ctx, const char *label)
{
	return !strcmp(label, "typeck");
}

static void make(struct sample_waits *w, struct model *m, struct trace_reader *r, bool typeck)
{
	struct model_options model = model_options_of(r);
	const struct sample_waits_options options = {
		.texts = model.texts,
		.wants = typeck ? is_typeck : NULL,
	};

	model.stack_causes = 1u << TRACE_SAMPLE_OFF_CPU;
	assert_int_equal(model__init(m, &model), 0);
	assert_int_equal(model__read(m, r), 0);
	assert_int_equal(sample_waits__make(w, &m->stacks[TRACE_SAMPLE_OFF_CPU], &options), 0);
}

static void stacks_show_what_is_waited_for(void **state)
{
	_trace_reader_ struct trace_reader *r = sampled_build_open();
	_sample_waits_ struct sample_waits w = {};
	_model_ struct model m = {};

	make(&w, &m, r, false);
	assert_int_equal(w.n_rows, 3);
	assert_int_equal(w.all.n, 6);
	assert_int_equal(w.rows[0].wait, SAMPLE_WAIT_LOCK);
	assert_int_equal(w.rows[0].sum.value, 3 * 70000000);
	assert_string_equal(function_name(&w, w.rows[0].function),
			    "rustc_codegen_llvm::back::write::codegen");
	assert_string_equal(function_name(&w, w.rows[0].query), "none");
	assert_int_equal(w.rows[1].wait, SAMPLE_WAIT_JOBSERVER);
	assert_int_equal(w.of[SAMPLE_WAIT_JOBSERVER].value, 30000000);
	assert_int_equal(w.rows[2].wait, SAMPLE_WAIT_PAGE);
	assert_string_equal(function_name(&w, w.rows[2].query), "typeck");
	assert_int_equal(w.of[SAMPLE_WAIT_PAGE].n, 2);
}

static void waits_may_be_of_a_query(void **state)
{
	_trace_reader_ struct trace_reader *r = sampled_build_open();
	_sample_waits_ struct sample_waits w = {};
	_model_ struct model m = {};

	make(&w, &m, r, true);
	assert_int_equal(w.n_rows, 1);
	assert_int_equal(w.all.value, 800000);
}

/* ---- Names of functions ---------------------------------------------------------------------- */

/* A stack of functions, the outermost first; place n is names[n - 1]. */
static const char *names[4];

static struct trace_stack entries[5];

static const struct trace_stack *entry(const void *ctx, uint32_t id)
{
	return id && id < N_OF(entries) && entries[id].place ? &entries[id] : NULL;
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	static struct trace_function function;

	function = (struct trace_function){
		.first = locindex,
		.name = names[locindex - 1],
		.file = strstr(names[locindex - 1], "::") ? "/lib/librustc_driver-1.so"
							  : "/lib/libc.so.6",
	};
	*out = (struct trace_location){.function = &function};
	return true;
}

static const char *text(const void *ctx, uint32_t id)
{
	return "";
}

static void assert_wait(enum sample_wait expected, const char *a, const char *b, const char *c)
{
	const char *const stack[] = {a, b, c};
	struct stack_sums sums = {.cause = TRACE_SAMPLE_OFF_CPU,
				  .source = {.entry = entry, .locate = locate}};
	const struct sample_waits_options options = {.texts = {.text = text}};
	struct trace_sample sample = {.cause = TRACE_SAMPLE_OFF_CPU, .value = 1};
	_sample_waits_ struct sample_waits w = {};

	memset(entries, 0, sizeof(entries));
	for (uint32_t i = 0; i < 3 && stack[i]; i++) {
		names[i] = stack[i];
		entries[i + 1] = (struct trace_stack){.parent = i, .place = i + 1};
		sample.stack = i + 1;
	}
	assert_int_equal(stack_sums__add(&sums, &sample), 0);
	assert_int_equal(sample_waits__make(&w, &sums, &options), 0);
	if (!w.of[expected].n)
		fail_msg("%s is not %s", stack[sample.stack - 1], sample_wait_name(expected));
	stack_sums__destroy(&sums);
}

static void functions_of_libc_name_the_wait(void **state)
{
	assert_wait(SAMPLE_WAIT_LOCK, "a::b", "pthread_cond_wait", NULL);
	assert_wait(SAMPLE_WAIT_LOCK, "a::b", "pthread_mutex_lock", "__lll_lock_wait");
	assert_wait(SAMPLE_WAIT_THREAD, "std::thread::join", "pthread_join",
		    "__futex_abstimed_wait_common");
	assert_wait(SAMPLE_WAIT_LOCK, "std::sys::futex::futex_wait", "syscall", NULL);
	assert_wait(SAMPLE_WAIT_LOCK, "a::b", "syscall", NULL);
	assert_wait(SAMPLE_WAIT_THREAD, "<std::sys::thread::unix::Thread>::join", "[libc.so.6]",
		    "[libc.so.6]");
	assert_wait(SAMPLE_WAIT_LOCK, "ctrlc::sem_wait_forever", "[libc.so.6]", "[libc.so.6]");
	assert_wait(SAMPLE_WAIT_LOCK, "a::b", "sem_wait", "[libc.so.6]");
	assert_wait(SAMPLE_WAIT_OTHER, "a::b", "[libc.so.6]", NULL);
	assert_wait(SAMPLE_WAIT_CHILD, "std::process::wait", "waitpid", NULL);
	assert_wait(SAMPLE_WAIT_CHILD, "std::process::wait", "__wait4", NULL);
	assert_wait(SAMPLE_WAIT_READ, "a::b", "__libc_read", NULL);
	assert_wait(SAMPLE_WAIT_FILE, "a::b", "readdir64", NULL);
	assert_wait(SAMPLE_WAIT_WRITE, "a::b", "__write", NULL);
	assert_wait(SAMPLE_WAIT_JOBSERVER, "jobserver::acquire", "std::io::read", "read");
	assert_wait(SAMPLE_WAIT_JOBSERVER, "jobserver::acquire", "poll", NULL);
	assert_wait(SAMPLE_WAIT_POLL, "a::b", "__poll", NULL);
	assert_wait(SAMPLE_WAIT_MAPPING, "a::b", "__munmap", NULL);
	assert_wait(SAMPLE_WAIT_SLEEP, "a::b", "clock_nanosleep", NULL);
	assert_wait(SAMPLE_WAIT_PAGE, "a::b", "__memset_avx2_unaligned_erms", NULL);
	assert_wait(SAMPLE_WAIT_PAGE, "a::b", NULL, NULL);
	assert_wait(SAMPLE_WAIT_PAGE, "jobserver::parse", NULL, NULL);
}

static void each_kind_has_a_name(void **state)
{
	for (int i = 0; i < SAMPLE_WAIT_KINDS; i++) {
		assert_non_null(sample_wait_name(i));
		assert_non_null(sample_wait_text(i));
	}
	assert_null(sample_wait_name(SAMPLE_WAIT_KINDS));
	assert_null(sample_wait_text(SAMPLE_WAIT_KINDS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_show_what_is_waited_for),
		cmocka_unit_test(waits_may_be_of_a_query),
		cmocka_unit_test(functions_of_libc_name_the_wait),
		cmocka_unit_test(each_kind_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
