// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/chunk.h"

#define COMPRESS_LEAST 64 /* bytes; zstd gains nothing on less */
#define COMPRESS_LEVEL 1
/*
 * Of names, and what they are mapped to: they are a tenth of a trace, and a twelfth smaller for
 * this. Batches of spans are too many for it.
 */
#define COMPRESS_LEVEL_NAMES 6
#define INDEX_BYTES	     (64u << 10) /* of entries, before they become a chunk */

/* Whether readers still accept the file if a payload of `raw` bytes is compressed to `stored`. */
static bool may_compress(const struct chunk_sink *s, uint8_t type, size_t raw, size_t stored)
{
	/* Each item takes a byte at least. */
	if (type == QPT_RESULTS && s->results + raw > QPT_RESULTS_FREE + s->file.bytes + stored)
		return false;
	return s->expanded + raw <=
	       QPT_EXPANSION_WRITER + QPT_EXPANSION_FACTOR * (s->file.bytes + stored);
}

/* Write a chunk, compressed if that makes it smaller; *stored: the bytes of its payload. */
static int write_chunk(struct chunk_sink *s, uint8_t type, const struct byte_buffer *raw,
		       uint32_t *stored)
{
	struct chunk_header h = {.type = type, .raw = raw->size, .stored = raw->size};
	bool has_names = type == QPT_STRINGS || type == QPT_MAPPINGS;
	size_t bound = ZSTD_compressBound(raw->size), n = 0;
	uint8_t *payload;

	if (s->file.error)
		return s->file.error;
	if (raw->failed)
		return file_writer__fail(&s->file, -ENOMEM);
	if (raw->size > QPT_PAYLOAD_MAX)
		return file_writer__fail(&s->file, -E2BIG);
	byte_buffer__clear(&s->stored);
	if (!byte_buffer__reserve(&s->stored, QPT_CHUNK_HEADER_SIZE + bound))
		return file_writer__fail(&s->file, -ENOMEM);
	payload = s->stored.data + QPT_CHUNK_HEADER_SIZE;
	/* Readers find END by its size. */
	if (raw->size >= COMPRESS_LEAST && type != QPT_END)
		n = ZSTD_compressCCtx(s->zstd, payload, bound, raw->data, raw->size,
				      has_names ? COMPRESS_LEVEL_NAMES : COMPRESS_LEVEL);
	if (n && !ZSTD_isError(n) && n < raw->size && may_compress(s, type, raw->size, n)) {
		s->expanded += raw->size;
		h.flags = QPT_CHUNK_ZSTD;
		h.stored = n;
	} else if (raw->size) {
		memcpy(payload, raw->data, raw->size);
	}
	s->results += type == QPT_RESULTS ? raw->size : 0;
	chunk_header__store(s->stored.data, &h, payload);
	*stored = h.stored;
	return file_writer__write(&s->file, s->stored.data, QPT_CHUNK_HEADER_SIZE + h.stored);
}

static int write_index(struct chunk_sink *s)
{
	uint64_t offset = s->file.bytes;
	uint32_t stored;
	int err;

	byte_buffer__clear(&s->index_payload);
	index_builder__payload(&s->index, &s->index_payload);
	err = write_chunk(s, QPT_INDEX, &s->index_payload, &stored);
	if (err)
		return err;
	index_builder__next(&s->index, offset, s->file.bytes);
	return 0;
}

struct byte_buffer *chunk_sink__payload(struct chunk_sink *s)
{
	byte_buffer__clear(&s->payload);
	return &s->payload;
}

int chunk_sink__write(struct chunk_sink *s, uint8_t type, const struct byte_buffer *payload,
		      const struct batch_summary *spans)
{
	uint32_t stored;
	int err = write_chunk(s, type, payload, &stored);

	if (err)
		return err;
	index_builder__add(&s->index, type, stored, spans);
	return s->index.entries.size >= INDEX_BYTES ? write_index(s) : 0;
}

int chunk_sink__open(struct chunk_sink *s, const char *path)
{
	uint8_t header[QPT_HEADER_SIZE];
	int err;

	*s = (struct chunk_sink){.file.fd = -1, .index.first = QPT_HEADER_SIZE};
	s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		return -ENOMEM;
	s->file.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (s->file.fd < 0)
		return -errno;
	file_header__store(header);
	err = file_writer__write(&s->file, header, sizeof(header));
	/* Nothing can be read from it. */
	if (err)
		unlink(path);
	return err;
}

int chunk_sink__end(struct chunk_sink *s, uint8_t end[QPT_END_SIZE], int *fd)
{
	const struct byte_buffer payload = {.data = end, .size = QPT_END_SIZE};
	uint32_t stored;
	int err = s->index.n ? write_index(s) : 0;

	if (err)
		return err;
	bytes_store_u64(end + QPT_END_INDEX, s->index.previous);
	err = write_chunk(s, QPT_END, &payload, &stored);
	if (err)
		return err;
	*fd = take_fd(s->file.fd);
	return 0;
}

/*
 * The data must be on disk before the mark says so. Without the mark, which a power failure may
 * still take away, a trace is unfinished, and is read all the same.
 */
int trace_seal(int fd)
{
	uint8_t finished[4];
	int err = fsync(fd) ? -errno : 0;
	ssize_t n;

	bytes_store_u32(finished, QPT_STATE_FINISHED);
	if (!err) {
		n = pwrite(fd, finished, sizeof(finished), QPT_HEADER_STATE);
		err = n == sizeof(finished) ? 0 : n < 0 ? -errno : -EIO;
	}
	/* Some file systems report errors only here. */
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int chunk_sink__finish(struct chunk_sink *s, uint8_t end[QPT_END_SIZE])
{
	int fd, err = chunk_sink__end(s, end, &fd) ?: trace_seal(fd);

	/* Nothing comes after the end. */
	file_writer__fail(&s->file, err ?: -EBADF);
	return err;
}

void chunk_sink__destroy(struct chunk_sink *s)
{
	cleanup_close_p(&s->file.fd);
	byte_buffer__destroy(&s->index.entries);
	byte_buffer__destroy(&s->stored);
	byte_buffer__destroy(&s->payload);
	byte_buffer__destroy(&s->index_payload);
	ZSTD_freeCCtx(s->zstd);
	*s = (struct chunk_sink){.file.fd = -1};
}

/* ---- Payloads that grow ---------------------------------------------------------------------- */

int pending__write(struct pending *p, struct chunk_sink *sink, enum qpt_chunk_type type,
		   const uint32_t *head)
{
	struct byte_buffer *payload = chunk_sink__payload(sink);
	int err;

	if (!p->n)
		return 0;
	if (head)
		byte_buffer__varint(payload, *head);
	byte_buffer__varint(payload, p->n);
	byte_buffer__bytes(payload, p->body.data, p->body.size);
	payload->failed |= p->body.failed;
	err = chunk_sink__write(sink, type, payload, NULL);
	if (err)
		return err;
	byte_buffer__clear(&p->body);
	p->n = 0;
	return 0;
}
