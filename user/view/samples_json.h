/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_VIEW_SAMPLES_JSON_H
#define QPROF_VIEW_SAMPLES_JSON_H

#include "analyze/samples.h"
#include "view/json.h"

/* Print ,"samples":{...}: what the recording sampled; docs/report.md has the fields. */
void samples_json(struct json *j, const struct samples_totals *t);

#endif /* QPROF_VIEW_SAMPLES_JSON_H */
