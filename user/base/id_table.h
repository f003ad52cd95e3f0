/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table from ids to 32-bit values, for ids that are mostly dense. It takes about 4 bytes per id
 * where they are dense, and at most 16 KiB per id elsewhere.
 */
#ifndef QPROF_BASE_ID_TABLE_H
#define QPROF_BASE_ID_TABLE_H

#include <stdint.h>

#define ID_TABLE_NONE UINT32_MAX /* not a legal value */

/* All zeroes is an empty table. */
struct id_table {
	uint32_t **pages;
	uint32_t n_pages;
};

/* The value of `id`, or ID_TABLE_NONE. */
uint32_t id_table__get(const struct id_table *t, uint32_t id);

/* The least id from `from` on that has a value, or ID_TABLE_NONE. Gaps are skipped by the page. */
uint32_t id_table__next(const struct id_table *t, uint32_t from);

/* Add or replace; 0 or -ENOMEM. `value` is not ID_TABLE_NONE. */
int id_table__put(struct id_table *t, uint32_t id, uint32_t value);

void id_table__destroy(struct id_table *t);

#endif /* QPROF_BASE_ID_TABLE_H */
