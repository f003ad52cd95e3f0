/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The varint-delta encoding of a pc-value table: Go's own, since Go 1.2 ("Go 1.2 Runtime Symbol
 * Information", Russ Cox, 2013), written here from that description. Per run a zigzag varint, the
 * value less the one before it (the first: less -1), and a varint, the run's pcs in quanta; then a
 * 0 byte. A run's value delta is never 0 except the first's, so a 0 byte ends the table, unless it
 * is the first byte.
 *
 * All varints are unsigned LEB128 of 32-bit numbers in their shortest form. Values wrap at 2^32.
 */
#ifndef QPROF_PCTAB_VARINT_H
#define QPROF_PCTAB_VARINT_H

#include <stddef.h>
#include <stdint.h>

#include "pctab/pctab.h"

/* Append the table to `out`. 0, -EINVAL (see pctab_runs__check()), -ENOMEM. */
int pctab_varint__encode(struct pctab_buffer *out, const struct pctab_runs *runs,
			 unsigned int quantum_shift);

/*
 * Replace `runs` by the table at `data`, which ends within `size` bytes; its own size goes to
 * `used` unless NULL. 0, -EBADMSG if it is no table, -ENOMEM; `runs` may have changed in any case.
 */
int pctab_varint__decode(const uint8_t *data, size_t size, unsigned int quantum_shift,
			 struct pctab_runs *runs, size_t *used);

/*
 * The value at `pc`, in time proportional to the runs up to it. 0, -ERANGE if the table ends at or
 * before `pc`, -EBADMSG if it was seen to be none. Of a table that pctab_varint__decode() refuses
 * any value may come, but nothing outside of it is read.
 */
int pctab_varint__lookup(const uint8_t *data, size_t size, unsigned int quantum_shift, uint32_t pc,
			 int32_t *value);

#endif /* QPROF_PCTAB_VARINT_H */
