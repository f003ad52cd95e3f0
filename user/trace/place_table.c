// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/place_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Bytes that a place takes: itself, and twice a slot of the map. */
#define PLACE_BYTES (sizeof(struct trace_place) + 4 * sizeof(struct u64_map_slot))

static uint64_t key_of(uint32_t process, uint32_t string)
{
	return (uint64_t)(uint32_t)(process + 1) << 32 | string;
}

/*
 * The first place of a string counts. If processes have it in different files, as all build scripts
 * have a build_script_build::main, it has none without a process: its line is 0.
 */
static int put(struct place_table *t, uint32_t process, const struct trace_place *place)
{
	uint64_t key = key_of(process, place->string);
	uint32_t known = u64_map__get(&t->place_of, key);

	if (known != U64_MAP_NONE) {
		struct trace_place *first = &t->places[known];

		if (process == TRACE_NO_PROCESS && first->process != place->process &&
		    first->file != place->file)
			first->line = 0;
		return 0;
	}
	if (array__add(&t->places, &t->n, &t->capacity, place))
		return -ENOMEM;
	return u64_map__put(&t->place_of, key, t->n - 1);
}

/* A number that is stored as the difference to another. */
static uint32_t take_difference(struct byte_reader *in, uint64_t difference, uint32_t from,
				uint64_t max)
{
	uint64_t value = from + bytes_unzigzag(difference);

	return value <= max ? (uint32_t)value : (uint32_t)byte_reader__malformed(in);
}

static void take_place(struct byte_reader *in, struct trace_place *place, uint32_t n_strings)
{
	uint64_t most = (uint64_t)n_strings - 1, file;

	place->string = take_difference(in, byte_reader__varint(in), place->string, most);
	file = byte_reader__varint(in);
	place->file = take_difference(in, file >> 1, place->file, most);
	place->line = take_difference(in, byte_reader__varint(in), place->line, UINT32_MAX);
	place->call_file = TRACE_NO_STRING;
	place->call_line = 0;
	if (file & 1) {
		place->call_file = take_difference(in, byte_reader__varint(in), place->file, most);
		place->call_line =
			take_difference(in, byte_reader__varint(in), place->line, UINT32_MAX);
	}
	if (!place->line || (file & 1 && !place->call_line))
		byte_reader__malformed(in);
}

int place_table__take(struct place_table *t, struct byte_reader *in, uint32_t n_processes,
		      uint32_t n_strings)
{
	struct trace_place place = {.process = (uint32_t)byte_reader__varint_max(in, UINT32_MAX)};
	uint64_t n = byte_reader__varint_max(in, QPT_PLACES_MAX);

	if (in->bad || !n || !n_strings || place.process >= n_processes)
		return -EBADMSG;
	for (uint64_t i = 0; i < n; i++) {
		int err;

		take_place(in, &place, n_strings);
		if (in->bad || t->n >= QPT_PLACES_MAX)
			return -EBADMSG;
		if (!expansion__make(t->expansion, 2 * PLACE_BYTES))
			return -E2BIG;
		err = put(t, place.process, &place) ?: put(t, TRACE_NO_PROCESS, &place);
		if (err)
			return err;
	}
	return in->at == in->end ? 0 : -EBADMSG;
}

const struct trace_place *place_table__find(const struct place_table *t, uint32_t process,
					    uint32_t string)
{
	uint32_t i = string == TRACE_NO_STRING
			     ? U64_MAP_NONE
			     : u64_map__get(&t->place_of, key_of(process, string));

	return i == U64_MAP_NONE || !t->places[i].line ? NULL : &t->places[i];
}

void place_table__destroy(struct place_table *t)
{
	u64_map__destroy(&t->place_of);
	free(t->places);
	*t = (struct place_table){0};
}

static void store_difference(struct byte_buffer *out, uint32_t to, uint32_t from)
{
	byte_buffer__varint(out, bytes_zigzag((uint64_t)to - from));
}

void place_table__store(struct byte_buffer *out, const struct trace_place *place,
			struct trace_place *last)
{
	bool has_call = place->call_file != TRACE_NO_STRING;

	store_difference(out, place->string, last->string);
	byte_buffer__varint(out, bytes_zigzag((uint64_t)place->file - last->file) << 1 | has_call);
	store_difference(out, place->line, last->line);
	if (has_call) {
		store_difference(out, place->call_file, place->file);
		store_difference(out, place->call_line, place->line);
	}
	*last = *place;
}
