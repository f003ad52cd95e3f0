// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/item_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static int compare(const struct listed_item *a, const struct listed_item *b)
{
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

static int compare_items(const void *a, const void *b)
{
	return compare(a, b);
}

/* The items of one compile, in order. */
static struct listed_item *list(uint32_t process, struct items *items, size_t *n)
{
	_free_ struct item_row *rows = NULL;
	struct listed_item *at;

	if (items__rows(items, &rows, n))
		return NULL;
	at = calloc(*n + 1, sizeof(*at));
	for (size_t i = 0; at && i < *n; i++)
		at[i] = (struct listed_item){
			.self_ns = rows[i].self_ns,
			.cpu_ns = rows[i].cpu_ns,
			.executions = rows[i].executions,
			.most = rows[i].queries[0],
			.item = rows[i].item,
			.process = process,
			.sampled = !item_row__is_counted(&rows[i]),
		};
	if (at)
		qsort(at, *n, sizeof(*at), compare_items);
	return at;
}

int item_list__set(struct item_list *l, uint32_t process, struct items *items)
{
	size_t n_new, next = 0, n = 0;
	_free_ struct listed_item *new = list(process, items, &n_new);
	struct listed_item *all = new ? calloc(l->n + n_new + 1, sizeof(*all)) : NULL;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->at[i].process == process)
			continue;
		while (next < n_new && compare(&new[next], &l->at[i]) < 0)
			all[n++] = new[next++];
		all[n++] = l->at[i];
	}
	memcpy(all + n, new + next, (n_new - next) * sizeof(*all));
	free(l->at);
	l->at = all;
	l->n = (uint32_t)(n + n_new - next);
	l->changes++;
	return 0;
}

void item_list__clear(struct item_list *l)
{
	free(l->at);
	*l = (struct item_list){0};
}
