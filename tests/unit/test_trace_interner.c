// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/interner.h"

#include "test.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace/labels.h"
#include "trace/process_numbers.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"
#include "../fixtures/temporary.h"

#define _interner_ __cleanup(interner__destroy)

TEST_CASE(the_same_text_has_the_same_id)
{
	_interner_ struct interner t = {0};
	char text[16];
	uint32_t id;
	bool is_new;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "query_%u", i);
			assert_int_equal(interner__id(&t, text, &id, &is_new), 0);
			assert_int_equal(id, i);
			assert_int_equal(is_new, round == 0);
		}
	}
	assert_int_equal(interner__id(&t, "", &id, &is_new), 0);
	assert_int_equal(id, 5000);
}

TEST_CASE(a_text_beyond_the_limit_is_refused)
{
	_free_ char *text = malloc(QPT_TEXT_MAX + 2);
	_interner_ struct interner t = {0};
	uint32_t id;
	bool is_new;

	memset(text, 'x', QPT_TEXT_MAX + 1);
	text[QPT_TEXT_MAX + 1] = '\0';
	assert_int_equal(interner__id(&t, text, &id, &is_new), -E2BIG);
	assert_int_equal(t.n, 0);
	text[QPT_TEXT_MAX] = '\0';
	assert_int_equal(interner__id(&t, text, &id, &is_new), 0);
}

static struct trace_piece ref(uint32_t id)
{
	return (struct trace_piece){.id = id};
}

static struct trace_piece text(const char *text)
{
	return (struct trace_piece){.text = text};
}

static void assert_text(const struct interner *t, uint32_t id, const char *expected)
{
	struct byte_buffer out = {0};

	interner__text(t, id, &out);
	assert_int_equal(out.size, strlen(expected));
	assert_memory_equal(out.data ?: (uint8_t *)"", expected, out.size);
	byte_buffer__destroy(&out);
}

TEST_CASE(a_string_has_the_text_of_its_pieces)
{
	_interner_ struct interner t = {0};
	uint32_t a, path, whole, empty;
	bool is_new;

	must(interner__id(&t, "a", &a, &is_new), interner__id(&t, "", &empty, &is_new),
	     interner__compose(&t, (struct trace_piece[]){ref(a), text("::b")}, 2, &path, &is_new),
	     interner__compose(
		     &t, (struct trace_piece[]){text("("), ref(path), text(","), ref(a), text(")")},
		     5, &whole, &is_new));
	assert_text(&t, a, "a");
	assert_text(&t, empty, "");
	assert_text(&t, path, "a::b");
	assert_text(&t, whole, "(a::b,a)");
}

TEST_CASE(pieces_make_one_string)
{
	_interner_ struct interner t = {0};
	struct trace_piece path[] = {text("a"), text("::"), text("b"), text("")};
	uint32_t a, ab, again, only, empty;
	bool is_new;

	assert_int_equal(interner__id(&t, "a", &a, &is_new), 0);
	path[0] = ref(a);
	assert_int_equal(interner__compose(&t, path, 4, &ab, &is_new), 0);
	assert_true(is_new);
	assert_int_equal(interner__compose(&t, path, 3, &again, &is_new), 0);
	assert_false(is_new);
	assert_int_equal(again, ab);
	/* One piece makes no new string. */
	assert_int_equal(interner__compose(&t, path, 1, &only, &is_new), 0);
	assert_int_equal(only, a);
	assert_int_equal(interner__compose(&t, path + 3, 1, &empty, &is_new), 0);
	assert_int_equal(interner__id(&t, "", &again, &is_new), 0);
	assert_int_equal(empty, again);
	path[1] = ref(99);
	assert_int_equal(interner__compose(&t, path, 2, &again, &is_new), -EINVAL);
}

TEST_CASE(texts_beyond_the_size_or_depth_limit_are_refused)
{
	_interner_ struct interner t = {0};
	struct trace_piece twice[2], deeper[2] = {text("x")};
	uint32_t id, n = 0;
	bool is_new;
	int err = 0;

	assert_int_equal(interner__id(&t, "xy", &id, &is_new), 0);
	for (n = 0; !err; n++) {
		twice[0] = twice[1] = ref(id);
		err = interner__compose(&t, twice, 2, &id, &is_new);
	}
	assert_int_equal(err, -E2BIG);
	assert_int_equal(n, 20); /* 2 << 19 is QPT_TEXT_MAX */
	assert_int_equal(interner__id(&t, "y", &id, &is_new), 0);
	for (n = 0, err = 0; !err; n++) {
		deeper[1] = ref(id);
		err = interner__compose(&t, deeper, 2, &id, &is_new);
	}
	assert_int_equal(err, -E2BIG);
	assert_int_equal(n, QPT_STRING_DEPTH_MAX + 1);
}

