// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/input.h"

#include <sys/mman.h>

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"

struct image {
	struct library_file *file;
	struct elf_image *img;
};

static void image__open(struct image *i, const char *path)
{
	assert_int_equal(library_file__try(path, &i->file), 0);
	assert_int_equal(elf_image__map(i->file, &i->img), 0);
}

static void image__close(struct image *i)
{
	elf_image__free(i->img);
	library_file__free(i->file);
}

static void the_parts_of_a_file_are_found(void **state)
{
	struct unwind_input in;
	uint64_t addr, size;
	struct image i;

	image__open(&i, fixture("unwind.so"));
	assert_int_equal(unwind_input__find(i.img, &in), 0);
	assert_true(elf_image__section(i.img, ".eh_frame", &addr, &size));
	assert_int_equal(in.frame.addr, addr);
	assert_int_equal(in.frame.size, size);
	assert_non_null(in.frame.data);
	assert_true(in.n_segments >= 1);
	assert_int_equal(in.n_plts, 2);
	assert_true(elf_image__section(i.img, ".plt", &addr, &size));
	assert_int_equal(in.plts[0].start, addr);
	assert_int_equal(in.plts[0].length, size);
	assert_true(elf_image__section(i.img, ".text", &addr, &size));
	assert_true(addr >= in.segments[0].addr);
	assert_true(addr + size <= in.segments[0].addr + in.segments[0].size);
	image__close(&i);
}

/* Files whose headers are damaged, from a description with one segment. */
static int find_in(const struct elf_builder *b, struct unwind_input *in)
{
	int fd = elf_builder_memfd(b->buf, b->len), err;
	char path[64];
	struct image i;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	image__open(&i, path);
	err = unwind_input__find(i.img, in);
	image__close(&i);
	close(fd);
	return err;
}

static void a_file_without_unwind_information_has_none(void **state)
{
	struct elf_builder b = {};
	struct unwind_input in;

	elf_builder__build(&b, NULL, 0);
	assert_int_equal(find_in(&b, &in), -ENODATA);
}

/* Name the section .comment, which nothing needs, ".eh_frame". */
static void make_frame(struct elf_builder *b, uint64_t addr, uint64_t size, uint32_t type)
{
	Elf64_Shdr names, frame;

	elf_builder__build(b, NULL, 0);
	names = elf_builder__get(b, ELF_BUILDER_SHSTRTAB);
	frame = elf_builder__get(b, ELF_BUILDER_COMMENT);
	memcpy(b->buf + names.sh_offset + frame.sh_name, ".eh_frame", 10);
	frame.sh_type = type;
	frame.sh_flags = SHF_ALLOC;
	frame.sh_addr = addr;
	frame.sh_size = size;
	elf_builder__put(b, ELF_BUILDER_COMMENT, frame);
}

static void a_section_ends_with_its_segment(void **state)
{
	struct elf_builder b = {};
	struct unwind_input in;

	make_frame(&b, ELF_BUILDER_TEXT_ADDR + 32, 16, SHT_PROGBITS);
	assert_int_equal(find_in(&b, &in), 0);
	assert_int_equal(in.frame.size, 16);
	b = (struct elf_builder){};
	make_frame(&b, ELF_BUILDER_TEXT_ADDR + 32, 1 << 20, SHT_PROGBITS);
	assert_int_equal(find_in(&b, &in), 0);
	assert_int_equal(in.frame.size, ELF_BUILDER_TEXT_SIZE - 32);
	/* The type that some assemblers give it. */
	b = (struct elf_builder){};
	make_frame(&b, ELF_BUILDER_TEXT_ADDR, 16, SHT_X86_64_UNWIND);
	assert_int_equal(find_in(&b, &in), 0);
}

static void a_section_that_is_not_there_is_none(void **state)
{
	struct elf_builder b = {};
	struct unwind_input in;

	make_frame(&b, 0x1000, 16, SHT_PROGBITS);
	assert_int_equal(find_in(&b, &in), -ENODATA);
	b = (struct elf_builder){};
	make_frame(&b, ELF_BUILDER_TEXT_ADDR, 16, SHT_NOBITS);
	assert_int_equal(find_in(&b, &in), -ENODATA);
	b = (struct elf_builder){};
	make_frame(&b, ELF_BUILDER_TEXT_ADDR, UINT64_MAX, SHT_PROGBITS);
	assert_int_equal(find_in(&b, &in), -EFBIG);
	b = (struct elf_builder){};
	make_frame(&b, ELF_BUILDER_TEXT_ADDR, EH_FRAME_SIZE_MAX + 1ull, SHT_PROGBITS);
	assert_int_equal(find_in(&b, &in), -EFBIG);
}

/* Program headers in place of the one that the builder has made, at the end of the file. */
static void add_segments(struct elf_builder *b, uint64_t distance, uint16_t n)
{
	Elf64_Phdr phdrs[UNWIND_SEGMENTS_MAX + 1];
	Elf64_Ehdr ehdr;

	memcpy(&ehdr, b->buf, sizeof(ehdr));
	for (uint16_t i = 0; i < n; i++) {
		memcpy(&phdrs[i], b->buf + ehdr.e_phoff, sizeof(*phdrs));
		phdrs[i].p_vaddr += i * distance;
	}
	ehdr.e_phoff = elf_builder__append(b, phdrs, n * sizeof(*phdrs), 8);
	ehdr.e_phnum = n;
	memcpy(b->buf, &ehdr, sizeof(ehdr));
}

static int find_with_segments(uint64_t distance, uint16_t n, struct unwind_input *in)
{
	struct elf_builder b = {};

	make_frame(&b, ELF_BUILDER_TEXT_ADDR, 16, SHT_PROGBITS);
	add_segments(&b, distance, n);
	return find_in(&b, in);
}

static void code_may_not_be_everywhere(void **state)
{
	struct unwind_input in;

	assert_int_equal(find_with_segments(1 << 20, UNWIND_SEGMENTS_MAX, &in), 0);
	assert_int_equal(in.n_segments, UNWIND_SEGMENTS_MAX);
	assert_int_equal(in.segments[3].addr, ELF_BUILDER_ADDR + (3 << 20));
	assert_int_equal(find_with_segments(1 << 20, UNWIND_SEGMENTS_MAX + 1, &in), -EFBIG);
	assert_int_equal(find_with_segments(0xfffe0000, 2, &in), 0);
	assert_int_equal(find_with_segments(0x100000000, 2, &in), -EFBIG);
	assert_int_equal(find_with_segments(INT64_MAX - (1 << 20), 2, &in), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_file_are_found),
		cmocka_unit_test(a_file_without_unwind_information_has_none),
		cmocka_unit_test(a_section_ends_with_its_segment),
		cmocka_unit_test(a_section_that_is_not_there_is_none),
		cmocka_unit_test(code_may_not_be_everywhere),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
