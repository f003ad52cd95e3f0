// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/dynsym.h"

#include <errno.h>
#include <string.h>

int dynsym__recover(struct elf_image *img, struct recovered *out)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__any_symbols(img, &syms, &n);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		err = recovered__add(out, syms[i].addr, syms[i].name);
	return err;
}

uint64_t dynsym__function(struct elf_image *img, const char *part)
{
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strstr(syms[i].name, part) && !syms[i].name[syms[i].base_len])
			return syms[i].addr;
	return 0;
}
