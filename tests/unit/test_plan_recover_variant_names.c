// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/variant_names.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

#define DEBUG                                                                    \
	"_RNvXs8_NtNtCs7_12rustc_middle9dep_graph8dep_nodeNtB5_7DepKindNtNtCs6_" \
	"4core3fmt5Debug3fmt"
#define FIRST 4
#define N     40

/* Of a function of the assembled tests/fixtures/query_engine.s. */
static struct variant_names names_of(const char *function, struct elf_image **img)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct code code = {0};
	struct variant_names names = {.n = 1};
	const struct elf_symbol *sym;

	assert_int_equal(image_of(fixture("query_engine.so"), img), 0);
	assert_int_equal(code_decoder__new(*img, &decoder), 0);
	sym = symbol(*img, function);
	assert_int_equal(variant_names__read(*img, decoder,
					     (struct code_region){sym->addr, sym->size}, &code,
					     &names),
			 0);
	code__free(&code);
	return names;
}

static void each_number_has_its_name(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	struct variant_names names = names_of(DEBUG, &img);
	char name[16];

	assert_true(names.n >= FIRST + N);
	assert_memory_equal(names.items[0].text, "Null", 4);
	assert_int_equal(names.items[0].len, 4);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "query_%u", i + 10);
		assert_int_equal(names.items[FIRST + i].len, strlen(name));
		assert_memory_equal(names.items[FIRST + i].text, name, strlen(name));
	}
}

static void a_text_that_is_read_elsewhere_is_unknown(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	struct variant_names names = names_of(DEBUG, &img);

	assert_null(names.items[FIRST - 1].text);
}

static void a_function_without_a_switch_has_none(void **state)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(names_of("finish", &img).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_number_has_its_name),
		cmocka_unit_test(a_text_that_is_read_elsewhere_is_unknown),
		cmocka_unit_test(a_function_without_a_switch_has_none),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
