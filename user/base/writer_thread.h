/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A thread that writes to a descriptor. The reader of a pipe may stop reading, and a terminal may
 * be stopped with Ctrl-S: that delays this thread and no other. The descriptor is not made
 * non-blocking, because other processes share it.
 */
#ifndef QPROF_BASE_WRITER_THREAD_H
#define QPROF_BASE_WRITER_THREAD_H

#include <stddef.h>

#include "base/cleanup.h"

struct writer_thread;

/* The thread has no capability. `fd` stays open until it is freed. Negative errno. */
int writer_thread__new(int fd, struct writer_thread **out);

/*
 * Queue bytes, which one write(2) takes unless the kernel splits them. Returns at once: 0, -ENOMEM,
 * or the first error of a write, after which nothing more is written. No bytes: only that error.
 */
int writer_thread__put(struct writer_thread *w, const void *bytes, size_t len);

/* Bytes that are not written yet. */
size_t writer_thread__waiting(struct writer_thread *w);

/* Polls readable while no bytes wait. */
int writer_thread__idle_fd(const struct writer_thread *w);

/* Give up the bytes that wait. The thread ends at once, or when its write returns. */
void writer_thread__free(struct writer_thread *w);
DEFINE_CLEANUP(struct writer_thread, writer_thread__free)
#define _writer_thread_ __cleanup(writer_thread__free_p)

#endif /* QPROF_BASE_WRITER_THREAD_H */
