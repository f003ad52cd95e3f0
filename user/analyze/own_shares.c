// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/own_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int add(struct own_shares *s, const struct summary_row *row, enum own_shares_of of)
{
	struct own_share share = {row->samples.own.n, row->samples.nearest.n}, *to;

	if (row->self_by != SUMMARY_SELF_SHARE && row->self_by != SUMMARY_SELF_LIMIT)
		return 0;
	if (of == OWN_SHARES_OF_ITEM)
		share.own += row->samples.itemless.n;
	if (share.all && share.own >= share.all)
		return 0;
	/* Times of items are by label: those of an activity of the same name are in them. */
	to = table__get(&s->of, row->label);
	if (!to)
		return -ENOMEM;
	to->own += share.own;
	to->all += share.all;
	return 0;
}

int own_shares__init(struct own_shares *s, const struct summary *summary, enum own_shares_of of)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err;

	if (!summary__is_unwatched(summary))
		return 0;
	err = summary__rows(summary, SUMMARY_ALL, &rows, &n);
	for (size_t i = 0; !err && i < n; i++)
		err = add(s, &rows[i], of);
	return err;
}

/* NULL: all the time of the label is its own. */
static const struct own_share *find(const struct own_shares *s, uint32_t label)
{
	/* A look-up changes only what the table remembers of the last one. */
	return s ? table__find(&((struct own_shares *)s)->of, label) : NULL;
}

double own_shares__part(const struct own_shares *s, uint32_t label)
{
	const struct own_share *share = find(s, label);

	return share && share->all ? own_share__part(share) : 1;
}

void own_shares__destroy(struct own_shares *s)
{
	table__destroy(&s->of);
}

static int add_process(struct process_shares *s, const struct summary *summary, uint32_t process)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;
	int err = summary__rows(summary, process, &rows, &n);

	for (size_t i = 0; i < n && !err; i++) {
		const struct sample_sums *samples = &rows[i].samples;
		struct own_share *to = table__get(&s->of, (uint64_t)process << 32 | rows[i].label);

		if (!to)
			return -ENOMEM;
		to->own += samples->own.n;
		to->all += samples->nearest.n;
	}
	return err;
}

int process_shares__init(struct process_shares *s, const struct summary *summary)
{
	uint32_t n = summary__is_unwatched(summary) ? summary__n_processes(summary) : 0;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		err = add_process(s, summary, i);
	return err;
}

const struct own_share *process_shares__find(const struct process_shares *s, uint32_t process,
					     uint32_t label)
{
	/* As in find(). */
	return s ? table__find(&((struct process_shares *)s)->of, (uint64_t)process << 32 | label)
		 : NULL;
}

void process_shares__destroy(struct process_shares *s)
{
	table__destroy(&s->of);
}

/* `share` may be NULL: the time is all own. */
static void add_divided(struct own_time *t, const struct own_share *share, uint64_t cpu_ns)
{
	double error;
	uint64_t own_ns;

	if (!cpu_ns || !share || !share->all || share->own >= share->all) {
		t->is_limit |= cpu_ns && share && !share->all;
		t->cpu_ns += cpu_ns;
		return;
	}
	own_ns = own_share__ns(share, cpu_ns);
	error = own_share__error(share, cpu_ns);
	t->is_share = true;
	t->cpu_ns += own_ns;
	t->others_ns += cpu_ns - own_ns;
	t->variance += error * error;
}

void own_time__add(struct own_time *t, const struct own_shares *s, uint32_t label, uint64_t cpu_ns)
{
	add_divided(t, find(s, label), cpu_ns);
}

void own_time__add_sampled(struct own_time *t, const struct sample_sum *sum)
{
	double error = (double)sample_sum__error(sum);

	t->cpu_ns += sum->value;
	t->variance += error * error;
	t->is_share = t->is_share || sum->n;
}

void own_time__merge(struct own_time *to, const struct own_time *from)
{
	to->cpu_ns += from->cpu_ns;
	to->others_ns += from->others_ns;
	to->variance += from->variance;
	to->is_share |= from->is_share;
	to->is_limit |= from->is_limit;
}

uint64_t own_time__error(const struct own_time *t)
{
	return (uint64_t)(sqrt(t->variance) + 0.5);
}

static struct own_sum *get_sum(struct own_sums *s, uint32_t row, uint32_t label)
{
	return table__get(&s->of, (uint64_t)row << 32 | label, .row = row, .label = label);
}

int own_sums__add(struct own_sums *s, uint32_t row, uint32_t label, uint64_t cpu_ns)
{
	struct own_sum *sum = get_sum(s, row, label);

	if (!sum)
		return -ENOMEM;
	sum->cpu_ns += cpu_ns;
	return 0;
}

int own_sums__add_samples(struct own_sums *s, uint32_t row, uint32_t label,
			  const struct own_share *samples)
{
	struct own_sum *sum = get_sum(s, row, label);

	if (!sum)
		return -ENOMEM;
	sum->samples.own += samples->own;
	sum->samples.all += samples->all;
	sum->has_samples = true;
	return 0;
}

struct own_time *own_sums__divide(const struct own_sums *s, const struct own_shares *shares,
				  size_t n)
{
	struct own_time *own = calloc(n + 1, sizeof(*own));

	for (uint32_t i = 0; own && i < s->of.n; i++) {
		const struct own_sum *sum = &s->of.at[i];

		if (sum->row < n)
			add_divided(&own[sum->row],
				    sum->has_samples ? &sum->samples : find(shares, sum->label),
				    sum->cpu_ns);
	}
	return own;
}

void own_sums__destroy(struct own_sums *s)
{
	table__destroy(&s->of);
}
