// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer.h"

#include <errno.h>
#include <string.h>

#include "qprof/trace_format.h"
#include "trace/chunk_sink.h"
#include "trace/function_list.h"
#include "trace/id_map.h"
#include "trace/interner.h"
#include "trace/labels.h"
#include "trace/span_codec.h"
#include "trace/thread_set.h"

#define BATCH_SPANS 4096
#define BATCH_BYTES (64u << 10) /* of other records, before they become a chunk */
#define LIST_MOST   65536u	/* ids of a mapping's list in one chunk */
#define PATH_MOST                                                                      \
	(QPT_STRING_DEPTH_MAX / 2) /* segments of a path that are strings of their own \
				    */

_Static_assert(TRACE_VIRTUAL == QPT_VIRTUAL, "the same bit");

/* Records that wait to become one chunk. */
struct pending {
	struct byte_buffer body;
	uint32_t n;
};

struct trace_writer {
	struct chunk_sink sink;
	struct interner strings;
	uint32_t n_processes;
	uint64_t n_spans;
	uint64_t n_mapped;
	struct u64_map mapped_blocks; /* space << 32 | id / QPT_MAP_BLOCK of those in use */
	struct pending new_strings;
	struct pending new_labels;
	struct pending new_processes;
	struct pending new_threads;
	struct thread_set threads;
	struct pending new_mappings;
	uint32_t mappings_space;
	struct id_map_next mappings_next;
	struct pending tallies;
	struct function_list functions;
	struct pending new_lines;
	struct kinds kinds;
	struct u64_map label_of; /* name << 8 | kind -> string id of the label on disk */
	struct trace_span *batch;
	uint32_t n_batch;
	struct batch_summer summer;
	struct trace_losses losses;
	bool losses_given;
	bool losses_changed;
	struct span_codec *codec;
	struct byte_buffer raw;
};

static int fail(struct trace_writer *w, int err)
{
	return file_writer__fail(&w->sink.file, err);
}

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
	return err ? fail(w, err) : chunk_sink__write(&w->sink, QPT_FUNCTIONS, &w->raw, NULL);
}

