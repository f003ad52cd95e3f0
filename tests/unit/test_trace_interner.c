// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/interner.h"

#include "test.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"
#include <errno.h>
#include "../fixtures/temporary.h"

#define _interner_ __cleanup(interner__destroy)

static void the_same_text_has_the_same_id(void **state)
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

static void a_text_beyond_the_limit_is_refused(void **state)
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

static void a_string_has_the_text_of_its_pieces(void **state)
{
	_interner_ struct interner t = {0};
	uint32_t a, path, whole, empty;
	bool is_new;

	assert_int_equal(interner__id(&t, "a", &a, &is_new), 0);
	assert_int_equal(interner__id(&t, "", &empty, &is_new), 0);
	assert_int_equal(interner__compose(&t, (struct trace_piece[]){ref(a), text("::b")}, 2,
					   &path, &is_new),
			 0);
	assert_int_equal(interner__compose(&t,
					   (struct trace_piece[]){text("("), ref(path), text(","),
								  ref(a), text(")")},
					   5, &whole, &is_new),
			 0);
	assert_text(&t, a, "a");
	assert_text(&t, empty, "");
	assert_text(&t, path, "a::b");
	assert_text(&t, whole, "(a::b,a)");
}

static void pieces_make_one_string(void **state)
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

static void texts_beyond_the_size_or_depth_limit_are_refused(void **state)
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

static void the_later_type_holds(void **state)
{
	struct string_pairs k = {0};

	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	assert_int_equal(TAKE(&k, 2, 1, 3, 5, 0), 0);
	assert_int_equal(TAKE(&k, 1, 1, 4), 0);
	assert_int_equal(string_pairs__get(&k, 1), 4);
	assert_int_equal(string_pairs__get(&k, 5), 0);
	assert_int_equal(string_pairs__get(&k, 0), TRACE_NO_STRING);
	assert_int_equal(string_pairs__get(&k, UINT32_MAX), TRACE_NO_STRING);
	string_pairs__destroy(&k);
}

static void of_a_malformed_list_nothing_is_kept(void **state)
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

static void types_are_read_as_they_were_written(void **state)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_info info = {.tool = "test"};
	char path[] = "/tmp/qprof-test-XXXXXX.qpt";
	struct trace_writer *w = NULL;
	struct trace_item item;
	uint32_t query, other;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__intern(w, "symbol_name", &query), 0);
	assert_int_equal(trace_writer__intern(w, "other", &other), 0);
	assert_int_equal(trace_writer__key_type(w, query, "Instance"), 0);
	assert_int_equal(trace_writer__key_type(w, 100, "Instance"), -EINVAL);
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
	assert_int_equal(trace_reader__open(path, &r, NULL), 0);
	assert_int_equal(trace_reader__next(r, &item), 0);
	assert_string_equal(trace_reader__key_type(r, query), "Instance");
	assert_null(trace_reader__key_type(r, other));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_has_the_same_id),
		cmocka_unit_test(a_string_has_the_text_of_its_pieces),
		cmocka_unit_test(pieces_make_one_string),
		cmocka_unit_test(texts_beyond_the_size_or_depth_limit_are_refused),
		cmocka_unit_test(a_text_beyond_the_limit_is_refused),
		cmocka_unit_test(the_later_type_holds),
		cmocka_unit_test(of_a_malformed_list_nothing_is_kept),
		cmocka_unit_test(types_are_read_as_they_were_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
