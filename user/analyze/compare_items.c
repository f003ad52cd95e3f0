// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_items.h"

#include <errno.h>

#include "base/array.h"

/* For items__each(). */
struct adding {
	struct compare_items *to;
	struct compare_labels *labels;
	const struct trace_texts *names;
	uint32_t trace;
	enum compare_side side;
};

/* A place in the new build replaces one in the base. */
static int note_place(const struct adding *a, uint32_t label, uint32_t item)
{
	const struct trace_place *place = trace_texts__place(a->names, item);
	struct compare_items *to = a->to;
	uint32_t file;
	int err;

	if (!place)
		return 0;
	err = compare_labels__id(a->labels, a->names->text(a->names->ctx, place->file), &file);
	if (!err && array__reserve_at(&to->places, label, &to->n_places, sizeof(*to->places)))
		err = -ENOMEM;
	if (err || (to->places[label].line && to->places[label].side > a->side))
		return err;
	to->places[label].file = file;
	to->places[label].line = place->line;
	to->places[label].side = a->side;
	return 0;
}

/*
 * A time that no sample divides may be anything up to it. The share that samples show is that of
 * all executions of a query; those about one item may be far from it, as they are few.
 */
static uint64_t error_of(const struct own_time *own)
{
	uint64_t less = own->cpu_ns < own->others_ns ? own->cpu_ns : own->others_ns;
	uint64_t error_ns = own_time__error(own);

	if (own->is_limit)
		return own->cpu_ns;
	return error_ns > less / 2 ? error_ns : less / 2;
}

static uint64_t pair_of(const struct compare_item *item)
{
	return (uint64_t)item->item << 32 | item->query;
}

bool compare_items__is_charged(const struct compare_items *all, const struct compare_item *item)
{
	return u64_map__get(&all->charged, pair_of(item)) != U64_MAP_NONE;
}

static int add(void *ctx, const struct item_cell *from)
{
	const struct adding *a = ctx;
	const struct trace_texts *names = a->names;
	const char *path = from->item == TRACE_NO_STRING ? COMPARE_NO_ITEM
							 : names->text(names->ctx, from->item);
	struct compare_item item = {
		.trace = a->trace,
		.executions = from->executions,
		.self_ns = from->self_ns,
		.own_cpu_ns = from->own.cpu_ns,
		.probes_ns = from->probe_ns,
		.error_ns = error_of(&from->own),
	};

	int err;

	err = compare_labels__id(a->labels, path, &item.item)
		      ?: compare_labels__id(a->labels, names->text(names->ctx, from->label),
					    &item.query);
	if (!err && from->charged)
		err = u64_map__put(&a->to->charged, pair_of(&item), 1);
	return err ?: note_place(a, item.item, from->item)
		       ?: array__add(&a->to->all, &a->to->n, &a->to->capacity, &item);
}

int compare_items__add(struct compare_items *all, struct compare_labels *labels, uint32_t trace,
		       enum compare_side side, struct items *items, const struct trace_texts *names)
{
	struct adding a = {all, labels, names, trace, side};

	return items__each(items, add, &a);
}

const char *compare_items__file(const struct compare_items *all,
				const struct compare_labels *labels, uint32_t item, uint32_t *line)
{
	if (item >= all->n_places || !all->places[item].line)
		return NULL;
	*line = all->places[item].line;
	return labels->texts[all->places[item].file];
}

int compare_items__variance(const struct compare_items *all, const bool *picked, double *variance)
{
	_own_sums_ struct own_sums errors = {}; /* a row for each trace; sums of errors */
	int err = 0;

	for (uint32_t i = 0; i < all->n && !err; i++) {
		const struct compare_item *item = &all->all[i];

		if (picked[item->item])
			err = own_sums__add(&errors, item->trace, item->query, item->error_ns);
	}
	for (uint32_t i = 0; i < errors.of.n && !err; i++) {
		const struct own_sum *sum = &errors.of.at[i];

		variance[sum->row] += (double)sum->cpu_ns * (double)sum->cpu_ns;
	}
	return err;
}

void compare_items__clear(struct compare_items *all)
{
	free(all->all);
	free(all->places);
	u64_map__destroy(&all->charged);
	*all = (struct compare_items){};
}
