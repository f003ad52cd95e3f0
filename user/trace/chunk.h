/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two headers of a trace file, as bytes: the file's and a chunk's. The constants are in
 * qprof/trace_format.h.
 */
#ifndef QPROF_TRACE_CHUNK_H
#define QPROF_TRACE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qprof/trace_format.h"

struct file_header {
	uint16_t size; /* bytes before the first chunk */
	bool finished;
};

/* Write an unfinished header of QPT_HEADER_SIZE bytes. */
void file_header__store(uint8_t out[QPT_HEADER_SIZE]);

/*
 * Read a header from QPT_HEADER_SIZE bytes. -EBADMSG or -EPROTONOSUPPORT, with a text for a person
 * in `*why`.
 */
int file_header__load(const uint8_t in[QPT_HEADER_SIZE], struct file_header *h, const char **why);

struct chunk_header {
	uint8_t type;
	uint8_t flags;
	uint16_t reserved;
	uint32_t stored;
	uint32_t raw;
	uint32_t crc;
};

/* Write the header of `payload`, h->stored bytes; the reserved and crc fields are made here. */
void chunk_header__store(uint8_t out[QPT_CHUNK_HEADER_SIZE], const struct chunk_header *h,
			 const uint8_t *payload);
void chunk_header__load(const uint8_t in[QPT_CHUNK_HEADER_SIZE], struct chunk_header *h);

/* True if `in` and its payload are as they were written. */
bool chunk_header__check(const uint8_t in[QPT_CHUNK_HEADER_SIZE], const struct chunk_header *h,
			 const uint8_t *payload);

/*
 * CRC-32C (Castagnoli), as iSCSI and ext4 use it. Start with crc = 0; pass the result to go on
 * with further bytes.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/* The same on processors without an instruction for it. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size);

#endif /* QPROF_TRACE_CHUNK_H */
