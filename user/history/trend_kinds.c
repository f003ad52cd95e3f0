// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/trend_points.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Properties that all builds of a group share, ORed. */
enum kind {
	KIND_PROFILE = 1,
	KIND_RECORDING = 2,
	KIND_HOST = 4,
	KIND_CPUS = 8,
	KIND_TOOLCHAIN = 16,
	KIND_COUNTED = 32, /* executions of the same queries are counted */
};

/* Counted points in the order of their kinds; C has no qsort() with a context. */
struct sorted {
	const struct history_build *build;
	struct trend_point *point;
	unsigned int kinds;
};

int trend__note(struct trend *t, const char *fmt, ...)
{
	va_list args;
	int n;

	if (t->n_notes == N_OF(t->notes))
		return 0;
	va_start(args, fmt);
	n = vasprintf(&t->notes[t->n_notes], fmt, args);
	va_end(args);
	if (n < 0) {
		t->notes[t->n_notes] = NULL;
		return -ENOMEM;
	}
	t->n_notes++;
	return 0;
}

static int by_text(const char *a, const char *b)
{
	return strcmp(a ?: "", b ?: "");
}

static int compare_sorted(const void *a, const void *b)
{
	unsigned int kinds = ((const struct sorted *)a)->kinds;
	const struct history_build *x = ((const struct sorted *)a)->build;
	const struct history_build *y = ((const struct sorted *)b)->build;
	int order = kinds & KIND_PROFILE ? by_text(x->profile, y->profile) : 0;

	if (!order && kinds & KIND_RECORDING)
		order = by_text(x->how, y->how);
	if (!order && kinds & KIND_HOST)
		order = by_text(x->host, y->host);
	if (!order && kinds & KIND_CPUS)
		order = (x->cpus > y->cpus) - (x->cpus < y->cpus);
	if (!order && kinds & KIND_TOOLCHAIN)
		order = by_text(x->toolchain, y->toolchain);
	if (!order && kinds & KIND_COUNTED)
		order = by_text(x->how, y->how) ?: by_text(x->uncounted, y->uncounted);
	return order;
}

/* The counted points, sorted; their number. */
static size_t sort_points(struct trend *t, unsigned int kinds, struct sorted *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct trend_point *p = &t->points[i];

		if (p->reason == TREND_COUNTED)
			out[n++] = (struct sorted){p->build, p, kinds};
	}
	if (n)
		qsort(out, n, sizeof(*out), compare_sorted);
	return n;
}

/* One after the last point of the group that begins at `i`. */
static size_t end_of_group(const struct sorted *all, size_t n, size_t i)
{
	size_t end = i + 1;

	while (end < n && !compare_sorted(&all[i], &all[end]))
		end++;
	return end;
}

/* Whether most points are in groups that are large enough. */
static bool are_large(const struct sorted *all, size_t n)
{
	size_t in_large = 0, end;

	for (size_t i = 0; i < n; i = end) {
		end = end_of_group(all, n, i);
		if (end - i >= TREND_KINDS_LEAST)
			in_large += end - i;
	}
	return 2 * in_large >= n;
}

/* More changes from one to another than a new toolchain now and then would make. */
static bool toolchains_alternate(const struct trend *t, size_t distinct)
{
	const char *last = NULL;
	size_t changes = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct trend_point *p = &t->points[i];

		/* One that is not known may be any of them. */
		if (p->reason != TREND_COUNTED || !p->build->toolchain)
			continue;
		changes += last && strcmp(last, p->build->toolchain);
		last = p->build->toolchain;
	}
	return distinct > 1 && changes >= 2 * distinct;
}

static size_t count_groups(const struct sorted *all, size_t n)
{
	size_t groups = 0;

	for (size_t i = 0; i < n; i = end_of_group(all, n, i))
		groups++;
	return groups;
}

