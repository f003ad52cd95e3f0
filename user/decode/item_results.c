// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/item_results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Definitions of a crate have smaller numbers, with room for such as have no names. */
#define INDEX_MAX (1u << 24)
#define WORD_BITS 64
/* Of all sets together: half a million definitions for each of 1,024 queries. */
#define WORDS_MOST (1u << 23)

static void forget(struct item_keys *k)
{
	free(take_ptr(k->at));
	free(take_ptr(k->foreign));
	k->n = k->capacity = k->others = k->n_foreign = k->foreign_capacity = 0;
	k->ready = k->unsure = false;
}

void item_results__clear(struct item_results *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		forget(&r->of[i]);
	free(r->of);
	*r = (struct item_results){0};
}

int item_results__begin(struct item_results *r, uint32_t n)
{
	if (r->n != n) {
		item_results__clear(r);
		r->of = calloc(n, sizeof(*r->of));
		if (!r->of)
			return -ENOMEM;
		r->n = n;
	}
	for (uint32_t i = 0; i < n; i++) {
		r->of[i].unknown |= r->of[i].ready;
		forget(&r->of[i]);
	}
	return 0;
}

static bool is_many(const struct library *lib, uint32_t query)
{
	return lib->items && (lib->items[query] == LIBRARY_ITEMS_MANY ||
			      lib->items[query] == LIBRARY_ITEMS_INSTANCES);
}

static int add_instances(struct item_keys *k, const struct wire_piece *piece, uint32_t n)
{
	struct wire_instance instance;
	uint32_t index;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		memcpy(&instance, piece->bytes + i * sizeof(instance), sizeof(instance));
		index = (uint32_t)instance.key;
		if (instance.key && index >= INDEX_MAX)
			return 0;
		if (instance.key && wire_key_crate(instance.key) == WIRE_KEY_LOCAL_CRATE) {
			err = array__add(&k->at, &k->n, &k->capacity, &index);
			continue;
		}
		k->others++;
		if (instance.key)
			err = array__add(&k->foreign, &k->n_foreign, &k->foreign_capacity,
					 &instance.key);
	}
	return err ? -ENOMEM : 0;
}

/* Behind a gap, or a number that is no key, the rest is left out: then too few are there. */
int item_results__add(struct item_results *r, const struct library *lib,
		      const struct wire_piece *piece)
{
	bool instances = piece->table == WIRE_TABLE_INSTANCES;
	uint32_t each = instances ? sizeof(struct wire_instance) : sizeof(uint32_t);
	uint32_t n = piece->size / each, key;
	struct item_keys *k;

	if (piece->size % each || n > WIRE_KEYS_MAX || piece->number >= lib->n_labels)
		return -EBADMSG;
	if (piece->number >= r->n)
		return 0;
	k = &r->of[piece->number];
	if (k->ready || (uint64_t)k->n + k->others != piece->offset / each)
		return 0;
	if (instances)
		return add_instances(k, piece, n);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&key, piece->bytes + i * sizeof(key), sizeof(key));
		if (key == WIRE_KEY_OF_OTHERS && is_many(lib, piece->number)) {
			k->others++;
			continue;
		}
		key -= lib->key_mark;
		if (key >= INDEX_MAX)
			return 0;
		if (array__add(&k->at, &k->n, &k->capacity, &key))
			return -ENOMEM;
	}
	return 0;
}

void item_results__miss(struct item_results *r, uint32_t query)
{
	if (query >= r->n)
		return;
	r->of[query].unknown = true;
	forget(&r->of[query]);
}

void item_results__miss_all(struct item_results *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->of[i].ready)
			item_results__miss(r, i);
}

bool item_results__settle(struct item_results *r, uint32_t query, uint32_t n, uint64_t unsure)
{
	struct item_keys *k = query < r->n ? &r->of[query] : NULL;

	if (!k || (uint64_t)k->n + k->others != n) {
		item_results__miss(r, query);
		return false;
	}
	k->ready = true;
	k->unsure = unsure;
	return true;
}

bool item_results__leave_out(struct item_results *r, uint32_t query, uint32_t *at, uint32_t n)
{
	struct item_keys *k = query < r->n ? &r->of[query] : NULL;
	uint32_t kept = 0, next = 0;

	if (!k || !k->ready || k->others)
		return false;
	qsort(at, n, sizeof(*at), array__by_u32);
	for (uint32_t i = 0; i < n; i++)
		if (at[i] >= k->n || (i && at[i] == at[i - 1]))
			return false;
	for (uint32_t i = 0; i < k->n; i++) {
		if (next < n && at[next] == i)
			next++;
		else
			k->at[kept++] = k->at[i];
	}
	k->n = kept;
	return true;
}

void item_results__doubt(struct item_results *r, uint32_t query)
{
	if (query < r->n)
		r->of[query].unsure = true;
}

/* Sets of definitions, in the order of their numbers. */
struct naming {
	const struct item_results_naming *how;
	uint64_t *set;	   /* bits */
	uint32_t *again;   /* by definition: how often more it is in the set */
	uint32_t *strings; /* by definition, + 1; 0: not asked for yet */
	uint32_t n_words;
	struct trace_results out;
	uint32_t run[TRACE_RESULTS_MAX];
};

static void naming__free(struct naming *m)
{
	if (!m)
		return;
	free(m->set);
	free(m->again);
	free(m->strings);
	free(m);
}
DEFINE_CLEANUP(struct naming, naming__free)

