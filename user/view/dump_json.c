// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The lines of `qprof-bpf dump`, and their schema. */
#include "analyze/sampled.h"
#include "base/array.h"
#include "trace/trace_id.h"
#include "view/columns.h"
#include "view/view.h"

/* The types of members, as JSON schema has them. */
#define REF(of)	   "{\"$ref\": \"#/$defs/" of "\"}"
#define U64	   REF("count")
#define U32	   REF("u32")
#define U16	   "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 65535}"
#define U8	   "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 255}"
#define OR_NULL	   "{\"type\": [\"integer\", \"null\"]}"
#define STRING	   "{\"type\": \"string\"}"
#define MAYBE_TEXT REF("text")
#define FLAG	   "{\"type\": \"boolean\"}"
#define TRUE	   "{\"const\": true}"

#define SCHEMA "qprof-dump/2"

int dump_header(struct columns *c, const struct trace_info *info, bool by_samples)
{
	char id[TRACE_ID_TEXT];

	columns__begin_line(c, "header", "schema", SCHEMA);
	TEXT(c, "tool", NULL, info->tool, STRING);
	TEXT(c, "kernel", NULL, info->kernel, STRING);
	TEXT(c, "host", NULL, info->host, STRING);
	TEXT(c, "clock", NULL, trace_clock_name(info->clock),
	     "{\"enum\": [\"monotonic\", \"realtime\"]}");
	NUMBER(c, NS, "clock_start_ns", NULL, info->clock_start_ns, U64);
	NUMBER(c, NS, "realtime_start_ns", NULL, info->realtime_start_ns, U64);
	SOME_TEXT(c, "id", NULL, trace_id__is_set(&info->id), (trace_id__text(&info->id, id), id),
		  STRING);
	SOME(c, COUNT, "cpus", NULL, info->cpus, info->cpus, U64);
	SOME_TEXT(c, "command", NULL, info->command, info->command, STRING);
	SOME_TEXT(c, "events", NULL, info->events, info->events, STRING);
	SOME_TEXT(c, "source", NULL, info->source, info->source, STRING);
	SOME_TEXT(c, "queries", NULL, by_samples,
		  "intervals by samples; --exact records each execution, and hits", STRING);
	return columns__end_line(c);
}

int dump_process(struct columns *c, const struct trace_process *p)
{
	columns__begin_line(c, "process", "type", "process");
	NUMBER(c, ID, "index", NULL, p->index, U32);
	NUMBER(c, ID, "pid", NULL, p->pid, U32);
	NUMBER(c, ID, "parent_pid", NULL, p->parent_pid, U32);
	NUMBER(c, NS, "start_ns", NULL, p->start_ns, U64);
	NUMBER(c, NS, "end_ns", NULL, p->end_ns, U64);
	KNOWN(c, COUNT, "exit_status", NULL, p->exit_status != TRACE_EXIT_UNKNOWN,
	      (uint32_t)p->exit_status, OR_NULL);
	BOOL(c, "attached_late", p->attached_late, FLAG);
	TEXT(c, "command", NULL, p->command, MAYBE_TEXT);
	TEXT(c, "crate", NULL, p->crate, MAYBE_TEXT);
	TEXT(c, "crate_type", NULL, p->crate_type, MAYBE_TEXT);
	TEXT(c, "rustc_version", NULL, p->rustc_version, MAYBE_TEXT);
	TEXT(c, "build_id", NULL, p->build_id, MAYBE_TEXT);
	TEXT(c, "cwd", NULL, p->cwd, MAYBE_TEXT);
	SOME(c, BYTES, "peak_bytes", NULL, p->peak_bytes, p->peak_bytes, U64);
	SOME(c, NS, "cpu_ns", NULL, p->cpu_ns, p->cpu_ns, U64);
	SOME_TEXT(c, "no_llvm", NULL, p->no_llvm, p->no_llvm, STRING);
	SOME_BOOL(c, "killed_for_memory", p->kill, p->kill == TRACE_KILL_MEMORY, FLAG);
	return columns__end_line(c);
}

/* `p` is NULL if nothing is known of it. */
static void of_process(struct columns *c, uint32_t index, const struct trace_process *p)
{
	NUMBER(c, ID, "process", NULL, index, U32);
	NUMBER(c, ID, "pid", NULL, p ? p->pid : 0, U32);
}

