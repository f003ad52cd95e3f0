// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/known_symbols.h"

#include <errno.h>

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"

#define TEXT ELF_BUILDER_TEXT_ADDR
#define FUNC(n, a)                                  \
	{                                           \
		n, a, 8, STT_FUNC, ELF_BUILDER_TEXT \
	}
#define WRAPPER                                                                                 \
	"_RNvNtNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl6typeck22execute_query_non_incr" \
	"26___rust_end_short_backtrace"

static struct elf_image *image(const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {0};
	struct elf_image *img = NULL;

	elf_builder__build(&b, syms, n);
	assert_int_equal(image_of_bytes(b.buf, b.len, &img), 0);
	return img;
}

static void only_known_names_are_kept_by_address(void **state)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC(WRAPPER ".cold", TEXT + 16),
		FUNC("main", TEXT + 24),
		FUNC("__rust_panic_cleanup", TEXT + 8),
		FUNC(WRAPPER, TEXT),
	};
	_elf_image_ struct elf_image *img = image(syms, N_OF(syms));
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(img, &known), 0);
	assert_int_equal(known.n, 3);
	assert_int_equal(known.items[0].sym->addr, TEXT);
	assert_int_equal(known.items[0].info.kind, NAME_WRAPPER_NON_INCR);
	assert_int_equal(known.items[0].info.part, NAME_PART_ENTRY);
	assert_int_equal(known.items[1].sym->addr, TEXT + 8);
	assert_int_equal(known.items[1].info.kind, NAME_PANIC_CLEANUP);
	assert_int_equal(known.items[2].info.kind, NAME_WRAPPER_NON_INCR);
	assert_int_equal(known.items[2].info.part, NAME_PART_COLD);
}

static void a_library_without_symbols(void **state)
{
	_elf_image_ struct elf_image *img = image(NULL, 0);
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(img, &known), -ENODATA);
	assert_int_equal(known.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_known_names_are_kept_by_address),
		cmocka_unit_test(a_library_without_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
