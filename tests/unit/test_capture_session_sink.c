// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This file defines a fake of the look. The linker prefers it to the real function. */
#include "capture/session_sink.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "../fixtures/rows.h"

static struct {
	const char *args; /* of the process; NULL: it cannot be read */
	size_t size;
	bool cut;
	unsigned int n_looks;
	struct wire_exec seen;
	char seen_args[512];
} world;

int broker__arguments(struct broker *l, pid_t pid, struct arguments *out)
{
	assert_int_equal(pid, 7);
	world.n_looks++;
	if (!world.args)
		return -ETIME;
	out->bytes = malloc(world.size);
	assert_non_null(out->bytes);
	memcpy(out->bytes, world.args, world.size);
	out->size = world.size;
	out->cut = world.cut;
	return 0;
}

static int on_record(void *ctx, const struct record *r)
{
	const size_t fixed = offsetof(struct wire_exec, args);

	assert_int_equal(r->kind, WIRE_EXEC);
	assert_int_equal(r->pid, 7);
	assert_true(r->size >= fixed);
	memcpy(&world.seen, r->bytes, fixed);
	assert_in_range(world.seen.args_len, 0, sizeof(world.seen_args));
	assert_true(r->size >= fixed + world.seen.args_len);
	memcpy(world.seen_args, (const char *)r->bytes + fixed, world.seen.args_len);
	return 0;
}

#define TEXT(text) (text), sizeof(text)

/* The kernel half has seen `args`; what is passed on must be `wanted`. */
static void assert_passed_on(const char *args, size_t size, bool truncated, const char *wanted,
			     size_t wanted_size, bool wanted_truncated)
{
	const struct session_sink sink = {.take = on_record};
	struct wire_exec e = {.type = WIRE_EXEC, .truncated = truncated, .pid = 7};

	e.time_ns = 123;
	e.args_len = (wire_u32)size;
	memcpy(e.args, args, size);
	world.n_looks = 0;
	assert_int_equal(session_sink__exec(&sink, NULL, &e), 0);
	assert_pairs(world.seen.pid, 7, world.seen.time_ns, 123, world.seen.truncated,
		     wanted_truncated, world.seen.args_len, wanted_size);
	assert_memory_equal(world.seen_args, wanted, wanted_size);
}

static void set_arguments(const char *args, size_t size, bool cut)
{
	world.args = args;
	world.size = size;
	world.cut = cut;
}

TEST_CASE(a_command_line_is_completed)
{
	/* A whole command line needs no look. */
	assert_passed_on(TEXT("rustc\0a@b.rs"), false, TEXT("rustc\0a@b.rs"), false);
	assert_int_equal(world.n_looks, 0);
	/* Nor does that of another program, which is not shown. */
	assert_passed_on(TEXT("cc\0@file"), false, TEXT("cc\0@file"), false);
	assert_passed_on(TEXT("cc\0-"), true, TEXT("cc\0-"), true);
	assert_int_equal(world.n_looks, 0);
	/* A long command line is completed. */
	set_arguments(TEXT("rustc\0--cfg\0x\0--crate-name\0a"), false);
	assert_passed_on(TEXT("rustc\0--cfg"), true, TEXT("rustc\0--cfg\0x\0--crate-name\0a"),
			 false);
	assert_int_equal(world.n_looks, 1);
	world.cut = true;
	assert_passed_on(TEXT("rustc\0--cfg"), true, TEXT("rustc\0--cfg\0x\0--crate-name\0a"),
			 true);
	/* The kernel half could read none, or the process was found in /proc. */
	world.cut = false;
	assert_passed_on("", 0, true, TEXT("rustc\0--cfg\0x\0--crate-name\0a"), false);
	/* An argument file is completed. */
	set_arguments(TEXT("rustc\0@file\0--crate-name\0a\0b.rs"), false);
	assert_passed_on(TEXT("rustc\0@file\0b.rs"), false,
			 TEXT("rustc\0@file\0--crate-name\0a\0b.rs"), false);
	set_arguments(TEXT("rustc\0@file\0b.rs"), true);
	assert_passed_on(TEXT("rustc\0@file\0b.rs"), false, TEXT("rustc\0@file\0b.rs"), true);
	/* What cannot be read is truncated. */
	set_arguments(NULL, 0, false);
	assert_passed_on(TEXT("rustc\0@file"), false, TEXT("rustc\0@file"), true);
	assert_passed_on("", 0, true, "", 0, true);
	/* It is gone. */
	set_arguments("", 0, false);
	assert_passed_on(TEXT("rustc\0--cfg"), true, TEXT("rustc\0--cfg"), true);
	/* It executes another program by now. */
	set_arguments(TEXT("/t/rustc\0--cfg\0x\0--crate-name\0a"), false);
	assert_passed_on(TEXT("rustc\0--cfg"), true, TEXT("rustc\0--cfg"), true);
}

TEST_MAIN(NULL, NULL)
