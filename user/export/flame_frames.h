/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The frames of the stacks of an export (export/flame.h): one for each name, shared by the nodes.
 */
#ifndef QPROF_EXPORT_FLAME_FRAMES_H
#define QPROF_EXPORT_FLAME_FRAMES_H

#include "base/map.h"
#include "base/table.h"
#include "export/job.h"

struct flame_frame {
	uint32_t label;
	uint32_t key; /* string id of the query's key; TRACE_NO_STRING: none, or it is not shown */
	uint8_t kind;
	uint32_t query; /* the first frame of its label; probe costs are known per label */
	char *name;	/* NULL: the text of the label */
};

/* All zeroes but for the job, which outlives it: no frames. */
struct flame_frames {
	const struct export_job *job;
	TABLE(struct flame_frame)
	all;			 /* by kind << 32 | label, or with keys its index in `keyed` */
	TABLE(uint32_t) keyed;	 /* keys, by label << 32 | key */
	struct u64_map query_of; /* label -> the first of its frames */
};

/* Set *frame to the number of the span's frame. 0 or -ENOMEM. */
int flame_frames__of(struct flame_frames *f, const struct trace_span *s, uint32_t *frame);

/*
 * The number of the frame with this name. `id` stands for the name, and for no kind and label of a
 * span. FLAME_NONE: no memory.
 */
uint32_t flame_frames__named(struct flame_frames *f, uint64_t id, const char *name, size_t len);

const char *flame_frames__name(const struct flame_frames *f, uint32_t frame);

/* True for a query or an activity, which count as executions. */
bool flame_frame_is_execution(uint8_t kind);

void flame_frames__destroy(struct flame_frames *f);

#endif /* QPROF_EXPORT_FLAME_FRAMES_H */
