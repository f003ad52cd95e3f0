/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The constants of the trace format, version 1. What they mean, and what a reader must do about
 * them, is in docs/trace-format.md. Values are stable: to retire one, leave a hole.
 */
#ifndef QPROF_TRACE_FORMAT_H
#define QPROF_TRACE_FORMAT_H

#include <stdint.h>

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
	QPT_THREADS = 7,
	QPT_MAPPINGS = 8,
	QPT_COSTS = 9,
	QPT_INDEX = 10,
	QPT_FUNCTIONS = 11,
	QPT_LINES = 12,
	QPT_DECISIONS = 13,
	QPT_LABELS = 16,
	QPT_TALLIES = 17,
	QPT_PLACES = 18,
	QPT_KEYS = 19,
	QPT_FOREIGN = 20,
	QPT_SAMPLING = 21,
	QPT_STACKS = 22,
	QPT_SAMPLES = 23,
	QPT_FILES = 24,
	QPT_OVERHEAD = 25,
	QPT_PART = 26,
	QPT_JOBS = 28,
	QPT_RESULTS = 29,
	QPT_LLVM = 30,
	QPT_SYMBOLS = 31,
	QPT_REBUILT = 32,
	QPT_CHUNKS, /* readers know the types below */
};

/*
 * The END chunk has one size, so that a reader finds it, and from there the indexes, from the end
 * of the file. Byte offsets in its payload.
 */
enum {
	QPT_END_STRINGS = 0,   /* u32 */
	QPT_END_PROCESSES = 4, /* u32 */
	QPT_END_SPANS = 8,     /* u64 */
	QPT_END_MAPPED = 16,   /* u64: virtual ids that were given a text */
	QPT_END_INDEX = 24,    /* u64: where the last INDEX chunk begins, or 0 */
	QPT_END_SIZE = 32,
};

#define QPT_CHUNK_ZSTD 1u /* chunk flag: the payload is one zstd frame */

/* Flags of a process record. */
#define QPT_PROCESS_LATE   1u /* it ran before the probes were there */
#define QPT_PROCESS_EXITED 2u /* the exit status is known */

/* The reason of a SIGKILL that ended a process, as far as it is known. */
#define QPT_KILL_MEMORY 1u /* the kernel chose it, as memory had run out */
#define QPT_KILL_OTHER	2u /* it did not */

/* The low bits of a string's head. */
#define QPT_STRING_TEXT	  0u /* the rest is the length of its text */
#define QPT_STRING_PIECES 1u /* the rest is the number of its pieces */
#define QPT_PIECE_TEXT	  0u /* the rest is the length of a text */
#define QPT_PIECE_STRING  1u /* the rest is the distance to the id of an earlier string */

/* How the ids of a mapping get their strings; the low bits of its head. */
enum {
	QPT_MAP_SAME = 0,   /* all the same */
	QPT_MAP_SERIES = 1, /* one after the other */
	QPT_MAP_LIST = 2,   /* each its own */
	QPT_MAP_BITS = 2,
	QPT_MAP_MASK = 3,
};

/* In the labels of spans: this bit and a virtual id. */
#define QPT_VIRTUAL 0x80000000u

/* Columns of a batch of spans that may be left out. */
#define QPT_COLUMN_CALLERS 1u
#define QPT_COLUMNS_ALL	   QPT_COLUMN_CALLERS

/* Of each of so many groups of labels, so many callers are remembered in a batch. */
#define QPT_RECENT_LABELS  1024u
#define QPT_RECENT_CALLERS 8u

/* Flags of SAMPLING. */
#define QPT_SAMPLING_OFF_CPU 1u
#define QPT_SAMPLING_LIGHT   2u
#define QPT_SAMPLING_QUERIES 4u

/*
 * The codes of places in a column: of a new location, of another new place, of the places in a
 * list, and of any other.
 */
#define QPT_STACK_NEW_LOCATION 0u
#define QPT_STACK_NEW_OTHER    1u
#define QPT_STACK_LISTED       2u
#define QPT_STACK_RECENT       8u /* places that a list holds */
#define QPT_STACK_PLACE	       (QPT_STACK_LISTED + QPT_STACK_RECENT)
#define QPT_STACK_LISTS	       4096u

/* The low bits of a new place that is no location are its kind, the rest is its number. */
#define QPT_STACK_KIND_BITS 3u
#define QPT_STACK_KIND_MASK 7u

/* The low bits of a byte of a sample are its cause, the rest is why its stack is cut. */
#define QPT_SAMPLE_CAUSE_BITS 2u
#define QPT_SAMPLE_CAUSE_MASK 3u

/* The codes of labels in a column: of none, of the one before, and the first label's. */
#define QPT_SAMPLE_NO_LABEL   0u
#define QPT_SAMPLE_SAME_LABEL 1u
#define QPT_SAMPLE_LABEL      2u

