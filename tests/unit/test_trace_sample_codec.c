// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/sample_codec.h"

#include "test.h"
#include "trace/reader.h"
#include "trace/span_codec.h"
#include "../fixtures/walks.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/spans.h"
#include "qprof/trace_format.h"

#define _byte_buffer_ __cleanup(byte_buffer__destroy)

#define PERIOD_NS 2004008u

/* Every process, string and stack exists. */
static const struct sample_limits no_limits = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
					       UINT32_MAX};

static int encode(const struct trace_sample *samples, uint32_t n, uint32_t stacks,
		  struct byte_buffer *out)
{
	_sample_codec_ struct sample_codec *c = NULL;

	assert_int_equal(sample_codec__new(&c), 0);
	return sample_codec__encode(c, samples, n, stacks, out);
}

static bool same(const struct trace_sample *a, const struct trace_sample *b)
{
	return a->time_ns == b->time_ns && a->value == b->value && a->process == b->process &&
	       a->tid == b->tid && a->stack == b->stack && a->label == b->label &&
	       a->depth == b->depth && a->cause == b->cause && a->cut == b->cut &&
	       a->job == b->job && a->llvm == b->llvm;
}

/* The next sample of the thread of `of` from `i` on. */
static uint32_t next_of_thread(const struct trace_sample *samples, uint32_t n, uint32_t i,
			       const struct trace_sample *of)
{
	while (i < n && (samples[i].process != of->process || samples[i].tid != of->tid))
		i++;
	return i;
}

static void assert_round_trip(const struct trace_sample *samples, uint32_t n, uint32_t stacks)
{
	_sample_codec_ struct sample_codec *c = NULL;
	_byte_buffer_ struct byte_buffer bytes = {0};
	const struct trace_sample *back;
	const char *why = NULL;
	uint32_t n_back;

	must(encode(samples, n, stacks, &bytes), sample_codec__new(&c),
	     sample_codec__decode(c, bytes.data, bytes.size, &no_limits, &back, &n_back, &why));
	assert_int_equal(n_back, n);
	/* Encoding keeps only the order within threads. */
	for (uint32_t i = 0, at = 0; i < n; i++) {
		if (!i || back[i].process != back[i - 1].process || back[i].tid != back[i - 1].tid)
			at = 0;
		at = next_of_thread(samples, n, at, &back[i]);
		assert_true(at < n);
		assert_true(same(&samples[at++], &back[i]));
	}
}

/* Samples of threads that run, wait and touch new pages, as a recording has them. */
static struct trace_sample *make_samples(struct rng *rng, uint32_t n, uint32_t n_threads)
{
	struct trace_sample *s = calloc(n, sizeof(*s));
	uint64_t now[8] = {0};
	uint32_t stack = 1000;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = rng_below(rng, n_threads);
		uint32_t dice = rng_below(rng, 20);

		s[i] = (struct trace_sample){
			.process = t / 2,
			.tid = 100 + t,
			.stack = rng_below(rng, 10) ? stack += rng_below(rng, 12)
						    : rng_below(rng, stack),
			.label = TRACE_NO_STRING,
			.cause = dice ? TRACE_SAMPLE_CPU : TRACE_SAMPLE_OFF_CPU,
			.cut = dice == 1 ? TRACE_CUT_NO_PAGE : TRACE_CUT_NOT,
			.value = dice ? PERIOD_NS : rng_any_size(rng) >> 40};
		if (dice)
			now[t] += PERIOD_NS + rng_below(rng, 4000);
		s[i].time_ns = 1000000000 + now[t];
		if (!dice)
			now[t] += s[i].value;
		if (dice == 2) {
			s[i].cause = TRACE_SAMPLE_FAULT;
			s[i].value = 100 * 4096;
		}
	}
	return s;
}

TEST_CASE(samples_come_back)
{
	struct rng rng = rng_new();
	_free_ struct trace_sample *s = make_samples(&rng, 5000, 8);

	assert_round_trip(s, 5000, 1000);
	assert_round_trip(s, 1, 0);
	s[4999].label = 7;
	s[4999].depth = 3;
	assert_round_trip(s, 5000, UINT32_MAX);
}

