// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pprof's profile.proto (github.com/google/pprof), gzipped. There is a sample for each stack, with
 * the executions of its innermost frame and their self time: on the CPU, and where that differs, in
 * all. A frame is a location with one line of one function; the outermost frame is the process.
 * tests/proto/profile.proto has the fields for protoc.
 */
#include <errno.h>

#include "export/flame.h"
#include "export/notes.h"
#include "export/out.h"
#include "export/protobuf.h"

enum pprof_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,

	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,

	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

/* The string table holds these, then the names of frames, of processes, and notes. */
enum pprof_string {
	STRING_EMPTY,
	STRING_EVENTS, /* of the first value */
	STRING_COUNT,
	STRING_VALUE, /* of the second */
	STRING_UNIT,
	STRING_WALL, /* of the third */
	STRING_COMMENT,
	STRING_N,
};

/* By cause of the samples; 0: executions. */
static const char *const strings[TRACE_SAMPLE_CAUSES][STRING_N] = {
	{"", "executions", "count", "cpu", "nanoseconds", "wall",
	 "rustc's queries, by qprof-bpf; this file " EXPORT_PRIVACY},
	[TRACE_SAMPLE_CPU] = {"", "samples", "count", "cpu", "nanoseconds", "wall",
			      "rustc's stacks, by qprof-bpf; this file " EXPORT_PRIVACY},
	[TRACE_SAMPLE_OFF_CPU] = {"", "waits", "count", "waiting", "nanoseconds", "",
				  "rustc's waits, by qprof-bpf; this file " EXPORT_PRIVACY},
	[TRACE_SAMPLE_FAULT] =
		{"", "samples", "count", "memory", "bytes", "",
		 "memory that rustc touched, by qprof-bpf; this file " EXPORT_PRIVACY},
};

struct pprof {
	struct export_job *job;
	const struct flame *flame;
	struct gzip *gzip;
	struct byte_buffer field, message, inner;
	struct u64_map files; /* string id of a file -> its text's number */
	uint64_t n_texts;     /* that were written */
	int err;	      /* the first; nothing is written after it */
};

static void pprof__clear(struct pprof *p)
{
	gzip__free(p->gzip);
	byte_buffer__destroy(&p->field);
	byte_buffer__destroy(&p->message);
	byte_buffer__destroy(&p->inner);
	u64_map__destroy(&p->files);
}

/* Write the fields made so far. */
static void flush(struct pprof *p)
{
	if (p->field.failed)
		p->err = p->err ?: -ENOMEM;
	if (!p->err)
		p->err = gzip__bytes(p->gzip, p->field.data, p->field.size);
	byte_buffer__clear(&p->field);
}

static void put_value_type(struct pprof *p, unsigned int field, uint64_t type, uint64_t unit)
{
	byte_buffer__clear(&p->message);
	protobuf__varint(&p->message, VALUE_TYPE, type);
	protobuf__varint(&p->message, VALUE_UNIT, unit);
	protobuf__message(&p->field, field, &p->message);
}

static void put_header(struct pprof *p)
{
	bool wall = p->job->wall && p->flame->has_off;

	put_value_type(p, PROFILE_SAMPLE_TYPE, STRING_EVENTS, STRING_COUNT);
	put_value_type(p, PROFILE_SAMPLE_TYPE, STRING_VALUE, STRING_UNIT);
	if (p->flame->has_off)
		put_value_type(p, PROFILE_SAMPLE_TYPE, STRING_WALL, STRING_UNIT);
	put_value_type(p, PROFILE_PERIOD_TYPE, STRING_VALUE, STRING_UNIT);
	protobuf__varint(&p->field, PROFILE_PERIOD, 1);
	protobuf__varint(&p->field, PROFILE_TIME_NANOS,
			 trace_reader__info(p->job->r)->realtime_start_ns);
	protobuf__varint(&p->field, PROFILE_COMMENT, STRING_COMMENT);
	protobuf__varint(&p->field, PROFILE_DEFAULT_SAMPLE_TYPE, wall ? STRING_WALL : STRING_VALUE);
	flush(p);
}

