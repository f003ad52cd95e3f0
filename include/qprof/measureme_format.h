/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The constants of measureme's .mm_profdata files, which rustc -Zself-profile writes, version 9
 * (and 8, which has ids and addresses of 4 bytes instead of 8). All integers are little endian.
 *
 * A file is MMPD, u32 version, then pages: u8 stream, u32 size, content. The pages of one stream
 * concatenated are: its magic, u32 version, then events, or strings, or index entries, which may
 * straddle pages. A string is components up to MM_STRING_END: UTF-8, or MM_STRING_REF and an id.
 * Its id is its address in the stream plus MM_FIRST_REGULAR_ID; or any id up to MM_METADATA_ID that
 * an index entry (id, address) gives it.
 */
#ifndef QPROF_MEASUREME_FORMAT_H
#define QPROF_MEASUREME_FORMAT_H

#define MM_VERSION     9
#define MM_VERSION_OLD 8

#define MM_HEADER_SIZE	    8 /* of the file and of each stream */
#define MM_PAGE_HEADER_SIZE 5
#define MM_PAGE_MAX	    262144u /* what measureme writes; readers take more */

enum mm_stream_tag {
	MM_EVENTS,
	MM_STRING_DATA,
	MM_STRING_INDEX,
	MM_N_STREAMS,
};

#define MM_MAGIC	"MMPD"
#define MM_MAGIC_EVENTS "MMES"
#define MM_MAGIC_DATA	"MMSD"
#define MM_MAGIC_INDEX	"MMSI"

/* An event: byte offsets. */
enum {
	MM_EVENT_KIND = 0,	/* string id */
	MM_EVENT_ID = 8,	/* string id: label and arguments */
	MM_EVENT_THREAD = 16,	/* u32 */
	MM_EVENT_PAYLOAD1 = 20, /* u32, bits 0-31 */
	MM_EVENT_PAYLOAD2 = 24, /* u32, bits 0-31 */
	MM_EVENT_HIGH = 28,	/* u32: bits 32-47 of payload 1 above those of payload 2 */
	MM_EVENT_SIZE = 32,
};

/* Payload 2: no interval, payload 1 is a time, or a value. Else both are ns since the start. */
#define MM_INSTANT   0xffffffffffffull
#define MM_INTEGER   0xfffffffffffeull
#define MM_TIME_MAX  0xfffffffffffdull
#define MM_VALUE_MAX 0xffffffffffffull

#define MM_VIRTUAL_ID_MAX   100000000u
#define MM_METADATA_ID	    100000001u /* a JSON object */
#define MM_INVALID_ID	    100000002u
#define MM_FIRST_REGULAR_ID 100000003u

#define MM_STRING_REF 0xfe
#define MM_STRING_END 0xff
#define MM_SEPARATOR  '\x1e' /* between a label and each of its arguments */

#define MM_EXTENSION ".mm_profdata"

#endif /* QPROF_MEASUREME_FORMAT_H */
