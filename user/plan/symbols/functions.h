/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions of a library by address: finds the function that contains a pc, and its name. */
#ifndef QPROF_PLAN_SYMBOLS_FUNCTIONS_H
#define QPROF_PLAN_SYMBOLS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"

struct functions;

/* The file is read, not mapped. Errors as elf_image__read(), and -ENODATA (no symbols), after one
 * line. */
int functions__open(struct library_file *file, struct functions **out);

/*
 * The same of any file that code may run in: .dynsym will do, and code without a symbol is divided
 * where the unwind table says that functions start. Of a file with neither, no function is found.
 */
int functions__open_any(struct library_file *file, struct functions **out);

/* A function, or a part of one: split off, or left between symbols. Ranges do not overlap. */
struct function_range {
	uint64_t addr;
	uint32_t size;
	const char *symbol; /* mangled, the functions'; NULL: none, of functions__open_any() only */
};

/*
 * The range that contains `pc`; false if there is none. Identical functions that were folded into
 * one have the name of the longest symbol; among equally long ones, the first in byte order. A
 * function that begins within another has a range of its own. The rest of the outer function behind
 * it is one more range, with the outer name and its own address, like a split-off part.
 */
bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out);

/* Bytes of memory that they take, about. */
size_t functions__bytes(const struct functions *f);

/* The image that the functions are read from. */
struct elf_image *functions__image(const struct functions *f);

void functions__free(struct functions *f);
DEFINE_CLEANUP(struct functions, functions__free)
#define _functions_ __cleanup(functions__free_p)

#endif /* QPROF_PLAN_SYMBOLS_FUNCTIONS_H */
