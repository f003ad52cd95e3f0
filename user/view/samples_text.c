// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_text.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view/report_notes.h"

bool samples_text_head(FILE *out, const struct samples_totals *t)
{
	const struct sample_sum *cpu = &t->of[TRACE_SAMPLE_CPU];
	char count[FORMAT_MAX], percent[FORMAT_MAX];

	if (!cpu->n) {
		if (t->of[TRACE_SAMPLE_FAULT].n)
			fputs("page faults were sampled: report --memory shows them\n", out);
		return t->of[TRACE_SAMPLE_FAULT].n;
	}
	fprintf(out, "%s samples, ", format_count(count, cpu->n));
	if (t->sampling.hz)
		fprintf(out, "%" PRIu32 " a second of CPU time, ", t->sampling.hz);
	fprintf(out, "%s %% in queries and passes\n",
		format_percent(percent, cpu->n - t->no_query[TRACE_SAMPLE_CPU].n, cpu->n));
	return true;
}

void samples_text_marks(FILE *out, const struct report_rows *r)
{
	if (report_rows__are_sampled(r))
		fprintf(out,
			"self times are by samples, on the CPU, as are totals of queries; +- is "
			"the standard\n  error of self, - no sample; %s--exact records each "
			"execution\n",
			r->extra[REPORT_SAMPLED_MAX]
				? "max is from the first to the last sample of\n  an execution; "
				: "");
	else if (r->by[SUMMARY_SELF_SAMPLES])
		fputs("~ times without a count are by samples: time on the CPU\n", out);
}

void samples_text_notes(FILE *out, const struct samples_totals *t)
{
	static const char *const causes[TRACE_CUT_MAX] = {
		[TRACE_CUT_NO_MAP] = "code in no known file",
		[TRACE_CUT_NO_RULE] = "no unwind rule",
		[TRACE_CUT_NO_PAGE] = "a part of the stack not in memory",
		[TRACE_CUT_TOO_DEEP] = "too many frames",
	};
	uint64_t n = samples_totals__n(t) - t->light, whole = t->cut[TRACE_CUT_NOT];
	char percent[FORMAT_MAX], count[FORMAT_MAX];

	if (n != whole)
		fprintf(out, "stacks that do not reach the start of their thread: %s %%\n",
			format_percent(percent, n - whole, n));
	for (int cut = TRACE_CUT_NOT + 1; cut < TRACE_CUT_MAX && n != whole; cut++)
		if (t->cut[cut])
			fprintf(out, "  %s: %s\n", causes[cut], format_count(count, t->cut[cut]));
	if (t->unknown)
		fprintf(out,
			"in a query that its code does not name: %s %%, counted for the one "
			"around it\n",
			format_percent(percent, t->unknown, t->of[TRACE_SAMPLE_CPU].n));
	if (t->differ)
		fprintf(out, "stacks that show another query than the probes: %s %%\n",
			format_percent(percent, t->differ, t->compared));
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void put_sum(struct columns *c, const struct samples_totals *t,
		    enum trace_sample_cause cause, const char *help)
{
	if (!OBJECT(c, sample_cause_name(cause), true, help))
		return;
	NUMBER(c, COUNT, "n", NULL, t->of[cause].n, "samples");
	if (cause == TRACE_SAMPLE_FAULT)
		NUMBER(c, BYTES, "bytes", NULL, t->of[cause].value, "memory that they stand for");
	else
		NUMBER(c, NS, "ns", NULL, t->of[cause].value, "time that they stand for");
	NUMBER(c, COUNT, "no_query", NULL, t->no_query[cause].n, "samples in no query or activity");
	if (cause == TRACE_SAMPLE_FAULT) {
		NUMBER(c, BYTES, "no_query_bytes", NULL, t->no_query[cause].value,
		       "memory that these stand for");
		NUMBER(c, BYTES, "unknown_query_bytes", NULL, t->unknown_query.value,
		       "memory of samples by --memory-light in an unknown query, or in none");
	} else {
		NUMBER(c, NS, "no_query_ns", NULL, t->no_query[cause].value,
		       "time that these stand for");
	}
	columns__leave(c);
}

void samples_columns(struct columns *c, const struct samples_totals *t)
{
	static const char *const causes[TRACE_CUT_MAX] = {
		[TRACE_CUT_NO_MAP] = "code in no known file",
		[TRACE_CUT_NO_RULE] = "no unwind rule",
		[TRACE_CUT_NO_PAGE] = "a part of the stack was not in memory",
		[TRACE_CUT_TOO_DEEP] = "too many frames",
	};

	if (!OBJECT(c, "samples", t, "if stacks were sampled"))
		return;
	KNOWN(c, COUNT, "hz", NULL, t->sampling.hz, t->sampling.hz,
	      "samples a second of CPU time; null: none");
	KNOWN(c, COUNT, "fault_period", NULL, t->sampling.fault_period, t->sampling.fault_period,
	      "page faults for each sample; null: none");
	NUMBER(c, COUNT, "n", NULL, samples_totals__n(t), "samples of all causes");
	NUMBER(c, COUNT, "complete", NULL, t->cut[TRACE_CUT_NOT],
	       "samples whose stack reaches the start of its thread");
	NUMBER(c, COUNT, "light", NULL, t->light, "samples without their stack, by --memory-light");
	if (OBJECT(c, "cut", true, "the other samples, by cause")) {
		for (int cut = TRACE_CUT_NOT + 1; cut < TRACE_CUT_MAX; cut++)
			NUMBER(c, COUNT, sample_cut_name(cut), NULL, t->cut[cut], causes[cut]);
		columns__leave(c);
	}
	NUMBER(c, COUNT, "unknown", NULL, t->unknown,
	       "innermost execution is of a query that its code does not name");
	NUMBER(c, COUNT, "compared", NULL, t->compared,
	       "the stack and the probes both show a query");
	NUMBER(c, COUNT, "differ", NULL, t->differ, "they show different queries");
	put_sum(c, t, TRACE_SAMPLE_CPU, "samples of the CPU");
	put_sum(c, t, TRACE_SAMPLE_OFF_CPU, "waits");
	put_sum(c, t, TRACE_SAMPLE_FAULT, "page faults");
	columns__leave(c);
}
