// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/labels.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"
#include "trace/reader.h"
#include "trace/writer.h"

static char *strings[] = {"typeck", "typeck (a)", "QueryBlocked", "LLVM Pass", "x", "Query"};

#define N_STRINGS (N_OF(strings))

static struct string_table *table_of_strings(void)
{
	struct byte_buffer payload = {0};
	struct string_table *table;
	struct byte_reader in;
	uint32_t first, n;
	const char *why;

	byte_buffer__varint(&payload, 0);
	byte_buffer__varint(&payload, N_STRINGS);
	for (size_t i = 0; i < N_STRINGS; i++) {
		byte_buffer__varint(&payload, strlen(strings[i]) << 1 | QPT_STRING_TEXT);
		byte_buffer__bytes(&payload, strings[i], strlen(strings[i]));
	}
	in = (struct byte_reader){payload.data, payload.data + payload.size, false};
	assert_int_equal(string_table__new(NULL, &table), 0);
	assert_int_equal(string_table__take(table, &in, &first, &n, &why), 0);
	byte_buffer__destroy(&payload);
	return table;
}

static int take(struct labels *l, const uint32_t (*records)[3], size_t n, const char **why)
{
	_string_table_ struct string_table *table = table_of_strings();
	uint8_t bytes[256], *at = bytes_store_varint(bytes, n);
	struct byte_reader in;

	for (size_t i = 0; i < n; i++) {
		for (int field = 0; field < 3; field++)
			at = bytes_store_varint(at, records[i][field]);
	}
	in = (struct byte_reader){.at = bytes, .end = at};
	return labels__take(l, &in, table, N_STRINGS, why);
}

static uint32_t resolved(const struct labels *l, uint32_t label, uint8_t *kind)
{
	labels__resolve(l, &label, kind);
	return label;
}

static void listed_labels_have_a_name_and_a_kind(void **state)
{
	static const uint32_t first[][3] = {{1, 2, 0}}, second[][3] = {{4, 3, 0}};
	struct labels l = {0};
	const char *why;
	uint8_t kind;

	assert_int_equal(take(&l, first, 1, &why), 0);
	assert_int_equal(take(&l, second, 1, &why), 0);
	assert_int_equal(resolved(&l, 1, &kind), 0);
	assert_int_equal(kind, TRACE_KIND_BLOCKED);
	assert_int_equal(resolved(&l, 4, &kind), 0);
	assert_int_equal(kind, TRACE_KIND_OTHER);
	assert_string_equal(kinds__text(&l.kinds, kind), "LLVM Pass");
	assert_int_equal(resolved(&l, 3, &kind), 3);
	assert_int_equal(kind, TRACE_KIND_QUERY);
	assert_int_equal(resolved(&l, 1u << 30, &kind), 1u << 30);
	labels__destroy(&l);
}

static void malformed_labels_are_refused(void **state)
{
	static const uint32_t bad[][3] = {
		{1, 2, 1}, {1, 2, N_STRINGS}, {N_STRINGS, 2, 0}, {1, N_STRINGS, 0}, {1, 5, 0}};
	const char *why = NULL;

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct labels l = {0};

		assert_int_equal(take(&l, &bad[i], 1, &why), -EBADMSG);
		assert_non_null(why);
		labels__destroy(&l);
	}
}

static void kinds_have_numbers_up_to_a_limit(void **state)
{
	struct kinds k = {0};
	char text[16];
	uint8_t kind;

	for (unsigned int i = 0; i < TRACE_KIND_OTHER; i++) {
		assert_int_equal(kinds__number(&k, trace_kind_text(i), &kind), 0);
		assert_int_equal(kind, i);
	}
	assert_null(trace_kind_text(TRACE_KIND_OTHER));
	for (unsigned int i = 0; i < QPT_KINDS_MAX; i++) {
		snprintf(text, sizeof(text), "kind %u", i);
		assert_int_equal(kinds__number(&k, text, &kind), 0);
		assert_int_equal(kind, TRACE_KIND_OTHER + i);
		assert_string_equal(kinds__text(&k, kind), text);
	}
	assert_int_equal(kinds__number(&k, "one more", &kind), -E2BIG);
	assert_int_equal(kinds__number(&k, "kind 3", &kind), 0);
	assert_int_equal(kind, TRACE_KIND_OTHER + 3);
	assert_string_equal(kinds__text(&k, 255), "<unknown>");
	kinds__destroy(&k);
}

