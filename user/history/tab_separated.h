/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ClickHouse's format TabSeparatedWithNamesAndTypes, which every version has: a line of names, a
 * line of types, and the rows. It comes in pieces of any size, from a server that may send
 * anything: a line has at most TAB_SEPARATED_LINE_MAX bytes and TAB_SEPARATED_CELLS_MAX cells.
 */
#ifndef QPROF_HISTORY_TAB_SEPARATED_H
#define QPROF_HISTORY_TAB_SEPARATED_H

#include "history/store.h"

#define TAB_SEPARATED_LINE_MAX	(1u << 20)
#define TAB_SEPARATED_CELLS_MAX 64

struct tab_separated {
	store_row row;
	void *ctx;
	char *line; /* what came of it so far */
	size_t len;
	size_t capacity;
	uint64_t lines; /* that are done */
	enum store_type types[TAB_SEPARATED_CELLS_MAX];
	size_t n; /* columns */
};

/*
 * Take the next bytes, and call `row` for each whole row. -EPROTO if they are not of this format,
 * -ENOMEM; else what `row` returned.
 */
int tab_separated__take(struct tab_separated *t, const char *bytes, size_t n);

/* The answer is over: -EPROTO if it ends within a line, or without types. */
int tab_separated__end(const struct tab_separated *t);

void tab_separated__clear(struct tab_separated *t);
#define _tab_separated_ __cleanup(tab_separated__clear)

#endif /* QPROF_HISTORY_TAB_SEPARATED_H */
