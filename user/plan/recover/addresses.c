// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/code/opcode.h"

#define COUNT_MIN 32

/* lea with a 64-bit register, of a place relative to its end: REX.W, 8d, modrm, four bytes. */
#define LEA_SIZE 7

static bool is_lea(const uint8_t *p)
{
	return (p[0] & 0xfb) == 0x48 && opcode_is_lea_rip(p + 1);
}

static uint32_t count_in(struct elf_image *img, const struct bounds *b, const struct bound *part)
{
	size_t len;
	const uint8_t *bytes = elf_image__code(img, part->addr, &len);
	uint32_t n = 0;

	if (bytes && len > part->size)
		len = part->size;
	for (size_t i = 1; bytes && i + LEA_SIZE - 1 <= len; i++) {
		const uint8_t *found = memchr(bytes + i, OPCODE_LEA, len - LEA_SIZE + 2 - i);

		if (!found)
			break;
		i = (size_t)(found - bytes);
		if (is_lea(found - 1))
			n += bounds__starts(b, opcode_target(found + 2, part->addr + i + 6));
	}
	return n;
}

static void keep(struct address_counts *out, struct address_count c)
{
	uint32_t i = out->n < N_OF(out->items) ? out->n++ : out->n;

	if (i == N_OF(out->items) && c.count <= out->items[--i].count)
		return;
	for (; i && out->items[i - 1].count < c.count; i--)
		out->items[i] = out->items[i - 1];
	out->items[i] = c;
}

int addresses__count(struct elf_image *img, const struct bounds *b, struct address_counts *out)
{
	_free_ uint32_t *counts = calloc(b->n + 1UL, sizeof(*counts));

	*out = (struct address_counts){0};
	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t owner = b->items[i].of;

		if (owner < b->n)
			counts[owner] += count_in(img, b, &b->items[i]);
	}
	for (uint32_t i = 0; i < b->n; i++)
		if (counts[i] >= COUNT_MIN)
			keep(out, (struct address_count){b->items[i].addr, counts[i]});
	return 0;
}
