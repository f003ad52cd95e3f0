// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/sealer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/cleanup.h"
#include "base/rights.h"

struct trace {
	struct trace *next;
	int fd;
	int err;
	char path[];
};

/* The oldest first. */
struct queue {
	struct trace *first, **end;
};

struct sealer {
	int (*seal)(int fd);
	void (*sealed)(void *ctx, const char *path); /* or NULL */
	void *sealed_ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work; /* there is a trace, or it is to end */
	pthread_cond_t idle; /* no trace waits */
	struct queue waiting, failed;
	unsigned int n; /* traces that wait, or are being sealed */
	bool ended;
};

static void push(struct queue *q, struct trace *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
}

static struct trace *pop(struct queue *q)
{
	struct trace *t = q->first;

	if (!t)
		return NULL;
	q->first = t->next;
	if (!q->first)
		q->end = &q->first;
	return t;
}

static void clear(struct sealer *s)
{
	struct trace *t;

	while ((t = pop(&s->failed)))
		free(t);
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* With the lock, which is not held while the disk works. */
static void seal_one(struct sealer *s, struct trace *t)
{
	void (*sealed)(void *ctx, const char *path) = s->sealed;

	pthread_mutex_unlock(&s->lock);
	t->err = s->seal(t->fd);
	if (!t->err && sealed)
		sealed(s->sealed_ctx, t->path);
	pthread_mutex_lock(&s->lock);
	if (t->err)
		push(&s->failed, t);
	else
		free(t);
	if (!--s->n)
		pthread_cond_broadcast(&s->idle);
}

static void *run(void *arg)
{
	struct sealer *s = arg;
	struct trace *t;

	/* Of no use to a thread that only writes. A failure changes nothing for the others. */
	rights__limit(0);
	pthread_mutex_lock(&s->lock);
	while (!s->ended || s->waiting.first) {
		t = pop(&s->waiting);
		if (t)
			seal_one(s, t);
		else
			pthread_cond_wait(&s->work, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int sealer__new(int (*seal)(int fd), struct sealer **out)
{
	struct sealer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->seal = seal;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->idle, NULL);
	s->waiting.end = &s->waiting.first;
	s->failed.end = &s->failed.first;
	err = -pthread_create(&s->thread, NULL, run, s);
	if (err)
		clear(s);
	else
		*out = s;
	return err;
}

void sealer__tell(struct sealer *s, void (*sealed)(void *ctx, const char *path), void *ctx)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	s->sealed = sealed;
	s->sealed_ctx = ctx;
}

int sealer__put(struct sealer *s, int fd, const char *path)
{
	_free_ struct trace *t = calloc(1, sizeof(*t) + strlen(path) + 1);
	_close_ int owned = fd;
	bool room;

	if (!t)
		return -ENOMEM;
	t->fd = fd;
	strcpy(t->path, path);
	pthread_mutex_lock(&s->lock);
	room = s->n < SEALER_MOST;
	if (room) {
		s->n++;
		push(&s->waiting, t);
		pthread_cond_signal(&s->work);
	}
	pthread_mutex_unlock(&s->lock);
	/* Too many wait. */
	if (!room)
		return -EBUSY;
	take_ptr(t);
	take_fd(owned);
	return 0;
}

int sealer__report(struct sealer *s)
{
	struct queue failed = {.end = &failed.first};
	struct trace *t;
	int first = 0;

	pthread_mutex_lock(&s->lock);
	while ((t = pop(&s->failed)))
		push(&failed, t);
	pthread_mutex_unlock(&s->lock);
	while ((t = pop(&failed))) {
		diag_error("cannot write %s: %s. What was written up to here can be read", t->path,
			   strerror(-t->err));
		first = first ?: t->err;
		free(t);
	}
	return first;
}

void sealer__wait(struct sealer *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->n)
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

void sealer__free(struct sealer *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	clear(s);
}
