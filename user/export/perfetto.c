// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Perfetto's trace format. A file is a sequence of fields, each of them a packet, so it can be
 * streamed. Starts and ends are separate events; the viewer sorts them by time, and events of equal
 * time by their order in the file (export/timeline.h). All packets but those of samples belong to
 * one sequence, in which each text is sent once.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "export/notes.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_samples.h"
#include "export/protobuf.h"
#include "export/timeline.h"

#define SEQUENCE   1
#define SPAN_BYTES 56

/* Smaller numbers take fewer bytes, and most events belong to threads. */
enum uuid {
	UUID_NOTES = 1,
	UUID_COUNTERS,
	UUID_FIRST = 8,
};

/* Of the memory of the first process. */
#define UUID_MEMORY (1ull << 33)
/* Of the waits of the first thread. */
#define UUID_WAITS (1ull << 34)

enum text_space {
	TEXT_KIND,
	TEXT_LABEL,
	TEXT_EVENT,
	TEXT_FUNCTION,
	TEXT_ANNOTATION,
	TEXT_WAIT,
	TEXT_STACK,
	SENT_WAITS, /* no text: the track of a thread's waits */
};

/* The annotations of an interval; their iids are these values plus 1. */
enum annotation {
	ANNOTATION_INVOCATION,
	ANNOTATION_EVENT,
	ANNOTATION_FILE,
	ANNOTATION_LINE,
	ANNOTATION_CALLER,
	ANNOTATION_END,
	ANNOTATION_STACK,
	ANNOTATION_N,
};

static const char *const annotations[] = {
	[ANNOTATION_INVOCATION] = "invocation",
	[ANNOTATION_EVENT] = "key",
	[ANNOTATION_FILE] = "file",
	[ANNOTATION_LINE] = "line",
	[ANNOTATION_CALLER] = "caller",
	[ANNOTATION_END] = "end",
	[ANNOTATION_STACK] = "stack",
};

struct perfetto {
	struct export_job *job;
	struct u64_map iids;   /* space << 32 | number in it -> iid of a text that was sent */
	uint32_t n_iids;       /* of all spaces */
	struct begins *begins; /* per thread */
	uint32_t n_threads;
	uint32_t threads_capacity;
	struct perfetto_samples *samples;
	const struct timeline_process
		*touched; /* whose memory has a track, the last one; or NULL */
	/* The packet being made, and the messages nested in it. */
	struct byte_buffer packet, event, interned, inner, entry;
};

static void perfetto__clear(struct perfetto *p)
{
	u64_map__destroy(&p->iids);
	for (uint32_t i = 0; i < p->n_threads; i++)
		begins__destroy(&p->begins[i]);
	free(p->begins);
	perfetto_samples__free(p->samples);
	byte_buffer__destroy(&p->packet);
	byte_buffer__destroy(&p->event);
	byte_buffer__destroy(&p->interned);
	byte_buffer__destroy(&p->inner);
	byte_buffer__destroy(&p->entry);
}

static uint64_t process_uuid(const struct timeline_process *p)
{
	return UUID_FIRST + 2 * (uint64_t)p->process->index + 1;
}

static uint64_t thread_uuid(uint32_t index)
{
	return UUID_FIRST + 2 * (uint64_t)index;
}

