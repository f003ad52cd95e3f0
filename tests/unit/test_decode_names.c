// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of user/decode/decoder.c: the names of what executions were about. */
#include "decode/decoder.h"
#include "test.h"
#include "../fixtures/sunk.h"
#include "decode/keys.h"

static void set_keys(struct fixture *f)
{
	static const uint8_t keys[] = {WIRE_KEY_UNIT, WIRE_KEY_LOCAL, WIRE_KEY_DEF};
	const struct plan_layout layout = names_layout();

	assert_int_equal(library__set_keys(&f->t->libraries[2], keys, &layout), 0);
}

static int do_definitions(struct decoder *t, const struct wire_piece *r)
{
	return decoder__record(t, r, offsetof(struct wire_piece, bytes) + r->size);
}

static int do_symbols(struct decoder *t, const struct wire_symbols *r)
{
	return decoder__record(t, r, offsetof(struct wire_symbols, bytes) + r->size);
}

static int do_names_end(struct decoder *t, uint32_t pid, uint32_t missing)
{
	const struct wire_names_end r = {.type = WIRE_NAMES_END, .pid = pid, .missing = missing};

	return decoder__record(t, &r, sizeof(r));
}

/* The copy of a process: its crate, "one" and "two". */
static void do_names(struct decoder *t, uint32_t pid)
{
	struct wire_piece r = names_piece(pid, 0);
	struct wire_symbols texts = names_texts(pid);

	names_root(&r);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST + 1, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "one");
	names_symbol(&texts, SYMBOL_FIRST + 1, "two");
	must(do_definitions(t, &r), do_symbols(t, &texts), do_names_end(t, pid, 0));
}

/* An execution about definition `index` of the crate. */
static int do_keyed(struct decoder *t, uint32_t pid, uint32_t invocation, uint32_t index)
{
	struct wire_span r = span(pid, 0, 300, 305);

	r.invocation = invocation;
	r.key = wire_key(WIRE_KEY_LOCAL_CRATE, index);
	return decoder__record(t, &r, sizeof(r));
}

static void assert_item(const struct fixture *f, uint32_t process, uint32_t id, const char *want)
{
	const char *found = names_of(&f->out.items, process, id);

	if (!want)
		assert_null(found);
	else
		assert_string_equal(found ?: "(not mapped)", want);
}

#define CASE(name) TEST_CASE_OF(name, setup, teardown, struct fixture *f)

CASE(what_executions_were_about_is_mapped_at_the_exit)
{
	struct wire_span unit = span(11, 0, 300, 400);

	set_keys(f);
	must(do_exec(f->t, 10, 200, RUSTC("z")), do_exec(f->t, 11, 200, RUSTC("a")),
	     do_keyed(f->t, 11, 0, 1), do_keyed(f->t, 11, 1, 2), do_keyed(f->t, 11, 2, 9));
	unit.query = 0;
	unit.invocation = 3;
	assert_int_equal(decoder__record(f->t, &unit, sizeof(unit)), 0);
	do_names(f->t, 11);
	assert_int_equal(f->out.items.n_mapped, 0);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_item(f, 1, 0, "a::one");
	assert_item(f, 1, 1, "a::two");
	assert_item(f, 1, 2, "");
	assert_item(f, 1, 3, "()");
	assert_struct(*f, out.items.n_mapped, 4, t->images.n_unnamed, 1);
}

/* As if nothing had been asked for: no id is invented, and nothing is mapped. */
CASE(without_keys_nothing_is_mapped)
{
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_keyed(f->t, 11, 0, 1),
	     do_keyed(f->t, 11, WIRE_NO_INVOCATION, 1));
	do_names(f->t, 11);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_int_equal(f->out.items.n_mapped, 0);
	assert_int_equal(f->out.spans[1].invocation, TRACE_NO_INVOCATION);
	assert_int_equal(f->t->images.n_unnamed, 0);
}

