// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "pctab/gopclntab.h"
#include "pctab/speed.h"
#include "pctab/survey.h"
#include "view/pctab_view.h"

static int measure(const struct pctab_survey *s, struct pctab_speed *speeds)
{
	for (int i = 0; i < PCTAB_SPEED_CASES; i++) {
		int err = pctab_speed__measure(s, &pctab_speed_cases[i], &speeds[i]);

		if (err)
			return diag_error_r(err, "cannot time look-ups: %s", strerror(-err));
	}
	return 0;
}

int cmd_pctab(const struct cli_pctab_options *o)
{
	struct pctab_speed speeds[PCTAB_SPEED_CASES];
	struct pctab_view view = {.file = o->file};
	_pctab_survey_ struct pctab_survey *survey = NULL;
	_go_image_ struct go_image *image = NULL;
	int err;

	if (go_image__open(o->file, &image))
		return EXIT_CODE_FAILURE;
	diag_verbose("checking the tables of %" PRIu32 " functions", image->table.n_functions);
	if (pctab_survey__new(&image->table, &survey))
		return EXIT_CODE_FAILURE;
	view.survey = survey;
	if (!o->no_timing && survey->n_tables) {
		diag_verbose("timing look-ups in %" PRIu32 " tables", survey->n_tables);
		if (measure(survey, speeds))
			return EXIT_CODE_FAILURE;
		view.speeds = speeds;
	}
	err = o->json ? pctab_json(stdout, &view) : pctab_text(stdout, &view);
	if (err) {
		diag_error("cannot print the tables: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	return cmd_finish_stdout(EXIT_CODE_OK);
}
