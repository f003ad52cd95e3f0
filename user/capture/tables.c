// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/mine/active_jobs.h"

#define KEY_MAX	  sizeof(struct wire_provider_key)
#define VALUE_MAX sizeof(struct wire_source)
#define MOST	  512

/* Entries for one call: there are some thousands, and a call for each takes too long. */
struct batch {
	int map;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t n;
	char keys[MOST * KEY_MAX];
	char values[MOST * VALUE_MAX];
};

_Static_assert(sizeof(struct wire_site) <= VALUE_MAX, "sites");
_Static_assert(sizeof(struct wire_provider) <= VALUE_MAX, "providers");
_Static_assert(sizeof(struct wire_step) <= VALUE_MAX, "steps");
_Static_assert(sizeof(struct wire_wrappers) <= VALUE_MAX, "wrappers");
_Static_assert(sizeof(struct wire_memory_key) <= VALUE_MAX, "keys in memory");
_Static_assert(sizeof(struct wire_query_table) <= VALUE_MAX, "tables of queries");
_Static_assert(sizeof(struct wire_provider_key) == sizeof(uint64_t), "a key in tables_clear()");

static int batch__send(struct batch *b)
{
	uint32_t n = b->n;

	b->n = 0;
	return n && bpf_map_update_batch(b->map, b->keys, b->values, &n, NULL) ? -errno : 0;
}

static int batch__add(struct batch *b, const void *key, const void *value)
{
	memcpy(b->keys + (size_t)b->n * b->key_size, key, b->key_size);
	memcpy(b->values + (size_t)b->n * b->value_size, value, b->value_size);
	return ++b->n == MOST ? batch__send(b) : 0;
}

static int add_site(struct batch *b, const struct attach_set *set, const struct plan_site *site)
{
	uint32_t cookie = attach_set__cookie(set, site);
	struct wire_site value;

	attach_set__site(set, site, &value);
	return batch__add(b, &cookie, &value);
}

static int add_providers(struct batch *b, const struct attach_set *set,
			 const struct plan_site *site)
{
	struct wire_provider_key key;
	struct wire_provider value;
	int err = 0;

	if (site->role != WIRE_ROLE_IDENTIFY && site->role != WIRE_ROLE_GUARD_QUERY &&
	    site->role != WIRE_ROLE_GUARD_CALLED)
		return 0;
	for (uint32_t i = 0; i < set->plan->n_queries && !err; i++)
		if (attach_set__provider(set, site, i, &key, &value))
			err = batch__add(b, &key, &value);
	return err;
}

static int add_steps(struct batch *b, const struct attach_set *set, const struct plan_site *site)
{
	struct wire_provider_key key;
	struct wire_step value;
	int err = 0;

	if (site->role != WIRE_ROLE_GUARD_CALLED)
		return 0;
	for (uint32_t i = 0; i < set->plan->n_steps && !err; i++)
		if (attach_set__step(set, site, i, &key, &value))
			err = batch__add(b, &key, &value);
	return err;
}

static int add_source(struct batch *b, const struct attach_set *set, const struct plan_site *site)
{
	struct wire_source value;
	uint32_t key;

	return attach_set__source(set, site, &key, &value) ? batch__add(b, &key, &value) : 0;
}

/* Add what each site of the set is, or looks up. */
static int fill_sites(int map, const struct attach_set *set, uint32_t key_size, uint32_t value_size,
		      int (*add)(struct batch *b, const struct attach_set *set,
				 const struct plan_site *site))
{
	struct batch b = {.map = map, .key_size = key_size, .value_size = value_size};

	for (uint32_t i = 0; i < set->plan->n_sites && map >= 0; i++) {
		const struct plan_site *site = &set->plan->sites[i];
		int err = attach_set__wants(set, site) ? add(&b, set, site) : 0;

		if (err)
			return err;
	}
	return batch__send(&b);
}

static int fill_wrappers(int map, const struct attach_set *set)
{
	struct batch b = {
		.map = map,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct wire_wrappers),
	};
	struct wire_wrappers value;

	for (uint32_t i = 0; i < set->plan->n_queries; i++) {
		uint32_t key = wire_lib_key(set->lib, i);
		int err = attach_set__wrappers(set, i, &value) ? batch__add(&b, &key, &value) : 0;

		if (err)
			return err;
	}
	return batch__send(&b);
}

static int fill_memory_keys(int map, const struct attach_set *set)
{
	struct batch b = {
		.map = map,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct wire_memory_key),
	};

	for (uint32_t i = 0; i < set->plan->n_queries; i++) {
		const struct plan_query *q = &set->plan->queries[i];
		uint32_t key = wire_lib_key(set->lib, i);
		bool has = q->key == WIRE_KEY_MEMORY || q->key_by_address;
		int err = has ? batch__add(&b, &key, &q->memory) : 0;

		if (err)
			return err;
	}
	return batch__send(&b);
}

