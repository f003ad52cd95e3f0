// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Any bytes as a trace, read to the end and summed up. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/summary.h"
#include "trace/bytes.h"
#include "trace/crc32c.h"
#include "trace/chunk.h"
#include "trace/reader.h"

static volatile size_t sink;

/* Make the checksums right, so that mutations reach what is behind them. */
static void sign(uint8_t *bytes, size_t size)
{
	size_t at = QPT_HEADER_SIZE;

	if (size < QPT_HEADER_SIZE)
		return;
	bytes_store_u32(bytes + QPT_HEADER_CRC, crc32c(0, bytes, QPT_HEADER_CRC));
	while (size - at >= QPT_CHUNK_HEADER_SIZE) {
		uint8_t *payload = bytes + at + QPT_CHUNK_HEADER_SIZE;
		uint32_t stored = bytes_load_u32(bytes + at + QPT_CHUNK_STORED);
		uint32_t crc = crc32c(0, bytes + at, QPT_CHUNK_CRC);

		if (stored > size - at - QPT_CHUNK_HEADER_SIZE)
			return;
		bytes_store_u32(bytes + at + QPT_CHUNK_CRC, crc32c(crc, payload, stored));
		at += QPT_CHUNK_HEADER_SIZE + stored;
	}
}

static void use_item(const struct trace_reader *r, const struct trace_item *item,
		     struct summary *summary)
{
	if (item->kind == TRACE_ITEM_SPAN) {
		sink += strlen(trace_reader__string(r, item->span.label));
		if (summary__span(summary, &item->span, true))
			abort();
	} else if (item->kind == TRACE_ITEM_PROCESS) {
		if (summary__process(summary, item->process))
			abort();
	} else if (item->kind == TRACE_ITEM_TALLY) {
		sink += strlen(trace_reader__kind(r, item->tally.kind));
		if (summary__tally(summary, &item->tally))
			abort();
	}
}

static void read_all(const char *path)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_summary_ struct summary *summary = NULL;
	const char *why = NULL;
	struct trace_item item;

	if (trace_reader__open(path, &r, &why)) {
		sink += strlen(why);
		return;
	}
	if (summary__new(&summary))
		abort();
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		use_item(r, &item, summary);
	if (trace_reader__problem(r))
		sink += strlen(trace_reader__problem(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last byte says whether to make the checksums right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = memfd_create("trace", MFD_CLOEXEC);
	_free_ uint8_t *bytes = malloc(size + 1);
	char path[32];

	if (size)
		memcpy(bytes, data, size);
	if (size && data[size - 1] & 1)
		sign(bytes, --size);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path);
	return 0;
}
