// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/interval_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void interval_labels__init(struct interval_labels *l, const struct tracks_sink *sink,
			   const struct library *libraries)
{
	*l = (struct interval_labels){
		.sink = sink,
		.libraries = libraries,
		.unknown = TRACKS_NO_LABEL,
	};
}

int interval_labels__unknown(struct interval_labels *l, uint32_t *label)
{
	const struct tracks_sink *sink = l->sink;
	int err = 0;

	if (l->unknown == TRACKS_NO_LABEL)
		err = sink->label ? sink->label(sink->ctx, TRACKS_UNKNOWN, &l->unknown) : -EBADMSG;
	*label = l->unknown;
	return err;
}

int interval_labels__of(struct interval_labels *l, struct interval_named interval, uint32_t *label)
{
	const struct library *lib = &l->libraries[interval.lib];

	*label = TRACKS_NO_LABEL;
	if (interval.kind == WIRE_KIND_ACTIVITY && interval.label) {
		*label = dynamic_labels__id(&l->dynamic, interval.label);
	} else if (interval.kind == WIRE_KIND_ACTIVITY) {
		if (interval.query >= lib->n_guards)
			return -EBADMSG;
		*label = lib->guards[interval.query];
	} else if (interval.query < lib->n_labels) {
		*label = lib->labels[interval.query];
	} else if (interval.kind == WIRE_KIND_QUERY || interval.query != WIRE_NO_QUERY) {
		return -EBADMSG;
	}
	return *label == TRACKS_NO_LABEL ? interval_labels__unknown(l, label) : 0;
}

void interval_labels__clear(struct interval_labels *l)
{
	dynamic_labels__clear(&l->dynamic);
}

/* ---- Dynamic labels -------------------------------------------------------------------------- */

/* More numbers than the kernel half assigns. */
#define LABELS_MAX (1u << 20)

/* Make room for all numbers up to this one. */
static int reserve(struct dynamic_labels *l, uint32_t number)
{
	uint32_t *ids;

	if (number <= l->n)
		return 0;
	ids = reallocarray(l->ids, number, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	l->ids = ids;
	while (l->n < number)
		ids[l->n++] = DYNAMIC_LABEL_NONE;
	return 0;
}

int dynamic_labels__record(struct dynamic_labels *l, const struct tracks_sink *sink,
			   const struct wire_label *r)
{
	char text[sizeof(r->key.text) + sizeof("...")] = {0};
	int err;

	if (!r->label || r->label > LABELS_MAX || !sink->label)
		return -EBADMSG;
	err = reserve(l, r->label);
	if (err)
		return err;
	if (sink->wants && !sink->wants(sink->ctx, &r->key)) {
		l->ids[r->label - 1] = DYNAMIC_LABEL_UNWANTED;
		return 0;
	}
	memcpy(text, r->key.text, sizeof(r->key.text));
	if (r->key.len > sizeof(r->key.text))
		strcat(text, "...");
	return sink->label(sink->ctx, text, &l->ids[r->label - 1]);
}

void dynamic_labels__clear(struct dynamic_labels *l)
{
	free(l->ids);
	*l = (struct dynamic_labels){0};
}
