// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/live_output.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/diag.h"
#include "base/format.h"

int live_output__open(struct live_output *o, enum live_mode mode, bool prints)
{
	int err = live_view__new(o->to, mode, &o->view);

	if (!err && o->to && fileno(o->to) >= 0 && (mode != LIVE_NONE || prints))
		err = writer_thread__new(fileno(o->to), &o->writer);
	if (err)
		return err;
	live_view__write_by(o->view, o->writer);
	if (!o->slow.least_ns)
		return 0;
	if (o->to == stderr)
		o->slow.to = o->writer;
	return o->slow.to ? 0 : writer_thread__new(STDERR_FILENO, &o->slow.to);
}

/* Its reader is gone (`| head`), or there never was one (`2>&-`), which is no failure. */
static bool is_unread(const struct live_output *o, int err)
{
	return err == -EPIPE || (err == -EBADF && o->to == stderr);
}

/* The recording goes on for the trace. */
static void note_error(struct live_output *o, int err)
{
	if (o->err || !err)
		return;
	o->err = err;
	if (!is_unread(o, err))
		diag_error("cannot show what is recorded: %s; the recording goes on",
			   strerror(-err));
}

void live_output__draw(struct live_output *o, const struct live_state *state)
{
	if (!o->err)
		note_error(o, live_view__draw(o->view, state));
}

void live_output__leave_terminal(struct live_output *o)
{
	struct pollfd idle = {.events = POLLIN};

	live_view__restore(o->view);
	if (!o->writer)
		return;
	idle.fd = writer_thread__idle_fd(o->writer);
	poll(&idle, 1, DIAG_PATIENCE_MS);
}

/* 0, the error of a write, or -ETIME: the unwritten rest is dropped. */
static int wait_for_writer(const struct live_output *o, struct writer_thread *w)
{
	struct pollfd idle = {.events = POLLIN};

	if (!w)
		return 0;
	idle.fd = writer_thread__idle_fd(w);
	if (o->wait && !o->wait(o->wait_ctx, idle.fd))
		return -ETIME;
	while (!o->wait && poll(&idle, 1, -1) < 0)
		;
	return writer_thread__put(w, NULL, 0);
}

static int print_summary(struct live_output *o, int (*summary)(void *ctx, FILE *to), void *ctx)
{
	_free_ char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	int err, err2;

	if (!to)
		return -ENOMEM;
	err = summary(ctx, to);
	if (fclose(to) && !err)
		err = -ENOMEM;
	if (o->writer) {
		err2 = writer_thread__put(o->writer, text, len);
	} else {
		fwrite(text, 1, len, o->to);
		err2 = fflush(o->to) ? -errno : 0;
	}
	err2 = err2 ?: wait_for_writer(o, o->writer);
	err = err ?: err2;
	if (err && !is_unread(o, err) && err != -ETIME)
		diag_error("cannot print the summary: %s%s", strerror(-err), diag_step(err, ""));
	return err;
}

int live_output__finish(struct live_output *o, int (*summary)(void *ctx, FILE *to), void *ctx)
{
	int err = wait_for_writer(o, o->writer);
	uint64_t frames;

	if (err != -ETIME) {
		note_error(o, err);
		err = summary && !o->err ? print_summary(o, summary, ctx) : o->err;
	}
	if (o->slow.to != o->writer && wait_for_writer(o, o->slow.to) == -ETIME)
		err = -ETIME;
	frames = live_view__left_out(o->view);
	if (frames)
		diag_info("%" PRIu64 " interval%s not shown: their reader was too slow", frames,
			  frames == 1 ? " was" : "s were");
	slow_lines__print_left_out(&o->slow);
	if (err == -ETIME)
		diag_error("not all of the output was written, as nothing reads it; see the trace "
			   "with \"qprof-bpf report\"");
	return is_unread(o, err) ? 0 : err;
}

void live_output__destroy(struct live_output *o)
{
	live_view__free(o->view);
	slow_lines__clear(&o->slow);
	if (o->slow.to != o->writer)
		writer_thread__free(o->slow.to);
	writer_thread__free(o->writer);
}

/* ---- The last line --------------------------------------------------------------------------- */

#define PART 96

void closing_line__print(const struct closing_line *l)
{
	char size[FORMAT_MAX], intervals[PART] = "", samples[PART] = "";
	int len = 0;

	if (l->unknown_hits)
		diag_info("of %" PRIu64
			  " cache hits the query is unknown: its execution was not recorded",
			  l->unknown_hits);
	format_bytes(size, l->bytes);
	/* Without probes there is nothing to count. */
	if (!l->sampled || l->queries || l->others)
		len = snprintf(intervals, PART, "%" PRIu64 " queries", l->queries);
	if (l->others)
		len += snprintf(intervals + len, PART - len, ", %" PRIu64 " activities and waits",
				l->others);
	if (l->hits)
		snprintf(intervals + len, PART - len, ", %" PRIu64 " cache hits", l->hits);

	len = 0;
	if (l->sampled)
		len = snprintf(samples, PART, "%" PRIu64 " samples", l->samples);
	if (l->samples_cut)
		len += snprintf(samples + len, PART - len, " (%" PRIu64 " with a cut stack)",
				l->samples_cut);
	if (l->samples_lost)
		snprintf(samples + len, PART - len, " (%" PRIu64 " lost)", l->samples_lost);
	diag_info("recorded %s%s%s of %" PRIu32 " compiler%s, %" PRIu64 " lost; wrote %s (%s)",
		  intervals, *intervals && *samples ? ", " : "", samples, l->compilers,
		  l->compilers == 1 ? "" : "s", l->lost, l->place, size);
}
