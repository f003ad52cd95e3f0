/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints a Go executable's pc-value tables, as text or JSON.
 */
#ifndef QPROF_TESTS_BENCH_PCTAB_VIEW_H
#define QPROF_TESTS_BENCH_PCTAB_VIEW_H

#include <stdio.h>

#include "speed.h"
#include "survey.h"

struct pctab_view {
	const char *file;
	const struct pctab_survey *survey;
	const struct pctab_speed *speeds; /* of pctab_speed_cases; NULL if none were timed */
};

/* 0 or -ENOMEM. */
int pctab_text(FILE *out, const struct pctab_view *v);

/*
 * One document, schema "qprof-pctab/1":
 * {"schema", "file", "quantum" (bytes), "functions", "references" (to tables), "tables" (different
 *  ones), "pcs" (of all tables, each looked up in both encodings), "varint_bytes", "linear_bytes",
 *  "linear_tables" (different ones, encoded), "size_ratio" (linear / varint), "chunks",
 *  "constant_chunks", "shared_chunks", "index" {"none", "u8", "u16", "u32"} (tables), "most_pcs"
 *  (listed in a chunk), "speed": [{"samples", "weight" ("code" or "table"), "varint_ns",
 *  "linear_ns", "varint_best_ns", "linear_best_ns", "ratio" (linear / varint)}]}
 * 0 or -ENOMEM.
 */
int pctab_json(FILE *out, const struct pctab_view *v);

#endif /* QPROF_TESTS_BENCH_PCTAB_VIEW_H */
