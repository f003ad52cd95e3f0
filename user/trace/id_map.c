// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/id_map.h"

#include <errno.h>
#include <stdlib.h>

#include "qprof/trace_format.h"

/* One mapping as it is stored. */
struct run {
	uint32_t first;
	uint32_t n;
	unsigned int how;
};

static uint64_t block_key(uint32_t space, uint32_t id)
{
	return (uint64_t)space << 32 | id / QPT_MAP_BLOCK;
}

/* String id + 1 of the id at place `i` of the block, or 0. */
static uint32_t ref_at(const struct id_block *block, uint32_t i)
{
	if (block->refs)
		return block->refs[i];
	return block->first + (block->series ? i : 0);
}

uint32_t id_map__get(struct id_map *m, uint32_t space, uint32_t id)
{
	const struct id_block *block = table__find(&m->blocks, block_key(space, id));
	uint32_t ref = block ? ref_at(block, id % QPT_MAP_BLOCK) : 0;

	return ref ? ref - 1 : ID_MAP_NONE;
}

bool id_map__has(const struct id_map *m, uint32_t space)
{
	return m->mapped && u64_map__get(&m->spaces, space) != U64_MAP_NONE;
}

uint32_t id_map__takes(const struct id_map *m, uint32_t space)
{
	return id_map__has(m, space) ? u64_map__get(&m->spaces, space) : 0;
}

/* Set *block to the block of a key, an empty one if it is new. */
static int get_block(struct id_map *m, uint64_t key, struct id_block **block)
{
	*block = table__find(&m->blocks, key);
	if (*block)
		return 0;
	if (m->blocks.n == QPT_MAP_BLOCKS_MAX)
		return -EBADMSG;
	if (!id_map__has(m, key >> 32) && u64_map__put(&m->spaces, key >> 32, 0))
		return -ENOMEM;
	*block = table__get(&m->blocks, key);
	return *block ? 0 : -ENOMEM;
}

/* Store the strings of a block's ids one by one. */
static int unfold(struct id_map *m, struct id_block *block)
{
	uint32_t *refs;

	if (!expansion__make(m->expansion, QPT_MAP_BLOCK))
		return -E2BIG;
	refs = calloc(QPT_MAP_BLOCK, sizeof(*refs));
	if (!refs)
		return -ENOMEM;
	for (uint32_t i = 0; block->first && i < QPT_MAP_BLOCK; i++)
		refs[i] = ref_at(block, i);
	block->refs = refs;
	return 0;
}

static int put(struct id_map *m, uint32_t space, uint32_t id, uint32_t string)
{
	struct id_block *block;
	int err;

	if (!expansion__make(m->expansion, 1))
		return -E2BIG;
	err = get_block(m, block_key(space, id), &block);
	if (err)
		return err;
	err = block->refs ? 0 : unfold(m, block);
	if (err)
		return err;
	block->refs[id % QPT_MAP_BLOCK] = string + 1;
	return 0;
}

/* All ids of the block that begins with `id`. */
static int put_block(struct id_map *m, uint32_t space, uint32_t id, uint32_t string, bool series)
{
	struct id_block *block;
	int err;

	if (!expansion__make(m->expansion, QPT_EXPANSION_BLOCK))
		return -E2BIG;
	err = get_block(m, block_key(space, id), &block);
	if (err)
		return err;
	free(block->refs);
	*block = (struct id_block){.first = string + 1, .series = series};
	return 0;
}

/* `*string` is the string after the last one that was mapped to. */
static int take_list(struct id_map *m, struct byte_reader *in, uint32_t space,
		     const struct run *run, uint32_t n_strings, uint64_t *string)
{
	for (uint32_t i = 0; i < run->n; i++) {
		int err;

		*string += bytes_unzigzag(byte_reader__varint(in));
		if (in->bad || *string >= n_strings)
			return -EBADMSG;
		err = put(m, space, run->first + i, *string);
		if (err)
			return err;
		++*string;
	}
	return 0;
}

