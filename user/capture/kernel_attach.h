/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The libraries that the kernel half is attached to, by number. */
#ifndef QPROF_CAPTURE_KERNEL_ATTACH_H
#define QPROF_CAPTURE_KERNEL_ATTACH_H

#include "capture/kernel_load.h"
#include "capture/links.h"

struct attachments;

/* The kernel half must outlive the result. */
int attachments__new(const struct loaded *l, struct attachments **out);

/*
 * Take the lowest free number from `least` on. `sites` is by site of the plan: others are not
 * attached; NULL: there is no limit. Two threads may call this at a time.
 */
int attachments__attach(struct attachments *a, const struct plan *plan, const struct filter *filter,
			unsigned int least, uint8_t *lib);
/*
 * Attach another part of a library, if its links are not there yet. Perf events have no parts.
 * Prints one line on failure.
 */
int attachments__attach_part(struct attachments *a, uint8_t lib, const struct plan *plan,
			     enum plan_part part);

/*
 * Attach to where queries of library `lib`, attached before with `plan`, hit their caches. The
 * kernel half must have been opened for hits. Prints one line on failure.
 */
int attachments__attach_hits(struct attachments *a, uint8_t lib, const struct plan *plan,
			     const struct plan_hits *hits);

/* The progress of perf events: as kernel__attached(). */
int attachments__progress(struct attachments *a, uint8_t lib, uint64_t *begun_ns,
			  uint64_t *done_ns);

/* Stop attaching in the background, and print a line if probes are missing. */
void attachments__stop(struct attachments *a);

/* From now on compilers may wait for probes, so perf events are attached in the background. */
void attachments__begin_recording(struct attachments *a);

/*
 * Detach all probes of a library in the background; its number stays taken. Probes fire until a
 * child process has run, and the kernel's grace periods take some 40 ms more. Perf events are
 * removed one after the other: 40 to 140 ms each.
 */
void attachments__begin_detach(struct attachments *a, uint8_t lib);

/*
 * Detach, and free the number for another library. No thread's stack and no record in the ring
 * buffer may have this number any more. While probes are not gone, a later call frees the number.
 */
void attachments__release(struct attachments *a, uint8_t lib);

/*
 * The breakpoints in a process of an attached library, the most if there are several, and what one
 * costs it, in ns (0: not measured). That takes a while; `each_ns` may be NULL.
 */
void attachments__breakpoints(const struct attachments *a, uint32_t *n, uint64_t *each_ns);

/* The file of an attached library, open for reading; -1: there is none by this number, or a FUSE
 * server may never answer a read. */
int attachments__fd(const struct attachments *a, uint32_t lib);

/* Only uprobe_multi links attach a library in parts; else kernel__attach() attaches all at once. */
bool attachments__has_parts(const struct attachments *a);

/* "uprobe_multi" or "perf events". */
const char *attachments__kind(const struct attachments *a);

/*
 * Nothing more is to be recorded: a child process detaches at once, perf events once we have
 * exited. With `wait` attachments__free() waits until the probes are gone, but for 3 s at most, and
 * not for perf events. Without a child it does the work.
 */
void attachments__leave(struct attachments *a, bool wait);

/* Detach all libraries, as attachments__leave() with `wait` if that was not called. */
void attachments__free(struct attachments *a);

#endif /* QPROF_CAPTURE_KERNEL_ATTACH_H */
