// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader.h"

#include <errno.h>
#include <string.h>

#include "trace/chunk_stream.h"
#include "trace/info.h"
#include "trace/process_numbers.h"
#include "trace/record_reader.h"
#include "trace/sample_codec.h"
#include "trace/span_codec.h"
#include "trace/verdicts.h"

struct trace_reader {
	struct expansion expansion; /* of both streams, and of the names */
	struct chunk_stream stream;
	struct chunk_stream ahead; /* the same file, for the index and the names of later chunks */
	struct chunk_index *index; /* NULL if the file cannot seek */
	struct trace_info info;
	struct name_tables names;
	struct record_reader records;
	struct verdicts verdicts;
	struct process_numbers numbers; /* of processes, as they are returned */
	struct span_codec *codec;
	const struct trace_span *batch; /* spans of the current chunk that were not returned yet */
	uint32_t n_batch;
	struct sample_reader samples;
	bool checks_index;
	bool index_is_wrong; /* END says that it is elsewhere */
	struct batch_summer summer;
	struct trace_stats stats;
};

/* Content that is malformed (-EBADMSG) stops the stream. It is no error of the call. */
static int check_content(struct trace_reader *r, int err, const char *why)
{
	if (err != -EBADMSG)
		return err;
	chunk_stream__damaged(&r->stream, why);
	return 0;
}

struct span_limits trace_reader__span_limits(const struct trace_reader *r)
{
	return (struct span_limits){
		.processes = r->records.processes.n,
		.strings = r->names.n_strings,
		.locations = function_table__end(r->names.functions, r->names.n_functions),
	};
}

static int begin_spans(struct trace_reader *r)
{
	const struct byte_reader *in = &r->stream.payload;
	const struct span_limits limits = trace_reader__span_limits(r);
	const struct trace_span *batch;
	const char *why;
	uint32_t n;
	int err;

	err = span_codec__decode(r->codec, in->at, in->end - in->at, &limits, &batch, &n, &why);
	if (err)
		return check_content(r, err, why);
	err = span_codec__add_threads(r->codec, &r->records.threads);
	if (err)
		return check_content(r, err == -E2BIG ? -EBADMSG : err, "its threads are too many");
	r->batch = batch;
	r->n_batch = n;
	r->stats.spans += n;
	return 0;
}

static void take_end(struct trace_reader *r)
{
	const struct byte_reader *in = &r->stream.payload;
	uint64_t n_spans;

	r->stats.unindexed++;
	if (in->end - in->at != QPT_END_SIZE) {
		chunk_stream__damaged(&r->stream, "its end is malformed");
		return;
	}
	if (r->index && bytes_load_u64(in->at + QPT_END_INDEX) != chunk_index__last(r->index))
		r->index_is_wrong = true;
	n_spans = bytes_load_u64(in->at + QPT_END_SPANS);
	/* Chunks that were passed over hold as many as an index says, which was not checked. */
	if (r->stats.chunks_passed_over && n_spans > r->stats.spans)
		n_spans = r->stats.spans;
	if (bytes_load_u32(in->at + QPT_END_STRINGS) != r->names.n_strings ||
	    bytes_load_u32(in->at + QPT_END_PROCESSES) != r->records.processes.n ||
	    n_spans != r->stats.spans ||
	    bytes_load_u64(in->at + QPT_END_MAPPED) != r->names.mapped->mapped)
		chunk_stream__damaged(&r->stream, "it does not hold what its end says");
	else
		chunk_stream__end(&r->stream);
}

