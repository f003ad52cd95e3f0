// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Chrome's trace events as JSON: times in microseconds since the capture began. */
#include <errno.h>
#include <string.h>

#include "export/notes.h"
#include "export/timeline.h"

#define SPAN_BYTES 144

struct chrome {
	struct export_job *job;
	struct out *out;
	uint64_t base_ns;
	bool began; /* an event was written: the next one needs a comma */
};

static void put_key(struct chrome *c, const char *key)
{
	out__text(c->out, ",\"");
	out__text(c->out, key);
	out__text(c->out, "\":");
}

static void put_number(struct chrome *c, const char *key, uint64_t value)
{
	put_key(c, key);
	out__number(c->out, value);
}

static void put_text(struct chrome *c, const char *key, const char *value)
{
	put_key(c, key);
	out__json(c->out, value);
}

/* A time on the trace's clock. An imported trace may hold times before its start. */
static void put_time(struct chrome *c, const char *key, uint64_t at_ns)
{
	put_key(c, key);
	if (at_ns < c->base_ns)
		out__text(c->out, "-");
	out__microseconds(c->out, at_ns < c->base_ns ? c->base_ns - at_ns : at_ns - c->base_ns);
}

static void begin_event(struct chrome *c, const char *phase)
{
	out__text(c->out, c->began ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	out__text(c->out, phase);
	out__text(c->out, "\"");
	c->began = true;
}

static int end_event(struct chrome *c)
{
	out__text(c->out, "}");
	return out__error(c->out);
}

/* A metadata event, which describes a process or a thread. */
static void put_about(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
		      const char *key, const char *text)
{
	begin_event(c, "M");
	put_text(c, "name", what);
	put_number(c, "pid", pid);
	put_number(c, "tid", tid);
	out__text(c->out, ",\"args\":{\"");
	out__text(c->out, key);
	out__text(c->out, "\":");
	out__json(c->out, text);
	out__text(c->out, "}");
	end_event(c);
}

static int put_process(void *ctx, const struct timeline_process *p)
{
	struct chrome *c = ctx;

	put_about(c, "process_name", p->pid, 0, "name", p->title);
	if (p->process->command)
		put_about(c, "process_labels", p->pid, 0, "labels", p->process->command);
	return out__error(c->out);
}

static int put_thread(void *ctx, const struct timeline_thread *t, const char *name)
{
	struct chrome *c = ctx;

	if (name)
		put_about(c, "thread_name", t->process->pid, t->tid, "name", name);
	return out__error(c->out);
}

/* The item that it was about, and its place in the source. */
static void put_key_of(struct chrome *c, const struct trace_span *s)
{
	const struct trace_reader *r = c->job->r;
	uint32_t event = trace_reader__event_string(r, s);
	const struct trace_place *place;

	if (event == TRACE_NO_STRING || !*trace_reader__string(r, event))
		return;
	put_text(c, "key", trace_reader__string(r, event));
	place = trace_reader__place(r, s->process, event);
	if (!place)
		return;
	put_text(c, "file", trace_reader__string(r, place->file));
	put_number(c, "line", place->line);
}

/* The first member of an object has no comma before it. */
static void put_arguments(struct chrome *c, const struct trace_span *s)
{
	const struct trace_reader *r = c->job->r;
	struct trace_location at;

	out__text(c->out, ",\"args\":{\"depth\":");
	out__number(c->out, s->depth);
	if (s->invocation != TRACE_NO_INVOCATION && !(s->flags & TRACE_SPAN_SAMPLED))
		put_number(c, "invocation", s->invocation);
	put_key_of(c, s);
	if (s->caller != TRACE_NO_LOCATION && trace_reader__location(r, s->caller, &at))
		put_text(c, "caller", at.function->name);
	if (s->flags)
		put_text(c, "end", timeline_end_text(s));
	out__text(c->out, "}");
}

static int put_span(void *ctx, const struct timeline_thread *t, const struct trace_span *s)
{
	struct chrome *c = ctx;
	bool instant = s->kind == TRACE_KIND_HIT;

	begin_event(c, instant ? "i" : "X");
	put_text(c, "name", trace_reader__string(c->job->r, s->label));
	put_text(c, "cat", trace_reader__kind(c->job->r, s->kind));
	put_number(c, "pid", t->process->pid);
	put_number(c, "tid", t->tid);
	put_time(c, "ts", s->start_ns);
	if (instant) {
		put_text(c, "s", "t");
	} else {
		put_key(c, "dur");
		out__microseconds(c->out, s->end_ns - s->start_ns);
	}
	put_arguments(c, s);
	return end_event(c);
}

static int put_counter(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value)
{
	struct chrome *c = ctx;
	char text[32];

	snprintf(text, sizeof(text), "%.3f", value);
	begin_event(c, "C");
	put_text(c, "name", timeline_counter_text(counter));
	put_number(c, "pid", 0);
	put_time(c, "ts", at_ns);
	out__text(c->out, ",\"args\":{\"mean\":");
	out__text(c->out, text);
	out__text(c->out, "}");
	return end_event(c);
}

static int put_memory(void *ctx, const struct timeline_process *p, uint64_t at_ns, uint64_t bytes)
{
	struct chrome *c = ctx;

	begin_event(c, "C");
	put_text(c, "name", TIMELINE_MEMORY);
	put_number(c, "pid", p->pid);
	put_time(c, "ts", at_ns);
	out__text(c->out, ",\"args\":{\"bytes\":");
	out__number(c->out, bytes);
	out__text(c->out, "}");
	return end_event(c);
}

static int put_end(struct chrome *c)
{
	const struct trace_info *info = trace_reader__info(c->job->r);
	_free_ char *notes = export_notes(c->job);

	if (!notes)
		return -ENOMEM;
	out__text(c->out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":");
	out__json(c->out, info->tool);
	put_text(c, "clock", trace_clock_name(info->clock));
	/* A string, because the number has more digits than a JSON number holds exactly. */
	out__text(c->out, ",\"clock_start_ns\":\"");
	out__number(c->out, info->clock_start_ns);
	out__text(c->out, "\",\"realtime_start_ns\":\"");
	out__number(c->out, info->realtime_start_ns);
	out__text(c->out, "\"");
	put_text(c, "privacy", "this file " EXPORT_PRIVACY);
	if (*notes)
		put_text(c, "note", notes + strlen("; "));
	out__text(c->out, "}}\n");
	return out__error(c->out);
}

int export_chrome(struct export_job *job)
{
	static const struct timeline_format format = {
		.span_bytes = SPAN_BYTES,
		.process = put_process,
		.thread = put_thread,
		.span = put_span,
		.counter = put_counter,
		.memory = put_memory,
	};
	struct chrome c = {
		.job = job,
		.out = job->out,
		.base_ns = trace_reader__info(job->r)->clock_start_ns,
	};
	int err;

	out__text(job->out, "{\"traceEvents\":[");
	err = timeline_run(job, &format, &c);
	return err ?: put_end(&c);
}
