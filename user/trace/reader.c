// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader.h"

#include <errno.h>
#include <string.h>

#include "trace/reader_state.h"

#define UNKNOWN "<unknown>"

/* The threads of the batch just decoded. 0; -EBADMSG if they are too many for one file; -ENOMEM. */
static int meet_threads(struct trace_reader *r)
{
	uint32_t n = span_codec__n_threads(r->codec);
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint32_t process, tid;

		span_codec__thread(r->codec, i, &process, &tid);
		err = thread_set__add(&r->threads, process, tid);
	}
	return err == -E2BIG ? -EBADMSG : err;
}

static int begin_spans(struct trace_reader *r)
{
	const struct byte_reader *in = &r->stream.payload;
	const struct span_limits limits = {
		.processes = r->n_processes,
		.strings = r->n_strings,
		.locations = function_table__end(r->functions, r->n_functions),
	};
	const char *why;
	int err = span_codec__decode(r->codec, in->at, in->end - in->at, &limits, &r->batch,
				     &r->n_batch, &why);

	if (!err) {
		why = "its threads are too many";
		err = meet_threads(r);
		r->n_batch = err ? 0 : r->n_batch;
	}
	if (err != -EBADMSG) {
		r->stats.spans += err ? 0 : r->n_batch;
		return err;
	}
	chunk_stream__damaged(&r->stream, why);
	return 0;
}

/* Take or begin the chunk just read; `*item` is set if the chunk is one. */
static int take_chunk(struct trace_reader *r, struct trace_item *item)
{
	r->stats.chunks++;
	switch (r->stream.header.type) {
	case QPT_STRINGS:
		return reader__take_strings(r);
	case QPT_MAPPINGS:
		return reader__take_mappings(r);
	case QPT_LABELS:
		return reader__take_labels(r);
	case QPT_FUNCTIONS:
		return reader__take_functions(r);
	case QPT_LINES:
		return reader__take_lines(r);
	case QPT_PROCESSES:
	case QPT_THREADS:
	case QPT_TALLIES:
	case QPT_DECISIONS:
		reader__begin_records(r);
		return 0;
	case QPT_SPANS:
		return begin_spans(r);
	case QPT_LOSSES:
		reader__take_losses(r, item);
		return 0;
	case QPT_COSTS:
		reader__take_costs(r, item);
		return 0;
	case QPT_END:
		r->stats.unindexed++;
		reader__take_end(r);
		return 0;
	case QPT_INFO:
		chunk_stream__damaged(&r->stream, "it begins twice");
		return 0;
	case QPT_INDEX:
		r->stats.unindexed++;
		return 0;
	default: /* of a later version */
		r->stats.unknown_chunks++;
		return 0;
	}
}

/* Spans without a text for a name that was promised. */
static void count_unknown(struct trace_reader *r, const struct trace_span *s)
{
	if (s->label & TRACE_VIRTUAL &&
	    id_map__get(r->mapped, 0, s->label & ~TRACE_VIRTUAL) == ID_MAP_NONE)
		r->stats.unknown_labels++;
	if (r->mapped->mapped && s->invocation != TRACE_NO_INVOCATION &&
	    id_map__has(r->mapped, s->process + 1) &&
	    id_map__get(r->mapped, s->process + 1, s->invocation) == ID_MAP_NONE)
		r->stats.unknown_events++;
}

static void count_caller(struct trace_reader *r, const struct trace_span *s)
{
	r->stats.callers++;
	r->stats.unknown_callers += !function_table__has(r->functions, s->caller);
}

/* Give out the next span of the batch that is wanted; `*item` is not set if there is none. */
static void rest_of_batch(struct trace_reader *r, struct trace_item *item)
{
	while (r->n_batch) {
		const struct trace_span *s = r->batch++;

		r->n_batch--;
		if (r->filtered && !reader__wants_span(r, s))
			continue;
		if (r->mapped->mapped || s->label & TRACE_VIRTUAL)
			count_unknown(r, s);
		if (s->caller != TRACE_NO_LOCATION)
			count_caller(r, s);
		item->kind = TRACE_ITEM_SPAN;
		item->span = *s;
		labels__resolve(&r->labels, &item->span.label, &item->span.kind);
		return;
	}
}

