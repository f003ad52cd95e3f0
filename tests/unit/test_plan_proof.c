// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/proof.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"

#define TEXT ELF_BUILDER_TEXT_ADDR

/* Two functions, at 0 and at 16. A mov in the first one contains the bytes of a push. */
static const uint8_t text[] = {
	0x55,				    /* 0: push %rbp */
	0xb8, 0x55, 0x55, 0x55, 0x55,	    /* 1: mov $0x55555555, %eax */
	0x74, 0x02,			    /* 6: je 10 */
	0x89, 0xc0,			    /* 8: mov %eax, %eax */
	0x41, 0x54,			    /* 10: push %r12 */
	0x06,				    /* 12: no instruction */
	0x55,				    /* 13: push %rbp, after the function */
	0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, /* 16: push %rbp; mov %rsp, %rbp */
	0xff, 0xd0,			    /* 20: call *%rax */
	0xe8, 0x00, 0x00, 0x00, 0x00,	    /* 22: call */
	0x0f, 0x1f, 0x00,		    /* 27: nopl, emulated since 6.18 only */
	0x90,				    /* 30: nop */
};

static struct elf_image *image(void)
{
	static const struct elf_builder_symbol syms[] = {
		{"first", TEXT, 13, STT_FUNC, ELF_BUILDER_TEXT},
		{"second", TEXT + 16, 15, STT_FUNC, ELF_BUILDER_TEXT},
	};
	struct elf_builder b = {.text = text, .text_len = sizeof(text)};
	struct elf_image *img = NULL;

	elf_builder__build(&b, syms, 2);
	assert_int_equal(
		WITH_BYTES(b.buf, b.len, WITH_LIBRARY(path_, elf_image__read(file_, &img))), 0);
	return img;
}

static bool is_proven(uint64_t addr, uint64_t offset)
{
	_elf_image_ struct elf_image *img = image();
	struct proof_site site = {.addr = addr, .offset = offset};

	assert_int_equal(proof__check(img, &site, 1), 0);
	return site.proven;
}

static bool proven_at(unsigned int at)
{
	return is_proven(TEXT + at, ELF_BUILDER_TEXT_OFFSET + at);
}

TEST_CASE(only_instructions_that_are_emulated_are_proven)
{
	static const uint8_t good[] = {0, 6, 10, 16, 22, 30};

	for (unsigned int at = 0; at < sizeof(text) + 8; at++)
		assert_int_equal(proven_at(at), memchr(good, (int)at, sizeof(good)) != NULL);
}

TEST_CASE(the_offset_has_to_be_that_of_the_address)
{
	assert_true(is_proven(TEXT, ELF_BUILDER_TEXT_OFFSET));
	assert_false(is_proven(TEXT, ELF_BUILDER_TEXT_OFFSET + 1));
	assert_false(is_proven(TEXT, ELF_BUILDER_TEXT_OFFSET + 6));
}

TEST_CASE(an_address_outside_code_is_not_proven)
{
	static const uint64_t addrs[] = {0,
					 1,
					 TEXT - 1,
					 TEXT - ELF_BUILDER_TEXT_OFFSET,
					 TEXT + 100000,
					 UINT64_MAX,
					 UINT64_MAX - 14};

	for (size_t i = 0; i < N_OF(addrs); i++)
		assert_false(is_proven(addrs[i], ELF_BUILDER_TEXT_OFFSET));
}

/* The result for one site does not depend on others. */
TEST_CASE(each_is_judged_by_itself)
{
	_elf_image_ struct elf_image *img = image();
	struct proof_site sites[32];
	size_t n = 0, proven = 0;

	for (uint32_t at = sizeof(text); at-- > 0;)
		sites[n++] = (struct proof_site){
			.addr = TEXT + at,
			.offset = ELF_BUILDER_TEXT_OFFSET + at,
			.index = at,
		};
	assert_int_equal(proof__check(img, sites, n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sites[i].index, i);
		assert_int_equal(sites[i].proven, proven_at((unsigned int)i));
		proven += sites[i].proven;
	}
	assert_int_equal(proven, 6);
}

