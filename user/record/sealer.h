/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Seals traces in a thread of its own. The disk may take seconds for it, in which the ring of
 * records would fill up.
 */
#ifndef QPROF_RECORD_SEALER_H
#define QPROF_RECORD_SEALER_H

/* Traces that wait at a time. */
#define SEALER_MOST 256

struct sealer;

/* `seal` is trace_seal(), or a test's. The thread has no capability. Negative errno. */
int sealer__new(int (*seal)(int fd), struct sealer **out);

/* From now on, call `sealed` with the path of each trace that is sealed, in that thread. */
void sealer__tell(struct sealer *s, void (*sealed)(void *ctx, const char *path), void *ctx);

/*
 * Seal the trace `fd`, which is taken in any case. `path` is for messages. Returns at once: 0,
 * -ENOMEM, or -EBUSY if SEALER_MOST wait already: the trace keeps its "unfinished" mark.
 */
int sealer__put(struct sealer *s, int fd, const char *path);

/* Print a line for each trace that could not be sealed since the last call; the first error. */
int sealer__report(struct sealer *s);

/* Wait until all are sealed. */
void sealer__wait(struct sealer *s);

/* Waits, too. */
void sealer__free(struct sealer *s);

#endif /* QPROF_RECORD_SEALER_H */
