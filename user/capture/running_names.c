// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/running_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct running_names {
	const struct kernel *kernel;
	struct look *look;
	pid_t pid;	   /* that is read now, ... */
	uint64_t until_ns; /* ... until then */
	struct plan_layout layouts[WIRE_MAX_LIBS + 1];
};

int running_names__new(const struct kernel *k, struct look *look, struct running_names **out)
{
	struct running_names *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->kernel = k;
	r->look = look;
	*out = r;
	return 0;
}

void running_names__set_library(struct running_names *r, uint8_t lib, const struct plan *plan)
{
	struct plan_layout *l = &r->layouts[lib];

	*l = plan->layout;
	/* These belong to the plan. */
	l->problem = l->crates_problem = l->current_problem = l->places_problem = l->calls_problem =
		NULL;
}

static int read_memory(void *ctx, const struct look_memory *ranges, uint32_t n, uint8_t *bytes)
{
	const struct running_names *r = ctx;

	if (clock_ns(CLOCK_MONOTONIC) > r->until_ns)
		return -ETIME;
	return look__memory(r->look, r->pid, ranges, n, bytes);
}

/* A process that is read: its memory, and the contexts found in it. */
struct reading {
	struct compiler_memory memory;
	struct wire_context found;
	struct compiler_context context;
};

static int begin(struct running_names *r, pid_t pid, uint64_t until_ns, struct reading *to)
{
	int err = kernel__context(r->kernel, pid, &to->found);

	r->pid = pid;
	r->until_ns = until_ns;
	to->memory = (struct compiler_memory){r, read_memory};
	to->context = (struct compiler_context){to->found.context, to->found.globals};
	return err;
}

/* False: what was read may be of memory that has been freed. */
static bool was_there(const struct running_names *r, const struct reading *reading)
{
	struct wire_context now;

	return !kernel__context(r->kernel, r->pid, &now) && now.serial == reading->found.serial;
}

int running_names__path(struct running_names *r, pid_t pid, const char *crate, uint32_t index,
			char **out)
{
	_free_ char *path = NULL;
	struct reading reading;
	int err = begin(r, pid, clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_PATH_NS, &reading);

	if (err)
		return err;
	err = compiler_names__path(&reading.memory, &r->layouts[(uint8_t)reading.found.lib],
				   &reading.context, crate, index, &path);
	if (!err && !was_there(r, &reading))
		err = -ENOENT;
	if (!err)
		*out = take_ptr(path);
	return err;
}

/* Records that wait for the proof that they are right: each its size, and as many bytes. */
struct waiting {
	uint8_t *bytes;
	size_t n, room;
	uint64_t until_ns;
};

static int keep(void *ctx, const void *record, size_t size)
{
	struct waiting *w = ctx;
	size_t room = 2 * (w->n + sizeof(size) + size);

	if (w->n + sizeof(size) + size > RUNNING_NAMES_BYTES)
		return -E2BIG;
	if (w->n + sizeof(size) + size > w->room) {
		uint8_t *bytes = realloc(w->bytes, room);

		if (!bytes)
			return -ENOMEM;
		w->bytes = bytes;
		w->room = room;
	}
	memcpy(w->bytes + w->n, &size, sizeof(size));
	memcpy(w->bytes + w->n + sizeof(size), record, size);
	w->n += sizeof(size) + size;
	return 0;
}

static int pass_on(const struct waiting *w, compiler_names_fn record, void *ctx)
{
	size_t size;
	int err = 0;

	for (size_t at = 0; at < w->n && !err; at += sizeof(size) + size) {
		memcpy(&size, w->bytes + at, sizeof(size));
		err = record(ctx, w->bytes + at + sizeof(size), size);
	}
	return err;
}

/* An unreadable compiler has no names; it is no error. */
static int copy_one(struct running_names *r, pid_t pid, struct waiting *w, compiler_names_fn record,
		    void *ctx)
{
	struct reading reading;

	w->n = 0;
	if (begin(r, pid, w->until_ns, &reading) ||
	    compiler_names__copy(&reading.memory, &r->layouts[(uint8_t)reading.found.lib],
				 &reading.context, pid, (uint8_t)reading.found.lib, keep, w) ||
	    !was_there(r, &reading))
		return 0;
	return pass_on(w, record, ctx);
}

int running_names__copy(struct running_names *r, compiler_names_fn record, void *ctx)
{
	struct waiting w = {.until_ns = clock_ns(CLOCK_MONOTONIC) + RUNNING_NAMES_NS};
	_free_ pid_t *pids = NULL;
	size_t n = 0;
	int err = 0;

	if (kernel__followed(r->kernel, &pids, &n))
		return 0;
	for (size_t i = 0; i < n && !err && clock_ns(CLOCK_MONOTONIC) < w.until_ns; i++)
		err = copy_one(r, pids[i], &w, record, ctx);
	free(w.bytes);
	return err;
}

void running_names__free(struct running_names *r)
{
	free(r);
}
