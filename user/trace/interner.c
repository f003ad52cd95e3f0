// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/interner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qprof/trace_format.h"

struct interned {
	char *text;
	uint32_t older; /* with the same hash, or U64_MAP_NONE */
};

/* FNV-1a. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ULL;
	return hash;
}

static int reserve_one(struct interner *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : 512;
	struct interned *texts;

	if (t->n < t->capacity)
		return 0;
	texts = reallocarray(t->texts, capacity, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	t->texts = texts;
	t->capacity = capacity;
	return 0;
}

static int make_room(struct interner *t, size_t size)
{
	if (size > QPT_TEXT_MAX || size > QPT_STRING_BYTES_MAX - t->bytes ||
	    t->n == QPT_STRINGS_MAX)
		return -E2BIG;
	return reserve_one(t);
}

static int add(struct interner *t, const char *text, uint64_t hash)
{
	struct interned new = {.older = u64_map__get(&t->newest, hash)};
	size_t size = strlen(text);
	int err = make_room(t, size);

	if (err)
		return err;
	new.text = strdup(text);
	if (!new.text)
		return -ENOMEM;
	if (u64_map__put(&t->newest, hash, t->n)) {
		free(new.text);
		return -ENOMEM;
	}
	t->texts[t->n++] = new;
	t->bytes += size;
	return 0;
}

int interner__id(struct interner *t, const char *text, uint32_t *id, bool *is_new)
{
	uint64_t hash = hash_text(text);
	uint32_t i = u64_map__get(&t->newest, hash);
	int err;

	while (i != U64_MAP_NONE && strcmp(t->texts[i].text, text))
		i = t->texts[i].older;
	if (i != U64_MAP_NONE) {
		*id = i;
		*is_new = false;
		return 0;
	}
	err = add(t, text, hash);
	if (err)
		return err;
	*id = t->n - 1;
	*is_new = true;
	return 0;
}

int interner__add(struct interner *t, const char *text, uint32_t *id)
{
	size_t size = strlen(text);
	int err = make_room(t, size);

	if (err)
		return err;
	*id = t->n;
	t->texts[t->n++] = (struct interned){.older = U64_MAP_NONE};
	t->bytes += size;
	return 0;
}

const char *interner__text(const struct interner *t, uint32_t id)
{
	return t->texts[id].text;
}

void interner__destroy(struct interner *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->texts[i].text);
	free(t->texts);
	u64_map__destroy(&t->newest);
	*t = (struct interner){0};
}
