// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader_state.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

int reader__take_strings(struct trace_reader *r)
{
	uint32_t first, n;
	const char *why;
	int err = string_table__take(r->strings, &r->stream.payload, &first, &n, &why);

	if (!err && first != r->n_strings) {
		why = "names are missing";
		err = -EBADMSG;
	}
	if (err == -EBADMSG) {
		chunk_stream__damaged(&r->stream, why);
		return 0;
	}
	if (!err)
		r->n_strings += n;
	return err;
}

int reader__take_mappings(struct trace_reader *r)
{
	struct byte_reader *in = &r->stream.payload;
	int err = 0;

	if (r->stream.chunk_at >= r->ahead_end)
		err = id_map__take(r->mapped, in, r->n_processes, r->n_strings);
	else if (byte_reader__varint(in) > r->n_processes)
		err = -EBADMSG;
	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, "a mapping of names is malformed");
	return 0;
}

/* Those that were taken ahead are only counted. */
int reader__take_functions(struct trace_reader *r)
{
	struct byte_reader *in = &r->stream.payload;
	uint32_t held = function_table__n(r->functions);
	int err = 0;

	if (r->stream.chunk_at >= r->ahead_end) {
		err = function_table__take(r->functions, in, r->n_strings);
		r->n_functions = function_table__n(r->functions);
	} else {
		r->n_functions += byte_reader__varint_max(in, held - r->n_functions);
		err = in->bad ? -EBADMSG : 0;
	}
	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, "a list of functions is malformed");
	return 0;
}

int reader__take_lines(struct trace_reader *r)
{
	int err = 0;

	if (r->stream.chunk_at >= r->ahead_end)
		err = function_table__take_lines(r->functions, &r->stream.payload, r->n_strings);
	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, "a table of lines is malformed");
	return 0;
}

/* A reference to a text: one more than its id, or 0. The text stays the string table's. */
static char *take_ref(struct trace_reader *r, struct byte_reader *in, int *err)
{
	uint64_t ref = byte_reader__varint_max(in, r->n_strings);
	const char *text = NULL;
	int failed = ref ? string_table__text(r->strings, ref - 1, &text) : 0;

	if (failed == -ENOMEM)
		*err = failed;
	else if (failed)
		in->bad = true;
	return (char *)text;
}

static int take_process_fields(struct trace_reader *r, struct byte_reader *in,
			       struct trace_process *p)
{
	uint64_t flags = byte_reader__varint_max(in, QPT_PROCESS_LATE | QPT_PROCESS_EXITED);
	char **texts[] = {&p->command,	     &p->crate,	   &p->crate_type,
			  &p->rustc_version, &p->build_id, &p->cwd};
	uint32_t status;
	int err = 0;

	p->attached_late = flags & QPT_PROCESS_LATE;
	p->pid = byte_reader__varint_max(in, UINT32_MAX);
	p->parent_pid = byte_reader__varint_max(in, UINT32_MAX);
	p->start_ns = byte_reader__varint(in);
	p->end_ns = byte_reader__varint(in);
	status = byte_reader__varint_max(in, UINT32_MAX);
	p->exit_status = flags & QPT_PROCESS_EXITED ? (int32_t)status : TRACE_EXIT_UNKNOWN;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = take_ref(r, in, &err);
	return err;
}

static struct trace_process *add_process(struct trace_reader *r)
{
	struct trace_process *p;

