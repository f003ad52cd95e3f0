// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/visit.h"
#include "stuck/tasks.h"
#include "stuck/copied.h"
#include "stuck/answers.h"

#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/sample_plan.h"

/*
 * A compiler with one definition, its crate: each read returns a word with which everything goes
 * on. The context moves after `moves` reads, and after `execs_after` of them another program runs.
 */
static uint32_t n_reads, moves, execs_after;

static int do_read(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *to)
{
	n_reads++;
	for (uint32_t i = 0; i < n; to += ranges[i++].size) {
		uint64_t word = n_reads > moves ? 0x2000 : 0x1000;

		memset(to, 0, ranges[i].size);
		if (ranges[i].size == 8)
			memcpy(to, &word, sizeof(word));
	}
	return 0;
}

static bool runs_same(void *ctx)
{
	return n_reads <= execs_after;
}

static struct stuck_rows rows_of(uint64_t a, uint64_t b)
{
	struct stuck_rows rows = {.items = calloc(2, sizeof(*rows.items)), .n = 2};

	rows.items[0].key = a;
	rows.items[1].key = b;
	n_reads = 0;
	return rows;
}

static const struct plan_layout layout = {
	.wire = {.size = 16, .symbol_size = 16, .length = 8, .symbol = 4, .current = {.known = 1}},
	.disambiguator = 8,
	.parent = 12,
};

static const struct item_names item_names = {
	.memory = {.read = do_read}, .runs_same = runs_same, .layout = &layout, .crate = "a"};

/* What rows with these keys are about, after `moves` reads and so on. */
static void assert_items(uint64_t key, uint64_t other, uint32_t move, uint32_t exec,
			 const char *want)
{
	struct stuck_rows rows = rows_of(key, other);

	moves = move;
	execs_after = exec;
	assert_int_equal(item_names__find(&item_names, &rows), 0);
	assert_struct(rows, items[0].item, want, items[1].item, want);
	stuck_rows__clear(&rows);
}

TEST_CASE(rows_are_named_while_the_context_stays)
{
	uint64_t root = wire_key(0, 0);
	uint32_t reads;

	assert_items(root, root, UINT32_MAX, UINT32_MAX, "a");
	reads = n_reads;
	/* It was dropped meanwhile. */
	assert_items(root, root, 4, UINT32_MAX, NULL);
	/* The reads may be of another user's program, so not one of them is shown. */
	for (uint32_t after = 0; after < reads; after++) {
		assert_items(root, root, UINT32_MAX, after, NULL);
		assert_int_equal(n_reads, reads);
	}
	/* Other crates have no names here. */
	assert_items(wire_key(3, 0), 0, UINT32_MAX, UINT32_MAX, NULL);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

#define NUMBERS " 1 2 3 4 5 6 7 8 9 10 70 30 0 0 20 0 1 0 4242 99 98\n"

TEST_CASE(a_line_is_taken_apart)
{
	struct process_stat s;

	assert_true(process_stat__parse(&s, "4711 (rustc) S" NUMBERS));
	assert_struct(s, name, "rustc", state, 'S', cpu_ticks, 100, start_ticks, 4242, parent, 1,
		      session, 3);
	assert_true(process_stat__parse(&s, "4711 (a) R (b) c) D" NUMBERS));
	assert_struct(s, name, "a) R (b) c", state, 'D');
}

TEST_CASE(a_broken_line_is_none)
{
	struct process_stat s;

	assert_false(process_stat__parse(&s, ""));
	assert_false(process_stat__parse(&s, "4711 )rustc( S" NUMBERS));
	assert_false(process_stat__parse(&s, "4711 (rustc"));
	assert_false(process_stat__parse(&s, "4711 (rustc) S 1 2 3 4 5 6 7 8 9 10 70 30\n"));
}

TEST_CASE(our_own_thread_is_found)
{
	_tasks_ struct tasks t;

	assert_int_equal(tasks__read(&t, getpid()), 0);
	assert_int_equal(t.n, 1);
	assert_struct(t.items[0], tid, getpid(), state, 'R', waits, NULL);
}

TEST_CASE(one_that_is_gone_is_not)
{
	_tasks_ struct tasks t;

	assert_int_equal(tasks__read(&t, 0x7fffffff), -ESRCH);
}

/* ---- Copied ---------------------------------------------------------------------------------- */

#define PAGE  4096u
#define PAGES 40

/* Mapped in this process and in a child, which may be read. */
static uint8_t *area;
static pid_t child;
static struct broker *broker;

static int setup(void **state)
{
	/* On a busy machine the child of a look may take long to answer. */
	broker_ns = 60000000000;
	area = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	for (uint32_t i = 0; i < PAGES * PAGE / 8; i++)
		((uint64_t *)area)[i] = i;
	/* Beyond, nothing can be read. */
	mprotect(area + (size_t)(PAGES - 1) * PAGE, PAGE, PROT_NONE);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child < 0 ? -1 : broker__new(&broker);
}

static int teardown(void **state)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	broker__free(broker);
	return 0;
}

static struct copied open_copied(void)
{
	return (struct copied){.broker = broker, .pid = child};
}

static uint64_t addr_of(uint32_t offset)
{
	return (uintptr_t)area + offset;
}

TEST_GROUP(setup, teardown)