TEST_CASE(any_values_come_back)
{
	struct rng rng = rng_new();
	_free_ struct trace_sample *s = calloc(1000, sizeof(*s));

	for (int i = 0; i < 1000; i++) {
		s[i] = (struct trace_sample){.time_ns = rng_any_size(&rng),
					     .value = rng_any_size(&rng),
					     .process = rng_below(&rng, 3) ? 1 : UINT32_MAX - 1,
					     .tid = rng_below(&rng, 2) ? UINT32_MAX : 0,
					     .stack = rng_any_size(&rng) % UINT32_MAX,
					     .label = rng_below(&rng, 3) ? rng_below(&rng, 5)
									 : TRACE_NO_STRING,
					     .depth = rng_u64(&rng) >> rng_below(&rng, 17),
					     .cause = 1 + rng_below(&rng, 3),
					     .cut = rng_below(&rng, TRACE_CUT_MAX),
					     .job = rng_any_size(&rng) % UINT32_MAX,
					     .llvm = rng_any_size(&rng) % UINT32_MAX};
		if (s[i].cause == TRACE_SAMPLE_OFF_CPU && s[i].value > UINT64_MAX - s[i].time_ns)
			s[i].value = UINT64_MAX - s[i].time_ns;
	}
	assert_round_trip(s, 1000, 5);
}

/* A thread that only runs: a byte of cause, value and stack each, and two of the timer's noise. */
TEST_CASE(samples_are_small)
{
	struct rng rng = {1};
	_free_ struct trace_sample *s = make_samples(&rng, 4000, 4);
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(encode(s, 4000, s[0].stack, &bytes), 0);
	assert_true(bytes.size < 4000 * 7);
}

static int decode_within(const uint8_t *data, size_t size, const struct sample_limits *limits,
			 const char **why)
{
	_sample_codec_ struct sample_codec *c = NULL;
	/* The copy has the exact size, so a sanitizer reports a read past the end. */
	_free_ uint8_t *copy = malloc(size ? size : 1);
	const struct trace_sample *samples;
	uint32_t n;

	memcpy(copy, data, size);
	assert_int_equal(sample_codec__new(&c), 0);
	return sample_codec__decode(c, copy, size, limits, &samples, &n, why);
}

static const char *why;

TEST_CASE(every_cut_is_noticed)
{
	struct rng rng = rng_new();
	_free_ struct trace_sample *s = make_samples(&rng, 60, 3);
	_byte_buffer_ struct byte_buffer bytes = {0};

	s[3].label = 1;
	assert_int_equal(encode(s, 60, 1, &bytes), 0);
	for (size_t size = 0; size < bytes.size; size++) {
		why = NULL;
		assert_int_equal(decode_within(bytes.data, size, &no_limits, &why), -EBADMSG);
		assert_non_null(why);
	}
	byte_buffer__varint(&bytes, 0);
	assert_int_equal(decode_within(bytes.data, bytes.size, &no_limits, &why), -EBADMSG);
	assert_string_equal(why, "a batch of samples does not fill its chunk");
}

