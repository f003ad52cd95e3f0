// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/subjects.h"

#include <errno.h>

#include "test.h"

#define NONE TRACE_NO_STRING

enum {
	EXPAND,
	OUTER,
	CODEGEN,
	OPTIMIZE,
	EMIT,
	LTO,
	OTHER,
	DERIVE,
	DERIVE_HERE,
	BANG,
	UNIT_0,
	UNIT_0_SIZE,
	UNIT_1,
	UNKNOWN_TEXT,
};

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		[EXPAND] = "expand_proc_macro",
		[OUTER] = "expand_derive_proc_macro_outer",
		[CODEGEN] = "codegen_module",
		[OPTIMIZE] = "LLVM_module_optimize",
		[EMIT] = "LLVM_module_codegen_emit_obj",
		[LTO] = "codegen_module_perform_lto",
		[OTHER] = "codegen_crate",
		[DERIVE] = "#[derive(A)]",
		[DERIVE_HERE] = "#[derive(A)]\x1esrc/lib.rs:1:1: 1:2",
		[BANG] = "b!",
		[UNIT_0] = "x-cgu.0",
		[UNIT_0_SIZE] = "x-cgu.0\x1e"
				"144",
		[UNIT_1] = "x-cgu.1",
		[UNKNOWN_TEXT] = "<unknown>",
	};

	assert_in_range(id, 0, N_OF(texts) - 1);
	return texts[id];
}

static struct summary *processes_of;
static struct subjects *subjects;
static struct subject_row *rows;
static size_t n_rows;

static void begin(enum subjects_of of)
{
	const struct trace_texts texts = {.text = text_of};
	const struct trace_process processes[] = {
		{.index = 0, .pid = 100, .crate = "app"},
		{.index = 1, .pid = 101, .crate = "lib"},
		{.index = 2, .pid = 102, .crate = "app"},
	};

	assert_int_equal(summary__new(&processes_of), 0);
	for (size_t i = 0; i < N_OF(processes); i++)
		assert_int_equal(summary__process(processes_of, &processes[i]), 0);
	assert_int_equal(subjects__new(&texts, processes_of, of, &subjects), 0);
}

static void take_off(uint64_t off_ns, uint32_t process, uint32_t tid, uint32_t label,
		     uint16_t depth, uint64_t start, uint64_t end, uint32_t event)
{
	const struct trace_span s = {
		.start_ns = start,
		.end_ns = end,
		.process = process,
		.tid = tid,
		.label = label,
		.depth = depth,
		.kind = TRACE_KIND_ACTIVITY,
	};
	const struct trace_times times = {.off_ns = off_ns};

	assert_int_equal(subjects__span(subjects, &s, &times, event), 0);
}

static void take(uint32_t process, uint32_t tid, uint32_t label, uint16_t depth, uint64_t start,
		 uint64_t end, uint32_t event)
{
	take_off(0, process, tid, label, depth, start, end, event);
}

static void end(size_t expected)
{
	assert_int_equal(subjects__rows(subjects, &rows, &n_rows), 0);
	assert_int_equal(n_rows, expected);
}

static int done(void **state)
{
	subject_rows__free(rows, n_rows);
	rows = NULL;
	n_rows = 0;
	subjects__free(subjects);
	subjects = NULL;
	summary__free(processes_of);
	return 0;
}

static const struct subject_row *row(const char *name)
{
	for (size_t i = 0; i < n_rows; i++)
		if (name ? rows[i].name && !strcmp(rows[i].name, name) : !rows[i].name)
			return &rows[i];
	fail_msg("no row %s", name ?: "(none)");
	return NULL;
}

TEST_CASE_WITH(a_macro_has_the_time_of_all_its_expansions, NULL, done)
{
	begin(SUBJECTS_MACROS);
	take(0, 7, EXPAND, 1, 100, 110, DERIVE);
	take(0, 7, EXPAND, 1, 120, 150, DERIVE_HERE);
	take(1, 8, EXPAND, 1, 100, 105, DERIVE);
	take(2, 9, EXPAND, 1, 100, 101, DERIVE);
	take(1, 8, EXPAND, 1, 200, 202, BANG);
	end(2);
	assert_int_equal(row("#[derive(A)]")->total_ns, 46);
	assert_int_equal(row("#[derive(A)]")->count, 4);
	assert_int_equal(row("#[derive(A)]")->max_ns, 30);
	assert_int_equal(row("b!")->total_ns, 2);
}

