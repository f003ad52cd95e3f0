// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/stack_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int stack_sums__add(struct stack_sums *s, const struct trace_sample *sample)
{
	const struct sample_sum one = {1, sample->value};
	uint32_t stack = sample->stack;
	struct trace_stack entry;

	if (sample->cause != s->cause)
		return 0;
	if (stack >= s->n && !stack_source__entry(&s->source, stack, &entry))
		stack = TRACE_NO_STACK;
	if (array__reserve_at(&s->at, stack, &s->n, sizeof(*s->at)))
		return -ENOMEM;
	sample_sum__add(&s->at[stack], &one);
	sample_sum__add(&s->all, &one);
	return 0;
}

void stack_sums__destroy(struct stack_sums *s)
{
	free(s->at);
	*s = (struct stack_sums){};
}
