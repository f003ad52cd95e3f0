// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/running_names.h"

#include <errno.h>

#include "test.h"

/*
 * In place of the kernel half and of the child that looks: one compiler, with one definition, whose
 * context is at CONTEXT, and is noted as `serial` until `reads_left` reads were made.
 */
#define PID	11
#define CONTEXT 0x1000
#define GLOBALS 0x2000
#define TABLE	0x3000

static uint64_t serial;
static int reads_left;

int kernel__context(const struct kernel *k, pid_t pid, struct wire_context *out)
{
	(void)k;
	if (pid != PID || !serial)
		return -ENOENT;
	*out = (struct wire_context){
		.context = CONTEXT, .globals = GLOBALS, .serial = serial, .lib = 2};
	return 0;
}

int kernel__followed(const struct kernel *k, pid_t **pids, size_t *n)
{
	(void)k;
	*pids = calloc(2, sizeof(**pids));
	(*pids)[0] = PID - 1;
	(*pids)[1] = PID;
	*n = 2;
	return 0;
}

/* All words are 0 but the address of the table, and 1: the number of definitions. */
int look__memory(struct look *l, pid_t pid, const struct look_memory *ranges, uint32_t n,
		 uint8_t *bytes)
{
	(void)l;
	assert_int_equal(pid, PID);
	if (!reads_left--)
		serial++;
	for (uint32_t i = 0; i < n; bytes += ranges[i++].size) {
		uint64_t word =
			ranges[i].addr == CONTEXT + 8 ? TABLE : ranges[i].addr == CONTEXT + 16;

		memset(bytes, 0, ranges[i].size);
		if (ranges[i].size == sizeof(word))
			memcpy(bytes, &word, sizeof(word));
	}
	return 0;
}

static struct running_names *names;

static int setup(void **state)
{
	struct plan plan = {.layout = {.wire = {.size = 16,
						.symbol = 4,
						.table = 8,
						.count = 16,
						.symbol_size = 16,
						.length = 8},
				       .disambiguator = 8,
				       .parent = 12,
				       .problem = (char *)"the plan's"}};

	(void)state;
	serial = 1;
	reads_left = -1;
	if (running_names__new(NULL, NULL, &names))
		return -1;
	running_names__set_library(names, 2, &plan);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	running_names__free(names);
	return 0;
}

static int count(void *ctx, const void *record, size_t size)
{
	const struct wire_piece *r = record;
	int *n = ctx;

	assert_int_equal(r->type, WIRE_PIECE);
	assert_int_equal(r->pid, PID);
	assert_int_equal(size, offsetof(struct wire_piece, bytes) + 16);
	++*n;
	return 0;
}

static void a_running_compiler_is_named(void **state)
{
	char *path = NULL;
	int n = 0;

	assert_int_equal(running_names__path(names, PID, "a", 0, &path), 0);
	assert_string_equal(path, "a");
	free(path);
	path = NULL;
	assert_int_equal(running_names__path(names, PID + 1, "a", 0, &path), -ENOENT);
	assert_null(path);
	assert_int_equal(running_names__copy(names, count, &n), 0);
	assert_int_equal(n, 1);
}

static void what_was_dropped_meanwhile_is_discarded(void **state)
{
	char *path = NULL;
	int n = 0;

	reads_left = 1;
	assert_int_equal(running_names__path(names, PID, "a", 0, &path), -ENOENT);
	assert_null(path);
	reads_left = 1;
	assert_int_equal(running_names__copy(names, count, &n), 0);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_running_compiler_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_dropped_meanwhile_is_discarded, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
