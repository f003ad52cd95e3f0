// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_jobs.h"

#include "stuck/copied.h"

#include "test.h"
#include "../fixtures/rows.h"

/*
 * A compiler's memory, and the stack of a thread. Query i has its name and its table at i * QUERY
 * in the context, and the table's entries below its control bytes.
 */
#define BASE	    0x10000ul /* also the bias, and the base of the thread's own memory */
#define IMPLICIT    (BASE + 0x200)
#define CONTEXT	    (BASE + 0x1000)
#define SHARDS	    (BASE + 0x2000)
#define CONTROLS(i) (BASE + 0x3000 + 0x1000ul * (i))
#define STACK	    (BASE + 0x8000)
#define ZEROES	    (BASE + 0x10000)
#define QUERY	    0x80
#define TABLE	    0x20 /* within that of a query */
#define BUCKETS	    8
#define SIZE	    0x30 /* of an entry */

enum { LOCAL, DEF, MEMORY, OTHERS, QUERIES };

static const char *const query_names[QUERIES] = {"local", "def", "memory", "others"};

static uint8_t memory[0x20000];
static uint32_t n_reads;
static uint64_t moves, unreadable, slow; /* addresses */
static struct plan_query queries[QUERIES] = {
	[MEMORY] = {.memory = {.offset = 4, .words = {[1] = 1}, .other = WIRE_NO_WORD}},
};
static const struct plan plan = {
	.queries = queries,
	.n_queries = QUERIES,
	.layout.wire = {.size = 16,
			.globals = 8,
			.current = {.offset = 0, .context = 0x10, .known = 1}},
};
static struct wire_job_tables tables = {
	.current = 0x18,
	.mode_at = 33,
	.sharded = 2,
	.ctrl = 0,
	.mask = 1,
	.n_entries = 3,
	.n_shards = 32,
	.shard = 64,
	.n = QUERIES,
};
static struct copied_part part = {.addr = STACK, .size = 0x200, .bytes = memory + (STACK - BASE)};
static struct copied stack = {.parts = &part, .n = 1};

static void put(uint64_t at, uint64_t word)
{
	memcpy(memory + (at - BASE), &word, sizeof(word));
}

static bool has(const struct broker_memory *range, uint64_t addr)
{
	return addr && addr - range->addr < range->size;
}

static int do_read(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *to)
{
	uint32_t size = 0;

	n_reads++;
	assert_in_range(n, 1, BROKER_RANGES_MAX);
	for (uint32_t i = 0; i < n; to += ranges[i++].size) {
		size += ranges[i].size;
		assert_in_range(size, 1, BROKER_MEMORY_MAX);
		if (has(&ranges[i], slow))
			return -ETIME;
		if (has(&ranges[i], unreadable) ||
		    ranges[i].addr - BASE > sizeof(memory) - ranges[i].size)
			return -EFAULT;
		memcpy(to, memory + (ranges[i].addr - BASE), ranges[i].size);
		if (has(&ranges[i], moves))
			memory[moves - BASE]++;
	}
	return 0;
}

static uint64_t table_of(uint32_t query)
{
	return CONTEXT + query * QUERY + TABLE;
}

/* A table of `n` entries; its control bytes show none yet. */
static void put_table(uint64_t at, uint64_t controls, uint64_t n)
{
	put(at, controls);
	put(at + 8, BUCKETS - 1);
	put(at + 24, n);
	memset(memory + (controls - BASE), 0xff, BUCKETS);
}

static void put_job(uint32_t query, uint32_t bucket, uint64_t number, uint64_t parent,
		    const uint32_t *key, uint32_t words)
{
	uint64_t entry = CONTROLS(query) - (bucket + 1ul) * SIZE;

	memory[CONTROLS(query) + bucket - BASE] = 0x11;
	memcpy(memory + (entry + 8 - BASE), key, 4ul * words);
	put(entry + 0x20, number);
	put(entry + 0x28, parent);
}

static int setup(void **state)
{
	static const uint8_t keys[] = {WIRE_KEY_LOCAL, WIRE_KEY_DEF, WIRE_KEY_MEMORY,
				       WIRE_KEY_LOCAL};

	memset(memory, 0, sizeof(memory));
	n_reads = 0;
	moves = unreadable = slow = 0;
	put(BASE, 0x100);
	put(BASE + 8, 0x108);
	put(BASE + 0x100, IMPLICIT);
	put(BASE + 0x108, 1);
	put(IMPLICIT + 0x10, CONTEXT);
	put(IMPLICIT + 0x18, 9);
	for (uint32_t i = 0; i < QUERIES; i++) {
		tables.items[i] = (struct wire_job_table){.text = 0x500 + i,
							  .length = 5,
							  .name = i * QUERY,
							  .at = i * QUERY + TABLE,
							  .size = SIZE,
							  .key_at = 8,
							  .job = 0x20,
							  .parent = 0x28,
							  .key = keys[i]};
		put(CONTEXT + i * QUERY, BASE + 0x500 + i);
		put(CONTEXT + i * QUERY + 8, 5);
		put_table(table_of(i), CONTROLS(i), i == OTHERS);
	}
	return 0;
}

