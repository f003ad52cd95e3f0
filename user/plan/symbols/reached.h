/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * BOLT moves functions to a new .text, and leaves the old ones where they were, with their records
 * in .eh_frame. Nothing leads to these any more, so that is how they are told from functions that
 * BOLT has not moved, which lie between them.
 */
#ifndef QPROF_PLAN_SYMBOLS_REACHED_H
#define QPROF_PLAN_SYMBOLS_REACHED_H

#include "plan/symbols/bounds.h"

/*
 * Remove the functions in BOLT's old section (.bolt.org.text) that no exported symbol, no pointer
 * in data and no code that is reached itself leads to. Other numbers in `b` change with it. 0 or
 * -ENOMEM. Uses elf_image__any_symbols().
 */
int reached__keep(struct elf_image *img, struct bounds *b);

#endif /* QPROF_PLAN_SYMBOLS_REACHED_H */
