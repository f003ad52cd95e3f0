// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/slow_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "qprof/wire.h"
#include "view/slow.h"

/* Bytes of lines about slow intervals that may wait for a reader. */
#define WAITING_MOST (1u << 20)

/* Names that are looked for in a second: each takes up to a millisecond, and records wait. */
#define NAMED_PER_SECOND 100

/* Read what an execution was about from its compiler, while that runs. False: it may be known
 * later. */
static bool read_item(struct slow_lines *l, const struct trace_process *p, char **item)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (l->name && l->forgot_key)
		return false;
	if (!l->name || wire_key_crate(l->key) != WIRE_KEY_LOCAL_CRATE)
		return true;
	if (now - l->named_since_ns > 1000000000) {
		l->named_since_ns = now;
		l->n_named = 0;
	}
	if (l->n_named == NAMED_PER_SECOND)
		return false;
	l->n_named++;
	return !l->name(l->name_ctx, (pid_t)p->pid, p->crate, l->key, item);
}

/* A missing reader is no reason to end a recording. */
static void print(struct slow_lines *l, const struct trace_span *s, const struct trace_times *times,
		  const char *label, const char *item)
{
	const struct trace_process *p = summary__process_at(l->processes, s->process);
	struct trace_times known = *times;
	_free_ char *line = NULL;
	size_t len = 0;
	FILE *to;

	if (writer_thread__waiting(l->to) > WAITING_MOST) {
		l->n_left_out++;
		return;
	}
	to = open_memstream(&line, &len);
	if (!to)
		return;
	if (l->by_samples)
		known.self_ns = SLOW_WITH_QUERIES;
	slow_print(to, stderr, s, &known, p, label, item);
	if (!fclose(to))
		writer_thread__put(l->to, line, len);
}

static bool hold(struct slow_lines *l, const struct trace_span *s, const struct trace_times *times,
		 const char *label)
{
	struct slow_held held = {*s, *times, NULL};

	if (l->n_held == SLOW_LINES_HELD)
		return false;
	held.label = strdup(label);
	if (held.label)
		l->held[l->n_held++] = held;
	return held.label;
}

static void release(struct slow_lines *l, uint32_t i, const char *item)
{
	struct slow_held held = l->held[i];

	memmove(&l->held[i], &l->held[i + 1], (--l->n_held - i) * sizeof(held));
	print(l, &held.span, &held.times, held.label, item);
	free(held.label);
}

void slow_lines__see(struct slow_lines *l, const struct trace_span *s,
		     const struct trace_times *times, const char *label)
{
	const struct trace_process *p = summary__process_at(l->processes, s->process);
	_free_ char *item = NULL;
	bool is_known = true;

	/* An interval is at least as long as those within it with the time of probes only. */
	if (!p || s->end_ns - s->start_ns < l->least_ns || !slow_is_interval(s))
		return;
	if (!explained__take(s->flags & TRACE_SPAN_SAMPLED ? &l->sampled : &l->explained, s,
			     slow_ns(s, times), slow_ns(s, times) >= l->least_ns))
		return;
	if (s->kind == TRACE_KIND_QUERY)
		is_known = read_item(l, p, &item);
	if (is_known || !hold(l, s, times, label))
		print(l, s, times, label, item);
}

void slow_lines__named(struct slow_lines *l, const struct trace_mapping *m,
		       const struct item_output *items)
{
	for (uint32_t i = 0; i < l->n_held;) {
		const struct trace_span *s = &l->held[i].span;
		_free_ char *item = NULL;

		if (s->process == m->process)
			item_output__name(items, m, s->invocation, &item);
		if (item)
			release(l, i, item);
		else
			i++;
	}
}

void slow_lines__over(struct slow_lines *l, uint32_t process)
{
	for (uint32_t i = 0; i < l->n_held;) {
		if (process == TRACE_NO_PROCESS || l->held[i].span.process == process)
			release(l, i, NULL);
		else
			i++;
	}
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
	while (l->n_held)
		free(l->held[--l->n_held].label);
	explained__clear(&l->explained);
	explained__clear(&l->sampled);
}
