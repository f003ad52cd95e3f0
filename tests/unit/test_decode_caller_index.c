// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/caller_index.h"

#include "test.h"
#include "decode/samples.h"

/* Two functions: one of 0x100 bytes, and one that needs almost all location numbers. */
#define SMALL	   0x1000
#define SMALL_SIZE 0x100
#define HUGE	   0x10000
#define HUGE_SIZE  0xf0000000u

struct asked {
	unsigned int find, name;
	bool fail;
};

static bool find(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	struct asked *asked = (void *)ctx;

	asked->find++;
	*addr = pc >= HUGE ? HUGE : SMALL;
	*size = pc >= HUGE ? HUGE_SIZE : SMALL_SIZE;
	return pc >= *addr && pc - *addr < *size;
}

static char *name(const void *ctx, uint32_t pc)
{
	struct asked *asked = (void *)ctx;

	asked->name++;
	return asked->fail ? NULL : strdup(pc >= HUGE ? "huge" : "small");
}

static struct caller_index *new_index(void)
{
	struct caller_index *c = NULL;

	assert_int_equal(caller_index__new(&c), 0);
	return c;
}

static void describe(const void *ctx, struct trace_function *f)
{
	f->library = "abcd";
	f->file = "/lib/some.so";
}

static uint32_t get(struct caller_index *c, struct asked *asked, uint32_t file, uint32_t caller,
		    const char *expected)
{
	const struct decoder_functions functions = {asked, find, name, describe, file};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, caller, &locindex, &found), 0);
	if (!expected)
		assert_null(found.name);
	else
		assert_string_equal(found.name, expected);
	if (expected) {
		assert_int_equal(found.first, locindex - (caller - found.addr));
		assert_string_equal(found.library, "abcd");
		assert_string_equal(found.file, "/lib/some.so");
	}
	free((char *)found.name);
	return locindex;
}

TEST_CASE(a_function_is_asked_for_once_and_an_address_too)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};
	uint32_t first;

	first = get(c, &asked, 0, SMALL + 8, "small");
	assert_int_equal(get(c, &asked, 0, SMALL + 9, NULL), first + 1);
	assert_int_equal(get(c, &asked, 0, SMALL + 8, NULL), first);
	assert_int_equal(get(c, &asked, 0, SMALL + SMALL_SIZE, NULL), first - 8 + SMALL_SIZE);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, 0, NULL), TRACE_NO_LOCATION);
	assert_int_equal(asked.find, 4);
	assert_int_equal(asked.name, 1);
}

TEST_CASE(files_are_kept_apart)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, SMALL + 8, "small"),
			     get(c, &asked, 255, SMALL + 8, "small"));
}

TEST_CASE(a_function_that_gets_no_locindex_is_counted)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, HUGE + 1, "huge"), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(caller_index__refused(c), 1);
	assert_int_not_equal(get(c, &asked, 1, SMALL + 1, "small"), TRACE_NO_LOCATION);
}

TEST_CASE(a_name_that_cannot_be_had_is_an_error)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {.fail = true};
	const struct decoder_functions functions = {&asked, find, name, describe, 0};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, SMALL + 8, &locindex, &found), -ENOMEM);
}

/* The number of a place, and whether it was the first one in its function. */
static uint32_t place(struct caller_index *c, struct asked *asked, uint64_t addr, bool is_return,
		      bool *is_first)
{
	const struct decoder_functions functions = {asked, find, name, NULL, 1};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__find(c, &functions, addr, is_return, &locindex, &found), 0);
	*is_first = found.name;
	if (found.name)
		assert_string_equal(found.library, "");
	free((char *)found.name);
	return locindex;
}