TEST_CASE(a_plan_that_was_just_made_is_proven)
{
	static const char *const names[] = {"driver_v0.so", "driver_legacy.so", "driver_folded.so"};

	for (size_t i = 0; i < N_OF(names); i++) {
		_library_file_ struct library_file *file = NULL;
		_elf_image_ struct elf_image *img = NULL;
		_plan_ struct plan *plan = NULL;
		uint64_t bad;

		assert_int_equal(library_file__open(fixture(names[i]), &file), 0);
		assert_int_equal(plan__build(file, NULL, &plan), 0);
		assert_int_equal(elf_image__read(file, &img), 0);
		assert_true(plan->n_sites > 0);
		assert_int_equal(proof__of_plan(img, plan, &bad), 0);
		assert_int_equal(proof__of_code(img, plan, &bad), 0);
		for (uint32_t k = 0; k < plan->n_sites; k++) {
			plan->sites[k].addr++;
			plan->sites[k].offset++;
			assert_int_equal(proof__of_plan(img, plan, &bad), -EBADMSG);
			assert_int_equal(proof__of_code(img, plan, &bad), -EBADMSG);
			plan->sites[k].addr--;
			plan->sites[k].offset--;
		}
		plan->sites[0].offset++;
		assert_int_equal(proof__of_code(img, plan, &bad), -EBADMSG);
		plan->sites[0].offset--;
		plan->code_crc ^= 1;
		assert_int_equal(proof__of_plan(img, plan, &bad), -EBADMSG);
		assert_int_equal(proof__of_code(img, plan, &bad), -EBADMSG);
	}
}

/* Symbols may have been moved, so function starts come from the unwind table. */
TEST_CASE(the_unwind_table_counts_where_there_is_one)
{
	_library_file_ struct library_file *file = NULL;
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	const uint64_t *starts;
	size_t n, n_syms;

	assert_int_equal(library_file__open("/proc/self/exe", &file), 0);
	assert_int_equal(elf_image__read(file, &img), 0);
	assert_int_equal(elf_image__starts(img, &starts, &n), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n_syms), 0);
	for (size_t i = 0; i < n_syms; i++) {
		bool found = false;

		if (strcmp(syms[i].name, "each_is_judged_by_itself"))
			continue;
		for (size_t k = 0; k < n; k++)
			found = found || starts[k] == syms[i].addr;
		assert_true(found);
	}
	/* Symbols may share an address, but no start occurs twice. */
	for (size_t i = 1; i < n; i++)
		assert_true(starts[i - 1] < starts[i]);
}

/* The section header of .eh_frame_hdr in a file in memory. */
static Elf64_Shdr *frame_header(uint8_t *file)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)file;
	Elf64_Shdr *sections = (Elf64_Shdr *)(file + ehdr->e_shoff);
	const char *names = (const char *)file + sections[ehdr->e_shstrndx].sh_offset;

	for (int i = 0; i < ehdr->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, ".eh_frame_hdr"))
			return &sections[i];
	fail();
	return NULL;
}

/* Too many rows would take long; rows out of order would need sorting. */
TEST_CASE(a_table_that_no_linker_writes_proves_nothing)
{
	_library_file_ struct library_file *file = NULL;
	_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_close_ int copy = memfd_create("frames", MFD_CLOEXEC);
	const uint64_t *starts;
	uint64_t rows[2];
	struct stat st;
	char path[32];
	uint8_t *map;
	size_t n;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(sendfile(copy, fd, NULL, (size_t)st.st_size), st.st_size);
	assert_int_equal(ftruncate(copy, 300 << 20), 0);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
	assert_true(map != MAP_FAILED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	assert_int_equal(library_file__open(path, &file), 0);
	for (int what = 0; what < 3; what++) {
		_elf_image_ struct elf_image *img = NULL;
		Elf64_Shdr *shdr = frame_header(map);
		uint8_t *table = map + shdr->sh_offset + 12;

		memcpy(rows, table, sizeof(rows));
		if (what == 1)
			memcpy(table, (uint64_t[]){rows[1], rows[0]}, sizeof(rows));
		else if (what == 2)
			shdr->sh_size = 200 << 20;
		assert_int_equal(elf_image__read(file, &img), 0);
		assert_int_equal(elf_image__starts(img, &starts, &n), what ? -EBADMSG : 0);
		memcpy(table, rows, sizeof(rows));
	}
	munmap(map, (size_t)st.st_size);
}

/* Truncating the file while it is read causes an error, not SIGBUS. */
TEST_CASE(a_file_that_is_cut_proves_nothing)
{
	_library_file_ struct library_file *file = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_plan_ struct plan *plan = NULL;
	char command[700];
	uint64_t bad;

	snprintf(command, sizeof(command), "cp %s/driver_v0.so %s/cut.so", fixture_dir,
		 fixture_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(library_file__open(fixture("cut.so"), &file), 0);
	assert_int_equal(plan__build(file, NULL, &plan), 0);
	assert_int_equal(elf_image__read(file, &img), 0);
	assert_int_equal(truncate(fixture("cut.so"), 100), 0);
	assert_true(proof__of_plan(img, plan, &bad) < 0);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