static int do_argument(struct decoder *t, uint64_t number, const char *text)
{
	struct wire_argument r = {
		.type = WIRE_ARGUMENT, .argument = number, .size = (uint32_t)strlen(text)};

	memcpy(r.bytes, text, r.size);
	return decoder__record(t, &r, offsetof(struct wire_argument, bytes) + r.size);
}

static int do_activity(struct decoder *t, uint16_t guard, uint64_t argument)
{
	struct wire_span r = span(11, 0, 300, 305);

	r.kind = WIRE_KIND_ACTIVITY;
	r.query = guard;
	r.invocation = WIRE_NO_INVOCATION;
	r.key = argument;
	return decoder__record(t, &r, sizeof(r));
}

/* Guard 0 has arguments, guard 1 has none. */
CASE(what_activities_were_about_is_mapped_too)
{
	static const struct plan_guard guards[] = {{.source.text = WIRE_ARGUMENT_STRING}, {0}};
	static const uint32_t labels[] = {90, 91};

	set_keys(f);
	must(library__set_guards(&f->t->libraries[2], labels, 2),
	     library__set_arguments(&f->t->libraries[2], guards),
	     do_exec(f->t, 11, 200, RUSTC("a")), do_argument(f->t, 4, "x-cgu.0"),
	     do_activity(f->t, 0, 4), do_activity(f->t, 1, 0));
	assert_struct(*f, t->unread_arguments, 0, out.spans[0].invocation, KEYS_OWN_IDS,
		      out.spans[1].invocation, TRACE_NO_INVOCATION);
	/* It was not read, or its record was lost. */
	must(do_activity(f->t, 0, 0), do_activity(f->t, 0, 5));
	assert_int_equal(f->t->unread_arguments, 2);
	/* Without a table of definitions. */
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_item(f, 0, KEYS_OWN_IDS, "x-cgu.0");
}

static void add_words(struct wire_piece *r, const uint32_t *words, size_t n)
{
	memcpy(r->bytes + r->size, words, 4 * n);
	r->size += (uint32_t)(4 * n);
}

/* A file "a.rs" of 100 bytes at position 1000, whose lines start at 0, 10 and 30. */
static void do_file(struct decoder *t, uint32_t pid)
{
	static const uint32_t head[] = {3, 1000, 100, 3, 4}, starts[] = {0, 10, 30};
	struct wire_piece file = {.type = WIRE_PIECE, .table = WIRE_TABLE_FILES, .pid = pid};
	struct wire_piece lines = {
		.type = WIRE_PIECE, .table = WIRE_TABLE_LINES, .pid = pid, .number = 3};

	add_words(&file, head, 5);
	memcpy(file.bytes + file.size, "a.rs", 4);
	file.size += 4;
	add_words(&lines, starts, 3);
	must(do_definitions(t, &file), do_definitions(t, &lines));
}

static int do_macro(struct decoder *t, uint64_t number, uint64_t span)
{
	struct wire_argument r = {.type = WIRE_ARGUMENT,
				  .value = WIRE_VALUE_SPAN,
				  .macro = WIRE_MACRO_DERIVE,
				  .argument = number,
				  .number = span,
				  .size = 1,
				  .bytes = "A"};

	return decoder__record(t, &r, offsetof(struct wire_argument, bytes) + r.size)
		       ?: do_activity(t, 0, number);
}

static uint64_t packed(uint32_t position, uint16_t length)
{
	return position | (uint64_t)length << 32;
}