TEST_CASE(a_pc_lies_where_it_is)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};
	uint32_t first;
	bool is_first;

	/* The first byte is in the function; as a return address it belongs to what is before. */
	first = place(c, &asked, SMALL, false, &is_first);
	assert_true(is_first);
	assert_int_not_equal(first, TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, SMALL, true, &is_first), TRACE_NO_LOCATION);
	/* The byte behind it is not, but a call may return there. */
	assert_int_equal(place(c, &asked, SMALL + SMALL_SIZE, false, &is_first), TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, SMALL + SMALL_SIZE, true, &is_first), first + SMALL_SIZE);
	assert_false(is_first);
	/* A caller and a pc at one address are one place. */
	assert_int_equal(get(c, &asked, 1, SMALL + 8, NULL), first + 8);
	/* Places are numbers of 32 bits, also in a file with more code. */
	assert_int_equal(place(c, &asked, (1ull << 32) + SMALL, false, &is_first),
			 TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, 0, true, &is_first), TRACE_NO_LOCATION);
}

TEST_CASE(without_functions_there_are_no_places)
{
	_caller_index_ struct caller_index *c = new_index();
	struct trace_function found;
	uint32_t locindex = 1;

	assert_int_equal(caller_index__get(c, NULL, SMALL + 8, &locindex, &found), 0);
	assert_int_equal(locindex, TRACE_NO_LOCATION);
	assert_null(found.name);
	assert_int_equal(caller_index__unplaced(c), 1);
}

/* ---- Executions ------------------------------------------------------------------------------ */

TEST_CASE(a_noted_execution_is_found_by_its_invocation_id)
{
	struct executions e = {NULL, 0};

	assert_int_equal(executions__query(&e, 0), WIRE_NO_QUERY);
	assert_int_equal(executions__note(&e, 7, 0), 0);
	assert_int_equal(executions__note(&e, 100000, 65534), 0);
	assert_int_equal(executions__note(&e, 8, WIRE_NO_QUERY), 0);
	assert_int_equal(executions__query(&e, 7), 0);
	assert_int_equal(executions__query(&e, 100000), 65534);
	assert_int_equal(executions__query(&e, 8), WIRE_NO_QUERY);
	assert_int_equal(executions__query(&e, 6), WIRE_NO_QUERY);
	assert_int_equal(executions__query(&e, UINT32_MAX), WIRE_NO_QUERY);
	executions__clear(&e);
	assert_int_equal(executions__query(&e, 7), WIRE_NO_QUERY);
}

TEST_CASE(memory_is_bounded)
{
	struct executions e = {NULL, 0};

	assert_int_equal(executions__note(&e, EXECUTIONS_MAX, 1), 0);
	assert_int_equal(executions__note(&e, WIRE_NO_INVOCATION, 1), 0);
	assert_int_equal(e.n, 0);
	assert_int_equal(executions__note(&e, EXECUTIONS_MAX - 1, 1), 0);
	assert_int_equal(e.n, EXECUTIONS_MAX);
	assert_int_equal(executions__query(&e, EXECUTIONS_MAX - 1), 1);
	executions__clear(&e);
}

/* ---- Held samples ---------------------------------------------------------------------------- */

static struct held_sample numbered(uint32_t number, uint32_t n_frames)
{
	struct held_sample s = {.sample = {.tid = number}, .wire = {.n = n_frames}};

	for (uint32_t i = 0; i < n_frames; i++)
		s.wire.frames[i] = number + i;
	return s;
}

