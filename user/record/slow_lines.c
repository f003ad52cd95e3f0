// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/slow_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "view/slow.h"

/* Bytes of lines about slow intervals that may wait for a reader. */
#define WAITING_MOST (1u << 20)

/* Names that are looked for in a second: each takes up to a millisecond, and records wait. */
#define NAMED_PER_SECOND 100

/* What an execution was about, as long as its compiler runs; else NULL. */
static char *item_of(struct slow_lines *l, const struct trace_process *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char *name = NULL;

	if (!l->key || !l->name)
		return NULL;
	if (now - l->named_since_ns > 1000000000) {
		l->named_since_ns = now;
		l->n_named = 0;
	}
	if (l->n_named == NAMED_PER_SECOND)
		return NULL;
	l->n_named++;
	return l->name(l->name_ctx, (pid_t)p->pid, p->crate, l->key, &name) ? NULL : name;
}

/* A missing reader is no reason to end a recording. */
void slow_lines__see(struct slow_lines *l, const struct trace_span *s,
		     const struct trace_times *times, const struct trace_process *p,
		     const char *label)
{
	_free_ char *line = NULL, *item = NULL;
	size_t len = 0;
	FILE *to;

	/* An interval is at least as long as those within it with the time of probes only. */
	if (!p || s->end_ns - s->start_ns < l->least_ns || !slow_is_interval(s))
		return;
	if (!explained__take(&l->explained, s, slow_ns(s, times), slow_ns(s, times) >= l->least_ns))
		return;
	if (writer_thread__waiting(l->to) > WAITING_MOST) {
		l->n_left_out++;
		return;
	}
	to = open_memstream(&line, &len);
	if (!to)
		return;
	if (s->kind == TRACE_KIND_QUERY)
		item = item_of(l, p);
	slow_print(to, stderr, s, times, p, label, item);
	if (!fclose(to))
		writer_thread__put(l->to, line, len);
}

void slow_lines__print_left_out(const struct slow_lines *l)
{
	if (l->n_left_out)
		diag_info("%" PRIu64
			  " slow interval%s not printed: the reader did not read the lines",
			  l->n_left_out, l->n_left_out == 1 ? " was" : "s were");
}

void slow_lines__clear(struct slow_lines *l)
{
	explained__clear(&l->explained);
}
