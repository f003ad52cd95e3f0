// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader.h"

#include <errno.h>
#include <string.h>

#include "trace/bytes.h"
#include "trace/chunk_stream.h"
#include "trace/labels.h"
#include "trace/span_codec.h"

struct trace_reader {
	struct chunk_stream stream;
	struct trace_info info;
	char **strings;
	uint32_t n_strings;
	uint32_t strings_capacity;
	uint64_t string_bytes;
	struct labels labels;
	struct trace_process **processes; /* their texts are the strings' */
	uint32_t n_processes;
	uint32_t processes_capacity;
	uint64_t n_spans;
	struct span_codec *codec;
	const struct trace_span *batch; /* spans of the current chunk still to be given out */
	uint32_t n_batch;
	uint32_t n_records; /* process records of the current chunk still to be read */
	uint32_t n_tallies; /* likewise */
};

/* A text of the payload, allocated; NULL if it is not there, or (*err) there is no memory. */
static char *take_text(struct byte_reader *in, int *err)
{
	uint64_t size = byte_reader__varint_max(in, QPT_TEXT_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);
	char *text;

	if (in->bad)
		return NULL;
	if (memchr(bytes, 0, size)) {
		in->bad = true;
		return NULL;
	}
	text = malloc(size + 1);
	if (!text) {
		*err = -ENOMEM;
		return NULL;
	}
	memcpy(text, bytes, size);
	text[size] = '\0';
	return text;
}

static int add_string(struct trace_reader *r, char *text)
{
	if (r->n_strings == r->strings_capacity) {
		uint32_t capacity = r->strings_capacity ? r->strings_capacity * 2 : 512;
		char **p = reallocarray(r->strings, capacity, sizeof(*p));

		if (!p)
			return -ENOMEM;
		r->strings = p;
		r->strings_capacity = capacity;
	}
	r->strings[r->n_strings++] = text;
	r->string_bytes += strlen(text);
	return 0;
}

static int take_strings(struct trace_reader *r)
{
	struct byte_reader *in = &r->stream.payload;
	uint64_t first = byte_reader__varint_max(in, QPT_STRINGS_MAX);
	uint64_t n = byte_reader__varint_max(in, QPT_STRINGS_MAX - first);
	int err = 0;

	if (in->bad || first != r->n_strings) {
		chunk_stream__damaged(&r->stream, "names are missing");
		return 0;
	}
	for (; n && r->string_bytes <= QPT_STRING_BYTES_MAX; n--) {
		_free_ char *text = take_text(in, &err);

		if (!text)
			break;
		err = add_string(r, text);
		if (err)
			break;
		take_ptr(text);
	}
	if (!err && (n || in->at != in->end))
		chunk_stream__damaged(&r->stream, "a name is malformed");
	return err;
}

/* A reference to a text: one more than its id, or 0. The text stays the string table's. */
static char *take_ref(struct trace_reader *r, struct byte_reader *in)
{
	uint64_t ref = byte_reader__varint_max(in, r->n_strings);

	return ref ? r->strings[ref - 1] : NULL;
}

static void take_process_fields(struct trace_reader *r, struct byte_reader *in,
				struct trace_process *p)
{
	uint64_t flags = byte_reader__varint_max(in, QPT_PROCESS_LATE | QPT_PROCESS_EXITED);
	uint32_t status;

	p->attached_late = flags & QPT_PROCESS_LATE;
	p->pid = byte_reader__varint_max(in, UINT32_MAX);
	p->parent_pid = byte_reader__varint_max(in, UINT32_MAX);
	p->start_ns = byte_reader__varint(in);
	p->end_ns = byte_reader__varint(in);
	status = byte_reader__varint_max(in, UINT32_MAX);
	p->exit_status = flags & QPT_PROCESS_EXITED ? (int32_t)status : TRACE_EXIT_UNKNOWN;
	p->command = take_ref(r, in);
	p->crate = take_ref(r, in);
	p->crate_type = take_ref(r, in);
	p->rustc_version = take_ref(r, in);
	p->build_id = take_ref(r, in);
}

static struct trace_process *add_process(struct trace_reader *r)
{
	struct trace_process *p;

	if (r->n_processes == r->processes_capacity) {
		uint32_t capacity = r->processes_capacity ? r->processes_capacity * 2 : 64;
		struct trace_process **all =
			reallocarray(r->processes, capacity, sizeof(struct trace_process *));

		if (!all)
			return NULL;
		r->processes = all;
		r->processes_capacity = capacity;
	}
	p = calloc(1, sizeof(*p));
	if (p)
		r->processes[r->n_processes++] = p;
	return p;
}

