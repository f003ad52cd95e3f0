/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sets of signals, and threads that leave all signals to the other threads. */
#ifndef QPROF_BASE_SIGNALS_H
#define QPROF_BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* The set of the signals in a list that ends with 0. */
static inline sigset_t signals_of(const int *list)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *list; list++)
		sigaddset(&set, *list);
	return set;
}

/* True if a signal that ends a recording is pending: SIGINT, SIGTERM or SIGHUP. */
static inline bool signals_end_recording(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
				     sigismember(&set, SIGHUP));
}

/* Start a thread that blocks all signals. `attr` may be NULL. 0 or a negative errno. */
static inline int signals_start_thread(pthread_t *thread, const pthread_attr_t *attr,
				       void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

#endif /* QPROF_BASE_SIGNALS_H */
