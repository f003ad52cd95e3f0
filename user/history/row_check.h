/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks rows of a history that come from another user's file, and so may hold anything. */
#ifndef QPROF_HISTORY_ROW_CHECK_H
#define QPROF_HISTORY_ROW_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "history/row.h"

/*
 * Check that required columns are there, that numbers and texts are within their limits, and that
 * the id of a build is one. False: `why` says what is wrong, such as: it has no "crate".
 */
bool row_check(enum history_table_id table, const void *row, char *why, size_t size);

#endif /* QPROF_HISTORY_ROW_CHECK_H */
