// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

/* Keep the first problem: later ones follow from it. */
__attribute__((format(printf, 2, 3))) static void stop(struct chunk_stream *s, const char *fmt, ...)
{
	va_list ap;

	s->stopped = true;
	if (*s->problem)
		return;
	va_start(ap, fmt);
	vsnprintf(s->problem, sizeof(s->problem), fmt, ap);
	va_end(ap);
}

void chunk_stream__damaged(struct chunk_stream *s, const char *how)
{
	s->damaged = true;
	stop(s, "damaged at byte %" PRIu64 ": %s", s->chunk_at, how);
}

static void cut_short(struct chunk_stream *s)
{
	stop(s, "cut short at byte %" PRIu64 ": whole up to byte %" PRIu64, s->offset,
	     s->whole_end);
}

/* Read up to `size` bytes: less at the end of the file, or on an error, which stops. */
static size_t read_bytes(struct chunk_stream *s, void *to, size_t size)
{
	size_t n = fread(to, 1, size, s->file);

	if (n < size && ferror(s->file))
		s->io_error = -errno;
	s->offset += n;
	expansion__read(s->expansion, n);
	if (s->io_error)
		stop(s, "cannot be read at byte %" PRIu64 ": %s", s->offset,
		     strerrordesc_np(-s->io_error));
	return n;
}

static int reserve(uint8_t **buffer, uint32_t *capacity, uint32_t size)
{
	uint8_t *p;

	if (*buffer && size <= *capacity)
		return 0;
	/* Not NULL for 0 bytes either: pointers into it are compared. */
	p = realloc(*buffer, size ? size : 1);
	if (!p)
		return -ENOMEM;
	*buffer = p;
	*capacity = size;
	return 0;
}

static bool is_known(uint8_t type)
{
	return (type >= QPT_INFO && type <= QPT_DECISIONS) ||
	       (type >= QPT_LABELS && type <= QPT_FILES) || (type >= QPT_JOBS && type < QPT_CHUNKS);
}

static int unpack(struct chunk_stream *s)
{
	const struct chunk_header *h = &s->header;
	size_t n;

	s->payload = (struct byte_reader){.at = s->stored, .end = s->stored + h->stored};
	/* The meaning of other fields, of a later version, is unknown. */
	if (!is_known(h->type))
		return 0;
	if (h->reserved || h->flags & ~QPT_CHUNK_ZSTD) {
		chunk_stream__damaged(s, "a chunk has unknown flags");
		return 0;
	}
	if (!(h->flags & QPT_CHUNK_ZSTD)) {
		if (h->raw != h->stored)
			chunk_stream__damaged(s, "a chunk has two sizes");
		return 0;
	}
	if (h->raw > QPT_PAYLOAD_MAX) {
		chunk_stream__damaged(s, "a chunk is too long");
		return 0;
	}
	if (!expansion__make(s->expansion, h->raw))
		return -E2BIG;
	if (reserve(&s->raw, &s->raw_capacity, h->raw))
		return -ENOMEM;
	n = ZSTD_decompressDCtx(s->zstd, s->raw, h->raw, s->stored, h->stored);
	if (ZSTD_isError(n) || n != h->raw)
		chunk_stream__damaged(s, "a chunk does not decompress");
	else
		s->payload = (struct byte_reader){.at = s->raw, .end = s->raw + n};
	return 0;
}

static bool read_header(struct chunk_stream *s, uint8_t header[QPT_CHUNK_HEADER_SIZE])
{
	size_t n;

	if (s->stopped)
		return false;
	s->chunk_at = s->offset;
	n = read_bytes(s, header, QPT_CHUNK_HEADER_SIZE);
	if (!n && !s->finished)
		stop(s, "unfinished: still recording, or interrupted; whole up to byte %" PRIu64,
		     s->whole_end);
	else if (n < QPT_CHUNK_HEADER_SIZE)
		cut_short(s);
	if (s->stopped)
		return false;
	chunk_header__load(header, &s->header);
	if (s->header.stored > QPT_PAYLOAD_MAX)
		chunk_stream__damaged(s, "a chunk is too long");
	return !s->stopped;
}

bool chunk_stream__next_header(struct chunk_stream *s)
{
	uint8_t header[QPT_CHUNK_HEADER_SIZE];

	return read_header(s, header);
}

int chunk_stream__next(struct chunk_stream *s)
{
	uint8_t header[QPT_CHUNK_HEADER_SIZE];
	struct chunk_header *h = &s->header;

	if (!read_header(s, header))
		return 0;
	if (reserve(&s->stored, &s->stored_capacity, h->stored))
		return -ENOMEM;
	if (read_bytes(s, s->stored, h->stored) < h->stored)
		cut_short(s);
	else if (!chunk_header__check(header, h, s->stored))
		chunk_stream__damaged(s, "a chunk does not match its checksum");
	return s->stopped ? 0 : unpack(s);
}

