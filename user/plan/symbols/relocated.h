/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Pointers in a library's data: the dynamic linker fills them in, and its relocations show how. */
#ifndef QPROF_PLAN_SYMBOLS_RELOCATED_H
#define QPROF_PLAN_SYMBOLS_RELOCATED_H

#include "plan/symbols/elf_image.h"

/*
 * The address, within the library, that the dynamic linker writes to `at`; 0 if that is another
 * library's, or no relocation in .rela.dyn or .relr.dyn is for it. Reads these from their starts:
 * not for many addresses.
 */
uint64_t relocated__value(const struct elf_image *img, uint64_t at);

#endif /* QPROF_PLAN_SYMBOLS_RELOCATED_H */
