// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/place_table.h"

#include <errno.h>

#include "test.h"

static const struct trace_place places[] = {
	{.process = 1, .string = 5, .file = 2, .line = 100, .call_file = TRACE_NO_STRING},
	{.process = 1, .string = 3, .file = 1, .line = UINT32_MAX, .call_file = 9, .call_line = 1},
	{.process = 1, .string = 3, .file = 7, .line = 1, .call_file = TRACE_NO_STRING},
	{.process = 1, .string = 0, .file = 2, .line = 99, .call_file = 2, .call_line = 4000000000},
};

static struct byte_buffer payload_of(uint32_t process, const struct trace_place *all, uint32_t n)
{
	struct byte_buffer b = {0};
	struct trace_place last = {0};

	byte_buffer__varint(&b, process);
	byte_buffer__varint(&b, n);
	for (uint32_t i = 0; i < n; i++)
		place_table__store(&b, &all[i], &last);
	return b;
}

static int take(struct place_table *t, const struct byte_buffer *b, size_t size,
		uint32_t n_processes, uint32_t n_strings)
{
	struct byte_reader in = {.at = b->data, .end = b->data + size};

	return place_table__take(t, &in, n_processes, n_strings);
}

static void assert_same(const struct trace_place *a, const struct trace_place *b)
{
	assert_non_null(a);
	assert_int_equal(a->file, b->file);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->call_file, b->call_file);
	assert_int_equal(a->call_line, b->call_line);
}

static void what_is_stored_is_found(void **state)
{
	struct byte_buffer b = payload_of(1, places, N_OF(places));
	struct place_table t = {0};

	assert_int_equal(take(&t, &b, b.size, 2, 10), 0);
	assert_same(place_table__find(&t, 1, 5), &places[0]);
	assert_same(place_table__find(&t, 1, 0), &places[3]);
	/* The first one counts. */
	assert_same(place_table__find(&t, 1, 3), &places[1]);
	assert_same(place_table__find(&t, TRACE_NO_PROCESS, 3), &places[1]);
	assert_null(place_table__find(&t, 0, 3));
	assert_null(place_table__find(&t, 1, 4));
	assert_null(place_table__find(&t, 1, TRACE_NO_STRING));
	place_table__destroy(&t);
	byte_buffer__destroy(&b);
}

static void each_process_has_its_own(void **state)
{
	const struct trace_place other = {
		.process = 0, .string = 5, .file = 8, .line = 3, .call_file = TRACE_NO_STRING};
	const struct trace_place same = {
		.process = 2, .string = 5, .file = 2, .line = 101, .call_file = TRACE_NO_STRING};
	struct byte_buffer a = payload_of(1, places, 1), b = payload_of(0, &other, 1);
	struct byte_buffer c = payload_of(2, &same, 1);
	struct place_table t = {0};

	assert_int_equal(take(&t, &a, a.size, 2, 10), 0);
	assert_int_equal(take(&t, &c, c.size, 3, 10), 0);
	assert_same(place_table__find(&t, TRACE_NO_PROCESS, 5), &places[0]);
	/* In another file: it is another definition. */
	assert_int_equal(take(&t, &b, b.size, 2, 10), 0);
	assert_same(place_table__find(&t, 1, 5), &places[0]);
	assert_same(place_table__find(&t, 0, 5), &other);
	assert_null(place_table__find(&t, TRACE_NO_PROCESS, 5));
	place_table__destroy(&t);
	byte_buffer__destroy(&a);
	byte_buffer__destroy(&b);
	byte_buffer__destroy(&c);
}

static void what_is_malformed_is_refused(void **state)
{
	struct byte_buffer b = payload_of(1, places, N_OF(places)), none = payload_of(1, NULL, 0);
	struct place_table t = {0};

	for (size_t size = 0; size < b.size; size++)
		assert_int_equal(take(&t, &b, size, 2, 10), -EBADMSG);
	byte_buffer__varint(&b, 0);
	assert_int_equal(take(&t, &b, b.size, 2, 10), -EBADMSG);
	b.size--;
	assert_int_equal(take(&t, &b, b.size, 1, 10), -EBADMSG); /* no such process */
	assert_int_equal(take(&t, &b, b.size, 2, 9), -EBADMSG);	 /* no such string */
	assert_int_equal(take(&t, &b, b.size, 2, 0), -EBADMSG);
	assert_int_equal(take(&t, &none, none.size, 2, 10), -EBADMSG);
	place_table__destroy(&t);
	byte_buffer__destroy(&b);
	byte_buffer__destroy(&none);
}

static void a_line_is_not_0(void **state)
{
	struct trace_place place = places[0];
	struct place_table t = {0};
	struct byte_buffer b;

	place.line = 0;
	b = payload_of(1, &place, 1);
	assert_int_equal(take(&t, &b, b.size, 2, 10), -EBADMSG);
	byte_buffer__destroy(&b);
	place = places[1];
	place.call_line = 0;
	b = payload_of(1, &place, 1);
	assert_int_equal(take(&t, &b, b.size, 2, 10), -EBADMSG);
	byte_buffer__destroy(&b);
	place_table__destroy(&t);
}

static void many_places_in_few_bytes_are_refused(void **state)
{
	struct expansion e = {.made = QPT_EXPANSION_FREE - 100};
	struct place_table t = {.expansion = &e};
	struct byte_buffer b = payload_of(1, places, N_OF(places));

	assert_int_equal(take(&t, &b, b.size, 2, 10), -E2BIG);
	place_table__destroy(&t);
	byte_buffer__destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_stored_is_found),
		cmocka_unit_test(each_process_has_its_own),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(a_line_is_not_0),
		cmocka_unit_test(many_places_in_few_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
