// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "gopclntab.h"
#include "speed.h"
#include "survey.h"
#include "view.h"

static int measure(const struct pctab_survey *s, struct pctab_speed *speeds)
{
	for (int i = 0; i < PCTAB_SPEED_CASES; i++) {
		int err = pctab_speed__measure(s, &pctab_speed_cases[i], &speeds[i]);

		if (err)
			return diag_error_r(err, "cannot time look-ups: %s", strerror(-err));
	}
	return 0;
}

int pctab_compare(const struct pctab_compare_options *o)
{
	struct pctab_speed speeds[PCTAB_SPEED_CASES];
	struct pctab_view view = {.file = o->file};
	_pctab_survey_ struct pctab_survey *survey = NULL;
	_go_image_ struct go_image *image = NULL;
	int err;

	if (go_image__open(o->file, &image))
		return EXIT_FAILURE;
	diag_verbose("checking the tables of %" PRIu32 " functions", image->table.n_functions);
	if (pctab_survey__new(&image->table, &survey))
		return EXIT_FAILURE;
	view.survey = survey;
	if (!o->no_timing && survey->n_tables) {
		diag_verbose("timing look-ups in %" PRIu32 " tables", survey->n_tables);
		if (measure(survey, speeds))
			return EXIT_FAILURE;
		view.speeds = speeds;
	}
	err = o->json ? pctab_json(stdout, &view) : pctab_text(stdout, &view);
	if (err) {
		diag_error("cannot print the tables: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	if (fflush(stdout) || ferror(stdout)) {
		diag_error("cannot write to standard output: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
