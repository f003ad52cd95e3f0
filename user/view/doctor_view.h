/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print the results of `qprof-bpf doctor` as text and JSON. */
#ifndef QPROF_VIEW_DOCTOR_VIEW_H
#define QPROF_VIEW_DOCTOR_VIEW_H

#include <stdio.h>

#include "doctor/judge.h"
#include "doctor/toolchains.h"

/* A line per finding, with its fix below; a paragraph per toolchain; the verdict. 0 or -ENOMEM. */
int doctor_text(FILE *out, const struct findings *f, const struct toolchains *t);

/* Schema "qprof-doctor/1": the columns in doctor_view.c say what is in it. */
int doctor_json(FILE *out, const struct findings *f, const struct toolchains *t);

#endif /* QPROF_VIEW_DOCTOR_VIEW_H */
