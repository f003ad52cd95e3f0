/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print the results of `qprof-bpf doctor` as text and JSON. */
#ifndef QPROF_VIEW_DOCTOR_VIEW_H
#define QPROF_VIEW_DOCTOR_VIEW_H

#include <stdio.h>

#include "doctor/judge.h"
#include "doctor/toolchains.h"

/* A line per finding, with its fix below; a paragraph per toolchain; the verdict. 0 or -ENOMEM. */
int doctor_text(FILE *out, const struct findings *f, const struct toolchains *t);

/*
 * Schema "qprof-doctor/1": {"schema", "works" (bool: the exit status), "findings": [{"section",
 * "name", "state" ("ok", "note" or "problem"), "says", "fix" (or null)}], "toolchains": [{"name",
 * "library", "wanted" (in use here, or requested), "problem" (null; else what follows is null),
 * "rustc_version" (or null), "symbols" (where they come from), "queries", "complete", "sites":
 * {"emulated", "stepped"}, "events": [{"kind", "places", "exact"}], "plan_cached", "plan_ns"}]}
 */
int doctor_json(FILE *out, const struct findings *f, const struct toolchains *t);

#endif /* QPROF_VIEW_DOCTOR_VIEW_H */