int dump_thread(struct columns *c, const struct trace_thread *t, const struct trace_process *p)
{
	columns__begin_line(c, "thread", "type", "thread");
	of_process(c, t ? t->process : 0, p);
	NUMBER(c, ID, "tid", NULL, t->tid, U32);
	TEXT(c, "name", NULL, t->name, STRING);
	return columns__end_line(c);
}

static void location_columns(struct columns *c, uint32_t locindex, const struct trace_location *at,
			     bool of_stack)
{
	NUMBER(c, ID, "locindex", NULL, locindex, U32);
	TEXT(c, "function", NULL, at ? at->function->name : NULL, MAYBE_TEXT);
	KNOWN(c, COUNT, "offset", NULL, at, at->offset, OR_NULL);
	TEXT(c, "file", NULL, at ? at->file : NULL, MAYBE_TEXT);
	KNOWN(c, COUNT, "line", NULL, at && at->file, at->line, OR_NULL);
	SOME_TEXT(c, "library", NULL, of_stack, at ? at->function->file : NULL, MAYBE_TEXT);
}

/* Of an interval, recorded or sampled: where it ran, what it is about, and its times. */
static void interval_columns(struct columns *c, const struct trace_span *span,
			     const struct trace_process *p, const struct dump_span_texts *texts,
			     bool sampled)
{
	bool is_query = c->describes || span->kind == TRACE_KIND_QUERY;
	const struct dump_place *place = texts ? texts->place : NULL;
	bool called = place && place->call_file;

	of_process(c, span ? span->process : 0, p);
	NUMBER(c, ID, "tid", NULL, span->tid, U32);
	TEXT(c, "query", NULL, texts->name, STRING);
	TEXT(c, "kind", NULL, texts->kind, sampled ? "{\"const\": \"Query\"}" : STRING);
	TEXT(c, "event", NULL, texts->event, MAYBE_TEXT);
	c->optional = !sampled;
	COLUMN(c, TEXT, "key", NULL, MAYBE_TEXT,
	       is_query ? columns__text(c, texts->event && *texts->event ? texts->event : NULL)
			: columns__none(c));
	SOME_TEXT(c, "key_type", NULL, is_query, texts->key_type, MAYBE_TEXT);
	SOME_TEXT(c, "file", NULL, place, place->file, STRING);
	SOME(c, COUNT, "line", NULL, place, place->line, U32);
	SOME_TEXT(c, "call_file", NULL, called, place->call_file, STRING);
	SOME(c, COUNT, "call_line", NULL, called, place->call_line, U32);
	NUMBER(c, NS, "start_ns", NULL, span->start_ns, U64);
	NUMBER(c, NS, "end_ns", NULL, span->end_ns, U64);
}

int dump_span(struct columns *c, const struct trace_span *span, const struct trace_process *p,
	      const struct dump_span_texts *texts)
{
	columns__begin_line(c, "span", "type", "span");
	interval_columns(c, span, p, texts, false);
	SOME(c, NS, "probe_ns", NULL, texts->probes, texts->times->probe_ns, U64);
	SOME(c, NS, "off_ns", NULL, texts->times->off_ns && span->kind != TRACE_KIND_OFF_CPU,
	     texts->times->off_ns, U64);
	NUMBER(c, COUNT, "depth", NULL, span->depth, U16);
	KNOWN(c, ID, "invocation", NULL, span->invocation != TRACE_NO_INVOCATION, span->invocation,
	      OR_NULL);
	BOOL(c, "unwound", span->flags & TRACE_SPAN_UNWOUND, FLAG);
	BOOL(c, "left", span->flags & TRACE_SPAN_LEFT, FLAG);
	BOOL(c, "open", span->flags & TRACE_SPAN_OPEN, FLAG);
	NUMBER(c, ID, "flags", NULL, span->flags, U8);
	SOME_BOOL(c, "began_before", p && trace_span__began_before(span, p), true, TRUE);
	if (OBJECT(c, "caller", span->caller != TRACE_NO_LOCATION, REF("location"))) {
		location_columns(c, span->caller, texts->caller, false);
		columns__leave(c);
	}
	return columns__end_line(c);
}

