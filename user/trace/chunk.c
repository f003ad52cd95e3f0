// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk.h"

#include <errno.h>
#include <string.h>

#include "trace/bytes.h"
#include "trace/crc32c.h"

void file_header__store(uint8_t out[QPT_HEADER_SIZE])
{
	memset(out, 0, QPT_HEADER_SIZE);
	memcpy(out, QPT_MAGIC, QPT_MAGIC_SIZE);
	bytes_store_u16(out + QPT_HEADER_VERSION, QPT_VERSION);
	bytes_store_u16(out + QPT_HEADER_HEADER_SIZE, QPT_HEADER_SIZE);
	bytes_store_u32(out + QPT_HEADER_CRC, crc32c(0, out, QPT_HEADER_CRC));
	bytes_store_u32(out + QPT_HEADER_STATE, QPT_STATE_UNFINISHED);
}

int file_header__load(const uint8_t in[QPT_HEADER_SIZE], struct file_header *h, const char **why)
{
	uint16_t version = bytes_load_u16(in + QPT_HEADER_VERSION);

	if (memcmp(in, QPT_MAGIC, QPT_MAGIC_SIZE)) {
		*why = "it does not begin as a trace does";
		return -EBADMSG;
	}
	if (crc32c(0, in, QPT_HEADER_CRC) != bytes_load_u32(in + QPT_HEADER_CRC)) {
		*why = "its header is damaged";
		return -EBADMSG;
	}
	if (version > QPT_VERSION || bytes_load_u32(in + QPT_HEADER_FEATURES)) {
		*why = "it was written by a newer version";
		return -EPROTONOSUPPORT;
	}
	h->size = bytes_load_u16(in + QPT_HEADER_HEADER_SIZE);
	if (!version || h->size < QPT_HEADER_SIZE || h->size > QPT_HEADER_SIZE_MAX ||
	    bytes_load_u64(in + QPT_HEADER_RESERVED)) {
		*why = "its header makes no sense";
		return -EBADMSG;
	}
	h->finished = bytes_load_u32(in + QPT_HEADER_STATE) == QPT_STATE_FINISHED;
	return 0;
}

static uint32_t checksum(const uint8_t header[QPT_CHUNK_HEADER_SIZE], const uint8_t *payload,
			 uint32_t size)
{
	return crc32c(crc32c(0, header, QPT_CHUNK_CRC), payload, size);
}

void chunk_header__store(uint8_t out[QPT_CHUNK_HEADER_SIZE], const struct chunk_header *h,
			 const uint8_t *payload)
{
	out[QPT_CHUNK_TYPE] = h->type;
	out[QPT_CHUNK_FLAGS] = h->flags;
	bytes_store_u16(out + QPT_CHUNK_RESERVED, 0);
	bytes_store_u32(out + QPT_CHUNK_STORED, h->stored);
	bytes_store_u32(out + QPT_CHUNK_RAW, h->raw);
	bytes_store_u32(out + QPT_CHUNK_CRC, checksum(out, payload, h->stored));
}

void chunk_header__load(const uint8_t in[QPT_CHUNK_HEADER_SIZE], struct chunk_header *h)
{
	h->type = in[QPT_CHUNK_TYPE];
	h->flags = in[QPT_CHUNK_FLAGS];
	h->reserved = bytes_load_u16(in + QPT_CHUNK_RESERVED);
	h->stored = bytes_load_u32(in + QPT_CHUNK_STORED);
	h->raw = bytes_load_u32(in + QPT_CHUNK_RAW);
	h->crc = bytes_load_u32(in + QPT_CHUNK_CRC);
}

bool chunk_header__check(const uint8_t in[QPT_CHUNK_HEADER_SIZE], const struct chunk_header *h,
			 const uint8_t *payload)
{
	return checksum(in, payload, h->stored) == h->crc;
}
