// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Strings of one mapping. */
#define RUN 4096

/* In key_of: an execution was noted, and its key is not known. */
#define NO_KEY UINT32_MAX

static int note_own(struct keys *k, uint32_t key, uint32_t *invocation)
{
	if (array__reserve_one(&k->own, k->n_own, &k->own_capacity, sizeof(*k->own)))
		return -ENOMEM;
	*invocation = KEYS_OWN_IDS + k->n_own;
	k->own[k->n_own++] = key;
	return 0;
}

static int number_key(struct keys *k, uint64_t key, uint32_t *number)
{
	const struct key *found = table__get(&k->distinct, key, .key = key);

	if (!found)
		return -ENOMEM;
	*number = (uint32_t)(found - k->distinct.at) + 1;
	return 0;
}

static int note_number(struct keys *k, uint32_t number, uint32_t invocation)
{
	uint32_t *known;

	if (invocation >= EXECUTIONS_MAX)
		return 0;
	if (invocation >= k->n &&
	    array__reserve_at(&k->key_of, invocation, &k->n, sizeof(*k->key_of)))
		return -ENOMEM;
	known = &k->key_of[invocation];
	if (*known && *known != number)
		return number_key(k, KEY_SHARED, known);
	*known = number;
	return 0;
}

int keys__note(struct keys *k, uint64_t key, uint32_t *invocation)
{
	uint32_t number = NO_KEY;
	int err = key ? number_key(k, key, &number) : 0;

	if (err)
		return err;
	if (*invocation != TRACE_NO_INVOCATION)
		return note_number(k, number, *invocation);
	return key ? note_own(k, number, invocation) : 0;
}

int keys__note_text(struct keys *k, uint32_t string, uint32_t *invocation)
{
	uint32_t number;

	if (string >= KEY_TEXT)
		return 0;
	k->texts = true;
	return number_key(k, KEY_TEXT + string, &number) ?: note_own(k, number, invocation);
}

int keys__note_part(struct keys *k, uint32_t string, uint64_t span, uint32_t *invocation)
{
	const struct key_part part = {.span = span, .string = string};
	uint32_t number;

	if (k->n_parts >= KEY_PART)
		return 0;
	if (array__add(&k->parts, &k->n_parts, &k->parts_capacity, &part))
		return -ENOMEM;
	k->texts = true;
	return number_key(k, KEY_PART + k->n_parts - 1, &number) ?: note_own(k, number, invocation);
}

static bool is_part(uint64_t key)
{
	return key >= KEY_PART && key < KEY_TEXT;
}

static bool is_text(uint64_t key)
{
	return key >= KEY_TEXT && key <= UINT32_MAX;
}

static int file_string(const struct keys_naming *how, struct place_file *file, uint32_t *string)
{
	int err = 0;

	if (!file->string) {
		err = how->sink->text(how->sink->items, sources__name(how->sources, file),
				      &file->string);
		file->string += !err;
	}
	*string = file->string - 1;
	return err;
}

/* "#[derive(A)]", a separator, "src/lib.rs:3:10: 3:11": as rustc has it. */
static int name_part(const struct keys_naming *how, const struct key_part *part, uint32_t *string)
{
	static const char separator[] = {MM_SEPARATOR, '\0'};
	struct place_range range;
	char place[64];
	uint32_t file;
	int err;

	*string = part->string;
	if (!sources__range(how->sources, &how->layout->wire.places, part->span, &range))
		return 0;
	snprintf(place, sizeof(place), ":%" PRIu32 ":%" PRIu32 ": %" PRIu32 ":%" PRIu32, range.line,
		 range.column, range.end_line, range.end_column);
	err = file_string(how, range.file, &file);
	return err
		       ?: how->sink->compose(how->sink->items,
					     (const struct trace_piece[]){{.id = part->string},
									  {.text = separator},
									  {.id = file},
									  {.text = place}},
					     4, string);
}

/* Without `numbered`, only if it has a path. */
static int name_foreign(const struct keys_naming *how, uint64_t key, uint32_t *string,
			bool *numbered)
{
	const struct crates_naming naming = {
		.sink = how->sink,
		.definitions = how->definitions,
		.layout = how->layout,
		.dependencies = how->dependencies,
	};

	return crates__string(how->crates, &naming, wire_key_crate(key), (uint32_t)key, string,
			      numbered);
}

static int name_key(const struct keys *k, const struct keys_naming *how, struct key *key)
{
	key->string = TRACE_NO_STRING;
	if (key->key == KEY_SHARED)
		return 0;
	if (is_part(key->key))
		return name_part(how, &k->parts[key->key - KEY_PART], &key->string);
	if (is_text(key->key)) {
		key->string = (uint32_t)key->key - KEY_TEXT;
		return 0;
	}
	if (key->key == KEY_UNIT)
		return how->sink->text(how->sink->items, "()", &key->string);
	if (wire_key_crate(key->key) != WIRE_KEY_LOCAL_CRATE)
		return name_foreign(how, key->key, &key->string, &key->numbered);
	return definitions__string(how->definitions, how->layout, how->crate, (uint32_t)key->key,
				   how->sink, &key->string);
}