/* ---- String pairs ---------------------------------------------------------------------------- */

#define N_STRINGS 6

static int take(struct string_pairs *k, const uint32_t *numbers, size_t n)
{
	uint8_t bytes[256], *at = bytes;
	struct byte_reader in;

	for (size_t i = 0; i < n; i++)
		at = bytes_store_varint(at, numbers[i]);
	in = (struct byte_reader){.at = bytes, .end = at};
	return string_pairs__take(k, &in, N_STRINGS);
}

#define TAKE(k, ...)                                         \
	({                                                   \
		static const uint32_t __n[] = {__VA_ARGS__}; \
		take(k, __n, N_OF(__n));                     \
	})

TEST_CASE(the_later_type_holds)
{
	struct string_pairs k = {0};

	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	must(TAKE(&k, 2, 1, 3, 5, 0), TAKE(&k, 1, 1, 4));
	assert_int_equal(string_pairs__get(&k, 1), 4);
	assert_int_equal(string_pairs__get(&k, 5), 0);
	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	assert_int_equal(string_pairs__get(&k, UINT32_MAX), TRACE_NO_STRING);
	string_pairs__destroy(&k);
}

TEST_CASE(of_a_malformed_list_nothing_is_kept)
{
	struct string_pairs k = {0};

	assert_int_equal(TAKE(&k, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3, 6, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 2, 1, 3, 0, 6), -EBADMSG);
	assert_int_equal(TAKE(&k, 1, 1, 3, 0), -EBADMSG);
	assert_int_equal(TAKE(&k, 7, 1, 3), -EBADMSG);
	assert_int_equal(string_pairs__get(&k, 1), TRACE_NO_STRING);
	string_pairs__destroy(&k);
}

TEST_CASE(types_are_read_as_they_were_written)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_info info = {.tool = "test"};
	char path[] = "/tmp/qprof-test-XXXXXX.qpt";
	struct trace_writer *w = NULL;
	struct trace_item item;
	uint32_t query, other;

	temporary_name(path);
	must(trace_writer__open(path, &info, &w), trace_writer__intern(w, "symbol_name", &query),
	     trace_writer__intern(w, "other", &other),
	     trace_writer__key_type(w, query, "Instance"));
	assert_int_equal(trace_writer__key_type(w, 100, "Instance"), -EINVAL);
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
	must(trace_reader__open(path, &r, NULL), trace_reader__next(r, &item));
	assert_string_equal(trace_reader__key_type(r, query), "Instance");
	assert_null(trace_reader__key_type(r, other));
	unlink(path);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static char *strings[] = {"typeck", "typeck (a)", "QueryBlocked", "LLVM Pass", "x", "Query"};

#define LABELS_N_STRINGS (N_OF(strings))

static struct string_table *table_of_strings(void)
{
	struct byte_buffer payload = {0};
	struct string_table *table;
	struct byte_reader in;
	uint32_t first, n;
	const char *why;

	byte_buffer__varint(&payload, 0);
	byte_buffer__varint(&payload, LABELS_N_STRINGS);
	for (size_t i = 0; i < LABELS_N_STRINGS; i++) {
		byte_buffer__varint(&payload, strlen(strings[i]) << 1 | QPT_STRING_TEXT);
		byte_buffer__bytes(&payload, strings[i], strlen(strings[i]));
	}
	in = (struct byte_reader){payload.data, payload.data + payload.size, false};
	must(string_table__new(NULL, &table), string_table__take(table, &in, &first, &n, &why));
	byte_buffer__destroy(&payload);
	return table;
}

static int labels_take(struct labels *l, const uint32_t (*records)[3], size_t n, const char **why)
{
	_string_table_ struct string_table *table = table_of_strings();
	uint8_t bytes[256], *at = bytes_store_varint(bytes, n);
	struct byte_reader in;

	for (size_t i = 0; i < n; i++) {
		for (int field = 0; field < 3; field++)
			at = bytes_store_varint(at, records[i][field]);
	}
	in = (struct byte_reader){.at = bytes, .end = at};
	return labels__take(l, &in, table, LABELS_N_STRINGS, why);
}

static uint32_t resolved(const struct labels *l, uint32_t label, uint8_t *kind)
{
	labels__resolve(l, &label, kind);
	return label;
}