/* Take or begin the chunk just read; `*item` is set if the chunk is one. */
static int take_chunk(struct trace_reader *r, struct trace_item *item)
{
	struct byte_reader *in = &r->stream.payload;
	uint8_t type = r->stream.header.type;
	const char *why = NULL;
	int err = 0;

	r->stats.chunks++;
	switch (type) {
	case QPT_STRINGS:
	case QPT_FOREIGN:
	case QPT_MAPPINGS:
	case QPT_PLACES:
	case QPT_LABELS:
	case QPT_KEYS:
	case QPT_FUNCTIONS:
	case QPT_LINES:
	case QPT_FILES:
	case QPT_STACKS:
	case QPT_JOBS:
	case QPT_LLVM:
	case QPT_SYMBOLS:
		err = name_tables__take(&r->names, &r->stream, r->records.processes.n, &why);
		break;
	case QPT_PROCESSES:
	case QPT_THREADS:
	case QPT_TALLIES:
	case QPT_RESULTS:
	case QPT_REBUILT:
		err = record_reader__begin(&r->records, type, in, &why);
		break;
	case QPT_DECISIONS: /* of a recording with a budget: what it means is not known any more */
		return -EPROTONOSUPPORT;
	case QPT_SPANS:
		return begin_spans(r);
	case QPT_SAMPLES:
		err = sample_reader__begin(&r->samples, in, &why);
		break;
	case QPT_SAMPLING:
		err = sample_reader__sampling(&r->samples, in, item, &why);
		break;
	case QPT_LOSSES:
		err = record_reader__losses(&r->records, in, item, &why);
		break;
	case QPT_COSTS:
		err = record_reader__costs(in, item, &why);
		break;
	case QPT_OVERHEAD:
		err = record_reader__overhead(in, item, &why);
		break;
	case QPT_PART:
		err = record_reader__part(in, item, &why);
		break;
	case QPT_END:
		take_end(r);
		break;
	case QPT_INFO:
		chunk_stream__damaged(&r->stream, "it begins twice");
		break;
	case QPT_INDEX:
		r->stats.unindexed++;
		break;
	default: /* of a later version */
		r->stats.unknown_chunks++;
		break;
	}
	return check_content(r, err, why);
}

/* Count spans without a text for a name that was promised. */
static void count_unknown(struct trace_reader *r, const struct trace_span *s)
{
	if (s->label & TRACE_VIRTUAL &&
	    id_map__get(r->names.mapped, 0, s->label & ~TRACE_VIRTUAL) == ID_MAP_NONE)
		r->stats.unknown_labels++;
	if (r->names.mapped->mapped && s->invocation != TRACE_NO_INVOCATION &&
	    name_tables__has_events(&r->names, s->process) &&
	    name_tables__event(&r->names, s) == ID_MAP_NONE)
		r->stats.unknown_events++;
}

void trace_reader__resolve(const struct trace_reader *r, struct trace_span *span)
{
	labels__resolve(&r->names.labels, &span->label, &span->kind);
}

/* Return the next span of the batch that is wanted; `*item` is not set if there is none. */
static void rest_of_batch(struct trace_reader *r, struct trace_item *item)
{
	while (r->n_batch) {
		const struct trace_span *s = r->batch++;

		r->n_batch--;
		if (r->verdicts.filtered && !verdicts__want_span(&r->verdicts, s))
			continue;
		if (r->names.mapped->mapped || s->label & TRACE_VIRTUAL)
			count_unknown(r, s);
		if (s->caller != TRACE_NO_LOCATION) {
			r->stats.callers++;
			r->stats.unknown_callers +=
				!function_table__has(r->names.functions, s->caller);
		}
		item->kind = TRACE_ITEM_SPAN;
		item->span = *s;
		trace_reader__resolve(r, &item->span);
		return;
	}
}

/* Return the next record of the list that is wanted, likewise. */
static int rest_of_records(struct trace_reader *r, struct trace_item *item)
{
	while (r->records.n_left) {
		const char *why;
		int err = record_reader__next(&r->records, &r->stream.payload, item, &why);

		if (err)
			return check_content(r, err, why);
		if (item->kind == TRACE_ITEM_PROCESS)
			verdicts__forget_process(&r->verdicts, item->process->index);
		if (!r->verdicts.filtered || verdicts__want_record(&r->verdicts, item))
			return 0;
		item->kind = TRACE_ITEM_END;
	}
	return 0;
}

/*
 * Pass over chunks that hold nothing wanted, as the index says. The chunk's header proves its place
 * and type; the index is trusted for the rest.
 */
