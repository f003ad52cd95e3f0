/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fills the tables in which the kernel half looks up sites of a library. */
#ifndef QPROF_CAPTURE_TABLES_H
#define QPROF_CAPTURE_TABLES_H

#include "capture/attach_set.h"

/* Descriptors of the maps, which all libraries share. */
struct tables {
	int sites; /* -1: there is no probe */
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

/* Cookies that follow one another. */
struct site_range {
	uint32_t first;
	uint32_t n;
};

/* Insert the sites of a set, and the entries that these look up. Negative errno. */
int tables_fill(const struct tables *t, const struct attach_set *set);

/* Insert the sites of cache hits, in the order of `hits`. Negative errno. */
int tables_fill_hits(const struct tables *t, const struct attach_set *set,
		     const struct plan_hits *hits);

/*
 * Remove the entries of library `lib` and its sites. Those of the sites themselves stay, as no
 * probe has their cookies any more.
 */
void tables_clear(const struct tables *t, uint8_t lib, struct site_range sites);

#endif /* QPROF_CAPTURE_TABLES_H */