CASE(a_macro_is_named_with_the_place_of_its_call)
{
	static const uint8_t keys[] = {WIRE_KEY_UNIT, WIRE_KEY_LOCAL, WIRE_KEY_DEF};
	static const uint32_t labels[] = {90};
	static const uint64_t unknown[] = {0, 0xffff00000001, 999, 1101};
	struct plan_layout layout = names_layout();

	layout.wire.places.known = 1;
	must(library__set_keys(&f->t->libraries[2], keys, &layout),
	     library__set_guards(&f->t->libraries[2], labels, 1),
	     do_exec(f->t, 11, 200, RUSTC("a")), do_macro(f->t, 1, packed(1012, 4)));
	/* Over the end of its line; with a parent in place of a context. */
	assert_int_equal(do_macro(f->t, 2, packed(1009, 0x8000 | 25)), 0);
	/* Of no file, behind the end of one, one of the compiler's table, and none. */
	for (uint32_t i = 0; i < N_OF(unknown); i++)
		assert_int_equal(do_macro(f->t, 3 + i, unknown[i]), 0);
	assert_int_equal(do_macro(f->t, 7, packed(1099, 2)), 0);
	do_file(f->t, 11);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_item(f, 0, KEYS_OWN_IDS,
		    "#[derive(A)]\x1e"
		    "a.rs:2:3: 2:7");
	assert_item(f, 0, KEYS_OWN_IDS + 1,
		    "#[derive(A)]\x1e"
		    "a.rs:1:10: 3:5");
	for (uint32_t i = 2; i < 7; i++)
		assert_item(f, 0, KEYS_OWN_IDS + i, "#[derive(A)]");
}

CASE(an_execution_without_an_id_gets_one_if_it_has_a_key)
{
	struct wire_span none = span(11, 0, 300, 400);

	set_keys(f);
	none.invocation = WIRE_NO_INVOCATION;
	assert_int_equal(decoder__record(f->t, &none, sizeof(none)), 0);
	assert_int_equal(f->out.spans[0].invocation, TRACE_NO_INVOCATION);
	assert_int_equal(do_keyed(f->t, 11, WIRE_NO_INVOCATION, 2), 0);
	assert_int_equal(f->out.spans[1].invocation, KEYS_OWN_IDS);
	/* An interval that is no execution has no key, whatever the record holds. */
	none.kind = WIRE_KIND_BLOCKED;
	none.key = wire_key(0, 1);
	assert_int_equal(decoder__record(f->t, &none, sizeof(none)), 0);
	assert_int_equal(f->out.spans[2].invocation, TRACE_NO_INVOCATION);
	do_names(f->t, 11);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_item(f, 0, KEYS_OWN_IDS, "crate::two");
	assert_int_equal(f->out.items.n_mapped, 1);
}

CASE(a_running_compiler_is_named_when_the_recording_ends)
{
	set_keys(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_keyed(f->t, 11, 0, 1));
	do_names(f->t, 11);
	assert_int_equal(decoder__settle(f->t), 0);
	assert_item(f, 0, 0, "a::one");
	assert_int_equal(decoder__settle(f->t), 0);
	assert_int_equal(f->out.items.n_mapped, 1);
}

CASE(late_spans_are_named_too)
{
	set_keys(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_keyed(f->t, 11, 0, 1));
	do_names(f->t, 11);
	must(do_exit(f->t, 11, 500, 0), do_keyed(f->t, 11, 4, 2));
	assert_item(f, 0, 4, NULL);
	/* The next use of the pid, when nothing more can come. */
	assert_int_equal(do_exec(f->t, 11, 700, RUSTC("b")), 0);
	assert_item(f, 0, 0, "a::one");
	assert_item(f, 0, 4, "a::two");
	assert_int_equal(f->out.items.n_mapped, 2);
}

CASE(names_are_of_one_image)
{
	set_keys(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_keyed(f->t, 11, 0, 1));
	do_names(f->t, 11);
	assert_int_equal(do_exec(f->t, 11, 400, RUSTC("b")), 0);
	assert_item(f, 0, 0, "a::one");
	must(do_keyed(f->t, 11, 0, 1), do_exit(f->t, 11, 500, 0));
	assert_item(f, 1, 0, NULL);
	assert_int_equal(f->t->images.n_unnamed, 1);
}