TEST_CASE(what_is_not_there_is_noticed)
{
	const struct trace_sample s = {.process = 4,
				       .stack = 7,
				       .job = 3,
				       .llvm = 2,
				       .label = 9,
				       .cause = TRACE_SAMPLE_CPU};
	struct sample_limits limits = {5, 10, 8, 3, 2};
	_byte_buffer_ struct byte_buffer bytes = {0};

	must(encode(&s, 1, 0, &bytes), decode_within(bytes.data, bytes.size, &limits, &why));
	limits.processes = 4;
	assert_int_equal(decode_within(bytes.data, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "samples of a process it does not hold");
	limits = (struct sample_limits){5, 9, 8, 3, 2};
	assert_int_equal(decode_within(bytes.data, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a sample has a name the file does not hold");
	limits = (struct sample_limits){5, 10, 7, 3, 2};
	assert_int_equal(decode_within(bytes.data, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a sample has a stack the file does not hold");
	limits = (struct sample_limits){5, 10, 8, 2, 2};
	assert_int_equal(decode_within(bytes.data, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a sample has a job the file does not hold");
	limits = (struct sample_limits){5, 10, 8, 3, 1};
	assert_int_equal(decode_within(bytes.data, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a sample has an entry of LLVM the file does not hold");
}

/* n, threads, base, base stack, columns, the table; then a cause, a value, a time and a stack. */
TEST_CASE(malformed_batches_are_refused)
{
	static const struct {
		uint8_t bytes[24];
		uint8_t size;
		const char *why; /* NULL: it is sound */
	} cases[] = {
		{{1, 1, 9, 0, 0, 0, 7, 1, 1, 0, 0, 0}, 12, NULL},
		{{1, 1, 9, 0, 0, 0, 7, 1, 0, 0, 0, 0}, 12, "a sample has an unknown cause"},
		{{1, 1, 9, 0, 0, 0, 7, 1, 5 << 2 | 1, 0, 0, 0},
		 12,
		 "a sample has an unknown cause"},
		{{1, 1, 9, 0, 0, 0, 7, 1, 1, 0, 0, 1},
		 12,
		 "a sample has a stack the file does not hold"},
		{{1, 1, 9, 0, 8, 0, 7, 1, 1, 0, 0, 0}, 12, "the threads of a batch do not add up"},
		/* Entry 1 of LLVM of one. */
		{{1, 1, 9, 0, 4, 0, 7, 1, 1, 0, 0, 0, 2}, 13, NULL},
		{{1, 1, 9, 0, 4, 0, 7, 1, 1, 0, 0, 0, 1},
		 13,
		 "a sample has an entry of LLVM the file does not hold"},
		/* Job -1, and 1. */
		{{1, 1, 9, 0, 2, 0, 7, 1, 1, 0, 0, 0, 1},
		 13,
		 "a sample has a job the file does not hold"},
		{{1, 1, 9, 0, 2, 0, 7, 1, 1, 0, 0, 0, 2}, 13, NULL},
		{{1, 2, 9, 0, 0, 0, 7, 1, 1, 0, 0, 0}, 12, "the threads of a batch do not add up"},
		{{1, 1, 9, 0, 0, 0, 7, 2, 1, 0, 0, 0}, 12, "the threads of a batch do not add up"},
		/* 9 ns before the end of time, for 10 ns. */
		{{1, 1, 0, 0, 0, 0, 7, 1, 2, 20, 17, 0}, 12, "a sample ends before it starts"},
		/* Depth -1; a label like the one before, of which there is none. */
		{{1, 1, 9, 0, 1, 0, 7, 1, 1, 0, 0, 0, 1, 0}, 14, "a sample is nested too deep"},
		{{1, 1, 9, 0, 1, 0, 7, 1, 1, 0, 0, 0, 0, 1},
		 14,
		 "a sample has a name the file does not hold"},
		{{1, 1, 9, 0, 1, 0, 7, 1, 1, 0, 0, 0, 0, 0}, 14, NULL},
		{{0, 0, 0, 0}, 4, "a batch of samples has a bad size"},
		{{4, 1, 9, 0, 0, 0, 7, 4, 1, 1, 1, 1}, 12, "a batch of samples has a bad size"},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		int err = decode_within(cases[i].bytes, cases[i].size, &no_limits, &why);

		assert_int_equal(err, cases[i].why ? -EBADMSG : 0);
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
	}
}

/* Random damage may decode or be refused, but must not crash. */
TEST_CASE(damage_is_survived)
{
	struct rng rng = rng_new();
	_free_ struct trace_sample *s = make_samples(&rng, 200, 4);
	_byte_buffer_ struct byte_buffer bytes = {0};

	s[7].label = 4;
	assert_int_equal(encode(s, 200, 1000, &bytes), 0);
	for (int i = 0; i < 5000; i++) {
		size_t at = rng_below(&rng, bytes.size);
		uint8_t old = bytes.data[at];
		int err;

		bytes.data[at] = rng_u64(&rng);
		err = decode_within(bytes.data, bytes.size, &no_limits, &why);
		assert_true(err == 0 || err == -EBADMSG);
		bytes.data[at] = old;
	}
}

/* ---- Sample reader --------------------------------------------------------------------------- */

/* Samples at 1000 (typeck), 2000 (mir_built), 3000 (no stack), and off the CPU 4000 to 5000. */
static void write_trace(void)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct trace_process other = {
		.index = 1, .pid = 41, .exit_status = TRACE_EXIT_UNKNOWN, .command = "rustc"};
	struct trace_sample s[4];

	sampled_trace_begin(w);
	assert_int_equal(trace_writer__process(w, &other), 0);
	s[0] = sampled_trace_sample(1000, sampled_trace_stack(w, SAMPLED_TYPECK, 5));
	s[1] = sampled_trace_sample(2000, sampled_trace_stack(w, SAMPLED_MIR_BUILT, 6));
	/* The interval that probes saw does not count for the filter. */
	s[2] = sampled_trace_sample(3000, TRACE_NO_STACK);
	s[2].label = SAMPLED_TYPECK;
	s[3] = sampled_trace_sample(4000, sampled_trace_entry(w, 2, TRACE_STACK_UNKNOWN, 0));
	s[3].cause = TRACE_SAMPLE_OFF_CPU;
	s[3].value = 1000;
	s[3].process = 1;
	for (size_t i = 0; i < N_OF(s); i++)
		assert_int_equal(trace_writer__sample(w, &s[i]), 0);
	assert_int_equal(trace_writer__finish(w), 0);
}

/* The sum of the times of the samples that a filter lets pass. */
static uint64_t times_of(const struct trace_filter *filter)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_item item;
	uint64_t sum = 0;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	trace_reader__filter(r, filter);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		sum += item.kind == TRACE_ITEM_SAMPLE ? item.sample.time_ns : 0;
	assert_null(trace_reader__problem(r));
	assert_int_equal(trace_reader__stats(r).samples, 4);
	return sum;
}

static bool is_typeck(void *ctx, const char *text)
{
	return !strcmp(text, "typeck");
}

static bool is_first(void *ctx, const struct trace_process *p)
{
	return !p->index;
}

TEST_CASE_WITH(filters_apply_to_samples, temporary_make, temporary_remove)
{
	struct trace_filter filter = {.to_ns = UINT64_MAX};

	write_trace();
	assert_int_equal(times_of(&filter), 10000);
	filter.from_ns = 2500;
	assert_int_equal(times_of(&filter), 7000);
	filter.from_ns = 5000;
	assert_int_equal(times_of(&filter), 4000);
	filter.from_ns = 5001;
	assert_int_equal(times_of(&filter), 0);
	filter = (struct trace_filter){.to_ns = 2000};
	assert_int_equal(times_of(&filter), 3000);
	filter = (struct trace_filter){.to_ns = UINT64_MAX, .process = is_first};
	assert_int_equal(times_of(&filter), 6000);
	/* An execution that is unknown counts for the interval around it. */
	filter = (struct trace_filter){.to_ns = UINT64_MAX, .label = is_typeck};
	assert_int_equal(times_of(&filter), 5000);
}

TEST_CASE_WITH(what_probes_saw_is_resolved, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_sample s = sampled_trace_sample(1, TRACE_NO_STACK);
	struct trace_item item = {0};

	sampled_trace_begin(w);
	s.label = SAMPLED_MIR_BUILT;
	s.kind = TRACE_KIND_LOAD;
	s.cut = TRACE_CUT_TOO_DEEP;
	must(trace_writer__sample(w, &s), trace_writer__finish(w),
	     trace_reader__open(temporary, &r, NULL));
	while (item.kind != TRACE_ITEM_SAMPLE)
		assert_int_equal(trace_reader__next(r, &item), 0);
	assert_struct(item.sample, label, SAMPLED_MIR_BUILT, kind, TRACE_KIND_LOAD);
	assert_int_equal(trace_reader__stats(r).cut_samples, 1);
}

/* ---- Span codec ------------------------------------------------------------------------------ */

#define N_LABELS 300

/* Every process, string and location exists. */
static const struct span_limits span_codec_no_limits = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

static int span_codec_encode(const struct trace_span *spans, uint32_t n, struct byte_buffer *out)
{
	_span_codec_ struct span_codec *c = NULL;

	assert_int_equal(span_codec__new(&c), 0);
	return span_codec__encode(c, spans, n, out);
}

/* The spans of one thread, in order; encoding keeps only the order within threads. */
static uint32_t pick_thread(const struct trace_span *spans, uint32_t n, uint32_t process,
			    uint32_t tid, struct trace_span *out)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++)
		if (spans[i].process == process && spans[i].tid == tid)
			out[used++] = spans[i];
	return used;
}

static void span_codec_assert_round_trip(const struct trace_span *spans, uint32_t n)
{
	_span_codec_ struct span_codec *c = NULL;
	_free_ struct trace_span *want = calloc(n, sizeof(*want));
	_free_ struct trace_span *got = calloc(n, sizeof(*got));
	const struct trace_span *back;
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;
	uint32_t n_back;

	must(span_codec_encode(spans, n, &bytes), span_codec__new(&c),
	     span_codec__decode(c, bytes.data, bytes.size, &span_codec_no_limits, &back, &n_back,
				&why));
	assert_int_equal(n_back, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_want = pick_thread(spans, n, spans[i].process, spans[i].tid, want);
		uint32_t n_got = pick_thread(back, n, spans[i].process, spans[i].tid, got);

		assert_int_equal(n_want, n_got);
		for (uint32_t k = 0; k < n_want; k++)
			assert_true(spans_same(&want[k], &got[k]));
		if (i > 20)
			i += 97;
	}
}

TEST_CASE(nested_spans_come_back)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 5000, 4, N_LABELS);

	span_codec_assert_round_trip(s->at, s->n);
	span_codec_assert_round_trip(s->at, 1);
}

/* Spans without order or nesting, with extreme values: these encode larger, but lossless. */
TEST_CASE(span_codec_any_values_come_back)
{
	struct rng rng = rng_new();
	_free_ struct trace_span *s = calloc(1000, sizeof(*s));

	for (int i = 0; i < 1000; i++) {
		uint64_t a = rng_any_size(&rng), b = rng_any_size(&rng);

		s[i] = (struct trace_span){
			.start_ns = a < b ? a : b,
			.end_ns = a < b ? b : a,
			.process = rng_below(&rng, 3) ? 1 : UINT32_MAX - 1,
			.tid = rng_below(&rng, 2) ? UINT32_MAX : 0,
			.label = rng_below(&rng, UINT32_MAX),
			.invocation = rng_u64(&rng) >> rng_below(&rng, 33),
			.depth = rng_u64(&rng) >> rng_below(&rng, 17),
			.flags = rng_below(&rng, 8),
			.caller = rng_below(&rng, 2) ? rng_below(&rng, UINT32_MAX) : 0};
	}
	s[0].end_ns = UINT64_MAX;
	s[0].start_ns = 0;
	span_codec_assert_round_trip(s, 1000);
}

/* One span with a caller is enough to store the column. */
TEST_CASE(callers_come_back)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 1000, 2, N_LABELS);

	s->at[s->n - 1].caller = 1;
	span_codec_assert_round_trip(s->at, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		s->at[i].caller = 1 + (rng_any_size(&rng) >> 33);
	span_codec_assert_round_trip(s->at, s->n);
}

TEST_CASE(nested_spans_are_small)
{
	struct rng rng = {1};
	_free_ struct spans *s = spans_new(&rng, 4096, 1, 100);
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(span_codec_encode(s->at, s->n, &bytes), 0);
	/* Flags, depth, label, invocation: one byte each; two times of two or three bytes. */
	assert_true(bytes.size < s->n * 10UL);
}

static int span_codec_decode_within(const struct byte_buffer *b, size_t size,
				    const struct span_limits *limits, const char **why)
{
	_span_codec_ struct span_codec *c = NULL;
	/* The copy has the exact size, so a sanitizer reports a read past the end. */
	_free_ uint8_t *copy = malloc(size ? size : 1);
	const struct trace_span *spans;
	uint32_t n;

	for (size_t i = 0; i < size; i++)
		copy[i] = b->data[i];
	assert_int_equal(span_codec__new(&c), 0);
	return span_codec__decode(c, copy, size, limits, &spans, &n, why);
}

static int decode(const struct byte_buffer *b, size_t size, uint32_t n_processes,
		  uint32_t n_strings, const char **why)
{
	const struct span_limits limits = {n_processes, n_strings, 1};

	return span_codec_decode_within(b, size, &limits, why);
}

TEST_CASE(span_codec_every_cut_is_noticed)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 60, 2, N_LABELS);
	_byte_buffer_ struct byte_buffer bytes = {0};

	for (uint32_t i = 0; i < s->n; i++)
		s->at[i].caller = i;
	assert_int_equal(span_codec_encode(s->at, s->n, &bytes), 0);
	for (size_t size = 0; size < bytes.size; size++) {
		why = NULL;
		assert_int_equal(
			span_codec_decode_within(&bytes, size, &span_codec_no_limits, &why),
			-EBADMSG);
		assert_non_null(why);
	}
	byte_buffer__varint(&bytes, 0);
	assert_int_equal(span_codec_decode_within(&bytes, bytes.size, &span_codec_no_limits, &why),
			 -EBADMSG);
}