static int take_run(struct id_map *m, struct byte_reader *in, uint32_t space, const struct run *run,
		    uint32_t n_strings, uint64_t *string)
{
	bool series = run->how == QPT_MAP_SERIES;
	uint32_t n = series ? run->n : 1, done = 0;
	uint64_t first;

	if (run->how == QPT_MAP_LIST)
		return take_list(m, in, space, run, n_strings, string);
	first = *string + bytes_unzigzag(byte_reader__varint(in));
	if (in->bad || first >= n_strings || n > n_strings - first)
		return -EBADMSG;
	*string = first + n;
	while (done < run->n) {
		uint32_t id = run->first + done, of = (uint32_t)first + (series ? done : 0);
		bool whole = id % QPT_MAP_BLOCK == 0 && run->n - done >= QPT_MAP_BLOCK;
		int err = whole ? put_block(m, space, id, of, series) : put(m, space, id, of);

		if (err)
			return err;
		done += whole ? QPT_MAP_BLOCK : 1;
	}
	return 0;
}

/* Take the head of a mapping; `last` is the id after those of the mapping before. */
static int take_head(struct id_map *m, struct byte_reader *in, uint32_t limit, uint64_t last,
		     struct run *run)
{
	uint64_t first = last + bytes_unzigzag(byte_reader__varint(in));
	uint64_t head = byte_reader__varint(in);
	uint64_t n = head >> QPT_MAP_BITS;

	run->how = head & QPT_MAP_MASK;
	if (in->bad || run->how > QPT_MAP_LIST || !n || n > limit || first > limit - n ||
	    n > QPT_MAPPED_MAX - m->mapped)
		return -EBADMSG;
	run->first = first;
	run->n = n;
	m->mapped += n;
	return 0;
}

int id_map__take(struct id_map *m, struct byte_reader *in, uint32_t n_processes, uint32_t n_strings)
{
	uint64_t space = byte_reader__varint_max(in, n_processes);
	uint64_t n = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	/* 2^31 labels; all invocation ids but the one that means "none". */
	uint32_t limit = space ? TRACE_NO_INVOCATION : QPT_VIRTUAL;
	struct run run = {0};
	uint64_t string = 0;

	if (in->bad || !n)
		return -EBADMSG;
	for (; n; n--) {
		int err = take_head(m, in, limit, (uint64_t)run.first + run.n, &run)
				  ?: take_run(m, in, space, &run, n_strings, &string);

		if (err)
			return err;
	}
	if (in->at != in->end)
		return -EBADMSG;
	return u64_map__put(&m->spaces, space, id_map__takes(m, space) + 1);
}

void id_map__destroy(struct id_map *m)
{
	for (uint32_t i = 0; i < m->blocks.n; i++)
		free(m->blocks.at[i].refs);
	table__destroy(&m->blocks);
	u64_map__destroy(&m->spaces);
	*m = (struct id_map){0};
}

void id_map__store(struct byte_buffer *out, const struct trace_mapping *m, struct id_map_next *next)
{
	unsigned int how = m->strings ? QPT_MAP_LIST : m->series ? QPT_MAP_SERIES : QPT_MAP_SAME;
	uint64_t string = next->string;

	byte_buffer__varint(out, bytes_zigzag((uint64_t)m->first - next->id));
	byte_buffer__varint(out, (uint64_t)m->n << QPT_MAP_BITS | how);
	for (uint32_t i = 0; m->strings && i < m->n; i++) {
		byte_buffer__varint(out, bytes_zigzag(m->strings[i] - string));
		string = m->strings[i] + 1ULL;
	}
	if (!m->strings) {
		byte_buffer__varint(out, bytes_zigzag(m->string - string));
		string = m->string + (m->series ? m->n : 1ULL);
	}
	next->id = m->first + m->n;
	next->string = string;
}
