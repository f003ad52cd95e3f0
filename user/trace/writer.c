// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer_state.h"

#include <errno.h>
#include <string.h>

#define BATCH_SPANS 4096
#define BATCH_BYTES (64u << 10) /* of other records, before they become a chunk */

_Static_assert(TRACE_VIRTUAL == QPT_VIRTUAL, "the same bit");

/* Write a chunk of the pending records: `head` (if not 0), their number, they. */
static int write_pending(struct trace_writer *w, enum qpt_chunk_type type, struct pending *p,
			 const uint32_t *head)
{
	int err;

	if (!p->n)
		return 0;
	byte_buffer__clear(&w->raw);
	if (head)
		byte_buffer__varint(&w->raw, *head);
	byte_buffer__varint(&w->raw, p->n);
	byte_buffer__bytes(&w->raw, p->body.data, p->body.size);
	w->raw.failed |= p->body.failed;
	err = chunk_sink__write(&w->sink, type, &w->raw, NULL);
	if (err)
		return err;
	byte_buffer__clear(&p->body);
	p->n = 0;
	return 0;
}

static int write_functions(struct trace_writer *w)
{
	int err;

	if (!w->functions.n_new)
		return 0;
	byte_buffer__clear(&w->raw);
	err = function_list__payload(&w->functions, &w->raw);
	return err ? writer__fail(w, err)
		   : chunk_sink__write(&w->sink, QPT_FUNCTIONS, &w->raw, NULL);
}

int writer__write_names(struct trace_writer *w)
{
	uint32_t first = w->strings.n - w->new_strings.n;
	int err = write_pending(w, QPT_STRINGS, &w->new_strings, &first);

	if (!err)
		err = write_pending(w, QPT_LABELS, &w->new_labels, NULL);
	if (!err)
		err = write_pending(w, QPT_DECISIONS, &w->new_decisions, NULL);
	if (!err)
		err = write_pending(w, QPT_PROCESSES, &w->new_processes, NULL);
	if (!err)
		err = write_pending(w, QPT_THREADS, &w->new_threads, NULL);
	if (!err)
		err = write_pending(w, QPT_MAPPINGS, &w->new_mappings, &w->mappings_space);
	w->mappings_next = (struct id_map_next){0};
	if (!err)
		err = write_functions(w);
	return err ? err : write_pending(w, QPT_LINES, &w->new_lines, NULL);
}

int writer__added(struct trace_writer *w, struct pending *p)
{
	p->n++;
	return p->body.size >= BATCH_BYTES ? writer__write_names(w) : 0;
}

/* The threads of the batch just encoded. */
static int meet_threads(struct trace_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < span_codec__n_threads(w->codec) && !err; i++) {
		uint32_t process, tid;

		span_codec__thread(w->codec, i, &process, &tid);
		err = thread_set__add(&w->threads, process, tid);
	}
	return err;
}

static int write_spans(struct trace_writer *w)
{
	int err = writer__write_names(w);

	if (err || !w->n_batch)
		return err;
	byte_buffer__clear(&w->raw);
	err = span_codec__encode(w->codec, w->batch, w->n_batch, &w->raw);
	if (!err)
		err = meet_threads(w);
	if (!err)
		err = batch_summer__sum(&w->summer, w->batch, w->n_batch, w->strings.n);
	if (err)
		return writer__fail(w, err);
	err = chunk_sink__write(&w->sink, QPT_SPANS, &w->raw, &w->summer.summary);
	if (err)
		return err;
	w->n_spans += w->n_batch;
	w->n_batch = 0;
	return 0;
}

static int write_tallies(struct trace_writer *w)
{
	int err = writer__write_names(w);

	return err ? err : write_pending(w, QPT_TALLIES, &w->tallies, NULL);
}

int writer__added_function(struct trace_writer *w)
{
	return w->functions.records.size >= BATCH_BYTES ? writer__write_names(w) : 0;
}

int writer__added_tally(struct trace_writer *w)
{
	w->tallies.n++;
	return w->tallies.body.size >= BATCH_BYTES ? write_tallies(w) : 0;
}

static int write_losses(struct trace_writer *w)
{
	int err;

	if (!w->losses_changed)
		return 0;
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, TRACE_LOSS_MAX);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		byte_buffer__varint(&w->raw, w->losses.count[i]);
	err = chunk_sink__write(&w->sink, QPT_LOSSES, &w->raw, NULL);
	if (!err)
		w->losses_changed = false;
	return err;
}

