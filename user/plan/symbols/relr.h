/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Packed relative relocations (DT_RELR), as linkers write them with -z pack-relative-relocs: only
 * places, where the file itself holds the address that the dynamic linker moves.
 */
#ifndef QPROF_PLAN_SYMBOLS_RELR_H
#define QPROF_PLAN_SYMBOLS_RELR_H

#include <stddef.h>
#include <stdint.h>

/* Called with the address of each place. Another result than 0 ends the reading. */
typedef int (*relr_fn)(void *arg, uint64_t place);

/*
 * 0, or the result of `each` that is not. The places ascend, as each is there once: a table in
 * which they do not is damaged, and the rest of it is not read.
 */
int relr__each(const uint8_t *table, size_t size, relr_fn each, void *arg);

#endif /* QPROF_PLAN_SYMBOLS_RELR_H */
