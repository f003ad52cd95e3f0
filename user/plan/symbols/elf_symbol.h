/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A symbol of a file, and the order in which one is found by its address. */
#ifndef QPROF_PLAN_SYMBOLS_ELF_SYMBOL_H
#define QPROF_PLAN_SYMBOLS_ELF_SYMBOL_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbol {
	uint64_t addr;
	uint64_t size;
	const char *name; /* NUL-terminated; the image owns it */
	/*
	 * Of the name without the suffix of a part that was split off a function: ".cold", ".warm"
	 * and what follows it. Parts of one function share it. Names are long, and there are
	 * 100,000, so the hash (map_hash()) is compared first. elf_image__any_symbols() leaves both
	 * 0.
	 */
	uint32_t base_len;
	uint32_t base_hash;
};

/*
 * By address; of the same address the longest first, then by where the name is in memory: comparing
 * names can take very long. By digits of the address, as there are 100,000 symbols and more: a
 * compiler may end before comparisons have sorted them.
 */
void elf_symbols__sort(struct elf_symbol *syms, size_t n);

/*
 * The GNU build-id, from the notes in the sections of an ELF file. Returns its length in bytes; 0
 * if there is none, or if it has more than `most`.
 */
uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t most);

#endif /* QPROF_PLAN_SYMBOLS_ELF_SYMBOL_H */
