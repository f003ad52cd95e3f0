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

void stack__begin(struct stack *s, const struct flame *f, uint32_t from, uint32_t to)
{
	s->flame = f;
	s->n = 0;
	s->process = from;
	s->end = to;
}

int stack__next(struct stack *s)
{
	uint32_t first, depth, next;

	for (; s->process < s->end; s->process++, s->n = 0) {
		first = flame__process(s->flame, s->process);
		if (first == FLAME_NONE)
			break;
		/* The process alone is no stack: the first one is a child of it. */
		if (!s->n && push(s, first))
			return -ENOMEM;
		depth = s->n - 1;
		next = flame__walk(s->flame, first, s->nodes[s->n - 1], &depth);
		if (next == FLAME_NONE)
			continue;
		s->n = depth;
		return push(s, next) ?: 1;
	}
	return 0;
}

const struct flame_node *stack__node(const struct stack *s)
{
	return flame__node(s->flame, s->nodes[s->n - 1]);
}

void stack__destroy(struct stack *s)
{
	free(s->nodes);
	*s = (struct stack){0};
}
