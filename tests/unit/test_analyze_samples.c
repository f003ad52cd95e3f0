// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/samples.h"
#include "analyze/summary.h"

#include "analyze/model.h"
#include "analyze/sample_counts.h"
#include "analyze/sample_waits.h"
#include "../fixtures/random.h"
#include "test.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/sampled_trace.h"
#include "base/cleanup.h"

#define CPU TRACE_SAMPLE_CPU

static const struct summary_row *row_of(const struct summary_row *rows, size_t n,
					const struct trace_reader *r, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(trace_reader__string(r, rows[i].label), name))
			return &rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

TEST_CASE(each_query_counts_once_in_a_stack)
{
	_free_ struct summary_row *rows = NULL;
	_sampled_build_ struct sampled_build b;
	const struct summary_row *row;
	const struct samples_totals *t;
	size_t n;

	sampled_build__make(&b, 0, 0);
	assert_int_equal(summary__rows(b.model.summary, SUMMARY_ALL, &rows, &n), 0);
	assert_int_equal(n, SAMPLED_LABELS);
	/* The largest on the CPU is first. */
	assert_string_equal(trace_reader__string(b.r, rows[0].label), "typeck");
	row = &rows[0];
	assert_int_equal(row->self_by, SUMMARY_SELF_SAMPLES);
	assert_int_equal(row->best_self_ns, 9 * SAMPLED_PERIOD);
	assert_string_equal(summary_row__kind(row), "Query");
	assert_struct(row->samples.self[CPU], n, 9, value, 9 * SAMPLED_PERIOD);
	assert_struct(*row, sampled_error_ns, 3 * SAMPLED_PERIOD, samples.total[CPU].n, 13,
		      samples.self[TRACE_SAMPLE_OFF_CPU].value, 800000,
		      samples.self[TRACE_SAMPLE_FAULT].value, 10 * SAMPLED_FAULT);
	/* With what an unknown query took; of both processes. */
	row = row_of(rows, n, b.r, "analysis");
	assert_struct(row->samples, self[CPU].n, 5, total[CPU].n, 18);
	row = row_of(rows, n, b.r, "expand_crate");
	assert_string_equal(summary_row__kind(row), "GenericActivity");
	assert_int_equal(row->samples.self[CPU].n, 2);
	t = model__sampled(&b.model);
	assert_struct(*t, sampling.hz, 499, of[CPU].n, 29);
	assert_int_equal(samples_totals__n(t), 29 + 6 + 35);
	assert_struct(*t, no_query[CPU].n, 9, cut[TRACE_CUT_NOT], 70 - 4, cut[TRACE_CUT_NO_RULE], 3,
		      cut[TRACE_CUT_NO_MAP], 1, unknown, 1);
	assert_int_equal(samples__process(b.model.samples, 1)[CPU].n, 5);
	assert_int_equal(samples__process(b.model.samples, 7)[CPU].n, 0);
}