TEST_CASE_WITH(its_crates_are_those_that_expand_it_the_most_expensive_first, NULL, done)
{
	const struct subject_row *r;

	begin(SUBJECTS_MACROS);
	take(1, 8, EXPAND, 1, 0, 10, DERIVE);
	take(0, 7, EXPAND, 1, 0, 6, DERIVE);
	take(2, 9, EXPAND, 1, 0, 5, DERIVE);
	end(1);
	r = row("#[derive(A)]");
	assert_int_equal(r->n_crates, 2);
	assert_string_equal(r->crates[0].crate, "app");
	assert_int_equal(r->crates[0].total_ns, 11);
	assert_string_equal(r->crates[1].crate, "lib");
}

TEST_CASE_WITH(time_counts_once_where_activities_lie_within_each_other, NULL, done)
{
	begin(SUBJECTS_MACROS);
	/* The outer one has the inner one, though another interval lies between. */
	take(0, 7, EXPAND, 3, 20, 80, DERIVE);
	take(0, 7, OTHER, 2, 15, 85, NONE);
	take(0, 7, OUTER, 1, 10, 90, DERIVE);
	/* An interval that ended before is no part of this one. */
	take(0, 7, EXPAND, 1, 100, 104, BANG);
	end(2);
	assert_int_equal(row("#[derive(A)]")->total_ns, 80);
	assert_int_equal(row("#[derive(A)]")->count, 1);
	assert_int_equal(row("#[derive(A)]")->max_ns, 80);
	assert_int_equal(row("b!")->total_ns, 4);
}

TEST_CASE_WITH(time_on_the_cpu_counts_once_too, NULL, done)
{
	begin(SUBJECTS_MACROS);
	take_off(50, 0, 7, EXPAND, 3, 20, 80, DERIVE);
	take_off(53, 0, 7, OUTER, 1, 10, 90, DERIVE);
	end(1);
	assert_int_equal(row("#[derive(A)]")->total_ns, 80);
	assert_int_equal(row("#[derive(A)]")->cpu_ns, 80 - 53);
}

TEST_CASE_WITH(a_unit_has_its_steps_and_the_thread_of_most_of_them, NULL, done)
{
	const struct trace_thread name = {.process = 0, .tid = 8, .name = "opt cgu.0"};
	const struct subject_row *r;

	begin(SUBJECTS_UNITS);
	assert_int_equal(subjects__thread(subjects, &name), 0);
	take(0, 7, CODEGEN, 1, 0, 10, UNIT_0_SIZE);
	take(0, 8, EMIT, 1, 30, 34, UNIT_0);
	take(0, 8, OPTIMIZE, 2, 40, 60, UNIT_0);
	take(0, 8, LTO, 1, 39, 64, UNIT_0);
	take(0, 7, CODEGEN, 1, 10, 12, UNIT_1);
	end(2);
	r = row("x-cgu.0");
	assert_int_equal(r->total_ns, 39);
	assert_int_equal(r->phase_ns[SUBJECT_CODEGEN], 10);
	assert_int_equal(r->phase_ns[SUBJECT_OPTIMIZE], 20);
	assert_int_equal(r->phase_ns[SUBJECT_LTO], 5);
	assert_int_equal(r->phase_ns[SUBJECT_EMIT], 4);
	assert_int_equal(r->size, 144);
	assert_int_equal(r->pid, 100);
	assert_int_equal(r->tid, 8);
	assert_string_equal(r->thread, "opt cgu.0");
	assert_string_equal(r->crates[0].crate, "app");
	assert_int_equal(row("x-cgu.1")->tid, 7);
	assert_null(row("x-cgu.1")->thread);
}

TEST_CASE_WITH(units_of_two_compiles_are_two, NULL, done)
{
	begin(SUBJECTS_UNITS);
	take(0, 7, CODEGEN, 1, 0, 10, UNIT_0);
	take(2, 9, CODEGEN, 1, 0, 10, UNIT_0);
	end(2);
}

TEST_CASE_WITH(what_is_not_known_is_a_row_without_a_name, NULL, done)
{
	begin(SUBJECTS_UNITS);
	take(0, 7, OPTIMIZE, 1, 0, 3, NONE);
	take(0, 7, OPTIMIZE, 1, 3, 7, UNKNOWN_TEXT);
	take(0, 7, EXPAND, 1, 7, 9, DERIVE);
	end(1);
	assert_int_equal(row(NULL)->total_ns, 7);
}

TEST_MAIN(NULL, NULL)