	if (array__reserve_one(&r->processes, r->n_processes, &r->processes_capacity,
			       sizeof(struct trace_process *)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		r->processes[r->n_processes++] = p;
	return p;
}

/* Bytes left over in a record are fields of a later version. 0, -EBADMSG or -ENOMEM. */
static int parse_process(struct trace_reader *r, struct byte_reader *in, struct trace_process *p)
{
	uint64_t size = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);
	struct byte_reader fields;
	int err;

	if (in->bad)
		return -EBADMSG;
	fields = (struct byte_reader){.at = bytes, .end = bytes + size};
	p->index = byte_reader__varint_max(&fields, r->n_processes);
	err = take_process_fields(r, &fields, p);
	if (err)
		return err;
	return fields.bad || p->index >= QPT_PROCESSES_MAX ? -EBADMSG : 0;
}

int reader__take_process(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	struct trace_process record = {0};
	struct trace_process *p;
	int err = parse_process(r, in, &record);

	r->n_records--;
	if (err == -ENOMEM)
		return err;
	if (err || (!r->n_records && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a process record is malformed");
		return 0;
	}
	p = record.index < r->n_processes ? r->processes[record.index] : add_process(r);
	if (!p)
		return -ENOMEM;
	*p = record;
	reader__forget_verdict(r, p->index);
	item->kind = TRACE_ITEM_PROCESS;
	item->process = p;
	return 0;
}

int reader__take_thread(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	struct trace_thread t = {.process = byte_reader__varint_max(in, UINT32_MAX)};
	uint64_t name;
	int err;

	t.tid = byte_reader__varint_max(in, UINT32_MAX);
	name = byte_reader__varint(in);
	if (t.process >= r->n_processes || name >= r->n_strings)
		in->bad = true;
	err = in->bad ? -EBADMSG : string_table__text(r->strings, name, &t.name);
	err = err ?: thread_set__add(&r->threads, t.process, t.tid);
	r->n_records--;
	if (err == -ENOMEM)
		return err;
	if (err || (!r->n_records && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a thread record is malformed");
		return 0;
	}
	r->stats.threads++;
	item->kind = TRACE_ITEM_THREAD;
	item->thread = t;
	return 0;
}

int reader__take_labels(struct trace_reader *r)
{
	const char *why;
	int err = labels__take(&r->labels, &r->stream.payload, r->strings, r->n_strings, &why);

	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, why);
	return 0;
}

void reader__take_tally(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	struct trace_tally *t = &item->tally;

	r->n_records--;
	t->process = byte_reader__varint_max(in, UINT32_MAX);
	t->label = byte_reader__varint_max(in, UINT32_MAX);
	t->events = byte_reader__varint(in);
	t->sum = byte_reader__varint(in);
	if (in->bad || t->process >= r->n_processes || t->label >= r->n_strings ||
	    (!r->n_records && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a tally is malformed");
		return;
	}
	labels__resolve(&r->labels, &t->label, &t->kind);
	if (t->kind == TRACE_KIND_COUNTED)
		r->stats.counted += t->events;
	else if (t->kind == TRACE_KIND_ESTIMATED)
		r->stats.estimated += t->events;
	item->kind = TRACE_ITEM_TALLY;
}

static bool parse_decision(const struct trace_reader *r, struct byte_reader *in,
			   struct trace_decision *d)
{
	uint64_t size = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);
	struct byte_reader fields;

	if (in->bad)
		return false;
	fields = (struct byte_reader){.at = bytes, .end = bytes + size};
	d->time_ns = byte_reader__varint(&fields);
	d->label = byte_reader__varint_max(&fields, UINT32_MAX);
	d->watch = byte_reader__varint_max(&fields, TRACE_WATCH_MAX - 1);
	d->cost_ppm = byte_reader__varint(&fields);
	d->budget_ppm = byte_reader__varint(&fields);
	return !fields.bad && d->label < r->n_strings;
}

void reader__take_decision(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;

	r->n_records--;
	if (!parse_decision(r, in, &item->decision) || (!r->n_records && in->at != in->end)) {
		chunk_stream__damaged(&r->stream, "a decision is malformed");
		return;
	}
	labels__resolve(&r->labels, &item->decision.label, &item->decision.kind);
	r->stats.decisions++;
	r->stats.unwatched +=
		item->decision.kind != TRACE_KIND_QUERY && item->decision.watch == TRACE_WATCH_OFF;
	item->kind = TRACE_ITEM_DECISION;
}

void reader__begin_records(struct trace_reader *r)
{
	r->n_records = byte_reader__varint_max(&r->stream.payload, QPT_PAYLOAD_MAX);
	if (r->n_records)
		return;
	if (r->stream.header.type == QPT_TALLIES)
		chunk_stream__damaged(&r->stream, "a list of tallies is empty");
	else if (r->stream.header.type == QPT_DECISIONS)
		chunk_stream__damaged(&r->stream, "a list of decisions is empty");
	else
		chunk_stream__damaged(&r->stream, "a list of processes or threads is empty");
}

/* Counts by a number that is stable; those of a later version are passed over. */
static bool take_counts(struct byte_reader *in, uint64_t *counts, uint64_t n_known)
{
	uint64_t n = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);

	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t count = byte_reader__varint(in);

		if (i < n_known)
			counts[i] = count;
	}
	return !in->bad && in->at == in->end;
}

