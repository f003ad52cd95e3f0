// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/cost_shares.h"

#include "base/part.h"

/* An interval has a probe at its start and one at its end. */
static uint64_t least_hits_of(uint8_t kind)
{
	return kind == WIRE_SPAN ? 2 : kind == WIRE_HIT;
}

void cost_shares__record(struct cost_shares *all, struct cost_share *one, uint8_t kind)
{
	all->least_hits += least_hits_of(kind);
	all->samples += kind == WIRE_SAMPLE;
	all->n_new++;
	if (!one)
		return;
	one->least_hits += least_hits_of(kind);
	one->samples += kind == WIRE_SAMPLE;
	one->n_new++;
}

void cost_shares__update(struct cost_shares *all, const struct overhead_input *in)
{
	uint64_t now_ns = in->own_ns + in->session.helpers_ns;
	/* Set-up is for all builds, also those that are yet to come. */
	uint64_t counted_ns = all->counted_ns ?: in->set_up_ns;

	all->last = *in;
	all->last.counters = NULL;
	all->new_ns = now_ns > counted_ns ? now_ns - counted_ns : 0;
	/* A helper may have ended before it is counted as a child that has ended. */
	all->counted_ns = now_ns > counted_ns ? now_ns : counted_ns;
}

void cost_share__divide(struct cost_share *one, const struct cost_shares *all)
{
	one->own_ns += part_of(all->new_ns, one->n_new, all->n_new);
	one->n_new = 0;
}

void cost_shares__divided(struct cost_shares *all)
{
	all->n_new = 0;
	all->new_ns = 0;
}

void cost_share__charge(struct cost_share *one, struct cost_shares *all, uint64_t ns)
{
	one->own_ns += ns;
	all->counted_ns += ns;
}

/* A thread's hits are counted when it ends, and its intervals before. */
uint64_t cost_share__hits(const struct cost_share *one, const struct cost_shares *all,
			  uint64_t hits)
{
	uint64_t part = part_of(hits, one->least_hits, all->least_hits);

	return part > one->least_hits ? part : one->least_hits;
}

void cost_share__times(const struct cost_share *one, const struct cost_shares *all,
		       const uint64_t counters[WIRE_COUNTER_MAX], uint64_t own[WIRE_COUNTER_MAX])
{
	own[WIRE_COUNT_TICKS] = part_of(counters[WIRE_COUNT_TICKS], one->samples, all->samples);
	own[WIRE_COUNT_SAMPLES_NS] =
		part_of(counters[WIRE_COUNT_SAMPLES_NS], one->samples, all->samples);
	own[WIRE_COUNT_NAMES_NS] =
		part_of(counters[WIRE_COUNT_NAMES_NS], one->least_hits, all->least_hits);
}

struct overhead_input cost_share__input(const struct cost_share *one, const struct cost_shares *all,
					const uint64_t *counters)
{
	struct overhead_input in = all->last;

	in.counters = counters;
	in.own_ns = one->own_ns;
	in.set_up_ns = 0;
	in.read_ns = 0;
	in.session.helpers_ns = 0;
	in.session.waited_ns = one->waited_ns;
	in.session.n_waited = one->n_waited;
	return in;
}
