// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/open_at_start.h"

#include <stdlib.h>

#include "base/array.h"
#include "stuck/watch.h"
#include "view/stuck_view.h"

int open_at_start__open(struct open_at_start *b, struct session *s)
{
	return watch__open_beside(s, &b->answers, &b->watch);
}

int open_at_start__add(struct open_at_start *b, pid_t pid)
{
	return b->watch ? array__add(&b->pids, &b->n, &b->capacity, &pid) : 0;
}

void open_at_start__prepare(struct open_at_start *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		watch__prepare(b->watch, b->pids[i]);
}

int open_at_start__take(struct open_at_start *b, struct session *s, FILE *talk)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n && !err; i++) {
		_snapshot_ struct snapshot p = {0};

		err = watch__begin(b->watch, b->pids[i], session__begun_ns(s), &p);
		if (!err && talk)
			stuck_begun(talk, &p);
	}
	open_at_start__clear(b);
	return err;
}

void open_at_start__clear(struct open_at_start *b)
{
	watch__free(b->watch);
	free(b->pids);
	*b = (struct open_at_start){0};
}