static int take_record(struct trace_reader *r, struct trace_item *item)
{
	switch (r->stream.header.type) {
	case QPT_THREADS:
		return reader__take_thread(r, item);
	case QPT_TALLIES:
		reader__take_tally(r, item);
		return 0;
	case QPT_DECISIONS:
		reader__take_decision(r, item);
		return 0;
	default:
		return reader__take_process(r, item);
	}
}

static bool wants_record(struct trace_reader *r, const struct trace_item *item)
{
	if (!r->filtered)
		return true;
	switch (item->kind) {
	case TRACE_ITEM_THREAD:
		return reader__wants_process(r, item->thread.process);
	case TRACE_ITEM_TALLY:
		return reader__wants_tally(r, &item->tally);
	case TRACE_ITEM_DECISION:
		return reader__wants_decision(r, &item->decision);
	default:
		return reader__wants_process(r, item->process->index);
	}
}

static int rest_of_records(struct trace_reader *r, struct trace_item *item)
{
	int err = 0;

	while (!err && r->n_records && !r->stream.stopped) {
		err = take_record(r, item);
		if (err || item->kind == TRACE_ITEM_END)
			return err;
		if (wants_record(r, item))
			return 0;
		item->kind = TRACE_ITEM_END;
	}
	return err;
}

/* Give out what is left of the current chunk. `*item` is not set if nothing is. */
static int rest_of_chunk(struct trace_reader *r, struct trace_item *item)
{
	if (!r->n_batch)
		return rest_of_records(r, item);
	rest_of_batch(r, item);
	return 0;
}

/*
 * Pass over chunks that an index says are of no use. That the chunk is where and what the index
 * says can be seen from its header; for the rest the index is believed.
 */
static int pass_over(struct trace_reader *r)
{
	while (r->filtered && r->index) {
		const struct index_entry *e;
		bool skipped;
		int err = 0;

		e = chunk_index__at(r->index, r->stream.offset, &err);
		if (!e || e->type != QPT_SPANS || reader__wants_batch(r, &e->spans))
			return err;
		err = chunk_stream__skip(&r->stream, e->type, e->stored, &skipped);
		if (err)
			return err;
		if (!skipped) {
			chunk_index__disbelieve(r->index);
			continue;
		}
		r->stats.chunks_passed_over++;
		r->stats.passed_over += e->spans.n;
	}
	return 0;
}

/* Whether what is said of a set leaves nothing of it out. An empty one says "any". */
static bool covers(const uint32_t *said, uint32_t n_said, const uint32_t *is, uint32_t n_is)
{
	uint32_t at = 0;

	if (!n_said)
		return true;
	for (uint32_t i = 0; i < n_is; i++) {
		while (at < n_said && said[at] < is[i])
			at++;
		if (at == n_said || said[at] != is[i])
			return false;
	}
	return n_is;
}

static bool tells_of(const struct batch_summary *said, const struct batch_summary *is)
{
	return said->n == is->n && said->start_ns <= is->start_ns && said->end_ns >= is->end_ns &&
	       covers(said->processes, said->n_processes, is->processes, is->n_processes) &&
	       covers(said->labels, said->n_labels, is->labels, is->n_labels);
}

/* Compare what the index says of the current chunk, which was taken, with what it is. */
static int check_index(struct trace_reader *r)
{
	const struct chunk_header *h = &r->stream.header;
	const struct index_entry *e;
	bool right;
	int err;

	e = chunk_index__at(r->index, r->stream.chunk_at, &err);
	if (!e)
		return err;
	right = e->type == h->type && e->stored == h->stored;
	if (right && h->type == QPT_SPANS) {
		if (batch_summer__sum(&r->summer, r->batch, r->n_batch, r->n_strings))
			return -ENOMEM;
		right = tells_of(&e->spans, &r->summer.summary);
	}
	r->stats.indexed++;
	r->stats.misindexed += !right;
	return 0;
}

void trace_reader__check_index(struct trace_reader *r)
{
	r->checks_index = r->index;
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
		err = pass_over(r);
		if (!err)
			err = chunk_stream__next(&r->stream);
		if (err || r->stream.stopped)
			break;
		err = take_chunk(r, item);
		if (!err && r->checks_index && !r->stream.stopped)
			err = check_index(r);
		if (!err && item->kind == TRACE_ITEM_END && !r->stream.stopped)
			err = rest_of_chunk(r, item);
	}
	return err;
}

bool trace_reader__resume(struct trace_reader *r)
{
	struct chunk_stream *s = &r->stream;

	if (s->ended || s->damaged || s->io_error || !chunk_stream__can_seek(s))
		return false;
	return !s->stopped || !chunk_stream__seek(s, s->whole_end);
}

