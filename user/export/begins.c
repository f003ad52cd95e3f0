// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/begins.h"

#include <errno.h>

#include "base/array.h"

/*
 * The kept intervals form groups that start at the same time. A group holds the innermost interval
 * first; the outermost is last and leads the group. The depths of leaders ascend, and each leader
 * is the first of its siblings.
 */
struct begin {
	struct trace_span span;
	uint32_t followers; /* of a leader: its followers stand before it in the array */
};

/* Write the last `n` kept starts, the outermost first. */
static int write_last(struct begins *b, uint32_t n, begins_fn write, void *ctx)
{
	for (; n; n--) {
		int err = write(ctx, &b->kept[--b->n].span);

		if (err)
			return err;
	}
	return 0;
}

/* The leader before the last `n` kept intervals, or NULL. */
static const struct begin *leader_before(const struct begins *b, uint32_t n)
{
	return b->n > n ? &b->kept[b->n - n - 1] : NULL;
}

/*
 * Write the intervals that `span` encloses, except those with the same start, which become its
 * followers. Their number goes to *followers.
 */
static int take_enclosed(struct begins *b, const struct trace_span *span, uint32_t *followers,
			 begins_fn write, void *ctx)
{
	const struct begin *leader;

	*followers = 0;
	while ((leader = leader_before(b, 0)) && leader->span.depth > span->depth) {
		uint32_t n = leader->followers + 1;
		const struct begin *next = leader_before(b, n);
		int err;

		if (leader->span.start_ns == span->start_ns &&
		    (!next || next->span.depth <= span->depth)) {
			*followers = n;
			return 0;
		}
		err = write_last(b, n, write, ctx);
		if (err)
			return err;
	}
	return 0;
}

int begins__span(struct begins *b, const struct trace_span *span, begins_fn write, void *ctx)
{
	const struct begin *sibling;
	uint32_t followers;
	int err = take_enclosed(b, span, &followers, write, ctx);

	if (err)
		return err;
	sibling = leader_before(b, followers);
	/* No later interval can start at the same time. */
	if (!span->depth || (sibling && sibling->span.depth == span->depth))
		return write(ctx, span) ?: write_last(b, followers, write, ctx);
	if (array__reserve_one(&b->kept, b->n, &b->capacity, sizeof(*b->kept)))
		return -ENOMEM;
	b->kept[b->n++] = (struct begin){*span, followers};
	return 0;
}

int begins__finish(struct begins *b, begins_fn write, void *ctx)
{
	return write_last(b, b->n, write, ctx);
}

void begins__destroy(struct begins *b)
{
	free(b->kept);
	*b = (struct begins){0};
}
