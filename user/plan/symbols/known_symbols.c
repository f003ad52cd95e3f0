// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/known_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* rustc 1.97 has 4,000. */
#define KNOWN_MOST (1u << 16)

int known_symbols__find(struct elf_image *img, struct known_symbols *out)
{
	const struct elf_symbol *syms;
	size_t n;
	int err;

	*out = (struct known_symbols){0};
	err = elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; i < n && !err; i++) {
		struct known_symbol known = {.sym = &syms[i]};

		name_classify(syms[i].name, &known.info);
		if (known.info.kind != NAME_OTHER)
			err = out->n == KNOWN_MOST
				      ? -EFBIG
				      : array__add(&out->items, &out->n, &out->capacity, &known);
	}
	return err;
}

void known_symbols__destroy(struct known_symbols *k)
{
	free(k->items);
	*k = (struct known_symbols){0};
}
