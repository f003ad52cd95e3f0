// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/preserved.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/libdw_rules.h"
#include "../fixtures/random.h"
#include "plan/file_job.h"
#include "plan/symbols/elf_image.h"

#define SECOND 1000000000ull
#define LONG   (60 * SECOND) /* on a busy machine a child may take long */

static const int numbers[CFA_PRESERVED] = {3, 12, 13, 14, 15};

static int setup(void **state)
{
	file_job_end_ns = LONG;
	return fixture_dir_setup(state);
}

static struct library_file *open_file(const char *path)
{
	struct library_file *file = NULL;

	assert_int_equal(library_file__try(path, &file), 0);
	return file;
}

/* As libdw has it; CFA_UNKNOWN: otherwise. */
static uint8_t kind_of_libdw(Dwarf_Frame *frame, int reg, int64_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &n), 0);
	if (!n)
		return ops ? CFA_UNKNOWN : CFA_SAME;
	return libdw_is_at_cfa(ops, n, offset) ? CFA_AT_CFA : CFA_UNKNOWN;
}

static void compare(const struct libdw_rules *l, uint64_t addr, const struct cfa_preserved *ours,
		    uint32_t *seen)
{
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(l->cfi, addr, &frame))
		return;
	for (int i = 0; i < CFA_PRESERVED; i++) {
		int64_t offset = 0;
		uint8_t kind = kind_of_libdw(frame, numbers[i], &offset);

		/* libdw does not know that these are preserved if nothing is said of them. */
		if (kind == CFA_UNKNOWN && ours->kind[i] == CFA_SAME)
			kind = CFA_SAME;
		assert_int_equal(ours->kind[i], kind);
		if (kind == CFA_AT_CFA)
			assert_int_equal(ours->at[i], offset);
		seen[kind]++;
	}
	free(frame);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	const char **to = path;

	if (strstr(info->dlpi_name, "/libc.so") || strstr(info->dlpi_name, "/libc-"))
		*to = info->dlpi_name;
	return 0;
}

static void they_are_where_libdw_finds_them(void **state)
{
	struct cfa_preserved found[UNWIND_PRESERVED_MAX];
	uint64_t pcs[UNWIND_PRESERVED_MAX];
	_elf_image_ struct elf_image *img = NULL;
	_library_file_ struct library_file *file = NULL;
	uint32_t seen[CFA_AT_CFA + 1] = {};
	struct elf_segment code;
	struct rng rng = rng_new();
	const char *path = NULL;
	struct libdw_rules l;

	dl_iterate_phdr(find_libc, &path);
	assert_non_null(path);
	file = open_file(path);
	assert_int_equal(elf_image__read(file, &img), 0);
	assert_int_equal(elf_image__code_segments(img, &code, 1), 1);
	for (int i = 0; i < UNWIND_PRESERVED_MAX; i++)
		pcs[i] = code.addr + rng_below(&rng, code.size);
	qsort(pcs, UNWIND_PRESERVED_MAX, sizeof(*pcs), array__by_u64);
	assert_int_equal(unwind_preserved__find(file, pcs, UNWIND_PRESERVED_MAX, LONG, found), 0);
	libdw_rules__open(&l, path);
	for (int i = 0; i < UNWIND_PRESERVED_MAX; i++)
		compare(&l, pcs[i], &found[i], seen);
	libdw_rules__close(&l);
	assert_true(seen[CFA_SAME] > 100);
	assert_true(seen[CFA_AT_CFA] > 100);
}

static void what_is_in_no_function_is_unknown(void **state)
{
	_library_file_ struct library_file *file = open_file(fixture("unwind.so"));
	struct cfa_preserved found = {.kind = {CFA_SAME}};

	assert_int_equal(unwind_preserved__find(file, &(uint64_t){8}, 1, LONG, &found), 0);
	assert_int_equal(found.kind[0], CFA_UNKNOWN);
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	_library_file_ struct library_file *file = open_file("/proc/self/status");
	struct cfa_preserved found = {.kind = {CFA_SAME}};

	assert_true(unwind_preserved__find(file, &(uint64_t){8}, 1, LONG, &found) < 0);
	assert_int_equal(found.kind[0], CFA_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_where_libdw_finds_them),
		cmocka_unit_test(what_is_in_no_function_is_unknown),
		cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, setup, fixture_dir_teardown);
}