static int choose_kinds(struct trend *t, struct sorted *scratch, unsigned int *kinds)
{
	bool of_times = t->question.metric == TREND_CPU || t->question.metric == TREND_WALL;
	size_t n, hosts, toolchains;
	int err = 0;

	*kinds = KIND_PROFILE;
	n = sort_points(t, KIND_TOOLCHAIN, scratch);
	toolchains = count_groups(scratch, n);
	/* Those that are not known come first. */
	if (n && !scratch[0].build->toolchain)
		toolchains--;
	if (toolchains_alternate(t, toolchains)) {
		*kinds |= KIND_TOOLCHAIN;
		err = trend__note(t, "toolchains take turns: builds of each are judged apart");
	}
	/* The rows of an item are no sums of queries, of which some could be left out. */
	if (!err && t->question.metric == TREND_COUNT && t->question.of.item) {
		*kinds |= KIND_COUNTED;
		n = sort_points(t, KIND_COUNTED, scratch);
		if (count_groups(scratch, n) > 1)
			err = trend__note(t,
					  "builds that count executions of other queries, as those "
					  "with --exact do, are judged apart");
	}
	if (!of_times || err)
		return err;
	n = sort_points(t, KIND_HOST, scratch);
	hosts = count_groups(scratch, n);
	*kinds |= KIND_RECORDING;
	n = sort_points(t, *kinds | KIND_HOST, scratch);
	if (are_large(scratch, n)) {
		*kinds |= KIND_HOST;
		if (hosts > 1)
			err = trend__note(t, "times of %zu hosts are judged apart", hosts);
		return err;
	}
	*kinds |= KIND_CPUS;
	if (hosts > 1)
		err = trend__note(t,
				  "%zu hosts are taken for one where they have the same number of "
				  "CPUs, as each has few builds",
				  hosts);
	return err;
}

static uint64_t median_of(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), array__by_u64);
	return n ? values[n / 2] : HISTORY_UNKNOWN;
}

static bool is_known(uint64_t value)
{
	return value != HISTORY_UNKNOWN;
}

/* The medians of a group are what is usual. */
static void find_other_work(const struct sorted *group, size_t n, bool is_sum, uint64_t *scratch)
{
	uint64_t compiles, failed;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (is_known(group[i].build->compiles))
			scratch[known++] = group[i].build->compiles;
	compiles = median_of(scratch, known);
	known = 0;
	for (size_t i = 0; i < n; i++)
		if (is_known(group[i].build->failed))
			scratch[known++] = group[i].build->failed;
	failed = median_of(scratch, known);
	for (size_t i = 0; i < n; i++) {
		const struct history_build *b = group[i].build;

		if (is_known(b->failed) && b->failed > failed)
			group[i].point->reason = TREND_FAILED;
		else if (is_sum && is_known(b->compiles) &&
			 (b->compiles < compiles / 2 || b->compiles / 2 > compiles))
			group[i].point->reason = TREND_OTHER_WORK;
	}
}

static bool is_incremental(const struct trend_point *p)
{
	return is_known(p->build->reused) && p->build->reused;
}

/* Clean builds all do the same work, so some of them are worth more than many others. */
static void leave_out_incremental(struct trend *t)
{
	size_t clean = 0, n = 0;
	bool left_out;

	for (size_t i = 0; i < t->n; i++) {
		if (t->points[i].reason != TREND_COUNTED)
			continue;
		n++;
		clean += !is_incremental(&t->points[i]);
	}
	left_out = clean >= TREND_KINDS_LEAST || 2 * clean >= n;
	for (size_t i = 0; i < t->n; i++) {
		struct trend_point *p = &t->points[i];

		if (p->reason == TREND_COUNTED && is_incremental(p) == left_out)
			p->reason = TREND_OTHER_WORK;
	}
}

/* Number the groups, and leave out those that are too small beside larger ones. */
static void number_groups(struct trend *t, const struct sorted *all, size_t n)
{
	size_t largest = 0, end;

	for (size_t i = 0; i < n; i = end) {
		end = end_of_group(all, n, i);
		largest = end - i > largest ? end - i : largest;
	}
	for (size_t i = 0; i < n; i = end) {
		bool is_small;

		end = end_of_group(all, n, i);
		is_small = !t->exact && end - i < TREND_KINDS_LEAST && end - i < largest;
		for (size_t k = i; k < end; k++) {
			all[k].point->group = t->n_groups;
			if (is_small)
				all[k].point->reason = TREND_OTHER_KIND;
		}
		t->n_groups++;
	}
}

int trend_kinds__sort_out(struct trend *t)
{
	_free_ struct sorted *all = calloc(t->n + 1, sizeof(*all));
	_free_ uint64_t *scratch = calloc(t->n + 1, sizeof(*scratch));
	bool is_sum = !t->question.of.crate && !t->question.of.item && !t->question.of.llvm;
	/* The row of a compile says whether it failed; those of its parts do not. */
	bool may_have_failed = is_sum || history_series__is_of_part(&t->question.of);
	unsigned int kinds;
	size_t n, end;
	int err;

	if (!all || !scratch)
		return -ENOMEM;
	leave_out_incremental(t);
	err = choose_kinds(t, all, &kinds);
	if (err)
		return err;
	n = sort_points(t, kinds, all);
	for (size_t i = 0; may_have_failed && i < n; i = end) {
		end = end_of_group(all, n, i);
		find_other_work(&all[i], end - i, is_sum, scratch);
	}
	n = sort_points(t, kinds, all);
	number_groups(t, all, n);
	return 0;
}
