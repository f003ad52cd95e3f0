// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "trace/bytes.h"
#include "trace/chunk.h"
#include "trace/interner.h"
#include "trace/labels.h"
#include "trace/span_codec.h"

#define BATCH_SPANS    4096
#define BATCH_BYTES    (64u << 10) /* of strings or processes, before they become a chunk */
#define COMPRESS_LEAST 64	   /* bytes; zstd gains nothing on less */
#define COMPRESS_LEVEL 1

/* Records that wait to become one chunk. */
struct pending {
	struct byte_buffer body;
	uint32_t n;
};

struct trace_writer {
	int fd;
	int error; /* the first I/O error, for ever */
	uint64_t bytes;
	struct interner strings;
	uint32_t n_processes;
	uint64_t n_spans;
	struct pending new_strings;
	struct pending new_labels;
	struct pending new_processes;
	struct pending tallies;
	struct kinds kinds;
	struct u64_map label_of; /* name << 8 | kind -> string id of the label on disk */
	struct trace_span *batch;
	uint32_t n_batch;
	struct trace_losses losses;
	bool losses_given;
	bool losses_changed;
	struct span_codec *codec;
	ZSTD_CCtx *zstd;
	struct byte_buffer raw;
	struct byte_buffer stored; /* chunk header and payload, as they go to the file */
};

static int fail(struct trace_writer *w, int err)
{
	if (!w->error)
		w->error = err;
	return w->error;
}

static int write_all(struct trace_writer *w, const uint8_t *p, size_t size)
{
	while (size) {
		ssize_t n = write(w->fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(w, n < 0 ? -errno : -EIO);
		w->bytes += n;
		p += n;
		size -= n;
	}
	return 0;
}

/* Put the payload in w->raw behind room for a header in w->stored, compressed if that is less. */
static int store_payload(struct trace_writer *w, struct chunk_header *h)
{
	size_t bound = ZSTD_compressBound(w->raw.size);
	uint8_t *payload;

	byte_buffer__clear(&w->stored);
	if (!byte_buffer__reserve(&w->stored, QPT_CHUNK_HEADER_SIZE + bound))
		return fail(w, -ENOMEM);
	payload = w->stored.data + QPT_CHUNK_HEADER_SIZE;
	if (w->raw.size >= COMPRESS_LEAST) {
		size_t n = ZSTD_compressCCtx(w->zstd, payload, bound, w->raw.data, w->raw.size,
					     COMPRESS_LEVEL);

		if (!ZSTD_isError(n) && n < w->raw.size) {
			h->flags = QPT_CHUNK_ZSTD;
			h->stored = n;
			return 0;
		}
	}
	if (w->raw.size)
		memcpy(payload, w->raw.data, w->raw.size);
	h->stored = w->raw.size;
	return 0;
}

/* Write w->raw as a chunk, in one write(2): a kill leaves a whole chunk or a cut one. */
static int write_chunk(struct trace_writer *w, enum qpt_chunk_type type)
{
	struct chunk_header h = {.type = type, .raw = w->raw.size};
	int err;

	if (w->raw.failed)
		return fail(w, -ENOMEM);
	err = store_payload(w, &h);
	if (err)
		return err;
	chunk_header__store(w->stored.data, &h, w->stored.data + QPT_CHUNK_HEADER_SIZE);
	return write_all(w, w->stored.data, QPT_CHUNK_HEADER_SIZE + h.stored);
}

static int write_pending(struct trace_writer *w, enum qpt_chunk_type type, struct pending *p,
			 uint32_t first)
{
	int err;

	if (!p->n)
		return 0;
	if (p->body.failed)
		return fail(w, -ENOMEM);
	byte_buffer__clear(&w->raw);
	if (type == QPT_STRINGS)
		byte_buffer__varint(&w->raw, first);
	byte_buffer__varint(&w->raw, p->n);
	byte_buffer__bytes(&w->raw, p->body.data, p->body.size);
	err = write_chunk(w, type);
	if (err)
		return err;
	byte_buffer__clear(&p->body);
	p->n = 0;
	return 0;
}

/* What spans refer to goes out before them. */
static int write_names(struct trace_writer *w)
{
	int err = write_pending(w, QPT_STRINGS, &w->new_strings, w->strings.n - w->new_strings.n);

	if (!err)
		err = write_pending(w, QPT_LABELS, &w->new_labels, 0);
	return err ? err : write_pending(w, QPT_PROCESSES, &w->new_processes, 0);
}

static int write_spans(struct trace_writer *w)
{
	int err = write_names(w);

	if (err || !w->n_batch)
		return err;
	byte_buffer__clear(&w->raw);
	err = span_codec__encode(w->codec, w->batch, w->n_batch, &w->raw);
	if (err)
		return fail(w, err);
	err = write_chunk(w, QPT_SPANS);
	if (err)
		return err;
	w->n_spans += w->n_batch;
	w->n_batch = 0;
	return 0;
}

static int write_tallies(struct trace_writer *w)
{
	int err = write_names(w);

	return err ? err : write_pending(w, QPT_TALLIES, &w->tallies, 0);
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
	err = write_chunk(w, QPT_LOSSES);
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

static int write_start(struct trace_writer *w, const struct trace_info *info)
{
	uint8_t header[QPT_HEADER_SIZE];
	int err;

	file_header__store(header);
	err = write_all(w, header, sizeof(header));
	if (err)
		return err;
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, info->clock_start_ns);
	byte_buffer__varint(&w->raw, info->realtime_start_ns);
	put_text(&w->raw, info->tool);
	put_text(&w->raw, info->kernel);
	put_text(&w->raw, info->host);
	return write_chunk(w, QPT_INFO);
}

static struct trace_writer *allocate(void)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->batch = malloc(BATCH_SPANS * sizeof(*w->batch));
	w->zstd = ZSTD_createCCtx();
	if (!w->batch || !w->zstd || span_codec__new(&w->codec)) {
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
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (w->fd < 0)
		return -errno;
	err = write_start(w, info);
	if (err) {
		/* Nothing can be read from it. */
		unlink(path);
		return err;
	}
	*out = take_ptr(w);
	return 0;
}

int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id)
{
	bool is_new;
	int err = w->error;

	if (!err)
		err = interner__id(&w->strings, text, id, &is_new);
	if (err || !is_new)
		return err;
	put_text(&w->new_strings.body, text);
	w->new_strings.n++;
	return w->new_strings.body.size >= BATCH_BYTES ? write_names(w) : 0;
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

static uint8_t *store_process(uint8_t *at, const struct trace_process *p, const uint32_t refs[5])
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
	for (int i = 0; i < 5; i++)
		at = bytes_store_varint(at, refs[i]);
	return at;
}