/* Killed before its context was dropped, or of a layout that is not known. */
CASE(a_process_without_names_is_counted)
{
	static const uint64_t counters[WIRE_COUNTER_MAX];
	struct wire_span unit = span(11, 0, 300, 400);

	set_keys(f);
	must(do_keyed(f->t, 11, 0, 1), do_keyed(f->t, 11, WIRE_NO_INVOCATION, 2));
	unit.query = 0;
	must(decoder__record(f->t, &unit, sizeof(unit)), do_names_end(f->t, 11, 1),
	     do_names_end(f->t, 11, 2));
	assert_int_equal(decoder__losses(f->t, counters).count[TRACE_COUNT_NO_NAMES], 3);
	assert_int_equal(do_exit(f->t, 11, 500, 9), 0);
	assert_struct(*f, out.items.n_mapped, 0, t->images.n_unnamed, 2);
}

/* Its layout is another's. */
CASE(a_library_whose_number_was_reused_names_nothing)
{
	static const uint32_t labels[] = {77, 78, 79};

	set_keys(f);
	assert_int_equal(do_keyed(f->t, 11, 0, 1), 0);
	do_names(f->t, 11);
	assert_int_equal(decoder__set_library(f->t, 2, labels, 3, "efgh", NULL), 0);
	set_keys(f);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_struct(*f, out.items.n_mapped, 0, t->images.n_unnamed, 1);
}

CASE(a_second_copy_changes_no_name)
{
	struct wire_piece r = names_piece(11, 0);
	struct wire_symbols texts = names_texts(11);

	set_keys(f);
	assert_int_equal(do_keyed(f->t, 11, 0, 1), 0);
	do_names(f->t, 11);
	names_root(&r);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST + 1, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST, "other");
	must(do_definitions(f->t, &r), do_symbols(f->t, &texts), do_exit(f->t, 11, 500, 0));
	assert_item(f, 0, 0, "crate::one");
}

CASE(names_of_an_unknown_process_are_ignored)
{
	set_keys(f);
	do_names(f->t, 99);
	must(do_keyed(f->t, 99, 0, 1), do_exit(f->t, 99, 500, 0));
	assert_int_equal(f->out.items.n_mapped, 0);
}

CASE(a_malformed_copy_of_names_changes_nothing)
{
	const size_t head = offsetof(struct wire_piece, bytes);
	struct wire_piece r = names_piece(11, 0), gap = names_piece(11, 0);
	struct wire_symbols s = names_texts(11);
	const struct wire_names_end end = {.type = WIRE_NAMES_END, .pid = 11};

	set_keys(f);
	assert_int_equal(do_keyed(f->t, 11, 0, 1), 0);
	names_root(&r);
	names_symbol(&s, SYMBOL_FIRST, "one");
	for (size_t size = 1; size < head + r.size; size++)
		assert_int_equal(decoder__record(f->t, &r, size), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, head + r.size + 1), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.size = WIRE_PIECE_MAX + 1;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	gap.offset = UINT32_MAX;
	assert_int_equal(do_definitions(f->t, &gap), -EBADMSG);
	gap.offset = 0;
	gap.table = 255;
	assert_int_equal(do_definitions(f->t, &gap), -EBADMSG);
	for (size_t size = 1; size < offsetof(struct wire_symbols, bytes) + s.size; size++)
		assert_int_equal(decoder__record(f->t, &s, size), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &s, sizeof(s)), -EBADMSG);
	/* A text that is longer than the record. */
	bytes_store_u32(s.bytes + 4, 5);
	assert_int_equal(do_symbols(f->t, &s), -EBADMSG);
	s.size = WIRE_SYMBOLS_MAX + 1;
	assert_int_equal(decoder__record(f->t, &s, sizeof(s)), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &end, sizeof(end) - 1), -EBADMSG);
	do_names(f->t, 11);
	assert_int_equal(do_exit(f->t, 11, 500, 0), 0);
	assert_item(f, 0, 0, "crate::one");
}

