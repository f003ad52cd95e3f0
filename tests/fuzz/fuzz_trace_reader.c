// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads any bytes as a trace to its end and sums them up. */
#include <fcntl.h>
#include <sys/mman.h>

#include "analyze/model.h"
#include "trace/bytes.h"
#include "trace/chunk.h"
#include "trace/reader.h"
#include "trace/replay.h"
#include "fuzz.h"

static volatile size_t sink;

/* Correct the checksums, so that mutations reach the code behind their check. */
static void sign(uint8_t *bytes, size_t size)
{
	size_t at = QPT_HEADER_SIZE;

	if (size < QPT_HEADER_SIZE)
		return;
	bytes_store_u32(bytes + QPT_HEADER_CRC, crc32c(0, bytes, QPT_HEADER_CRC));
	while (size - at >= QPT_CHUNK_HEADER_SIZE) {
		uint8_t *payload = bytes + at + QPT_CHUNK_HEADER_SIZE;
		uint32_t stored = bytes_load_u32(bytes + at + QPT_CHUNK_STORED);
		uint32_t crc = crc32c(0, bytes + at, QPT_CHUNK_CRC);

		if (stored > size - at - QPT_CHUNK_HEADER_SIZE)
			return;
		bytes_store_u32(bytes + at + QPT_CHUNK_CRC, crc32c(crc, payload, stored));
		at += QPT_CHUNK_HEADER_SIZE + stored;
	}
}

static void use_model(struct model *m)
{
	struct summary_row *rows;
	struct caller_row *callers;
	_llvm_rows_ struct llvm_rows llvm = {};
	struct group_row *groups;
	size_t n;

	if (model__end(m))
		abort();
	for (uint32_t i = 0; i < summary__n_processes(m->summary); i++)
		sink += summary__reuse(m->summary, i).results;
	if (summary__rows(m->summary, SUMMARY_ALL, &rows, &n))
		abort();
	free(rows);
	if (pivot__callers(m->callers, &m->options.stacks, &callers, &n))
		abort();
	free(callers);
	for (int by = GROUP_BY_CRATE; by <= GROUP_BY_THREAD; by++) {
		if (pivot__groups(m->groups, by, &groups, &n))
			abort();
		group_rows__free(groups, n);
	}
	if (llvm__rows(m->llvm, NULL, NULL, &llvm))
		abort();
	sink += llvm.n_functions;
	sink += build__totals(m->build)->compiles + pivot__n_threads(m->threads);
}

/* The entries that all have in common are used once: a chain is as deep as it says. */
static void use_stack(const struct trace_reader *r, uint32_t id)
{
	const struct trace_stack *s = trace_reader__stack(r, id), *parent;
	struct trace_location at;

	if (!s)
		return;
	parent = trace_reader__stack(r, s->parent);
	if (s->parent >= id || s->depth != (parent ? parent->depth : 0) + 1 ||
	    s->depth > TRACE_STACK_DEPTH_MAX)
		abort();
	if (s->kind != TRACE_STACK_LOCATION)
		sink += strlen(trace_reader__string(r, s->place));
	else if (trace_reader__location(r, s->place, &at))
		sink += strlen(at.function->name) +
			(at.function->file ? strlen(at.function->file) : 0);
}

/* Those around are older, and not many. */
static void use_jobs(const struct trace_reader *r, uint32_t id)
{
	const struct trace_job *job;

	for (uint32_t n = 0; (job = trace_reader__job(r, id)); id = job->parent) {
		uint32_t about = trace_reader__job_string(r, job);

		if (job->parent >= id || n++ == TRACE_JOB_DEPTH_MAX)
			abort();
		sink += strlen(trace_reader__string(r, job->query));
		if (about != TRACE_NO_STRING)
			sink += strlen(trace_reader__string(r, about));
	}
}

static void use_llvm(const struct trace_reader *r, uint32_t id)
{
	const struct trace_llvm *entry = trace_reader__llvm(r, id);

	if (!entry || entry->scope >= TRACE_LLVM_SCOPES)
		abort();
	if (entry->pass != TRACE_NO_STRING)
		sink += strlen(trace_reader__string(r, entry->pass));
	if (entry->function != TRACE_NO_STRING)
		sink += strlen(trace_reader__string(r, entry->function));
}

static void use_symbols(const struct trace_reader *r)
{
	for (uint32_t process = 0; process < 4; process++)
		for (uint32_t symbol = 0; symbol < 16; symbol++) {
			uint32_t item = trace_reader__symbol_item(r, process, symbol);

			if (item != TRACE_NO_STRING)
				sink += strlen(trace_reader__string(r, item)) +
					trace_reader__is_foreign(r, process, item);
		}
}

static void use_sample(const struct trace_reader *r, const struct trace_sample *s)
{
	if (s->stack != TRACE_NO_STACK && !trace_reader__stack(r, s->stack))
		abort();
	if (s->cause == TRACE_SAMPLE_OFF_CPU && s->time_ns + s->value < s->time_ns)
		abort();
	use_stack(r, s->stack);
	if (s->job != TRACE_NO_JOB && !trace_reader__job(r, s->job))
		abort();
	use_jobs(r, s->job);
	if (s->llvm != TRACE_NO_LLVM)
		use_llvm(r, s->llvm);
	if (s->label != TRACE_NO_STRING)
		sink += strlen(trace_reader__string(r, s->label)) +
			strlen(trace_reader__kind(r, s->kind));
}