static int read_jobs(struct compiler_jobs *out)
{
	const struct compiler_memory m = {.read = do_read};

	*out = (struct compiler_jobs){0};
	return compiler_jobs__read(&m, &plan, &tables, BASE, BASE, out);
}

/* Of what is in the memory, "number<parent query crate/index" each, the crate as in
 * keys, or the error; freed by the caller. */
static char *jobs_text(void)
{
	_compiler_jobs_ struct compiler_jobs jobs;
	const int err = read_jobs(&jobs);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (err)
		fprintf(out, "error %s", strerrorname_np(-err));
	for (uint32_t i = 0; !err && i < jobs.n; i++)
		fprintf(out, "%s%u<%u %s %u/%u", i ? ", " : "", (unsigned int)jobs.items[i].number,
			(unsigned int)jobs.items[i].parent, query_names[jobs.items[i].query],
			(unsigned int)(jobs.items[i].key >> 32), (unsigned int)jobs.items[i].key);
	fclose(out);
	return text;
}

static void assert_jobs(const char *name, const char *expected)
{
	_free_ char *text = jobs_text();

	row_text(name, text, expected);
}

/* Two of a query, one each of two others, in a table and in the last of its shards. */
static void put_jobs(void)
{
	static const uint32_t instance[] = {77, 1, 6, 4, 0, 0};

	put(table_of(LOCAL) + 24, 2);
	put_job(LOCAL, 0, 3, 1, (const uint32_t[]){5}, 1);
	put_job(LOCAL, 7, 9, 8, (const uint32_t[]){6}, 1);
	put(table_of(DEF) + 24, 1);
	put_job(DEF, 2, 8, 3, (const uint32_t[]){9, 3}, 2);
	put(table_of(MEMORY), SHARDS);
	memory[table_of(MEMORY) + 33 - BASE] = 2;
	put_table(SHARDS + 31 * 64, CONTROLS(MEMORY), 1);
	put_job(MEMORY, 1, 4, 3, instance, 6);
}

TEST_CASE(jobs_have_their_query_key_and_parent)
{
	_compiler_jobs_ struct compiler_jobs jobs;

	setup(NULL);
	put_jobs();
	assert_jobs("all", "3<1 local 1/5, 4<3 memory 5/6, 8<3 def 4/9, 9<8 local 1/6");
	assert_int_equal(read_jobs(&jobs), 0);
	assert_int_equal(jobs.current, 9);
	/* A key that is no definition is none. */
	put_job(DEF, 2, 8, 3, (const uint32_t[]){9, WIRE_NO_CRATE}, 2);
	put_job(MEMORY, 1, 4, 3, (const uint32_t[]){77, 99, 6, 4, 0, 0}, 6);
	tables.items[LOCAL].key = WIRE_KEY_UNKNOWN;
	assert_jobs("no definitions", "3<1 local 0/0, 4<3 memory 0/0, 8<3 def 0/0, 9<8 local 0/0");
}

