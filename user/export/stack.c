// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/stack.h"

#include <errno.h>

#include "base/array.h"

static int push(struct stack *s, uint32_t node)
{
	if (array__reserve_one(&s->nodes, s->n, &s->capacity, sizeof(*s->nodes)))
		return -ENOMEM;
	s->nodes[s->n++] = node;
	return 0;
}

bool stack__begin(struct stack *s, const struct flame *f, uint32_t process)
{
	s->flame = f;
	s->n = 0;
	s->first = flame__process(f, process);
	return s->first != FLAME_NONE;
}

int stack__next(struct stack *s)
{
	uint32_t depth, next;

	if (!s->n && push(s, s->first))
		return -ENOMEM;
	depth = s->n - 1;
	next = flame__walk(s->flame, s->first, s->nodes[s->n - 1], &depth);
	if (next == FLAME_NONE)
		return 0;
	s->n = depth;
	return push(s, next) ?: 1;
}

void stack__destroy(struct stack *s)
{
	free(s->nodes);
	*s = (struct stack){0};
}
