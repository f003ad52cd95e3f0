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
	bool lists; /* some results */
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

static int add(void *ctx, const struct item_cell *from)
{
	struct adding *a = ctx;
	const struct trace_texts *names = a->names;
	const char *path = from->item == TRACE_NO_STRING ? COMPARE_NO_ITEM
							 : names->text(names->ctx, from->item);
	struct compare_item item = {
		.trace = a->trace,
		.executions = from->executions,
		.results = from->results,
		.self_ns = from->self_ns,
		.cpu_ns = from->cpu_ns,
		.probes_ns = from->probe_ns,
		.error_ns = sample_sum__error(&from->sampled[TRACE_SAMPLE_CPU]),
	};

	int err;

	if (!from->executions && !from->charged && !from->self_ns && !from->results)
		return 0;
	a->lists |= from->results;
	err = compare_labels__id(a->labels, path, &item.item)
		      ?: compare_labels__id(a->labels, names->text(names->ctx, from->label),
					    &item.query);
	return err ?: note_place(a, item.item, from->item)
		       ?: array__add(&a->to->all, &a->to->n, &a->to->capacity, &item);
}

int compare_items__add(struct compare_items *all, struct compare_labels *labels, uint32_t trace,
		       enum compare_side side, struct items *items, const struct trace_texts *names)
{
	struct adding a = {all, labels, names, trace, side, false};
	int err = items__each(items, add, &a);
	uint32_t n, label;
	const uint32_t *unlisted = items__unlisted(items, &n);

	for (uint32_t i = 0; i < n && !err; i++) {
		err = compare_labels__id(labels, names->text(names->ctx, unlisted[i]), &label);
		if (!err && array__reserve_at(&all->unlisted, label, &all->n_unlisted,
					      sizeof(*all->unlisted)))
			err = -ENOMEM;
		if (!err)
			all->unlisted[label] = true;
	}
	all->n_listing += a.lists;
	return err;
}

const char *compare_items__file(const struct compare_items *all,
				const struct compare_labels *labels, uint32_t item, uint32_t *line)
{
	if (item >= all->n_places || !all->places[item].line)
		return NULL;
	*line = all->places[item].line;
	return labels->texts[all->places[item].file];
}

void compare_items__clear(struct compare_items *all)
{
	free(all->all);
	free(all->places);
	free(all->unlisted);
	*all = (struct compare_items){};
}
