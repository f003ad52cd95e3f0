// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/stack_intervals.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tree_first.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/map.h"

static int add_interval(struct stack_intervals *s, const struct trace_stack *entry, uint32_t outer)
{
	struct stack_interval added = {
		.outer = outer,
		.label = entry->place,
		.kind = entry->kind - TRACE_STACK_QUERY,
		.known = s->n,
	};

	if (entry->kind == TRACE_STACK_UNKNOWN) {
		added.kind = TRACE_KIND_QUERY;
		added.is_unknown = true;
		added.known = outer == STACK_INTERVAL_NONE ? outer : s->at[outer].known;
	}
	added.query = s->n;
	if (added.kind != TRACE_KIND_QUERY)
		added.query = outer == STACK_INTERVAL_NONE ? outer : s->at[outer].query;
	return array__add(&s->at, &s->n, &s->capacity, &added);
}

/* The intervals of entries with smaller numbers are known, and so that of the parent. */
static int add_entry(struct stack_intervals *s, uint32_t id)
{
	uint32_t innermost = STACK_INTERVAL_NONE;
	struct trace_stack entry;

	if (stack_source__entry(&s->source, id, &entry)) {
		innermost = s->n_of ? s->of[entry.parent] : STACK_INTERVAL_NONE;
		if (entry.kind != TRACE_STACK_LOCATION && entry.kind < TRACE_STACK_KINDS) {
			if (add_interval(s, &entry, innermost))
				return -ENOMEM;
			innermost = s->n - 1;
		}
	}
	return array__add(&s->of, &s->n_of, &s->of_capacity, &innermost);
}

int stack_intervals__find(struct stack_intervals *s, uint32_t stack, uint32_t *interval)
{
	struct trace_stack entry;

	*interval = STACK_INTERVAL_NONE;
	/* Else a number that nobody gave out could ask for much memory. */
	if (stack >= s->n_of && !stack_source__entry(&s->source, stack, &entry))
		return 0;
	while (s->n_of <= stack)
		if (add_entry(s, s->n_of))
			return -ENOMEM;
	*interval = s->of[stack];
	return 0;
}

/*
 * Labels get small numbers, for a query and an activity each; a hidden interval has one that no
 * other has.
 */
static int number_labels(const struct stack_intervals *s, const bool *is_hidden,
			 struct tree_node *nodes, uint32_t *n)
{
	struct u64_map numbers = {};
	int err = 0;

	*n = 0;
	for (uint32_t i = 0; i < s->n && !err; i++) {
		bool is_activity = s->at[i].kind == TRACE_KIND_ACTIVITY;
		uint64_t key = (uint64_t)is_activity << 32 | s->at[i].label;
		uint32_t number = u64_map__get(&numbers, key);

		if (s->at[i].is_unknown || is_hidden[i]) {
			number = (*n)++;
		} else if (number == U64_MAP_NONE) {
			number = (*n)++;
			err = u64_map__put(&numbers, key, number);
		}
		nodes[i] = (struct tree_node){.parent = s->at[i].outer, .key = number};
	}
	u64_map__destroy(&numbers);
	return err;
}

int stack_intervals__first(const struct stack_intervals *s, const bool *is_hidden, bool *is_first)
{
	_free_ struct tree_node *nodes = calloc(s->n + 1UL, sizeof(*nodes));
	uint32_t n_labels;

	_Static_assert(STACK_INTERVAL_NONE == TREE_NONE, "STACK_INTERVAL_NONE");
	if (!nodes || number_labels(s, is_hidden, nodes, &n_labels) ||
	    tree_first(nodes, s->n, n_labels))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		is_first[i] = nodes[i].is_first && !s->at[i].is_unknown && !is_hidden[i];
	return 0;
}

void stack_intervals__destroy(struct stack_intervals *s)
{
	free(s->of);
	free(s->at);
	*s = (struct stack_intervals){};
}
