// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define ENTRY_MAX 12
#define MOST	  512

/* Entries on their way into a map: a call for each of some thousands takes longer than they do. */
struct batch {
	int map;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t n;
	char keys[MOST * ENTRY_MAX];
	char values[MOST * ENTRY_MAX];
};

_Static_assert(sizeof(struct wire_provider_key) <= ENTRY_MAX, "key of providers and steps");
_Static_assert(sizeof(struct wire_provider) <= ENTRY_MAX, "providers");
_Static_assert(sizeof(struct wire_step) <= ENTRY_MAX, "steps");
_Static_assert(sizeof(struct wire_wrappers) <= ENTRY_MAX, "wrappers");

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

static bool looks_up(const struct plan_site *site)
{
	return site->role == WIRE_ROLE_IDENTIFY || site->role == WIRE_ROLE_GUARD_QUERY ||
	       site->role == WIRE_ROLE_GUARD_CALLED;
}

static int add_providers(struct batch *b, const struct choice *c, const struct plan_site *site)
{
	struct wire_provider_key key;
	struct wire_provider value;
	int err = 0;

	for (uint32_t i = 0; i < c->plan->n_queries && !err; i++)
		if (choice__provider(c, site, i, &key, &value))
			err = batch__add(b, &key, &value);
	return err;
}

static int fill_providers(int map, const struct choice *c)
{
	struct batch b = {
		.map = map,
		.key_size = sizeof(struct wire_provider_key),
		.value_size = sizeof(struct wire_provider),
	};
	int err = 0;

	for (uint32_t i = 0; i < c->plan->n_sites && !err; i++) {
		const struct plan_site *site = &c->plan->sites[i];

		if (looks_up(site) && choice__wants(c, site))
			err = add_providers(&b, c, site);
	}
	return err ?: batch__send(&b);
}

static int add_steps(struct batch *b, const struct choice *c, const struct plan_site *site)
{
	struct wire_provider_key key;
	struct wire_step value;
	int err = 0;

	for (uint32_t i = 0; i < c->plan->n_steps && !err; i++)
		if (choice__step(c, site, i, &key, &value))
			err = batch__add(b, &key, &value);
	return err;
}

static int fill_steps(int map, const struct choice *c)
{
	struct batch b = {
		.map = map,
		.key_size = sizeof(struct wire_provider_key),
		.value_size = sizeof(struct wire_step),
	};
	int err = 0;

	for (uint32_t i = 0; i < c->plan->n_sites && !err; i++) {
		const struct plan_site *site = &c->plan->sites[i];

		if (site->role == WIRE_ROLE_GUARD_CALLED && choice__wants(c, site))
			err = add_steps(&b, c, site);
	}
	return err ?: batch__send(&b);
}

static int fill_wrappers(int map, const struct choice *c)
{
	struct batch b = {
		.map = map,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct wire_wrappers),
	};
	struct wire_wrappers value;
	int err = 0;

	for (uint32_t i = 0; i < c->plan->n_queries && !err; i++) {
		uint32_t key = wire_wrapper_key(c->lib, i);

		if (choice__wrappers(c, i, &value))
			err = batch__add(&b, &key, &value);
	}
	return err ?: batch__send(&b);
}

int tables_fill(const struct tables *t, const struct choice *c)
{
	int err = fill_providers(t->providers, c);

	if (!err)
		err = fill_steps(t->steps, c);
	if (!err && c->callers)
		err = fill_wrappers(t->wrappers, c);
	return err;
}
