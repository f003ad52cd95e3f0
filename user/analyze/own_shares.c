// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/own_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int add(struct own_shares *s, const struct summary_row *row, enum own_shares_of of)
{
	struct own_share share = {row->samples.own.n, row->samples.nearest.n};

	if (row->self_by != SUMMARY_SELF_SHARE && row->self_by != SUMMARY_SELF_LIMIT)
		return 0;
	if (of == OWN_SHARES_OF_ITEM)
		share.own += row->samples.itemless.n;
	if (share.all && share.own >= share.all)
		return 0;
	return table__get(&s->of, row->label, .own = share.own, .all = share.all) ? 0 : -ENOMEM;
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

void own_time__add(struct own_time *t, const struct own_shares *s, uint32_t label, uint64_t cpu_ns)
{
	const struct own_share *share = cpu_ns ? find(s, label) : NULL;
	double error;
	uint64_t own_ns;

	if (!share || !share->all) {
		t->is_limit |= share != NULL;
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

int own_sums__add(struct own_sums *s, uint32_t row, uint32_t label, uint64_t cpu_ns)
{
	struct own_sum *sum =
		table__get(&s->of, (uint64_t)row << 32 | label, .row = row, .label = label);

	if (!sum)
		return -ENOMEM;
	sum->cpu_ns += cpu_ns;
	return 0;
}

struct own_time *own_sums__divide(const struct own_sums *s, const struct own_shares *shares,
				  size_t n)
{
	struct own_time *own = calloc(n + 1, sizeof(*own));

	for (uint32_t i = 0; own && i < s->of.n; i++) {
		const struct own_sum *sum = &s->of.at[i];

		if (sum->row < n)
			own_time__add(&own[sum->row], shares, sum->label, sum->cpu_ns);
	}
	return own;
}

void own_sums__destroy(struct own_sums *s)
{
	table__destroy(&s->of);
}