static int fill_layout(const struct tables *t, const struct attach_set *set)
{
	struct wire_layout layout = set->plan->layout.wire;
	const struct plan *plan = set->plan;
	uint32_t lib = set->lib;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].role == WIRE_ROLE_DROP && !plan_site__feeds(&plan->sites[i]))
			layout.current.code = plan->sites[i].addr - plan->sites[i].offset;
	return bpf_map_update_elem(t->layouts, &lib, &layout, BPF_ANY) ||
			       bpf_map_update_elem(t->expansions, &lib, &plan->expansions, BPF_ANY)
		       ? -errno
		       : 0;
}

/* Where all executions are recorded, their keys are too. Of fed results there is no execution. */
static bool wants_keys(const struct attach_set *set, const struct plan_query *q)
{
	return !filter__passes_all_queries(set->filter) && plan_query__has_keys(q) &&
	       plan_query__fed(set->plan, q) != PLAN_FED_LOCAL;
}

/* Those of queries whose table is not known have none. */
static int fill_query_tables(const struct tables *t, const struct attach_set *set)
{
	struct batch b = {
		.map = t->query_tables,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct wire_query_table),
	};
	struct wire_tables all = set->plan->tables;
	uint32_t lib = set->lib;
	int err = 0;

	/* Names are copied all the same where `finished` is reached. */
	if (!filter__wants_readings(set->filter))
		all.n = 0;
	for (uint32_t i = 0; i < set->plan->n_queries && all.n && !err; i++) {
		const struct plan_query *q = &set->plan->queries[i];
		uint32_t key = wire_lib_key(set->lib, i);
		struct wire_query_table table = q->table;

		/* Symbols are no execution's key. */
		table.keys = wants_keys(set, q) || q->table.has_text;
		table.instances = plan_query__of_instances(q);
		if (table.kind)
			err = batch__add(&b, &key, &table);
	}
	err = err ?: batch__send(&b);
	if (err)
		return err;
	return bpf_map_update_elem(t->tables, &lib, &all, BPF_ANY) ? -errno : 0;
}

/* Without tables, samples have no jobs. */
static int fill_jobs(int map, const struct attach_set *set)
{
	_free_ struct wire_job_tables *all = map < 0 ? NULL : calloc(1, sizeof(*all));
	uint32_t lib = set->lib;

	if (!all)
		return map < 0 ? 0 : -ENOMEM;
	if (!active_jobs__tables(set->plan, all))
		return 0;
	return bpf_map_update_elem(map, &lib, all, BPF_ANY) ? -errno : 0;
}

int tables_fill(const struct tables *t, const struct attach_set *set)
{
	const uint32_t key_size = sizeof(struct wire_provider_key);
	int err = fill_sites(t->sites, set, sizeof(uint32_t), sizeof(struct wire_site), add_site)
			  ?: fill_sites(t->providers, set, key_size, sizeof(struct wire_provider),
					add_providers)
			  ?: fill_sites(t->steps, set, key_size, sizeof(struct wire_step),
					add_steps)
			  ?: fill_layout(t, set) ?: fill_query_tables(t, set)
			  ?: fill_sites(t->sources, set, sizeof(uint32_t),
					sizeof(struct wire_source), add_source)
			  ?: fill_memory_keys(t->memory_keys, set)
			  ?: fill_jobs(t->jobs, set);

	return err || !set->callers ? err : fill_wrappers(t->wrappers, set);
}

int tables_fill_hits(const struct tables *t, const struct attach_set *set,
		     const struct plan_hits *hits)
{
	struct batch b = {
		.map = t->sites,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct wire_site),
	};
	int err = 0;

	for (uint32_t i = 0; i < hits->n && !err; i++) {
		uint32_t cookie = set->first + i;
		struct wire_site value;

		attach_set__hit(set, &hits->items[i], &value);
		err = batch__add(&b, &cookie, &value);
	}
	return err ?: batch__send(&b);
}

/* What is to be deleted: of a library, or of its sites. */
struct leaving {
	uint8_t lib;
	struct site_range sites;
};

static bool is_of_site(const void *key, const struct leaving *l)
{
	return ((const struct wire_provider_key *)key)->site - l->sites.first < l->sites.n;
}

static bool is_of_query(const void *key, const struct leaving *l)
{
	return *(const uint32_t *)key >> 16 == l->lib;
}

/* The kernel restarts after a key that was deleted, so the next key is read before that. */
static void clear(int map, const struct leaving *l,
		  bool (*leaves)(const void *key, const struct leaving *l))
{
	uint64_t key, next;
	bool more = !bpf_map_get_next_key(map, NULL, &key);

	while (more) {
		more = !bpf_map_get_next_key(map, &key, &next);
		if (leaves(&key, l))
			bpf_map_delete_elem(map, &key);
		key = next;
	}
}

void tables_clear(const struct tables *t, uint8_t lib, struct site_range sites)
{
	const struct leaving l = {lib, sites};

	clear(t->providers, &l, is_of_site);
	clear(t->steps, &l, is_of_site);
	clear(t->wrappers, &l, is_of_query);
	clear(t->sources, &l, is_of_query);
	clear(t->memory_keys, &l, is_of_query);
	clear(t->query_tables, &l, is_of_query);
	if (t->jobs >= 0)
		bpf_map_delete_elem(t->jobs, &(uint32_t){lib});
}