TEST_CASE(a_sink_may_take_no_names)
{
	_decoder_ struct decoder *t = NULL;
	const struct decoder_sink none = {0};
	const uint8_t keys[] = {WIRE_KEY_LOCAL, WIRE_KEY_LOCAL};
	const uint32_t labels[] = {0, 1};
	const struct plan_layout layout = names_layout();

	must(decoder__new(&none, &t), decoder__set_library(t, 2, labels, 2, NULL, NULL),
	     library__set_keys(&t->libraries[2], keys, &layout), do_exec(t, 11, 200, RUSTC("a")));
	do_names(t, 11);
	must(do_keyed(t, 11, 0, 1), decoder__settle(t), do_exit(t, 11, 500, 0));
}

CASE(an_error_of_a_mapping_comes_back)
{
	set_keys(f);
	assert_int_equal(do_keyed(f->t, 11, 0, 1), 0);
	do_names(f->t, 11);
	f->out.items.err = -EIO;
	assert_int_equal(do_exit(f->t, 11, 500, 0), -EIO);
	f->out.items.err = 0;
}

/* Both contexts have a definition 1, and an execution with the id 0. */
CASE(a_second_context_has_names_of_its_own)
{
	struct wire_names_end end = {
		.type = WIRE_NAMES_END, .pid = 11, .moment = WIRE_COUNTS_DROPPED, .time_ns = 310};
	struct wire_span later = span(11, 0, 320, 330), left = span(11, 0, 309, 340);
	struct wire_piece r = names_piece(11, 0);
	struct wire_symbols texts = names_texts(11);

	set_keys(f);
	must(do_exec(f->t, 11, 200, RUSTC("a")), do_keyed(f->t, 11, 0, 1));
	do_names(f->t, 11);
	assert_int_equal(decoder__record(f->t, &end, sizeof(end)), 0);
	/* Left by a panic, which is noticed after the drop. */
	left.invocation = 1;
	left.key = wire_key(WIRE_KEY_LOCAL_CRATE, 2);
	assert_int_equal(decoder__record(f->t, &left, sizeof(left)), 0);
	later.invocation = 0;
	later.key = wire_key(WIRE_KEY_LOCAL_CRATE, 1);
	assert_int_equal(decoder__record(f->t, &later, sizeof(later)), 0);
	names_root(&r);
	names_row(&r, TAG_NAMED, SYMBOL_FIRST + 2, 0, 0);
	names_symbol(&texts, SYMBOL_FIRST + 2, "three");
	must(do_definitions(f->t, &r), do_symbols(f->t, &texts), do_exit(f->t, 11, 400, 0));
	assert_item(f, 0, 0, "a::one");
	assert_item(f, 0, 1, "a::two");
	assert_item(f, 0, KEYS_OWN_IDS, "a::three");
}

/* In its own files; those of the first one lie at other positions. */
CASE(a_second_context_has_files_of_its_own)
{
	static const uint8_t keys[] = {WIRE_KEY_UNIT, WIRE_KEY_LOCAL, WIRE_KEY_DEF};
	static const uint32_t labels[] = {90};
	struct wire_names_end end = {
		.type = WIRE_NAMES_END, .pid = 11, .moment = WIRE_COUNTS_DROPPED, .time_ns = 310};
	struct plan_layout layout = names_layout();
	struct wire_span later = span(11, 0, 320, 330);

	layout.wire.places.known = 1;
	must(library__set_keys(&f->t->libraries[2], keys, &layout),
	     library__set_guards(&f->t->libraries[2], labels, 1),
	     do_exec(f->t, 11, 200, RUSTC("a")), do_macro(f->t, 1, packed(1012, 4)));
	do_file(f->t, 11);
	must(decoder__record(f->t, &end, sizeof(end)), decoder__record(f->t, &later, sizeof(later)),
	     do_macro(f->t, 2, packed(1012, 5)), do_exit(f->t, 11, 500, 0));
	assert_item(f, 0, KEYS_OWN_IDS,
		    "#[derive(A)]\x1e"
		    "a.rs:2:3: 2:7");
	assert_item(f, 0, KEYS_OWN_IDS + 1, "#[derive(A)]");
}

TEST_MAIN(NULL, NULL)
