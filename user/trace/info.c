// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"

static void store_text(struct byte_buffer *out, const char *text)
{
	size_t size = text ? strnlen(text, QPT_TEXT_MAX) : 0;

	byte_buffer__varint(out, size);
	byte_buffer__bytes(out, text, size);
}

void trace_info__store(const struct trace_info *info, struct byte_buffer *out)
{
	byte_buffer__varint(out, info->clock_start_ns);
	byte_buffer__varint(out, info->realtime_start_ns);
	store_text(out, info->tool);
	store_text(out, info->kernel);
	store_text(out, info->host);
	byte_buffer__varint(out, info->clock);
	byte_buffer__varint(out, 0); /* a budget of earlier versions */
	byte_buffer__bytes(out, info->id.bytes, sizeof(info->id.bytes));
	byte_buffer__varint(out, info->cpus);
	store_text(out, info->command);
	if (info->events || info->source)
		store_text(out, info->events);
	if (info->source)
		store_text(out, info->source);
}

/* Set *text to an allocated copy; a malformed text marks `in` bad. 0 or -ENOMEM. */
static int take_text(struct byte_reader *in, char **text)
{
	uint64_t size = byte_reader__varint_max(in, QPT_TEXT_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);

	if (in->bad)
		return 0;
	in->bad = memchr(bytes, 0, size);
	if (in->bad)
		return 0;
	*text = strndup((const char *)bytes, size);
	return *text ? 0 : -ENOMEM;
}

/* Members that the first writers did not store, but for the clock. */
static int take_later(struct trace_info *info, struct byte_reader *in)
{
	const uint8_t *id = byte_reader__bytes(in, sizeof(info->id.bytes));

	info->cpus = byte_reader__varint(in);
	if (in->bad)
		return 0;
	memcpy(info->id.bytes, id, sizeof(info->id.bytes));
	if (take_text(in, &info->command))
		return -ENOMEM;
	if (info->command && !*info->command)
		free(take_ptr(info->command));
	if (!in->bad && in->at != in->end && take_text(in, &info->events))
		return -ENOMEM;
	return in->bad || in->at == in->end ? 0 : take_text(in, &info->source);
}

int trace_info__take(struct trace_info *info, struct byte_reader *in)
{
	char **texts[] = {&info->tool, &info->kernel, &info->host};

	info->clock_start_ns = byte_reader__varint(in);
	info->realtime_start_ns = byte_reader__varint(in);
	for (size_t i = 0; i < N_OF(texts); i++)
		if (take_text(in, texts[i]))
			return -ENOMEM;
	/* The first writers stored neither a clock, as they had only one, nor what follows. */
	if (!in->bad && in->at != in->end)
		info->clock = byte_reader__varint_max(in, TRACE_CLOCK_MAX - 1);
	if (!in->bad && in->at != in->end)
		byte_reader__varint(in); /* a budget of earlier versions */
	if (!in->bad && in->at != in->end && take_later(info, in))
		return -ENOMEM;
	return in->bad ? -EBADMSG : 0;
}

void trace_info__clear(struct trace_info *info)
{
	free(info->tool);
	free(info->kernel);
	free(info->host);
	free(info->command);
	free(info->events);
	free(info->source);
}
