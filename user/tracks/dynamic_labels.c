// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/dynamic_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
