/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The constants of the trace format, version 1. What they mean, and what a reader must do about
 * them, is in docs/trace-format.md. Values are stable: to retire one, leave a hole.
 */
#ifndef QPROF_TRACE_FORMAT_H
#define QPROF_TRACE_FORMAT_H

/* As PNG's: catches 7-bit transfers, line-end conversion, and text tools. */
#define QPT_MAGIC      "\x89QPT\r\n\x1a\n"
#define QPT_MAGIC_SIZE 8
#define QPT_VERSION    1

/* File header: byte offsets. The checksum leaves out the state, which changes last. */
enum {
	QPT_HEADER_VERSION = 8,	     /* u16 */
	QPT_HEADER_HEADER_SIZE = 10, /* u16 */
	QPT_HEADER_FEATURES = 12,    /* u32 */
	QPT_HEADER_RESERVED = 16,    /* u64 */
	QPT_HEADER_CRC = 24,	     /* u32 */
	QPT_HEADER_STATE = 28,	     /* u32 */
	QPT_HEADER_SIZE = 32,
	QPT_HEADER_SIZE_MAX = 4096,
};

#define QPT_STATE_UNFINISHED 0xffffffffu
#define QPT_STATE_FINISHED   0u

/* Chunk header: byte offsets. */
enum {
	QPT_CHUNK_TYPE = 0,	/* u8 */
	QPT_CHUNK_FLAGS = 1,	/* u8 */
	QPT_CHUNK_RESERVED = 2, /* u16 */
	QPT_CHUNK_STORED = 4,	/* u32: bytes of payload that follow */
	QPT_CHUNK_RAW = 8,	/* u32: bytes of payload after decompression */
	QPT_CHUNK_CRC = 12,	/* u32: of the header before it and the stored payload */
	QPT_CHUNK_HEADER_SIZE = 16,
};

enum qpt_chunk_type {
	QPT_INFO = 1,
	QPT_STRINGS = 2,
	QPT_PROCESSES = 3,
	QPT_SPANS = 4,
	QPT_LOSSES = 5,
	QPT_END = 6,
	QPT_LABELS = 16,
	QPT_TALLIES = 17,
};

#define QPT_CHUNK_ZSTD 1u /* chunk flag: the payload is one zstd frame */

/* Flags of a process record. */
#define QPT_PROCESS_LATE   1u /* it ran before the probes were there */
#define QPT_PROCESS_EXITED 2u /* the exit status is known */

/* Limits: a file that goes beyond one is damaged. */
#define QPT_PAYLOAD_MAX	     (4u << 20)	  /* bytes of payload, stored or raw */
#define QPT_SPANS_MAX	     65536u	  /* spans in one chunk */
#define QPT_TEXT_MAX	     (1u << 20)	  /* bytes of one text */
#define QPT_STRINGS_MAX	     (1u << 22)	  /* texts in one file */
#define QPT_STRING_BYTES_MAX (256u << 20) /* bytes of all texts */
#define QPT_PROCESSES_MAX    (1u << 20)	  /* processes in one file */
#define QPT_KINDS_MAX	     120u	  /* kinds in one file that this version does not name */

#endif /* QPROF_TRACE_FORMAT_H */