TEST_CASE(names_that_are_not_there_are_noticed)
{
	struct trace_span s = {.process = 4, .label = 9};
	_byte_buffer_ struct byte_buffer bytes = {0};

	must(span_codec_encode(&s, 1, &bytes), decode(&bytes, bytes.size, 5, 10, &why));
	assert_int_equal(decode(&bytes, bytes.size, 4, 10, &why), -EBADMSG);
	assert_string_equal(why, "spans of a process it does not hold");
	assert_int_equal(decode(&bytes, bytes.size, 5, 9, &why), -EBADMSG);
	assert_string_equal(why, "a span has a name the file does not hold");
}

TEST_CASE(callers_that_are_not_there_are_noticed)
{
	struct trace_span s[2] = {{.caller = 50}, {.caller = TRACE_NO_LOCATION}};
	struct span_limits limits = {1, 1, 51};
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(span_codec_encode(s, 2, &bytes), 0);
	assert_int_equal(span_codec_decode_within(&bytes, bytes.size, &limits, &why), 0);
	limits.locations = 50;
	assert_int_equal(span_codec_decode_within(&bytes, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a span has a caller the file does not hold");
}

/* The example of the specification. */
TEST_CASE(callers_are_places_in_a_list_of_recent_ones)
{
	static const uint8_t want[] = {78, 0, 98, 1, 107, 1, 2};
	const uint32_t callers[] = {70, 70, 90, 70, 99, 0, 99};
	_byte_buffer_ struct byte_buffer bytes = {0};
	struct trace_span s[7] = {0};

	for (int i = 0; i < 7; i++)
		s[i].caller = callers[i];
	/* Lists start with only 0. Labels share one if they are equal modulo 1,024. */
	s[4].label = 5;
	s[5].label = QPT_VIRTUAL | 5;
	s[6].label = QPT_RECENT_LABELS;
	s[6].caller = 0;
	assert_int_equal(span_codec_encode(s, 7, &bytes), 0);
	assert_memory_equal(bytes.data + bytes.size - sizeof(want), want, sizeof(want));
}

TEST_CASE(batches_without_callers_do_not_grow)
{
	struct trace_span s = {.end_ns = 5};
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(span_codec_encode(&s, 1, &bytes), 0);
	assert_int_equal(bytes.size, 4 + 3 + 8);
	byte_buffer__clear(&bytes);
	s.caller = 1;
	assert_int_equal(span_codec_encode(&s, 1, &bytes), 0);
	assert_int_equal(bytes.size, 4 + 3 + 8 + 1);
}

TEST_CASE(hostile_counts_cost_nothing)
{
	static const uint8_t counts[][6] = {
		{0x00},			    /* no spans */
		{0x81, 0x80, 0x04},	    /* one more than the limit of a chunk */
		{0x80, 0x80, 0x04, 0x01},   /* the limit, in four bytes */
		{0x02, 0x03},		    /* more threads than spans */
		{0x01, 0x01, 0x00, 0, 0, 2} /* more spans in a thread than in the chunk */
	};

	for (size_t i = 0; i < N_OF(counts); i++) {
		struct byte_buffer b = {.data = (uint8_t *)counts[i]};

		assert_int_equal(decode(&b, 6, 1, 1, &why), -EBADMSG);
	}
}

/* Random damage may decode or be refused, but must not crash. */
TEST_CASE(span_codec_damage_is_survived)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 200, 2, N_LABELS);
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(span_codec_encode(s->at, s->n, &bytes), 0);
	for (int i = 0; i < 5000; i++) {
		size_t at = rng_below(&rng, bytes.size);
		uint8_t old = bytes.data[at];
		int err;

		bytes.data[at] = rng_u64(&rng);
		err = decode(&bytes, bytes.size, 2, N_LABELS, &why);
		assert_true(err == 0 || err == -EBADMSG);
		bytes.data[at] = old;
	}
}

TEST_MAIN(NULL, NULL)
