// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/paths.h"

/* A way up from a definition. */
struct way {
	uint32_t index[PATHS_DEPTH_MAX];
	uint32_t *strings[PATHS_DEPTH_MAX];
	uint32_t n;
};

/*
 * Collect the definitions from `index` up to one whose string is known, or to the root. False if
 * one of them is unknown, or the root is too far. A parent is always older than its child.
 */
static bool find_way(const struct path_source *from, uint32_t index, struct way *way)
{
	struct path_step step;
	bool known = false;

	way->n = 0;
	/* To the root in any case: a string must not be nested deeper than a trace can hold. */
	for (uint32_t i = 0; i < PATHS_DEPTH_MAX && from->step(from->ctx, index, &step); i++) {
		if (!known) {
			way->index[way->n] = index;
			way->strings[way->n++] = step.string;
		}
		known = known || (step.string && *step.string);
		if (step.parent == PATHS_ROOT)
			return true;
		if (step.parent >= index)
			return false;
		index = step.parent;
	}
	return false;
}

/* Set *id to the string of a definition behind that of its parent. False: it has no name. */
static int compose(const struct path_source *from, const struct tracks_sink *sink, uint32_t index,
		   bool *known, uint32_t *id)
{
	struct trace_piece pieces[3] = {{.id = *id}, {.text = "::"}, {0}};
	char buf[PATHS_SEGMENT_MAX];
	const char *segment = from->segment(from->ctx, index, buf);

	*known = segment;
	if (!segment)
		return 0;
	return sink->text(sink->ctx, segment, &pieces[2].id)
		       ?: sink->compose(sink->ctx, pieces, 3, id);
}

int paths__string(const struct path_source *from, uint32_t root, uint32_t index,
		  const struct tracks_sink *sink, uint32_t *id)
{
	uint32_t string = root, *last;
	bool known = true;
	struct way way;
	int err = 0;

	*id = TRACE_NO_STRING;
	if (!find_way(from, index, &way))
		return 0;
	last = way.strings[way.n - 1];
	if (last && *last)
		string = *last - 1;
	for (; known && !err; way.n--) {
		uint32_t *keep = way.strings[way.n - 1];

		if (keep)
			*keep = string + 1;
		if (way.n == 1) {
			*id = string;
			break;
		}
		err = compose(from, sink, way.index[way.n - 2], &known, &string);
	}
	return err;
}