/* Columns of a batch of samples that may be left out. */
#define QPT_SAMPLE_COLUMN_PROBES 1u
#define QPT_SAMPLE_COLUMN_JOBS	 2u
#define QPT_SAMPLE_COLUMN_LLVM	 4u
#define QPT_SAMPLE_COLUMNS_ALL \
	(QPT_SAMPLE_COLUMN_PROBES | QPT_SAMPLE_COLUMN_JOBS | QPT_SAMPLE_COLUMN_LLVM)

/* The low bits of an entry of LLVM say what it is, the next one is set in the code generator. */
#define QPT_LLVM_SCOPE_MASK 3u
#define QPT_LLVM_CODEGEN    4u

/* In a table of ranges: these locindexes lie in no function. */
#define QPT_NO_FUNCTION (-1)

/* Limits: a file that goes beyond one is damaged. */
#define QPT_PAYLOAD_MAX	     (4u << 20)	  /* bytes of payload, stored or raw */
#define QPT_SPANS_MAX	     65536u	  /* spans in one chunk */
#define QPT_TEXT_MAX	     (1u << 20)	  /* bytes of one text */
#define QPT_STRINGS_MAX	     (1u << 24)	  /* strings in one file */
#define QPT_STRING_BYTES_MAX (256u << 20) /* bytes of all strings, as they are stored */
#define QPT_STRING_DEPTH_MAX 255u	  /* of strings within strings */
#define QPT_NAME_BYTES_MAX   (256u << 20) /* bytes of the texts of labels, processes, threads */
#define QPT_PROCESSES_MAX    (1u << 20)	  /* processes in one file */
#define QPT_THREADS_MAX	     (1u << 20)	  /* threads in one file, each with its process */
#define QPT_MAPPED_MAX	     (1u << 27)	  /* ids given by all mappings */
#define QPT_MAP_BLOCK	     1024u	  /* aligned ids; see QPT_MAP_BLOCKS_MAX */
#define QPT_MAP_BLOCKS_MAX   (1u << 17)	  /* blocks of ids of which some are mapped */
#define QPT_PLACES_MAX	     (1u << 23)	  /* places in one file, twice: see PLACES */
#define QPT_FUNCTIONS_MAX    (1u << 20)	  /* functions in one file */
#define QPT_LINE_BYTES_MAX   (64u << 20)  /* bytes of all tables of lines, as they are stored */
#define QPT_INDEX_PROCESSES  32u	  /* processes that an index lists of a chunk */
#define QPT_INDEX_LABELS     1024u	  /* labels that an index lists of a chunk */
#define QPT_SAMPLES_MAX	     65536u	  /* samples in one chunk */
#define QPT_JOBS_MAX	     (1u << 22)	  /* jobs in one file */
#define QPT_LLVM_MAX	     (1u << 20)	  /* entries of LLVM in one file */
#define QPT_SYMBOLS_MAX	     (1u << 22)	  /* symbols in one file */
#define QPT_STACKS_MAX	     (1u << 24)	  /* entries of stacks in one file */
#define QPT_STACK_CHUNK_MAX  65536u	  /* entries of stacks in one chunk */
#define QPT_STACK_PLACES_MAX (1u << 22)	  /* different places of them in one file */
#define QPT_STACK_DEPTH_MAX  2048u	  /* entries of one stack */
#define QPT_JOB_DEPTH_MAX    2048u	  /* jobs around each other */
#define QPT_KINDS_MAX	     120u	  /* kinds in one file that this version does not name */

/*
 * Expansion: what a reader makes of a file may be so many bytes, and so many more for each byte of
 * the file. Beyond it a reader may refuse to go on. It bounds the time that a hostile file takes. A
 * recording stays below it whatever it holds: the tables have limits of their own, 1.5 GiB in all,
 * and a writer stores payloads as they are once those that it compressed come to the writer's part.
 */
#define QPT_EXPANSION_FREE   (UINT64_C(4) << 30)
#define QPT_EXPANSION_WRITER (QPT_EXPANSION_FREE / 4) /* names of a file are read twice */
#define QPT_EXPANSION_FACTOR 64u
#define QPT_EXPANSION_TEXT   16u /* bytes of a repeated text that count as one */
#define QPT_EXPANSION_BLOCK  64u /* what a block of virtual ids counts; see QPT_MAP_BLOCK */
#define QPT_EXPANSION_STACK  16u /* what an entry of a stack counts */
#define QPT_EXPANSION_JOB    20u /* what a job counts */
#define QPT_EXPANSION_LLVM   12u /* what an entry of LLVM counts */
#define QPT_EXPANSION_SYMBOL 32u /* what a symbol counts */
/*
 * Items of all RESULTS: so many, and one more for each byte of the file. Each may be a sum of its
 * own. A writer stores them as they are, a byte at least for each, once the others are used up.
 */
#define QPT_RESULTS_FREE (1u << 24)

#endif /* QPROF_TRACE_FORMAT_H */
