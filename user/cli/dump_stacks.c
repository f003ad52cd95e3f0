// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/dump_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/view.h"

static int print_entry(const struct trace_reader *r, uint32_t id, struct columns *c)
{
	const struct trace_stack *s = trace_reader__stack(r, id);
	struct dump_stack_texts texts = {0};
	struct trace_location at;

	if (s->kind == TRACE_STACK_LOCATION) {
		if (s->place != TRACE_NO_LOCATION && trace_reader__location(r, s->place, &at))
			texts.location = &at;
	} else if (s->kind == TRACE_STACK_UNKNOWN) {
		texts.kind = trace_kind_text(TRACE_KIND_QUERY);
	} else {
		texts.name = trace_reader__string(r, s->place);
		texts.kind = trace_kind_text(s->kind - TRACE_STACK_QUERY);
	}
	return dump_stack(c, id, s, &texts);
}

int dump_stacks__print(struct dump_stacks *d, const struct trace_reader *r, uint32_t stack,
		       struct columns *c)
{
	uint32_t chain[TRACE_STACK_DEPTH_MAX];
	uint32_t n = 0;

	if (array__reserve_at(&d->printed, trace_reader__stacks(r), &d->n, sizeof(*d->printed)))
		return -ENOMEM;
	for (uint32_t id = stack; id != TRACE_NO_STACK && !d->printed[id];
	     id = trace_reader__stack(r, id)->parent) {
		d->printed[id] = true;
		chain[n++] = id;
	}
	while (n) {
		int err = print_entry(r, chain[--n], c);

		if (err)
			return err;
	}
	return 0;
}

void dump_stacks__clear(struct dump_stacks *d)
{
	free(d->printed);
	*d = (struct dump_stacks){0};
}
