// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/running_names.h"

#include <errno.h>
#include <time.h>

#include "test.h"
#include "../fixtures/rows.h"

/*
 * In place of the kernel half and of the child that looks: compilers from PID on, with one
 * definition, whose context is at CONTEXT, and is noted as `serial` until `reads_left` reads were
 * made.
 */
#define PID	11
#define CONTEXT 0x1000
#define GLOBALS 0x2000
#define TABLE	0x3000

static int n_compilers;
static bool is_dying;
static uint64_t serial;
static int reads_left;
static uint64_t definitions; /* how many */
static uint64_t delay_ns;    /* of each read */
static uint64_t now_ns;
static unsigned int n_reads;

/* Nothing but a read takes time, however busy the machine is. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
	return 0;
}

int kernel__context(const struct kernel *k, pid_t pid, struct wire_context *out)
{
	(void)k;
	if (pid < PID || pid >= PID + n_compilers || !serial)
		return -ENOENT;
	*out = (struct wire_context){
		.context = CONTEXT,
		.globals = GLOBALS,
		.serial = serial,
		.lib = 2,
		.claimed = is_dying ? WIRE_CONTEXT_COPIED : 0,
	};
	return 0;
}

int kernel__followed(const struct kernel *k, pid_t **pids, size_t *n)
{
	(void)k;
	*n = (size_t)n_compilers + 1;
	*pids = calloc(*n, sizeof(**pids));
	for (size_t i = 0; i < *n; i++)
		(*pids)[i] = PID - 1 + (pid_t)i;
	return 0;
}

/* All words are 0 but the address of the table, the number of definitions, and that of each one's
 * parent, which is the one before it. */
int broker__memory(struct broker *l, pid_t pid, const struct broker_memory *ranges, uint32_t n,
		   uint8_t *bytes)
{
	(void)l;
	assert_in_range(pid, PID, PID + n_compilers - 1);
	if (!reads_left--)
		serial++;
	n_reads++;
	now_ns += delay_ns;
	for (uint32_t i = 0; i < n; bytes += ranges[i++].size) {
		uint64_t at = ranges[i].addr;
		uint64_t word = at == CONTEXT + 8 ? TABLE : at == CONTEXT + 16 ? definitions : 0;
		uint32_t parent = (uint32_t)(at - TABLE) / 16 - 1, tag = 1;

		memset(bytes, 0, ranges[i].size);
		if (ranges[i].size == sizeof(word)) {
			memcpy(bytes, &word, sizeof(word));
		} else if (ranges[i].size == 16 && at > TABLE) {
			memcpy(bytes, &tag, sizeof(tag));
			memcpy(bytes + 12, &parent, sizeof(parent));
		}
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
	serial = n_compilers = 1;
	is_dying = false;
	reads_left = -1;
	definitions = 1;
	delay_ns = n_reads = 0;
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

static int count(void *ctx, const struct record *r)
{
	int *n = ctx;

	assert_int_equal(r->kind, WIRE_PIECE);
	assert_int_equal(r->pid, PID);
	assert_int_equal(r->size, offsetof(struct wire_piece, bytes) + 16);
	++*n;
	return 0;
}

TEST_CASE_WITH(a_running_compiler_is_named, setup, teardown)
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

TEST_CASE_WITH(what_was_dropped_meanwhile_is_discarded, setup, teardown)
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

/* The definition lies 150 deep: as many reads. */
TEST_CASE_WITH(a_process_that_delays_each_read, setup, teardown)
{
	char *path = NULL;
	int n = 0;

	(void)state;
	definitions = 1000;
	delay_ns = 4000000;
	assert_int_equal(running_names__path(names, PID, "a", 150, &path), -ETIME);
	assert_null(path);
	assert_in_range(n_reads, 1, 10);
	delay_ns = 150000000;
	n_reads = 0;
	definitions = 1u << 20;
	assert_int_equal(running_names__copy(names, count, &n), 0);
	assert_int_equal(n, 0);
	assert_in_range(n_reads, 1, 10);
}

/* A library with one query, which has one result; its name, too, is all zeroes. */
static void set_counted(void)
{
	struct plan_query query = {.table = {.kind = WIRE_CACHE_ONCE}};
	struct plan plan = {
		.tables = {.n = 1, .items = 8, .sharded = 1}, .queries = &query, .n_queries = 1};

	running_names__set_library(names, 2, &plan);
}

static int add_results(void *ctx, const struct record *r)
{
	int *n = ctx;

	assert_pairs(r->kind, WIRE_COUNTS, r->counts->moment, WIRE_COUNTS_RUNNING, r->pid, PID + *n,
		     r->counts->items[0].results, 1);
	++*n;
	return 0;
}

TEST_CASE_WITH(each_compiler_is_read_once_in_a_round, setup, teardown)
{
	int n = 0;

	set_counted();
	n_compilers = 0;
	assert_false(running_names__begin_round(names));
	n_compilers = 3;
	assert_int_equal(running_names__count(names, add_results, &n), 0);
	assert_int_equal(n, 0);
	assert_true(running_names__begin_round(names));
	assert_int_equal(running_names__count(names, add_results, &n), 1);
	assert_int_equal(n, 3);
	assert_false(running_names__begin_round(names));
	assert_int_equal(running_names__count(names, add_results, &n), 0);
	assert_int_equal(n, 3);
	now_ns += RUNNING_NAMES_ROUND_NS;
	n = 0;
	assert_true(running_names__begin_round(names));
	assert_int_equal(running_names__count(names, add_results, &n), 1);
	assert_int_equal(n, 3);
}

/* The ring is drained between them. */
TEST_CASE_WITH(many_compilers_take_several_calls, setup, teardown)
{
	int n = 0, calls = 0;

	set_counted();
	n_compilers = 16;
	delay_ns = RUNNING_NAMES_COUNT_NS / 4;
	assert_true(running_names__begin_round(names));
	while (!running_names__count(names, add_results, &n)) {
		assert_int_equal(n, 4 * ++calls);
		/* The round goes on, however long it takes. */
		now_ns += RUNNING_NAMES_ROUND_NS;
		assert_false(running_names__begin_round(names));
	}
	assert_int_equal(n, 16);
	assert_int_equal(calls, 3);
}

/* One that drops its context, before it is read or meanwhile, or dies; and one that delays. */
TEST_CASE_WITH(a_compiler_that_is_not_read, setup, teardown)
{
	int n = 0;

	set_counted();
	running_names__begin_round(names);
	assert_int_equal(running_names__count(names, add_results, &n), 1);
	n = 0;
	for (int i = 0; i < 5; i++) {
		now_ns += RUNNING_NAMES_ROUND_NS;
		is_dying = i == 0;
		assert_true(running_names__begin_round(names));
		serial += i == 1;
		reads_left = i == 2 ? 0 : -1;
		is_dying = i == 3;
		delay_ns = i == 4 ? RUNNING_NAMES_ROUND_NS : 0;
		assert_int_equal(running_names__count(names, add_results, &n), 1);
		assert_int_equal(n, i == 4);
	}
}

TEST_MAIN(NULL, NULL)
