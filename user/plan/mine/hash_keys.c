// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hash_keys.h"

#include "qprof/wire.h"

/* Of the key: argument `argument`, or what it leads to. */
static bool is_of_key(const struct run_value *v, uint64_t argument, int64_t *at)
{
	*at = v->origin == ORIGIN_KEY ? (int64_t)(v->at % BODY_RUN_FAR) : 0;
	return (v->origin == ORIGIN_KEY && v->at / BODY_RUN_FAR == argument) ||
	       (v->origin == ORIGIN_ARGUMENT && v->at == argument);
}

static const char *find_keys(const struct body_run *r, uint64_t key, struct hash_keys *out)
{
	int64_t size = r->n_accesses ? -r->accesses[0].times : 0, at = -1, within;

	if (!size)
		return "its body does not show how large an entry of its cache is";
	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->times != -size || a->at < -size || a->at + a->size > 0)
			return "its body contradicts itself on how large an entry of its cache is";
		if (!is_of_key(&a->value, key, &within))
			continue;
		within = a->at + size - within;
		if (within < 0 || (at >= 0 && within != at))
			return "its body contradicts itself on where its cache has the key";
		at = within;
	}
	if (at < 0)
		return "its body does not show where its cache has the key";
	if (size > WIRE_ENTRY_MAX)
		return "an entry of its cache is larger than a reading has room for";
	*out = (struct hash_keys){(uint32_t)size, (uint32_t)at};
	return NULL;
}

/*
 * A body's arguments are the vtable, the context, a span and the key. Before them may be where its
 * result goes.
 */
int hash_keys__mine(const struct elf_image *img, uint64_t entry, const struct body_run_table *table,
		    struct hash_keys *out, const char **problem)
{
	struct body_run_table at = *table;

	*problem = "its body does not show which argument is the key";
	for (at.argument = 0; at.argument < 2; at.argument++) {
		_body_run_ struct body_run *r = NULL;
		int err = body_run__new(img, entry, 0, &at, &r);

		if (err)
			return err;
		if (r->context_argument != at.argument + 1)
			continue;
		*problem = find_keys(r, at.argument + 3, out);
		return 0;
	}
	return 0;
}
