/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of a library, by address: which one a pc lies in, and what it is called.
 */
#ifndef QPROF_PLAN_FUNCTIONS_H
#define QPROF_PLAN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/elf_image.h"

struct functions;

/* Errors as elf_image__open(), and -ENODATA (no symbols), after one line. */
int functions__open(const char *path, struct functions **out);

/* A function, or a part of one that was split off. Ranges do not overlap. */
struct function_range {
	uint64_t addr;
	uint32_t size;
	const char *symbol; /* mangled; the functions' */
};

/*
 * The one that `pc` lies in; false if it lies in none. Of identical functions that were folded into
 * one, it has the name of the longest, and of these of the first in the order of their bytes. One
 * that begins within another is a range of its own; what the outer one has left behind its end is
 * one more, with the outer one's name and an address of its own, as if it were split off.
 */
bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out);

/* The file they are in, for more of it. */
struct elf_image *functions__image(const struct functions *f);

void functions__free(struct functions *f);
DEFINE_CLEANUP(struct functions, functions__free)
#define _functions_ __cleanup(functions__free_p)

#endif /* QPROF_PLAN_FUNCTIONS_H */