int trace_writer__process(struct trace_writer *w, const struct trace_process *p)
{
	const char *texts[5] = {p->command, p->crate, p->crate_type, p->rustc_version, p->build_id};
	uint8_t record[12 * BYTES_VARINT_MAX];
	uint32_t refs[5];
	size_t size;

	if (w->error)
		return w->error;
	if (p->index > w->n_processes || p->index >= QPT_PROCESSES_MAX)
		return -EINVAL;
	for (int i = 0; i < 5; i++) {
		int err = intern_ref(w, texts[i], &refs[i]);

		if (err)
			return err;
	}
	size = store_process(record, p, refs) - record;
	byte_buffer__varint(&w->new_processes.body, size);
	byte_buffer__bytes(&w->new_processes.body, record, size);
	w->new_processes.n++;
	w->n_processes += p->index == w->n_processes;
	return w->new_processes.body.size >= BATCH_BYTES ? write_names(w) : 0;
}

int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind)
{
	return w->error ? w->error : kinds__number(&w->kinds, text, kind);
}

/* What readers that do not know of kinds show: "type_of (QueryBlocked)". */
static int add_label_text(struct trace_writer *w, uint32_t name, unsigned int kind, uint32_t *id)
{
	_free_ char *text = NULL;
	int err;

	if (asprintf(&text, "%s (%s)", interner__text(&w->strings, name),
		     kinds__text(&w->kinds, kind)) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	err = interner__add(&w->strings, text, id);
	if (err)
		return err;
	put_text(&w->new_strings.body, text);
	w->new_strings.n++;
	return 0;
}

static int add_label(struct trace_writer *w, uint32_t name, uint8_t kind, uint32_t *id)
{
	struct byte_buffer *body = &w->new_labels.body;
	uint32_t kind_text;
	int err = trace_writer__intern(w, kinds__text(&w->kinds, kind), &kind_text);

	if (!err)
		err = add_label_text(w, name, kind, id);
	if (!err)
		err = u64_map__put(&w->label_of, (uint64_t)name << 8 | kind, *id);
	if (err)
		return fail(w, err);
	byte_buffer__varint(body, *id);
	byte_buffer__varint(body, kind_text);
	byte_buffer__varint(body, name);
	w->new_labels.n++;
	return body->size >= BATCH_BYTES ? write_names(w) : 0;
}

/* Replace a name by the label that stands for it and the kind on disk. */
static int label_for(struct trace_writer *w, uint32_t *label, uint8_t kind)
{
	uint32_t name = *label;

	if (kind == TRACE_KIND_QUERY)
		return 0;
	if (kind >= TRACE_KIND_OTHER + w->kinds.n_other)
		return -EINVAL;
	*label = u64_map__get(&w->label_of, (uint64_t)name << 8 | kind);
	return *label == U64_MAP_NONE ? add_label(w, name, kind, label) : 0;
}

int trace_writer__span(struct trace_writer *w, const struct trace_span *s)
{
	struct trace_span *copy = &w->batch[w->n_batch];
	int err;

	if (w->error)
		return w->error;
	if (s->process >= w->n_processes || s->label >= w->strings.n || s->end_ns < s->start_ns ||
	    s->flags & ~TRACE_SPAN_FLAGS_ALL)
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
	int err = w->error;

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
	if (w->error)
		return w->error;
	/* "None" is news too: a file without the chunk cannot tell. */
	if (!w->losses_given || memcmp(&w->losses, losses, sizeof(*losses))) {
		w->losses_given = true;
		w->losses = *losses;
		w->losses_changed = true;
	}
	return 0;
}

int trace_writer__flush(struct trace_writer *w)
{
	int err = w->error;

	if (!err)
		err = write_spans(w);
	if (!err)
		err = write_tallies(w);
	return err ? err : write_losses(w);
}

static int write_end(struct trace_writer *w)
{
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, w->strings.n);
	byte_buffer__varint(&w->raw, w->n_processes);
	byte_buffer__varint(&w->raw, w->n_spans);
	return write_chunk(w, QPT_END);
}

