// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/diff_head.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "view/diff_rows.h"

#define NAME_COLUMNS 14

/* The first trace of a side with reused results, or the first of all. */
static const struct diff_trace *reusing_of(const struct diff_view *v, enum compare_side side)
{
	const struct diff_trace *first = NULL;

	for (size_t i = 0; i < v->n_traces; i++) {
		const struct diff_trace *t = &v->traces[i];

		if (t->side != side)
			continue;
		if (t->recording.reusing)
			return t;
		first = first ?: t;
	}
	return first;
}

static void print_reuse(FILE *out, const struct diff_view *v)
{
	const struct diff_trace *base = reusing_of(v, COMPARE_BASE);
	enum compare_side incremental = base->recording.reusing ? COMPARE_BASE : COMPARE_NEW;
	const struct diff_trace *t = reusing_of(v, incremental);

	fprintf(out,
		"different work: %s is a clean build; in %s %" PRIu32 " of %" PRIu32
		" compiles reused results (incremental): neither times nor executions say which "
		"is better\n",
		diff_sides[!incremental], diff_sides[incremental], t->recording.reusing,
		t->recording.compiles);
}

/* The consequence for CPU and wall times. */
static const char *recording_verdict(const struct compare_result *r)
{
	if (!r->without_cost)
		return "CPU and wall time hold the cost of recording, which differs, and are not "
		       "compared; record all with --exact and the same options to compare them";
	if (r->mixed_cpu)
		return "CPU times are not compared: those of a trace are counted by samples";
	return "the cost of recording differs, and is taken out of CPU times";
}

/* The first trace with compiles, and the first that was recorded in another way. */
static void print_recordings(FILE *out, const struct diff_view *v)
{
	char a[COMPARE_RECORDING_TEXT], b[COMPARE_RECORDING_TEXT];
	const struct diff_trace *first;
	size_t at = 0;

	/* A trace without compiles does not show how it was recorded. */
	while (at + 1 < v->n_traces && !v->traces[at].recording.compiles)
		at++;
	first = &v->traces[at];
	for (size_t i = at + 1; i < v->n_traces; i++) {
		const struct diff_trace *t = &v->traces[i];

		struct compare_recording both[] = {first->recording, t->recording};

		if (!compare_sides_differ(both, 1, 1))
			continue;
		fprintf(out, "recorded differently: %s with %s, %s with %s: %s\n",
			diff_sides[first->side], compare_recording_text(a, &first->recording),
			t->side == first->side ? "another of it" : diff_sides[t->side],
			compare_recording_text(b, &t->recording), recording_verdict(v->result));
		return;
	}
}

bool diff_head__differences(FILE *out, const struct diff_view *v, const char *lead)
{
	const struct diff_trace *const *other = v->other_compilers;
	bool base = diff_has_beside(v, COMPARE_BASE), new = diff_has_beside(v, COMPARE_NEW);
	bool any = false;

	if (v->differences & COMPARE_CLEAN_AND_INCREMENTAL) {
		fputs(lead, out);
		print_reuse(out, v);
		any = true;
	}
	if (v->result->few_crates) {
		fprintf(out,
			"%sdifferent work: crates compiled: %zu in base, %zu in new, %zu in both: "
			"the whole build is not compared\n",
			lead, v->result->n_crates_in[COMPARE_BASE],
			v->result->n_crates_in[COMPARE_NEW], v->result->n_crates_in_both);
		any = true;
	}
	if (other[COMPARE_BASE]) {
		fprintf(out, "%sdifferent compilers: %s by ", lead,
			diff_sides[other[COMPARE_BASE]->side]);
		diff_print_raw(out, other[COMPARE_BASE]->compiler, *lead);
		fprintf(out, ", %s by ", diff_sides[other[COMPARE_NEW]->side]);
		diff_print_raw(out, other[COMPARE_NEW]->compiler, *lead);
		fputc('\n', out);
		any = true;
	}
	if (v->differences & COMPARE_OTHER_RECORDING) {
		fputs(lead, out);
		print_recordings(out, v);
		any = true;
	}
	if (base || new)
		fprintf(out,
			"%sother recordings ran beside %s: their probes make compilers slower, so "
			"times may differ without a change\n",
			lead, base && new ? "both" : diff_sides[base ? COMPARE_BASE : COMPARE_NEW]);
	return any || base || new;
}

