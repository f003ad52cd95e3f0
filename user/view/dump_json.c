// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "analyze/sampled.h"
#include "trace/trace_id.h"
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

int dump_header(FILE *out, const struct trace_info *info, bool by_samples)
{
	struct json j = begin_line(out, "schema", "qprof-dump/2");
	char id[TRACE_ID_TEXT];

	json__text(&j, "tool", info->tool);
	json__text(&j, "kernel", info->kernel);
	json__text(&j, "host", info->host);
	json__text(&j, "clock", trace_clock_name(info->clock));
	json__number(&j, "clock_start_ns", info->clock_start_ns);
	json__number(&j, "realtime_start_ns", info->realtime_start_ns);
	if (trace_id__is_set(&info->id)) {
		trace_id__text(&info->id, id);
		json__text(&j, "id", id);
	}
	if (info->cpus)
		json__number(&j, "cpus", info->cpus);
	if (info->command)
		json__text(&j, "command", info->command);
	if (by_samples)
		json__text(&j, "queries",
			   "intervals by samples; --exact records each execution, and hits");
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
	if (p->peak_bytes)
		json__number(&j, "peak_bytes", p->peak_bytes);
	if (p->cpu_ns)
		json__number(&j, "cpu_ns", p->cpu_ns);
	if (p->no_llvm)
		json__text(&j, "no_llvm", p->no_llvm);
	if (p->kill)
		json__bool(&j, "killed_for_memory", p->kill == TRACE_KILL_MEMORY);
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

static struct json location(uint32_t locindex, const struct trace_location *at)
{
	struct json l = {};

	json__begin(&l);
	json__number(&l, "locindex", locindex);
	json__text(&l, "function", at ? at->function->name : NULL);
	json__known(&l, "offset", at, at ? at->offset : 0);
	json__text(&l, "file", at ? at->file : NULL);
	json__known(&l, "line", at && at->file, at ? at->line : 0);
	return l;
}

static void put_caller(struct json *j, uint32_t locindex, const struct trace_location *at)
{
	struct json l = location(locindex, at);

	json__value(j, "caller", json__take(&l));
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

static void put_event(struct json *j, const struct dump_span_texts *texts, bool is_query)
{
	json__text(j, "event", texts->event);
	if (is_query) {
		json__text(j, "key", texts->event && *texts->event ? texts->event : NULL);
		json__text(j, "key_type", texts->key_type);
	}
	put_place(j, texts->place);
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
	put_event(&j, texts, span->kind == TRACE_KIND_QUERY);
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
	if (p && trace_span__began_before(span, p))
		json__bool(&j, "began_before", true);
	if (span->caller != TRACE_NO_LOCATION)
		put_caller(&j, span->caller, texts->caller);
	return put_line(&j);
}

int dump_interval(FILE *out, const struct sampled_interval *interval, const struct trace_process *p,
		  const struct dump_span_texts *texts)
{
	struct json j = begin_line(out, "type", "interval");
	const struct trace_span *span = &interval->span;

	json__bool(&j, "sampled", true);
	json__number(&j, "process", span->process);
	json__number(&j, "pid", p ? p->pid : 0);
	json__number(&j, "tid", span->tid);
	json__text(&j, "query", texts->name);
	json__text(&j, "kind", texts->kind);
	put_event(&j, texts, true);
	json__number(&j, "start_ns", span->start_ns);
	json__number(&j, "end_ns", span->end_ns);
	json__number(&j, "depth", span->depth);
	json__number(&j, "job", interval->job);
	json__number(&j, "samples", interval->samples);
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

int dump_results(FILE *out, const struct trace_results *r, const struct trace_texts *names)
{
	static const char *const kinds[] = {
		[TRACE_RESULTS_EXECUTED] = "executed",
		[TRACE_RESULTS_UNSURE] = "unsure",
		[TRACE_RESULTS_UNKNOWN] = "unknown",
	};
	struct json j = begin_line(out, "type", "results");

	json__number(&j, "process", r->process);
	json__text(&j, "query", names->text(names->ctx, r->label));
	json__text(&j, "kind", kinds[r->kind]);
	json__put_open(&j);
	json__array(&j, "items");
	for (uint32_t i = 0; i < r->n && !j.err; i++) {
		json__print(&j, i ? "," : "");
		json__print_text(&j, names->text(names->ctx, r->items[i]));
	}
	json__print(&j, "]}\n");
	return j.err;
}

int dump_sampling(FILE *out, const struct trace_sampling *s)
{
	struct json j = begin_line(out, "type", "sampling");

	json__number(&j, "hz", s->hz);
	json__number(&j, "fault_period", s->fault_period);
	json__bool(&j, "light", s->light);
	json__bool(&j, "off_cpu", s->off_cpu);
	return put_line(&j);
}

int dump_stack(FILE *out, uint32_t id, const struct trace_stack *s,
	       const struct dump_stack_texts *texts)
{
	struct json j = begin_line(out, "type", "stack"), l;

	json__number(&j, "id", id);
	json__known(&j, "parent", s->parent != TRACE_NO_STACK, s->parent);
	json__number(&j, "depth", s->depth);
	if (s->kind != TRACE_STACK_LOCATION) {
		json__text(&j, "query", texts->name);
		json__text(&j, "kind", texts->kind);
		return put_line(&j);
	}
	l = location(s->place, texts->location);
	json__text(&l, "library", texts->location ? texts->location->function->file : NULL);
	json__value(&j, "location", json__take(&l));
	return put_line(&j);
}

int dump_job(FILE *out, uint32_t id, const struct trace_job *job, const char *query,
	     const char *event)
{
	struct json j = begin_line(out, "type", "job");

	json__number(&j, "id", id);
	json__known(&j, "parent", job->parent != TRACE_NO_JOB, job->parent);
	json__number(&j, "process", job->process);
	json__text(&j, "query", query);
	json__text(&j, "event", event);
	return put_line(&j);
}

static void put_llvm(struct json *to, const struct dump_sample_texts *texts)
{
	static const char *const scopes[TRACE_LLVM_SCOPES] = {
		[TRACE_LLVM_NONE] = "none",
		[TRACE_LLVM_FUNCTION] = "function",
		[TRACE_LLVM_SCC] = "scc",
		[TRACE_LLVM_MODULE] = "module",
	};
	struct json j = {};

	json__begin(&j);
	json__text(&j, "scope", scopes[texts->llvm->scope]);
	json__bool(&j, "codegen", texts->llvm->codegen);
	json__text(&j, "pass", texts->pass);
	json__text(&j, "function", texts->function);
	json__value(to, "llvm", json__take(&j));
}

int dump_sample(FILE *out, const struct trace_sample *s, const struct trace_process *p,
		const struct dump_sample_texts *texts)
{
	struct json j = begin_line(out, "type", "sample");

	json__number(&j, "process", s->process);
	json__number(&j, "pid", p ? p->pid : 0);
	json__number(&j, "tid", s->tid);
	json__text(&j, "cause", sample_cause_name(s->cause));
	json__number(&j, "time_ns", s->time_ns);
	json__number(&j, "value", s->value);
	json__known(&j, "stack", s->stack != TRACE_NO_STACK, s->stack);
	json__text(&j, "cut", s->cut ? sample_cut_name(s->cut) : NULL);
	if (s->job != TRACE_NO_JOB)
		json__number(&j, "job", s->job);
	if (texts->llvm)
		put_llvm(&j, texts);
	if (!texts->name)
		return put_line(&j);
	json__text(&j, "query", texts->name);
	json__text(&j, "kind", texts->kind);
	json__number(&j, "depth", s->depth);
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

int dump_part(FILE *out, uint32_t number)
{
	struct json j = begin_line(out, "type", "part");

	json__number(&j, "number", number);
	return put_line(&j);
}

int dump_overhead(FILE *out, const struct trace_overhead *overhead)
{
	static const char *const keys[TRACE_OVERHEAD_MAX] = {
		[TRACE_OVERHEAD_PROBES] = "probes_ns",
		[TRACE_OVERHEAD_BREAKPOINTS] = "breakpoints_ns",
		[TRACE_OVERHEAD_SAMPLES] = "samples_ns",
		[TRACE_OVERHEAD_OWN] = "own_ns",
		[TRACE_OVERHEAD_WAITED] = "waited_ns",
		[TRACE_OVERHEAD_N_WAITED] = "waited",
		[TRACE_OVERHEAD_N_BREAKPOINTS] = "breakpoints",
		[TRACE_OVERHEAD_SET_UP] = "set_up_ns",
		[TRACE_OVERHEAD_NAMES] = "names_ns",
		[TRACE_OVERHEAD_READ] = "read_ns",
		[TRACE_OVERHEAD_N_BESIDE] = "other_recordings",
	};
	struct json j = begin_line(out, "type", "overhead");

	for (int i = 0; i < TRACE_OVERHEAD_MAX; i++)
		json__number(&j, keys[i], overhead->of[i]);
	return put_line(&j);
}
