// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hash_keys.h"

#include "qprof/wire.h"

#define TEXT_SIZE   16
#define NUMBER_SIZE 4

/* Of the key: argument `argument`, or what it leads to. */
static bool is_of_key(const struct run_value *v, uint64_t argument, int64_t *at)
{
	*at = v->origin == ORIGIN_KEY ? (int64_t)(v->at % BODY_RUN_FAR) : 0;
	return (v->origin == ORIGIN_KEY && v->at / BODY_RUN_FAR == argument) ||
	       (v->origin == ORIGIN_ARGUMENT && v->at == argument);
}

static bool is_apart(const struct run_access *a, int64_t from, int64_t end)
{
	return a->at + a->size <= from || a->at >= end;
}

/*
 * Where a result is that is a text, its address and its length, which are moved at once: apart from
 * all that is of the key, and beside the number of the result's node.
 */
static bool find_text(const struct body_run *r, int64_t size, uint64_t key, uint32_t *at)
{
	int64_t begin = 0, end = -size, text = 0, unused;
	bool has_number = false;

	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (!is_of_key(&a->value, key, &unused))
			continue;
		begin = a->at < begin ? a->at : begin;
		end = a->at + a->size > end ? a->at + a->size : end;
	}
	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->size != TEXT_SIZE || !is_apart(a, begin, end))
			continue;
		if (text && text != a->at)
			return false;
		text = a->at;
	}
	for (uint32_t i = 0; i < r->n_accesses && text; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->size != NUMBER_SIZE || !is_apart(a, begin, end))
			continue;
		if (!is_apart(a, text, text + TEXT_SIZE))
			return false;
		has_number |= a->at == text + TEXT_SIZE || a->at == text - 8;
	}
	if (has_number)
		*at = (uint32_t)(text + size);
	return has_number;
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
	*out = (struct hash_keys){.size = (uint32_t)size, .key = (uint32_t)at};
	out->has_text = find_text(r, size, key, &out->text);
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
