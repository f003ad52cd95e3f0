/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The report of a recording whose trace failed: only sums are left of the compilers that ended. */
#ifndef QPROF_RECORD_TOTALS_H
#define QPROF_RECORD_TOTALS_H

#include <stdio.h>

#include "analyze/model.h"

struct totals_layout {
	uint32_t rows;
	uint32_t columns;
};

/* Ends the model. 0 or a negative errno. */
int totals__print(struct model *m, const struct trace_losses *losses, struct totals_layout layout,
		  FILE *to);

#endif /* QPROF_RECORD_TOTALS_H */
