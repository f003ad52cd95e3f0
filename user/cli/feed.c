// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/feed.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"

int feed__open(struct feed *f, const char *path)
{
	int err;

	*f = (struct feed){};
	err = cmd_open_trace(path, &f->reader);
	if (err)
		return err;
	err = summary__new(&f->summary) ?: threads__new(&f->threads)
						   ?: self_time__new(&f->self_time);
	if (err)
		return diag_error_r(err, "cannot read %s: %s", path, strerror(-err));
	summary__borrow_texts(f->summary);
	return 0;
}

static int take_span(struct feed *f, struct trace_span *span)
{
	struct trace_off off;

	return self_time__span(f->self_time, span, &off)
		       ?: summary__span(f->summary, span, &off)
				  ?: threads__span(f->threads, span, &off);
}

static int take_item(struct feed *f, struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return take_span(f, &item->span);
	case TRACE_ITEM_PROCESS:
		return summary__process(f->summary, item->process);
	case TRACE_ITEM_THREAD:
		return threads__name(f->threads, &item->thread);
	case TRACE_ITEM_TALLY:
		return summary__tally(f->summary, &item->tally);
	case TRACE_ITEM_LOSSES:
		f->losses = item->losses;
		f->has_losses = true;
		return 0;
	case TRACE_ITEM_COSTS:
		summary__set_costs(f->summary, &item->costs);
		self_time__set_costs(f->self_time, &item->costs);
		return 0;
	default:
		return 0;
	}
}

int feed__read(struct feed *f, bool *more)
{
	struct trace_item item;
	int err;

	*more = false;
	if (f->over)
		return 0;
	for (;;) {
		err = trace_reader__next(f->reader, &item);
		if (err || item.kind == TRACE_ITEM_END)
			break;
		*more = true;
		err = take_item(f, &item);
		if (err)
			return err;
	}
	if (!err)
		f->over = !trace_reader__resume(f->reader);
	return err;
}

void feed__destroy(struct feed *f)
{
	threads__free(f->threads);
	summary__free(f->summary);
	self_time__free(f->self_time);
	trace_reader__free(f->reader);
	*f = (struct feed){};
}
