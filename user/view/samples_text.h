/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of report_text() about samples. */
#ifndef QPROF_VIEW_SAMPLES_TEXT_H
#define QPROF_VIEW_SAMPLES_TEXT_H

#include "view/report_rows.h"
#include "analyze/samples.h"

/* How much was sampled; nothing, and false, without a sample. */
bool samples_text_head(FILE *out, const struct samples_totals *t);

/* Explain the marks and errors in the rows. */
void samples_text_marks(FILE *out, const struct report_rows *r);

/* Stacks that were cut, and queries that stacks do not show. */
void samples_text_notes(FILE *out, const struct samples_totals *t);

/* The member "samples": what the recording sampled; missing if `t` is NULL. */
void samples_columns(struct columns *c, const struct samples_totals *t);

#endif /* QPROF_VIEW_SAMPLES_TEXT_H */
