// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/closing_report.h"

#include "analyze/summary.h"
#include "view/build.h"

/* Those that the processes had when they were told are gone. */
static int renew_texts(struct build *build, const struct summary *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < summary__n_processes(s); i++)
		err = build__process(build, summary__process_at(s, i));
	return err;
}

int closing_report(FILE *out, struct build *build, const struct summary *s,
		   const struct trace_losses *losses, const struct view_names *names,
		   const struct report_options *opt)
{
	const struct build_view view = {
		.build = build,
		.summary = s,
		.losses = losses,
		.names = names,
		.costs = opt->costs,
		.decisions = opt->decisions,
	};
	int err = renew_texts(build, s) ?: build__end(build);

	if (err)
		return err;
	if (build__totals(build)->compiles < 2)
		return report_text(out, s, losses, names, opt);
	return build_text(out, &view);
}