static void use_item(const struct trace_reader *r, const struct trace_item *item)
{
	struct trace_location from;
	const char *event;

	if (item->kind == TRACE_ITEM_SPAN) {
		sink += strlen(trace_reader__string(r, item->span.label));
		event = trace_reader__event(r, &item->span);
		sink += event ? strlen(event) : 0;
		if (trace_reader__location(r, item->span.caller, &from))
			sink += strlen(from.function->name) + (from.file ? strlen(from.file) : 0);
	} else if (item->kind == TRACE_ITEM_SAMPLE) {
		use_sample(r, &item->sample);
	} else if (item->kind == TRACE_ITEM_TALLY) {
		sink += strlen(trace_reader__kind(r, item->tally.kind));
	} else if (item->kind == TRACE_ITEM_RESULTS) {
		for (uint32_t i = 0; i < item->results.n; i++)
			sink += strlen(trace_reader__string(r, item->results.items[i]));
	}
}

static bool some_labels(void *ctx, const char *text)
{
	(void)ctx;
	return strlen(text) % 2;
}

static bool some_processes(void *ctx, const struct trace_process *p)
{
	(void)ctx;
	return p->pid % 2;
}

/* Bit 1 checks the index, bits 2 to 4 filter. */
static void choose_way(struct trace_reader *r, unsigned int way)
{
	struct trace_filter filter = {.to_ns = UINT64_MAX};

	if (way & 2)
		trace_reader__check_index(r);
	if (way & 4)
		filter.label = some_labels;
	if (way & 8) {
		filter.process = some_processes;
		filter.renumber = way & 4;
	}
	if (way & 16)
		filter.from_ns = 3000;
	if (way & 28)
		trace_reader__filter(r, &filter);
}

/* The cost of reading is bounded by the number of bytes. Counts measure it, not time. */
static void check_cost(const struct trace_reader *r, uint64_t items)
{
	const struct trace_stats s = trace_reader__stats(r);
	uint64_t read = trace_reader__bytes_read(r);

	/* Names are read twice, and headers a third time. */
	if (read > 3 * s.file_bytes + QPT_HEADER_SIZE_MAX ||
	    s.made_bytes > QPT_EXPANSION_FREE + QPT_EXPANSION_FACTOR * read)
		abort();
	if (QPT_EXPANSION_STACK * (uint64_t)s.stacks > s.made_bytes)
		abort();
	/* A sample takes four bytes, a span eight of the decompressed or read ones, any other
	 * record three. */
	if (4 * s.samples > s.made_bytes + read || 8 * s.spans > s.made_bytes + read ||
	    3 * items > s.made_bytes + read)
		abort();
}

/* All spans that were read are read again; fewer, if the reader refused to go on in a chunk. */
static void replay(const struct trace_reader *r, bool refused)
{
	_trace_replay_ struct trace_replay *p = NULL;
	struct trace_span span;
	uint64_t n = 0;

	if (trace_replay__new(r, &p))
		abort();
	for (int pass = 0; pass < 2; pass++) {
		trace_replay__begin(p, 0, UINT32_MAX);
		for (n = 0; trace_replay__next(p, &span) > 0; n++)
			sink += span.label;
		if (!refused && n != trace_reader__stats(r).spans)
			abort();
	}
	trace_replay__begin(p, 1, 1);
	for (n = 0; trace_replay__next(p, &span) > 0; n++)
		sink += trace_reader__event_string(r, &span);
	if (!refused && n > trace_reader__stats(r).spans)
		abort();
}

static void read_all(const char *path, unsigned int way)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_model_ struct model m = {};
	struct model_options options;
	const char *why = NULL;
	struct trace_item item;
	uint64_t items = 0;
	int err;

	if (trace_reader__open(path, &r, &why)) {
		sink += strlen(why);
		return;
	}
	options = model_options_of(r);
	options.parts = MODEL_BUILD | MODEL_CALLERS | MODEL_GROUPS | MODEL_THREADS | MODEL_LLVM;
	if (model__init(&m, &options))
		abort();
	choose_way(r, way);
	/* Filtered processes leave gaps, which a model refuses. */
	while (!(err = trace_reader__next(r, &item)) && item.kind != TRACE_ITEM_END) {
		items++;
		use_item(r, &item);
		if (!(way & 8) && model__item(&m, &item))
			abort();
	}
	check_cost(r, items);
	for (uint32_t id = 1; id <= trace_reader__stacks(r); id++)
		use_stack(r, id);
	use_symbols(r);
	use_model(&m);
	sink += trace_reader__stats(r).chunks;
	if (!(way & 28))
		replay(r, err);
	if (trace_reader__problem(r))
		sink += strlen(trace_reader__problem(r));
}

/* The last byte selects whether the checksums are corrected, and how to read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = memfd_create("trace", MFD_CLOEXEC);
	_free_ uint8_t *bytes = malloc(size + 1);
	unsigned int way = size ? data[size - 1] : 0;
	char path[32];

	if (size)
		memcpy(bytes, data, size);
	if (way & 1)
		sign(bytes, --size);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, way);
	return 0;
}
