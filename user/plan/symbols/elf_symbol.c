// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/elf_symbol.h"

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

static void sort_alike(struct elf_symbol *syms, size_t n)
{
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		end = i + 1;
		while (end < n && syms[end].addr == syms[i].addr)
			end++;
		if (end - i > 1)
			qsort(&syms[i], end - i, sizeof(*syms), compare);
	}
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
	sort_alike(syms, n);
}
