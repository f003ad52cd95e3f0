// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../bench/pctab/compare.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/go_table.h"
#include "../fixtures/output.h"
#include "../fixtures/pctabs.h"

/* The output of the last comparison; the next one frees it. */
static struct output o;

/* Run the comparison on an executable with one function, whose table may be damaged. */
static int run(bool json, bool damaged)
{
	struct pctab_compare_options options = {.no_timing = true, .json = json};
	_go_table_ struct go_table g = {};
	_pctab_runs_ struct pctab_runs r = {};
	_free_ uint8_t *elf = NULL;
	_close_ int fd = -1;
	char path[32];
	size_t size;
	int status;

	pctabs_add(&r, 300, 7);
	g = go_table_of(&r, 1);
	if (damaged)
		go_table__store(&g, g.records, 1, 4);
	elf = go_table_elf(g.bytes.data, g.bytes.size, ".gopclntab", &size);
	fd = elf_builder_memfd(elf, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.file = path;
	output_free(&o);
	output_begin(&o);
	status = pctab_compare(&options);
	output_end(&o);
	return status;
}

TEST_CASE(sizes_are_printed)
{
	assert_int_equal(run(false, false), EXIT_SUCCESS);
	assert_contains(o.text[0], "tables      1; 300 pcs looked up both ways, all right");
	assert_lacks(o.text[0], "ns per look-up");
	assert_string_equal(o.text[1], "");
}

TEST_CASE(json_is_printed)
{
	assert_int_equal(run(true, false), EXIT_SUCCESS);
	assert_contains(o.text[0], "\"schema\":\"qprof-pctab/1\"");
	assert_contains(o.text[0], "\"linear_bytes\":4,");
	assert_contains(o.text[0], "\"speed\":[]");
}

TEST_CASE(damage_is_a_failure)
{
	assert_int_equal(run(false, true), EXIT_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "error: function 0 of the executable is damaged");
}

TEST_CASE(other_files_are_refused)
{
	output_free(&o);
	output_begin(&o);
	assert_int_equal(pctab_compare(&(struct pctab_compare_options){.file = "/nonexistent"}),
			 EXIT_FAILURE);
	assert_int_equal(pctab_compare(&(struct pctab_compare_options){.file = "/proc/self/exe"}),
			 EXIT_FAILURE);
	output_end(&o);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "cannot open /nonexistent: ");
	assert_contains(o.text[1], "/proc/self/exe has no Go function table; name an executable");
}

TEST_MAIN(NULL, NULL)
