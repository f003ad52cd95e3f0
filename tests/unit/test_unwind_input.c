// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/input.h"
#include "unwind/job.h"

#include <sys/mman.h>
#include <elf.h>
#include <sys/auxv.h>

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/cfa_runs.h"
#include "../fixtures/rows.h"

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

TEST_CASE(the_parts_of_a_file_are_found)
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

TEST_CASE(a_file_without_unwind_information_has_none)
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

TEST_CASE(a_section_ends_with_its_segment_or_is_none)
{
	static const struct {
		const char *name;
		uint64_t addr, size;
		uint32_t type;
		int err;
		uint64_t found;
	} rows[] = {
		{"whole", ELF_BUILDER_TEXT_ADDR + 32, 16, SHT_PROGBITS, 0, 16},
		{"longer than its segment", ELF_BUILDER_TEXT_ADDR + 32, 1 << 20, SHT_PROGBITS, 0,
		 ELF_BUILDER_TEXT_SIZE - 32},
		/* The type that some assemblers give it. */
		{"unwind", ELF_BUILDER_TEXT_ADDR, 16, SHT_X86_64_UNWIND, 0, 16},
		{"elsewhere", 0x1000, 16, SHT_PROGBITS, -ENODATA, 0},
		{"without bytes", ELF_BUILDER_TEXT_ADDR, 16, SHT_NOBITS, -ENODATA, 0},
		{"endless", ELF_BUILDER_TEXT_ADDR, UINT64_MAX, SHT_PROGBITS, -EFBIG, 0},
		{"large", ELF_BUILDER_TEXT_ADDR, EH_FRAME_SIZE_MAX + 1ull, SHT_PROGBITS, -EFBIG, 0},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct elf_builder b = {};
		struct unwind_input in;

		make_frame(&b, rows[i].addr, rows[i].size, rows[i].type);
		row_equal(rows[i].name, find_in(&b, &in), rows[i].err);
		if (!rows[i].err)
			row_equal(rows[i].name, in.frame.size, rows[i].found);
	}
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

TEST_CASE(code_may_not_be_everywhere)
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

/* ---- Plt ------------------------------------------------------------------------------------- */

#define START 0x4000u

#define FIRST	  "\xff\x35\1\2\3\4\xff\x25\1\2\3\4\x0f\x1f\x40\0"
#define FIRST_BND "\xff\x35\1\2\3\4\xf2\xff\x25\1\2\3\4\x0f\x1f\0"
#define ENTRY	  "\xff\x25\1\2\3\4\x68\1\0\0\0\xe9\1\2\3\4"
#define ENTRY_IBT "\xf3\x0f\x1e\xfa\x68\1\0\0\0\xf2\xe9\1\2\3\4\x90"
#define JUMP	  "\xff\x25\1\2\3\4\x66\x90"
#define JUMP_IBT  "\xf3\x0f\x1e\xfa\xff\x25\1\2\3\4\x66\x0f\x1f\x44\0\0"
#define JUMP_BND  "\xf3\x0f\x1e\xfa\xf2\xff\x25\1\2\3\4\x0f\x1f\x44\0\0"

/* The runs of a table with this code, up to `length`. */
static struct cfa_runs runs_of(const char *code, size_t n, uint64_t start, uint64_t length)
{
	const struct unwind_plt plt = {start, n, (const uint8_t *)code};
	struct cfa_runs r = {};

	assert_int_equal(unwind_plt__run(&plt, start + length, cfa_runs__add, &r), 0);
	return r;
}

#define RUNS_OF(code) runs_of(code, sizeof(code) - 1, START, sizeof(code) - 1)

TEST_CASE(entries_have_the_rules_of_their_kind)
{
	struct cfa_runs r = RUNS_OF(FIRST ENTRY ENTRY);

	/* Entries that push have a first one. */
	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 48, PLT_RULE(11)});
	r = RUNS_OF(FIRST_BND ENTRY_IBT ENTRY_IBT);
	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 48, PLT_RULE(9)});
	/* Entries that jump push nothing. */
	r = RUNS_OF(JUMP JUMP);
	assert_runs(&r, {START, START + 16, RSP_RULE(8)});
	r = RUNS_OF(JUMP_IBT JUMP_IBT);
	assert_runs(&r, {START, START + 32, RSP_RULE(8)});
	r = RUNS_OF(JUMP_BND);
	assert_runs(&r, {START, START + 16, RSP_RULE(8)});
	/* Runs end where they must: a function that is described begins within. */
	r = runs_of(FIRST ENTRY ENTRY, 48, START, 20);
	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 20, PLT_RULE(11)});
	r = runs_of(FIRST ENTRY ENTRY, 48, START, 3);
	assert_runs(&r, {START, START + 3, RSP_RULE(16)});
}

TEST_CASE(other_code_has_no_rule)
{
	assert_int_equal(RUNS_OF("\x90\x90\x90\x90\x90\x90\x90\x90").n, 0);
	assert_int_equal(RUNS_OF(FIRST JUMP JUMP).n, 0);
	assert_int_equal(RUNS_OF(FIRST JUMP_IBT).n, 0);
	/* Shorter than what it has to be compared with. */
	assert_int_equal(RUNS_OF(FIRST).n, 0);
	assert_int_equal(RUNS_OF(FIRST "\xff\x25\1\2\3\4").n, 0);
	assert_int_equal(RUNS_OF("\xff").n, 0);
	assert_int_equal(runs_of("", 0, START, 0).n, 0);
	/* The rule looks at the low bits of the pc. */
	assert_int_equal(runs_of(FIRST ENTRY, 32, START + 8, 32).n, 0);
}

TEST_CASE(an_error_of_the_caller_is_returned)
{
	const struct unwind_plt plt = {START, 48, (const uint8_t *)FIRST ENTRY ENTRY};
	struct cfa_runs r = {.fail_at = 2};

	assert_int_equal(unwind_plt__run(&plt, START + 48, cfa_runs__add, &r), -ENOMEM);
	assert_int_equal(r.n, 2);
}

/* ---- Vdso ------------------------------------------------------------------------------------ */

/* The address of a function of the vDSO, from its own symbols; 0 if there is none. */
static uint64_t find_function(const uint8_t *vdso, const char *name)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)vdso;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(vdso + ehdr->e_shoff);

	for (int i = 0; i < ehdr->e_shnum; i++) {
		const Elf64_Sym *syms = (const Elf64_Sym *)(vdso + sections[i].sh_offset);
		const char *names = (const char *)vdso + sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		for (uint64_t k = 0; k < sections[i].sh_size / sizeof(*syms); k++)
			if (!strcmp(names + syms[k].st_name, name))
				return syms[k].st_value;
	}
	return 0;
}

TEST_CASE(its_functions_have_rules)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	_unwind_table_ struct unwind_table *t = NULL;
	uint64_t addr;

	if (!vdso)
		skip();
	addr = find_function(vdso, "__vdso_clock_gettime");
	assert_int_not_equal(addr, 0);
	assert_int_equal(unwind_vdso__table(&t), 0);
	assert_true(t->functions > 2);
	assert_int_equal(t->unreadable, 0);
	/* Nothing has been pushed at the start of a function. */
	assert_rule(unwind_table__rule(t, addr), RSP_RULE(8));
	assert_rule(unwind_table__rule(t, 0), NO_RULE);
	assert_int_equal(t->n_segments, 1);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
