// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * speedscope's JSON: stacks with weights ("sampled"), first a profile of all processes together,
 * then one per process. Where threads were off the CPU, each has a second profile of wall times.
 */
#include <errno.h>
#include <stdio.h>

#include "export/flame.h"
#include "export/notes.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	struct export_job *job;
	struct out *out;
	const struct flame *flame;
	enum flame_value value; /* of the profile that is being written */
	struct stack stack;
	bool profiles;	   /* a profile was written: the next one needs a comma */
	uint64_t n_stacks; /* of the profile written last */
};

static void speedscope__clear(struct speedscope *sp)
{
	stack__destroy(&sp->stack);
}

typedef int (*node_fn)(struct speedscope *sp, uint64_t ns, bool first);

static void put_frame(struct speedscope *sp, const char *name, const struct trace_place *place,
		      bool first)
{
	out__text(sp->out, first ? "\n{\"name\":" : ",\n{\"name\":");
	out__json(sp->out, name);
	if (place) {
		out__text(sp->out, ",\"file\":");
		out__json(sp->out, trace_reader__string(sp->job->r, place->file));
		out__text(sp->out, ",\"line\":");
		out__number(sp->out, place->line);
	}
	out__text(sp->out, "}");
}

static int put_sample(struct speedscope *sp, uint64_t ns, bool first)
{
	(void)ns;
	out__text(sp->out, first ? "\n[" : ",\n[");
	for (uint32_t i = 0; i < sp->stack.n; i++) {
		if (i)
			out__bytes(sp->out, ",", 1);
		out__number(sp->out, flame__number(sp->flame, sp->stack.nodes[i]));
	}
	out__bytes(sp->out, "]", 1);
	return out__error(sp->out);
}

static int put_weight(struct speedscope *sp, uint64_t ns, bool first)
{
	if (!first)
		out__bytes(sp->out, ",", 1);
	out__number(sp->out, ns);
	return out__error(sp->out);
}

/* Call `put`, unless NULL, for each stack with a self time. *sum gets the sum of these times. */
static int each_stack(struct speedscope *sp, uint32_t from, uint32_t to, node_fn put, uint64_t *sum)
{
	bool first = true;
	int err;

	*sum = 0;
	sp->n_stacks = 0;
	stack__begin(&sp->stack, sp->flame, from, to);
	while ((err = stack__next(&sp->stack)) > 0) {
		uint64_t ns = stack__node(&sp->stack)->self[sp->value];

		if (!ns)
			continue;
		*sum += ns;
		sp->n_stacks++;
		err = put ? put(sp, ns, first) : 0;
		if (err)
			return err;
		first = false;
	}
	return err;
}

/* Write a profile of the processes from `from` up to, without, `to`. */
static int put_profile(struct speedscope *sp, uint32_t from, uint32_t to, const char *name)
{
	_free_ char *full = NULL;
	uint64_t sum;
	int err = each_stack(sp, from, to, NULL, &sum);

	if (err)
		return err;
	/* One profile has the name alone. */
	if (asprintf(&full, "%s%s", name,
		     !sp->flame->has_off      ? ""
		     : sp->value == FLAME_CPU ? ", CPU time"
					      : ", wall time") < 0) {
		full = NULL;
		return -ENOMEM;
	}
	out__text(sp->out, sp->profiles ? ",\n" : "\n");
	sp->profiles = true;
	out__text(sp->out, "{\"type\":\"sampled\",\"name\":");
	out__json(sp->out, full);
	out__text(sp->out, sp->job->cause == TRACE_SAMPLE_FAULT ? ",\"unit\":\"bytes\""
								: ",\"unit\":\"nanoseconds\"");
	out__text(sp->out, ",\"startValue\":0,\"endValue\":");
	out__number(sp->out, sum);
	out__text(sp->out, ",\"samples\":[");
	err = each_stack(sp, from, to, put_sample, &sum);
	if (err)
		return err;
	out__text(sp->out, "\n],\"weights\":[");
	err = each_stack(sp, from, to, put_weight, &sum);
	out__text(sp->out, "]}");
	return err;
}

/* The profiles of both values; the ones after the first differ only where threads waited. */
static int put_values(struct speedscope *sp, uint32_t from, uint32_t to, const char *name)
{
	int err;

	sp->value = FLAME_CPU;
	err = put_profile(sp, from, to, name);
	if (err || !sp->flame->has_off)
		return err;
	sp->value = FLAME_WALL;
	return put_profile(sp, from, to, name);
}

static int put_profiles(struct speedscope *sp)
{
	uint32_t n = sp->flame->n_processes;
	int err;

	out__text(sp->out, "\"profiles\":[");
	err = put_values(sp, 0, n, "all compilers");
	if (err)
		return err;
	sp->job->written = sp->n_stacks;
	for (uint32_t i = 0; n > 1 && i < n; i++) {
		err = put_values(sp, i, i + 1, sp->flame->processes[i].title);
		if (err)
			return err;
	}
	out__text(sp->out, "\n]}\n");
	return 0;
}

int export_speedscope(struct export_job *job)
{
	_free_ char *notes = NULL, *name = NULL;
	_flame_ struct flame *f = NULL;
	__cleanup(speedscope__clear) struct speedscope sp = {.job = job, .out = job->out};
	int err = flame__build(job, &f);

	if (err)
		return err;
	sp.flame = f;
	out__text(job->out, "{\"$schema\":\"" SCHEMA "\",\n\"exporter\":");
	out__json(job->out, trace_reader__info(job->r)->tool);
	out__text(job->out, ",\n\"name\":");
	/* The name is the title of the viewer's window, and the only place for notes. */
	notes = export_notes(job);
	if (!notes || asprintf(&name, "%s (this file " EXPORT_PRIVACY "%s)", export_subject(job),
			       notes) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	out__json(job->out, name);
	out__text(job->out, ",\n\"activeProfileIndex\":");
	out__number(job->out, job->wall && f->has_off);
	out__text(job->out, ",\n");
	out__text(job->out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < f->frames.all.n; i++)
		put_frame(&sp, flame_frames__name(&f->frames, i), flame__frame_place(f, i), !i);
	for (uint32_t i = 0; i < f->n_processes; i++)
		put_frame(&sp, f->processes[i].title, NULL, !f->frames.all.n && !i);
	out__text(job->out, "\n]},\n");
	return put_profiles(&sp);
}
