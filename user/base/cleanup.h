/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ownership by scope: a local variable that owns an object has a cleanup attribute, and passes the
 * object on with take_ptr() or take_fd(). Destructors accept NULL, so every path may run them.
 *
 * All other directories use this one. To read it, begin with these files, in this order:
 *
 *   cleanup.h   the attributes that nearly every function has
 *   diag.h      messages to a person, and how an error line names its cause and the next step
 *   array.h     arrays that grow
 *   table.h     items by key, in an array; map.h has the hash maps under it
 *   invoker.h   the user who runs us, also behind sudo; rights.h drops what we have beyond his
 *   own_path.h  paths that no other user has laid, his directories, and opening regular files
 */
#ifndef QPROF_BASE_CLEANUP_H
#define QPROF_BASE_CLEANUP_H

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Unused: clang warns of a variable that only holds an object. */
#define __cleanup(fn) __attribute__((cleanup(fn), unused))

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_p(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir_p(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void cleanup_unlock_p(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

#define _free_	   __cleanup(cleanup_free_p)
#define _close_	   __cleanup(cleanup_close_p)
#define _fclose_   __cleanup(cleanup_fclose_p)
#define _closedir_ __cleanup(cleanup_closedir_p)
#define _unlock_   __cleanup(cleanup_unlock_p)

/* Hold a mutex for the rest of a scope: _unlock_ pthread_mutex_t *held = locked(&mutex); */
static inline pthread_mutex_t *locked(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

/* Define <name>_p() so that __cleanup(name_p) destroys a `type *` local with `fn`. */
#define DEFINE_CLEANUP(type, fn)            \
	static inline void fn##_p(type **p) \
	{                                   \
		fn(*p);                     \
	}

#define take_ptr(p)                          \
	({                                   \
		__typeof__(p) __taken = (p); \
		(p) = NULL;                  \
		__taken;                     \
	})

#define take_fd(fd)                 \
	({                          \
		int __taken = (fd); \
		(fd) = -1;          \
		__taken;            \
	})

#endif /* QPROF_BASE_CLEANUP_H */
