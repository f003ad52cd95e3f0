// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Samples of a test program that is in known chains of calls: each stack must be that chain, from
 * the innermost call to the start of the thread. Times are the scheduler's matter, so no test
 * counts samples: a script is run again until it had some.
 */
#include "sampled_target.h"
#include "target_chains.h"

/* ---- Tests ----------------------------------------------------------------------------------- */

static const struct sampling_options clock_only = {.hz = HZ};

TEST_CASE_WITH(a_chain_of_calls_is_walked, NULL, teardown)
{
	need_capture();
	open_with(&clock_only);
	sample_chain(".F50", "chain_spin", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		assert_int_equal(s->pid, w.c.pid);
		assert_int_equal(s->value, 1000000000 / HZ);
		assert_true(!i || s->time_ns > w.samples[i - 1].time_ns);
	}
	assert_int_equal(w.c.counters[WIRE_COUNT_SAMPLES], w.n);
	assert_int_equal(w.c.counters[WIRE_LOST_SAMPLE_FILES], 0);
}

TEST_CASE_WITH(the_kernel_is_entered_from_somewhere, NULL, teardown)
{
	need_capture();
	open_with(&clock_only);
	sample_chain(".I50", "chain_read", WIRE_SAMPLE_CPU);
}

TEST_CASE_WITH(a_thread_has_a_start_of_its_own, NULL, teardown)
{
	size_t n = 0;

	need_capture();
	open_with(&clock_only);
	sample_chain(".p3(F30)", "chain_spin", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];
		uint32_t at = find(s, 0, "thread_main");

		if (find(s, 0, "chain_spin") == s->n)
			continue;
		assert_true(s->tid != s->pid && at + 1 < s->n);
		assert_int_equal(find(s, 0, "main"), s->n);
		n++;
	}
	assert_true(n > 0);
}

TEST_CASE_WITH(a_deep_recursion_is_cut, NULL, teardown)
{
	size_t n = 0;

	need_capture();
	open_with(&clock_only);
	for (int i = 0; i < TRIES && !n; i++) {
		if (i)
			end_run();
		run_once(".E50");
		for (size_t j = 0; j < w.n; j++) {
			const struct wire_sample *s = &w.samples[j];
			uint32_t at = find(s, 0, "chain_recursive");

			if (s->cut != WIRE_CUT_TOO_DEEP)
				continue;
			n++;
			assert_int_equal(s->n, WIRE_SAMPLE_FRAMES);
			while (at < s->n && is_at(s, at, "chain_recursive"))
				at++;
			if (at < s->n)
				print_stack(s);
			assert_int_equal(at, s->n);
		}
	}
	assert_true(n > 0);
}

/* As rustc does, by psm: the frame of the function that switches is found by rbp. */
TEST_CASE_WITH(a_stack_may_be_left_for_another, NULL, teardown)
{
	need_capture();
	open_with(&clock_only);
	sample_chain(".s(S(F50))", "chain_spin", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];
		uint32_t at = find(s, 0, "call_on_stack");

		if (find(s, 0, "chain_spin") < s->n)
			assert_in_range(find(s, at + 1, "call_on_stack"), at + 2, s->n - 2);
	}
}

TEST_CASE_WITH(the_thread_may_be_where_its_frame_is_found_by_r11, NULL, teardown)
{
	size_t n = 0;

	need_capture();
	open_with(&clock_only);
	sample_chain(".R50", "chain_frame", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++)
		n += is_at(&w.samples[i], 0, "spin_by_r11");
	assert_true(n > 0);
}

/* ---- With probes ----------------------------------------------------------------------------- */

TEST_CASE_WITH(the_interval_of_the_probes_is_in_the_sample, NULL, teardown)
{
	size_t n = 0;

	need_capture();
	open_with(&clock_only);
	sample_chain(".a(b(F50))", "chain_spin", WIRE_SAMPLE_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		if (find(s, 0, "chain_spin") == s->n)
			continue;
		n++;
		assert_int_equal(s->busy, 0);
		assert_int_equal(s->query, BETA);
		assert_int_equal(s->kind, WIRE_KIND_QUERY);
		assert_int_equal(s->depth, 2);
		assert_int_equal(s->lib, w.c.lib);
		/* The frames tell the same. */
		assert_true(find(s, 0, "provider_beta") < find(s, 0, "body_beta"));
		assert_true(find(s, 0, "body_beta") < find(s, 0, "provider_alpha"));
		assert_true(find(s, 0, "body_alpha") < s->n);
	}
	assert_true(n > 0);
}

