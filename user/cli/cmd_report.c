// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "analyze/summary.h"
#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "trace/reader.h"
#include "view/view.h"

/* What a trace says, summed. */
struct contents {
	struct summary *summary;
	struct trace_losses losses;
	bool has_losses;
};

static void contents__clear(struct contents *c)
{
	summary__free(c->summary);
}

static int take_item(struct contents *c, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return summary__span(c->summary, &item->span, true);
	case TRACE_ITEM_PROCESS:
		return summary__process(c->summary, item->process);
	case TRACE_ITEM_TALLY:
		return summary__tally(c->summary, &item->tally);
	case TRACE_ITEM_LOSSES:
		c->losses = item->losses;
		c->has_losses = true;
		return 0;
	default:
		return 0;
	}
}

static int read_all(struct trace_reader *r, struct contents *c)
{
	struct trace_item item;
	int err;

	err = summary__new(&c->summary);
	while (!err) {
		err = trace_reader__next(r, &item);
		if (err || item.kind == TRACE_ITEM_END)
			break;
		err = take_item(c, &item);
	}
	return err;
}

static const char *string_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

static const char *kind_of(const void *ctx, unsigned int kind)
{
	return trace_reader__kind(ctx, kind);
}

int cmd_report(const struct cli_report_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	__cleanup(contents__clear) struct contents c = {};
	struct report_options opt = {.top = o->top};
	struct view_names names = {.text = string_of, .kind = kind_of};
	const struct trace_losses *losses;
	int err;

	if (cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	err = read_all(r, &c);
	if (err) {
		diag_error("cannot read %s: %s", o->file, strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	names.ctx = r;
	losses = c.has_losses ? &c.losses : NULL;
	opt.problem = trace_reader__problem(r);
	if (opt.problem)
		diag_warn("%s: %s; the report covers what could be read", o->file, opt.problem);
	if (o->json)
		err = report_json(stdout, c.summary, losses, &names, &opt);
	else
		err = report_text(stdout, c.summary, losses, &names, &opt);
	if (err) {
		diag_error("cannot print the report: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	return cmd_finish_stdout(EXIT_CODE_OK);
}