bool trace_reader__ended(const struct trace_reader *r)
{
	return r->stream.ended;
}

void trace_reader__filter(struct trace_reader *r, const struct trace_filter *filter)
{
	r->filter = *filter;
	r->filtered = true;
	memset(r->process_verdicts ?: (uint8_t *)"", 0, r->n_process_verdicts);
	memset(r->label_verdicts ?: (uint8_t *)"", 0, r->n_label_verdicts);
}

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
	text = strndup((const char *)bytes, size);
	if (!text)
		*err = -ENOMEM;
	return text;
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
	/* The first writers did not tell: they had one clock. */
	if (!in->bad && in->at != in->end)
		r->info.clock = byte_reader__varint_max(in, TRACE_CLOCK_MAX - 1);
	if (!in->bad && in->at != in->end)
		r->info.budget_ppm = byte_reader__varint(in);
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
	r->stats.chunks++;
	r->stats.unindexed++;
	return r->stream.header.type == QPT_INFO ? take_info(r, why) : -EBADMSG;
}

static struct trace_reader *allocate(void)
{
	_trace_reader_ struct trace_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->mapped = calloc(1, sizeof(*r->mapped));
	if (!r->mapped || span_codec__new(&r->codec) || string_table__new(&r->strings) ||
	    function_table__new(r->strings, &r->functions))
		return NULL;
	return take_ptr(r);
}

int trace_reader__open(const char *path, struct trace_reader **out, const char **why)
{
	_trace_reader_ struct trace_reader *r = allocate();
	const char *unused;
	int err;

	why = why ? why : &unused;
	*why = strerrordesc_np(ENOMEM);
	if (!r)
		return -ENOMEM;
	err = chunk_stream__open(&r->stream, path, why);
	if (!err)
		err = read_info(r, why);
	if (!err)
		err = reader__look_ahead(r, path);
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
	const char *text;

	if (id & TRACE_VIRTUAL)
		id = id_map__get(r->mapped, 0, id & ~TRACE_VIRTUAL);
	return string_table__text(r->strings, id, &text) ? UNKNOWN : text;
}

const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind)
{
	return kinds__text(&r->labels.kinds, kind);
}

uint32_t trace_reader__event_string(const struct trace_reader *r, const struct trace_span *span)
{
	if (span->invocation == TRACE_NO_INVOCATION)
		return TRACE_NO_STRING;
	return id_map__get(r->mapped, span->process + 1, span->invocation);
}

const char *trace_reader__event(const struct trace_reader *r, const struct trace_span *span)
{
	if (span->invocation == TRACE_NO_INVOCATION || !id_map__has(r->mapped, span->process + 1))
		return NULL;
	return string_table__passing_text(
		       r->strings, id_map__get(r->mapped, span->process + 1, span->invocation))
		       ?: UNKNOWN;
}

bool trace_reader__location(const struct trace_reader *r, uint32_t locindex,
			    struct trace_location *out)
{
	return function_table__locate(r->functions, locindex, out);
}

struct trace_stats trace_reader__stats(const struct trace_reader *r)
{
	struct trace_stats stats = r->stats;

	stats.strings = r->n_strings;
	stats.processes = r->n_processes;
	stats.mapped = r->mapped->mapped;
	stats.functions = r->n_functions;
	stats.functions_with_lines = function_table__n_with_lines(r->functions);
	stats.whole_bytes = r->stream.whole_end;
	stats.file_bytes = chunk_stream__file_size(&r->stream);
	stats.damaged = r->stream.damaged;
	stats.index_is_wrong = r->index_is_wrong || (r->index && chunk_index__is_wrong(r->index));
	return stats;
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
	chunk_stream__destroy(&r->ahead);
	chunk_index__free(r->index);
	function_table__free(r->functions);
	string_table__free(r->strings);
	labels__destroy(&r->labels);
	if (r->mapped)
		id_map__destroy(r->mapped);
	free(r->mapped);
	for (uint32_t i = 0; i < r->n_processes; i++)
		free(r->processes[i]);
	free(r->processes);
	thread_set__destroy(&r->threads);
	free(r->process_verdicts);
	free(r->label_verdicts);
	free(r->info.tool);
	free(r->info.kernel);
	free(r->info.host);
	span_codec__free(r->codec);
	batch_summer__destroy(&r->summer);
	free(r);
}