/* Report where the definition that a key names begins. */
static int place_key(const struct keys_naming *how, struct key *key)
{
	struct trace_place place = {
		.process = how->process, .string = key->string, .call_file = TRACE_NO_STRING};
	struct place found, call;
	int err;

	if (key->placed || key->string == TRACE_NO_STRING || !how->sink->place ||
	    wire_key_crate(key->key) != WIRE_KEY_LOCAL_CRATE)
		return 0;
	key->placed = true;
	if (!sources__find(how->sources, &how->layout->wire.places, (uint32_t)key->key, &found))
		return 0;
	place.line = found.line;
	err = file_string(how, found.file, &place.file);
	if (!err && sources__call(how->sources, &how->layout->wire.calls, &found, &call)) {
		place.call_line = call.line;
		err = file_string(how, call.file, &place.call_file);
	}
	return err ?: how->sink->place(how->sink->items, &place);
}

static bool has_key(uint32_t key_of)
{
	return key_of && key_of != NO_KEY;
}

/* Map `n` ids from `first` on. */
static int map_run(const struct keys *k, const struct keys_naming *how, const uint32_t *key_of,
		   uint32_t first, uint32_t n, uint32_t empty, uint64_t *n_unnamed)
{
	uint32_t strings[RUN];
	struct trace_mapping m = {
		.process = how->process, .first = first, .n = n, .strings = strings};

	for (uint32_t i = 0; i < n; i++) {
		bool known = has_key(key_of[i]);
		const struct key *key = known ? &k->distinct.at[key_of[i] - 1] : NULL;
		uint32_t string = key ? key->string : TRACE_NO_STRING;

		*n_unnamed += key && (key->numbered || string == TRACE_NO_STRING);
		strings[i] = string == TRACE_NO_STRING ? empty : string;
	}
	return how->sink->map(how->sink->ctx, &m);
}

/*
 * The first time, ids without an execution are mapped too, so that there are few runs. Later that
 * would take the names from those that were mapped before.
 */
static int map_all(const struct keys *k, const struct keys_naming *how, const uint32_t *key_of,
		   uint32_t n, uint32_t first, uint64_t *n_unnamed)
{
	uint32_t empty, now;
	int err = how->sink->text(how->sink->items, "", &empty);

	while (n && !key_of[n - 1])
		n--;
	for (uint32_t i = 0; i < n && !err; i += now ?: 1) {
		now = 0;
		while (i + now < n && now < RUN && (key_of[i + now] || !k->named))
			now++;
		if (now)
			err = map_run(k, how, key_of + i, first + i, now, empty, n_unnamed);
	}
	return err;
}

/* Without a table no definition has a name. */
static void count_unnamed(const struct keys *k, const uint32_t *key_of, uint32_t n,
			  uint64_t *n_unnamed)
{
	for (uint32_t i = 0; i < n; i++)
		*n_unnamed += has_key(key_of[i]) && k->distinct.at[key_of[i] - 1].key != KEY_UNIT;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = (*(struct key *const *)a)->key, y = (*(struct key *const *)b)->key;

	return (x > y) - (x < y);
}

/* In the order of the keys: neighbours have most of their names in common, which saves room. */
static int name_keys(struct keys *k, const struct keys_naming *how)
{
	_free_ struct key **sorted = calloc(k->distinct.n + 1UL, sizeof(*sorted));
	int err = sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < k->distinct.n && sorted; i++)
		sorted[i] = &k->distinct.at[i];
	if (sorted)
		qsort(sorted, k->distinct.n, sizeof(*sorted), compare_keys);
	for (uint32_t i = 0; i < k->distinct.n && !err; i++)
		err = name_key(k, how, sorted[i]) ?: place_key(how, sorted[i]);
	return err;
}

/* Nothing may be added to NULL, not even 0. */
static const uint32_t *own_unnamed(const struct keys *k)
{
	return k->own ? k->own + k->n_own_named : NULL;
}

int keys__name(struct keys *k, const struct keys_naming *how, uint64_t *n_unnamed)
{
	int err = 0;

	if (how->definitions->table.size || k->texts) {
		err = name_keys(k, how);
		if (!err)
			err = map_all(k, how, k->key_of, k->n, 0, n_unnamed);
		if (!err)
			err = map_all(k, how, own_unnamed(k), k->n_own - k->n_own_named,
				      KEYS_OWN_IDS + k->n_own_named, n_unnamed);
	} else {
		count_unnamed(k, k->key_of, k->n, n_unnamed);
		count_unnamed(k, own_unnamed(k), k->n_own - k->n_own_named, n_unnamed);
	}
	k->named = true;
	k->n_own_named = k->n_own;
	free(take_ptr(k->key_of));
	k->n = 0;
	return err;
}

int keys__name_definition(struct keys *k, const struct keys_naming *how, uint64_t definition,
			  uint32_t *string)
{
	struct key *key;
	int err;

	if (wire_key_crate(definition) != WIRE_KEY_LOCAL_CRATE)
		return name_foreign(how, definition, string, NULL);
	key = table__get(&k->distinct, definition, .key = definition);
	err = key ? name_key(k, how, key) ?: place_key(how, key) : -ENOMEM;
	if (!err)
		*string = key->string;
	return err;
}

void keys__clear(struct keys *k)
{
	table__destroy(&k->distinct);
	free(k->key_of);
	free(k->own);
	free(k->parts);
	*k = (struct keys){0};
}