/* False if the record is malformed. Bytes left over are fields of a later version. */
static bool parse_process(struct trace_reader *r, struct byte_reader *in, struct trace_process *p)
{
	uint64_t size = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);
	struct byte_reader fields;

	if (in->bad)
		return false;
	fields = (struct byte_reader){.at = bytes, .end = bytes + size};
	p->index = byte_reader__varint_max(&fields, r->n_processes);
	take_process_fields(r, &fields, p);
	return !fields.bad && p->index < QPT_PROCESSES_MAX;
}

/* Take one process record. `*item` stays NULL if it is malformed, which stops the stream. */
static int take_process(struct trace_reader *r, const struct trace_process **item)
{
	struct byte_reader *in = &r->stream.payload;
	struct trace_process record = {0};
	struct trace_process *p;

	r->n_records--;
	if (!parse_process(r, in, &record) || (!r->n_records && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a process record is malformed");
		return 0;
	}
	p = record.index < r->n_processes ? r->processes[record.index] : add_process(r);
	if (!p)
		return -ENOMEM;
	*p = record;
	*item = p;
	return 0;
}

static void begin_processes(struct trace_reader *r)
{
	r->n_records = byte_reader__varint_max(&r->stream.payload, QPT_PAYLOAD_MAX);
	if (!r->n_records)
		chunk_stream__damaged(&r->stream, "a list of processes is empty");
}

static int take_labels(struct trace_reader *r)
{
	const char *why;
	int err = labels__take(&r->labels, &r->stream.payload, r->strings, r->n_strings, &why);

	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, why);
	return 0;
}

static void begin_tallies(struct trace_reader *r)
{
	r->n_tallies = byte_reader__varint_max(&r->stream.payload, QPT_PAYLOAD_MAX);
	if (!r->n_tallies)
		chunk_stream__damaged(&r->stream, "a list of tallies is empty");
}

static void take_tally(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	struct trace_tally *t = &item->tally;

	r->n_tallies--;
	t->process = byte_reader__varint_max(in, UINT32_MAX);
	t->label = byte_reader__varint_max(in, UINT32_MAX);
	t->events = byte_reader__varint(in);
	t->sum = byte_reader__varint(in);
	if (in->bad || t->process >= r->n_processes || t->label >= r->n_strings ||
	    (!r->n_tallies && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a tally is malformed");
		return;
	}
	labels__resolve(&r->labels, &t->label, &t->kind);
	item->kind = TRACE_ITEM_TALLY;
}

static int begin_spans(struct trace_reader *r)
{
	const struct byte_reader *in = &r->stream.payload;
	const char *why;
	int err = span_codec__decode(r->codec, in->at, in->end - in->at, r->n_processes,
				     r->n_strings, &r->batch, &r->n_batch, &why);

	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, why);
	return 0;
}

static void take_losses(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	uint64_t n = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);

	item->losses = (struct trace_losses){0};
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t count = byte_reader__varint(in);

		/* A cause of a later version is passed over. */
		if (i < TRACE_LOSS_MAX)
			item->losses.count[i] = count;
	}
	if (in->bad || in->at != in->end)
		chunk_stream__damaged(&r->stream, "a record of losses is malformed");
	else
		item->kind = TRACE_ITEM_LOSSES;
}

static void take_end(struct trace_reader *r)
{
	struct byte_reader *in = &r->stream.payload;
	uint64_t strings = byte_reader__varint(in);
	uint64_t processes = byte_reader__varint(in);
	uint64_t spans = byte_reader__varint(in);

	if (in->bad)
		chunk_stream__damaged(&r->stream, "its end is malformed");
	else if (strings != r->n_strings || processes != r->n_processes || spans != r->n_spans)
		chunk_stream__damaged(&r->stream, "it does not hold what its end says");
	else
		chunk_stream__end(&r->stream);
}

