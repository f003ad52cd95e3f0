// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/begun.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "stuck/watch.h"
#include "view/stuck_view.h"

int begun__open(struct begun *b, struct session *s)
{
	return watch__open_beside(s, &b->answers, &b->watch);
}

int begun__add(struct begun *b, pid_t pid)
{
	return b->watch ? array__add(&b->pids, &b->n, &b->capacity, &pid) : 0;
}

void begun__prepare(struct begun *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		watch__prepare(b->watch, b->pids[i]);
}

int begun__take(struct begun *b, struct session *s, FILE *talk)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n && !err; i++) {
		_snapshot_ struct snapshot p = {0};

		err = watch__begin(b->watch, b->pids[i], session__begun_ns(s), &p);
		if (!err && talk)
			stuck_begun(talk, &p);
	}
	begun__clear(b);
	return err;
}

void begun__clear(struct begun *b)
{
	watch__free(b->watch);
	free(b->pids);
	*b = (struct begun){0};
}