TEST_CASE(light_samples_have_a_query_or_say_that_it_is_unknown)
{
	_sampled_build_ struct sampled_build b = {
		.r = sampled_build_read(sampled_trace_write_light)};
	const struct model_options options = model_options_of(b.r);
	_free_ struct summary_row *rows = NULL;
	const struct samples_totals *t;
	size_t n;

	sampled_build__read(&b, &options);
	t = model__sampled(&b.model);
	assert_int_equal(t->light, 11);
	assert_int_equal(samples_totals__n(t), 11);
	assert_int_equal(t->cut[TRACE_CUT_TOO_DEEP], 0);
	assert_int_equal(trace_reader__stats(b.r).cut_samples, 0);
	assert_int_equal(t->unknown_query.value, 3 * SAMPLED_LIGHT_FAULT);
	assert_int_equal(t->no_query[TRACE_SAMPLE_FAULT].value, 2 * SAMPLED_LIGHT_FAULT);
	assert_int_equal(summary__rows(b.model.summary, SUMMARY_ALL, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(row_of(rows, n, b.r, "typeck")->samples.self[TRACE_SAMPLE_FAULT].n, 5);
	assert_int_equal(row_of(rows, n, b.r, "mir_built")->samples.self[TRACE_SAMPLE_FAULT].n, 1);
}

/* ---- Against the definition ------------------------------------------------------------------ */

#define ENTRIES	  400
#define LABELS	  6
#define PROCESSES 3

static struct trace_stack tree[ENTRIES];

static const struct trace_stack *entry(const void *ctx, uint32_t id)
{
	return id && id < ENTRIES ? &tree[id] : NULL;
}

static void grow_tree(struct rng *rng)
{
	for (uint32_t i = 1; i < ENTRIES; i++)
		tree[i] = (struct trace_stack){.parent = rng_below(rng, 10) ? rng_below(rng, i)
									    : TRACE_NO_STACK,
					       .place = rng_below(rng, LABELS),
					       .kind = rng_below(rng, TRACE_STACK_KINDS)};
}

/* A query and an activity may have one label. */
#define ROWS (2 * LABELS)

static uint32_t row_number(uint32_t label, bool is_activity)
{
	return label + (is_activity ? LABELS : 0);
}

static uint32_t row_of_entry(uint32_t i)
{
	return row_number(tree[i].place, tree[i].kind == TRACE_STACK_ACTIVITY);
}

struct expected {
	struct sample_sums of[PROCESSES][ROWS];
};

/* Executions of this query are hidden. */
#define HIDDEN 4

static bool hides(const void *ctx, uint32_t label, uint8_t kind)
{
	assert_ptr_equal(ctx, tree);
	return kind == TRACE_KIND_QUERY && label == HIDDEN;
}

/* The innermost entry of a stack that is not hidden, 0: none; and the rows of all that are not. */
struct shown {
	uint32_t seen;
	bool rows[ROWS];
};

static struct shown shown_in(uint32_t stack, bool hiding)
{
	struct shown s = {};

	for (uint32_t i = stack; i; i = tree[i].parent) {
		if (tree[i].kind == TRACE_STACK_LOCATION || tree[i].kind == TRACE_STACK_UNKNOWN)
			continue;
		if (hiding && tree[i].kind == TRACE_STACK_QUERY && tree[i].place == HIDDEN)
			continue;
		s.rows[row_of_entry(i)] = true;
		s.seen = s.seen ?: i;
	}
	return s;
}

/* Probes know queries best, and stacks may show a query in an activity that has probes. */
static void expect(struct expected *e, const struct trace_sample *s, bool hiding)
{
	const struct sample_sum one = {1, s->value};
	struct shown shown = shown_in(s->stack, hiding);
	bool by_probes =
		s->label != TRACE_NO_STRING && (!shown.seen || s->kind == TRACE_KIND_QUERY);
	uint32_t owner = by_probes ? row_number(s->label, s->kind == TRACE_KIND_ACTIVITY)
				   : row_of_entry(shown.seen);
	struct sample_sums *of = e->of[s->process];

	if (!by_probes && !shown.seen)
		return;
	shown.rows[owner] = true;
	for (uint32_t row = 0; row < ROWS; row++)
		if (shown.rows[row])
			sample_sum__add(&of[row].total[s->cause], &one);
	sample_sum__add(&of[owner].self[s->cause], &one);
}

static void assert_rows(struct samples *s, const struct expected *e, bool hiding)
{
	struct expected found = {};
	_free_ struct samples_row *rows = NULL;
	size_t n;

	assert_int_equal(samples__rows(s, hiding ? hides : NULL, tree, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = row_number(rows[i].label, summary_kinds_are_activity(rows[i].kinds));

		assert_true(!i || rows[i - 1].process <= rows[i].process);
		sample_sums__add(&found.of[rows[i].process][row], &rows[i].sums);
	}
	assert_memory_equal(&found, e, sizeof(found));
}

TEST_CASE(random_samples_agree_with_the_definition)
{
	const struct stack_source source = {.entry = entry};
	struct rng rng = rng_new();

	for (int round = 0; round < 20; round++) {
		_samples_ struct samples *s = NULL;
		struct expected e = {}, hiding = {};

		grow_tree(&rng);
		assert_int_equal(samples__new(&source, &s), 0);
		for (int i = 0; i < 1000; i++) {
			const struct trace_sample sample = {
				.value = rng_below(&rng, 1000),
				.process = rng_below(&rng, PROCESSES),
				.stack = rng_below(&rng, ENTRIES),
				.label = rng_below(&rng, 2) ? rng_below(&rng, LABELS)
							    : TRACE_NO_STRING,
				.kind = rng_below(&rng, 2) ? TRACE_KIND_QUERY : TRACE_KIND_ACTIVITY,
				.cause = 1 + rng_below(&rng, TRACE_SAMPLE_CAUSES - 1)};

			expect(&e, &sample, false);
			expect(&hiding, &sample, true);
			assert_int_equal(samples__add(s, &sample), 0);
			/* Rows may be asked for in between. */
			if (i == 500)
				assert_rows(s, &e, false);
		}
		assert_rows(s, &e, false);
		assert_rows(s, &hiding, true);
	}
}

TEST_CASE(probes_and_stacks_are_compared)
{
	const struct stack_source source = {.entry = entry};
	_samples_ struct samples *s = NULL;
	struct trace_sample sample = {
		.stack = 2, .label = 2, .kind = TRACE_KIND_QUERY, .cause = CPU};
	_free_ struct samples_row *rows = NULL;
	size_t n;

	tree[1] = (struct trace_stack){.place = 2, .kind = TRACE_STACK_QUERY};
	/* Not every activity that a stack shows has probes. */
	tree[2] = (struct trace_stack){.parent = 1, .place = 5, .kind = TRACE_STACK_ACTIVITY};
	must(samples__new(&source, &s), samples__add(s, &sample));
	sample.label = 3;
	assert_int_equal(samples__add(s, &sample), 0);
	/* An activity within the query is in no stack. */
	sample.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(samples__add(s, &sample), 0);
	sample.label = TRACE_NO_STRING;
	must(samples__add(s, &sample), samples__rows(s, NULL, NULL, &rows, &n));
	assert_struct(*samples__totals(s), compared, 2, differ, 1);
	sample.cause = 0;
	assert_int_equal(samples__add(s, &sample), -EINVAL);
	sample.cause = TRACE_SAMPLE_CAUSES;
	assert_int_equal(samples__add(s, &sample), -EINVAL);
}

TEST_CASE(an_error_is_the_root_of_the_number)
{
	assert_int_equal(sample_sum__error(&(struct sample_sum){100, 1000}), 100);
	assert_int_equal(sample_sum__error(&(struct sample_sum){1, 7}), 7);
	assert_int_equal(sample_sum__error(&(struct sample_sum){}), 0);
}

/* ---- Stack sums ------------------------------------------------------------------------------ */

static const struct trace_stack *stack_sums_entry(const void *ctx, uint32_t id)
{
	static const struct trace_stack any;

	return id && id < 10 ? &any : NULL;
}

TEST_CASE(samples_of_one_cause_are_summed_by_stack)
{
	struct stack_sums s = {.cause = TRACE_SAMPLE_CPU, .source = {.entry = stack_sums_entry}};
	struct trace_sample sample = {.cause = TRACE_SAMPLE_CPU, .stack = 9, .value = 5};

	must(stack_sums__add(&s, &sample), stack_sums__add(&s, &sample));
	sample.stack = 2;
	assert_int_equal(stack_sums__add(&s, &sample), 0);
	sample.cause = TRACE_SAMPLE_FAULT;
	assert_int_equal(stack_sums__add(&s, &sample), 0);
	assert_struct(s.at[9], n, 2, value, 10);
	assert_struct(s, at[2].n, 1, all.n, 3);
	stack_sums__destroy(&s);
}

/* It takes no memory for numbers up to it. */
TEST_CASE(a_stack_that_is_not_there_is_none)
{
	struct stack_sums s = {.cause = TRACE_SAMPLE_CPU, .source = {.entry = stack_sums_entry}};
	const struct trace_sample sample = {
		.cause = TRACE_SAMPLE_CPU, .stack = UINT32_MAX - 1, .value = 5};

	assert_int_equal(stack_sums__add(&s, &sample), 0);
	assert_int_equal(s.at[TRACE_NO_STACK].n, 1);
	assert_true(s.n < 1000);
	stack_sums__destroy(&s);
}

/* ---- Sample shares --------------------------------------------------------------------------- */

static void split(enum trace_sample_cause cause, struct sample_sum shares[SAMPLE_SHARES])
{
	_sampled_build_ struct sampled_build b;
	struct trace_texts texts;

	sampled_build__make(&b, 0, 1u << cause);
	texts = model_options_of(b.r).texts;
	assert_int_equal(sample_shares_of(&b.model.stacks[cause], &texts, shares), 0);
}

static const struct trace_stack *outside_entry(const void *ctx, uint32_t id)
{
	static const struct trace_stack entries[] = {{},
						     {.place = 0, .kind = TRACE_STACK_ACTIVITY},
						     {.place = 1, .kind = TRACE_STACK_QUERY}};

	(void)ctx;
	return id && id < N_OF(entries) ? &entries[id] : NULL;
}

static const char *outside_text(const void *ctx, uint32_t id)
{
	(void)ctx;
	return id ? "typeck" : TRACE_ACTIVITY_LLVM;
}

/* From outside a thread of LLVM has no function. */
TEST_CASE(a_thread_of_llvm_is_llvms)
{
	struct stack_sums s = {.cause = TRACE_SAMPLE_CPU, .source = {.entry = outside_entry}};
	const struct trace_texts texts = {.text = outside_text};
	struct sample_sum shares[SAMPLE_SHARES];

	for (uint32_t stack = 0; stack < 3; stack++) {
		const struct trace_sample sample = {
			.cause = TRACE_SAMPLE_CPU, .stack = stack, .value = 10 + stack};

		assert_int_equal(stack_sums__add(&s, &sample), 0);
	}
	assert_int_equal(sample_shares_of(&s, &texts, shares), 0);
	assert_int_equal(shares[SAMPLE_NO_STACK].value, 10);
	assert_int_equal(shares[SAMPLE_LLVM].value, 11);
	assert_int_equal(shares[SAMPLE_FRONT_END].value, 12);
	stack_sums__destroy(&s);
}

TEST_CASE(time_is_split_by_what_it_was_for)
{
	struct sample_sum shares[SAMPLE_SHARES];

	split(TRACE_SAMPLE_CPU, shares);
	/* Functions that LLVM calls count as LLVM. */
	assert_int_equal(shares[SAMPLE_LLVM].n, 5 + 3);
	assert_int_equal(shares[SAMPLE_CODEGEN].n, 0);
	assert_int_equal(shares[SAMPLE_FRONT_END].n, 20);
	assert_int_equal(shares[SAMPLE_NO_STACK].n, 1);
	/* Waits of the fixture are below rustc_codegen_llvm, which is a codegen crate. */
	split(TRACE_SAMPLE_OFF_CPU, shares);
	assert_int_equal(shares[SAMPLE_CODEGEN].n, 3);
	assert_int_equal(shares[SAMPLE_FRONT_END].n, 3);
}

/* ---- Sample counts --------------------------------------------------------------------------- */

enum { A = 3, B, C };

static void sample(struct sample_counts *c, const uint32_t *labels, uint8_t cause)
{
	const struct trace_sample s = {.value = 10, .cause = cause};

	for (; *labels; labels++) {
		struct trace_stack entry = {.kind = TRACE_STACK_QUERY, .place = *labels};

		if (*labels == C)
			entry.kind = TRACE_STACK_ACTIVITY;
		sample_counts__entry(c, &entry);
		entry.kind = TRACE_STACK_LOCATION;
		sample_counts__entry(c, &entry);
		entry.kind = TRACE_STACK_UNKNOWN;
		sample_counts__entry(c, &entry);
	}
	assert_int_equal(sample_counts__sample(c, &s), 0);
}

#define SAMPLE(c, ...) sample(c, (const uint32_t[]){__VA_ARGS__, 0}, TRACE_SAMPLE_CPU)

static void assert_row(const struct sample_count *row, uint32_t label, uint64_t self,
		       uint64_t total)
{
	assert_struct(*row, label, label, self.n, self, self.value, 10 * self, total.n, total);
}

TEST_CASE(the_innermost_interval_has_the_sample)
{
	__cleanup(sample_counts__destroy) struct sample_counts c = {};
	const struct sample_count *rows;

	SAMPLE(&c, A, B);
	SAMPLE(&c, A, B);
	SAMPLE(&c, A);
	/* Within itself it counts once. */
	SAMPLE(&c, A, B, A, B, C);
	sample(&c, (const uint32_t[]){A, 0}, TRACE_SAMPLE_OFF_CPU);
	sample(&c, (const uint32_t[]){0}, TRACE_SAMPLE_CPU);
	rows = c.rows.at;
	assert_int_equal(c.rows.n, 4);
	assert_row(&rows[0], A, 1, 4);
	assert_row(&rows[1], B, 2, 3);
	assert_row(&rows[2], C, 1, 1);
	assert_int_equal(rows[2].kind, TRACE_KIND_ACTIVITY);
	assert_row(&rows[3], TRACE_NO_STRING, 1, 1);
	assert_int_equal(c.all.n, 5);
}

TEST_CASE(a_stack_may_be_deep)
{
	__cleanup(sample_counts__destroy) struct sample_counts c = {};
	const struct trace_sample s = {.value = 10, .cause = TRACE_SAMPLE_CPU};

	for (uint32_t i = 0; i < 2 * SAMPLE_COUNTS_DEEPEST; i++)
		sample_counts__entry(
			&c, &(struct trace_stack){.kind = TRACE_STACK_QUERY, .place = A + i});
	assert_int_equal(sample_counts__sample(&c, &s), 0);
	assert_int_equal(c.rows.n, SAMPLE_COUNTS_DEEPEST);
}

/* ---- Sample waits ---------------------------------------------------------------------------- */

static const char *function_name(const struct sample_waits *w, uint32_t number)
{
	return number == CODE_NO_FUNCTION ? "none" : w->functions.at[number].name;
}

static bool is_typeck(const void *ctx, const char *label)
{
	return !strcmp(label, "typeck");
}

static void make(struct sample_waits *w, struct sampled_build *b, bool typeck)
{
	struct sample_waits_options options = {.wants = typeck ? is_typeck : NULL};

	sampled_build__make(b, 0, 1u << TRACE_SAMPLE_OFF_CPU);
	options.texts = model_options_of(b->r).texts;
	must(sample_waits__make(w, &b->model.stacks[TRACE_SAMPLE_OFF_CPU], &options));
}

TEST_CASE(stacks_show_what_is_waited_for)
{
	_sampled_build_ struct sampled_build b;
	_sample_waits_ struct sample_waits w = {};

	make(&w, &b, false);
	assert_struct(w, n_rows, 3, all.n, 6, rows[0].wait, SAMPLE_WAIT_LOCK, rows[0].sum.value,
		      3 * 70000000);
	assert_string_equal(function_name(&w, w.rows[0].function),
			    "rustc_codegen_llvm::back::write::codegen");
	assert_string_equal(function_name(&w, w.rows[0].query), "none");
	assert_struct(w, rows[1].wait, SAMPLE_WAIT_JOBSERVER, of[SAMPLE_WAIT_JOBSERVER].value,
		      30000000, rows[2].wait, SAMPLE_WAIT_PAGE);
	assert_string_equal(function_name(&w, w.rows[2].query), "typeck");
	assert_int_equal(w.of[SAMPLE_WAIT_PAGE].n, 2);
}

TEST_CASE(waits_may_be_of_a_query)
{
	_sampled_build_ struct sampled_build b;
	_sample_waits_ struct sample_waits w = {};

	make(&w, &b, true);
	assert_struct(w, n_rows, 1, all.value, 800000);
}

/* ---- Names of functions ---------------------------------------------------------------------- */

/* A stack of functions, the outermost first; place n is names[n - 1]. */
static const char *names[4];

static struct trace_stack entries[5];

static const struct trace_stack *sample_waits_entry(const void *ctx, uint32_t id)
{
	return id && id < N_OF(entries) && entries[id].place ? &entries[id] : NULL;
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	static struct trace_function function;

	function = (struct trace_function){.first = locindex,
					   .name = names[locindex - 1],
					   .file = strstr(names[locindex - 1], "::")
							   ? "/lib/librustc_driver-1.so"
							   : "/lib/libc.so.6"};
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
				  .source = {.entry = sample_waits_entry, .locate = locate}};
	const struct sample_waits_options options = {.texts = {.text = text}};
	struct trace_sample sample = {.cause = TRACE_SAMPLE_OFF_CPU, .value = 1};
	_sample_waits_ struct sample_waits w = {};

	memset(entries, 0, sizeof(entries));
	for (uint32_t i = 0; i < 3 && stack[i]; i++) {
		names[i] = stack[i];
		entries[i + 1] = (struct trace_stack){.parent = i, .place = i + 1};
		sample.stack = i + 1;
	}
	must(stack_sums__add(&sums, &sample), sample_waits__make(&w, &sums, &options));
	if (!w.of[expected].n)
		fail_msg("%s is not %s", stack[sample.stack - 1], sample_wait_name(expected));
	stack_sums__destroy(&sums);
}

TEST_CASE(functions_of_libc_name_the_wait)
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

TEST_CASE(each_kind_has_a_name)
{
	for (int i = 0; i < SAMPLE_WAIT_KINDS; i++) {
		assert_non_null(sample_wait_name(i));
		assert_non_null(sample_wait_text(i));
	}
	assert_null(sample_wait_name(SAMPLE_WAIT_KINDS));
	assert_null(sample_wait_text(SAMPLE_WAIT_KINDS));
}

TEST_MAIN(NULL, NULL)
