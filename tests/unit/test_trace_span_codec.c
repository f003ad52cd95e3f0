// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/span_codec.h"

#include "test.h"
#include "../fixtures/spans.h"
#include "qprof/trace_format.h"

#define _byte_buffer_ __cleanup(byte_buffer__destroy)

#define N_LABELS 300

/* Every process, string and location exists. */
static const struct span_limits no_limits = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

static int encode(const struct trace_span *spans, uint32_t n, struct byte_buffer *out)
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

static void assert_round_trip(const struct trace_span *spans, uint32_t n)
{
	_span_codec_ struct span_codec *c = NULL;
	_free_ struct trace_span *want = calloc(n, sizeof(*want));
	_free_ struct trace_span *got = calloc(n, sizeof(*got));
	const struct trace_span *back;
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;
	uint32_t n_back;

	assert_int_equal(encode(spans, n, &bytes), 0);
	assert_int_equal(span_codec__new(&c), 0);
	assert_int_equal(
		span_codec__decode(c, bytes.data, bytes.size, &no_limits, &back, &n_back, &why), 0);
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

static void nested_spans_come_back(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 5000, 4, N_LABELS);

	assert_round_trip(s->at, s->n);
	assert_round_trip(s->at, 1);
}

/* Spans without order or nesting, with extreme values: these encode larger, but lossless. */
static void any_values_come_back(void **state)
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
			.caller = rng_below(&rng, 2) ? rng_below(&rng, UINT32_MAX) : 0,
		};
	}
	s[0].end_ns = UINT64_MAX;
	s[0].start_ns = 0;
	assert_round_trip(s, 1000);
}

/* One span with a caller is enough to store the column. */
static void callers_come_back(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 1000, 2, N_LABELS);

	s->at[s->n - 1].caller = 1;
	assert_round_trip(s->at, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		s->at[i].caller = 1 + (rng_any_size(&rng) >> 33);
	assert_round_trip(s->at, s->n);
}

static void nested_spans_are_small(void **state)
{
	struct rng rng = {1};
	_free_ struct spans *s = spans_new(&rng, 4096, 1, 100);
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(encode(s->at, s->n, &bytes), 0);
	/* Flags, depth, label, invocation: one byte each; two times of two or three bytes. */
	assert_true(bytes.size < s->n * 10UL);
}

static int decode_within(const struct byte_buffer *b, size_t size, const struct span_limits *limits,
			 const char **why)
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

	return decode_within(b, size, &limits, why);
}

static void every_cut_is_noticed(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 60, 2, N_LABELS);
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	for (uint32_t i = 0; i < s->n; i++)
		s->at[i].caller = i;
	assert_int_equal(encode(s->at, s->n, &bytes), 0);
	for (size_t size = 0; size < bytes.size; size++) {
		why = NULL;
		assert_int_equal(decode_within(&bytes, size, &no_limits, &why), -EBADMSG);
		assert_non_null(why);
	}
	byte_buffer__varint(&bytes, 0);
	assert_int_equal(decode_within(&bytes, bytes.size, &no_limits, &why), -EBADMSG);
}

static void names_that_are_not_there_are_noticed(void **state)
{
	struct trace_span s = {.process = 4, .label = 9};
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	assert_int_equal(encode(&s, 1, &bytes), 0);
	assert_int_equal(decode(&bytes, bytes.size, 5, 10, &why), 0);
	assert_int_equal(decode(&bytes, bytes.size, 4, 10, &why), -EBADMSG);
	assert_string_equal(why, "spans of a process it does not hold");
	assert_int_equal(decode(&bytes, bytes.size, 5, 9, &why), -EBADMSG);
	assert_string_equal(why, "a span has a name the file does not hold");
}

static void callers_that_are_not_there_are_noticed(void **state)
{
	struct trace_span s[2] = {{.caller = 50}, {.caller = TRACE_NO_LOCATION}};
	struct span_limits limits = {1, 1, 51};
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	assert_int_equal(encode(s, 2, &bytes), 0);
	assert_int_equal(decode_within(&bytes, bytes.size, &limits, &why), 0);
	limits.locations = 50;
	assert_int_equal(decode_within(&bytes, bytes.size, &limits, &why), -EBADMSG);
	assert_string_equal(why, "a span has a caller the file does not hold");
}

/* The example of the specification. */
static void callers_are_places_in_a_list_of_recent_ones(void **state)
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
	assert_int_equal(encode(s, 7, &bytes), 0);
	assert_memory_equal(bytes.data + bytes.size - sizeof(want), want, sizeof(want));
}

static void batches_without_callers_do_not_grow(void **state)
{
	struct trace_span s = {.end_ns = 5};
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(encode(&s, 1, &bytes), 0);
	assert_int_equal(bytes.size, 4 + 3 + 8);
	byte_buffer__clear(&bytes);
	s.caller = 1;
	assert_int_equal(encode(&s, 1, &bytes), 0);
	assert_int_equal(bytes.size, 4 + 3 + 8 + 1);
}

static void hostile_counts_cost_nothing(void **state)
{
	static const uint8_t counts[][6] = {
		{0x00},			    /* no spans */
		{0x81, 0x80, 0x04},	    /* one more than the limit of a chunk */
		{0x80, 0x80, 0x04, 0x01},   /* the limit, in four bytes */
		{0x02, 0x03},		    /* more threads than spans */
		{0x01, 0x01, 0x00, 0, 0, 2} /* more spans in a thread than in the chunk */
	};
	const char *why;

	for (size_t i = 0; i < N_OF(counts); i++) {
		struct byte_buffer b = {.data = (uint8_t *)counts[i]};

		assert_int_equal(decode(&b, 6, 1, 1, &why), -EBADMSG);
	}
}

/* Random damage may decode or be refused, but must not crash. */
static void damage_is_survived(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 200, 2, N_LABELS);
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	assert_int_equal(encode(s->at, s->n, &bytes), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_spans_come_back),
		cmocka_unit_test(any_values_come_back),
		cmocka_unit_test(callers_come_back),
		cmocka_unit_test(nested_spans_are_small),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(names_that_are_not_there_are_noticed),
		cmocka_unit_test(callers_that_are_not_there_are_noticed),
		cmocka_unit_test(callers_are_places_in_a_list_of_recent_ones),
		cmocka_unit_test(batches_without_callers_do_not_grow),
		cmocka_unit_test(hostile_counts_cost_nothing),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
