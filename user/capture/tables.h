/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables of a library's sites that the kernel half looks up. */
#ifndef QPROF_CAPTURE_TABLES_H
#define QPROF_CAPTURE_TABLES_H

#include "capture/choice.h"

/* Descriptors of the maps, which are those of all libraries. */
struct tables {
	int providers;
	int steps;
	int wrappers;
};

/* Put in what the sites that are wanted of a plan look up. Negative errno. */
int tables_fill(const struct tables *t, const struct choice *c);

#endif /* QPROF_CAPTURE_TABLES_H */
