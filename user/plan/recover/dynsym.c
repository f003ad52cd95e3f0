// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/dynsym.h"

#include <errno.h>

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
