// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/visits.h"

bool visits__add(struct visits *v, uint64_t from, uint64_t to)
{
	uint32_t i = 0;

	while (i < v->n && (v->items[i].from != from || v->items[i].to != to))
		i++;
	if (i == VISITS_WAYS || (i < v->n && v->items[i].n == VISITS_MAX))
		return false;
	if (i == v->n) {
		v->items[i].from = from;
		v->items[i].to = to;
		v->items[i].n = 0;
		v->n++;
	}
	v->items[i].n++;
	return true;
}
