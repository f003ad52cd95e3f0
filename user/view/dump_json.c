// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "view/json.h"
#include "view/view.h"

static struct json begin_line(FILE *out, const char *key, const char *value)
{
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, key, value);
	return j;
}

static int put_line(struct json *j)
{
	if (!json__put(j) && putc('\n', j->out) == EOF)
		j->err = -EIO;
	return j->err;
}

int dump_header(FILE *out, const struct trace_info *info)
{
	struct json j = begin_line(out, "schema", "qprof-dump/2");

	json__text(&j, "tool", info->tool);
	json__text(&j, "kernel", info->kernel);
	json__text(&j, "host", info->host);
	json__text(&j, "clock", trace_clock_name(info->clock));
	json__number(&j, "clock_start_ns", info->clock_start_ns);
	json__number(&j, "realtime_start_ns", info->realtime_start_ns);
	if (info->budget_ppm)
		json__number(&j, "budget_ppm", info->budget_ppm);
	return put_line(&j);
}

int dump_process(FILE *out, const struct trace_process *p)
{
	struct json j = begin_line(out, "type", "process");

	json__number(&j, "index", p->index);
	json__number(&j, "pid", p->pid);
	json__number(&j, "parent_pid", p->parent_pid);
	json__number(&j, "start_ns", p->start_ns);
	json__number(&j, "end_ns", p->end_ns);
	json__known(&j, "exit_status", p->exit_status != TRACE_EXIT_UNKNOWN,
		    (uint32_t)p->exit_status);
	json__bool(&j, "attached_late", p->attached_late);
	json__text(&j, "command", p->command);
	json__text(&j, "crate", p->crate);
	json__text(&j, "crate_type", p->crate_type);
	json__text(&j, "rustc_version", p->rustc_version);
	json__text(&j, "build_id", p->build_id);
	json__text(&j, "cwd", p->cwd);
	return put_line(&j);
}

int dump_thread(FILE *out, const struct trace_thread *t, const struct trace_process *p)
{
	struct json j = begin_line(out, "type", "thread");

	json__number(&j, "process", t->process);
	json__number(&j, "pid", p ? p->pid : 0);
	json__number(&j, "tid", t->tid);
	json__text(&j, "name", t->name);
	return put_line(&j);
}

static void put_caller(struct json *j, uint32_t locindex, const struct trace_location *at)
{
	struct json c = {};

	json__begin(&c);
	json__number(&c, "locindex", locindex);
	json__text(&c, "function", at ? at->function->name : NULL);
	json__known(&c, "offset", at, at ? at->offset : 0);
	json__text(&c, "file", at ? at->file : NULL);
	json__known(&c, "line", at && at->file, at ? at->line : 0);
	json__value(j, "caller", json__take(&c));
}

static void put_place(struct json *j, const struct dump_place *place)
{
	if (!place)
		return;
	json__text(j, "file", place->file);
	json__number(j, "line", place->line);
	if (!place->call_file)
		return;
	json__text(j, "call_file", place->call_file);
	json__number(j, "call_line", place->call_line);
}

int dump_span(FILE *out, const struct trace_span *span, const struct trace_process *p,
	      const struct dump_span_texts *texts)
{
	struct json j = begin_line(out, "type", "span");

	json__number(&j, "process", span->process);
	json__number(&j, "pid", p ? p->pid : 0);
	json__number(&j, "tid", span->tid);
	json__text(&j, "query", texts->name);
	json__text(&j, "kind", texts->kind);
	json__text(&j, "event", texts->event);
	if (span->kind == TRACE_KIND_QUERY) {
		json__text(&j, "key", texts->event && *texts->event ? texts->event : NULL);
		json__text(&j, "key_type", texts->key_type);
	}
	put_place(&j, texts->place);
	json__number(&j, "start_ns", span->start_ns);
	json__number(&j, "end_ns", span->end_ns);
	if (texts->probes)
		json__number(&j, "probe_ns", texts->times->probe_ns);
	if (texts->times->off_ns && span->kind != TRACE_KIND_OFF_CPU)
		json__number(&j, "off_ns", texts->times->off_ns);
	json__number(&j, "depth", span->depth);
	json__known(&j, "invocation", span->invocation != TRACE_NO_INVOCATION, span->invocation);
	json__bool(&j, "unwound", span->flags & TRACE_SPAN_UNWOUND);
	json__bool(&j, "left", span->flags & TRACE_SPAN_LEFT);
	json__bool(&j, "open", span->flags & TRACE_SPAN_OPEN);
	json__number(&j, "flags", span->flags);
	if (span->caller != TRACE_NO_LOCATION)
		put_caller(&j, span->caller, texts->caller);
	return put_line(&j);
}

int dump_tally(FILE *out, const struct trace_tally *t, const char *name, const char *kind)
{
	struct json j = begin_line(out, "type", "tally");

	json__number(&j, "process", t->process);
	json__text(&j, "kind", kind);
	json__text(&j, "name", name);
	json__number(&j, "events", t->events);
	json__number(&j, "sum", t->sum);
	return put_line(&j);
}

int dump_decision(FILE *out, const struct trace_decision *d, const char *name, const char *kind)
{
	struct json j = begin_line(out, "type", "decision");

	json__number(&j, "time_ns", d->time_ns);
	json__text(&j, "query", name);
	json__text(&j, "kind", kind);
	json__text(&j, "watch", trace_watch_name(d->watch));
	json__number(&j, "cost_ppm", d->cost_ppm);
	json__number(&j, "budget_ppm", d->budget_ppm);
	return put_line(&j);
}

int dump_losses(FILE *out, const struct trace_losses *losses)
{
	struct json j = begin_line(out, "type", "losses");

	json__losses(&j, "losses", losses);
	return put_line(&j);
}

int dump_costs(FILE *out, const struct trace_costs *costs)
{
	struct json j = begin_line(out, "type", "costs");

	json__number(&j, "emulated_ps", costs->ps[TRACE_COST_EMULATED]);
	json__number(&j, "stepped_ps", costs->ps[TRACE_COST_STEPPED]);
	json__number(&j, "emulated_inside_ps", costs->ps[TRACE_COST_EMULATED_INSIDE]);
	json__number(&j, "stepped_inside_ps", costs->ps[TRACE_COST_STEPPED_INSIDE]);
	json__bool(&j, "subtracted", costs->subtracted);
	return put_line(&j);
}
