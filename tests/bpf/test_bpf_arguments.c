// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The arguments of activities arrive as they are in the memory of the test program: here the label
 * of its dynamic guard, which lies 0x10 bytes above sp, with its length behind. Sources that lead
 * anywhere else cost no more than the argument.
 */
#include "capture.h"

#define RING (4u << 20)

#define STRING                          \
	{                               \
		WIRE_PLACE_SP, 1, 8, 0, \
		{                       \
			0x10            \
		}                       \
	}
#define LENGTH                          \
	{                               \
		WIRE_PLACE_SP, 1, 8, 0, \
		{                       \
			0x18            \
		}                       \
	}
#define NUMBER                          \
	{                               \
		WIRE_PLACE_SP, 1, 4, 0, \
		{                       \
			0x18            \
		}                       \
	}

static const struct wire_source good = {
	.text = WIRE_ARGUMENT_STRING,
	.value = WIRE_VALUE_NUMBER,
	.string = STRING,
	.length = LENGTH,
	.number = NUMBER,
};

struct sent {
	struct wire_argument at[64];
	size_t n;
};

static void on_argument(void *ctx, const void *record, size_t size)
{
	struct sent *a = ctx;

	assert_int_equal(*(const uint8_t *)record, WIRE_ARGUMENT);
	assert_in_range(size, sizeof(*a->at) - WIRE_ARGUMENT_MAX, sizeof(*a->at));
	assert_in_range(a->n, 0, 63);
	memcpy(&a->at[a->n], record, size);
	assert_int_equal(a->at[a->n].size, size - (sizeof(*a->at) - WIRE_ARGUMENT_MAX));
	a->n++;
}

static void run(struct capture *c, struct sent *a, const struct wire_source *source, bool keys,
		const char *script)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .keys = keys};
	struct plan_guard *g;

	capture_load(c, &opt, 0);
	g = &c->plan->guards[GUARD_DYNAMIC];
	g->label = strdup("about_something");
	g->has_argument = true;
	g->source = *source;
	c->plan->layout.wire.size = 16;
	assert_int_equal(kernel__attach(c->kernel, c->plan, NULL, &c->lib), 0);
	c->got.on_names = on_argument;
	c->got.names = a;
	capture_script(c, script);
	assert_true(WIFEXITED(c->status));
	assert_int_equal(WEXITSTATUS(c->status), 0);
	assert_whole(c);
	assert_int_equal(c->got.n_others, 0);
	assert_int_equal(c->got.n_labels, 0);
}

static const struct wire_span *span_of(const struct capture *c, uint64_t argument)
{
	for (size_t i = 0; i < c->got.n_spans; i++)
		if (c->got.spans[i].kind == WIRE_KIND_ACTIVITY && c->got.spans[i].key == argument)
			return &c->got.spans[i];
	return NULL;
}

TEST_CASE(each_span_has_the_number_of_its_argument)
{
	static const char *const begins[] = {"short", "a_label_that_only", "short"};
	_capture_ struct capture c = CAPTURE_NONE;
	struct sent a = {0};

	need_capture();
	run(&c, &a, &good, true, "lLl");
	assert_int_equal(c.got.n_spans, 3);
	assert_int_equal(a.n, 3);
	for (size_t i = 0; i < a.n; i++) {
		assert_int_equal(a.at[i].argument, i + 1);
		assert_int_equal(a.at[i].pid, (uint32_t)c.pid);
		assert_int_equal(a.at[i].lib, c.lib);
		assert_int_equal(a.at[i].value, WIRE_VALUE_NUMBER);
		assert_int_equal(a.at[i].number, a.at[i].size);
		assert_int_equal(a.at[i].cut, 0);
		assert_memory_equal(a.at[i].bytes, begins[i], strlen(begins[i]));
		assert_non_null(span_of(&c, i + 1));
	}
	assert_int_equal(a.at[0].size, 5);
	assert_true(a.at[1].size > 64);
}

TEST_CASE(without_keys_nothing_is_read)
{
	_capture_ struct capture c = CAPTURE_NONE;
	struct sent a = {0};

	need_capture();
	run(&c, &a, &good, false, "lLl");
	assert_int_equal(c.got.n_spans, 3);
	assert_int_equal(a.n, 0);
	assert_non_null(span_of(&c, 0));
}

TEST_CASE(a_long_text_is_cut)
{
	struct wire_source s = good;
	_capture_ struct capture c = CAPTURE_NONE;
	struct sent a = {0};

	need_capture();
	/* The stack is its own text, and the low half of an address its length. */
	s.string = (struct wire_place){WIRE_PLACE_SP, 0, 8, 0, {0}};
	s.length = (struct wire_place){WIRE_PLACE_SP, 1, 4, 0, {0x10}};
	run(&c, &a, &s, true, "l");
	assert_int_equal(a.n, 1);
	assert_int_equal(a.at[0].size, WIRE_ARGUMENT_MAX);
	assert_true(a.at[0].cut > 0);
}

/* Nothing is read, nothing is sent, and the span is there. */
TEST_CASE(sources_that_lead_nowhere)
{
	static const struct {
		uint8_t text;
		struct wire_place string, length;
	} lies[] = {
		/* A length of more than 32 bits; an address that is a length. */
		{WIRE_ARGUMENT_STRING, STRING, STRING},
		{WIRE_ARGUMENT_STRING, LENGTH, LENGTH},
		/* The text taken for addresses, as deep as a place can be, and deeper. */
		{WIRE_ARGUMENT_STRING, {WIRE_PLACE_SP, 4, 8, 0, {0x10, 0, 0, 0}}, LENGTH},
		{WIRE_ARGUMENT_STRING, {WIRE_PLACE_SP, 255, 8, 0, {0x10, 0, 0, 0}}, LENGTH},
		{WIRE_ARGUMENT_STRING, {WIRE_PLACE_SP, 1, 8, 0, {-0x7fffffff}}, LENGTH},
		{WIRE_ARGUMENT_STRING, {99, 1, 8, 0, {0}}, LENGTH},
		/* A session whose globals are nowhere. */
		{WIRE_ARGUMENT_SYMBOL, NUMBER, {0}},
		{WIRE_ARGUMENT_EXPANSION, NUMBER, {0}},
		{77, STRING, LENGTH},
	};

	need_capture();
	for (size_t i = 0; i < N_OF(lies); i++) {
		struct wire_source s = good;
		_capture_ struct capture c = CAPTURE_NONE;
		struct sent a = {0};

		s.text = lies[i].text;
		s.string = lies[i].string;
		s.length = lies[i].length;
		run(&c, &a, &s, true, "ll");
		assert_int_equal(c.got.n_spans, 2);
		assert_int_equal(a.n, 0);
		assert_non_null(span_of(&c, 0));
	}
}

/* The text is known, and the number behind it is not. */
TEST_CASE(a_number_that_cannot_be_read_is_left_out)
{
	struct wire_source s = good;
	_capture_ struct capture c = CAPTURE_NONE;
	struct sent a = {0};

	need_capture();
	s.number = (struct wire_place){WIRE_PLACE_SP, 3, 8, 0, {0x10, 0, 0}};
	run(&c, &a, &s, true, "l");
	assert_int_equal(a.n, 1);
	assert_int_equal(a.at[0].value, WIRE_VALUE_NONE);
	assert_int_equal(a.at[0].number, 0);
}

TEST_MAIN(NULL, NULL)