static struct naming *naming__new(const struct item_results *r,
				  const struct item_results_naming *how)
{
	__cleanup(naming__free_p) struct naming *m = calloc(1, sizeof(*m));
	uint32_t last = 0;

	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < r->of[i].n; k++)
			last = r->of[i].at[k] > last ? r->of[i].at[k] : last;
	if (!m)
		return NULL;
	m->how = how;
	m->n_words = last / WORD_BITS + 1;
	m->set = calloc(m->n_words, sizeof(*m->set));
	m->again = calloc((size_t)m->n_words * WORD_BITS, sizeof(*m->again));
	m->strings = calloc((size_t)m->n_words * WORD_BITS, sizeof(*m->strings));
	return m->set && m->again && m->strings ? take_ptr(m) : NULL;
}

/* False: a definition is there twice, which is not one of `many`, so these are no keys. */
static bool make_set(struct naming *m, const struct item_keys *k, bool many)
{
	memset(m->set, 0, m->n_words * sizeof(*m->set));
	for (uint32_t i = 0; i < k->n; i++) {
		uint64_t bit = 1ull << k->at[i] % WORD_BITS, *word = &m->set[k->at[i] / WORD_BITS];

		if (*word & bit && !many)
			return false;
		m->again[k->at[i]] += *word & bit ? 1 : 0;
		*word |= bit;
	}
	return true;
}

static int flush(struct naming *m)
{
	int err = m->out.n ? m->how->sink->results(m->how->sink->ctx, &m->out) : 0;

	m->out.n = 0;
	return err;
}

static int give_one(struct naming *m, uint32_t index, uint64_t *n_unnamed)
{
	uint32_t *string = &m->strings[index];
	int err = 0;

	if (!*string) {
		err = m->how->name(m->how->ctx, wire_key(WIRE_KEY_LOCAL_CRATE, index), string);
		++*string;
	}
	if (err)
		return err;
	if (*string == TRACE_NO_STRING + 1) {
		++*n_unnamed;
		return 0;
	}
	m->run[m->out.n++] = *string - 1;
	return m->out.n == TRACE_RESULTS_MAX ? flush(m) : 0;
}

static int give_all_of(struct naming *m, uint32_t index, uint64_t *n_unnamed)
{
	int err;

	do
		err = give_one(m, index, n_unnamed);
	while (!err && m->again[index] && m->again[index]--);
	return err;
}

static int give_query(struct naming *m, bool only_crate, uint64_t *n_unnamed)
{
	int err = 0;

	/* The number of the crate itself, and of its root. */
	if (only_crate)
		return m->set[0] & 1 ? give_one(m, 0, n_unnamed) ?: flush(m) : 0;
	for (uint32_t w = 0; w < m->n_words && !err; w++)
		for (uint64_t left = m->set[w]; left && !err; left &= left - 1)
			err = give_all_of(m, w * WORD_BITS + (uint32_t)__builtin_ctzll(left),
					  n_unnamed);
	return err ?: flush(m);
}

/* The query with the fewest instances, or NULL: of one it is unknown how many there are. */
static struct item_keys *fewest(const struct item_results *r, const struct library *lib)
{
	struct item_keys *found = NULL;

	for (uint32_t i = 0; i < r->n; i++) {
		struct item_keys *k = &r->of[i];

		if (lib->items[i] != LIBRARY_ITEMS_INSTANCES)
			continue;
		if (k->unknown || k->unsure)
			return NULL;
		if (!found || k->n + k->others < found->n + found->others)
			found = k;
	}
	return found && found->ready ? found : NULL;
}

static int give_foreign(struct naming *m, struct item_keys *k)
{
	uint32_t string = TRACE_NO_STRING;
	int err = 0;

	qsort(k->foreign, k->n_foreign, sizeof(*k->foreign), array__by_u64);
	for (uint32_t i = 0; i < k->n_foreign && !err; i++) {
		if (!i || k->foreign[i] != k->foreign[i - 1])
			err = m->how->name(m->how->ctx, k->foreign[i], &string);
		if (err || string == TRACE_NO_STRING)
			continue;
		m->run[m->out.n++] = string;
		err = m->out.n == TRACE_RESULTS_MAX ? flush(m) : 0;
	}
	return err ?: flush(m);
}

int item_results__give(struct item_results *r, const struct item_results_naming *how,
		       uint64_t *n_unnamed, uint64_t *lost)
{
	__cleanup(naming__free_p) struct naming *m = naming__new(r, how);
	const struct item_keys *least = fewest(r, how->lib);
	int err = m ? 0 : -ENOMEM;
	uint64_t words = 0;

	for (uint32_t i = 0; i < r->n && !err; i++) {
		struct item_keys *k = &r->of[i];
		uint64_t unnamed = 0;
		bool true_keys;

		words += k->ready ? m->n_words : 0;
		true_keys = k->ready && words <= WORDS_MOST && make_set(m, k, is_many(how->lib, i));
		if (k->ready && !true_keys) {
			k->unknown = true;
			++*lost;
		}
		if (true_keys) {
			m->out = (struct trace_results){
				.process = how->process,
				.label = how->lib->labels[i],
				.kind = k->unsure ? TRACE_RESULTS_UNSURE : TRACE_RESULTS_EXECUTED,
				.items = m->run,
			};
			err = give_query(m, how->lib->items[i] == LIBRARY_ITEM_CRATE, &unnamed);
			if (!err && k == least)
				err = give_foreign(m, k);
			/* The list lacks these. */
			k->unknown |= unnamed > 0;
			*n_unnamed += unnamed;
		}
		forget(k);
	}
	return err;
}

int item_results__end(struct item_results *r, const struct item_results_naming *how)
{
	struct trace_results out = {.process = how->process, .kind = TRACE_RESULTS_UNKNOWN};
	int err = 0;

	for (uint32_t i = 0; i < r->n && !err; i++) {
		out.label = how->lib->labels[i];
		if (r->of[i].unknown)
			err = how->sink->results(how->sink->ctx, &out);
	}
	return err;
}
