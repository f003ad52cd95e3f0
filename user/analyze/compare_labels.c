// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int compare_labels__id(struct compare_labels *l, const char *text, uint32_t *id)
{
	bool is_new;
	int err = interner__id(&l->ids, text, id, &is_new);

	if (err || !is_new)
		return err;
	if (array__reserve_one(&l->texts, l->n, &l->capacity, sizeof(*l->texts)))
		return -ENOMEM;
	l->texts[l->n] = strdup(text);
	return l->texts[l->n++] ? 0 : -ENOMEM;
}

void compare_labels__clear(struct compare_labels *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->texts[i]);
	free(l->texts);
	interner__destroy(&l->ids);
}
