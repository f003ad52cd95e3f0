// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../bench/pctab/compare.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/go_table.h"
#include "../fixtures/output.h"
#include "../fixtures/pctabs.h"

/* Run the comparison on an executable with one function, whose table may be damaged. */
static int run(const struct pctab_compare_options *given, bool damaged, struct output *o)
{
	struct pctab_compare_options options = *given;
	struct go_table g = {.magic = GO_TABLE_1_20, .pointer_size = 8};
	_pctab_runs_ struct pctab_runs r = {};
	_close_ int fd = -1;
	char path[32];
	uint8_t *elf;
	size_t size;
	int status;

	pctabs_add(&r, 300, 7);
	go_table__build(&g, &r, 1);
	if (damaged)
		go_table__store(&g, g.records, 1, 4);
	elf = go_table_elf(g.bytes.data, g.bytes.size, ".gopclntab", &size);
	fd = elf_builder_memfd(elf, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.file = path;
	output_begin(o);
	status = pctab_compare(&options);
	output_end(o);
	free(elf);
	pctab_buffer__destroy(&g.bytes);
	return status;
}

static void sizes_are_printed(void **state)
{
	struct output o;

	assert_int_equal(run(&(struct pctab_compare_options){.no_timing = true}, false, &o),
			 EXIT_SUCCESS);
	assert_contains(o.text[0], "tables      1; 300 pcs looked up both ways, all right");
	assert_lacks(o.text[0], "ns per look-up");
	assert_string_equal(o.text[1], "");
	output_free(&o);
}

static void json_is_printed(void **state)
{
	struct output o;

	assert_int_equal(
		run(&(struct pctab_compare_options){.no_timing = true, .json = true}, false, &o),
		EXIT_SUCCESS);
	assert_contains(o.text[0], "\"schema\":\"qprof-pctab/1\"");
	assert_contains(o.text[0], "\"linear_bytes\":4,");
	assert_contains(o.text[0], "\"speed\":[]");
	output_free(&o);
}

static void damage_is_a_failure(void **state)
{
	struct output o;

	assert_int_equal(run(&(struct pctab_compare_options){.no_timing = true}, true, &o),
			 EXIT_FAILURE);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "error: function 0 of the executable is damaged");
	output_free(&o);
}

static void other_files_are_refused(void **state)
{
	struct output o;

	output_begin(&o);
	assert_int_equal(pctab_compare(&(struct pctab_compare_options){.file = "/nonexistent"}),
			 EXIT_FAILURE);
	assert_int_equal(pctab_compare(&(struct pctab_compare_options){.file = "/proc/self/exe"}),
			 EXIT_FAILURE);
	output_end(&o);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "cannot open /nonexistent: ");
	assert_contains(o.text[1], "/proc/self/exe has no Go function table; name an executable");
	output_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_printed),
		cmocka_unit_test(json_is_printed),
		cmocka_unit_test(damage_is_a_failure),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