/* Take or begin the chunk just read; `*item` is set if the chunk is one. */
static int take_chunk(struct trace_reader *r, struct trace_item *item)
{
	int err = 0;

	switch (r->stream.header.type) {
	case QPT_STRINGS:
		err = take_strings(r);
		break;
	case QPT_PROCESSES:
		begin_processes(r);
		break;
	case QPT_SPANS:
		err = begin_spans(r);
		break;
	case QPT_LOSSES:
		take_losses(r, item);
		break;
	case QPT_LABELS:
		err = take_labels(r);
		break;
	case QPT_TALLIES:
		begin_tallies(r);
		break;
	case QPT_END:
		take_end(r);
		break;
	case QPT_INFO:
		chunk_stream__damaged(&r->stream, "it begins twice");
		break;
	default: /* of a later version */
		break;
	}
	return err;
}

/* Give out what is left of the current chunk. `*item` is not set if nothing is. */
static int rest_of_chunk(struct trace_reader *r, struct trace_item *item)
{
	int err = 0;

	if (r->n_batch) {
		item->kind = TRACE_ITEM_SPAN;
		item->span = *r->batch++;
		labels__resolve(&r->labels, &item->span.label, &item->span.kind);
		r->n_batch--;
		r->n_spans++;
	} else if (r->n_records) {
		item->process = NULL;
		err = take_process(r, &item->process);
		if (item->process)
			item->kind = TRACE_ITEM_PROCESS;
	} else if (r->n_tallies) {
		take_tally(r, item);
	}
	return err;
}

int trace_reader__next(struct trace_reader *r, struct trace_item *item)
{
	int err;

	item->kind = TRACE_ITEM_END;
	if (r->stream.stopped)
		return 0;
	err = rest_of_chunk(r, item);
	while (!err && item->kind == TRACE_ITEM_END && !r->stream.stopped) {
		chunk_stream__taken(&r->stream);
		err = chunk_stream__next(&r->stream);
		if (err || r->stream.stopped)
			break;
		err = take_chunk(r, item);
		if (!err && item->kind == TRACE_ITEM_END && !r->stream.stopped)
			err = rest_of_chunk(r, item);
	}
	return err;
}

static int take_info(struct trace_reader *r, const char **why)
{
	struct byte_reader *in = &r->stream.payload;
	char **texts[] = {&r->info.tool, &r->info.kernel, &r->info.host};
	int err = 0;

	r->info.clock_start_ns = byte_reader__varint(in);
	r->info.realtime_start_ns = byte_reader__varint(in);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		*texts[i] = take_text(in, &err);
		if (err)
			return err;
	}
	*why = "its first chunk is malformed";
	return in->bad ? -EBADMSG : 0;
}

static int read_info(struct trace_reader *r, const char **why)
{
	int err = chunk_stream__next(&r->stream);

	if (err)
		return err;
	*why = "its first chunk is cut short or damaged";
	if (r->stream.stopped)
		return r->stream.io_error ? r->stream.io_error : -EBADMSG;
	*why = "its first chunk is not what a trace begins with";
	return r->stream.header.type == QPT_INFO ? take_info(r, why) : -EBADMSG;
}

int trace_reader__open(const char *path, struct trace_reader **out, const char **why)
{
	_trace_reader_ struct trace_reader *r = calloc(1, sizeof(*r));
	const char *unused;
	int err;

	why = why ? why : &unused;
	*why = strerrordesc_np(ENOMEM);
	if (!r || span_codec__new(&r->codec))
		return -ENOMEM;
	err = chunk_stream__open(&r->stream, path, why);
	if (!err)
		err = read_info(r, why);
	if (err) {
		if (err == -ENOMEM)
			*why = strerrordesc_np(ENOMEM);
		return err;
	}
	*out = take_ptr(r);
	return 0;
}

const struct trace_info *trace_reader__info(const struct trace_reader *r)
{
	return &r->info;
}

const char *trace_reader__string(const struct trace_reader *r, uint32_t id)
{
	return id < r->n_strings ? r->strings[id] : "<unknown>";
}

const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind)
{
	return kinds__text(&r->labels.kinds, kind);
}

const char *trace_reader__problem(const struct trace_reader *r)
{
	return *r->stream.problem ? r->stream.problem : NULL;
}

void trace_reader__free(struct trace_reader *r)
{
	if (!r)
		return;
	chunk_stream__destroy(&r->stream);
	for (uint32_t i = 0; i < r->n_strings; i++)
		free(r->strings[i]);
	free(r->strings);
	labels__destroy(&r->labels);
	for (uint32_t i = 0; i < r->n_processes; i++)
		free(r->processes[i]);
	free(r->processes);
	free(r->info.tool);
	free(r->info.kernel);
	free(r->info.host);
	span_codec__free(r->codec);
	free(r);
}