static void put_text(struct byte_buffer *b, const char *text)
{
	size_t size = text ? strnlen(text, QPT_TEXT_MAX) : 0;

	byte_buffer__varint(b, size);
	byte_buffer__bytes(b, text, size);
}

static int write_info(struct trace_writer *w, const struct trace_info *info)
{
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, info->clock_start_ns);
	byte_buffer__varint(&w->raw, info->realtime_start_ns);
	put_text(&w->raw, info->tool);
	put_text(&w->raw, info->kernel);
	put_text(&w->raw, info->host);
	byte_buffer__varint(&w->raw, info->clock);
	byte_buffer__varint(&w->raw, info->budget_ppm);
	return chunk_sink__write(&w->sink, QPT_INFO, &w->raw, NULL);
}

static struct trace_writer *allocate(void)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sink.file.fd = -1;
	w->batch = malloc(BATCH_SPANS * sizeof(*w->batch));
	if (!w->batch || span_codec__new(&w->codec)) {
		trace_writer__free(w);
		return NULL;
	}
	return w;
}

int trace_writer__open(const char *path, const struct trace_info *info, struct trace_writer **out)
{
	_trace_writer_ struct trace_writer *w = allocate();
	int err;

	if (!w)
		return -ENOMEM;
	err = chunk_sink__open(&w->sink, path);
	if (err)
		return err;
	err = write_info(w, info);
	if (err) {
		/* Nothing can be read from it. */
		unlink(path);
		return err;
	}
	*out = take_ptr(w);
	return 0;
}

/* Most spans have none: the end of the ranges is looked up for the others only. */
static bool has_caller(const struct trace_writer *w, uint32_t caller)
{
	return caller == TRACE_NO_LOCATION || caller < function_list__end(&w->functions);
}

static bool has_label(const struct trace_writer *w, uint32_t label)
{
	return label < w->strings.n || label & TRACE_VIRTUAL;
}

int trace_writer__span(struct trace_writer *w, const struct trace_span *s)
{
	struct trace_span *copy = &w->batch[w->n_batch];
	int err;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (s->process >= w->n_processes || !has_label(w, s->label) || s->end_ns < s->start_ns ||
	    s->flags & ~TRACE_SPAN_FLAGS_ALL || !has_caller(w, s->caller))
		return -EINVAL;
	*copy = *s;
	err = writer__label(w, &copy->label, s->kind);
	if (err)
		return err;
	w->n_batch++;
	return w->n_batch == BATCH_SPANS ? write_spans(w) : 0;
}

int trace_writer__flush(struct trace_writer *w)
{
	int err = w->sink.file.error;

	if (!err)
		err = write_spans(w);
	if (!err)
		err = write_tallies(w);
	return err ? err : write_losses(w);
}

int trace_writer__finish(struct trace_writer *w)
{
	uint8_t end[QPT_END_SIZE];
	int err = trace_writer__flush(w);

	if (err)
		return err;
	bytes_store_u32(end + QPT_END_STRINGS, w->strings.n);
	bytes_store_u32(end + QPT_END_PROCESSES, w->n_processes);
	bytes_store_u64(end + QPT_END_SPANS, w->n_spans);
	bytes_store_u64(end + QPT_END_MAPPED, w->n_mapped);
	return chunk_sink__finish(&w->sink, end);
}

uint64_t trace_writer__bytes(const struct trace_writer *w)
{
	return w->sink.file.bytes;
}

void trace_writer__free(struct trace_writer *w)
{
	if (!w)
		return;
	interner__destroy(&w->strings);
	byte_buffer__destroy(&w->new_strings.body);
	byte_buffer__destroy(&w->new_labels.body);
	byte_buffer__destroy(&w->new_decisions.body);
	byte_buffer__destroy(&w->new_processes.body);
	byte_buffer__destroy(&w->new_threads.body);
	byte_buffer__destroy(&w->new_mappings.body);
	byte_buffer__destroy(&w->tallies.body);
	function_list__destroy(&w->functions);
	byte_buffer__destroy(&w->new_lines.body);
	thread_set__destroy(&w->threads);
	kinds__destroy(&w->kinds);
	u64_map__destroy(&w->label_of);
	u64_map__destroy(&w->mapped_blocks);
	byte_buffer__destroy(&w->raw);
	batch_summer__destroy(&w->summer);
	span_codec__free(w->codec);
	chunk_sink__destroy(&w->sink);
	free(w->batch);
	free(w);
}