void reader__take_losses(struct trace_reader *r, struct trace_item *item)
{
	item->losses = (struct trace_losses){0};
	if (!take_counts(&r->stream.payload, item->losses.count, TRACE_LOSS_MAX)) {
		chunk_stream__damaged(&r->stream, "a record of losses is malformed");
		return;
	}
	r->stats.lost = trace_losses__total(&item->losses);
	item->kind = TRACE_ITEM_LOSSES;
}

void reader__take_costs(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	uint64_t subtracted = byte_reader__varint_max(in, 1);

	item->costs = (struct trace_costs){.subtracted = subtracted};
	if (take_counts(in, item->costs.ps, TRACE_COST_MAX))
		item->kind = TRACE_ITEM_COSTS;
	else
		chunk_stream__damaged(&r->stream, "a record of costs is malformed");
}

/* Chunks that were passed over hold as many spans as an index says, which nobody has seen. */
static bool has_spans(const struct trace_reader *r, uint64_t n)
{
	return r->stats.chunks_passed_over ? n >= r->stats.spans : n == r->stats.spans;
}

void reader__take_end(struct trace_reader *r)
{
	const struct byte_reader *in = &r->stream.payload;

	if (in->end - in->at != QPT_END_SIZE) {
		chunk_stream__damaged(&r->stream, "its end is malformed");
		return;
	}
	if (r->index && bytes_load_u64(in->at + QPT_END_INDEX) != chunk_index__last(r->index))
		r->index_is_wrong = true;
	if (bytes_load_u32(in->at + QPT_END_STRINGS) != r->n_strings ||
	    bytes_load_u32(in->at + QPT_END_PROCESSES) != r->n_processes ||
	    !has_spans(r, bytes_load_u64(in->at + QPT_END_SPANS)) ||
	    bytes_load_u64(in->at + QPT_END_MAPPED) != r->mapped->mapped)
		chunk_stream__damaged(&r->stream, "it does not hold what its end says");
	else
		chunk_stream__end(&r->stream);
}

/* 0; -EBADMSG if the chunk cannot be taken, which the stream will tell when it comes there. */
static int take_ahead(struct trace_reader *r, uint64_t offset)
{
	struct chunk_stream *s = &r->ahead;
	uint32_t first, n;
	const char *why;
	int err = chunk_stream__seek(s, offset);

	if (!err)
		err = chunk_stream__next(s);
	if (err)
		return err;
	if (s->stopped)
		return -EBADMSG;
	if (s->header.type == QPT_STRINGS)
		err = string_table__take(r->strings, &s->payload, &first, &n, &why);
	else if (s->header.type == QPT_MAPPINGS)
		err = id_map__take(r->mapped, &s->payload, QPT_PROCESSES_MAX,
				   string_table__n(r->strings));
	else if (s->header.type == QPT_FUNCTIONS)
		err = function_table__take(r->functions, &s->payload, string_table__n(r->strings));
	else if (s->header.type == QPT_LINES)
		err = function_table__take_lines(r->functions, &s->payload,
						 string_table__n(r->strings));
	if (!err)
		r->ahead_end = s->offset;
	return err;
}

static int take_all_ahead(struct trace_reader *r)
{
	const uint64_t *names;
	size_t n;
	int err = 0;

	names = chunk_index__names(r->index, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = take_ahead(r, names[i]);
	return err == -ENOMEM ? err : 0;
}

int reader__look_ahead(struct trace_reader *r, const char *path)
{
	const char *why;
	int err;

	if (!chunk_stream__can_seek(&r->stream))
		return 0;
	err = chunk_stream__open(&r->ahead, path, &why);
	if (!err)
		err = chunk_index__find(&r->ahead, &r->index);
	if (!err && chunk_index__has_late_names(r->index))
		err = take_all_ahead(r);
	return err == -ENOMEM ? err : 0;
}
