// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_symbols.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/output.h"

static struct code_symbols *with_room_of(size_t most, size_t most_foreign, uid_t invoker)
{
	const struct code_symbols_options o = {invoker, most, most_foreign};
	struct code_symbols *s = NULL;

	assert_int_equal(code_symbols__new(&o, &s), 0);
	return s;
}

static struct code_symbols *with_room(size_t most)
{
	return with_room_of(most, most, getuid());
}

static struct symbol_file *get(struct code_symbols *s, const char *name)
{
	_library_file_ struct library_file *file = NULL;
	struct symbol_file *f = NULL;

	assert_int_equal(library_file__open(fixture(name), &file), 0);
	assert_int_equal(symbol_file__get(s, file, &f), 0);
	return f;
}

TEST_CASE(symbols_are_read_when_they_are_needed)
{
	_code_symbols_ struct code_symbols *s = with_room(SIZE_MAX);
	struct symbol_file *f = get(s, "guards.so");

	assert_int_equal(code_symbols__bytes(s), 0);
	assert_string_equal(symbol_file__build_id(f), "");
	assert_non_null(symbol_file__functions(f));
	assert_in_range(code_symbols__bytes(s), 1, 1 << 20);
	assert_string_not_equal(symbol_file__build_id(f), "");
	symbol_file__free(f);
	assert_int_equal(code_symbols__bytes(s), 0);
}

/* Any number of recorders take the memory of one, until the last one ends. */
TEST_CASE(users_of_a_file_share_its_symbols)
{
	_code_symbols_ struct code_symbols *s = with_room(SIZE_MAX);
	struct symbol_file *one = get(s, "guards.so"), *two = get(s, "guards.so");
	struct functions *functions = symbol_file__functions(one);
	size_t bytes = code_symbols__bytes(s);

	assert_ptr_equal(symbol_file__functions(two), functions);
	assert_int_equal(code_symbols__bytes(s), bytes);
	symbol_file__free(one);
	assert_ptr_equal(symbol_file__functions(two), functions);
	assert_int_equal(code_symbols__bytes(s), bytes);
	symbol_file__free(two);
	assert_int_equal(code_symbols__bytes(s), 0);
}

TEST_CASE(too_many_symbols_are_not_read)
{
	_code_symbols_ struct code_symbols *s = with_room(0);
	struct symbol_file *f = get(s, "guards.so"), *more = get(s, "bodies.so");

	assert_non_null(symbol_file__functions(f));
	assert_null(symbol_file__functions(more));
	/* There may be room later, but a file is the same one for a whole recording. */
	symbol_file__free(f);
	assert_null(symbol_file__functions(more));
	symbol_file__free(more);
	more = get(s, "bodies.so");
	assert_non_null(symbol_file__functions(more));
	symbol_file__free(more);
}

/* Only root can make files of two users. */
TEST_CASE(a_user_takes_no_room_from_others)
{
	_code_symbols_ struct code_symbols *s = with_room_of(SIZE_MAX, 0, 1);
	struct symbol_file *first, *second, *other;
	_output_ struct output o;

	if (getuid())
		skip();
	assert_int_equal(chown(fixture("guards.so"), 7, 7), 0);
	assert_int_equal(chown(fixture("bodies.so"), 7, 7), 0);
	assert_int_equal(chown(fixture("hits.so"), 8, 8), 0);
	first = get(s, "guards.so");
	second = get(s, "bodies.so");
	other = get(s, "hits.so");
	assert_non_null(symbol_file__functions(first));
	output_begin(&o);
	assert_null(symbol_file__functions(second));
	output_end(&o);
	assert_contains(o.text[1], "bodies.so have no names");
	assert_non_null(symbol_file__functions(other));
	symbol_file__free(first);
	symbol_file__free(second);
	symbol_file__free(other);
}

TEST_CASE(one_file_is_itself)
{
	_code_symbols_ struct code_symbols *s = with_room(SIZE_MAX);
	struct symbol_file *f = get(s, "guards.so"), *same = get(s, "guards.so"),
			   *other = get(s, "bodies.so"), *vdso, *changed;

	assert_ptr_equal(f, same);
	assert_ptr_not_equal(f, other);
	assert_int_equal(symbol_file__get(s, NULL, &vdso), 0);
	assert_null(symbol_file__file(vdso));
	assert_null(symbol_file__functions(vdso));
	/* Its content was changed: it is another file. */
	assert_int_equal(truncate(fixture("guards.so"), 100), 0);
	changed = get(s, "guards.so");
	assert_ptr_not_equal(changed, f);
	symbol_file__free(changed);
	symbol_file__free(vdso);
	symbol_file__free(other);
	symbol_file__free(same);
	symbol_file__free(f);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
