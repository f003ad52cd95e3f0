// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/flame_tree.h"

bool flame_frame_is_execution(uint8_t kind)
{
	return kind == TRACE_KIND_QUERY || kind == TRACE_KIND_ACTIVITY;
}

/* The string id of the span's key; an unknown key is an empty text, and "()" that of a query
 * without. */
static uint32_t key_of(const struct flame_frames *f, const struct trace_span *s)
{
	uint32_t key = f->job->keys ? trace_reader__event_string(f->job->r, s) : TRACE_NO_STRING;
	const char *text;

	if (key == TRACE_NO_STRING)
		return key;
	text = trace_reader__string(f->job->r, key);
	return *text && strcmp(text, "()") != 0 ? key : TRACE_NO_STRING;
}

/* A new frame's name: "typeck", "typeck(app::main)"; waits and loads add their kind. */
static int name_frame(struct flame_frames *f, struct flame_frame *frame)
{
	const struct trace_reader *r = f->job->r;
	_free_ char *label = NULL;

	if (flame_frame_is_execution(frame->kind) && frame->key == TRACE_NO_STRING)
		return 0;
	if (frame->key == TRACE_NO_STRING)
		label = strdup(trace_reader__string(r, frame->label));
	else if (asprintf(&label, "%s(%s)", trace_reader__string(r, frame->label),
			  trace_reader__string(r, frame->key)) < 0)
		label = NULL;
	if (!label)
		return -ENOMEM;
	if (flame_frame_is_execution(frame->kind))
		frame->name = take_ptr(label);
	else if (asprintf(&frame->name, "%s [%s]", label, trace_reader__kind(r, frame->kind)) < 0)
		frame->name = NULL;
	return frame->name ? 0 : -ENOMEM;
}

/* Set *what to the number of the span's label; with keys, to that of its label with its key. */
static int get_what(struct flame_frames *f, const struct trace_span *s, uint32_t key,
		    uint32_t *what)
{
	const uint32_t *keyed;

	*what = s->label;
	if (!f->job->keys)
		return 0;
	keyed = table__get(&f->keyed, (uint64_t)s->label << 32 | key, key);
	if (!keyed)
		return -ENOMEM;
	*what = keyed - f->keyed.at;
	return 0;
}

int flame_frames__of(struct flame_frames *f, const struct trace_span *s, uint32_t *out)
{
	uint32_t n = f->all.n, key = key_of(f, s), first, what;
	struct flame_frame *frame;

	if (get_what(f, s, key, &what))
		return -ENOMEM;
	frame = table__get(&f->all, (uint64_t)s->kind << 32 | what, .label = s->label, .key = key,
			   .kind = s->kind, .query = n);
	if (!frame)
		return -ENOMEM;
	*out = frame - f->all.at;
	if (f->all.n == n)
		return 0;
	first = u64_map__get(&f->query_of, s->label);
	if (first != U64_MAP_NONE)
		frame->query = first;
	else if (u64_map__put(&f->query_of, s->label, n))
		return -ENOMEM;
	return name_frame(f, frame);
}

uint32_t flame_frames__named(struct flame_frames *f, uint64_t id, const char *name, size_t len)
{
	uint32_t n = f->all.n;
	struct flame_frame *frame =
		table__get(&f->all, id, .label = TRACE_NO_STRING, .key = TRACE_NO_STRING,
			   .kind = TRACE_KIND_QUERY, .query = n);

	if (!frame)
		return FLAME_NONE;
	frame->name = frame->name ?: strndup(name, len);
	return frame->name ? (uint32_t)(frame - f->all.at) : FLAME_NONE;
}

const char *flame_frames__name(const struct flame_frames *f, uint32_t frame)
{
	return f->all.at[frame].name ?: trace_reader__string(f->job->r, f->all.at[frame].label);
}

void flame_frames__destroy(struct flame_frames *f)
{
	for (uint32_t i = 0; i < f->all.n; i++)
		free(f->all.at[i].name);
	table__destroy(&f->all);
	table__destroy(&f->keyed);
	u64_map__destroy(&f->query_of);
}
