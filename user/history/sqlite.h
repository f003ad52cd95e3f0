/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A store in a SQLite file. */
#ifndef QPROF_HISTORY_SQLITE_H
#define QPROF_HISTORY_SQLITE_H

#include "history/store.h"

/* As store__open(), for a file. */
int sqlite__open(const char *path, enum store_access access, struct store **out);

#endif /* QPROF_HISTORY_SQLITE_H */
