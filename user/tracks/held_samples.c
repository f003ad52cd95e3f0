// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/held_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY (64u << 10)

static size_t size_of(const struct held_sample *s)
{
	return offsetof(struct held_sample, wire.frames) + s->wire.n * sizeof(*s->wire.frames);
}

static int make_room(struct held_samples *h, size_t size)
{
	size_t capacity = h->capacity ?: FIRST_CAPACITY;
	char *bytes;

	while (capacity - h->used < size)
		capacity *= 2;
	if (capacity == h->capacity)
		return 0;
	bytes = realloc(h->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	h->bytes = bytes;
	h->capacity = capacity;
	return 0;
}

int held_samples__add(struct held_samples *h, const struct held_sample *s)
{
	size_t size = size_of(s);
	int err = make_room(h, size);

	if (err)
		return err;
	memcpy(h->bytes + h->used, s, size);
	h->used += size;
	return 0;
}

bool held_samples__next(const struct held_samples *h, size_t *at, struct held_sample *out)
{
	if (*at == h->used)
		return false;
	memcpy(out, h->bytes + *at, offsetof(struct held_sample, wire.frames));
	memcpy(out, h->bytes + *at, size_of(out));
	*at += size_of(out);
	return true;
}

void held_samples__empty(struct held_samples *h)
{
	h->used = 0;
}

void held_samples__clear(struct held_samples *h)
{
	free(h->bytes);
	*h = (struct held_samples){0};
}
