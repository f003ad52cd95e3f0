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
	struct go_table g = make(GO_TABLE_1_20);
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
	pctab_buffer__destroy(&g.bytes);
}

static void the_table_is_found(void **state)
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

static void files_without_one_are_reported(void **state)
{
	struct go_table g = make(0xfffffffa), sound = make(GO_TABLE_1_18);
	uint8_t *elf;
	size_t size;

	assert_refused((const uint8_t *)"", 0, "too short");
	assert_refused((const uint8_t *)"#!/bin/sh\nexit 0\n", 17, "not an ELF file");
	elf = go_table_elf(sound.bytes.data, sound.bytes.size, ".rodata", &size);
	assert_refused(elf, size, "no Go function table");
	free(elf);
	elf = go_table_elf(g.bytes.data, g.bytes.size, ".gopclntab", &size);
	assert_refused(elf, size, "before 1.18");
	free(elf);
	elf = go_table_elf(g.bytes.data, g.bytes.size, ".data.rel.ro", &size);
	assert_refused(elf, size, "no Go function table");
	free(elf);
	elf = go_table_elf(sound.bytes.data, 70, ".gopclntab", &size);
	assert_refused(elf, size, "cut short");
	free(elf);
	go_table__store(&sound, sound.functab + 8, 100000, 4);
	elf = go_table_elf(sound.bytes.data, sound.bytes.size, ".gopclntab", &size);
	assert_refused(elf, size, "longer than the file");
	free(elf);
	pctab_buffer__destroy(&g.bytes);
	pctab_buffer__destroy(&sound.bytes);
}

static void files_that_are_none_are_reported(void **state)
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

static void cut_and_flipped_files_do_no_harm(void **state)
{
	struct go_table g = make(GO_TABLE_1_20);
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
	pctab_buffer__destroy(&g.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_found),
		cmocka_unit_test(files_without_one_are_reported),
		cmocka_unit_test(files_that_are_none_are_reported),
		cmocka_unit_test(cut_and_flipped_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