static int pass_over(struct trace_reader *r)
{
	while (r->verdicts.filtered && r->index) {
		const struct index_entry *e;
		bool skipped;
		int err = 0;

		e = chunk_index__at(r->index, r->stream.offset, &err);
		if (!e || e->type != QPT_SPANS || verdicts__want_batch(&r->verdicts, &e->spans))
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

/* Compare the index's entry of the current chunk with the chunk, which was taken. */
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
		if (batch_summer__sum(&r->summer, r->batch, r->n_batch, r->names.n_strings))
			return -ENOMEM;
		right = batch_summary__covers(&e->spans, &r->summer.summary);
	}
	r->stats.indexed++;
	r->stats.misindexed += !right;
	return 0;
}

void trace_reader__check_index(struct trace_reader *r)
{
	r->checks_index = r->index;
}

/* Read the next chunk that may hold something wanted; `*item` is set if the chunk is one. */
static int next_chunk(struct trace_reader *r, struct trace_item *item)
{
	int err;

	chunk_stream__taken(&r->stream);
	err = pass_over(r) ?: chunk_stream__next(&r->stream);
	if (err || r->stream.stopped)
		return err;
	err = take_chunk(r, item);
	if (err || r->stream.stopped || !r->checks_index)
		return err;
	return check_index(r);
}

static int next_item(struct trace_reader *r, struct trace_item *item)
{
	item->kind = TRACE_ITEM_END;
	while (!r->stream.stopped) {
		int err = 0;

		if (r->n_batch)
			rest_of_batch(r, item);
		else if (r->samples.n_batch)
			sample_reader__next(&r->samples, item);
		else
			err = rest_of_records(r, item);
		if (err || item->kind != TRACE_ITEM_END || r->stream.stopped)
			return err;
		err = next_chunk(r, item);
		if (err || item->kind != TRACE_ITEM_END)
			return err;
	}
	return 0;
}

int trace_reader__next(struct trace_reader *r, struct trace_item *item)
{
	bool returned;
	int err;

	do {
		err = next_item(r, item);
		returned = err || process_numbers__translate(&r->numbers, item, &err);
	} while (!returned);
	/* A text that was refused may look like damage, or like a name that is not known. */
	return err ?: r->expansion.refused ? -E2BIG : 0;
}

uint64_t trace_reader__bytes_read(const struct trace_reader *r)
{
	return r->expansion.read;
}

bool trace_reader__is_refused(const struct trace_reader *r)
{
	return r->expansion.refused;
}

int trace_reader__each(struct trace_reader *r,
		       int (*take)(void *ctx, const struct trace_item *item), void *ctx)
{
	struct trace_item item;
	int err;

	do {
		err = trace_reader__next(r, &item);
		if (err || item.kind == TRACE_ITEM_END)
			return err;
		err = take(ctx, &item);
	} while (!err);
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
	verdicts__set_filter(&r->verdicts, filter);
	r->numbers.on = filter->renumber;
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
	if (r->stream.header.type != QPT_INFO)
		return -EBADMSG;
	*why = "its first chunk is malformed";
	return trace_info__take(&r->info, &r->stream.payload);
}

/* -EBADMSG if a chunk cannot be taken: the stream reports that when it gets there. */
static int take_all_ahead(struct trace_reader *r)
{
	const uint64_t *offsets;
	size_t n;
	int err = 0;

	if (!chunk_index__has_late_names(r->index))
		return 0;
	offsets = chunk_index__names(r->index, &n);
	for (size_t i = 0; i < n && !err; i++) {
		err = chunk_stream__seek(&r->ahead, offsets[i]) ?: chunk_stream__next(&r->ahead);
		if (!err && r->ahead.stopped)
			err = -EBADMSG;
		err = err ?: name_tables__take_ahead(&r->names, &r->ahead);
	}
	return err;
}