static int put_packet(struct perfetto *p)
{
	protobuf__varint(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	return protobuf__put(p->job->out, TRACE_PACKET, &p->packet);
}

/* ---- Texts that are sent once ---------------------------------------------------------------- */

/* Add a text to the interned data of the current packet. */
static void intern(struct perfetto *p, unsigned int field, uint32_t iid, const char *text)
{
	byte_buffer__clear(&p->entry);
	protobuf__varint(&p->entry, ENTRY_IID, iid);
	protobuf__text(&p->entry, ENTRY_TEXT, text);
	protobuf__message(&p->interned, field, &p->entry);
}

/* The iid of a text. A new text is sent with the packet. 0: no memory. */
static uint32_t iid_of(struct perfetto *p, enum text_space space, uint32_t number,
		       unsigned int field, const char *text)
{
	uint64_t key = (uint64_t)space << 32 | number;
	uint32_t iid = u64_map__get(&p->iids, key);

	if (iid != U64_MAP_NONE)
		return iid;
	iid = ANNOTATION_N + 1 + p->n_iids;
	if (u64_map__put(&p->iids, key, iid))
		return 0;
	p->n_iids++;
	intern(p, field, iid, text);
	return iid;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void begin_event(struct perfetto *p, enum perfetto_event_type type, uint64_t track)
{
	byte_buffer__clear(&p->event);
	protobuf__varint(&p->event, EVENT_TYPE, type);
	protobuf__varint(&p->event, EVENT_TRACK_UUID, track);
}

/* Send the event, with the texts that are new in it. */
static int put_event(struct perfetto *p, uint64_t at_ns, bool needs_texts)
{
	protobuf__varint(&p->packet, PACKET_TIMESTAMP, at_ns);
	protobuf__message(&p->packet, PACKET_TRACK_EVENT, &p->event);
	if (p->interned.size)
		protobuf__message(&p->packet, PACKET_INTERNED_DATA, &p->interned);
	if (needs_texts)
		protobuf__varint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	byte_buffer__clear(&p->interned);
	return put_packet(p);
}

static void annotate(struct perfetto *p, enum annotation which, unsigned int field, uint64_t value)
{
	byte_buffer__clear(&p->inner);
	protobuf__varint(&p->inner, ANNOTATION_NAME_IID, which + 1);
	protobuf__varint(&p->inner, field, value);
	protobuf__message(&p->event, EVENT_ANNOTATIONS, &p->inner);
}

static void annotate_text(struct perfetto *p, enum annotation which, enum text_space space,
			  uint32_t number, const char *text)
{
	annotate(p, which, ANNOTATION_TEXT_IID,
		 iid_of(p, space, number, INTERNED_ANNOTATION_TEXTS, text));
}

static void describe_span(struct perfetto *p, const struct trace_span *s)
{
	const struct trace_reader *r = p->job->r;
	uint32_t key = trace_reader__event_string(r, s);
	const struct trace_place *place = NULL;
	struct trace_location at;

	protobuf__varint(&p->event, EVENT_NAME_IID,
			 iid_of(p, TEXT_LABEL, s->label, INTERNED_EVENT_NAMES,
				trace_reader__string(r, s->label)));
	protobuf__varint(
		&p->event, EVENT_CATEGORY_IIDS,
		iid_of(p, TEXT_KIND, s->kind, INTERNED_CATEGORIES, trace_reader__kind(r, s->kind)));
	if (s->invocation != TRACE_NO_INVOCATION && !(s->flags & TRACE_SPAN_SAMPLED))
		annotate(p, ANNOTATION_INVOCATION, ANNOTATION_UINT, s->invocation);
	/* The item that it was about, and its place in the source. */
	if (key != TRACE_NO_STRING && *trace_reader__string(r, key)) {
		annotate_text(p, ANNOTATION_EVENT, TEXT_EVENT, key, trace_reader__string(r, key));
		place = trace_reader__place(r, s->process, key);
	}
	if (place) {
		annotate_text(p, ANNOTATION_FILE, TEXT_EVENT, place->file,
			      trace_reader__string(r, place->file));
		annotate(p, ANNOTATION_LINE, ANNOTATION_UINT, place->line);
	}
	if (s->caller != TRACE_NO_LOCATION && trace_reader__location(r, s->caller, &at))
		annotate_text(p, ANNOTATION_CALLER, TEXT_FUNCTION, at.function->first,
			      at.function->name);
	if (s->flags)
		annotate_text(p, ANNOTATION_END, TEXT_ANNOTATION, s->flags, timeline_end_text(s));
}

struct on_thread {
	struct perfetto *p;
	uint64_t track;
};

static int put_begin(void *ctx, const struct trace_span *s)
{
	const struct on_thread *on = ctx;

	begin_event(on->p, EVENT_SLICE_BEGIN, on->track);
	describe_span(on->p, s);
	return put_event(on->p, s->start_ns, true);
}

static int put_span(void *ctx, const struct timeline_thread *t, const struct trace_span *s)
{
	struct perfetto *p = ctx;
	struct on_thread on = {p, thread_uuid(t->index)};
	int err;

	/* Sorting would mix up a start and an end of equal time. */
	if (s->start_ns == s->end_ns) {
		begin_event(p, EVENT_INSTANT, on.track);
		describe_span(p, s);
		return put_event(p, s->start_ns, true);
	}
	err = begins__span(&p->begins[t->index], s, put_begin, &on);
	if (err)
		return err;
	begin_event(p, EVENT_SLICE_END, on.track);
	return put_event(p, s->end_ns, false);
}

static int put_counter(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value)
{
	struct perfetto *p = ctx;

	begin_event(p, EVENT_COUNTER, UUID_COUNTERS + counter);
	protobuf__double(&p->event, EVENT_DOUBLE_COUNTER_VALUE, value);
	return put_event(p, at_ns, false);
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

static void begin_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name)
{
	byte_buffer__clear(&p->event);
	protobuf__varint(&p->event, TRACK_UUID, uuid);
	if (parent)
		protobuf__varint(&p->event, TRACK_PARENT_UUID, parent);
	if (name)
		protobuf__text(&p->event, TRACK_NAME, name);
	byte_buffer__clear(&p->inner);
}

static int put_track(struct perfetto *p)
{
	protobuf__message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->event);
	return put_packet(p);
}

static int put_process(void *ctx, const struct timeline_process *process)
{
	struct perfetto *p = ctx;

	begin_track(p, process_uuid(process), 0, NULL);
	protobuf__varint(&p->inner, PROCESS_PID, process->pid);
	if (process->process->command)
		protobuf__text(&p->inner, PROCESS_COMMAND, process->process->command);
	protobuf__text(&p->inner, PROCESS_NAME, process->title);
	protobuf__message(&p->event, TRACK_PROCESS, &p->inner);
	return put_track(p);
}

static int put_thread(void *ctx, const struct timeline_thread *t, const char *name)
{
	struct perfetto *p = ctx;

	if (t->index == p->n_threads) {
		if (array__reserve_one(&p->begins, p->n_threads, &p->threads_capacity,
				       sizeof(*p->begins)))
			return -ENOMEM;
		p->begins[p->n_threads++] = (struct begins){0};
	}
	/* Thread 0 belongs to the kernel, but profiles number their threads from 0. */
	if (!t->tid) {
		begin_track(p, thread_uuid(t->index), process_uuid(t->process), name ?: "thread 0");
		return put_track(p);
	}
	begin_track(p, thread_uuid(t->index), process_uuid(t->process), NULL);
	protobuf__varint(&p->inner, THREAD_PID, t->process->pid);
	protobuf__varint(&p->inner, THREAD_TID, t->tid);
	if (name)
		protobuf__text(&p->inner, THREAD_NAME, name);
	protobuf__message(&p->event, TRACK_THREAD, &p->inner);
	return put_track(p);
}

static int put_memory(void *ctx, const struct timeline_process *process, uint64_t at_ns,
		      uint64_t bytes)
{
	struct perfetto *p = ctx;
	int err = 0;

	if (p->touched != process) {
		p->touched = process;
		begin_track(p, UUID_MEMORY + process->process->index, process_uuid(process),
			    TIMELINE_MEMORY);
		protobuf__varint(&p->inner, COUNTER_UNIT, UNIT_SIZE_BYTES);
		protobuf__message(&p->event, TRACK_COUNTER, &p->inner);
		err = put_track(p);
	}
	if (err)
		return err;
	begin_event(p, EVENT_COUNTER, UUID_MEMORY + process->process->index);
	protobuf__double(&p->event, EVENT_DOUBLE_COUNTER_VALUE, (double)bytes);
	return put_event(p, at_ns, false);
}

static int take_item(void *ctx, const struct trace_item *item)
{
	struct perfetto *p = ctx;

	if (item->kind == TRACE_ITEM_SAMPLING)
		perfetto_samples__set(p->samples, &item->sampling);
	return 0;
}

/* ---- Waits ----------------------------------------------------------------------------------- */

/* Waits of a thread do not overlap. They have a track, once there is one. */
static int put_wait(struct perfetto *p, const struct timeline_thread *t,
		    const struct trace_sample *s)
{
	uint64_t track = UUID_WAITS + t->index, key = (uint64_t)SENT_WAITS << 32 | t->index;
	struct perfetto_wait wait;
	_free_ char *stack = NULL;
	bool known = perfetto_samples__wait(p->samples, s->stack, &wait);
	int err = 0;

	stack = wait.stack;
	if (u64_map__get(&p->iids, key) == U64_MAP_NONE) {
		if (u64_map__put(&p->iids, key, 0))
			return -ENOMEM;
		begin_track(p, track, thread_uuid(t->index), "waits");
		err = put_track(p);
	}
	if (err || !known)
		return err;
	begin_event(p, EVENT_SLICE_BEGIN, track);
	protobuf__varint(&p->event, EVENT_NAME_IID,
			 iid_of(p, TEXT_WAIT, wait.function, INTERNED_EVENT_NAMES, wait.name));
	protobuf__varint(&p->event, EVENT_CATEGORY_IIDS,
			 iid_of(p, TEXT_KIND, TRACE_KIND_OFF_CPU, INTERNED_CATEGORIES,
				trace_reader__kind(p->job->r, TRACE_KIND_OFF_CPU)));
	annotate_text(p, ANNOTATION_STACK, TEXT_STACK, s->stack, stack);
	err = put_event(p, s->time_ns, true);
	if (err)
		return err;
	begin_event(p, EVENT_SLICE_END, track);
	return put_event(p, s->time_ns + s->value, false);
}

static int put_sample(void *ctx, const struct timeline_thread *t, const struct trace_sample *s)
{
	struct perfetto *p = ctx;

	if (s->cause == TRACE_SAMPLE_OFF_CPU)
		return put_wait(p, t, s);
	return perfetto_samples__add(p->samples, t, s);
}

static int put_note(struct perfetto *p, const char *note)
{
	begin_event(p, EVENT_INSTANT, UUID_NOTES);
	protobuf__text(&p->event, EVENT_NAME, note);
	return put_event(p, trace_reader__info(p->job->r)->clock_start_ns, false);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void snapshot_clock(struct perfetto *p, enum perfetto_clock id, uint64_t at_ns)
{
	byte_buffer__clear(&p->inner);
	protobuf__varint(&p->inner, CLOCK_ID, id);
	protobuf__varint(&p->inner, CLOCK_TIMESTAMP, at_ns);
	protobuf__message(&p->event, SNAPSHOT_CLOCKS, &p->inner);
}

/* The clock of the trace's times, and the real time at its start. */
static int put_clocks(struct perfetto *p)
{
	const struct trace_info *info = trace_reader__info(p->job->r);
	enum perfetto_clock clock =
		info->clock == TRACE_CLOCK_REALTIME ? CLOCK_REALTIME_ID : CLOCK_MONOTONIC_ID;

	byte_buffer__clear(&p->event);
	snapshot_clock(p, clock, info->clock_start_ns);
	if (clock != CLOCK_REALTIME_ID)
		snapshot_clock(p, CLOCK_REALTIME_ID, info->realtime_start_ns);
	protobuf__varint(&p->event, SNAPSHOT_PRIMARY_CLOCK, clock);
	protobuf__message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->event);
	byte_buffer__clear(&p->inner);
	protobuf__varint(&p->inner, DEFAULTS_TIMESTAMP_CLOCK_ID, clock);
	protobuf__message(&p->packet, PACKET_DEFAULTS, &p->inner);
	for (uint32_t i = 0; i < ANNOTATION_N; i++)
		intern(p, INTERNED_ANNOTATION_NAMES, i + 1, annotations[i]);
	protobuf__message(&p->packet, PACKET_INTERNED_DATA, &p->interned);
	byte_buffer__clear(&p->interned);
	protobuf__varint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	return put_packet(p);
}

int export_perfetto(struct export_job *job)
{
	static const struct timeline_format format = {
		.span_bytes = SPAN_BYTES,
		.process = put_process,
		.thread = put_thread,
		.span = put_span,
		.sample = put_sample,
		.item = take_item,
		.counter = put_counter,
		.memory = put_memory,
	};
	__cleanup(perfetto__clear) struct perfetto p = {.job = job};
	char note[EXPORT_NOTE_MAX];
	int err = perfetto_samples__new(job, &p.samples) ?: put_clocks(&p);

	for (int i = 0; i < TIMELINE_COUNTERS && !err; i++) {
		begin_track(&p, UUID_COUNTERS + i, 0, timeline_counter_text(i));
		protobuf__varint(&p.inner, COUNTER_UNIT, UNIT_COUNT);
		protobuf__message(&p.event, TRACK_COUNTER, &p.inner);
		err = put_track(&p);
	}
	if (err)
		return err;
	begin_track(&p, UUID_NOTES, 0, "notes");
	err = put_track(&p) ?: put_note(&p, "this file " EXPORT_PRIVACY)
		      ?: timeline_run(job, &format, &p);
	for (uint32_t i = 0; i < p.n_threads && !err; i++) {
		struct on_thread on = {&p, thread_uuid(i)};

		err = begins__finish(&p.begins[i], put_begin, &on);
	}
	for (int i = 0; i < EXPORT_NOTES && !err; i++)
		err = export_note(job, i, note) ? put_note(&p, note) : 0;
	return err;
}
