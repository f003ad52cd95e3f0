// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/libraries.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "plan/job.h"

struct library {
	dev_t dev;
	ino_t ino;
	struct plan_job *job; /* NULL once it is planned */
	struct library_state state;
};

struct libraries {
	libraries_attach_fn attach;
	void *ctx;
	int epoll; /* of the jobs */
	int nice;  /* likewise */
	struct library *items;
	uint32_t n;
	uint32_t capacity;
};

int libraries__new(libraries_attach_fn attach, void *ctx, int nice, struct libraries **out)
{
	_libraries_ struct libraries *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->attach = attach;
	l->ctx = ctx;
	l->nice = nice;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return -errno;
	*out = take_ptr(l);
	return 0;
}

static struct library *find(const struct libraries *l, const struct stat *st)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->items[i].dev == st->st_dev && l->items[i].ino == st->st_ino)
			return &l->items[i];
	return NULL;
}

static struct library *add(struct libraries *l, const struct stat *st)
{
	if (array__reserve_one(&l->items, l->n, &l->capacity, sizeof(*l->items)))
		return NULL;
	l->items[l->n] = (struct library){.dev = st->st_dev, .ino = st->st_ino};
	return &l->items[l->n++];
}

static int attach_planned(struct libraries *l, struct library *lib, int err,
			  const struct plan *plan)
{
	lib->state.err = err ?: l->attach(l->ctx, plan);
	lib->state.attached_ns = clock_ns(CLOCK_MONOTONIC);
	lib->state.planned = true;
	return lib->state.err;
}

/* Waits for the plan, if it is still being made. */
static int finish(struct libraries *l, struct library *lib)
{
	_plan_job_ struct plan_job *job = take_ptr(lib->job);
	_plan_ struct plan *plan = NULL;
	int err;

	/* Closing it is not enough: the child of another job may hold it as well. */
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, plan_job__fd(job), NULL);
	err = plan_job__finish(job, &plan);
	return attach_planned(l, lib, err, plan);
}

static int plan_now(struct libraries *l, struct library *lib, const char *path)
{
	_plan_ struct plan *plan = NULL;
	int err = plan__load(path, &plan);

	return attach_planned(l, lib, err, plan);
}

int libraries__add(struct libraries *l, const char *path)
{
	struct library *lib;
	struct stat st;

	if (stat(path, &st))
		return diag_error_r(-errno, "cannot read %s: %s", path, strerror(errno));
	lib = find(l, &st);
	if (lib && lib->job)
		return finish(l, lib);
	if (lib)
		return lib->state.err;
	lib = add(l, &st);
	return lib ? plan_now(l, lib, path) : diag_error_r(-ENOMEM, "out of memory");
}

static int start(struct libraries *l, struct library *lib, const char *path)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int err = plan_job__start(path, l->nice, &lib->job);

	if (!err && epoll_ctl(l->epoll, EPOLL_CTL_ADD, plan_job__fd(lib->job), &ev))
		err = -errno;
	if (!err)
		return 0;
	plan_job__free(take_ptr(lib->job));
	return err;
}

void libraries__expect(struct libraries *l, const char *path)
{
	struct library *lib;
	struct stat st;

	if (stat(path, &st) || find(l, &st))
		return;
	lib = add(l, &st);
	/* No child can be had: then everybody waits. */
	if (lib && start(l, lib, path))
		plan_now(l, lib, path);
}

int libraries__look(const struct libraries *l, const char *path, struct library_state *state)
{
	const struct library *lib;
	struct stat st;

	if (stat(path, &st))
		return -errno;
	lib = find(l, &st);
	if (!lib)
		return -ENOENT;
	*state = lib->state;
	return 0;
}

int libraries__fd(const struct libraries *l)
{
	return l->epoll;
}

void libraries__settle(struct libraries *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->items[i].job && plan_job__read(l->items[i].job))
			finish(l, &l->items[i]);
}

unsigned int libraries__attached(const struct libraries *l)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->items[i].state.planned && !l->items[i].state.err;
	return n;
}

void libraries__free(struct libraries *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		plan_job__free(l->items[i].job);
	cleanup_close_p(&l->epoll);
	free(l->items);
	free(l);
}