static int sync_file(struct trace_writer *w)
{
	return fsync(w->fd) ? fail(w, -errno) : 0;
}

static int set_state(struct trace_writer *w, uint32_t state)
{
	uint8_t bytes[4];
	ssize_t n;

	bytes_store_u32(bytes, state);
	n = pwrite(w->fd, bytes, sizeof(bytes), QPT_HEADER_STATE);
	return n == sizeof(bytes) ? 0 : fail(w, n < 0 ? -errno : -EIO);
}

/* The data is on disk before the mark that vouches for it. */
static int seal(struct trace_writer *w)
{
	int err = sync_file(w);

	if (err)
		return err;
	err = set_state(w, QPT_STATE_FINISHED);
	if (err)
		return err;
	err = sync_file(w);
	if (err)
		set_state(w, QPT_STATE_UNFINISHED);
	return err;
}

int trace_writer__finish(struct trace_writer *w)
{
	int err = trace_writer__flush(w);

	if (!err)
		err = write_end(w);
	if (!err)
		err = seal(w);
	if (err)
		return err;
	w->error = -EBADF;
	return close(take_fd(w->fd)) ? -errno : 0;
}

uint64_t trace_writer__bytes(const struct trace_writer *w)
{
	return w->bytes;
}

void trace_writer__free(struct trace_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	interner__destroy(&w->strings);
	byte_buffer__destroy(&w->new_strings.body);
	byte_buffer__destroy(&w->new_labels.body);
	byte_buffer__destroy(&w->new_processes.body);
	byte_buffer__destroy(&w->tallies.body);
	kinds__destroy(&w->kinds);
	u64_map__destroy(&w->label_of);
	byte_buffer__destroy(&w->raw);
	byte_buffer__destroy(&w->stored);
	span_codec__free(w->codec);
	ZSTD_freeCCtx(w->zstd);
	free(w->batch);
	free(w);
}
