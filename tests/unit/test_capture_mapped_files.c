// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "capture/broker.h"
#include "test.h"
#include "../fixtures/ended_child.h"
#include "../fixtures/rows.h"

static struct mapped_files found;

static void parse(const char *text, size_t size)
{
	_fclose_ FILE *f = fmemopen((void *)(uintptr_t)text, size, "r");

	assert_non_null(f);
	assert_int_equal(mapped_files__parse(f, getpid(), &found), 0);
}

/* A file of our own that is mapped as code, twice. */
struct mapping {
	char path[32];
	uint8_t *at;
	size_t size;
};

static void map(struct mapping *m)
{
	_close_ int fd = -1;

	m->size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	strcpy(m->path, "/tmp/qprof-mapped-XXXXXX");
	fd = mkstemp(m->path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4 * (off_t)m->size), 0);
	m->at = mmap(NULL, m->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)m->size);
	assert_ptr_not_equal(m->at, MAP_FAILED);
}

static void unmap(struct mapping *m)
{
	munmap(m->at, m->size);
	unlink(m->path);
}

static const struct mapped_file *find(const void *start)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].start == (uintptr_t)start)
			return &found.items[i];
	return NULL;
}

TEST_CASE(a_mapping_has_its_place_and_its_file)
{
	const struct mapped_file *f;
	struct mapping m;
	struct stat st;

	map(&m);
	assert_int_equal(mapped_files__read(getpid(), &found), 0);
	f = find(m.at);
	assert_non_null(f);
	assert_int_equal(f->end, (uintptr_t)m.at + m.size);
	assert_int_equal(f->offset, m.size);
	assert_string_equal(mapped_files__text(&found, f), m.path);
	assert_int_equal(stat(m.path, &st), 0);
	assert_pairs(f->id.dev, st.st_dev, f->id.ino, st.st_ino, f->id.size, st.st_size);
	unmap(&m);
	for (uint32_t i = 1; i < found.n; i++)
		assert_true(found.items[i].start >= found.items[i - 1].end);
}

TEST_CASE(the_vdso_is_no_file)
{
	unsigned int n = 0;

	assert_int_equal(mapped_files__read(getpid(), &found), 0);
	for (uint32_t i = 0; i < found.n; i++) {
		if (strcmp(mapped_files__text(&found, &found.items[i]), "[vdso]"))
			continue;
		n++;
		assert_int_equal(found.items[i].id.ino, 0);
	}
	assert_int_equal(n, 1);
}

TEST_CASE(the_child_opens_the_mapped_file)
{
	_library_file_ struct library_file *file = NULL;
	_broker_ struct broker *l = NULL;
	const struct mapped_file *f;
	struct mapped_file other;
	struct mapping m;

	map(&m);
	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__mapped_files(l, getpid(), &found), 0);
	f = find(m.at);
	assert_non_null(f);
	assert_int_equal(broker__mapped_file(l, getpid(), &found, f, &file), 0);
	assert_string_equal(library_file__path(file), m.path);
	assert_true(library_file__is_inode(file, f->id.dev, f->id.ino));
	other = *f;
	other.id.ino++;
	library_file__free(take_ptr(file));
	assert_int_equal(broker__mapped_file(l, getpid(), &found, &other, &file), -ESTALE);
	assert_null(file);
	unmap(&m);
}

TEST_CASE(a_process_that_is_gone_has_none)
{
	_broker_ struct broker *l = NULL;
	pid_t pid = ended_child();

	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__mapped_files(l, pid, &found), -ESRCH);
}

TEST_CASE(only_code_of_files_counts)
{
	static const char text[] =
		"7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
		"7f0000001000-7f0000002000 rw-p 00000000 08:01 12  /bin/x\n"
		"7f0000002000-7f0000003000 r-xp 00000000 00:00 0   [uprobes]\n"
		"7f0000003000-7f0000004000 r-xs 00000000 00:0e 13  anon_inode:y\n"
		"garbage\n"
		"7f0000004000-\n"
		"7f0000004000-7f0000005000 r-x\n";

	parse(text, sizeof(text) - 1);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.n_lost, 0);
}

TEST_CASE(a_file_that_is_not_there_is_lost)
{
	static const char text[] = "7000-8000 r-xp 00000000 08:01 12                         "
				   "/no/such/file (deleted)\n";

	parse(text, sizeof(text) - 1);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.n_lost, 1);
}

/* Of the vdso, as it needs no file. */
TEST_CASE(more_than_there_is_room_for_are_counted)
{
	_free_ char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (uint64_t i = 0; i < MAPPED_FILES_MAX + 5; i++)
		fprintf(f, "%lx-%lx r-xp 00000000 00:00 0 [vdso]\n", (i + 1) << 12, (i + 2) << 12);
	fclose(f);
	parse(text, size);
	assert_int_equal(found.n, MAPPED_FILES_MAX);
	assert_int_equal(found.n_lost, 5);
}

TEST_CASE(endless_text_ends)
{
	_free_ char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size), *maps;

	for (int i = 0; i < 100001; i++)
		fputs("1-2 rw-p 0 0 0\n", f);
	fclose(f);
	maps = fmemopen(text, size, "r");
	assert_int_equal(mapped_files__parse(maps, getpid(), &found), -ETIME);
	fclose(maps);
}

TEST_MAIN(NULL, NULL)
