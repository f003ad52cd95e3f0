// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The process that has the files mapped is this one. */
#include "stuck/walk.h"
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include "test.h"
#include "../fixtures/cache_home.h"
#include "base/clock.h"
#include "plan/file_job.h"

#define LONG_NS 60000000000ull

static struct mapped_files maps;
static struct broker *broker;

static int setup(void **state)
{
	/* On a busy machine children may take long to answer. */
	broker_ns = LONG_NS;
	file_job_end_ns = LONG_NS;
	return cache_home_make(state) ?: broker__new(&broker);
}

static int teardown(void **state)
{
	broker__free(broker);
	return cache_home_remove(state);
}

static const struct mapped_file *mapping_of(const char *path)
{
	assert_int_equal(broker__mapped_files(broker, getpid(), &maps), 0);
	for (uint32_t i = 0; i < maps.n; i++)
		if (strstr(mapped_files__text(&maps, &maps.items[i]), path))
			return &maps.items[i];
	fail_msg("%s is not mapped", path);
	return NULL;
}

static struct walked_file *get(struct walked_files *all, const char *path)
{
	const struct mapped_file *m = mapping_of(path);

	return walked_files__get(all, getpid(), &maps, m);
}

static void wait_for_tables(struct walked_files *all)
{
	walked_files__wait(all, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
}

TEST_CASE(a_file_is_read_once)
{
	_walked_files_ struct walked_files *all = NULL;
	struct walked_file *f, *again;

	assert_int_equal(walked_files__new(broker, &all), 0);
	f = get(all, "test_stuck_walked_files");
	again = get(all, "test_stuck_walked_files");
	assert_non_null(f);
	assert_ptr_equal(f, again);
	assert_null(walked_file__table(f));
	wait_for_tables(all);
	assert_non_null(walked_file__table(f));
	assert_true(walked_file__table(f)->n_segments);
	assert_null(walked_file__symbol(f, 1));
	walked_file__release(f);
	walked_file__release(again);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	const char **to = path;

	if (strstr(info->dlpi_name, "/libc.so") || strstr(info->dlpi_name, "/libc-"))
		*to = info->dlpi_name;
	return 0;
}

/* Its path leads nowhere, but the mapping does. */
TEST_CASE(a_deleted_file_has_a_table)
{
	_walked_files_ struct walked_files *all = NULL;
	char copy[] = "/tmp/qprof-test-XXXXXX", command[256];
	const char *libc = NULL;
	struct walked_file *f;
	int fd = mkstemp(copy);
	void *map;

	dl_iterate_phdr(find_libc, &libc);
	assert_non_null(libc);
	snprintf(command, sizeof(command), "cp %s %s", libc, copy);
	assert_int_equal(system(command), 0);
	map = mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		print_message("skipped: code in /tmp cannot be mapped\n");
		unlink(copy);
		return;
	}
	unlink(copy);
	assert_int_equal(walked_files__new(broker, &all), 0);
	f = get(all, copy);
	/* Without the right to use such links, the file is lost. */
	if (f) {
		wait_for_tables(all);
		assert_non_null(walked_file__table(f));
		walked_file__release(f);
	}
	munmap(map, 1 << 20);
	close(fd);
}

TEST_CASE(the_vdso_has_a_table)
{
	_walked_files_ struct walked_files *all = NULL;
	struct walked_file *f;

	assert_int_equal(walked_files__new(broker, &all), 0);
	f = get(all, "[vdso]");
	assert_non_null(f);
	assert_non_null(walked_file__table(f));
	assert_null(walked_file__file(f));
	assert_null(walked_file__symbol(f, 0x1000));
	walked_file__release(f);
}

TEST_MAIN(setup, teardown)
