// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/guard_groups.h"

#include <string.h>

bool guards_are_alike(const struct plan_guard *a, const struct plan_guard *b)
{
	if (a->kind != b->kind || a->kind != WIRE_KIND_ACTIVITY)
		return a->kind == b->kind;
	if (!a->label || !b->label)
		return a->label == b->label;
	return !strcmp(a->label, b->label);
}

static bool belong_together(const struct plan_guard *a, const struct plan_guard *b)
{
	return guards_are_alike(a, b) || (a->scope == b->scope && a->number == b->number);
}

/* Until groups are numbered, a group has the number of one of its guards. */
static void join(uint32_t *group_of, uint32_t n, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < n; i++)
		if (group_of[i] == from)
			group_of[i] = to;
}

static uint32_t number(uint32_t *group_of, uint32_t n_guards)
{
	uint32_t n = 0;

	/* A group has the number of its first guard, so that guard is renumbered first. */
	for (uint32_t i = 0; i < n_guards; i++)
		group_of[i] = group_of[i] == i ? n++ : group_of[group_of[i]];
	return n;
}

uint32_t guard_groups_find(const struct plan *plan, uint32_t *group_of)
{
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		group_of[i] = i;
		for (uint32_t j = 0; j < i; j++) {
			uint32_t a = group_of[i], b = group_of[j];

			if (a != b && belong_together(&plan->guards[i], &plan->guards[j]))
				join(group_of, i + 1, a > b ? a : b, a > b ? b : a);
		}
	}
	return number(group_of, plan->n_guards);
}
