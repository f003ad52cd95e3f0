// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Samples of a test program that is in known chains of calls: each stack must be that chain, from
 * the innermost call to the start of the thread. Times are the scheduler's matter, so no test
 * counts samples: a script is run again until it had some.
 */
#include "capture.h"
#include "capture/sampling.h"
#include "proc/processes.h"
#include "target_chains.h"

#include <inttypes.h>

#define RING  (16u << 20)
#define HZ    997
#define TRIES 20

#define MOST_FILES   64
#define MOST_SAMPLES 20000

static struct {
	struct capture c;
	struct look *look;
	struct sampling *sampling;
	char *files[MOST_FILES];
	struct wire_sample *samples;
	size_t n;
	const struct elf_symbol *syms;
	size_t n_syms;
	struct elf_image *img;
	bool untold; /* the user half hears of no process */
} w;

static int on_file(void *ctx, uint32_t number, struct library_file *file)
{
	assert_in_range(number, 1, MOST_FILES - 1);
	assert_null(w.files[number]);
	w.files[number] = strdup(file ? library_file__path(file) : "[vdso]");
	return 0;
}

static int on_record(void *ctx, const void *record, size_t size)
{
	const struct wire_sample *s = record;

	sampling__record(w.sampling, record, size);
	if (s->type != WIRE_SAMPLE)
		return keep_record(&w.c.got, record, size);
	assert_true(size >= offsetof(struct wire_sample, frames));
	assert_int_equal(size, offsetof(struct wire_sample, frames) + 8 * s->n);
	assert_in_range(w.n, 0, MOST_SAMPLES - 1);
	memcpy(&w.samples[w.n++], s, size);
	return 0;
}

static void drain(void)
{
	assert_int_equal(kernel__drain(w.c.kernel, on_record, NULL), 0);
	assert_int_equal(sampling__settle(w.sampling), 0);
}

static void open_with(const struct sampling_options *sampling)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .sampling = *sampling};
	const struct session_sink sink = {.file = on_file};
	struct kernel_samples k;

	w.samples = calloc(MOST_SAMPLES, sizeof(*w.samples));
	assert_non_null(w.samples);
	capture_open_with(&w.c, &opt, 0);
	assert_int_equal(image_of(w.c.target, &w.img), 0);
	assert_int_equal(elf_image__symbols(w.img, &w.syms, &w.n_syms), 0);
	assert_int_equal(look__new(&w.look), 0);
	assert_true(kernel__samples(w.c.kernel, &k));
	assert_int_equal(sampling__open(sampling, &k, w.look, &sink, 0, &w.sampling), 0);
}

/* Let the program run up to the script's first '.', and beyond it when its tables are there. */
static void begin_run(const char *script)
{
	w.n = 0;
	capture_start(&w.c, script);
	assert_int_equal(kernel__follow(w.c.kernel, w.c.pid), 0);
	kernel__enable(w.c.kernel, true);
	capture_go(&w.c);
	capture_wait_for_dot(&w.c);
	drain();
	if (!w.untold)
		assert_int_equal(sampling__expect_running(w.sampling, w.c.pid), 0);
	while (!sampling__is_ready(w.sampling, w.c.pid)) {
		struct pollfd fd = {.fd = sampling__fd(w.sampling), .events = POLLIN};

		poll(&fd, 1, 100);
		drain();
	}
	assert_int_equal(sampling__start(w.sampling), 0);
	assert_int_equal(write(w.c.to_target, "", 1), 1);
}

static void stop_sampling(void)
{
	sampling__stop(w.sampling);
	kernel__enable(w.c.kernel, false);
	assert_int_equal(kernel__flush_open(w.c.kernel), 0);
	drain();
	assert_int_equal(kernel__counters(w.c.kernel, w.c.counters), 0);
	sampling__count(w.sampling, w.c.counters);
}

static void run_once(const char *script)
{
	begin_run(script);
	while (waitpid(w.c.pid, &w.c.status, WNOHANG) == 0) {
		struct pollfd ring = {.fd = kernel__ring_fd(w.c.kernel), .events = POLLIN};

		poll(&ring, 1, 1);
		drain();
	}
	w.c.ended = true;
	stop_sampling();
	assert_true(WIFEXITED(w.c.status) && !WEXITSTATUS(w.c.status));
}

static void end_run(void)
{
	cleanup_close_p(&w.c.to_target);
	cleanup_close_p(&w.c.from_target);
	w.c.to_target = w.c.from_target = -1;
	unlink(w.c.expected);
}

static int teardown(void **state)
{
	if (!w.c.kernel)
		return 0;
	sampling__free(w.sampling);
	look__free(w.look);
	elf_image__free(w.img);
	capture_close(&w.c);
	free(w.samples);
	for (int i = 0; i < MOST_FILES; i++)
		free(w.files[i]);
	memset(&w, 0, sizeof(w));
	return 0;
}

/* The tables that are made are kept here. */
static char cache[] = "/tmp/qprof-test-XXXXXX";

static int make_cache(void **state)
{
	/* No answer is late, however busy the machine is. */
	look_ns = 60000000000;
	return mkdtemp(cache) ? setenv("XDG_CACHE_HOME", cache, 1) : -1;
}