/* A thread that is in the trap of a probe: its stack is whole all the same. */
TEST_CASE_WITH(a_sample_at_a_probe_is_of_the_probed_instruction, NULL, teardown)
{
	size_t at_probe = 0, busy = 0;

	need_capture();
	open_with(&clock_only);
	for (int i = 0; i < TRIES && (!at_probe || !busy); i++) {
		if (i)
			end_run();
		run_once(".~*20000(abi)");
		for (size_t j = 0; j < w.n; j++) {
			const struct wire_sample *s = &w.samples[j];
			const char *name = s->n ? symbol_at(s, 0, true) : NULL;

			busy += s->busy;
			if (!name || (strncmp(name, "site_", 5) && strncmp(name, "provider_", 9)))
				continue;
			at_probe++;
			assert_reaches_start(s);
		}
	}
	assert_true(at_probe > 0 && busy > 0);
}

/* ---- Other causes ---------------------------------------------------------------------------- */

TEST_CASE_WITH(page_faults_are_sampled, NULL, teardown)
{
	const struct sampling_options opt = {.fault_period = 10};

	need_capture();
	open_with(&opt);
	assert_true(sample_chain(".P20000", "chain_touch", WIRE_SAMPLE_FAULT) > 100);
	for (size_t i = 0; i < w.n; i++)
		assert_int_equal(w.samples[i].value, 10 * 4096);
}

/* Run until a page fault was sampled in chain_touch, which is the innermost frame of all of them.
 */
static size_t count_light(const char *script, enum wire_light light)
{
	const struct sampling_options opt = {.fault_period = 10, .light = light};
	size_t n = 0;

	open_with(&opt);
	for (int i = 0; i < TRIES && !n; i++) {
		if (i)
			end_run();
		run_once(script);
		for (size_t j = 0; j < w.n; j++) {
			n += is_at(&w.samples[j], 0, "chain_touch");
			assert_int_equal(w.samples[j].light, light);
			assert_int_equal(w.samples[j].value, 10 * 4096);
		}
		assert_int_equal(w.c.counters[WIRE_LOST_SAMPLES_RING], 0);
	}
	assert_true(n > 100);
	return n;
}

TEST_CASE_WITH(a_light_sample_is_of_one_frame, NULL, teardown)
{
	size_t n;

	need_capture();
	n = count_light(".a(b(P20000))", WIRE_LIGHT_HERE);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		assert_in_range(s->n, 0, 1);
		if (!is_at(s, 0, "chain_touch"))
			continue;
		n--;
		assert_int_equal(s->cut, WIRE_CUT_TOO_DEEP);
		assert_int_equal(s->query, BETA);
		assert_int_equal(s->depth, 2);
	}
	assert_int_equal(n, 0);
}

/* The stack goes on beyond what is walked. */
TEST_CASE_WITH(a_light_walk_is_short, NULL, teardown)
{
	size_t n = 0;

	need_capture();
	count_light(".r40(P20000)", WIRE_LIGHT_NEAR);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		assert_in_range(s->n, 0, WIRE_LIGHT_FRAMES);
		if (!is_at(s, 0, "chain_touch"))
			continue;
		n++;
		assert_int_equal(s->n, WIRE_LIGHT_FRAMES);
		assert_int_equal(s->cut, WIRE_CUT_TOO_DEEP);
		assert_true(is_at(s, 1, "chain_middle") && is_at(s, 2, "chain_outer"));
	}
	assert_true(n > 100);
}

TEST_CASE_WITH(waits_are_sampled_with_their_length, NULL, teardown)
{
	const struct sampling_options opt = {.off_cpu = true};
	size_t n = 0;

	need_capture();
	open_with(&opt);
	sample_chain(".*7(Q30000)Q3", "chain_sleep", WIRE_SAMPLE_OFF_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		assert_true(s->value >= 50000);
		n += is_chain(s, "chain_sleep") && s->value >= 15000000;
	}
	/* On a busy machine the short one may take long, too. */
	assert_in_range(n, 7, 8);
}

