// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/mm_writer.h"

#include <signal.h>
#include <sys/resource.h>

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/disk.h"
#include "../fixtures/random.h"
#include "import/mm_reader.h"

static struct mm_writer *new_writer(void)
{
	struct mm_writer *w = NULL;

	assert_int_equal(mm_writer__open(directory_fd, &w), 0);
	return w;
}

static struct mm_reader *read_back(const char *name)
{
	struct mm_reader *r = NULL;
	const char *why;

	assert_int_equal(mm_reader__open(directory_path(name), &r, &why), 0);
	assert_null(mm_reader__problem(r));
	return r;
}

/* Each stream takes several pages; some strings and events cross the page boundaries. */
TEST_CASE(strings_and_events_are_read_back)
{
	struct rng rng = rng_new();
	uint64_t seed = rng.state, ids[5000], kind;
	_mm_writer_ struct mm_writer *w = new_writer();
	_mm_reader_ struct mm_reader *r = NULL;
	char text[200];

	assert_int_equal(mm_writer__string(w, "kind", &kind), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%*u", 1 + (int)rng_below(&rng, 150), i);
		assert_int_equal(mm_writer__string(w, text, &ids[i]), 0);
		for (uint32_t virtual_id = i; virtual_id < 20000; virtual_id += 5000)
			assert_int_equal(mm_writer__map(w, virtual_id, ids[i]), 0);
		must(mm_writer__interval(w, kind, i % 2 ? i : ids[i], i, i,
					 0xfffffffffffdull - rng_below(&rng, 9)),
		     mm_writer__integer(w, kind, i, 0, 0xffffffffffffull - i));
	}
	assert_int_equal(mm_writer__finish(w, "a", false), 0);
	r = read_back("a");
	rng.state = seed;
	assert_int_equal(mm_reader__n_events(r), 10000);
	for (uint32_t i = 0; i < 5000; i++) {
		struct mm_event e[2];

		snprintf(text, sizeof(text), "%*u", 1 + (int)rng_below(&rng, 150), i);
		assert_int_equal(mm_reader__events(r, 2 * i, 2, e), 0);
		assert_string_equal(mm_reader__label(r, e[0].id), text);
		assert_string_equal(mm_reader__label(r, i + 15000), text);
		assert_string_equal(mm_reader__kind(r, e[0].kind), "kind");
		assert_struct(e[0], type, MM_INTERVAL_EVENT, thread, i, start, i);
		assert_true(e[0].end == 0xfffffffffffdull - rng_below(&rng, 9));
		assert_int_equal(e[1].type, MM_INTEGER_EVENT);
		assert_true(e[1].start == 0xffffffffffffull - i);
	}
}

TEST_CASE(a_long_string_takes_several_pages)
{
	_mm_writer_ struct mm_writer *w = new_writer();
	_mm_reader_ struct mm_reader *r = NULL;
	_free_ char *text = malloc(600001);
	uint64_t id;

	memset(text, 'x', 600000);
	text[600000] = '\0';
	must(mm_writer__string(w, text, &id), mm_writer__finish(w, "long", false));
	r = read_back("long");
	assert_string_equal(mm_reader__label(r, id), text);
}

TEST_CASE(events_that_the_format_cannot_hold_are_refused)
{
	_mm_writer_ struct mm_writer *w = new_writer();

	assert_int_equal(mm_writer__interval(w, 1, 1, 1, 6, 5), -EINVAL);
	assert_int_equal(mm_writer__instant(w, 1, 1, 1, 0xfffffffffffeull), -EINVAL);
	assert_int_equal(mm_writer__interval(w, 1, 1, 1, 6, 0xfffffffffffeull), -EINVAL);
	assert_int_equal(mm_writer__integer(w, 1, 1, 1, 1ull << 48), -EINVAL);
	assert_int_equal(mm_writer__interval(w, 1, 1, 1, 6, 0xfffffffffffdull), 0);
}

TEST_CASE(a_file_is_not_replaced_unless_forced)
{
	struct mm_writer *first, *second, *third;
	struct mm_reader *r;
	uint64_t id;

	directory_files(true);
	first = new_writer();
	second = new_writer();
	third = new_writer();
	assert_int_equal(mm_writer__finish(first, "b", false), 0);
	assert_int_equal(mm_writer__finish(second, "b", false), -EEXIST);
	assert_int_equal(mm_writer__finish(second, "c", false), -EEXIST);
	assert_int_equal(mm_writer__string(second, "x", &id), -EEXIST);
	must(mm_writer__interval(third, 5, 5, 1, 1, 2), mm_writer__finish(third, "b", true));
	mm_writer__free(first);
	mm_writer__free(second);
	mm_writer__free(third);
	assert_int_equal(directory_files(false), 1);
	r = read_back("b");
	assert_int_equal(mm_reader__n_events(r), 1);
	mm_reader__free(r);
}

TEST_CASE(an_unfinished_file_is_removed)
{
	unsigned int before = directory_files(false);
	struct mm_writer *w = new_writer();

	assert_int_equal(directory_files(false), before + 1);
	mm_writer__free(w);
	assert_int_equal(directory_files(false), before);
	mm_writer__free(NULL);
}

TEST_CASE(a_full_disk_is_an_error_for_ever)
{
	struct rlimit old, limit;
	struct mm_writer *w = new_writer();
	unsigned int before = directory_files(false);
	uint64_t n = 0;
	int err = 0;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){200000, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (; !err && n < 100000; n++)
		err = mm_writer__interval(w, 5, 5, 1, n, n);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(mm_writer__interval(w, 5, 5, 1, n, n), -EFBIG);
	assert_int_equal(mm_writer__finish(w, "full", true), -EFBIG);
	mm_writer__free(w);
	assert_int_equal(directory_files(false), before - 1);
}

/* Covers an error of fsync() and one of close(). */
TEST_CASE(a_file_that_did_not_reach_the_disk_gets_no_name)
{
	for (int i = 0; i < 2; i++) {
		struct mm_writer *w = new_writer();
		unsigned int before = directory_files(false);

		*(i ? &disk.close_err : &disk.sync_err) = ENOSPC;
		assert_int_equal(mm_writer__finish(w, "unsynced", true), -ENOSPC);
		memset(&disk, 0, sizeof(disk));
		mm_writer__free(w);
		assert_int_equal(directory_files(false), before - 1);
		assert_int_equal(access(directory_path("unsynced"), F_OK), -1);
	}
}

TEST_CASE(no_directory_is_an_error)
{
	struct mm_writer *w = NULL;

	assert_int_equal(mm_writer__open(-1, &w), -EBADF);
	assert_null(w);
}

TEST_MAIN(directory_make, directory_remove)
