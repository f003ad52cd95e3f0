// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_file.h"

#include "test.h"
#include "../fixtures/mm_bytes.h"
#include "../fixtures/random.h"
#include "base/cleanup.h"

static void streams_are_put_together(void **state)
{
	struct rng rng = rng_new();
	struct mm_bytes m;
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40];
	int fd;

	mm_bytes__begin(&m);
	for (int i = 0; i < 3000; i++)
		mm_bytes__event(&m, rng_u64(&rng), i, i, i, i);
	fd = mm_bytes__open(&m, 1 + rng_below(&rng, 100), path);
	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_string_equal(f.problem, "");
	assert_int_equal(f.version, 9);
	assert_int_equal(f.mtime_ns, 1700000000000000000);
	assert_int_equal(f.streams[MM_EVENTS].size, m.streams[MM_EVENTS].size);
	assert_int_equal(f.streams[MM_STRING_DATA].size, 8);
	for (int i = 0; i < 2000; i++) {
		uint64_t at = rng_below(&rng, m.streams[MM_EVENTS].size + 1);
		uint64_t size = rng_below(&rng, m.streams[MM_EVENTS].size + 1 - at) % 5000;
		uint8_t got[5000];

		assert_int_equal(mm_file__read(&f, MM_EVENTS, at, got, size), 0);
		assert_memory_equal(got, m.streams[MM_EVENTS].data + at, size);
	}
	assert_int_equal(mm_file__read(&f, MM_EVENTS, m.streams[MM_EVENTS].size, path, 1), -EIO);
	assert_int_equal(mm_file__read(&f, MM_EVENTS, UINT64_MAX, path, 1), -EIO);
	assert_int_equal(mm_file__read(&f, MM_EVENTS, 1, path, SIZE_MAX), -EIO);
	close(fd);
	mm_bytes__end(&m);
}

static void refuse(const char *path, int err, const char *says)
{
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why = NULL;

	assert_int_equal(mm_file__open(&f, path, &why), err);
	assert_string_equal(why, says);
}

static void a_path_that_is_not_a_regular_file_is_refused(void **state)
{
	refuse("/nonexistent", -ENOENT, "No such file or directory");
	refuse("/tmp", -EINVAL, "it is not a regular file");
	refuse("/dev/null", -EINVAL, "it is not a regular file");
	refuse("/dev/zero", -EINVAL, "it is not a regular file");
}

static void a_file_that_shrinks_is_an_error(void **state)
{
	struct mm_bytes m;
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40], got[9];
	int fd;

	mm_bytes__begin(&m);
	mm_bytes__string(&m, "x");
	fd = mm_bytes__open(&m, 100, path);
	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_int_equal(mm_file__read(&f, MM_STRING_DATA, 1, got, 9), -EIO);
	close(fd);
	mm_bytes__end(&m);
}

static void the_first_problem_holds(void **state)
{
	__cleanup(mm_file__destroy) struct mm_file f = {.fd = -1};

	mm_file__problem(&f, "cut at %d", 5);
	mm_file__problem(&f, "cut at %d", 6);
	assert_string_equal(f.problem, "cut at 5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_put_together),
		cmocka_unit_test(a_path_that_is_not_a_regular_file_is_refused),
		cmocka_unit_test(a_file_that_shrinks_is_an_error),
		cmocka_unit_test(the_first_problem_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
