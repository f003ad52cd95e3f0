// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/record.h"

#include <string.h>

#include "base/array.h"

/* The kernel half may leave out the unused items at the end of a record. */
struct row {
	uint32_t size; /* of the struct, without such items */
	uint8_t pid_at;
	uint8_t n_at, n_size; /* where the number of items is; 0: there are none */
	uint8_t item;	      /* bytes of one */
	bool spare;	      /* unused items may be there */
	uint32_t most;	      /* items */
};

#define PID_AT(type, pid) .pid_at = offsetof(struct type, pid)
#define WHOLE(type)	  .size = sizeof(struct type)
#define ITEMS(type, n, items)                                                                  \
	.size = offsetof(struct type, items), .n_at = offsetof(struct type, n),                \
	.n_size = sizeof(((struct type *)0)->n), .item = sizeof(((struct type *)0)->items[0]), \
	.most = N_OF(((struct type *)0)->items)

static const struct row rows[] = {
	[WIRE_SPAN] = {PID_AT(wire_span, pid), WHOLE(wire_span)},
	[WIRE_FORK] = {PID_AT(wire_fork, child_pid), WHOLE(wire_fork)},
	[WIRE_EXEC] = {PID_AT(wire_exec, pid), .size = offsetof(struct wire_exec, args),
		       .n_at = offsetof(struct wire_exec, args_len), .n_size = 4, .item = 1,
		       .spare = true, .most = WIRE_COMMAND_MAX},
	[WIRE_EXIT] = {PID_AT(wire_exit, pid), WHOLE(wire_exit)},
	[WIRE_LABEL] = {WHOLE(wire_label)},
	[WIRE_HIT] = {PID_AT(wire_hit, pid), WHOLE(wire_hit)},
	[WIRE_THREAD] = {PID_AT(wire_thread, pid), WHOLE(wire_thread)},
	[WIRE_OFF_CPU] = {PID_AT(wire_off_cpu, pid), WHOLE(wire_off_cpu)},
	[WIRE_OPEN_FRAME] = {WHOLE(wire_open_frame)},
	[WIRE_OPEN_STACK] = {WHOLE(wire_open_stack)},
	[WIRE_PIECE] = {PID_AT(wire_piece, pid), ITEMS(wire_piece, size, bytes)},
	[WIRE_SYMBOLS] = {PID_AT(wire_symbols, pid), ITEMS(wire_symbols, size, bytes)},
	[WIRE_NAMES_END] = {PID_AT(wire_names_end, pid), WHOLE(wire_names_end)},
	[WIRE_ARGUMENT] = {PID_AT(wire_argument, pid), ITEMS(wire_argument, size, bytes)},
	[WIRE_SAMPLE] = {PID_AT(wire_sample, pid), ITEMS(wire_sample, n, frames)},
	[WIRE_COUNTS] = {PID_AT(wire_counts, pid), ITEMS(wire_counts, n, items)},
	[WIRE_JOB] = {PID_AT(wire_job, pid), WHOLE(wire_job)},
	[WIRE_FED] = {PID_AT(wire_fed, pid), WHOLE(wire_fed)},
	[WIRE_LLVM_NAME] = {PID_AT(wire_llvm_name, pid), ITEMS(wire_llvm_name, size, bytes)},
};

static bool fits(const struct row *row, const char *bytes, size_t size)
{
	uint32_t n = 0;
	size_t used;

	if (!row->n_at)
		return size == row->size;
	if (size < row->size)
		return false;
	/* The machine is little-endian. */
	memcpy(&n, bytes + row->n_at, row->n_size);
	used = row->size + (size_t)n * row->item;
	return n <= row->most && (row->spare ? size >= used : size == used);
}

struct record record_of(const void *bytes, size_t size)
{
	uint8_t type = size ? *(const uint8_t *)bytes : 0;
	const struct row *row = type < N_OF(rows) && rows[type].size ? &rows[type] : NULL;
	struct record r = {.pid = RECORD_NO_PID, .size = size, .bytes = bytes};

	if (!row)
		return r;
	/* The trace of its process counts a bad record. */
	if (row->pid_at && size >= row->pid_at + sizeof(r.pid))
		memcpy(&r.pid, (const char *)bytes + row->pid_at, sizeof(r.pid));
	if (fits(row, bytes, size))
		r.kind = type;
	return r;
}