/* The memory grows, and samples of all sizes follow one another. */
TEST_CASE(all_come_out_as_they_went_in)
{
	enum { N = 400 };
	struct held_samples h = {0};
	struct held_sample s;
	size_t at = 0;

	assert_false(held_samples__next(&h, &at, &s));
	for (uint32_t i = 0; i < N; i++) {
		s = numbered(i, i % (WIRE_SAMPLE_FRAMES + 1));
		assert_int_equal(held_samples__add(&h, &s), 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		assert_true(held_samples__next(&h, &at, &s));
		assert_int_equal(s.sample.tid, i);
		assert_int_equal(s.wire.n, i % (WIRE_SAMPLE_FRAMES + 1));
		for (uint32_t k = 0; k < s.wire.n; k++)
			assert_int_equal(s.wire.frames[k], i + k);
	}
	assert_false(held_samples__next(&h, &at, &s));
	held_samples__clear(&h);
}

TEST_CASE(an_emptied_one_begins_anew)
{
	struct held_sample a = numbered(1, 3), b = numbered(2, 0), out;
	struct held_samples h = {0};
	size_t at = 0;

	assert_int_equal(held_samples__add(&h, &a), 0);
	held_samples__empty(&h);
	assert_int_equal(held_samples__add(&h, &b), 0);
	assert_true(held_samples__next(&h, &at, &out));
	assert_int_equal(out.sample.tid, 2);
	assert_int_equal(out.wire.n, 0);
	assert_false(held_samples__next(&h, &at, &out));
	held_samples__clear(&h);
}

/* ---- Interval labels ------------------------------------------------------------------------- */

/* Texts get ids from 50 on. */
struct texts {
	char last[64];
	uint32_t n;
	int err;
};

static int label(void *ctx, const char *text, uint32_t *id)
{
	struct texts *texts = ctx;

	snprintf(texts->last, sizeof(texts->last), "%s", text);
	*id = 50 + texts->n++;
	return texts->err;
}

static bool wants(void *ctx, const struct wire_label_key *key)
{
	return key->len != 8;
}

static uint32_t queries[] = {10, 11};
static uint32_t guards[] = {20, DECODER_NO_LABEL};
static const struct library libraries[WIRE_MAX_LIBS + 1] = {
	[3] = {.labels = queries, .n_labels = 2, .guards = guards, .n_guards = 2}};

static struct texts texts;
static const struct decoder_sink sink = {.ctx = &texts, .label = label, .wants = wants};
static struct interval_labels labels;

static int setup(void **state)
{
	texts = (struct texts){.n = 0};
	interval_labels__init(&labels, &sink, libraries);
	return 0;
}

static int teardown(void **state)
{
	interval_labels__clear(&labels);
	return 0;
}

static uint32_t of(uint8_t kind, uint16_t query, uint32_t number)
{
	uint32_t id = 0;

	assert_int_equal(
		interval_labels__of(&labels, (struct interval_named){3, kind, query, number}, &id),
		0);
	return id;
}

static void assert_none(struct interval_named interval)
{
	uint32_t id;

	assert_int_equal(interval_labels__of(&labels, interval, &id), -EBADMSG);
}

TEST_CASE_WITH(a_query_and_a_guard_have_their_own, setup, teardown)
{
	assert_int_equal(of(WIRE_KIND_QUERY, 1, 0), 11);
	assert_int_equal(of(WIRE_KIND_LOAD, 0, 0), 10);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 0, 0), 20);
	assert_int_equal(texts.n, 0);
}

TEST_CASE_WITH(what_is_not_there_is_refused, setup, teardown)
{
	assert_none((struct interval_named){3, WIRE_KIND_QUERY, 2, 0});
	assert_none((struct interval_named){3, WIRE_KIND_QUERY, WIRE_NO_QUERY, 0});
	assert_none((struct interval_named){3, WIRE_KIND_LOAD, 2, 0});
	assert_none((struct interval_named){3, WIRE_KIND_ACTIVITY, 2, 0});
	assert_none((struct interval_named){0, WIRE_KIND_QUERY, 0, 0});
}

TEST_CASE_WITH(what_is_not_known_has_one_label, setup, teardown)
{
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 0), 50);
	assert_string_equal(texts.last, DECODER_UNKNOWN);
	assert_int_equal(of(WIRE_KIND_HASHING, WIRE_NO_QUERY, 0), 50);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 0, 9), 50);
	assert_int_equal(texts.n, 1);
}