/* The crate whose compiler had the most memory. */
static const char *peak_crate(const struct compare_result *r)
{
	uint64_t most = r->build.of[COMPARE_PEAK][COMPARE_NEW].median;

	for (size_t i = 0; i < r->n_crates; i++)
		if (r->n_crates > 1 && r->crates[i].of[COMPARE_PEAK][COMPARE_NEW].median == most)
			return r->crates[i].unit->name;
	return NULL;
}

static void print_cost(FILE *out, const struct diff_view *v, enum compare_metric metric,
		       const char *lead)
{
	const struct compare_result *r = v->result;
	const struct spread *of = r->build.of[metric];
	const char *crate = metric == COMPARE_PEAK ? peak_crate(r) : NULL;
	int len;

	if (!of[COMPARE_BASE].median && !of[COMPARE_NEW].median && metric != r->rules.metric)
		return;
	len = fprintf(out, "%s%s:", lead, diff_metric_text(metric)) - (int)strlen(lead);
	fprintf(out, "%*s", len < NAME_COLUMNS ? NAME_COLUMNS - len : 1, "");
	diff_print_change(out, &r->build, metric, r);
	if (crate) {
		fputs(", most in ", out);
		diff_print_raw(out, crate, *lead);
	}
	fputc('\n', out);
}

void diff_head__costs(FILE *out, const struct diff_view *v, const char *lead)
{
	static const enum compare_metric costs[] = {COMPARE_WALL, COMPARE_CPU, COMPARE_PEAK};
	const struct compare_result *r = v->result;
	const uint64_t *recording_ns = r->build.recording_ns;
	bool compared = !r->rules.different_work && !r->mixed_cpu;
	char base[FORMAT_MAX], new[FORMAT_MAX];

	if (r->rules.metric != COMPARE_SELF)
		print_cost(out, v, r->rules.metric, lead);
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		if (costs[i] != r->rules.metric)
			print_cost(out, v, costs[i], lead);
	if (r->rules.metric == COMPARE_SELF)
		print_cost(out, v, COMPARE_SELF, lead);
	if (diff_has_counts(r))
		print_cost(out, v, COMPARE_COUNT, lead);
	if (r->n_uncounted && r->rules.metric != COMPARE_RESULTS)
		print_cost(out, v, COMPARE_RESULTS, lead);
	/* The part of the cost of recording that is in no CPU time; nothing if all is in it. */
	if (r->without_cost && (recording_ns[COMPARE_BASE] || recording_ns[COMPARE_NEW]))
		fprintf(out,
			"%sCPU times are without what recording added in compilers: %s in base, "
			"%s in new%s\n",
			lead, format_duration(base, recording_ns[COMPARE_BASE]),
			format_duration(new, recording_ns[COMPARE_NEW]),
			compared ? "; half of the difference counts as noise" : "");
}

const char *diff_verdict_text(enum diff_verdict verdict)
{
	static const char *const texts[] = {
		[DIFF_PASSED] = "passed",
		[DIFF_EXCEEDED] = "FAILED",
		[DIFF_NO_VERDICT] = "NO VERDICT",
	};

	return texts[verdict];
}

void diff_head__status(FILE *out, const struct diff_view *v)
{
	size_t n[DIFF_NO_VERDICT + 1] = {};

	for (size_t i = 0; i < v->n_gates; i++)
		n[v->gates[i].verdict]++;
	if (n[DIFF_EXCEEDED])
		fprintf(out, "exit status %d: %zu of %zu limits exceeded\n", v->status,
			n[DIFF_EXCEEDED], v->n_gates);
	else if (n[DIFF_NO_VERDICT])
		fprintf(out, "exit status %d: no verdict on %zu of %zu limits\n", v->status,
			n[DIFF_NO_VERDICT], v->n_gates);
	else if (v->n_gates)
		fprintf(out, "exit status %d: no limit exceeded\n", v->status);
}