int dump_interval(struct columns *c, const struct sampled_interval *interval,
		  const struct trace_process *p, const struct dump_span_texts *texts)
{
	columns__begin_line(c, "interval", "type", "interval");
	BOOL(c, "sampled", true,
	     "{\"const\": true, \"description\": "
	     "\"from the first to the last sample that met an execution\"}");
	interval_columns(c, interval ? &interval->span : NULL, p, texts, true);
	NUMBER(c, COUNT, "depth", NULL, interval->span.depth, U16);
	NUMBER(c, ID, "job", NULL, interval->job, U32);
	NUMBER(c, COUNT, "samples", NULL, interval->samples,
	       "{\"type\": \"integer\", \"minimum\": 2}");
	return columns__end_line(c);
}

int dump_tally(struct columns *c, const struct trace_tally *t, const char *name, const char *kind)
{
	columns__begin_line(c, "tally", "type", "tally");
	NUMBER(c, ID, "process", NULL, t->process, U32);
	TEXT(c, "kind", NULL, kind, STRING);
	TEXT(c, "name", NULL, name, STRING);
	NUMBER(c, COUNT, "events", NULL, t->events, U64);
	NUMBER(c, COUNT, "sum", NULL, t->sum, U64);
	return columns__end_line(c);
}

int dump_results(struct columns *c, const struct trace_results *r, const struct trace_texts *names)
{
	static const char *const kinds[] = {
		[TRACE_RESULTS_EXECUTED] = "executed",
		[TRACE_RESULTS_UNSURE] = "unsure",
		[TRACE_RESULTS_UNKNOWN] = "unknown",
	};

	columns__begin_line(c, "results", "type", "results");
	NUMBER(c, ID, "process", NULL, r->process, U32);
	TEXT(c, "query", NULL, names->text(names->ctx, r->label), STRING);
	TEXT(c, "kind", NULL, kinds[r->kind],
	     "{\"enum\": [\"executed\", \"unsure\", \"unknown\"]}");
	if (LIST(c, "items", true, "{\"type\": \"array\", \"items\": " STRING "}")) {
		for (uint32_t i = 0; i < r->n && !c->err; i++)
			columns__item(c, i, names->text(names->ctx, r->items[i]));
		columns__leave_list(c);
	}
	return columns__end_line(c);
}

int dump_sampling(struct columns *c, const struct trace_sampling *s)
{
	columns__begin_line(c, "sampling", "type", "sampling");
	NUMBER(c, COUNT, "hz", NULL, s->hz, U32);
	NUMBER(c, COUNT, "fault_period", NULL, s->fault_period, U32);
	BOOL(c, "light", s->light, FLAG);
	BOOL(c, "off_cpu", s->off_cpu, FLAG);
	return columns__end_line(c);
}

int dump_stack(struct columns *c, uint32_t id, const struct trace_stack *s,
	       const struct dump_stack_texts *texts)
{
	bool in_query = s && s->kind != TRACE_STACK_LOCATION;

	columns__begin_line(c, "stack", "type", "stack");
	NUMBER(c, ID, "id", NULL, id, U32);
	KNOWN(c, ID, "parent", NULL, s->parent != TRACE_NO_STACK, s->parent, OR_NULL);
	NUMBER(c, COUNT, "depth", NULL, s->depth,
	       "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 2048}");
	SOME_TEXT(c, "query", NULL, in_query, texts->name, MAYBE_TEXT);
	SOME_TEXT(c, "kind", NULL, in_query, texts->kind, STRING);
	if (OBJECT(c, "location", !in_query, REF("location"))) {
		location_columns(c, s->place, texts->location, true);
		columns__leave(c);
	}
	return columns__end_line(c);
}

int dump_job(struct columns *c, uint32_t id, const struct trace_job *job, const char *query,
	     const char *event)
{
	columns__begin_line(c, "job", "type", "job");
	NUMBER(c, ID, "id", NULL, id, U32);
	KNOWN(c, ID, "parent", NULL, job->parent != TRACE_NO_JOB, job->parent, OR_NULL);
	NUMBER(c, ID, "process", NULL, job->process, U32);
	TEXT(c, "query", NULL, query, STRING);
	TEXT(c, "event", NULL, event, MAYBE_TEXT);
	return columns__end_line(c);
}