/* A file whose headers promise too much is refused before time is spent on it. */
static int check_promise(struct trace_reader *r)
{
	struct expansion promised = {.unlimited = r->expansion.unlimited};

	r->expansion.size = chunk_stream__file_size(&r->stream);
	expansion__read(&promised, r->expansion.size);
	if (!expansion__make(&promised, chunk_index__expanded(r->index)))
		r->expansion.refused = true;
	return r->expansion.refused ? -E2BIG : 0;
}

/* Find the index, and take the names of all chunks, as far as the file can seek and is sound. */
static int look_ahead(struct trace_reader *r, const char **why)
{
	int err;

	if (!chunk_stream__can_seek(&r->stream))
		return 0;
	err = trace_reader__reopen(r, &r->ahead);
	if (err) {
		*why = strerrordesc_np(-err);
		return err;
	}
	r->ahead.expansion = &r->expansion;
	err = err ?: chunk_index__find(&r->ahead, &r->index) ?: check_promise(r);
	err = err ?: take_all_ahead(r);
	return err == -ENOMEM || err == -E2BIG ? err : 0;
}

int trace_reader__open_with(const char *path, bool unlimited, struct trace_reader **out,
			    const char **why)
{
	_trace_reader_ struct trace_reader *r = calloc(1, sizeof(*r));
	const char *unused;
	int err = -ENOMEM;

	why = why ? why : &unused;
	if (r && !name_tables__init(&r->names, &r->expansion) && !span_codec__new(&r->codec)) {
		r->expansion.unlimited = unlimited;
		r->records.names = &r->names;
		r->verdicts.names = &r->names;
		r->verdicts.processes = &r->records.processes;
		r->samples.names = &r->names;
		r->samples.records = &r->records;
		r->samples.verdicts = &r->verdicts;
		err = chunk_stream__open(&r->stream, path, why);
		r->stream.expansion = &r->expansion;
		err = err ?: read_info(r, why) ?: look_ahead(r, why);
	}
	if (err == -ENOMEM)
		*why = strerrordesc_np(ENOMEM);
	else if (err == -E2BIG)
		*why = TRACE_REFUSED;
	if (!err)
		*out = take_ptr(r);
	return err;
}

int trace_reader__open(const char *path, struct trace_reader **out, const char **why)
{
	return trace_reader__open_with(path, false, out, why);
}

const struct trace_info *trace_reader__info(const struct trace_reader *r)
{
	return &r->info;
}

const char *trace_reader__string(const struct trace_reader *r, uint32_t id)
{
	return name_tables__text(&r->names, id);
}

const char *trace_reader__kind(const struct trace_reader *r, unsigned int kind)
{
	return kinds__text(&r->names.labels.kinds, kind);
}

static const char *text_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

static const char *kind_of(const void *ctx, unsigned int kind)
{
	return trace_reader__kind(ctx, kind);
}

static const struct trace_place *place_of(const void *ctx, uint32_t string)
{
	return trace_reader__place(ctx, TRACE_NO_PROCESS, string);
}

struct trace_texts trace_reader__texts(const struct trace_reader *r)
{
	return (struct trace_texts){.ctx = r, .text = text_of, .kind = kind_of, .place = place_of};
}

const struct trace_place *trace_reader__place(const struct trace_reader *r, uint32_t process,
					      uint32_t string)
{
	return place_table__find(&r->names.places, process_numbers__index(&r->numbers, process),
				 string);
}

/* The span with the index of its process in the file. */
static struct trace_span in_file(const struct trace_reader *r, const struct trace_span *span)
{
	struct trace_span s = *span;

	s.process = process_numbers__index(&r->numbers, s.process);
	return s;
}

uint32_t trace_reader__event_string(const struct trace_reader *r, const struct trace_span *span)
{
	const struct trace_span as_in_file = in_file(r, span);

	return span->invocation == TRACE_NO_INVOCATION ? TRACE_NO_STRING
						       : name_tables__event(&r->names, &as_in_file);
}

const char *trace_reader__key_type(const struct trace_reader *r, uint32_t label)
{
	uint32_t type = string_pairs__get(&r->names.key_types, label);

	return type == TRACE_NO_STRING ? NULL : name_tables__text(&r->names, type);
}