static int remove_cache(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", cache);
	return system(command);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static uint32_t file_of(const struct wire_sample *s, uint32_t i)
{
	return (uint32_t)(s->frames[i] >> 48);
}

/* Symbols within functions: sites of probes, and places that functions return to. */
static bool is_within(const char *name)
{
	return !strncmp(name, "site_", 5) || !strncmp(name, "asked_", 6);
}

/*
 * The last symbol of the target up to the address of frame `i`, with those within functions or
 * without; NULL: the frame is in another file. Functions in assembly have no size.
 */
static const char *symbol_at(const struct wire_sample *s, uint32_t i, bool within)
{
	uint64_t addr = (s->frames[i] & 0xffffffffffff) - (i > 0);
	const struct elf_symbol *best = NULL;

	if (i >= s->n || !file_of(s, i) || strcmp(w.files[file_of(s, i)], w.c.target))
		return NULL;
	for (size_t n = 0; n < w.n_syms; n++)
		if (w.syms[n].addr <= addr && (!best || best->addr <= w.syms[n].addr) &&
		    (within || !is_within(w.syms[n].name)))
			best = &w.syms[n];
	return best ? best->name : NULL;
}

static bool is_at(const struct wire_sample *s, uint32_t i, const char *function)
{
	const char *name = symbol_at(s, i, false);

	return name && !strcmp(name, function);
}

/* The index of the innermost frame of a function, from `from` on; s->n: there is none. */
static uint32_t find(const struct wire_sample *s, uint32_t from, const char *function)
{
	while (from < s->n && !is_at(s, from, function))
		from++;
	return from;
}

static void print_stack(const struct wire_sample *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		print_message("%s %s+%#" PRIx64 "\n", symbol_at(s, i, true) ?: "-",
			      file_of(s, i) ? w.files[file_of(s, i)] : "?",
			      s->frames[i] & 0xffffffffffff);
}

/* It reaches the start of a thread, through main() if it is the first one. */
static void assert_reaches_start(const struct wire_sample *s)
{
	if (s->cut)
		print_stack(s);
	assert_int_equal(s->cut, WIRE_CUT_NOT);
	if (s->tid == s->pid)
		assert_in_range(find(s, 0, "main"), 1, s->n - 2);
}

/* True if the stack is in this leaf of a chain; then all of it is checked. */
static bool is_chain(const struct wire_sample *s, const char *leaf)
{
	uint32_t at = find(s, 0, leaf);

	if (at == s->n)
		return false;
	assert_true(is_at(s, at + 1, "chain_middle"));
	assert_true(is_at(s, at + 2, "chain_outer"));
	assert_reaches_start(s);
	return true;
}

static size_t count_chains(const char *leaf, enum wire_sample_cause cause)
{
	size_t n = 0;

	for (size_t i = 0; i < w.n; i++)
		n += w.samples[i].cause == cause && is_chain(&w.samples[i], leaf);
	return n;
}

/* Run the script until it had samples in this leaf. Returns how many the last run had. */
static size_t sample_chain(const char *script, const char *leaf, enum wire_sample_cause cause)
{
	size_t n = 0;

	for (int i = 0; i < TRIES && !n; i++) {
		if (i)
			end_run();
		run_once(script);
		n = count_chains(leaf, cause);
		assert_int_equal(w.c.counters[WIRE_LOST_SAMPLES_RING], 0);
		assert_int_equal(w.c.counters[WIRE_LOST_SAMPLE_MAPPINGS], 0);
	}
	assert_true(n > 0);
	return n;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const struct sampling_options clock_only = {.hz = HZ};

static void a_chain_of_calls_is_walked(void **state)
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

static void the_kernel_is_entered_from_somewhere(void **state)
{
	need_capture();
	open_with(&clock_only);
	sample_chain(".I50", "chain_read", WIRE_SAMPLE_CPU);
}

static void a_thread_has_a_start_of_its_own(void **state)
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
		assert_true(s->tid != s->pid && at < s->n - 1);
		assert_int_equal(find(s, 0, "main"), s->n);
		n++;
	}
	assert_true(n > 0);
}

static void a_deep_recursion_is_cut(void **state)
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
static void a_stack_may_be_left_for_another(void **state)
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

static void the_thread_may_be_where_its_frame_is_found_by_r11(void **state)
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

static void the_interval_of_the_probes_is_in_the_sample(void **state)
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
static void a_sample_at_a_probe_is_of_the_probed_instruction(void **state)
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

static void page_faults_are_sampled(void **state)
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

static void a_light_sample_is_of_one_frame(void **state)
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
static void a_light_walk_is_short(void **state)
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

static void waits_are_sampled_with_their_length(void **state)
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
	assert_int_equal(n, 7);
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

static void a_wait_that_has_not_ended_is_sent_when_the_capture_stops(void **state)
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
static void waits_of_threads_are_their_own(void **state)
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
static void a_process_that_is_no_compiler_has_no_stack(void **state)
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

static void a_new_process_of_a_known_program_is_walked_at_once(void **state)
{
	need_capture();
	sample_untold(".F30x(F50)");
}

/* It is somewhere else in memory. */
static void a_program_that_is_executed_again_is_walked_at_once(void **state)
{
	need_capture();
	sample_untold(".F30X(F50)");
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_chain_of_calls_is_walked),
		TEST(the_kernel_is_entered_from_somewhere),
		TEST(a_thread_has_a_start_of_its_own),
		TEST(a_deep_recursion_is_cut),
		TEST(a_stack_may_be_left_for_another),
		TEST(the_thread_may_be_where_its_frame_is_found_by_r11),
		TEST(the_interval_of_the_probes_is_in_the_sample),
		TEST(a_sample_at_a_probe_is_of_the_probed_instruction),
		TEST(page_faults_are_sampled),
		TEST(a_light_sample_is_of_one_frame),
		TEST(a_light_walk_is_short),
		TEST(waits_are_sampled_with_their_length),
		TEST(a_wait_that_has_not_ended_is_sent_when_the_capture_stops),
		TEST(waits_of_threads_are_their_own),
		TEST(a_process_that_is_no_compiler_has_no_stack),
		TEST(a_new_process_of_a_known_program_is_walked_at_once),
		TEST(a_program_that_is_executed_again_is_walked_at_once),
	};

	return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