TEST_GROUP(temporary_make, temporary_remove)

TEST_CASE(listed_labels_have_a_name_and_a_kind)
{
	static const uint32_t first[][3] = {{1, 2, 0}}, second[][3] = {{4, 3, 0}};
	struct labels l = {0};
	const char *why;
	uint8_t kind;

	must(labels_take(&l, first, 1, &why), labels_take(&l, second, 1, &why));
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

TEST_CASE(malformed_labels_are_refused)
{
	static const uint32_t bad[][3] = {{1, 2, 1},
					  {1, 2, LABELS_N_STRINGS},
					  {LABELS_N_STRINGS, 2, 0},
					  {1, LABELS_N_STRINGS, 0},
					  {1, 5, 0}};
	const char *why = NULL;

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct labels l = {0};

		assert_int_equal(labels_take(&l, &bad[i], 1, &why), -EBADMSG);
		assert_non_null(why);
		labels__destroy(&l);
	}
}

TEST_CASE(kinds_have_numbers_up_to_a_limit)
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

		must(trace_writer__span(w, &s), trace_writer__tally(w, &t));
	}
	assert_int_equal(trace_writer__finish(w), 0);
}

TEST_CASE(kinds_and_tallies_come_back)
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

TEST_CASE(the_writer_refuses_undeclared_kinds)
{
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	_trace_writer_ struct trace_writer *w = open_writer();
	struct trace_span s = {.kind = TRACE_KIND_OTHER};
	struct trace_tally t = {.kind = TRACE_KIND_OTHER};
	uint32_t id;

	assert_int_equal(trace_writer__tally(w, &t), -EINVAL);
	must(trace_writer__process(w, &p), trace_writer__intern(w, "q", &id));
	assert_int_equal(trace_writer__span(w, &s), -EINVAL);
	assert_int_equal(trace_writer__tally(w, &t), -EINVAL);
	s.kind = TRACE_KIND_LOAD;
	must(trace_writer__span(w, &s), trace_writer__finish(w));
}

/* ---- Process numbers ------------------------------------------------------------------------- */

static uint32_t number_of_process(struct process_numbers *p, uint32_t index, uint32_t pid)
{
	const struct trace_process process = {.index = index, .pid = pid};
	struct trace_item item = {.kind = TRACE_ITEM_PROCESS, .process = &process};
	int err = 0;

	assert_true(process_numbers__translate(p, &item, &err));
	assert_int_equal(err, 0);
	assert_int_equal(item.process->pid, pid);
	return item.process->index;
}

TEST_GROUP(NULL, NULL)

TEST_CASE(numbers_have_no_gaps)
{
	__cleanup(process_numbers__destroy) struct process_numbers p = {.on = true};

	assert_int_equal(number_of_process(&p, 7, 107), 0);
	assert_int_equal(number_of_process(&p, 2, 102), 1);
	assert_int_equal(number_of_process(&p, 7, 108), 0);
	assert_int_equal(number_of_process(&p, 0, 100), 2);
	assert_int_equal(process_numbers__index(&p, 0), 7);
	assert_int_equal(process_numbers__index(&p, 2), 0);
	assert_int_equal(process_numbers__index(&p, TRACE_NO_PROCESS), TRACE_NO_PROCESS);
}

TEST_CASE(what_belongs_to_a_process_has_its_number)
{
	__cleanup(process_numbers__destroy) struct process_numbers p = {.on = true};
	struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.process = 5}};
	struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.process = 5}};
	struct trace_item tally = {.kind = TRACE_ITEM_TALLY, .tally = {.process = 4}};
	struct trace_item losses = {.kind = TRACE_ITEM_LOSSES};
	int err = 0;

	number_of_process(&p, 3, 1);
	number_of_process(&p, 5, 2);
	assert_true(process_numbers__translate(&p, &span, &err));
	assert_int_equal(span.span.process, 1);
	assert_true(process_numbers__translate(&p, &sample, &err));
	assert_int_equal(sample.sample.process, 1);
	assert_false(process_numbers__translate(&p, &tally, &err));
	assert_true(process_numbers__translate(&p, &losses, &err));
}

TEST_CASE(without_a_filter_indices_stay)
{
	struct process_numbers p = {};
	struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.process = 5}};
	int err = 0;

	assert_true(process_numbers__translate(&p, &span, &err));
	assert_int_equal(span.span.process, 5);
	assert_int_equal(process_numbers__index(&p, 9), 9);
}

TEST_MAIN(NULL, NULL)
