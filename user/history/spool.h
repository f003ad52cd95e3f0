/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Builds that wait for a server, as files of JSON lines in
 * $XDG_STATE_HOME/qprof-bpf/spool/SERVER/, one a build. A build is put here before it is sent, and
 * its file is removed once the server has it, so that no crash loses it; sending it again changes
 * nothing. Processes share the directory: a file is locked while it is sent.
 *
 * Only spool__put() and spool__make() print.
 */
#ifndef QPROF_HISTORY_SPOOL_H
#define QPROF_HISTORY_SPOOL_H

#include <limits.h>
#include <stdbool.h>

#include "history/rows.h"

/* If more waits, the oldest is dropped, and counted. */
struct spool_limits {
	uint64_t files;
	uint64_t bytes;
};

#define SPOOL_FILES_MAX 2000u
#define SPOOL_BYTES_MAX (512u << 20)

/* Builds that are sent together: fewer, larger inserts. */
#define SPOOL_BATCH	  16
#define SPOOL_BATCH_BYTES (4u << 20)

struct spool {
	int dir;
	char *path;
	struct spool_limits limits;
};

/* `server` is a name for a directory. Prints an error line. */
int spool__make(struct spool *s, const char *server);

/*
 * Keep a build on disk. Nothing changes if it waits already. Warns of each build that is dropped
 * for it. Prints an error line.
 */
int spool__put(struct spool *s, const struct history_rows *rows);

/*
 * Send `n` builds. 0: the server has all of them. -EREMOTEIO: it refuses them, and another may
 * still be taken. -ENOBUFS: they are too much for it now; fewer may be taken. Any other error ends
 * the sending.
 */
typedef int (*spool_send)(void *ctx, const struct history_rows *builds, size_t n);

/* Files that were not sent, by now. */
struct spool_aside {
	uint64_t damaged; /* they hold no whole build, and are *.damaged now */
	uint64_t newer;	  /* a newer version wrote them: they wait for it */
	uint64_t refused; /* the server refuses them and takes others; they are *.refused now */
	char name[NAME_MAX + 1]; /* of one that was refused */
};

/*
 * Send what waits, the oldest first, but for what another process is sending. 0 if nothing of it
 * has to wait longer or was refused, else the last error of `send`, or of reading; -ECANCELED if
 * the server seems to refuse all.
 */
int spool__drain(struct spool *s, spool_send send, void *ctx, struct spool_aside *aside);

/* Builds that wait. */
uint64_t spool__count(const struct spool *s);

/* Builds that were dropped since the last call. */
uint64_t spool__take_dropped(struct spool *s);

void spool__clear(struct spool *s);
#define _spool_ __cleanup(spool__clear)

#endif /* QPROF_HISTORY_SPOOL_H */