TEST_CASE(words_are_copied_when_they_are_needed)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	if (!copied__word(&c, addr_of(8 * 1000), &word)) {
		print_message("skipped: other processes cannot be read here\n");
		return;
	}
	assert_int_equal(word, 1000);
	assert_int_equal(c.n, 1);
	/* The copy holds the bytes after the address, and none before it. */
	assert_true(copied__word(&c, addr_of(8 * 5000), &word));
	assert_int_equal(word, 5000);
	assert_int_equal(c.n, 1);
	assert_true(copied__word(&c, addr_of(16), &word));
	assert_int_equal(word, 2);
	assert_int_equal(c.n, 2);
	/* Across the end of a part, and of a page. */
	assert_true(copied__word(&c, addr_of(16 * PAGE - 4), &word));
	assert_int_equal(word >> 32, (16 * PAGE) / 8);
}

TEST_CASE(the_end_of_a_mapping_ends_a_part)
{
	_copied_ struct copied c = open_copied();
	const uint32_t end = (PAGES - 1) * PAGE;
	uint64_t word;

	if (!copied__word(&c, addr_of(end - 8), &word))
		return;
	assert_int_equal(word, end / 8 - 1);
	assert_int_equal(c.parts[0].size, PAGE);
	assert_false(copied__word(&c, addr_of(end - 4), &word));
	assert_false(copied__word(&c, addr_of(end), &word));
	assert_false(copied__word(&c, 8, &word));
	assert_false(copied__word(&c, UINT64_MAX - 3, &word));
}

TEST_CASE(a_closed_one_reads_no_more)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	if (!copied__word(&c, addr_of(0), &word))
		return;
	copied__close(&c);
	assert_true(copied__word(&c, addr_of(8), &word));
	assert_int_equal(word, 1);
	assert_false(copied__word(&c, addr_of(30 * PAGE), &word));
}

TEST_CASE(there_are_limits)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	c.bytes = COPIED_BYTES_MAX;
	assert_false(copied__word(&c, addr_of(0), &word));
	c.bytes = 0;
	c.ns = COPIED_NS + 1;
	assert_false(copied__word(&c, addr_of(0), &word));
}

/* ---- Answers --------------------------------------------------------------------------------- */

TEST_GROUP(NULL, NULL)

static const bool none[8], all[8] = {true, true}, only_typeck[8] = {false, true};

static struct compiler *make(const bool *queries, const bool *guards)
{
	struct plan *plan = sample_plan();
	struct compiler *c = NULL;

	plan->file = make_library_file();
	assert_int_equal(compiler__new(plan, queries, guards, &c), 0);
	/* It outlives the plan. */
	plan__free(plan);
	return c;
}

TEST_CASE(numbers_have_names)
{
	_compiler_ struct compiler *c = make(none, none);

	assert_string_equal(compiler__query(c, 0), "mir_built");
	assert_string_equal(compiler__query(c, 1), "typeck");
	assert_null(compiler__query(c, 2));
	assert_null(compiler__query(c, UINT32_MAX));
	assert_string_equal(compiler__guard(c, 0), "early_lint_checks");
	assert_null(compiler__guard(c, 1));
	assert_null(compiler__guard(c, 2));
}

TEST_CASE(what_is_recorded_has_its_place)
{
	_compiler_ struct compiler *unrecorded = make(none, none);
	_compiler_ struct compiler *c = make(only_typeck, all);
	struct wire_begun b;

	assert_false(compiler__begun(unrecorded, WIRE_KIND_QUERY, 1, PLAN_NONE, &b));
	assert_false(compiler__begun(c, WIRE_KIND_QUERY, 0, PLAN_NONE, &b));
	assert_false(compiler__begun(c, WIRE_KIND_QUERY, PLAN_NONE, PLAN_NONE, &b));
	assert_true(compiler__begun(c, WIRE_KIND_QUERY, 1, PLAN_NONE, &b));
	assert_struct(b, query, 1, number, 0);
	assert_true(compiler__begun(c, WIRE_KIND_ACTIVITY, PLAN_NONE, 0, &b));
	assert_int_equal(b.query, 0);
	assert_int_not_equal(b.number, 0);
	/* Its label is not known. */
	assert_false(compiler__begun(c, WIRE_KIND_ACTIVITY, PLAN_NONE, 1, &b));
	assert_false(compiler__begun(c, WIRE_KIND_BLOCKED, PLAN_NONE, 0, &b));
}

TEST_CASE(frames_and_jobs_are_those_of_the_plan)
{
	_compiler_ struct compiler *c = make(none, none);
	struct plan_frame_code code = plan_frames__code(c->frames, 0x9000, false);

	assert_true(code.frame);
	/* How the sample's active jobs are read is not known. */
	assert_null(c->jobs);
}

TEST_CASE(it_is_one_file)
{
	_library_file_ struct library_file *ours = make_library_file();
	_library_file_ struct library_file *other = make_library_file();
	_compiler_ struct compiler *c = NULL;
	struct plan *plan = sample_plan();

	plan->file = library_file__ref(ours);
	assert_int_equal(compiler__new(plan, none, none, &c), 0);
	plan__free(plan);
	assert_true(compiler__is(c, ours));
	assert_false(compiler__is(c, other));
}

TEST_MAIN(NULL, NULL)
