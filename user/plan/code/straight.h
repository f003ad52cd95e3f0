/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs a long function that fills in a struct with constants and addresses of functions, in a
 * memory of its own, along one path: a branch whose condition is not known falls through. eval.h
 * runs small functions along every path.
 *
 * Unknown are bytes that the function was given, has read elsewhere (the library's constants are
 * known), or has computed in a way that is not understood here. A single byte elsewhere is taken
 * for the compiler's mode, by which it chooses between a table and its shards: there is one thread.
 * A function that gets an address in this memory as its first argument is run as well, any other
 * call is passed over. memcpy and memset are other libraries', and have no name here: a call that
 * leaves the library, whose arguments could be theirs, is taken for one of them.
 */
#ifndef QPROF_PLAN_CODE_STRAIGHT_H
#define QPROF_PLAN_CODE_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"

/* Bytes of the struct that are kept. */
#define STRAIGHT_RESULT (512u << 10)

struct straight;

/*
 * Run the function at `entry` of a mapped image. Its first argument is the address of the struct,
 * the others are `argument`. 0 and *out, -ENOMEM, or -ENOTSUP if the function did not return
 * within a bounded number of instructions.
 */
int straight__run(const struct elf_image *img, uint64_t entry, uint64_t argument,
		  struct straight **out);

/* Copy `n` bytes at `at` of the struct; false if some are not known, or not within it. */
bool straight__bytes(const struct straight *s, uint32_t at, void *to, uint32_t n);

/* The 8 bytes at `at` of the struct; false if they are not known, or not within it. */
bool straight__word(const struct straight *s, uint32_t at, uint64_t *value);

void straight__free(struct straight *s);
DEFINE_CLEANUP(struct straight, straight__free)
#define _straight_ __cleanup(straight__free_p)

#endif /* QPROF_PLAN_CODE_STRAIGHT_H */
