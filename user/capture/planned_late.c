// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/planned_late.h"

#include <errno.h>

#include "base/array.h"

/* The compilers of one user with one library. */
struct group {
	struct library_file *file;
	uid_t user;
	uint32_t n;
	uint32_t n_unnamed; /* beyond those in pids */
	pid_t pids[PLANNED_LATE_PIDS];
};

struct planned_late {
	struct group **groups;
	uint32_t n;
	uint32_t capacity;
};

struct planned_late *planned_late__new(void)
{
	return calloc(1, sizeof(struct planned_late));
}

static void group__free(struct group *g)
{
	library_file__free(g->file);
	free(g);
}

static struct group *find(const struct planned_late *u, uid_t user, const struct library_file *file)
{
	const struct library_identity *id = library_file__identity(file);

	for (uint32_t i = 0; i < u->n; i++) {
		struct group *g = u->groups[i];

		if (g->user == user && library_file__is_inode(g->file, id->dev, id->ino))
			return g;
	}
	return NULL;
}

static int add_group(struct planned_late *u, uid_t user, struct library_file *file,
		     struct group **out)
{
	struct group *g;

	if (u->n == PLANNED_LATE_LIBRARIES)
		return -ENOSPC;
	if (array__reserve_one(&u->groups, u->n, &u->capacity, sizeof(struct group *)))
		return -ENOMEM;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->user = user;
	g->file = library_file__ref(file);
	u->groups[u->n++] = *out = g;
	return 0;
}

int planned_late__add(struct planned_late *u, pid_t pid, uid_t user, struct library_file *file)
{
	struct group *g = find(u, user, file);
	int err = g ? 0 : add_group(u, user, file, &g);

	if (err)
		return err;
	/* A process that maps the library again is released again. */
	for (uint32_t i = 0; i < g->n; i++)
		if (g->pids[i] == pid)
			return 0;
	if (g->n < PLANNED_LATE_PIDS)
		g->pids[g->n++] = pid;
	else
		g->n_unnamed++;
	return 0;
}

void planned_late__settle(struct planned_late *u, bool last, const struct planned_late_ops *ops,
			  void *ctx)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		struct group *g = u->groups[i];
		int err = 0;

		if (!ops->is_settled(ctx, g->file, &err)) {
			if (!last) {
				u->groups[kept++] = g;
				continue;
			}
			err = -ECANCELED;
		}
		for (uint32_t k = 0; k < g->n; k++)
			if (err || !ops->runs(ctx, g->pids[k]))
				ops->missing(ctx, g->pids[k], 1, g->user, g->file, err ?: -ESRCH);
		/* A process without a number may run or not; it is late in any case. */
		if (err && g->n_unnamed)
			ops->missing(ctx, 0, g->n_unnamed, g->user, g->file, err);
		group__free(g);
	}
	u->n = kept;
}

void planned_late__free(struct planned_late *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->n; i++)
		group__free(u->groups[i]);
	free(u->groups);
	free(u);
}