static const char *const kind_names[] = {"Query", "QueryBlocked", "own 1", "own 2"};

/* The label of record i, of a span or a tally. */
static uint32_t name_of(uint32_t i)
{
	return i * 7919 % 5;
}

static struct trace_writer *open_writer(void)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	struct trace_writer *w = NULL;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	return w;
}

static void write_trace(uint32_t n)
{
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	_trace_writer_ struct trace_writer *w = open_writer();
	char text[16];
	uint32_t id;
	uint8_t kind;

	assert_int_equal(trace_writer__process(w, &p), 0);
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "q%u", i);
		assert_int_equal(trace_writer__intern(w, text, &id), 0);
		assert_int_equal(id, i);
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(trace_writer__kind(w, kind_names[i % 4], &kind), 0);
		struct trace_span s = {.start_ns = i,
				       .end_ns = i + 1,
				       .label = name_of(i),
				       .invocation = i,
				       .kind = kind};
		struct trace_tally t = {
			.label = name_of(i), .kind = kind, .events = i, .sum = UINT64_MAX - i};

		assert_int_equal(trace_writer__span(w, &s), 0);
		assert_int_equal(trace_writer__tally(w, &t), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
}

static void kinds_and_tallies_come_back(void **state)
{
	char text[16];
	_trace_reader_ struct trace_reader *r = NULL;
	uint32_t n = 20000, spans = 0, tallies = 0;
	struct trace_item item;

	write_trace(n);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind == TRACE_ITEM_SPAN) {
			snprintf(text, sizeof(text), "q%u", name_of(spans));
			assert_int_equal(item.span.start_ns, spans);
			assert_string_equal(trace_reader__string(r, item.span.label), text);
			assert_string_equal(trace_reader__kind(r, item.span.kind),
					    kind_names[spans++ % 4]);
		} else if (item.kind == TRACE_ITEM_TALLY) {
			assert_int_equal(item.tally.events, tallies);
			assert_true(item.tally.sum == UINT64_MAX - tallies);
			assert_int_equal(item.tally.label, name_of(tallies));
			assert_string_equal(trace_reader__kind(r, item.tally.kind),
					    kind_names[tallies++ % 4]);
		}
	}
	assert_null(trace_reader__problem(r));
	assert_int_equal(spans, n);
	assert_int_equal(tallies, n);
}

static void the_writer_refuses_undeclared_kinds(void **state)
{
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	_trace_writer_ struct trace_writer *w = open_writer();
	struct trace_span s = {.kind = TRACE_KIND_OTHER};
	struct trace_tally t = {.kind = TRACE_KIND_OTHER};
	uint32_t id;

	assert_int_equal(trace_writer__tally(w, &t), -EINVAL);
	assert_int_equal(trace_writer__process(w, &p), 0);
	assert_int_equal(trace_writer__intern(w, "q", &id), 0);
	assert_int_equal(trace_writer__span(w, &s), -EINVAL);
	assert_int_equal(trace_writer__tally(w, &t), -EINVAL);
	s.kind = TRACE_KIND_LOAD;
	assert_int_equal(trace_writer__span(w, &s), 0);
	assert_int_equal(trace_writer__finish(w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listed_labels_have_a_name_and_a_kind),
		cmocka_unit_test(malformed_labels_are_refused),
		cmocka_unit_test(kinds_have_numbers_up_to_a_limit),
		cmocka_unit_test(kinds_and_tallies_come_back),
		cmocka_unit_test(the_writer_refuses_undeclared_kinds),
	};

	return cmocka_run_group_tests(tests, temporary_make, temporary_remove);
}
