/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the files of tracks.h share: tracks.c, which takes records of spans, and images.c. */
#ifndef QPROF_TRACKS_TRACKS_STATE_H
#define QPROF_TRACKS_TRACKS_STATE_H

#include "base/map.h"
#include "trace/self_time.h"
#include "tracks/executions.h"
#include "tracks/library.h"
#include "tracks/tracks.h"

/*
 * Processes that are remembered after their exit. Threads of one process report from several CPUs:
 * the last spans of one may come after the exit record, which another thread sent.
 */
#define EXITED_KEPT 64

/* One image of a process, in the trace or not. */
struct image {
	struct trace_process p; /* p.index only if in_trace */
	bool in_trace;
	bool has_spans;
	bool exited;
	uint64_t exit_number; /* valid if exited */
	struct executions executions;
	uint32_t next_free; /* of an unused one */
};

struct tracks {
	struct tracks_sink sink;
	struct library libraries[WIRE_MAX_LIBS + 1];
	struct u64_map image_of; /* pid -> index into images */
	struct image *images;
	uint32_t n_images;
	uint32_t capacity;
	uint32_t first_free; /* or U64_MAP_NONE */
	uint32_t exited_pids[EXITED_KEPT];
	uint64_t n_exited;
	uint32_t n_processes;
	uint32_t n_running;
	uint32_t *told; /* string ids of the labels that the compiler told, by number - 1 */
	uint32_t n_told;
	uint32_t unknown; /* string id of TRACKS_UNKNOWN, or TRACKS_NO_LABEL */
	struct self_time *self_time;
	struct caller_index *callers;
	bool expects_hits;
	uint64_t unknown_hits;
	uint32_t off_cpu[WIRE_OFF_MAX]; /* string ids of reasons, or TRACKS_NO_LABEL */
};

/*
 * Pointers to images hold until the next one is made. What returns an int: 0 or a negative errno.
 */

/* The last image known of a pid, or NULL. */
struct image *images__find(const struct tracks *t, uint32_t pid);

/*
 * The image that something was seen of at a time, in the trace or not; NULL if memory is out. What
 * is seen of a process that is not known means that it ran before.
 */
struct image *images__at(struct tracks *t, uint32_t pid, uint64_t time_ns);

/*
 * The image in the trace that what began at `start_ns` belongs to; NULL, with *err, if it cannot be
 * had.
 */
struct image *images__of(struct tracks *t, uint32_t pid, uint8_t lib, uint64_t start_ns, int *err);

int images__put_in_trace(struct tracks *t, struct image *image);

int images__on_fork(struct tracks *t, const struct wire_fork *r);
int images__on_exec(struct tracks *t, const struct wire_exec *r, const char *args);
int images__on_exit(struct tracks *t, const struct wire_exit *r);

#endif /* QPROF_TRACKS_TRACKS_STATE_H */
