/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fills the tables in which the kernel half looks up sites of a library. */
#ifndef QPROF_CAPTURE_TABLES_H
#define QPROF_CAPTURE_TABLES_H

#include "capture/attach_set.h"

/* Descriptors of the maps, which all libraries share. */
struct tables {
	int providers;
	int steps;
	int wrappers;
	int layouts;
	int sources;
	int expansions;
	int memory_keys;
	int tables;
	int query_tables;
	int jobs; /* -1: no samples are taken */
};

/* Insert the entries that the sites of a set look up. Negative errno. */
int tables_fill(const struct tables *t, const struct attach_set *set);

/* Remove all entries of library `lib`. */
void tables_clear(const struct tables *t, uint8_t lib);

#endif /* QPROF_CAPTURE_TABLES_H */