TEST_CASE_WITH(a_dynamic_label_may_be_unwanted, setup, teardown)
{
	struct wire_label r = {.label = 1, .key = {.len = 7, .text = "dynamic"}};

	assert_int_equal(dynamic_labels__record(&labels.dynamic, &sink, &r), 0);
	r = (struct wire_label){.label = 2, .key = {.len = 8, .text = "unwanted"}};
	assert_int_equal(dynamic_labels__record(&labels.dynamic, &sink, &r), 0);
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 1), 50);
	assert_string_equal(texts.last, "dynamic");
	assert_int_equal(of(WIRE_KIND_ACTIVITY, 1, 2), DYNAMIC_LABEL_UNWANTED);
	/* A number that is a label's is not one for a query. */
	assert_int_equal(of(WIRE_KIND_QUERY, 1, 2), 11);
}

TEST_CASE_WITH(without_a_sink_for_texts_nothing_is_unknown, setup, teardown)
{
	const struct decoder_sink none = {0};
	uint32_t id;

	interval_labels__init(&labels, &none, libraries);
	assert_int_equal(interval_labels__unknown(&labels, &id), -EBADMSG);
	interval_labels__init(&labels, &sink, libraries);
	texts.err = -EIO;
	assert_int_equal(interval_labels__unknown(&labels, &id), -EIO);
}

/* ---- Dynamic labels -------------------------------------------------------------------------- */

static int dynamic_labels_label(void *ctx, const char *text, uint32_t *id)
{
	char *last = ctx;

	strcpy(last, text);
	*id = 100 + strlen(text);
	return 0;
}

static bool dynamic_labels_wants(void *ctx, const struct wire_label_key *key)
{
	return key->text[0] != 'n';
}

static struct wire_label record(uint32_t number, const char *text)
{
	struct wire_label r = {.type = WIRE_LABEL, .label = number, .key.len = strlen(text)};

	memcpy(r.key.text, text, strnlen(text, sizeof(r.key.text)));
	return r;
}

TEST_CASE(a_number_has_its_text_once_it_was_recorded)
{
	char last[sizeof(((struct wire_label *)0)->key.text) + 4] = "";
	const struct decoder_sink sink = {
		.ctx = last, .label = dynamic_labels_label, .wants = dynamic_labels_wants};
	struct wire_label yes = record(3, "yes"), no = record(2, "no"), none = record(0, "none");
	struct wire_label far = record((1u << 20) + 1, "far");
	struct dynamic_labels l = {0};

	assert_int_equal(dynamic_labels__id(&l, 3), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__record(&l, &sink, &yes), 0);
	assert_string_equal(last, "yes");
	assert_int_equal(dynamic_labels__record(&l, &sink, &no), 0);
	assert_string_equal(last, "yes");
	assert_int_equal(dynamic_labels__id(&l, 1), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__id(&l, 2), DYNAMIC_LABEL_UNWANTED);
	assert_int_equal(dynamic_labels__id(&l, 3), 103);
	assert_int_equal(dynamic_labels__id(&l, 4), DYNAMIC_LABEL_NONE);
	assert_int_equal(dynamic_labels__record(&l, &sink, &none), -EBADMSG);
	assert_int_equal(dynamic_labels__record(&l, &sink, &far), -EBADMSG);
	dynamic_labels__clear(&l);
}

TEST_CASE(a_longer_text_ends_in_dots)
{
	char last[sizeof(((struct wire_label *)0)->key.text) + 4] = "";
	const struct decoder_sink sink = {.ctx = last, .label = dynamic_labels_label};
	struct wire_label r = {.type = WIRE_LABEL, .label = 1};
	struct dynamic_labels l = {0};

	memset(r.key.text, 'x', sizeof(r.key.text));
	r.key.len = sizeof(r.key.text);
	assert_int_equal(dynamic_labels__record(&l, &sink, &r), 0);
	assert_int_equal(strlen(last), sizeof(r.key.text));
	r.key.len++;
	assert_int_equal(dynamic_labels__record(&l, &sink, &r), 0);
	assert_string_equal(last + sizeof(r.key.text), "...");
	dynamic_labels__clear(&l);
}

TEST_MAIN(NULL, NULL)
