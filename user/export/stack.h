/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The stacks of a merged tree, one after another, each from its outermost frame. */
#ifndef QPROF_EXPORT_STACK_H
#define QPROF_EXPORT_STACK_H

#include <stdbool.h>

#include "export/flame.h"

/* All zeroes is an empty one. */
struct stack {
	const struct flame *flame;
	uint32_t *nodes; /* [0] is the process, [n - 1] the node that it is the stack of */
	uint32_t n;
	uint32_t capacity;
	uint32_t first; /* the node of the process */
};

/* Begin with those of a process; false if there is none of that number. */
bool stack__begin(struct stack *s, const struct flame *f, uint32_t process);

/* 1, 0 behind the last, or -ENOMEM. The process alone is not among them. */
int stack__next(struct stack *s);

void stack__destroy(struct stack *s);
#define _stack_ __cleanup(stack__destroy)

#endif /* QPROF_EXPORT_STACK_H */
