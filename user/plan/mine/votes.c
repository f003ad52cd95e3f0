// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/votes.h"

#include "base/array.h"

void votes__add(struct votes *v, uint32_t body, uint64_t value)
{
	uint32_t i = 0;

	while (i < v->n && v->items[i].value != value)
		i++;
	if (i == N_OF(v->items))
		return;
	if (i == v->n) {
		v->items[v->n++].value = value;
		v->items[i].n = 0;
	} else if (v->items[i].last == body) {
		return;
	}
	v->items[i].n++;
	v->items[i].last = body;
}

bool votes__decide(const struct votes *v, uint32_t least, uint64_t *value)
{
	uint32_t best = 0, next = 0;

	*value = 0;
	for (uint32_t i = 0; i < v->n; i++) {
		if (v->items[i].n > best) {
			next = best;
			best = v->items[i].n;
			*value = v->items[i].value;
		} else if (v->items[i].n > next) {
			next = v->items[i].n;
		}
	}
	return best && best >= least && best >= 3 * next;
}
