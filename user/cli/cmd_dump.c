// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "view/view.h"

/* The processes seen so far, by index. */
struct seen {
	const struct trace_process **by_index;
	uint32_t n;
};

static void seen__clear(struct seen *s)
{
	free(s->by_index);
}

static int seen__add(struct seen *s, const struct trace_process *p)
{
	if (p->index >= s->n) {
		uint32_t n = p->index + 1;
		void *more = reallocarray(s->by_index, n, sizeof(*s->by_index));

		if (!more)
			return -ENOMEM;
		s->by_index = more;
		memset(s->by_index + s->n, 0, (n - s->n) * sizeof(*s->by_index));
		s->n = n;
	}
	s->by_index[p->index] = p;
	return 0;
}

static int dump_item(const struct trace_reader *r, struct seen *s, const struct trace_item *item)
{
	const struct trace_process *p = NULL;
	int err;

	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		err = seen__add(s, item->process);
		return err ? err : dump_process(stdout, item->process);
	case TRACE_ITEM_SPAN:
		if (item->span.process < s->n)
			p = s->by_index[item->span.process];
		return dump_span(stdout, &item->span, p, trace_reader__string(r, item->span.label));
	case TRACE_ITEM_LOSSES:
		return dump_losses(stdout, &item->losses);
	default:
		return 0;
	}
}

int cmd_dump(const struct cli_dump_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	__cleanup(seen__clear) struct seen seen = {};
	struct trace_item item;
	int err;

	if (cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	err = dump_header(stdout, trace_reader__info(r));
	while (!err) {
		err = trace_reader__next(r, &item);
		if (err || item.kind == TRACE_ITEM_END)
			break;
		err = dump_item(r, &seen, &item);
	}
	if (err) {
		diag_error("cannot dump %s: %s", o->file, strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	if (trace_reader__problem(r))
		diag_warn("%s: %s", o->file, trace_reader__problem(r));
	return cmd_finish_stdout(EXIT_CODE_OK);
}