TEST_CASE(what_is_not_there_or_changes_is_left_out)
{
	static const struct {
		const char *name;
		struct {
			uint64_t at, word;
		} put; /* a word instead of what is there; at 0: none */
		uint64_t moves, unreadable, slow;
		const char *jobs;
	} rows[] = {
		/* The table of a query that has not its name is another's. */
		{"another name",
		 {CONTEXT + LOCAL * QUERY, BASE + 0x400},
		 0,
		 0,
		 0,
		 "4<3 memory 5/6, 8<3 def 4/9"},
		{"a longer name",
		 {CONTEXT + DEF * QUERY + 8, 6},
		 0,
		 0,
		 0,
		 "3<1 local 1/5, 4<3 memory 5/6, 9<8 local 1/6"},
		{"a thread that works in no context", {BASE + 0x100, 0}, 0, 0, 0, "error ENOENT"},
		/* Its number is not known. */
		{"an entry that changes",
		 {0, 0},
		 CONTROLS(LOCAL) - SIZE + 8,
		 0,
		 0,
		 "0<0 local 0/0, 4<3 memory 5/6, 8<3 def 4/9, 9<8 local 1/6"},
		/* What is gone hides nothing else. */
		{"control bytes that are gone",
		 {0, 0},
		 0,
		 CONTROLS(DEF) + 1,
		 0,
		 "3<1 local 1/5, 4<3 memory 5/6, 9<8 local 1/6"},
		{"shards that have moved",
		 {0, 0},
		 0,
		 SHARDS,
		 0,
		 "3<1 local 1/5, 8<3 def 4/9, 9<8 local 1/6"},
		{"the first entry that is gone",
		 {0, 0},
		 0,
		 CONTROLS(DEF) - SIZE,
		 0,
		 "3<1 local 1/5, 4<3 memory 5/6, 8<3 def 4/9, 9<8 local 1/6"},
		{"an entry that is gone",
		 {0, 0},
		 0,
		 CONTROLS(DEF) - 3 * SIZE,
		 0,
		 "0<0 def 0/0, 3<1 local 1/5, 4<3 memory 5/6, 9<8 local 1/6"},
		/* A process that delays reads is given up. */
		{"slow 1", {0, 0}, 0, 0, BASE, "error ETIME"},
		{"slow 2", {0, 0}, 0, 0, IMPLICIT + 0x18, "error ETIME"},
		{"slow 3", {0, 0}, 0, 0, CONTEXT + QUERY, "error ETIME"},
		{"slow 4", {0, 0}, 0, 0, SHARDS, "error ETIME"},
		{"slow 5", {0, 0}, 0, 0, CONTROLS(DEF), "error ETIME"},
		{"slow 6", {0, 0}, 0, 0, CONTROLS(DEF) - 3 * SIZE, "error ETIME"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		setup(NULL);
		put_jobs();
		if (rows[i].put.at)
			put(rows[i].put.at, rows[i].put.word);
		moves = rows[i].moves;
		unreadable = rows[i].unreadable;
		slow = rows[i].slow;
		assert_jobs(rows[i].name, rows[i].jobs);
	}
}

TEST_CASE(tables_without_end_are_given_up)
{
	_compiler_jobs_ struct compiler_jobs jobs, many;

	setup(NULL);
	put(table_of(LOCAL) + 8, 1ull << 60);
	put(table_of(LOCAL) + 24, 1ull << 60);
	assert_int_equal(read_jobs(&jobs), -E2BIG);
	assert_true(n_reads < 8);
	/* All shards have one table, whose buckets are full. */
	setup(NULL);
	put(table_of(MEMORY), SHARDS);
	memory[table_of(MEMORY) + 33 - BASE] = 2;
	for (uint32_t i = 0; i < 32; i++) {
		put_table(SHARDS + i * 64, ZEROES, 1);
		put(SHARDS + i * 64 + 8, COMPILER_JOBS_TABLE - 1);
		memset(memory + (ZEROES - BASE), 0, COMPILER_JOBS_TABLE);
	}
	assert_int_equal(read_jobs(&many), -E2BIG);
	assert_true(n_reads < 16 && many.n <= COMPILER_JOBS_MAX);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void put_implicit(uint64_t at, uint64_t number)
{
	put(at + 0x10, CONTEXT);
	put(at + 0x18, number);
}

/* In the first 256 bytes of the stack. */
static uint64_t found(const struct compiler_jobs *jobs, uint32_t query, uint64_t expected)
{
	const struct compiler_job *job =
		copied__job(jobs, &stack, STACK, STACK + 0x100, query, expected);

	return job ? job->number : 0;
}

TEST_CASE(a_frame_shows_its_job)
{
	_compiler_jobs_ struct compiler_jobs jobs;

	setup(NULL);
	put_jobs();
	assert_int_equal(read_jobs(&jobs), 0);
	assert_int_equal(found(&jobs, LOCAL, 9), 0);
	put_implicit(STACK + 0x40, 9);
	assert_int_equal(found(&jobs, LOCAL, 9), 9);
	/* The frames may have guessed another query. */
	assert_int_equal(found(&jobs, DEF, 9), 9);
	/* The thread does a part of job 8's work meanwhile. */
	assert_int_equal(found(&jobs, LOCAL, 8), 9);
	assert_int_equal(found(&jobs, DEF, 8), 0);
	/* Numbers beside the context that are of no job here. */
	put_implicit(STACK + 0x60, 0);
	put_implicit(STACK + 0x80, 5);
	put_implicit(STACK + 0xa0, 9);
	put_implicit(STACK + 0x100, 3);
	assert_int_equal(found(&jobs, LOCAL, 8), 9);
	/* An earlier call has left this one. */
	put_implicit(STACK, 3);
	assert_int_equal(found(&jobs, LOCAL, 9), 9);
	assert_int_equal(found(&jobs, LOCAL, 3), 3);
	assert_int_equal(found(&jobs, LOCAL, 8), 0);
	jobs.context++;
	assert_int_equal(found(&jobs, LOCAL, 9), 0);
}

TEST_CASE(a_frame_may_reach_past_what_was_copied)
{
	_compiler_jobs_ struct compiler_jobs jobs;

	setup(NULL);
	put_jobs();
	assert_int_equal(read_jobs(&jobs), 0);
	put_implicit(STACK + 0x1f0 - 0x10, 9);
	assert_non_null(copied__job(&jobs, &stack, STACK, UINT64_MAX, LOCAL, 9));
	assert_null(copied__job(&jobs, &stack, STACK - 8, UINT64_MAX, LOCAL, 9));
}

TEST_MAIN(NULL, NULL)
