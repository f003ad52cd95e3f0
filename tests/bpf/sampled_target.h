/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A capture of the test program that takes samples, keeps all of them, and finds the program's
 * functions in their stacks.
 */
#ifndef QPROF_TESTS_BPF_SAMPLED_TARGET_H
#define QPROF_TESTS_BPF_SAMPLED_TARGET_H

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
#define MOST_JOBS    200000
#define MOST_NAMES   64

static struct {
	struct capture c;
	struct broker *broker;
	struct sampling *sampling;
	char *files[MOST_FILES];
	struct wire_sample *samples;
	struct wire_job *jobs;
	struct wire_llvm_name names[MOST_NAMES];
	size_t n, n_jobs, n_names;
	const struct elf_symbol *syms;
	size_t n_syms;
	struct elf_image *img;
	bool untold;			     /* the user half hears of no process */
	bool keys;			     /* names are wanted; set it before open_with() */
	void (*complete)(struct plan *plan); /* before it is attached; or NULL */
	/* With it, keys are read, and times off the CPU recorded; or NULL. */
	const struct filter *filter;
} w;

static inline int on_sink(void *ctx, const struct record *r)
{
	if (r->kind != RECORD_FILE)
		return 0;
	assert_in_range(r->file.number, 1, MOST_FILES - 1);
	assert_null(w.files[r->file.number]);
	w.files[r->file.number] =
		strdup(r->file.file ? library_file__path(r->file.file) : "[vdso]");
	return 0;
}

static inline int on_record(void *ctx, const struct record *r)
{
	sampling__take(w.sampling, r);
	switch (r->kind) {
	case WIRE_JOB:
		assert_in_range(w.n_jobs, 0, MOST_JOBS - 1);
		w.jobs[w.n_jobs++] = *r->job;
		return 0;
	case WIRE_LLVM_NAME:
		assert_in_range(w.n_names, 0, MOST_NAMES - 1);
		memcpy(&w.names[w.n_names++], r->llvm_name, r->size);
		return 0;
	case WIRE_SAMPLE:
		assert_in_range(w.n, 0, MOST_SAMPLES - 1);
		memcpy(&w.samples[w.n++], r->sample, r->size);
		return 0;
	default:
		return keep_record(&w.c.got, r);
	}
}

static inline void drain(void)
{
	assert_int_equal(kernel__drain(w.c.kernel, on_record, NULL), 0);
	assert_int_equal(sampling__settle(w.sampling), 0);
}

static inline void open_with(const struct sampling_options *sampling)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI,
		.ring_bytes = RING,
		.sampling = *sampling,
		.keys = w.keys || w.filter,
		.off_cpu = w.filter != NULL,
		.filter = w.filter,
	};
	const struct session_sink sink = {.take = on_sink};
	struct kernel_samples k;

	w.samples = calloc(MOST_SAMPLES, sizeof(*w.samples));
	w.jobs = calloc(MOST_JOBS, sizeof(*w.jobs));
	assert_true(w.samples && w.jobs);
	capture_load(&w.c, &opt, 0);
	assert_int_equal(image_of(w.c.target, &w.img), 0);
	assert_int_equal(elf_image__symbols(w.img, &w.syms, &w.n_syms), 0);
	if (w.complete)
		w.complete(w.c.plan);
	assert_int_equal(kernel__attach(w.c.kernel, w.c.plan, w.filter, &w.c.lib), 0);
	assert_int_equal(broker__new(&w.broker), 0);
	assert_true(kernel__samples(w.c.kernel, &k));
	assert_int_equal(sampling__open(sampling, &k, w.broker, &sink, 0, &w.sampling), 0);
	sampling__library(w.sampling, w.c.lib, w.c.plan->file);
}