static void llvm_columns(struct columns *c, const struct dump_sample_texts *texts)
{
	static const char *const scopes[TRACE_LLVM_SCOPES] = {
		[TRACE_LLVM_NONE] = "none",
		[TRACE_LLVM_FUNCTION] = "function",
		[TRACE_LLVM_SCC] = "scc",
		[TRACE_LLVM_MODULE] = "module",
	};

	TEXT(c, "scope", NULL, scopes[texts->llvm->scope],
	     "{\"enum\": [\"none\", \"function\", \"scc\", \"module\"]}");
	BOOL(c, "codegen", texts->llvm->codegen, FLAG);
	TEXT(c, "pass", NULL, texts->pass, MAYBE_TEXT);
	TEXT(c, "function", NULL, texts->function, MAYBE_TEXT);
}

int dump_sample(struct columns *c, const struct trace_sample *s, const struct trace_process *p,
		const struct dump_sample_texts *texts)
{
	columns__begin_line(c, "sample", "type", "sample");
	of_process(c, s ? s->process : 0, p);
	NUMBER(c, ID, "tid", NULL, s->tid, U32);
	TEXT(c, "cause", NULL, sample_cause_name(s->cause),
	     "{\"enum\": [\"cpu\", \"off_cpu\", \"faults\"]}");
	NUMBER(c, NS, "time_ns", NULL, s->time_ns, U64);
	NUMBER(c, COUNT, "value", NULL, s->value, U64);
	KNOWN(c, ID, "stack", NULL, s->stack != TRACE_NO_STACK, s->stack, OR_NULL);
	TEXT(c, "cut", NULL, s->cut ? sample_cut_name(s->cut) : NULL,
	     "{\"enum\": [\"no_map\", \"no_rule\", \"no_page\", \"too_deep\", null]}");
	SOME(c, ID, "job", NULL, s->job != TRACE_NO_JOB, s->job, U32);
	if (OBJECT(c, "llvm", texts->llvm, REF("llvm"))) {
		llvm_columns(c, texts);
		columns__leave(c);
	}
	SOME_TEXT(c, "query", NULL, texts->name, texts->name, STRING);
	SOME_TEXT(c, "kind", NULL, texts->name, texts->kind, STRING);
	SOME(c, COUNT, "depth", NULL, texts->name, s->depth, U16);
	return columns__end_line(c);
}

int dump_losses(struct columns *c, const struct trace_losses *losses)
{
	columns__begin_line(c, "losses", "type", "losses");
	if (OBJECT_OR_NULL(c, "losses", true,
			   "{\"type\": \"object\", \"additionalProperties\": " U64 "}")) {
		for (int i = 0; i < TRACE_LOSS_MAX; i++)
			NUMBER(c, COUNT, trace_loss_name(i), NULL, losses->count[i], U64);
		columns__leave(c);
	}
	return columns__end_line(c);
}

int dump_costs(struct columns *c, const struct trace_costs *costs)
{
	columns__begin_line(c, "costs", "type", "costs");
	NUMBER(c, PS, "emulated_ps", NULL, costs->ps[TRACE_COST_EMULATED], U64);
	NUMBER(c, PS, "stepped_ps", NULL, costs->ps[TRACE_COST_STEPPED], U64);
	NUMBER(c, PS, "emulated_inside_ps", NULL, costs->ps[TRACE_COST_EMULATED_INSIDE], U64);
	NUMBER(c, PS, "stepped_inside_ps", NULL, costs->ps[TRACE_COST_STEPPED_INSIDE], U64);
	BOOL(c, "subtracted", costs->subtracted, FLAG);
	return columns__end_line(c);
}

int dump_part(struct columns *c, uint32_t number)
{
	columns__begin_line(c, "part", "type", "part");
	NUMBER(c, ID, "number", NULL, number,
	       "{\"type\": \"integer\", \"minimum\": 1, \"description\": "
	       "\"which of the traces that the build has, one after another\"}");
	c->closed = true;
	return columns__end_line(c);
}

