// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/record.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* Bytes of a record whose sanitizer reports a read past the end. */
static struct record of(const void *bytes, size_t size, void **copy)
{
	*copy = malloc(size ?: 1);
	assert_non_null(*copy);
	memcpy(*copy, bytes, size);
	return record_of(*copy, size);
}

static uint8_t kind_of(const void *bytes, size_t size)
{
	void *copy;
	uint8_t kind = of(bytes, size, &copy).kind;

	free(copy);
	return kind;
}

TEST_CASE(a_record_has_the_size_of_its_type)
{
	const struct wire_span span = {.type = WIRE_SPAN, .pid = 11};
	const struct wire_label label = {.type = WIRE_LABEL};
	const struct wire_fork fork = {.type = WIRE_FORK, .parent_pid = 1, .child_pid = 2};
	struct record r = record_of(&span, sizeof(span));

	assert_int_equal(r.kind, WIRE_SPAN);
	assert_int_equal(r.pid, 11);
	assert_int_equal(r.size, sizeof(span));
	assert_ptr_equal(r.span, &span);
	for (size_t size = 0; size < sizeof(span); size++)
		assert_int_equal(kind_of(&span, size), RECORD_BAD);
	assert_int_equal(record_of(&span, sizeof(span) + 1).kind, RECORD_BAD);
	assert_int_equal(record_of(&label, sizeof(label)).pid, RECORD_NO_PID);
	assert_int_equal(record_of(&fork, sizeof(fork)).pid, 2);
}

TEST_CASE(unknown_types_are_bad)
{
	struct wire_symbols bytes = {0};

	for (int type = 0; type < 256; type++) {
		bool known = type >= WIRE_SPAN && type <= WIRE_LLVM_NAME && type != 9;
		uint8_t kinds = RECORD_BAD;

		bytes.type = (wire_u8)type;
		for (size_t size = 1; size <= 8192; size++)
			kinds |= record_of(&bytes, size).kind;
		assert_int_equal(kinds, known ? type : RECORD_BAD);
	}
}

/* The trace of its process counts it. */
TEST_CASE(a_bad_record_has_its_process_if_that_is_there)
{
	const struct wire_hit hit = {.type = WIRE_HIT, .pid = 11};
	struct record r = record_of(&hit, sizeof(hit) - 1);

	assert_int_equal(r.kind, RECORD_BAD);
	assert_int_equal(r.pid, 11);
	assert_int_equal(record_of(&hit, offsetof(struct wire_hit, pid) + 3).pid, RECORD_NO_PID);
}

TEST_CASE(items_at_the_end_are_all_there)
{
	const size_t head = offsetof(struct wire_sample, frames);
	struct wire_sample sample = {.type = WIRE_SAMPLE, .n = 2};
	struct wire_piece piece = {.type = WIRE_PIECE, .size = WIRE_PIECE_MAX};

	assert_int_equal(kind_of(&sample, head + 16), WIRE_SAMPLE);
	for (size_t size = 0; size <= sizeof(sample); size++)
		if (size != head + 16)
			assert_int_equal(kind_of(&sample, size), RECORD_BAD);
	sample.n = WIRE_SAMPLE_FRAMES;
	assert_int_equal(kind_of(&sample, sizeof(sample)), WIRE_SAMPLE);
	sample.n++;
	assert_int_equal(record_of(&sample, sizeof(sample) + 8).kind, RECORD_BAD);
	assert_int_equal(kind_of(&piece, sizeof(piece)), WIRE_PIECE);
	piece.size = UINT32_MAX;
	assert_int_equal(record_of(&piece, offsetof(struct wire_piece, bytes) + UINT32_MAX).kind,
			 RECORD_BAD);
}

TEST_CASE(an_exec_may_have_more_room_than_arguments)
{
	const size_t head = offsetof(struct wire_exec, args);
	struct wire_exec exec = {.type = WIRE_EXEC, .args_len = 5};

	assert_int_equal(kind_of(&exec, head + 4), RECORD_BAD);
	assert_int_equal(kind_of(&exec, head + 5), WIRE_EXEC);
	assert_int_equal(kind_of(&exec, sizeof(exec)), WIRE_EXEC);
	exec.args_len = WIRE_COMMAND_MAX + 1;
	assert_int_equal(record_of(&exec, SIZE_MAX).kind, RECORD_BAD);
}

TEST_MAIN(NULL, NULL)