/* What spans refer to goes out before them, and strings before all. */
static int write_names(struct trace_writer *w)
{
	uint32_t first = w->strings.n - w->new_strings.n;
	int err = write_pending(w, QPT_STRINGS, &w->new_strings, &first);

	if (!err)
		err = write_pending(w, QPT_LABELS, &w->new_labels, NULL);
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

/* A record was added to `p`. */
static int added(struct trace_writer *w, struct pending *p)
{
	p->n++;
	return p->body.size >= BATCH_BYTES ? write_names(w) : 0;
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
	int err = write_names(w);

	if (err || !w->n_batch)
		return err;
	byte_buffer__clear(&w->raw);
	err = span_codec__encode(w->codec, w->batch, w->n_batch, &w->raw);
	if (!err)
		err = meet_threads(w);
	if (!err)
		err = batch_summer__sum(&w->summer, w->batch, w->n_batch, w->strings.n);
	if (err)
		return fail(w, err);
	err = chunk_sink__write(&w->sink, QPT_SPANS, &w->raw, &w->summer.summary);
	if (err)
		return err;
	w->n_spans += w->n_batch;
	w->n_batch = 0;
	return 0;
}

static int write_tallies(struct trace_writer *w)
{
	int err = write_names(w);

	return err ? err : write_pending(w, QPT_TALLIES, &w->tallies, NULL);
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

/* A string was looked up: store it if it is new. */
static int interned(struct trace_writer *w, uint32_t id, bool is_new)
{
	if (!is_new)
		return 0;
	interner__store(&w->strings, id, &w->new_strings.body);
	return added(w, &w->new_strings);
}

int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id)
{
	bool is_new;
	int err = w->sink.file.error;

	if (!err)
		err = interner__id(&w->strings, text, id, &is_new);
	return err ? err : interned(w, *id, is_new);
}

int trace_writer__compose(struct trace_writer *w, const struct trace_piece *pieces, uint32_t n,
			  uint32_t *id)
{
	bool is_new;
	int err = w->sink.file.error;

	if (!err)
		err = interner__compose(&w->strings, pieces, n, id, &is_new);
	return err ? err : interned(w, *id, is_new);
}

int trace_writer__intern_path(struct trace_writer *w, const char *path, uint32_t *id)
{
	_free_ char *copy = strdup(path);
	struct trace_piece pieces[3] = {{.text = ""}, {.text = ""}};
	char *at = copy, *end;
	int n = 0, err;

	if (!copy)
		return -ENOMEM;
	for (; (end = strstr(at, "::")) && n < (int)PATH_MOST; at = end + 2, n++) {
		*end = '\0';
		err = trace_writer__intern(w, at, &pieces[2].id);
		if (!err)
			err = trace_writer__compose(w, pieces, 3, id);
		if (err)
			return err;
		pieces[0] = (struct trace_piece){.id = *id};
		pieces[1].text = "::";
	}
	err = trace_writer__intern(w, at, &pieces[2].id);
	return err ? err : trace_writer__compose(w, pieces, 3, id);
}

/* References to texts are one more than the id; 0 is no text. */
static int intern_ref(struct trace_writer *w, const char *text, uint32_t *ref)
{
	int err;

	*ref = 0;
	if (!text)
		return 0;
	err = trace_writer__intern(w, text, ref);
	if (!err)
		++*ref;
	return err;
}

static uint8_t *store_process(uint8_t *at, const struct trace_process *p, const uint32_t refs[6])
{
	bool exited = p->exit_status != TRACE_EXIT_UNKNOWN;

	at = bytes_store_varint(at, p->index);
	at = bytes_store_varint(at, (p->attached_late ? QPT_PROCESS_LATE : 0) |
					    (exited ? QPT_PROCESS_EXITED : 0));
	at = bytes_store_varint(at, p->pid);
	at = bytes_store_varint(at, p->parent_pid);
	at = bytes_store_varint(at, p->start_ns);
	at = bytes_store_varint(at, p->end_ns);
	at = bytes_store_varint(at, exited ? (uint32_t)p->exit_status : 0);
	for (int i = 0; i < 6; i++)
		at = bytes_store_varint(at, refs[i]);
	return at;
}

int trace_writer__process(struct trace_writer *w, const struct trace_process *p)
{
	const char *texts[6] = {p->command,	  p->crate,    p->crate_type,
				p->rustc_version, p->build_id, p->cwd};
	uint8_t record[13 * BYTES_VARINT_MAX];
	uint32_t refs[6];
	size_t size;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (p->index > w->n_processes || p->index >= QPT_PROCESSES_MAX)
		return -EINVAL;
	for (int i = 0; i < 6; i++) {
		int err = intern_ref(w, texts[i], &refs[i]);

		if (err)
			return err;
	}
	size = store_process(record, p, refs) - record;
	byte_buffer__varint(&w->new_processes.body, size);
	byte_buffer__bytes(&w->new_processes.body, record, size);
	w->n_processes += p->index == w->n_processes;
	return added(w, &w->new_processes);
}

int trace_writer__thread(struct trace_writer *w, const struct trace_thread *t)
{
	uint32_t name;
	int err;

	if (t->process >= w->n_processes)
		return -EINVAL;
	err = trace_writer__intern(w, t->name, &name);
	if (!err)
		err = thread_set__add(&w->threads, t->process, t->tid);
	if (err)
		return err;
	byte_buffer__varint(&w->new_threads.body, t->process);
	byte_buffer__varint(&w->new_threads.body, t->tid);
	byte_buffer__varint(&w->new_threads.body, name);
	return added(w, &w->new_threads);
}

int trace_writer__function(struct trace_writer *w, const struct trace_function *f)
{
	uint32_t library, name;
	int err = trace_writer__intern(w, f->library, &library);

	if (!err)
		err = trace_writer__intern_path(w, f->name, &name);
	if (!err)
		err = function_list__add(&w->functions, f, library, name);
	if (err)
		return err;
	return w->functions.records.size >= BATCH_BYTES ? write_names(w) : 0;
}

int trace_writer__lines(struct trace_writer *w, uint32_t first, const struct trace_line *rows,
			size_t n)
{
	struct pending *p = &w->new_lines;
	size_t size = p->body.size;
	int err = w->sink.file.error;

	if (!err)
		err = function_list__lines(&w->functions, first, rows, n, w->strings.n, &p->body);
	if (err || p->body.size == size)
		return err;
	return added(w, p);
}

/* Whether all strings of a mapping exist. */
static bool has_strings(const struct trace_writer *w, const struct trace_mapping *m)
{
	uint64_t most = m->string;

	if (m->series)
		most += m->n - 1;
	if (m->strings)
		most = 0;
	for (uint32_t i = 0; m->strings && i < m->n; i++)
		most = m->strings[i] > most ? m->strings[i] : most;
	return most < w->strings.n;
}

/* A reader keeps a block for each that has an id in it, and takes only so many. */
static int reserve_blocks(struct trace_writer *w, uint32_t space, const struct trace_mapping *m)
{
	uint32_t last = (m->first + m->n - 1) / QPT_MAP_BLOCK;

	for (uint32_t block = m->first / QPT_MAP_BLOCK; block <= last; block++) {
		uint64_t key = (uint64_t)space << 32 | block;

		if (u64_map__get(&w->mapped_blocks, key) != U64_MAP_NONE)
			continue;
		if (w->mapped_blocks.used == QPT_MAP_BLOCKS_MAX)
			return -E2BIG;
		if (u64_map__put(&w->mapped_blocks, key, 0))
			return -ENOMEM;
	}
	return 0;
}

static int store_mapping(struct trace_writer *w, uint32_t space, const struct trace_mapping *m)
{
	int err = 0;

	if (space != w->mappings_space)
		err = write_names(w);
	if (err)
		return err;
	w->mappings_space = space;
	id_map__store(&w->new_mappings.body, m, &w->mappings_next);
	w->n_mapped += m->n;
	return added(w, &w->new_mappings);
}

int trace_writer__map(struct trace_writer *w, const struct trace_mapping *m)
{
	bool labels = m->process == TRACE_NO_PROCESS;
	uint64_t limit = labels ? TRACE_VIRTUAL : TRACE_NO_INVOCATION;
	uint32_t space = labels ? 0 : m->process + 1, left = m->n;
	struct trace_mapping part = *m;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (!m->n || (uint64_t)m->first + m->n > limit || !has_strings(w, m) ||
	    (!labels && m->process >= w->n_processes))
		return -EINVAL;
	if (m->n > QPT_MAPPED_MAX - w->n_mapped)
		return -E2BIG;
	err = reserve_blocks(w, space, m);
	/* A list may be longer than a chunk. */
	for (; left && !err; left -= part.n, part.first += part.n) {
		part.n = m->strings && left > LIST_MOST ? LIST_MOST : left;
		err = store_mapping(w, space, &part);
		if (m->strings)
			part.strings += part.n;
	}
	return err;
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

int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind)
{
	return w->sink.file.error ? w->sink.file.error : kinds__number(&w->kinds, text, kind);
}

/*
 * The label is a string of its own, of the name and the kind, so that readers that do not know of
 * kinds tell them apart too: "type_of (QueryBlocked)".
 */
static int add_label(struct trace_writer *w, uint32_t name, uint8_t kind, uint32_t *id)
{
	struct byte_buffer *body = &w->new_labels.body;
	struct trace_piece pieces[] = {{.id = name}, {.text = " ("}, {0}, {.text = ")"}};
	int err = trace_writer__intern(w, kinds__text(&w->kinds, kind), &pieces[2].id);

	if (!err)
		err = trace_writer__compose(w, pieces, 4, id);
	if (!err)
		err = u64_map__put(&w->label_of, (uint64_t)name << 8 | kind, *id);
	if (err)
		return fail(w, err);
	byte_buffer__varint(body, *id);
	byte_buffer__varint(body, pieces[2].id);
	byte_buffer__varint(body, name);
	return added(w, &w->new_labels);
}

/* Replace a name by the label that stands for it and the kind on disk. */
static int label_for(struct trace_writer *w, uint32_t *label, uint8_t kind)
{
	uint32_t name = *label;

	if (kind == TRACE_KIND_QUERY)
		return 0;
	if (kind >= TRACE_KIND_OTHER + w->kinds.n_other || name & TRACE_VIRTUAL)
		return -EINVAL;
	*label = u64_map__get(&w->label_of, (uint64_t)name << 8 | kind);
	return *label == U64_MAP_NONE ? add_label(w, name, kind, label) : 0;
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
	err = label_for(w, &copy->label, s->kind);
	if (err)
		return err;
	w->n_batch++;
	return w->n_batch == BATCH_SPANS ? write_spans(w) : 0;
}

int trace_writer__tally(struct trace_writer *w, const struct trace_tally *t)
{
	struct byte_buffer *body = &w->tallies.body;
	uint32_t label = t->label;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (t->process >= w->n_processes || label >= w->strings.n)
		return -EINVAL;
	err = label_for(w, &label, t->kind);
	if (err)
		return err;
	byte_buffer__varint(body, t->process);
	byte_buffer__varint(body, label);
	byte_buffer__varint(body, t->events);
	byte_buffer__varint(body, t->sum);
	w->tallies.n++;
	return body->size >= BATCH_BYTES ? write_tallies(w) : 0;
}

int trace_writer__losses(struct trace_writer *w, const struct trace_losses *losses)
{
	if (w->sink.file.error)
		return w->sink.file.error;
	/* "None" is news too: a file without the chunk cannot tell. */
	if (!w->losses_given || memcmp(&w->losses, losses, sizeof(*losses))) {
		w->losses_given = true;
		w->losses = *losses;
		w->losses_changed = true;
	}
	return 0;
}

int trace_writer__costs(struct trace_writer *w, const struct trace_costs *costs)
{
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, costs->subtracted);
	byte_buffer__varint(&w->raw, TRACE_COST_MAX);
	for (int i = 0; i < TRACE_COST_MAX; i++)
		byte_buffer__varint(&w->raw, costs->ps[i]);
	return chunk_sink__write(&w->sink, QPT_COSTS, &w->raw, NULL);
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
