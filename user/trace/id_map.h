/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Virtual ids and the strings they were mapped to. Ids belong to a space: a process (invocation
 * ids) or the whole file (labels). They are stored in blocks of neighbouring ids, as compilers
 * number densely. A block that one range fills stores only that range.
 */
#ifndef QPROF_TRACE_ID_MAP_H
#define QPROF_TRACE_ID_MAP_H

#include "base/table.h"
#include "trace/bytes.h"
#include "trace/expansion.h"
#include "trace/trace.h"

/* The strings of QPT_MAP_BLOCK neighbouring ids. */
struct id_block {
	uint32_t *refs; /* of each id: string id + 1, or 0; or NULL, and: */
	uint32_t first; /* that of the first id, */
	bool series;	/* the next string for each next id, or the same for all */
};

/* All zeroes is an empty one. */
struct id_map {
	TABLE(struct id_block) blocks; /* by space << 32 | id / block size */
	struct u64_map spaces;	       /* those with any block -> payloads that were taken */
	uint64_t mapped;	       /* ids in all mappings */
	struct expansion *expansion;   /* the owner's; NULL has no limit */
};

#define ID_MAP_NONE TRACE_NO_STRING

/* The string that `id` of `space` was mapped to last, or ID_MAP_NONE. */
uint32_t id_map__get(struct id_map *m, uint32_t space, uint32_t id);

/* True if any id of `space` was mapped. */
bool id_map__has(const struct id_map *m, uint32_t space);

/* The number of MAPPINGS payloads of `space` that were taken. */
uint32_t id_map__takes(const struct id_map *m, uint32_t space);

/*
 * Take a MAPPINGS payload of a file with so many processes and strings up to here. 0; -ENOMEM;
 * -EBADMSG if it is malformed, or goes beyond a limit; -E2BIG if it expands to too much.
 */
int id_map__take(struct id_map *m, struct byte_reader *in, uint32_t n_processes,
		 uint32_t n_strings);

void id_map__destroy(struct id_map *m);

/* The next mapping of a payload is stored as the difference to this; all zeroes at first. */
struct id_map_next {
	uint32_t id;
	uint32_t string;
};

/* The writer's side: append a mapping to a payload. */
void id_map__store(struct byte_buffer *out, const struct trace_mapping *m,
		   struct id_map_next *next);

#endif /* QPROF_TRACE_ID_MAP_H */
