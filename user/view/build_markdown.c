// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>

#include "view/llvm_view.h"
#include "view/build_rows.h"
#include "view/cost_view.h"
#include "view/path_view.h"
#include "view/report_notes.h"
#include "view/rebuilt.h"
#include "view/report_rows.h"
#include "view/verdict_text.h"

/* Default number of rows. */
#define FIT	 10
#define FIT_OPEN 5

static void print_head(FILE *out, const struct build_view *v)
{
	const struct build_totals *t = build__totals(v->build);
	/* Of the build that this is a part of, or itself. */
	const struct build_totals *whole = build__totals(build__whole(v->build) ?: v->build);
	uint64_t wall_ns = whole->running.end_ns - whole->running.start_ns;
	char buf[FORMAT_MAX * 2];

	fprintf(out, "### rustc: %s%s, %" PRIu32 " %s compiled", whole->unended ? "at least " : "",
		format_duration(buf, wall_ns), whole->compiles,
		whole->compiles == 1 ? "crate" : "crates");
	if (whole != t)
		fprintf(out, ", %" PRIu32 " chosen", t->compiles);
	if (t->failed || t->killed)
		fprintf(out, ", **%" PRIu32 " failed, %" PRIu32 " killed%s**", t->failed, t->killed,
			build_memory_kills(buf, t));
	if (t->unended)
		fprintf(out, ", **%" PRIu32 " not seen to end**", t->unended);
	if (whole->cached)
		fprintf(out, "; %" PRIu32 " from a cache", whole->cached);
	fputs("\n\n", out);
	if (wall_ns)
		fprintf(out, "- %.2f compilers on average; one at a time for the last %s\n",
			(double)whole->compiler_ns / wall_ns,
			format_duration(buf, whole->running.tail_ns));
	build_print_threads(out, v, "- threads: ", "- waiting: ");
	if (t->blocked_ns)
		fprintf(out, "- blocked in queries that another thread executed: %s\n",
			format_duration(buf, t->blocked_ns));
}

static int print_interrupted(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	uint32_t n;
	const struct build_thread *threads = build__interrupted(v->build, &n);
	const struct columns c = {.to = COLUMNS_MARKDOWN, .out = out};
	size_t shown = build_rows__shown(v, n, FIT);
	char buf[FORMAT_MAX * 2];
	int err = 0;

	if (n)
		fputc('\n', out);
	for (size_t k = 0; k < shown && !err; k++) {
		const struct build_thread *t = &threads[k];
		uint32_t n_open = build_rows__shown(v, t->n_open, FIT_OPEN);

		fputs("- ", out);
		err = markdown_code(out, r->of[t->process].name);
		fprintf(out, " %s, while thread ",
			build_ending(buf, r->of[t->process].process->process));
		err = err ?: markdown_code(out, t->name ?: "?");
		fputs(" was in ", out);
		for (uint32_t i = 0; !err && i < n_open; i++) {
			fputs(i ? " in " : "", out);
			err = markdown_code(out, v->names->text(v->names->ctx, t->open[i].label));
		}
		if (t->n_open - n_open + t->more)
			fprintf(out, " in %" PRIu32 " more", t->n_open - n_open + t->more);
		fputc('\n', out);
	}
	if (!err)
		columns__more(&c, n - shown, NULL, NULL);
	return err;
}

static int print_notes(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	char buf[FORMAT_MAX];
	int err = 0;

	if (r->is_sampled)
		fputc('\n', out), report_notes__sampled(out, v->summary);
	if (v->losses)
		fprintf(out, "\nLost: %s.", format_count(buf, trace_losses__total(v->losses)));
	else
		fputs("\nLost: unknown, the trace does not say.", out);
	if (v->problem) {
		fputs(" Incomplete: ", out);
		err = markdown_code(out, v->problem);
		fputc('.', out);
	}
	fputc('\n', out);
	return err;
}

int build_markdown(FILE *out, const struct build_view *v)
{
	_build_rows_ struct build_rows r = {};
	int err = build_rows__init(&r, v);
	struct verdict verdict;

	if (err)
		return err;
	verdict = verdict_of(v->summary, v->losses);
	verdict_lead(out, &verdict);
	print_head(out, v);
	build_print_samples(out, "- samples: ", 0, &r, v);
	llvm_print_line(out, "- LLVM: ", 0, &r.llvm);
	if (v->cost) {
		cost_text_beside(out, v->cost, "- ");
		cost_text_unseen(out, v->cost, "- unseen: ");
		if (!v->cost->is_part && v->cost->added_ns) {
			fputs("- ", out);
			cost_text_line(out, v->cost, "; ");
			fputc('\n', out);
		}
	}
	if (r.n_reuse) {
		fprintf(out, "- incremental compiles: %" PRIu32 ", ", r.n_reuse);
		build_print_reuse(out, &r.reuse);
		fputc('\n', out);
	}
	err = rebuilt_markdown(out, v) ?: path_table(out, COLUMNS_MARKDOWN, FIT, &r, v);
	err = err ?: build_crate_table(out, COLUMNS_MARKDOWN, FIT, &r, v);
	err = err ?: build_item_table(out, COLUMNS_MARKDOWN, FIT, &r, v);
	err = err ?: build_query_table(out, COLUMNS_MARKDOWN, BUILD_QUERIES, FIT, &r, v);
	err = err ?: build_query_table(out, COLUMNS_MARKDOWN, BUILD_PAIRS, FIT, &r, v);
	err = err ?: build_query_table(out, COLUMNS_MARKDOWN, BUILD_PASSES, FIT, &r, v);
	err = err ?: print_interrupted(out, &r, v);
	return err ?: print_notes(out, &r, v);
}
