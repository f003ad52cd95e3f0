// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/parallelism.h"

#include <string.h>

#define LEAST_WIDTH_NS 1000000u

void parallelism__init(struct parallelism *p, uint64_t base_ns)
{
	memset(p, 0, sizeof(*p));
	p->base_ns = base_ns;
	p->width_ns = LEAST_WIDTH_NS;
}

/* Merge each two neighbouring buckets into one. */
static void widen(struct parallelism *p)
{
	int64_t whole = 0;

	for (uint32_t i = 0; i < p->used; i++) {
		whole += p->whole[i];
		p->busy_ns[i] += (uint64_t)whole * p->width_ns;
		p->whole[i] = 0;
	}
	p->whole[p->used] = 0;
	for (uint32_t i = 0; i < PARALLELISM_BUCKETS / 2; i++)
		p->busy_ns[i] = p->busy_ns[2 * i] + p->busy_ns[2 * i + 1];
	memset(p->busy_ns + PARALLELISM_BUCKETS / 2, 0, sizeof(p->busy_ns) / 2);
	p->used = (p->used + 1) / 2;
	p->width_ns *= 2;
}

void parallelism__add(struct parallelism *p, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = start_ns > p->base_ns ? start_ns - p->base_ns : 0;
	uint64_t to = end_ns > p->base_ns ? end_ns - p->base_ns : 0;
	uint32_t first, last;

	while (to / p->width_ns >= PARALLELISM_BUCKETS)
		widen(p);
	first = (uint32_t)(from / p->width_ns);
	last = (uint32_t)(to / p->width_ns);
	if (last >= p->used)
		p->used = last + 1;
	if (first == last) {
		p->busy_ns[first] += to - from;
		return;
	}
	p->busy_ns[first] += p->width_ns - from % p->width_ns;
	p->busy_ns[last] += to % p->width_ns;
	p->whole[first + 1]++;
	p->whole[last]--;
}

int parallelism__each(const struct parallelism *p, parallelism_fn put, void *ctx)
{
	double before = 0;
	int64_t whole = 0;

	for (uint32_t i = 0; i < p->used; i++) {
		double mean;
		int err;

		whole += p->whole[i];
		mean = (double)whole + (double)p->busy_ns[i] / (double)p->width_ns;
		err = mean == before ? 0 : put(ctx, p->base_ns + i * p->width_ns, mean);
		if (err)
			return err;
		before = mean;
	}
	return before != 0 ? put(ctx, p->base_ns + p->used * p->width_ns, 0) : 0;
}
