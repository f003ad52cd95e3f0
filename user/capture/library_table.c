// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/library_table.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "qprof/wire.h"

/* Numbers of a foreign user's libraries, including numbers that are not free again yet. */
#define NUMBERS_PER_USER (2 * LIBRARIES_PER_USER)
/* Of all foreign users together; the rest of WIRE_MAX_LIBS is for root and the invoker. */
#define FOREIGN_NUMBERS 160
/* The measurement of the probe costs takes one more, and number 0 has no library. */
#define MOST_NUMBERS (WIRE_MAX_LIBS - 2)
/* Failed libraries that are remembered. */
#define FAILED_MAX	256
#define FAILED_PER_USER 32

void library_table__destroy(struct library_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct library_table){0};
}

static bool is_same_user(const struct library *a, const struct library *b)
{
	return a->foreign == b->foreign && (!a->foreign || a->user == b->user);
}

/* Behind the queue of the same user, and level with the first libraries of other users. */
static uint64_t rank_of(const struct library_table *t, const struct library *of)
{
	uint64_t rank = t->rank;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct library *lib = t->items[i];

		if ((lib->stage == LIBRARY_QUEUED || lib->stage == LIBRARY_PLANNING) &&
		    is_same_user(lib, of) && lib->rank >= rank)
			rank = lib->rank + 1;
	}
	return rank;
}

int library_table__add(struct library_table *t, const struct library *new, struct library **out)
{
	struct library *lib = calloc(1, sizeof(*lib));

	if (!lib || array__reserve_one(&t->items, t->n, &t->capacity, sizeof(struct library *))) {
		free(lib);
		return -ENOMEM;
	}
	*lib = *new;
	lib->rank = rank_of(t, new);
	t->items[t->n++] = *out = lib;
	return 0;
}

void library_table__remove(struct library_table *t, struct library *lib)
{
	uint32_t i = 0;

	while (t->items[i] != lib)
		i++;
	memmove(&t->items[i], &t->items[i + 1], (t->n - i - 1) * sizeof(*t->items));
	t->n--;
	free(lib);
}

/* A library that failed has no open file, so its inode may be another file's by now. */
bool library__is_file(const struct library *lib, const struct library_file *file, uint64_t inode)
{
	if (lib->file && lib->inode && inode)
		return lib->inode == inode;
	return library_file__is_inode(file, lib->id.dev, lib->id.ino);
}

struct library *library_table__find(const struct library_table *t, const struct library_file *file,
				    uint64_t inode)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (library__is_file(t->items[i], file, inode))
			return t->items[i];
	return NULL;
}

bool library_table__is_probed(const struct library_table *t, const struct library *lib)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->items[i]->stage == LIBRARY_ATTACHED && lib->inode &&
		    t->items[i]->inode == lib->inode)
			return true;
	return false;
}

unsigned int library_table__count(const struct library_table *t, enum library_stage stage,
				  const struct library *of)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->items[i]->stage == stage && (!of || is_same_user(t->items[i], of));
	return n;
}

/* ---- Quotas ---------------------------------------------------------------------------------- */

static bool takes_number(const struct library *lib)
{
	return lib->stage != LIBRARY_FAILED;
}

static unsigned int count_live(const struct library_table *t, const struct library *of)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += takes_number(t->items[i]) && is_same_user(t->items[i], of);
	return n;
}

static bool is_full(const struct library_table *t, const struct library *of)
{
	if (of->foreign)
		return count_live(t, of) >= LIBRARIES_PER_USER;
	return count_live(t, of) + FOREIGN_NUMBERS >= MOST_NUMBERS;
}

bool library_table__has_room(const struct library_table *t, const struct library *lib,
			     uint32_t n_old)
{
	unsigned int foreign = n_old;

	for (uint32_t i = 0; i < t->n; i++)
		foreign += t->items[i]->foreign && takes_number(t->items[i]);
	return !is_full(t, lib) && (!lib->foreign || foreign < FOREIGN_NUMBERS);
}

struct library *library_table__idlest(const struct library_table *t, const struct library *of)
{
	bool user = is_full(t, of);
	struct library *found = NULL;

	for (uint32_t i = 0; i < t->n; i++) {
		struct library *lib = t->items[i];

		if (lib->stage == LIBRARY_ATTACHED && !lib->in_use &&
		    (user ? is_same_user(lib, of) : lib->foreign) &&
		    (!found || lib->used_ns < found->used_ns))
			found = lib;
	}
	return found;
}

struct library *library_table__oldest_failed(const struct library_table *t,
					     const struct library *of)
{
	bool user = of->foreign && library_table__count(t, LIBRARY_FAILED, of) > FAILED_PER_USER;
	struct library *found = NULL;

	if (!user && library_table__count(t, LIBRARY_FAILED, NULL) <= FAILED_MAX)
		return NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		struct library *lib = t->items[i];

		if (lib->stage == LIBRARY_FAILED && (!user || is_same_user(lib, of)) &&
		    (!found || lib->used_ns < found->used_ns))
			found = lib;
	}
	return found;
}

/* ---- The queue of plans ---------------------------------------------------------------------- */

static struct library *planned_foreign(const struct library_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->items[i]->stage == LIBRARY_PLANNING && t->items[i]->foreign)
			return t->items[i];
	return NULL;
}

/* A foreign user waits until enough of the numbers that are not free yet are. */
static bool is_ready(const struct library_table *t, const struct library *lib,
		     const struct retired_numbers *old, uint64_t now_ns)
{
	if (lib->stage != LIBRARY_QUEUED || now_ns < lib->begin_ns)
		return false;
	return !lib->foreign ||
	       (count_live(t, lib) + retired_numbers__of(old, lib->user) <= NUMBERS_PER_USER &&
		retired_numbers__n(old) < FOREIGN_NUMBERS);
}

struct library *library_table__next(const struct library_table *t,
				    const struct retired_numbers *old, uint64_t now_ns)
{
	const bool foreign = !planned_foreign(t);
	struct library *found = NULL;

	if (library_table__count(t, LIBRARY_PLANNING, NULL) >= LIBRARIES_PLANNERS)
		return NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		struct library *lib = t->items[i];

		if ((foreign || !lib->foreign) && is_ready(t, lib, old, now_ns) &&
		    (!found || lib->rank < found->rank))
			found = lib;
	}
	return found;
}

struct library *library_table__waited_for(const struct library_table *t,
					  const struct retired_numbers *old, uint64_t now_ns)
{
	struct library *lib = planned_foreign(t);

	for (uint32_t i = 0; i < t->n && lib; i++)
		if (t->items[i]->foreign && !is_same_user(t->items[i], lib) &&
		    is_ready(t, t->items[i], old, now_ns))
			return lib;
	return NULL;
}

void library_table__requeue(struct library_table *t, struct library *lib)
{
	lib->stage = LIBRARY_QUEUED;
	lib->rank = rank_of(t, lib);
}

void library_table__begin(struct library_table *t, struct library *lib)
{
	lib->stage = LIBRARY_PLANNING;
	if (lib->rank > t->rank)
		t->rank = lib->rank;
}
