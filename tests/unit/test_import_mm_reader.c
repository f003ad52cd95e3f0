// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_reader.h"

#include "test.h"
#include "../fixtures/mm_bytes.h"
#include "../fixtures/random.h"

static struct mm_reader *open_bytes(struct mm_bytes *m, size_t page)
{
	struct mm_reader *r = NULL;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(m, page, path);

	assert_int_equal(mm_reader__open(path, &r, &why), 0);
	mm_bytes__end(m);
	return r;
}

static void events_are_as_written(void **state)
{
	struct rng rng = rng_new();
	uint64_t seed = rng.state;
	_mm_reader_ struct mm_reader *r = NULL;
	static struct mm_event events[9000];
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (int i = 0; i < 9000; i++) {
		uint64_t kind = rng_u64(&rng), id = rng_u64(&rng);
		uint64_t start = rng_any_size(&rng) >> 16, end = MM_INSTANT - rng_below(&rng, 4);

		mm_bytes__event(&m, kind, id, i, start, end);
	}
	r = open_bytes(&m, 1 + rng_below(&rng, 5000));
	assert_null(mm_reader__problem(r));
	assert_int_equal(mm_reader__n_events(r), 9000);
	/* The pieces do not match the blocks of the reader. */
	for (uint32_t at = 0; at < 9000; at += 3000)
		assert_int_equal(mm_reader__events(r, at, 3000, events + at), 0);
	rng.state = seed;
	for (uint32_t i = 0; i < 9000; i++) {
		const struct mm_event *e = &events[i];

		assert_true(e->kind == rng_u64(&rng));
		assert_true(e->id == rng_u64(&rng));
		assert_int_equal(e->thread, i);
		assert_true(e->start == rng_any_size(&rng) >> 16);
		assert_true(e->end == MM_INSTANT - rng_below(&rng, 4));
		assert_int_equal(e->type, e->end == MM_INSTANT	 ? MM_INSTANT_EVENT
					  : e->end == MM_INTEGER ? MM_INTEGER_EVENT
								 : MM_INTERVAL_EVENT);
	}
}

static void labels_are_checked_as_upstream_does(void **state)
{
	static const struct {
		const char *text, *label;
	} cases[] = {
		{"typeck", "typeck"},	      {"type ck\t\n\f\r", "type ck\t\n\f\r"},
		{"typeck\036arg", "typeck"},  {"typeck\036", "typeck"},
		{"\xc3\xa9", "\xc3\xa9"},     {"", "<parse error>"},
		{"\036arg", "<parse error>"}, {"a\vb", "<parse error>"},
		{"a\177b", "<parse error>"},  {"a\001\036b", "<parse error>"},
		{"a\036\001", "a"},
	};
	uint64_t ids[N_OF(cases)];
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (size_t i = 0; i < N_OF(cases); i++)
		ids[i] = mm_bytes__string(&m, cases[i].text);
	r = open_bytes(&m, 100);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_string_equal(mm_reader__label(r, ids[i]), cases[i].label);
		assert_string_equal(mm_reader__kind(r, ids[i]), cases[i].text);
	}
	assert_string_equal(mm_reader__label(r, 5), "<unknown>");
	assert_true(mm_reader__address(r, 5) == UINT32_MAX);
}

static void without_metadata_the_file_gives_the_time(void **state)
{
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	r = open_bytes(&m, 100);
	assert_false(mm_reader__metadata(r)->found);
	assert_int_equal(mm_reader__metadata(r)->start_time_ns, 1700000000000000000);
}

static void errors_say_why(void **state)
{
	struct mm_reader *r = NULL;
	const char *why = NULL;

	assert_int_equal(mm_reader__open("/nonexistent", &r, &why), -ENOENT);
	assert_string_equal(why, "No such file or directory");
	assert_null(r);
	mm_reader__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_as_written),
		cmocka_unit_test(labels_are_checked_as_upstream_does),
		cmocka_unit_test(without_metadata_the_file_gives_the_time),
		cmocka_unit_test(errors_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
