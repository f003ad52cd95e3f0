/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * pc-value tables: for one function, the value (a line, a file, a stack depth...) that holds at
 * each of its pcs. docs/pctab.md describes the two encodings, byte by byte:
 *
 *   pctab/varint.h  deltas one after the other; small, but a look-up reads from the start
 *   pctab/linear.h  one index entry per 256 pcs; a look-up reads one chunk
 *
 * A pc is an offset in bytes from the start of the function. The pc quantum is the number of bytes
 * that every instruction's address is a multiple of (1 on x86, 2 on s390x, 4 on arm64); it is given
 * as its binary logarithm, the quantum shift. A pc inside an instruction has the instruction's
 * value.
 *
 * Encoded bytes are untrusted: whatever they are, nothing here reads outside of what it was given.
 * This module needs nothing but user/base.
 */
#ifndef QPROF_PCTAB_PCTAB_H
#define QPROF_PCTAB_PCTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Quantum shifts are 0 to this. */
#define PCTAB_QUANTUM_SHIFT_MAX 4

/* `value` holds from the end of the run before, or pc 0, up to `end`, which is not part of it. */
struct pctab_run {
	uint32_t end;
	int32_t value;
};

/*
 * A table, decoded: runs with rising ends, neighbours with different values. The last end is the
 * length of the function in bytes. All zeroes is an empty one.
 */
struct pctab_runs {
	struct pctab_run *runs;
	uint32_t n;
	uint32_t capacity;
};

/*
 * Append a run. One with the value of the last run makes that one longer. 0, -EINVAL if `end` is
 * not above the last one, -ENOMEM.
 */
int pctab_runs__add(struct pctab_runs *r, uint32_t end, int32_t value);

/* Bytes of code that the runs cover. */
static inline uint32_t pctab_runs__length(const struct pctab_runs *r)
{
	return r->n ? r->runs[r->n - 1].end : 0;
}

/*
 * 0 if the runs are what an encoder takes: at least one, rising ends that are multiples of the
 * quantum, neighbours with different values. Otherwise -EINVAL.
 */
int pctab_runs__check(const struct pctab_runs *r, unsigned int quantum_shift);

/* Forget the runs, keep the memory. */
void pctab_runs__clear(struct pctab_runs *r);
void pctab_runs__destroy(struct pctab_runs *r);
#define _pctab_runs_ __cleanup(pctab_runs__destroy)

/*
 * Encoded tables, one after the other. An append moves the bytes: keep offsets while it grows. All
 * zeroes is an empty one; a smaller `size` forgets what is behind it.
 */
struct pctab_buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

/* Room for `size` more bytes at data + size; -ENOMEM changes nothing. */
int pctab_buffer__reserve(struct pctab_buffer *b, size_t size);
int pctab_buffer__append(struct pctab_buffer *b, const void *bytes, size_t size);
void pctab_buffer__destroy(struct pctab_buffer *b);
#define _pctab_buffer_ __cleanup(pctab_buffer__destroy)

#endif /* QPROF_PCTAB_PCTAB_H */