bool chunk_stream__can_seek(const struct chunk_stream *s)
{
	struct stat st;

	return !fstat(fileno(s->file), &st) && S_ISREG(st.st_mode);
}

uint64_t chunk_stream__file_size(const struct chunk_stream *s)
{
	struct stat st;

	return fstat(fileno(s->file), &st) ? 0 : st.st_size;
}

int chunk_stream__seek(struct chunk_stream *s, uint64_t offset)
{
	if (offset > INT64_MAX || fseeko(s->file, offset, SEEK_SET))
		return -EINVAL;
	s->offset = offset;
	s->stopped = s->damaged = false;
	s->io_error = 0;
	*s->problem = '\0';
	return 0;
}

int chunk_stream__skip(struct chunk_stream *s, uint8_t type, uint32_t stored, bool *skipped)
{
	uint64_t at = s->offset;

	*skipped = chunk_stream__next_header(s) && s->header.type == type &&
		   s->header.stored == stored;
	if (!*skipped)
		return chunk_stream__seek(s, at);
	/* The next read finds the end of the file. */
	if (fseeko(s->file, stored, SEEK_CUR))
		return -errno;
	s->offset += stored;
	s->whole_end = s->offset;
	return 0;
}

void chunk_stream__taken(struct chunk_stream *s)
{
	if (!s->stopped)
		s->whole_end = s->offset;
}

void chunk_stream__end(struct chunk_stream *s)
{
	char byte;

	chunk_stream__taken(s);
	if (s->stopped)
		return;
	s->ended = true;
	if (read_bytes(s, &byte, 1)) {
		s->damaged = true;
		stop(s, "damaged at byte %" PRIu64 ": bytes after its end", s->whole_end);
	} else if (!s->finished)
		stop(s, "unfinished: whole, but interrupted before it was synced");
	s->stopped = true;
}

static int read_file_header(struct chunk_stream *s, const char **why)
{
	uint8_t bytes[QPT_HEADER_SIZE_MAX];
	struct file_header h;
	int err;

	*why = "it is shorter than a trace's header";
	if (read_bytes(s, bytes, QPT_HEADER_SIZE) < QPT_HEADER_SIZE)
		return -EBADMSG;
	err = file_header__load(bytes, &h, why);
	if (err)
		return err;
	s->finished = h.finished;
	h.size -= QPT_HEADER_SIZE;
	*why = "it is cut short in its header";
	if (read_bytes(s, bytes, h.size) < h.size)
		return -EBADMSG;
	s->first_chunk = s->offset;
	return 0;
}

int chunk_stream__open(struct chunk_stream *s, const char *path, const char **why)
{
	int err;

	*s = (struct chunk_stream){.file = fopen(path, "rbe")};
	if (!s->file) {
		err = -errno;
		*why = strerrordesc_np(-err);
		return err;
	}
	*why = strerrordesc_np(ENOMEM);
	s->zstd = ZSTD_createDCtx();
	if (!s->zstd)
		return -ENOMEM;
	err = read_file_header(s, why);
	if (s->io_error) {
		*why = strerrordesc_np(-s->io_error);
		return s->io_error;
	}
	return err;
}

void chunk_stream__destroy(struct chunk_stream *s)
{
	if (s->file)
		fclose(s->file);
	free(s->stored);
	free(s->raw);
	ZSTD_freeDCtx(s->zstd);
	*s = (struct chunk_stream){0};
}

/* ---- Where chunks are ------------------------------------------------------------------------ */

struct offsets {
	uint64_t *at;
	uint32_t n;
	uint32_t capacity;
};

struct chunk_index {
	struct chunk_stream *stream;
	struct offsets indexes;	   /* INDEX chunks, ascending */
	struct offsets index_ends; /* where each of them ends */
	struct offsets names;
	bool has_late_names;
	bool is_wrong;
	uint64_t expanded; /* bytes of the payloads that are compressed */
	size_t next;	   /* in indexes: the next one to load */
	uint64_t end;	   /* where the entries of `cursor` end: its own INDEX chunk */
	bool is_begun;	   /* `cursor` is in an INDEX chunk, before its end */
	struct index_cursor cursor;
	struct index_entry entry;
	bool has_entry; /* `entry` is of a chunk that was not passed yet */
};

/* A file that is nothing but headers must not fill the memory; the rest is found on reading. */
#define FOUND_MAX (1u << 22)

static int add_offset(struct offsets *o, uint64_t offset)
{
	return array__add(&o->at, &o->n, &o->capacity, &offset);
}

