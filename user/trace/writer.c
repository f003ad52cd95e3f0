// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer.h"

#include <errno.h>
#include <string.h>

#include "qprof/trace_format.h"
#include "trace/info.h"
#include "trace/name_tables.h"
#include "trace/writer_parts.h"

#define BATCH_SPANS 4096

_Static_assert(TRACE_VIRTUAL == QPT_VIRTUAL, "the same bit");

static int write_spans(struct trace_writer *w)
{
	struct byte_buffer *payload;
	int err = trace_writer__flush_names(w);

	if (err || !w->n_batch)
		return err;
	payload = chunk_sink__payload(&w->sink);
	err = span_codec__encode(w->codec, w->batch, w->n_batch, payload);
	err = err ?: span_codec__add_threads(w->codec, &w->names.threads);
	err = err ?: batch_summer__sum(&w->summer, w->batch, w->n_batch, w->names.strings.n);
	if (err)
		return file_writer__fail(&w->sink.file, err);
	err = chunk_sink__write(&w->sink, QPT_SPANS, payload, &w->summer.summary);
	if (err)
		return err;
	w->n_spans += w->n_batch;
	w->n_batch = 0;
	return 0;
}

static int write_tallies(struct trace_writer *w)
{
	return trace_writer__flush_names(w)
		       ?: pending__write(&w->tallies, &w->sink, QPT_TALLIES, NULL)
		       ?: pending__write(&w->results, &w->sink, QPT_RESULTS, NULL)
		       ?: pending__write(&w->symbols, &w->sink, QPT_SYMBOLS, NULL)
		       ?: pending__write(&w->rebuilt, &w->sink, QPT_REBUILT, NULL);
}

int trace_writer__open(const char *path, const struct trace_info *info, struct trace_writer **out)
{
	_trace_writer_ struct trace_writer *w = calloc(1, sizeof(*w));
	struct byte_buffer *payload;
	int err;

	if (!w)
		return -ENOMEM;
	w->sink.file.fd = -1;
	w->batch = malloc(BATCH_SPANS * sizeof(*w->batch));
	if (!w->batch || span_codec__new(&w->codec))
		return -ENOMEM;
	err = chunk_sink__open(&w->sink, path);
	if (err)
		return err;
	payload = chunk_sink__payload(&w->sink);
	trace_info__store(info, payload);
	err = chunk_sink__write(&w->sink, QPT_INFO, payload, NULL);
	if (err) {
		/* A reader would find nothing in it. */
		unlink(path);
		return err;
	}
	*out = take_ptr(w);
	return 0;
}

int trace_writer__span(struct trace_writer *w, const struct trace_span *s)
{
	struct trace_span *copy = &w->batch[w->n_batch];
	bool has_label = s->label < w->names.strings.n || s->label & TRACE_VIRTUAL;
	int err;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (s->process >= w->names.n_processes || !has_label || s->end_ns < s->start_ns ||
	    s->flags & ~TRACE_SPAN_FLAGS_ALL)
		return -EINVAL;
	/* Most spans have no caller: only for the others is the end of the ranges looked up. */
	if (s->caller != TRACE_NO_LOCATION && s->caller >= function_list__end(&w->names.functions))
		return -EINVAL;
	*copy = *s;
	err = trace_writer__disk_label(w, &copy->label, s->kind);
	if (err)
		return err;
	w->n_batch++;
	return w->n_batch == BATCH_SPANS ? write_spans(w) : 0;
}

int trace_writer__tally(struct trace_writer *w, const struct trace_tally *t)
{
	struct byte_buffer *body = &w->tallies.body;
	uint32_t label = t->label;
	int err;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (t->process >= w->names.n_processes || label >= w->names.strings.n)
		return -EINVAL;
	err = trace_writer__disk_label(w, &label, t->kind);
	if (err)
		return err;
	byte_buffer__varint(body, t->process);
	byte_buffer__varint(body, label);
	byte_buffer__varint(body, t->events);
	byte_buffer__varint(body, t->sum);
	return pending__add(&w->tallies) ? write_tallies(w) : 0;
}

int trace_writer__results(struct trace_writer *w, const struct trace_results *r)
{
	struct byte_buffer *body = &w->results.body;
	uint32_t last = 0;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (r->process >= w->names.n_processes || r->label >= w->names.strings.n ||
	    r->n > TRACE_RESULTS_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->items[i] >= w->names.strings.n)
			return -EINVAL;
	byte_buffer__varint(body, r->process);
	byte_buffer__varint(body, r->label);
	byte_buffer__varint(body, r->kind);
	byte_buffer__varint(body, r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		byte_buffer__varint(body, bytes_zigzag((uint64_t)r->items[i] - last));
		last = r->items[i];
	}
	return pending__add(&w->results) ? write_tallies(w) : 0;
}

