// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/interval_labels.h"

#include <errno.h>

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