uint32_t trace_reader__mappings(const struct trace_reader *r, uint32_t process)
{
	return id_map__takes(r->names.mapped, process_numbers__index(&r->numbers, process) + 1);
}

bool trace_reader__is_foreign(const struct trace_reader *r, uint32_t process, uint32_t id)
{
	const struct process_list *l = &r->records.processes;
	uint32_t index = process_numbers__index(&r->numbers, process);
	const struct trace_process *p = index < l->n ? l->at[index] : NULL;

	return string_table__is_foreign(r->names.strings, id, p ? p->crate : NULL);
}

const char *trace_reader__event(const struct trace_reader *r, const struct trace_span *span)
{
	const struct trace_span as_in_file = in_file(r, span);

	if (span->invocation == TRACE_NO_INVOCATION ||
	    !name_tables__has_events(&r->names, as_in_file.process))
		return NULL;
	return string_table__passing_text(r->names.strings,
					  name_tables__event(&r->names, &as_in_file))
		       ?: NAME_UNKNOWN;
}

const struct trace_stack *trace_reader__stack(const struct trace_reader *r, uint32_t id)
{
	return stack_table__get(&r->names.stacks, id);
}

const struct trace_job *trace_reader__job(const struct trace_reader *r, uint32_t id)
{
	return job_table__get(&r->names.jobs, id);
}

const struct trace_llvm *trace_reader__llvm(const struct trace_reader *r, uint32_t id)
{
	return llvm_table__get(&r->names.llvm, id);
}

uint32_t trace_reader__symbol_item(const struct trace_reader *r, uint32_t process, uint32_t symbol)
{
	return symbol_table__item(&r->names.symbols, process_numbers__index(&r->numbers, process),
				  symbol);
}

const struct trace_job *trace_reader__job_of(const void *reader, uint32_t id)
{
	return trace_reader__job(reader, id);
}

uint32_t trace_reader__job_string(const struct trace_reader *r, const struct trace_job *job)
{
	const struct trace_span as_in_file = {.process = job->process,
					      .invocation = job->invocation};

	return job->invocation == TRACE_NO_INVOCATION ? TRACE_NO_STRING
						      : name_tables__event(&r->names, &as_in_file);
}

uint32_t trace_reader__stacks(const struct trace_reader *r)
{
	return r->names.stacks.n;
}

bool trace_reader__location(const struct trace_reader *r, uint32_t locindex,
			    struct trace_location *out)
{
	return function_table__locate(r->names.functions, locindex, out);
}

struct trace_stats trace_reader__stats(const struct trace_reader *r)
{
	struct trace_stats stats = r->stats;

	stats.threads = r->records.n_names;
	stats.lost = r->records.n_lost;
	stats.strings = r->names.n_strings;
	stats.processes = r->records.processes.n;
	stats.mapped = r->names.mapped->mapped;
	stats.functions = r->names.n_functions;
	stats.samples = r->samples.n;
	stats.cut_samples = r->samples.n_cut;
	stats.stacks = r->names.stacks.n;
	stats.functions_with_lines = function_table__n_with_lines(r->names.functions);
	stats.made_bytes = r->expansion.made;
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

int trace_reader__reopen(const struct trace_reader *r, struct chunk_stream *s)
{
	char path[32];
	const char *why;

	*s = (struct chunk_stream){0};
	if (!chunk_stream__can_seek(&r->stream))
		return -EINVAL;
	/* Its name may belong to another file by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(r->stream.file));
	return chunk_stream__open(s, path, &why);
}

void trace_reader__free(struct trace_reader *r)
{
	if (!r)
		return;
	chunk_stream__destroy(&r->stream);
	chunk_stream__destroy(&r->ahead);
	chunk_index__free(r->index);
	name_tables__destroy(&r->names);
	record_reader__destroy(&r->records);
	verdicts__destroy(&r->verdicts);
	process_numbers__destroy(&r->numbers);
	trace_info__clear(&r->info);
	span_codec__free(r->codec);
	sample_reader__destroy(&r->samples);
	batch_summer__destroy(&r->summer);
	free(r);
}