/* The state of the program's first thread in /proc: 'S' while it sleeps. */
static char state_of_target(void)
{
	_fclose_ FILE *f = process_file(w.c.pid, "stat");
	char state = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %*s %c", &state), 1);
	return state;
}

TEST_CASE_WITH(a_wait_that_has_not_ended_is_sent_when_the_capture_stops, NULL, teardown)
{
	const struct sampling_options opt = {.off_cpu = true};

	need_capture();
	open_with(&opt);
	begin_run(".Q600000000");
	while (state_of_target() != 'S')
		usleep(1000);
	/* Longer than what is too short to be sent. */
	usleep(1000);
	stop_sampling();
	assert_int_equal(count_chains("chain_sleep", WIRE_SAMPLE_OFF_CPU), 1);
	stop_sampling();
	assert_int_equal(count_chains("chain_sleep", WIRE_SAMPLE_OFF_CPU), 1);
}

/* A thread can wait from its fork on. */
TEST_CASE_WITH(waits_of_threads_are_their_own, NULL, teardown)
{
	const struct sampling_options opt = {.off_cpu = true};
	size_t n = 0;

	need_capture();
	open_with(&opt);
	sample_chain(".p4(Q20000)", "chain_sleep", WIRE_SAMPLE_OFF_CPU);
	for (size_t i = 0; i < w.n; i++) {
		const struct wire_sample *s = &w.samples[i];

		if (!is_chain(s, "chain_sleep") || s->value < 10000000)
			continue;
		n++;
		assert_true(s->tid != s->pid);
		for (size_t j = 0; j < i; j++)
			assert_true(w.samples[j].tid != s->tid ||
				    w.samples[j].time_ns + w.samples[j].value <= s->time_ns);
	}
	assert_int_equal(n, 4);
}

/* ---- Stacks that cannot be walked ------------------------------------------------------------ */

/* Nobody has said that it is a compiler. */
TEST_CASE_WITH(a_process_that_is_no_compiler_has_no_stack, NULL, teardown)
{
	need_capture();
	open_with(&clock_only);
	w.untold = true;
	for (int i = 0; i < TRIES && !w.n; i++) {
		if (i)
			end_run();
		run_once(".F30x(F30)");
	}
	assert_true(w.n > 0);
	for (size_t i = 0; i < w.n; i++) {
		assert_int_equal(w.samples[i].n, 0);
		assert_int_equal(w.samples[i].cut, WIRE_CUT_NO_MAP);
	}
}

static uint64_t time_of_exec(void)
{
	return w.c.got.n_execs ? w.c.got.execs[w.c.got.n_execs - 1].time_ns : UINT64_MAX;
}

/* The files that the program has mapped. */
#define MOST_MAPPED 6

/*
 * Until the script had a whole stack after its exec. The user half is not told of what was
 * executed: the kernel half finds the mappings, one of them at a sample.
 */
static void sample_untold(const char *script)
{
	size_t n = 0;

	open_with(&clock_only);
	for (int i = 0; i < TRIES && !n; i++) {
		uint64_t executed_ns;
		size_t n_cut = 0;

		if (i)
			end_run();
		run_once(script);
		executed_ns = time_of_exec();
		for (size_t j = 0; j < w.n; j++) {
			const struct wire_sample *s = &w.samples[j];

			if (s->time_ns <= executed_ns)
				continue;
			n_cut += s->n && s->cut == WIRE_CUT_NO_MAP;
			n += !s->cut && is_chain(s, "chain_spin");
		}
		assert_in_range(n_cut, 0, MOST_MAPPED);
	}
	assert_true(n > 0);
}

TEST_CASE_WITH(a_new_process_of_a_known_program_is_walked_at_once, NULL, teardown)
{
	need_capture();
	sample_untold(".F30x(F50)");
}

/* It is somewhere else in memory. */
TEST_CASE_WITH(a_program_that_is_executed_again_is_walked_at_once, NULL, teardown)
{
	need_capture();
	sample_untold(".F30X(F50)");
}

TEST_MAIN(make_cache, remove_cache)