static int add_chunk(struct chunk_index *ix, uint8_t type, uint64_t offset, uint64_t end)
{
	switch (type) {
	case QPT_MAPPINGS:
	case QPT_LINES:
	case QPT_PLACES:
		ix->has_late_names = true;
		return add_offset(&ix->names, offset);
	case QPT_STRINGS:
	case QPT_FOREIGN:
	case QPT_FUNCTIONS:
		return add_offset(&ix->names, offset);
	case QPT_INDEX:
		return add_offset(&ix->indexes, offset) ?: add_offset(&ix->index_ends, end);
	default:
		return 0;
	}
}

/*
 * By the headers of all chunks, which the reader will go by as well: what an index says of chunks
 * is believed of those that are passed over, but not of where names are, which must not be missed.
 */
int chunk_index__find(struct chunk_stream *s, struct chunk_index **out)
{
	_chunk_index_ struct chunk_index *ix = calloc(1, sizeof(*ix));
	uint64_t at = s->first_chunk;

	if (!ix)
		return -ENOMEM;
	ix->stream = s;
	while (!chunk_stream__seek(s, at) && chunk_stream__next_header(s)) {
		/* Space that was reserved and never written reads as zeroes, which are no chunks.
		 */
		if (!s->header.type || ix->names.n + ix->indexes.n >= FOUND_MAX)
			break;
		at = s->chunk_at + QPT_CHUNK_HEADER_SIZE + s->header.stored;
		if (s->header.flags & QPT_CHUNK_ZSTD && s->header.raw <= QPT_PAYLOAD_MAX)
			ix->expanded += s->header.raw;
		if (add_chunk(ix, s->header.type, s->chunk_at, at))
			return -ENOMEM;
	}
	*out = take_ptr(ix);
	return 0;
}

const uint64_t *chunk_index__names(const struct chunk_index *ix, size_t *n)
{
	*n = ix->names.n;
	return ix->names.at;
}

bool chunk_index__has_late_names(const struct chunk_index *ix)
{
	return ix->has_late_names;
}

uint64_t chunk_index__expanded(const struct chunk_index *ix)
{
	return ix->expanded;
}

bool chunk_index__is_wrong(const struct chunk_index *ix)
{
	return ix->is_wrong;
}

uint64_t chunk_index__last(const struct chunk_index *ix)
{
	return ix->indexes.n ? ix->indexes.at[ix->indexes.n - 1] : 0;
}

void chunk_index__disbelieve(struct chunk_index *ix)
{
	ix->is_wrong = true;
	ix->is_begun = ix->has_entry = false;
}

/* Read INDEX chunk `i`; disbelieve it if it does not begin where it must. 0 or -ENOMEM. */
static int load(struct chunk_index *ix, size_t i)
{
	struct chunk_stream *s = ix->stream;
	int err = chunk_stream__seek(s, ix->indexes.at[i]) ?: chunk_stream__next(s);

	if (err == -ENOMEM)
		return err;
	ix->end = ix->indexes.at[i];
	ix->is_begun = !err && !s->stopped;
	if (ix->is_begun)
		ix->cursor = index_cursor__begin(s->payload);
	if (!ix->is_begun || ix->cursor.previous != (i ? ix->indexes.at[i - 1] : 0) ||
	    ix->cursor.offset != (i ? ix->index_ends.at[i - 1] : s->first_chunk))
		chunk_index__disbelieve(ix);
	return 0;
}

/* Load the next INDEX chunk with entries at `offset` or later. False without one. */
static bool next_index(struct chunk_index *ix, uint64_t offset, int *err)
{
	/* An INDEX chunk has entries of earlier chunks only. */
	while (ix->next < ix->indexes.n && ix->indexes.at[ix->next] <= offset)
		ix->next++;
	if (ix->next == ix->indexes.n)
		return false;
	*err = load(ix, ix->next++);
	return !*err;
}

const struct index_entry *chunk_index__at(struct chunk_index *ix, uint64_t offset, int *err)
{
	*err = 0;
	do {
		while (ix->is_begun && (!ix->has_entry || ix->entry.offset < offset)) {
			ix->has_entry = index_cursor__next(&ix->cursor, &ix->entry);
			/* Entries lead from the first chunk of an INDEX chunk to itself. */
			if (ix->has_entry ? ix->entry.offset >= ix->end
					  : ix->cursor.in.bad || ix->cursor.offset != ix->end)
				chunk_index__disbelieve(ix);
			else
				ix->is_begun = ix->has_entry;
		}
		if (ix->has_entry)
			return ix->entry.offset == offset ? &ix->entry : NULL;
	} while (next_index(ix, offset, err));
	return NULL;
}

void chunk_index__free(struct chunk_index *ix)
{
	if (!ix)
		return;
	free(ix->indexes.at);
	free(ix->index_ends.at);
	free(ix->names.at);
	free(ix);
}