/* Let the program run up to the script's first '.', and beyond it when its tables are there. */
static inline void begin_run(const char *script)
{
	w.n = w.n_jobs = 0;
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

static inline void stop_sampling(void)
{
	sampling__stop(w.sampling);
	kernel__enable(w.c.kernel, false);
	assert_int_equal(kernel__flush_open(w.c.kernel), 0);
	drain();
	assert_int_equal(kernel__counters(w.c.kernel, w.c.counters), 0);
	sampling__count(w.sampling, w.c.counters);
}

static inline void run_once(const char *script)
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

static inline void end_run(void)
{
	cleanup_close_p(&w.c.to_target);
	cleanup_close_p(&w.c.from_target);
	w.c.to_target = w.c.from_target = -1;
	unlink(w.c.expected);
}

static inline int teardown(void **state)
{
	if (!w.c.kernel)
		return 0;
	sampling__free(w.sampling);
	broker__free(w.broker);
	elf_image__free(w.img);
	capture_close(&w.c);
	free(w.samples);
	free(w.jobs);
	for (int i = 0; i < MOST_FILES; i++)
		free(w.files[i]);
	memset(&w, 0, sizeof(w));
	return 0;
}

/* The tables that are made are kept here. */
static char cache[] = "/tmp/qprof-test-XXXXXX";

static inline int make_cache(void **state)
{
	/* No answer is late, however busy the machine is. */
	broker_ns = 60000000000;
	return mkdtemp(cache) ? setenv("XDG_CACHE_HOME", cache, 1) : -1;
}

static inline int remove_cache(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", cache);
	return system(command);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static inline uint32_t file_of(const struct wire_sample *s, uint32_t i)
{
	return (uint32_t)(s->frames[i] >> 48);
}

/* Symbols within functions: sites of probes, and places that functions return to. */
static inline bool is_within(const char *name)
{
	return !strncmp(name, "site_", 5) || !strncmp(name, "asked_", 6);
}

/*
 * The last symbol of the target up to the address of frame `i`, with those within functions or
 * without; NULL: the frame is in another file. Functions in assembly have no size.
 */
static inline const char *symbol_at(const struct wire_sample *s, uint32_t i, bool within)
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

static inline bool is_at(const struct wire_sample *s, uint32_t i, const char *function)
{
	const char *name = symbol_at(s, i, false);

	return name && !strcmp(name, function);
}

/* The index of the innermost frame of a function, from `from` on; s->n: there is none. */
static inline uint32_t find(const struct wire_sample *s, uint32_t from, const char *function)
{
	while (from < s->n && !is_at(s, from, function))
		from++;
	return from;
}

static inline void print_stack(const struct wire_sample *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		print_message("%s %s+%#" PRIx64 "\n", symbol_at(s, i, true) ?: "-",
			      file_of(s, i) ? w.files[file_of(s, i)] : "?",
			      s->frames[i] & 0xffffffffffff);
}

/* It reaches the start of a thread, through main() if it is the first one. */
static inline void assert_reaches_start(const struct wire_sample *s)
{
	if (s->cut)
		print_stack(s);
	assert_int_equal(s->cut, WIRE_CUT_NOT);
	if (s->tid == s->pid)
		assert_in_range(find(s, 0, "main"), 1, s->n - 2);
}

/* True if the stack is in this leaf of a chain; then all of it is checked. */
static inline bool is_chain(const struct wire_sample *s, const char *leaf)
{
	uint32_t at = find(s, 0, leaf);

	if (at == s->n)
		return false;
	assert_true(is_at(s, at + 1, "chain_middle"));
	assert_true(is_at(s, at + 2, "chain_outer"));
	assert_reaches_start(s);
	return true;
}

static inline size_t count_chains(const char *leaf, enum wire_sample_cause cause)
{
	size_t n = 0;

	for (size_t i = 0; i < w.n; i++)
		n += w.samples[i].cause == cause && is_chain(&w.samples[i], leaf);
	return n;
}

/* Run the script until it had samples in this leaf. Returns how many the last run had. */
static inline size_t sample_chain(const char *script, const char *leaf,
				  enum wire_sample_cause cause)
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

#endif /* QPROF_TESTS_BPF_SAMPLED_TARGET_H */
