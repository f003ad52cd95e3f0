// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/relocated.h"

#include <elf.h>
#include <string.h>

#include "plan/symbols/got.h"

/* A place that packed relocations name: the file holds the address itself. */
struct packed {
	uint64_t at;
	bool found;
};

static int is_place(void *arg, uint64_t place)
{
	struct packed *p = arg;

	p->found = place == p->at;
	return p->found;
}

static uint64_t packed_value(const struct elf_image *img, uint64_t at)
{
	struct packed p = {.at = at};
	size_t len;
	uint64_t value = 0, addr;
	const uint8_t *table = elf_image__section_bytes(img, ".relr.dyn", &addr, &len), *bytes;

	if (table)
		relr__each(table, len, is_place, &p);
	bytes = p.found ? elf_image__bytes(img, at, &len) : NULL;
	if (bytes && len >= sizeof(value))
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The address of a symbol that this library defines, or 0. */
static uint64_t address_of(const struct elf_image *img, uint64_t symbol)
{
	size_t len;
	uint64_t addr;
	const uint8_t *symbols = elf_image__section_bytes(img, ".dynsym", &addr, &len);
	Elf64_Sym sym;

	if (!symbols || symbol >= len / sizeof(sym))
		return 0;
	memcpy(&sym, symbols + symbol * sizeof(sym), sizeof(sym));
	return sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
}

uint64_t relocated__value(const struct elf_image *img, uint64_t at)
{
	size_t len;
	uint64_t symbol, addr;
	const uint8_t *relocations = elf_image__section_bytes(img, ".rela.dyn", &addr, &len);
	Elf64_Rela r;

	for (size_t i = 0; relocations && i < len / sizeof(r); i++) {
		memcpy(&r, relocations + i * sizeof(r), sizeof(r));
		if (r.r_offset != at)
			continue;
		if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
			return (uint64_t)r.r_addend;
		if (ELF64_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT &&
		    ELF64_R_TYPE(r.r_info) != R_X86_64_64)
			return 0;
		symbol = address_of(img, ELF64_R_SYM(r.r_info));
		return symbol ? symbol + (uint64_t)r.r_addend : 0;
	}
	return packed_value(img, at);
}