static int put_samples(struct pprof *p)
{
	_stack_ struct stack s = {0};
	int err;

	stack__begin(&s, p->flame, 0, UINT32_MAX);
	while ((err = stack__next(&s)) > 0) {
		const struct flame_node *n = stack__node(&s);

		if (!n->count && !n->self[FLAME_WALL])
			continue;
		byte_buffer__clear(&p->message);
		byte_buffer__clear(&p->inner);
		/* Ids start at 1; a function and its location have the same id. */
		for (uint32_t i = s.n; i; i--)
			byte_buffer__varint(&p->inner, 1 + flame__number(p->flame, s.nodes[i - 1]));
		protobuf__message(&p->message, SAMPLE_LOCATION, &p->inner);
		byte_buffer__clear(&p->inner);
		byte_buffer__varint(&p->inner, n->count);
		byte_buffer__varint(&p->inner, n->self[FLAME_CPU]);
		if (p->flame->has_off)
			byte_buffer__varint(&p->inner, n->self[FLAME_WALL]);
		protobuf__message(&p->message, SAMPLE_VALUE, &p->inner);
		protobuf__message(&p->field, PROFILE_SAMPLE, &p->message);
		p->job->written++;
		flush(p);
		if (p->err)
			return p->err;
	}
	return err;
}

static void put_string(struct pprof *p, const char *text)
{
	protobuf__text(&p->field, PROFILE_STRING, text);
	p->n_texts++;
	flush(p);
}

/* The number of a file's name, which is written now unless it was before. */
static uint64_t file_of(struct pprof *p, const struct trace_place *place)
{
	uint64_t number = u64_map__get(&p->files, place->file);

	if (number != U64_MAP_NONE)
		return number;
	number = p->n_texts;
	if (u64_map__put(&p->files, place->file, (uint32_t)number))
		p->err = p->err ?: -ENOMEM;
	put_string(p, trace_reader__string(p->job->r, place->file));
	return number;
}

static void put_function(struct pprof *p, uint64_t id, const struct trace_place *place)
{
	uint64_t file = place ? file_of(p, place) : 0;

	byte_buffer__clear(&p->message);
	protobuf__varint(&p->message, FUNCTION_ID, id);
	protobuf__varint(&p->message, FUNCTION_NAME, STRING_N + id - 1);
	protobuf__varint(&p->message, FUNCTION_SYSTEM_NAME, STRING_N + id - 1);
	if (place) {
		protobuf__varint(&p->message, FUNCTION_FILENAME, file);
		protobuf__varint(&p->message, FUNCTION_START_LINE, place->line);
	}
	protobuf__message(&p->field, PROFILE_FUNCTION, &p->message);
	byte_buffer__clear(&p->inner);
	protobuf__varint(&p->inner, LINE_FUNCTION, id);
	if (place)
		protobuf__varint(&p->inner, LINE_LINE, place->line);
	byte_buffer__clear(&p->message);
	protobuf__varint(&p->message, LOCATION_ID, id);
	protobuf__message(&p->message, LOCATION_LINE, &p->inner);
	protobuf__message(&p->field, PROFILE_LOCATION, &p->message);
	flush(p);
}

static void put_names(struct pprof *p)
{
	const struct flame *f = p->flame;
	uint32_t n = f->frames.all.n, n_notes = 0;
	char note[EXPORT_NOTE_MAX];

	/* Where no time off the CPU is known, what is called its time may hold some. */
	bool is_time = !p->job->cause && !p->flame->has_off;

	for (uint32_t i = 0; i < STRING_N && !p->err; i++)
		put_string(p, i == STRING_VALUE && is_time ? "time" : strings[p->job->cause][i]);
	for (uint32_t i = 0; i < n && !p->err; i++)
		put_string(p, flame_frames__name(&f->frames, i));
	for (uint32_t i = 0; i < f->n_processes && !p->err; i++)
		put_string(p, f->processes[i].title);
	for (int i = 0; i < EXPORT_NOTES && !p->err; i++) {
		if (!export_note(p->job, i, note))
			continue;
		protobuf__varint(&p->field, PROFILE_COMMENT,
				 STRING_N + (uint64_t)n + f->n_processes + n_notes++);
		put_string(p, note);
	}
	for (uint32_t i = 0; i < n + f->n_processes && !p->err; i++)
		put_function(p, i + 1, i < n ? flame__frame_place(f, i) : NULL);
}

int export_pprof(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	__cleanup(pprof__clear) struct pprof p = {.job = job};
	int err = flame__build(job, &f) ?: gzip__new(job->out, GZIP_BYTES, &p.gzip);

	if (err)
		return err;
	p.flame = f;
	put_header(&p);
	err = p.err ?: put_samples(&p);
	if (err)
		return err;
	put_names(&p);
	return p.err ?: gzip__finish(p.gzip);
}
