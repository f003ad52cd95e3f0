// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/got.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct slot {
	uint64_t at;
	uint64_t value;
};

struct got {
	struct slot *slots; /* by address */
	uint32_t n, capacity;
};

/* A table that is being read. */
struct reader {
	struct got *got;
	const struct got_part *parts;
	size_t n_parts;
};

/* The address that the relocation writes; 0 if it is not in the file. */
static uint64_t value_of(const GElf_Rela *rela, Elf_Data *symbols)
{
	GElf_Sym sym;

	switch (GELF_R_TYPE(rela->r_info)) {
	case R_X86_64_RELATIVE:
		return (uint64_t)rela->r_addend;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		if (!symbols || GELF_R_SYM(rela->r_info) > INT32_MAX ||
		    !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) ||
		    sym.st_shndx == SHN_UNDEF)
			return 0;
		return sym.st_value + (uint64_t)rela->r_addend;
	default:
		return 0;
	}
}

static const struct got_part *part_of(const struct reader *r, uint64_t at)
{
	for (size_t i = 0; i < r->n_parts; i++)
		if (at - r->parts[i].addr < r->parts[i].size)
			return &r->parts[i];
	return NULL;
}

static int add_got_slot(struct reader *r, const struct slot *slot)
{
	return slot->value ? array__add(&r->got->slots, &r->got->n, &r->got->capacity, slot) : 0;
}

/* The file has the address in the slot itself. */
static int add_packed(void *arg, uint64_t place)
{
	struct reader *r = arg;
	const struct got_part *part = part_of(r, place);
	struct slot slot = {.at = place};

	if (!part || part->size - (place - part->addr) < sizeof(slot.value))
		return 0;
	memcpy(&slot.value, part->bytes + (place - part->addr), sizeof(slot.value));
	return add_got_slot(r, &slot);
}

static int read_all(struct reader *r, Elf *elf)
{
	Elf_Scn *scn = NULL;
	int err = 0;

	while (!err && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *data, *symbols = NULL;
		GElf_Shdr shdr;
		GElf_Rela rela;
		Elf_Scn *linked;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_RELR) {
			data = elf_rawdata(scn, NULL);
			if (data && data->d_buf)
				err = relr__each(data->d_buf, data->d_size, add_packed, r);
			continue;
		}
		if (shdr.sh_type != SHT_RELA || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		linked = elf_getscn(elf, shdr.sh_link);
		if (linked && gelf_getshdr(linked, &shdr) && shdr.sh_type == SHT_DYNSYM)
			symbols = elf_getdata(linked, NULL);
		for (int i = 0; data && !err && gelf_getrela(data, i, &rela); i++) {
			struct slot slot = {.at = rela.r_offset};

			if (!part_of(r, slot.at))
				continue;
			slot.value = value_of(&rela, symbols);
			err = add_got_slot(r, &slot);
		}
	}
	return err;
}

int got__read(Elf *elf, const struct got_part *parts, size_t n_parts, struct got **out)
{
	_got_ struct got *g = calloc(1, sizeof(*g));
	struct reader r = {g, parts, n_parts};

	if (!g || (n_parts && read_all(&r, elf)))
		return -ENOMEM;
	if (g->n)
		qsort(g->slots, g->n, sizeof(*g->slots), array__by_u64);
	*out = take_ptr(g);
	return 0;
}

uint64_t got__value(const struct got *g, uint64_t slot)
{
	const struct slot *s =
		g->n ? bsearch(&slot, g->slots, g->n, sizeof(*g->slots), array__by_u64) : NULL;

	return s ? s->value : 0;
}

bool got__slot(const struct got *g, uint32_t i, uint64_t *slot, uint64_t *value)
{
	if (i >= g->n)
		return false;
	*slot = g->slots[i].at;
	*value = g->slots[i].value;
	return true;
}

void got__free(struct got *g)
{
	if (!g)
		return;
	free(g->slots);
	free(g);
}

/* ---- Packed relative relocations ------------------------------------------------------------- */

#define WORD 8
/* Places of an odd word: a bit for each of the words that follow, and the lowest bit is set. */
#define PLACES 63

int relr__each(const uint8_t *table, size_t size, relr_fn each, void *arg)
{
	uint64_t word, next = 0;
	int err = 0;

	for (size_t i = 0; i + WORD <= size && !err; i += WORD) {
		memcpy(&word, table + i, WORD);
		if (word & 1) {
			if (next > UINT64_MAX - PLACES * WORD)
				break;
			for (unsigned int bit = 0; bit < PLACES && !err; bit++)
				if (word >> (bit + 1) & 1)
					err = each(arg, next + bit * WORD);
			next += PLACES * WORD;
		} else {
			if (word < next || word > UINT64_MAX - WORD)
				break;
			err = each(arg, word);
			next = word + WORD;
		}
	}
	return err;
}
