// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* `key` identifies the text among all. */
static int find_or_add(struct compare_labels *l, const char *key, const char *text, uint32_t *id)
{
	bool is_new;
	int err = interner__id(&l->ids, key, id, &is_new);

	if (err || !is_new)
		return err;
	if (array__reserve_one(&l->texts, l->n, &l->capacity, sizeof(*l->texts)))
		return -ENOMEM;
	l->texts[l->n] = strdup(text);
	return l->texts[l->n++] ? 0 : -ENOMEM;
}

int compare_labels__id(struct compare_labels *l, const char *text, uint32_t *id)
{
	return find_or_add(l, text, text, id);
}

int compare_labels__of_row(struct compare_labels *l, const struct summary_row *row,
			   const struct trace_texts *names, uint32_t *id)
{
	const char *name = names->text(names->ctx, row->label);
	_free_ char *key = NULL;

	if (!row->is_activity)
		return find_or_add(l, name, name, id);
	if (asprintf(&key, "\n%s", name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	return find_or_add(l, key, name, id);
}

void compare_labels__clear(struct compare_labels *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->texts[i]);
	free(l->texts);
	interner__destroy(&l->ids);
}
