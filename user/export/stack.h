/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Iterates over the stacks of a merged tree, each from its outermost frame. */
#ifndef QPROF_EXPORT_STACK_H
#define QPROF_EXPORT_STACK_H

#include "export/flame.h"

/* All zeroes is empty. */
struct stack {
	const struct flame *flame;
	uint32_t *nodes; /* [0] is the process, [n - 1] the innermost node */
	uint32_t n;
	uint32_t capacity;
	uint32_t process; /* its number */
	uint32_t end;
};

/* Start before the stacks of the processes from number `from` up to, without, `to`. */
void stack__begin(struct stack *s, const struct flame *f, uint32_t from, uint32_t to);

/* 1, 0 after the last stack, or -ENOMEM. A process alone is not a stack. */
int stack__next(struct stack *s);

/* The innermost node, after stack__next(). */
const struct flame_node *stack__node(const struct stack *s);

void stack__destroy(struct stack *s);
#define _stack_ __cleanup(stack__destroy)

#endif /* QPROF_EXPORT_STACK_H */
