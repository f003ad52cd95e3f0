// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/gates.h"

#include <errno.h>
#include <fnmatch.h>

#include "base/diag.h"
#include "base/part.h"
#include "options/exit_code.h"

static bool matches(const char *glob, const char *text)
{
	return !fnmatch(glob, text, 0);
}

/* The glob matches the crate name, or the unit name, which is unique among crates of that name. */
static bool is_meant(const void *ctx, const struct compare_unit *unit, const char *query)
{
	const struct cli_gate *gate = ctx;

	if (!gate->query != !query)
		return false;
	if (query && !matches(gate->query, query))
		return false;
	if (!gate->crate)
		return query || !unit;
	return unit && (matches(gate->crate, unit->crate) || matches(gate->crate, unit->name));
}

/* Whether it grew by more than the limit, by chance or not, if the change is larger by `more`. */
static bool is_above(const struct diff_gate *gate, uint64_t more)
{
	const struct compare_row *row = &gate->row;
	uint64_t limit_absolute = gate->limit_bytes ?: gate->limit_ns;
	uint64_t base = row->of[gate->metric][COMPARE_BASE].median;
	int64_t change = compare_row__change(row, gate->metric);

	if (__builtin_add_overflow(change, more, &change))
		change = INT64_MAX;
	if (change <= 0)
		return false;
	if (limit_absolute)
		return (uint64_t)change > limit_absolute;
	/* Long double: the products may have more than 64 bits. */
	return (long double)change * 1000000 > (long double)base * gate->limit_ppm;
}

int gates__judge(const struct cli_gates *from, const struct compare_rules *rules, gates_sum *sum,
		 void *ctx, const char *names, struct diff_gate *gates)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct cli_gate *gate = &from->gates[i];
		struct diff_gate *to = &gates[i];
		int n = sum(ctx, is_meant, gate, &to->row);

		if (n < 0)
			return diag_error_r(n, "out of memory");
		if (!n)
			return diag_error_r(
				-ENOENT,
				"--fail-above %s: none of the %s has that; for the names "
				"there are: qprof-bpf %s",
				gate->text, diff_noun(rules), names);
		to->text = gate->text;
		to->limit_ns = gate->limit.ns;
		to->limit_bytes = gate->limit_bytes;
		to->limit_ppm = gate->limit.ppm;
		to->metric = gate->query ? compare_rules__of_queries(rules) : rules->metric;
		to->is_above = is_above(to, 0);
		to->verdict = to->is_above && to->row.significant ? DIFF_EXCEEDED : DIFF_PASSED;
	}
	return 0;
}

/*
 * Whether there is so much noise that it means nothing that a time did not grow by more than the
 * limit: noise of this size would hide that.
 */
static bool noise_may_hide(const struct diff_gate *gate)
{
	const struct compare_row *row = &gate->row;
	uint64_t base = row->of[gate->metric][COMPARE_BASE].median;
	long double noise = (long double)base * row->noise_ppm / 1000000;

	if (!row->too_noisy || !compare_metric_is_time(gate->metric))
		return false;
	return row->noise_ppm == UINT64_MAX || noise > INT64_MAX || is_above(gate, (uint64_t)noise);
}

/* Of a time that grew by less, it does not matter why. */
static bool is_worth_judging(const struct compare_result *r, const struct diff_gate *gate)
{
	uint64_t whole = r->build.of[gate->metric][COMPARE_BASE].median;
	uint64_t least = part_of(whole, r->rules.min_ppm, 1000000);
	int64_t change = compare_row__change(&gate->row, gate->metric);

	if (!compare_metric_is_time(gate->metric))
		return true;
	return change > 0 && (uint64_t)change >= least && (uint64_t)change >= r->rules.min_ns;
}

/* Why a limit that is not exceeded has no verdict; NULL: it has passed. */
static const char *doubt_of(bool whole, const struct diff_view *v, const struct diff_gate *gate)
{
	const struct compare_row *row = &gate->row;
	enum compare_metric metric = gate->metric;
	bool of_history = v->result->rules.of_history;

	if (v->result->rules.different_work)
		return "the builds did different work";
	if (row->is_build && v->result->few_crates)
		return "few crates are in both builds";
	if (!whole)
		return of_history ? "records were lost"
				  : "the traces do not have all of the builds";
	if (!row->compared && (metric == COMPARE_WALL || metric == COMPARE_TOTAL))
		return of_history ? "it needs three builds a side, recorded alike"
				  : "it needs three traces a side, recorded alike";
	if (!row->compared)
		return "it is not known on both sides";
	if (metric == COMPARE_COUNT && v->result->n_uncounted &&
	    !row->of[metric][COMPARE_BASE].median && !row->of[metric][COMPARE_NEW].median)
		return of_history ? "no query is counted in all builds"
				  : "no query is counted in all traces";
	if (gate->is_above && compare_row__is_doubted(row, metric))
		return "what recording cost may explain it";
	/* It may have grown by more than the limit, and recording added less to it than before. */
	if (v->result->rules.different_recording && !gate->is_above &&
	    is_above(gate, row->cost_noise_ns[metric]))
		return "recording added more to one side, which may hide growth";
	if (noise_may_hide(gate))
		return "there is too much noise";
	if (gate->is_above && v->result->noise_is_estimated && is_worth_judging(v->result, gate))
		return of_history
			       ? "it may be noise, which fewer than five builds a side do not show"
			       : "it may be noise, which fewer than five traces a side do not "
				 "show";
	return NULL;
}

void gates__decide(bool whole, struct diff_view *v, struct diff_gate *gates)
{
	for (size_t i = 0; i < v->n_gates; i++) {
		struct diff_gate *gate = &gates[i];

		if (gate->verdict == DIFF_EXCEEDED) {
			v->status = EXIT_CODE_ABOVE;
			continue;
		}
		gate->why = doubt_of(whole, v, gate);
		if (!gate->why)
			continue;
		gate->verdict = DIFF_NO_VERDICT;
		if (v->status == EXIT_CODE_OK)
			v->status = EXIT_CODE_FAILURE;
	}
}

void gates__report_doubts(const struct diff_view *v)
{
	if (v->status == EXIT_CODE_FAILURE)
		diag_error("--fail-above has no verdict; record both sides again, alike");
}
