// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/writer_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/rights.h"

struct writer_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work; /* there are bytes, or it is to end */
	int fd;
	int idle; /* an eventfd: 1 while nothing waits */
	uint8_t *bytes;
	size_t len;
	size_t writing; /* bytes that the thread has taken */
	int error;	/* the first */
	bool ended;	/* by the owner; the thread frees this struct if it is in a write */
};

static void clear(struct writer_thread *w)
{
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	cleanup_close_p(&w->idle);
	free(w->bytes);
	free(w);
}

/*
 * Another process may have made the descriptor non-blocking. After the owner has given the rest up,
 * the descriptor may be another file's.
 */
static int write_all(const struct writer_thread *w, const uint8_t *bytes, size_t len)
{
	struct pollfd pfd = {.fd = w->fd, .events = POLLOUT};

	while (len && !__atomic_load_n(&w->ended, __ATOMIC_ACQUIRE)) {
		ssize_t n = write(w->fd, bytes, len);

		if (n < 0 && errno == EAGAIN)
			poll(&pfd, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static void *run(void *arg)
{
	struct writer_thread *w = arg;
	bool abandoned = false;

	/* Of no use to a thread that only writes. A failure changes nothing for the others. */
	rights__limit(0);
	pthread_mutex_lock(&w->lock);
	while (!w->ended) {
		_free_ uint8_t *bytes = NULL;
		int err;

		if (!w->len) {
			pthread_cond_wait(&w->work, &w->lock);
			continue;
		}
		bytes = take_ptr(w->bytes);
		w->writing = w->len;
		w->len = 0;
		pthread_mutex_unlock(&w->lock);
		err = write_all(w, bytes, w->writing);
		pthread_mutex_lock(&w->lock);
		w->writing = 0;
		if (err) {
			w->error = err;
			w->len = 0;
		}
		if (!w->len)
			eventfd_write(w->idle, 1);
		abandoned = w->ended;
	}
	pthread_mutex_unlock(&w->lock);
	if (abandoned)
		clear(w);
	return NULL;
}

int writer_thread__new(int fd, struct writer_thread **out)
{
	struct writer_thread *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	w->idle = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	err = w->idle < 0 ? -errno : -pthread_create(&w->thread, NULL, run, w);
	if (err)
		clear(w);
	else
		*out = w;
	return err;
}

int writer_thread__put(struct writer_thread *w, const void *bytes, size_t len)
{
	_unlock_ pthread_mutex_t *held = locked(&w->lock);
	eventfd_t was;
	uint8_t *more;

	if (w->error || !len)
		return w->error;
	more = realloc(w->bytes, w->len + len);
	if (!more)
		return -ENOMEM;
	memcpy(more + w->len, bytes, len);
	w->bytes = more;
	w->len += len;
	eventfd_read(w->idle, &was);
	pthread_cond_signal(&w->work);
	return 0;
}

size_t writer_thread__waiting(struct writer_thread *w)
{
	_unlock_ pthread_mutex_t *held = locked(&w->lock);

	return w->len + w->writing;
}

int writer_thread__idle_fd(const struct writer_thread *w)
{
	return w->idle;
}

void writer_thread__free(struct writer_thread *w)
{
	pthread_t thread;
	bool is_writing;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	thread = w->thread;
	is_writing = w->writing;
	__atomic_store_n(&w->ended, true, __ATOMIC_RELEASE);
	w->len = 0;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	/* Its write may never return: then it is left to the end of the process. */
	if (is_writing) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	clear(w);
}
