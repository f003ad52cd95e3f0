/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers that run during a recording, and that it does not follow: other builds, and those of a
 * compile server such as sccache's. The recording names them at its end.
 *
 * A compile server runs the compilers of its clients. A client below the recorded command waits for
 * one: it runs as the same user, in the same directory, and has the same crate, the same output
 * directory (unless the compiler has none) and the same suffix of file names in its arguments. Such
 * a compiler is part of the build, and is recorded. One that has ended before its arguments were
 * read while a client ran may have been part of it: the recording says so.
 */
#ifndef QPROF_CAPTURE_OUTSIDERS_H
#define QPROF_CAPTURE_OUTSIDERS_H

#include "capture/kernel.h"
#include "capture/broker.h"

struct outsiders;

/* Both outlive it. 0 or -ENOMEM. */
int outsiders__new(const struct kernel *kernel, struct broker *broker, struct outsiders **out);

/* A followed process has executed a program: it may be a client from now on. 0 or -ENOMEM. */
int outsiders__on_exec(struct outsiders *o, const struct wire_exec *e);

/* A followed process was a client, as of sccache. */
bool outsiders__have_clients(const struct outsiders *o);

/*
 * Whether a process that is not followed may be the compiler of a client that runs: then it waits
 * until outsiders__serves() has looked at it, or it could have ended by then.
 */
bool outsiders__may_serve(const struct outsiders *o, pid_t pid, uid_t user);

/*
 * A process that is not followed has mapped a compiler's library. True: a followed process waits
 * for it. May be called several times for one process.
 */
bool outsiders__serves(struct outsiders *o, pid_t pid, uid_t user);

/* Print which compilers were not recorded. */
void outsiders__report(const struct outsiders *o);

void outsiders__free(struct outsiders *o);

/*
 * For tests: whether a client with these raw arguments waits for a compiler with those. The client
 * has the compiler as an argument, and runs another program.
 */
bool outsiders_is_client(const char *client, size_t client_size, const char *compiler,
			 size_t compiler_size);

#endif /* QPROF_CAPTURE_OUTSIDERS_H */
