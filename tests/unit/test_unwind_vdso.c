// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

#include "test.h"
#include "../fixtures/cfa_runs.h"

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

static void its_functions_have_rules(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_functions_have_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
