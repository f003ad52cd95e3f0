/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sorts the symbols of a file for finding them by address. */
#ifndef QPROF_PLAN_SYMBOLS_SORT_SYMBOLS_H
#define QPROF_PLAN_SYMBOLS_SORT_SYMBOLS_H

#include "plan/symbols/elf_image.h"

/*
 * By address; of the same address the longest first, then by where the name is in memory: comparing
 * names can take very long. By digits of the address, as there are 100,000 symbols and more: a
 * compiler may end before comparisons have sorted them.
 */
void sort_symbols(struct elf_symbol *syms, size_t n);

#endif /* QPROF_PLAN_SYMBOLS_SORT_SYMBOLS_H */
