// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "base/diag.h"
#include "base/format.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "view/report_notes.h"

/* Properties of the spans other than damage. */
struct verified {
	struct trace_losses losses;
	bool has_losses;
	uint64_t unfinished; /* executions without an exact end */
	uint64_t left;	     /* intervals that end at the stored time or earlier */
	uint64_t left_off;   /* likewise, off the CPU */
	uint64_t unplaced;   /* entries of stacks in no function */
};

static int take_item(void *ctx, const struct trace_item *item)
{
	struct verified *v = ctx;

	if (item->kind == TRACE_ITEM_SPAN) {
		v->unfinished += trace_span__is_unfinished(&item->span);
		v->left += trace_span__end_is_late(&item->span);
		v->left_off += item->span.kind == TRACE_KIND_OFF_CPU &&
			       (item->span.flags & TRACE_SPAN_LEFT);
	} else if (item->kind == TRACE_ITEM_LOSSES) {
		v->losses = item->losses;
		v->has_losses = true;
	}
	return 0;
}

static void line(const char *what, uint64_t n, const char *more)
{
	char count[FORMAT_MAX];

	printf("  %-12s %s%s\n", what, format_count(count, n), more);
}

/* No line is printed for zero. */
static void missing(const char *what, uint64_t n)
{
	if (n)
		line("missing", n, what);
}

static void print_stats(const struct trace_stats *s, const struct verified *v)
{
	char more[64], bytes[FORMAT_MAX];

	snprintf(more, sizeof(more), " bytes of %s",
		 s->file_bytes ? format_count(bytes, s->file_bytes) : "a stream");
	line("sound", s->whole_bytes, more);
	line("chunks", s->chunks, "");
	line("processes", s->processes, "");
	line("strings", s->strings, "");
	line("spans", s->spans, "");
	if (v->unfinished)
		line("", v->unfinished, " " REPORT_UNWOUND_TEXT);
	if (v->left)
		line("", v->left, " intervals " REPORT_LEFT_TEXT);
	if (v->left_off)
		line("", v->left_off, " times off the CPU " REPORT_LEFT_TEXT);
	if (s->mapped)
		line("virtual ids", s->mapped, " with a text");
	if (s->functions) {
		snprintf(more, sizeof(more), ", %s of them with lines",
			 format_count(bytes, s->functions_with_lines));
		line("functions", s->functions, more);
	}
	if (s->callers)
		line("callers", s->callers, " spans have a caller");
	missing(" callers lie in no function", s->unknown_callers);
	if (s->samples) {
		line("samples", s->samples, "");
		if (s->cut_samples)
			line("", s->cut_samples, " do not reach the start of their thread");
		line("stacks", s->stacks, " entries");
	}
	missing(" entries of stacks lie in no function", v->unplaced);
	missing(" samples are lost", v->losses.count[TRACE_COUNT_NO_SAMPLE]);
	missing(" spans have no name", s->unknown_labels);
	missing(" spans have no event text", s->unknown_events);
	if (s->unknown_chunks)
		line("unknown", s->unknown_chunks, " chunks of a later version");
	missing(" chunks are in no index", s->chunks - s->indexed - s->unindexed);
	if (v->has_losses)
		line("lost", trace_losses__total(&v->losses), " while it was recorded");
	else
		printf("  %-12s unknown: it does not say\n", "lost");
}

int cmd_verify(const struct cli_verify_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct verified v = {};
	const char *why = NULL, *problem;
	struct trace_location at;
	struct trace_stats s;
	bool wrong_index;
	int err;

	err = cmd_try_trace(o->file, &r, &why);
	if (err == -EBADMSG) {
		printf("%s: %s\n", o->file, why);
		return cmd_finish_stdout(EXIT_CODE_DAMAGED);
	}
	if (err) {
		cmd_unreadable(o->file, why, err);
		return EXIT_CODE_FAILURE;
	}
	trace_reader__check_index(r);
	err = trace_reader__each(r, take_item, &v);
	if (err) {
		cmd_unreadable(o->file, NULL, err);
		return EXIT_CODE_FAILURE;
	}
	/* An entry may say itself that its function is not known. */
	for (uint32_t id = 1; id <= trace_reader__stacks(r); id++) {
		const struct trace_stack *stack = trace_reader__stack(r, id);

		v.unplaced += stack->kind == TRACE_STACK_LOCATION &&
			      stack->place != TRACE_NO_LOCATION &&
			      !trace_reader__location(r, stack->place, &at);
	}

	s = trace_reader__stats(r);
	problem = trace_reader__problem(r);
	wrong_index = s.misindexed || s.index_is_wrong;
	printf("%s: %s\n", o->file,
	       problem	     ? problem
	       : wrong_index ? "damaged: its index is wrong"
			     : "whole");
	print_stats(&s, &v);
	if (s.misindexed)
		line("wrong", s.misindexed, " entries of the index");
	return cmd_finish_stdout(s.damaged || wrong_index ? EXIT_CODE_DAMAGED
				 : problem		  ? EXIT_CODE_INCOMPLETE
							  : EXIT_CODE_OK);
}