int trace_writer__symbol(struct trace_writer *w, const struct trace_symbol *s)
{
	if (w->sink.file.error)
		return w->sink.file.error;
	if (s->process >= w->names.n_processes || s->symbol >= w->names.strings.n ||
	    s->item >= w->names.strings.n)
		return -EINVAL;
	if (w->n_symbols == QPT_SYMBOLS_MAX)
		return 0;
	w->n_symbols++;
	symbol_table__store(s, &w->symbols.body);
	return pending__add(&w->symbols) ? write_tallies(w) : 0;
}

int trace_writer__losses(struct trace_writer *w, const struct trace_losses *losses)
{
	if (w->sink.file.error)
		return w->sink.file.error;
	/* Losses that are all 0 are written too: a file without the chunk does not say so. */
	if (!w->losses_given || memcmp(&w->losses, losses, sizeof(*losses))) {
		w->losses_given = true;
		w->losses = *losses;
		w->losses_changed = true;
	}
	return 0;
}

int trace_writer__costs(struct trace_writer *w, const struct trace_costs *costs)
{
	struct byte_buffer *payload = chunk_sink__payload(&w->sink);

	byte_buffer__varint(payload, costs->subtracted);
	byte_buffer__varint(payload, TRACE_COST_MAX);
	for (int i = 0; i < TRACE_COST_MAX; i++)
		byte_buffer__varint(payload, costs->ps[i]);
	return chunk_sink__write(&w->sink, QPT_COSTS, payload, NULL);
}

int trace_writer__overhead(struct trace_writer *w, const struct trace_overhead *overhead)
{
	struct byte_buffer *payload = chunk_sink__payload(&w->sink);

	byte_buffer__varint(payload, TRACE_OVERHEAD_MAX);
	for (int i = 0; i < TRACE_OVERHEAD_MAX; i++)
		byte_buffer__varint(payload, overhead->of[i]);
	return chunk_sink__write(&w->sink, QPT_OVERHEAD, payload, NULL);
}

int trace_writer__part(struct trace_writer *w, uint32_t number)
{
	struct byte_buffer *payload = chunk_sink__payload(&w->sink);

	byte_buffer__varint(payload, number);
	return chunk_sink__write(&w->sink, QPT_PART, payload, NULL);
}

int trace_writer__rebuilt(struct trace_writer *w, const struct trace_rebuilt *r)
{
	bool has_detail = r->detail != TRACE_NO_STRING;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (r->crate >= w->names.strings.n || (has_detail && r->detail >= w->names.strings.n))
		return -EINVAL;
	byte_buffer__varint(&w->rebuilt.body, r->crate);
	byte_buffer__varint(&w->rebuilt.body, has_detail ? r->detail + 1 : 0);
	byte_buffer__varint(&w->rebuilt.body, r->reason);
	return pending__add(&w->rebuilt) ? write_tallies(w) : 0;
}

int trace_writer__flush(struct trace_writer *w)
{
	int err = w->sink.file.error ?: write_spans(w) ?: trace_writer__flush_samples(w);
	struct byte_buffer *payload;

	err = err ?: write_tallies(w);
	if (err || !w->losses_changed)
		return err;
	payload = chunk_sink__payload(&w->sink);
	byte_buffer__varint(payload, TRACE_LOSS_MAX);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		byte_buffer__varint(payload, w->losses.count[i]);
	err = chunk_sink__write(&w->sink, QPT_LOSSES, payload, NULL);
	w->losses_changed = err;
	return err;
}

static int flush_for_end(struct trace_writer *w, uint8_t end[QPT_END_SIZE])
{
	int err = trace_writer__flush(w);

	if (err)
		return err;
	bytes_store_u32(end + QPT_END_STRINGS, w->names.strings.n);
	bytes_store_u32(end + QPT_END_PROCESSES, w->names.n_processes);
	bytes_store_u64(end + QPT_END_SPANS, w->n_spans);
	bytes_store_u64(end + QPT_END_MAPPED, w->names.n_mapped);
	return 0;
}

int trace_writer__finish(struct trace_writer *w)
{
	uint8_t end[QPT_END_SIZE];

	return flush_for_end(w, end) ?: chunk_sink__finish(&w->sink, end);
}

int trace_writer__end(struct trace_writer *w, int *fd)
{
	uint8_t end[QPT_END_SIZE];

	return flush_for_end(w, end) ?: chunk_sink__end(&w->sink, end, fd);
}

int trace_writer__fd(const struct trace_writer *w)
{
	return w->sink.file.fd;
}

uint64_t trace_writer__bytes(const struct trace_writer *w)
{
	return w->sink.file.bytes;
}

void trace_writer__free(struct trace_writer *w)
{
	if (!w)
		return;
	trace_writer__destroy_samples(w);
	trace_writer__destroy_names(w);
	byte_buffer__destroy(&w->tallies.body);
	byte_buffer__destroy(&w->results.body);
	byte_buffer__destroy(&w->symbols.body);
	byte_buffer__destroy(&w->rebuilt.body);
	batch_summer__destroy(&w->summer);
	span_codec__free(w->codec);
	chunk_sink__destroy(&w->sink);
	free(w->batch);
	free(w);
}
