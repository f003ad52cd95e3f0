// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/elf_symbol.h"

#include <elf.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DIGIT_BITS 16
#define DIGITS	   (1u << DIGIT_BITS)

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static uint32_t digit(const struct elf_symbol *sym, unsigned int shift)
{
	return (uint32_t)(sym->addr >> shift) & (DIGITS - 1);
}

/* Whether two of the addresses differ in this digit or a higher one. */
static bool differ_from(const struct elf_symbol *syms, size_t n, unsigned int shift)
{
	for (size_t i = 1; i < n; i++)
		if (syms[i].addr >> shift != syms[0].addr >> shift)
			return true;
	return false;
}

/* `at` is zeroed, by digit. What has the same digit keeps its order. */
static void sort_by_digit(struct elf_symbol *to, const struct elf_symbol *from, size_t n,
			  unsigned int shift, uint32_t *at)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		at[digit(&from[i], shift)]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[digit(&from[i], shift)]++] = from[i];
}

void elf_symbols__sort(struct elf_symbol *syms, size_t n)
{
	_free_ struct elf_symbol *other = n <= UINT32_MAX ? calloc(n + 1, sizeof(*other)) : NULL;
	_free_ uint32_t *at = malloc(DIGITS * sizeof(*at));

	if (!other || !at) {
		qsort(syms, n, sizeof(*syms), compare);
		return;
	}
	for (unsigned int shift = 0; shift < 64 && differ_from(syms, n, shift);
	     shift += DIGIT_BITS) {
		memset(at, 0, DIGITS * sizeof(*at));
		sort_by_digit(other, syms, n, shift, at);
		memcpy(syms, other, n * sizeof(*syms));
	}
	/* Then those of one address. */
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && syms[end].addr == syms[i].addr;)
			end++;
		if (end - i > 1)
			qsort(&syms[i], end - i, sizeof(*syms), compare);
	}
}

/* ---- The build-id ---------------------------------------------------------------------------- */

uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t most)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		size_t off = 0, name_off, desc_off;
		const char *buf;
		GElf_Nhdr nhdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(scn, NULL);
		buf = data ? data->d_buf : NULL;
		while (buf && (off = gelf_getnote(data, off, &nhdr, &name_off, &desc_off)) > 0) {
			if (nhdr.n_type != NT_GNU_BUILD_ID ||
			    nhdr.n_namesz != sizeof(ELF_NOTE_GNU) ||
			    memcmp(buf + name_off, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
				continue;
			if (!nhdr.n_descsz || nhdr.n_descsz > most)
				break;
			memcpy(id, buf + desc_off, nhdr.n_descsz);
			return nhdr.n_descsz;
		}
	}
	return 0;
}
