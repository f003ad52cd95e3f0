// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/retired_numbers.h"

#include <errno.h>

#include "base/array.h"

/*
 * An exiting process loses its mappings a moment before its threads' stacks are sent, so a scan may
 * not have found it as a user of the library.
 */
#define EXIT_NS 1000000000ull

struct old_number {
	uint8_t lib;
	uid_t uid;
	uint64_t since_ns;
	pid_t *pids;
	uint32_t n;
	bool gone; /* all processes have exited; the next call comes after a drain */
};

struct retired_numbers {
	struct old_number *items;
	uint32_t n;
	uint32_t capacity;
};

int retired_numbers__new(struct retired_numbers **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

int retired_numbers__add(struct retired_numbers *o, uint8_t lib, uid_t uid, uint64_t now_ns,
			 pid_t *pids, uint32_t n)
{
	if (array__reserve_one(&o->items, o->n, &o->capacity, sizeof(*o->items))) {
		free(pids);
		return -ENOMEM;
	}
	o->items[o->n++] = (struct old_number){lib, uid, now_ns, pids, n, false};
	return 0;
}

static bool is_free(struct old_number *old, uint64_t now_ns, const struct retired_numbers_ops *ops,
		    void *ctx)
{
	uint32_t kept = 0;

	if (old->gone)
		return true;
	if (now_ns < old->since_ns + EXIT_NS)
		return false;
	for (uint32_t i = 0; i < old->n; i++)
		if (ops->follows(ctx, old->pids[i]))
			old->pids[kept++] = old->pids[i];
	old->n = kept;
	old->gone = !old->n;
	return false;
}

void retired_numbers__settle(struct retired_numbers *o, uint64_t now_ns,
			     const struct retired_numbers_ops *ops, void *ctx)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		struct old_number *old = &o->items[i];

		if (!is_free(old, now_ns, ops, ctx)) {
			o->items[kept++] = *old;
			continue;
		}
		free(old->pids);
		ops->release(ctx, old->lib);
	}
	o->n = kept;
}

uint32_t retired_numbers__n(const struct retired_numbers *o)
{
	return o->n;
}

uint32_t retired_numbers__of(const struct retired_numbers *o, uid_t uid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++)
		n += o->items[i].uid == uid;
	return n;
}

void retired_numbers__free(struct retired_numbers *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		free(o->items[i].pids);
	free(o->items);
	free(o);
}
