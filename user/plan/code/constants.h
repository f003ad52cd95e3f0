/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Results of instructions on constants. `id` and `jump` are capstone's numbers of instructions. */
#ifndef QPROF_PLAN_CODE_CONSTANTS_H
#define QPROF_PLAN_CODE_CONSTANTS_H

#include "plan/code/sum.h"
#include "plan/symbols/elf_image.h"

/* The jump with the same condition as a conditional move; 0 if it is none that is known. */
unsigned int constants_condition(unsigned int move);

/* After a comparison of `width` bytes, 1 and 0: the branch is taken, or not; -1: it may be either.
 */
int constants_compare(const struct sum *left, const struct sum *right, uint8_t width,
		      unsigned int jump);

/* The result in `size` bytes; unknown if one of both is no constant, or of another instruction. */
struct sum constants_fold(unsigned int id, const struct sum *a, const struct sum *b, uint8_t size);

/* A small number in the file. A larger one may be a pointer, which the dynamic linker changes. */
struct sum constants_load(const struct elf_image *img, uint64_t at, uint8_t size);

/*
 * An aligned word of .rodata or .data.rel.ro, as the dynamic linker leaves it; one that it takes
 * from another library reads as 0. False: `at` is no such. Takes long: see relocated.
 */
bool constants_word(const struct elf_image *img, uint64_t at, uint64_t *word);

/* The function returns a place in the thread's storage, and *word has its offset there. */
bool constants_in_thread(const struct elf_image *img, uint64_t function, uint64_t *word);

#endif /* QPROF_PLAN_CODE_CONSTANTS_H */