int dump_rebuilt(struct columns *c, const struct trace_rebuilt *rebuilt, const char *crate,
		 const char *detail)
{
	columns__begin_line(c, "rebuilt", "type", "rebuilt");
	TEXT(c, "crate", NULL, crate, STRING);
	TEXT(c, "reason", NULL, trace_rebuilt_name(rebuilt->reason), STRING);
	TEXT(c, "detail", NULL, detail, MAYBE_TEXT);
	return columns__end_line(c);
}

int dump_overhead(struct columns *c, const struct trace_overhead *overhead)
{
	static const struct {
		const char *key;
		enum trace_overhead_part id;
		bool later; /* earlier versions do not have it */
	} parts[] = {
		{"probes_ns", TRACE_OVERHEAD_PROBES, false},
		{"breakpoints_ns", TRACE_OVERHEAD_BREAKPOINTS, false},
		{"samples_ns", TRACE_OVERHEAD_SAMPLES, false},
		{"own_ns", TRACE_OVERHEAD_OWN, false},
		{"waited_ns", TRACE_OVERHEAD_WAITED, false},
		{"waited", TRACE_OVERHEAD_N_WAITED, false},
		{"breakpoints", TRACE_OVERHEAD_N_BREAKPOINTS, false},
		{"set_up_ns", TRACE_OVERHEAD_SET_UP, false},
		{"names_ns", TRACE_OVERHEAD_NAMES, true},
		{"read_ns", TRACE_OVERHEAD_READ, true},
		{"other_recordings", TRACE_OVERHEAD_N_BESIDE, true},
		{"unseen_ns", TRACE_OVERHEAD_UNSEEN, true},
	};

	columns__begin_line(c, "overhead", "type", "overhead");
	for (size_t i = 0; i < N_OF(parts); i++) {
		c->optional = parts[i].later;
		if (columns__wants(c, UNIT_COUNT, parts[i].key, NULL, U64))
			columns__number(c, overhead->of[parts[i].id]);
	}
	return columns__end_line(c);
}

/* ---- The schema ------------------------------------------------------------------------------ */

void dump_schema(FILE *out)
{
	static const char *const lines[] = {
		"header",   "process",	"thread",  "span",    "tally",	  "losses",
		"costs",    "sampling", "stack",   "sample",  "overhead", "part",
		"interval", "job",	"results", "rebuilt",
	};
	struct columns c = {.to = COLUMNS_DEFINITIONS, .out = out, .describes = true};

	fputs("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	      "\"$id\": \"" SCHEMA "\",\n"
	      "\"title\": \"A line of qprof-bpf dump; the first is a header\",\n"
	      "\"$defs\": {\n"
	      "\"count\": {\"type\": \"integer\", \"minimum\": 0},\n"
	      "\"u32\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 4294967295},\n"
	      "\"text\": {\"type\": [\"string\", \"null\"]}",
	      out);
	columns__begin_line(&c, "location", NULL, NULL);
	location_columns(&c, 0, NULL, true);
	columns__end_line(&c);
	columns__begin_line(&c, "llvm", NULL, NULL);
	llvm_columns(&c, NULL);
	c.closed = true;
	columns__end_line(&c);
	dump_header(&c, NULL, false);
	dump_process(&c, NULL);
	dump_thread(&c, NULL, NULL);
	dump_span(&c, NULL, NULL, NULL);
	dump_tally(&c, NULL, NULL, NULL);
	dump_losses(&c, NULL);
	dump_costs(&c, NULL);
	dump_sampling(&c, NULL);
	dump_stack(&c, 0, NULL, NULL);
	dump_sample(&c, NULL, NULL, NULL);
	dump_overhead(&c, NULL);
	dump_part(&c, 0);
	dump_interval(&c, NULL, NULL, NULL);
	dump_job(&c, 0, NULL, NULL, NULL);
	dump_results(&c, NULL, NULL);
	dump_rebuilt(&c, NULL, NULL, NULL);
	fputs("},\n\"oneOf\": [", out);
	for (size_t i = 0; i < N_OF(lines); i++)
		fprintf(out, "%s" REF("%s"), i ? ",\n" : "\n", lines[i]);
	fputs("]}\n", out);
}
