// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/memory_growth.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int memory_growth__add(struct memory_growth *g, const struct memory_fault *fault)
{
	return array__add(&g->at, &g->n, &g->capacity, fault) ? -ENOMEM : 0;
}

static int compare(const void *a, const void *b)
{
	const struct memory_fault *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Pass on the sums of one process, whose samples are `n` from `f` on. */
static int put_process(const struct memory_fault *f, uint32_t n, memory_growth_fn put, void *ctx)
{
	uint32_t step = n / MEMORY_GROWTH_POINTS + 1;
	struct memory_fault sum = {.process = f->process};

	for (uint32_t i = 0; i < n; i++) {
		int err;

		sum.bytes += f[i].bytes;
		sum.at_ns = f[i].at_ns;
		if (i + 1 < n && ((i + 1) % step || f[i + 1].at_ns == sum.at_ns))
			continue;
		err = put(ctx, &sum);
		if (err)
			return err;
	}
	return 0;
}

int memory_growth__each(struct memory_growth *g, memory_growth_fn put, void *ctx)
{
	uint32_t n;

	if (g->n)
		qsort(g->at, g->n, sizeof(*g->at), compare);
	for (uint32_t i = 0; i < g->n; i += n) {
		int err;

		for (n = 1; i + n < g->n && g->at[i + n].process == g->at[i].process; n++)
			;
		err = put_process(&g->at[i], n, put, ctx);
		if (err)
			return err;
	}
	return 0;
}

void memory_growth__destroy(struct memory_growth *g)
{
	free(g->at);
	*g = (struct memory_growth){};
}
