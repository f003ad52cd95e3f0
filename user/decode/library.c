// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

int library__set(struct library *lib, const uint32_t *labels, uint32_t n_labels,
		 const char *build_id, const char *rustc_version)
{
	struct library new = {.n_labels = n_labels};

	new.labels = calloc(n_labels + 1UL, sizeof(*labels)); /* calloc(0) may be NULL */
	if (!new.labels || copy_text(&new.build_id, build_id) ||
	    copy_text(&new.rustc_version, rustc_version)) {
		library__clear(&new);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_labels; i++)
		new.labels[i] = labels[i];
	library__clear(lib);
	*lib = new;
	return 0;
}

int library__set_guards(struct library *lib, const uint32_t *labels, uint32_t n_labels)
{
	uint32_t *guards = calloc(n_labels + 1UL, sizeof(*labels));

	if (!guards)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_labels; i++)
		guards[i] = labels[i];
	free(lib->guards);
	lib->guards = guards;
	lib->n_guards = n_labels;
	return 0;
}

int library__set_keys(struct library *lib, const uint8_t *keys, const struct plan_layout *layout)
{
	uint8_t *copy = malloc(lib->n_labels + 1UL);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, keys, lib->n_labels);
	free(lib->keys);
	lib->keys = copy;
	lib->layout = *layout;
	lib->layout.problem = NULL;
	lib->layout.current_problem = NULL;
	return 0;
}

int library__set_arguments(struct library *lib, const struct plan_guard *guards)
{
	bool *copy = calloc(lib->n_guards + 1UL, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < lib->n_guards; i++)
		copy[i] = guards[i].source.text != WIRE_ARGUMENT_NONE;
	free(lib->argued);
	lib->argued = copy;
	return 0;
}

static enum library_items items_of(const struct plan *plan, const struct plan_query *q)
{
	if (q->key == WIRE_KEY_UNKNOWN || q->key == WIRE_KEY_UNIT ||
	    plan_query__fed(plan, q) == PLAN_FED_LOCAL)
		return LIBRARY_NO_ITEMS;
	if (!plan_query__has_keys(q))
		return LIBRARY_ITEMS_UNREAD;
	if (q->table.kind == WIRE_CACHE_HASH && plan_query__of_instances(q))
		return LIBRARY_ITEMS_INSTANCES;
	if (q->table.kind == WIRE_CACHE_HASH)
		return q->key == WIRE_KEY_MEMORY ? LIBRARY_ITEMS_MANY : LIBRARY_ITEMS;
	if (!plan->tables.first)
		return LIBRARY_ITEMS_UNREAD;
	return q->key == WIRE_KEY_CRATE ? LIBRARY_ITEM_CRATE : LIBRARY_ITEMS;
}

int library__set_results(struct library *lib, const struct plan *plan, const bool *guards,
			 bool loads, bool items)
{
	uint8_t *kinds = calloc(lib->n_labels + 1UL, sizeof(*kinds));
	uint8_t *fed = malloc(lib->n_labels + 1UL);
	uint32_t *caches = calloc(lib->n_labels + 1UL, sizeof(*caches));
	bool *never_loaded = calloc(lib->n_labels + 1UL, sizeof(*never_loaded));

	if (!fed || !caches || !kinds || !never_loaded) {
		free(never_loaded);
		free(kinds);
		free(fed);
		free(caches);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < lib->n_labels; i++)
		fed[i] = (uint8_t)plan_query__fed(plan, &plan->queries[i]);
	for (uint32_t i = 0; i < lib->n_labels; i++) {
		caches[i] = plan->queries[i].table.cache;
		never_loaded[i] = plan->queries[i].never_loaded;
	}
	for (uint32_t i = 0; i < lib->n_labels && items; i++)
		kinds[i] = (uint8_t)items_of(plan, &plan->queries[i]);
	lib->no_loads = !loads;
	for (uint32_t i = 0; i < lib->n_guards; i++)
		if (plan->guards[i].kind == WIRE_KIND_LOAD && !guards[i])
			lib->no_loads = true;
	free(lib->fed);
	free(lib->caches);
	free(lib->items);
	free(lib->never_loaded);
	lib->items = kinds;
	lib->never_loaded = never_loaded;
	lib->key_mark = plan->tables.mark;
	lib->fed = fed;
	lib->caches = caches;
	return 0;
}

int library__set_frames(struct library *lib, const struct plan *plan)
{
	struct plan_frames *frames = NULL;
	int err = plan_frames__new(plan, &frames);

	if (err)
		return err;
	plan_frames__free(lib->frames);
	lib->frames = frames;
	return 0;
}

int library__describe(const struct library *lib, struct trace_process *p)
{
	int err;

	free(p->build_id);
	free(p->rustc_version);
	err = copy_text(&p->build_id, lib->build_id);
	return copy_text(&p->rustc_version, lib->rustc_version) ?: err;
}

void library__clear(struct library *lib)
{
	free(lib->labels);
	free(lib->guards);
	free(lib->keys);
	free(lib->fed);
	free(lib->items);
	free(lib->caches);
	free(lib->never_loaded);
	free(lib->argued);
	plan_frames__free(lib->frames);
	free(lib->build_id);
	free(lib->rustc_version);
	*lib = (struct library){0};
}
