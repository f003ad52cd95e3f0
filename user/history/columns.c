// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/columns.h"

#include <string.h>

#include "base/array.h"

#define COLUMN(row, field, of_type, of_unit, is_required, has_few, what)            \
	{                                                                           \
		.name = #field, .type = HISTORY_##of_type,                          \
		.offset = offsetof(struct history_##row, field), .unit = (of_unit), \
		.required = (is_required), .few_values = (has_few), .text = (what), \
	}
#define TEXT(row, field, what) COLUMN(row, field, TEXT, "", false, false, what)
/* A text that many rows share. */
#define NAME(row, field, what)	       COLUMN(row, field, TEXT, "", false, true, what)
#define NUMBER(row, field, unit, what) COLUMN(row, field, NUMBER, unit, false, false, what)
/* Columns that identify the row. */
#define KEY_TEXT(row, field, what)	   COLUMN(row, field, TEXT, "", true, false, what)
#define KEY_NAME(row, field, what)	   COLUMN(row, field, TEXT, "", true, true, what)
#define KEY_NUMBER(row, field, unit, what) COLUMN(row, field, NUMBER, unit, true, false, what)

static const struct history_column build_columns[] = {
	KEY_TEXT(build, build, "the UUID of the trace, in lower case"),
	KEY_NUMBER(build, start_ns, "ns", "the start of the recording, since 1970 UTC"),
	NAME(build, host, "the name of the machine"),
	NAME(build, label, "the user's label, from --label"),
	TEXT(build, commit, "the commit of the source"),
	NAME(build, branch, "the branch of the source"),
	NUMBER(build, dirty, "", "1: the source had changes that are in no commit; 0: it had none"),
	NAME(build, toolchain, "the version of the compiler"),
	NAME(build, command, "the command that was recorded; only with --with-commands"),
	NAME(build, profile, "cargo's profile, such as debug or release"),
	NAME(build, workspace, "the name of the workspace's directory, without its path"),
	NUMBER(build, cpus, "", "the CPUs of the machine"),
	NAME(build, how,
	     "exact: each execution of a query was recorded; sampled: times are of "
	     "samples"),
	NAME(build, state, "whole; unfinished, damaged, or part and its number: no whole build"),
	NUMBER(build, lost, "", "records that were lost"),
	NUMBER(build, cost_ppm, "ppm", "of cpu_ns, what recording added in compilers"),
	NUMBER(build, wall_ns, "ns", "the duration of the build"),
	NUMBER(build, cpu_ns, "ns", "the CPU time of the compilers, with cost_ppm of it"),
	NUMBER(build, peak_bytes, "bytes", "the peak memory of the compiler that had the most"),
	NUMBER(build, executions, "",
	       "executions of queries, without those of uncounted; null: not known"),
	NAME(build, uncounted,
	     "queries whose results may be no executions, with a space between each two"),
	NUMBER(build, results, "", "results of queries, as rustc counts them"),
	NUMBER(build, compiles, "", "the number of compiles"),
	NUMBER(build, failed, "", "compiles that ended with an error or by a signal"),
	NUMBER(build, reused, "", "compiles that reused results of an earlier one"),
};

static const struct history_column compile_columns[] = {
	KEY_TEXT(compile, build, "the UUID of the trace"),
	KEY_NUMBER(compile, start_ns, "ns", "the start of the build, as in its row"),
	KEY_NUMBER(compile, number, "", "the number of the compile in the build, from 0"),
	KEY_NAME(compile, crate,
		 "the name of the compile in reports, such as \"syn\" or \"syn (build script)\""),
	NAME(compile, target, "lib, bin, proc-macro, test, build script"),
	NAME(compile, tool, "rustc, clippy-driver, rustdoc"),
	NUMBER(compile, wall_ns, "ns", "from the start of the compiler to its end"),
	NUMBER(compile, cpu_ns, "ns", "its CPU time, with what recording added"),
	NUMBER(compile, off_cpu_ns, "ns", "the time in which its threads did not run, summed"),
	NUMBER(compile, front_end_ns, "ns", "from the start of the compiler to code generation"),
	NUMBER(compile, codegen_ns, "ns", "from the start of code generation to that of the link"),
	NUMBER(compile, link_ns, "ns", "the time of rustc's link"),
	NUMBER(compile, peak_bytes, "bytes", "its peak memory"),
	NUMBER(compile, executions, "",
	       "executions of queries, without those of its build's uncounted; null: not known"),
	NUMBER(compile, results, "", "results of queries, as rustc counts them"),
	NUMBER(compile, exit_status, "",
	       "its exit status; 128 and the number of the signal that ended it"),
};

static const struct history_column query_columns[] = {
	KEY_TEXT(query, build, "the UUID of the trace"),
	KEY_NUMBER(query, start_ns, "ns", "the start of the build, as in its row"),
	KEY_NAME(query, crate, "the name of the compile, as in the table compile"),
	KEY_NAME(query, query, "the name of the query or activity"),
	NAME(query, kind, "query, or activity: a pass of the compiler, or a part of one"),
	NAME(query, how, "how self_ns is known: exact or sampled"),
	NUMBER(query, count, "", "executions; null: its results may be no executions"),
	NUMBER(query, self_ns, "ns", "its CPU time, without the queries that it called"),
	NUMBER(query, total_ns, "ns", "its time with the queries that it called"),
};

static const struct history_column item_columns[] = {
	KEY_TEXT(item, build, "the UUID of the trace"),
	KEY_NUMBER(item, start_ns, "ns", "the start of the build, as in its row"),
	KEY_NAME(item, crate, "the name of the compile, as in the table compile"),
	KEY_TEXT(item, item, "the path of the item"),
	NAME(item, how, "how self_ns is known: exact or sampled"),
	NUMBER(item, count, "",
	       "executions of queries about it; of sampled ones, those that the compiler's tables "
	       "list; null: not known"),
	NUMBER(item, self_ns, "ns", "the CPU time of these, and of others that are charged to it"),
};

static const struct history_column llvm_columns[] = {
	KEY_TEXT(llvm, build, "the UUID of the trace"),
	KEY_NUMBER(llvm, start_ns, "ns", "the start of the build, as in its row"),
	KEY_NAME(llvm, crate, "the name of the compile, as in the table compile"),
	KEY_TEXT(llvm, name, "the path of the function, or the name of LLVM's pass"),
	NAME(llvm, kind, "function: a definition, with all its instances; or pass"),
	NAME(llvm, how, "how self_ns is known: sampled"),
	NUMBER(llvm, self_ns, "ns", "CPU time in LLVM for the function, or in the pass"),
};

#define TABLE_ROW(row, what)                                                      \
	{                                                                         \
		.name = #row, .columns = row##_columns, .n = N_OF(row##_columns), \
		.row_size = sizeof(struct history_##row), .text = (what),         \
	}

static const struct history_table tables[] = {
	[HISTORY_BUILD] = TABLE_ROW(build, "A row for each build."),
	[HISTORY_COMPILE] = TABLE_ROW(compile, "A row for each compile of a crate."),
	[HISTORY_QUERY] = TABLE_ROW(query, "A row for each query and activity of a crate: the sums "
					   "over all compiles of that name."),
	[HISTORY_ITEM] = TABLE_ROW(
		item, "The hundred most expensive items of each crate: functions, types, modules."),
	[HISTORY_LLVM] = TABLE_ROW(llvm, "What LLVM did in the compiles of each crate: the hundred "
					 "functions that took most of its time, and its passes."),
};

const struct history_table *history_table(enum history_table_id id)
{
	return &tables[id];
}

const struct history_column *history_table__column(const struct history_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->columns[i].name, name))
			return &t->columns[i];
	return NULL;
}

const char *history_column__text(const struct history_column *c, const void *row)
{
	return *(const char *const *)((const char *)row + c->offset);
}

uint64_t history_column__number(const struct history_column *c, const void *row)
{
	return *(const uint64_t *)((const char *)row + c->offset);
}

void history_column__set_text(const struct history_column *c, void *row, const char *text)
{
	*(const char **)((char *)row + c->offset) = text;
}

void history_column__set_number(const struct history_column *c, void *row, uint64_t number)
{
	*(uint64_t *)((char *)row + c->offset) = number;
}

void history_table__clear_row(const struct history_table *t, void *row)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->columns[i].type == HISTORY_TEXT)
			history_column__set_text(&t->columns[i], row, NULL);
		else
			history_column__set_number(&t->columns[i], row, HISTORY_UNKNOWN);
	}
}
