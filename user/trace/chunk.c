// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "trace/bytes.h"

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

/* ---- CRC-32C --------------------------------------------------------------------------------- */

#define POLYNOMIAL_REFLECTED 0x82f63b78u

/* tables[k][b]: what byte b adds to the sum when k more bytes follow it ("slicing by 8"). */
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL_REFLECTED : 0);
		tables[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
}

#ifdef __x86_64__
/* The processor's own instruction, of all x86-64 since 2008. */
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
								 size_t size)
{
	uint64_t sum = ~crc;

	for (; size >= 8; size -= 8, p += 8)
		sum = __builtin_ia32_crc32di(sum, bytes_load_u64(p));
	crc = (uint32_t)sum;
	while (size--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return ~crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, size);
#endif
	return crc32c_by_table(crc, data, size);
}

uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&tables_once, make_tables);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t low = bytes_load_u32(p) ^ crc;
		uint32_t high = bytes_load_u32(p + 4);

		crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^
		      tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^ tables[3][high & 0xff] ^
		      tables[2][high >> 8 & 0xff] ^ tables[1][high >> 16 & 0xff] ^
		      tables[0][high >> 24];
	}
	while (size--)
		crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
	return ~crc;
}
