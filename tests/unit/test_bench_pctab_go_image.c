// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds a function table in a file. test_bench_pctab_gopclntab.c tests the parser. */

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/go_table.h"
#include "../fixtures/output.h"
#include "../fixtures/pctabs.h"
#include "../bench/pctab/gopclntab.h"

static struct go_table make(uint32_t magic)
{
	struct go_table g = {.magic = magic, .pointer_size = 8};
	_pctab_runs_ struct pctab_runs r = {};

	pctabs_add(&r, 40, 7);
	go_table__build(&g, &r, 1);
	return g;
}

/* Open the bytes as a file. The messages go to `text`, which the caller frees. */
static int open_bytes(const uint8_t *bytes, size_t size, struct go_image **image, char **text)
{
	_close_ int fd = elf_builder_memfd(bytes, size);
	struct output o;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	output_begin(&o);
	err = go_image__open(path, image);
	output_end(&o);
	assert_string_equal(o.text[0], "");
	*text = strdup(o.text[1]);
	output_free(&o);
	return err;
}

/* The section holds `before` bytes that resemble a table, then the table. */
static void assert_found(const char *section, size_t before)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_20);
	_pctab_buffer_ struct pctab_buffer all = {};
	_go_image_ struct go_image *image = NULL;
	struct gopclntab_function f;
	uint8_t *elf;
	size_t size;
	char *text;

	for (size_t i = 0; i < before; i++)
		assert_int_equal(pctab_buffer__append(&all, i % 5 ? "\xff" : "\xf1", 1), 0);
	assert_int_equal(pctab_buffer__append(&all, g.bytes.data, g.bytes.size), 0);
	elf = go_table_elf(all.data, all.size, section, &size);
	assert_int_equal(open_bytes(elf, size, &image, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(image->table.n_functions, 1);
	assert_int_equal(gopclntab__function(&image->table, 0, &f), 0);
	assert_string_equal(f.name, "f0");
	free(elf);
	free(text);
}

TEST_CASE(the_table_is_found)
{
	assert_found(".gopclntab", 0);
	assert_found(".data.rel.ro.gopclntab", 0);
	assert_found(".data.rel.ro", 0);
	assert_found(".data.rel.ro", 64);
	assert_found(".data.rel.ro", 4444);
}

static void assert_refused(const uint8_t *bytes, size_t size, const char *says)
{
	_go_image_ struct go_image *image = NULL;
	char *text;

	assert_int_equal(open_bytes(bytes, size, &image, &text),
			 strstr(says, "no Go") ? -ENOENT : -ENOEXEC);
	assert_contains(text, says);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
}

/* An ELF file with the first `size` bytes of the table in a section. */
static void assert_section_refused(const struct go_table *g, size_t size, const char *section,
				   const char *says)
{
	size_t elf_size;
	_free_ uint8_t *elf = go_table_elf(g->bytes.data, size, section, &elf_size);

	assert_refused(elf, elf_size, says);
}

TEST_CASE(files_without_one_are_reported)
{
	_go_table_ struct go_table g = make(0xfffffffa), sound = make(GO_TABLE_1_18);

	assert_refused((const uint8_t *)"", 0, "too short");
	assert_refused((const uint8_t *)"#!/bin/sh\nexit 0\n", 17, "not an ELF file");
	assert_section_refused(&sound, sound.bytes.size, ".rodata", "no Go function table");
	assert_section_refused(&g, g.bytes.size, ".gopclntab", "before 1.18");
	assert_section_refused(&g, g.bytes.size, ".data.rel.ro", "no Go function table");
	assert_section_refused(&sound, 70, ".gopclntab", "cut short");
	go_table__store(&sound, sound.functab + 8, 100000, 4);
	assert_section_refused(&sound, sound.bytes.size, ".gopclntab", "longer than the file");
}

TEST_CASE(files_that_are_none_are_reported)
{
	struct go_image *image = NULL;
	struct output o;

	output_begin(&o);
	assert_int_equal(go_image__open("/nonexistent/go", &image), -ENOENT);
	assert_int_equal(go_image__open("/dev/null", &image), -ENOEXEC);
	output_end(&o);
	assert_contains(o.text[1], "/nonexistent/go: No such file");
	assert_contains(o.text[1], "/dev/null is not a regular file");
	assert_null(image);
	output_free(&o);
}

TEST_CASE(cut_and_flipped_files_do_no_harm)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_20);
	size_t size;
	uint8_t *elf = go_table_elf(g.bytes.data, g.bytes.size, ".gopclntab", &size);
	struct output o;

	output_begin(&o);
	for (size_t i = 0; i < size + 8 * size; i += 3) {
		_close_ int fd = -1;
		struct go_image *image = NULL;
		char path[32];

		if (i >= size)
			elf[(i - size) / 8] ^= (uint8_t)(1 << i % 8);
		fd = elf_builder_memfd(elf, i < size ? i : size);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		go_image__open(path, &image);
		go_image__free(image);
		if (i >= size)
			elf[(i - size) / 8] ^= (uint8_t)(1 << i % 8);
	}
	output_end(&o);
	output_free(&o);
	free(elf);
}

TEST_MAIN(NULL, NULL)
