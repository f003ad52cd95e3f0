// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/extract.h"

#include <unistd.h>

#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "test.h"
#include "../fixtures/llvm_build.h"

#define MILLISECOND UINT64_C(1000000)

/* Two compiles of one crate, and a compiler that only answers a question. */
static const struct trace_process processes[] = {
	{.index = 0,
	 .pid = 100,
	 .start_ns = 1000,
	 .end_ns = 1000 + 10 * MILLISECOND,
	 .exit_status = 0,
	 .peak_bytes = 100 << 20,
	 .command = (char *)"/usr/bin/rustc --crate-name app --crate-type lib src/lib.rs --out-dir "
			    "/w/target/release/deps",
	 .crate = (char *)"app",
	 .crate_type = (char *)"lib",
	 .rustc_version = (char *)"rustc 1.95.0",
	 .cwd = (char *)"/w"},
	{.index = 1,
	 .pid = 101,
	 .start_ns = 2000,
	 .end_ns = 2000 + 20 * MILLISECOND,
	 .exit_status = 9,
	 .peak_bytes = 50 << 20,
	 .command = (char *)"/usr/bin/rustc --crate-name app --crate-type lib src/lib.rs",
	 .crate = (char *)"app",
	 .crate_type = (char *)"lib",
	 .rustc_version = (char *)"rustc 1.95.0",
	 .cwd = (char *)"/w"},
	{.index = 2,
	 .pid = 102,
	 .start_ns = 3000,
	 .end_ns = 4000,
	 .exit_status = 0,
	 .command = (char *)"/usr/bin/rustc - --crate-name ___ --print=file-names",
	 .crate = (char *)"___"},
};

static const struct {
	uint64_t start_ns, end_ns;
	uint32_t process;
	const char *name;
	uint8_t kind;
	uint16_t depth;
} spans[] = {
	{5000, 6000, 0, "typeck", TRACE_KIND_QUERY, 1},
	{4500, 7000, 0, "analysis", TRACE_KIND_ACTIVITY, 0},
	{5000, 8000, 1, "typeck", TRACE_KIND_QUERY, 0},
	{3100, 3200, 2, "analysis", TRACE_KIND_ACTIVITY, 0},
};

static void write_trace(const char *path, size_t n_processes, struct trace_id id)
{
	const struct trace_info info = {.tool = (char *)"t",
					.kernel = (char *)"k",
					.host = (char *)"builder",
					.clock_start_ns = 1000,
					.realtime_start_ns = 1700000000000000000,
					.id = id,
					.cpus = 4};
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	for (size_t i = 0; i < n_processes; i++)
		assert_int_equal(trace_writer__process(w, &processes[i]), 0);
	for (size_t i = 0; i < N_OF(spans); i++) {
		struct trace_span span = {.start_ns = spans[i].start_ns,
					  .end_ns = spans[i].end_ns,
					  .process = spans[i].process,
					  .tid = 100 + spans[i].process,
					  .kind = spans[i].kind,
					  .depth = spans[i].depth,
					  .invocation = TRACE_NO_INVOCATION};

		if (span.process >= n_processes)
			continue;
		assert_int_equal(trace_writer__intern(w, spans[i].name, &span.label), 0);
		assert_int_equal(trace_writer__span(w, &span), 0);
	}
	must(trace_writer__losses(w, &(struct trace_losses){}), trace_writer__finish(w));
}

struct extracted {
	struct trace_reader *reader;
	struct history_rows rows;
	const char *directory;
	int err;
};

static void extracted__clear(struct extracted *e)
{
	history_rows__clear(&e->rows);
	trace_reader__free(e->reader);
}
#define _extracted_ __cleanup(extracted__clear)

/* Rows of a file, which is removed. */
static struct extracted extract_file(const char *path)
{
	struct extracted e = {};

	assert_int_equal(trace_reader__open(path, &e.reader, NULL), 0);
	unlink(path);
	history_rows__init(&e.rows);
	e.err = history_extract(e.reader, &e.rows, &e.directory);
	return e;
}

/* Rows of a trace whose last bytes are missing. */
static struct extracted extract_part(size_t n_processes, off_t less, struct trace_id id)
{
	char path[] = "/tmp/qprof-extract-XXXXXX.qpt";

	temporary_name(path);
	write_trace(path, n_processes, id);
	if (less) {
		FILE *f = fopen(path, "r");

		fseeko(f, 0, SEEK_END);
		assert_int_equal(truncate(path, ftello(f) - less), 0);
		fclose(f);
	}
	return extract_file(path);
}

static struct extracted extract(size_t n_processes)
{
	return extract_part(n_processes, 0, (struct trace_id){});
}

TEST_CASE(the_build_has_what_the_trace_says)
{
	_extracted_ struct extracted e = extract(3);
	const struct history_build *b = &e.rows.build;

	assert_int_equal(e.err, 0);
	assert_struct(*b, host, "builder", toolchain, "rustc 1.95.0", profile, "release", workspace,
		      "w", how, "exact", state, "whole", start_ns, 1700000000000000000, cpus, 4,
		      lost, 0, compiles, 2, failed, 1, executions, 2, peak_bytes, 100 << 20);
	assert_true(b->results == HISTORY_UNKNOWN);
	assert_true(b->dirty == HISTORY_UNKNOWN);
	assert_struct(*b, commit, NULL, command, NULL);
	assert_string_equal(e.directory, "/w");
}

TEST_CASE(each_compile_has_a_row)
{
	_extracted_ struct extracted e = extract(3);
	const struct history_compile *one = history_rows__at(&e.rows, HISTORY_COMPILE, 0);
	const struct history_compile *two = history_rows__at(&e.rows, HISTORY_COMPILE, 1);

	assert_int_equal(history_rows__n(&e.rows, HISTORY_COMPILE), 2);
	assert_struct(*one, crate, "app", target, "lib", tool, "rustc", number, 0, wall_ns,
		      10 * MILLISECOND, exit_status, 0, executions, 1);
	assert_struct(*two, number, 1, exit_status, 128 + 9);
	assert_ptr_equal(one->build, e.rows.build.build);
	assert_int_equal(two->start_ns, e.rows.build.start_ns);
}

static const struct history_query *query(const struct extracted *e, const char *name)
{
	for (size_t i = 0; i < history_rows__n(&e->rows, HISTORY_QUERY); i++) {
		const struct history_query *row = history_rows__at(&e->rows, HISTORY_QUERY, i);

		if (!strcmp(row->query, name))
			return row;
	}
	return NULL;
}

/* The question of the third compiler is no crate's. */
TEST_CASE(queries_are_summed_over_compiles_of_one_name)
{
	_extracted_ struct extracted e = extract(3);
	const struct history_query *typeck = query(&e, "typeck"), *pass = query(&e, "analysis");

	assert_int_equal(e.err, 0);
	assert_int_equal(history_rows__n(&e.rows, HISTORY_QUERY), 2);
	assert_struct(*typeck, crate, "app", kind, "query", how, "exact", count, 2, self_ns, 4000,
		      total_ns, 4000);
	assert_struct(*pass, kind, "activity", self_ns, 1500, total_ns, 2500);
}

TEST_CASE(times_by_samples_are_said_to_be_so_beside_counts)
{
	_trace_reader_ struct trace_reader *r = sampled_build_open();
	_history_rows_ struct history_rows rows;
	const char *directory;
	size_t n;

	history_rows__init(&rows);
	assert_int_equal(history_extract(r, &rows, &directory), 0);
	assert_struct(rows.build, how, "sampled", executions, 1236, uncounted,
		      "evaluate_obligation");
	n = history_rows__n(&rows, HISTORY_QUERY);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		const struct history_query *row = history_rows__at(&rows, HISTORY_QUERY, i);

		/* The tables have some results of evaluate_obligation from the last build. */
		uint64_t count = !strcmp(row->query, "typeck")	   ? 1234
				 : !strcmp(row->query, "analysis") ? 1
								   : HISTORY_UNKNOWN;

		assert_string_equal(row->how, "sampled");
		assert_true(row->count == count);
		assert_true(row->total_ns == HISTORY_UNKNOWN);
	}
}

#define SAMPLE_NS UINT64_C(2000000)

/* As a recording without an option, with the tables of that many of both compilers. */
static struct extracted extract_tables(uint32_t tables, uint8_t kind)
{
	const struct trace_info info = {.tool = (char *)"t", .kernel = (char *)"k"};
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	struct trace_job job = {.parent = TRACE_NO_JOB};
	struct trace_stack entry = {.parent = TRACE_NO_STACK, .kind = TRACE_STACK_QUERY};
	struct trace_sample sample = {.value = SAMPLE_NS,
				      .tid = 100,
				      .label = TRACE_NO_STRING,
				      .cause = TRACE_SAMPLE_CPU};
	char path[] = "/tmp/qprof-extract-XXXXXX.qpt";
	_trace_writer_ struct trace_writer *w = NULL;
	struct trace_mapping item = {.n = 1};
	struct extracted e;
	uint32_t fed;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(trace_writer__process(w, &processes[i]), 0);
	must(trace_writer__sampling(w, &sampling), trace_writer__intern(w, "typeck", &job.query),
	     trace_writer__intern(w, "type_of", &fed),
	     trace_writer__intern(w, "app::f", &item.string), trace_writer__map(w, &item),
	     trace_writer__job(w, &job, &sample.job));
	entry.place = job.query;
	must(trace_writer__stack(w, &entry, &sample.stack), trace_writer__sample(w, &sample));
	for (uint32_t i = 0; i < tables; i++) {
		const struct trace_tally typeck = {i, job.query, kind, 10, 0},
					 type_of = {i, fed, kind, 5, i};
		const struct trace_results of_item = {
			.items = (uint32_t[]){item.string, item.string},
			.n = 2,
			.process = i,
			.label = job.query,
			.kind = TRACE_RESULTS_EXECUTED};

		must(trace_writer__tally(w, &typeck), trace_writer__tally(w, &type_of),
		     trace_writer__results(w, &of_item));
	}
	must(trace_writer__losses(w, &(struct trace_losses){}), trace_writer__finish(w));
	e = extract_file(path);
	assert_int_equal(e.err, 0);
	return e;
}

static struct extracted extract_by_default(uint32_t tables)
{
	return extract_tables(tables, TRACE_KIND_RESULTS);
}

TEST_CASE(counts_are_those_of_the_compilers_tables)
{
	_extracted_ struct extracted e = extract_by_default(2);
	const struct history_compile *compile = history_rows__at(&e.rows, HISTORY_COMPILE, 1);
	const struct history_item *item = history_rows__at(&e.rows, HISTORY_ITEM, 0);

	assert_string_equal(e.rows.build.how, "sampled");
	/* A result of type_of may be no execution, in one of the two compiles. */
	assert_int_equal(e.rows.build.executions, 20);
	assert_int_equal(compile->executions, 10);
	assert_struct(e.rows.build, uncounted, "type_of", results, 30);
	assert_int_equal(compile->results, 15);
	assert_struct(*query(&e, "typeck"), how, "sampled", count, 20, self_ns, SAMPLE_NS);
	/* A result of one compile may be no execution, so the sum is not known. */
	assert_true(query(&e, "type_of")->count == HISTORY_UNKNOWN);
	assert_int_equal(history_rows__n(&e.rows, HISTORY_ITEM), 1);
	assert_struct(*item, item, "app::f", how, "sampled", count, 4, self_ns, SAMPLE_NS);
}

/* Rows of a crate and a kind, the largest first. */
static size_t llvm_rows(const struct extracted *e, const char *crate, const char *kind,
			const struct history_llvm *first[2])
{
	size_t n = 0;

	for (size_t i = 0; i < history_rows__n(&e->rows, HISTORY_LLVM); i++) {
		const struct history_llvm *row = history_rows__at(&e->rows, HISTORY_LLVM, i);

		assert_string_equal(row->how, "sampled");
		if (strcmp(row->crate, crate) || strcmp(row->kind, kind))
			continue;
		if (n < 2)
			first[n] = row;
		n++;
	}
	return n;
}

/* A function is kept for each crate that compiles it; of those of one crate the first hundred. */
TEST_CASE(llvms_work_is_kept_by_crate)
{
	char path[] = "/tmp/qprof-extract-XXXXXX.qpt";
	const struct history_llvm *first[2];
	_extracted_ struct extracted e;

	temporary_name(path);
	llvm_build_write(path, true);
	e = extract_file(path);
	assert_int_equal(e.err, 0);
	assert_int_equal(llvm_rows(&e, "app (bin)", "function", first), HISTORY_FUNCTIONS);
	assert_string_equal(first[0]->name, "app::generic_big");
	assert_int_equal(first[0]->self_ns, 200 * LLVM_BUILD_PERIOD);
	assert_string_equal(first[1]->name, "app::huge");
	assert_int_equal(llvm_rows(&e, "app (bin)", "pass", first), 7);
	assert_struct(*first[0], name, "InstCombine", self_ns, 300 * LLVM_BUILD_PERIOD);
	assert_int_equal(llvm_rows(&e, "dep", "function", first), 2);
	assert_string_equal(first[0]->name, "core::ptr::drop_in_place");
	assert_int_equal(first[0]->self_ns, 6 * LLVM_BUILD_PERIOD);
	assert_string_equal(first[1]->name, "<_ as s::Name>::name");
	assert_int_equal(llvm_rows(&e, "dep", "pass", first), 2);
	assert_struct(*first[1], name, "GVN", self_ns, 5 * LLVM_BUILD_PERIOD);
}

TEST_CASE(without_the_tables_of_all_compilers_nothing_is_counted)
{
	_extracted_ struct extracted e = extract_by_default(1);

	assert_true(e.rows.build.results == HISTORY_UNKNOWN);
	assert_true(e.rows.build.executions == HISTORY_UNKNOWN);
	assert_null(e.rows.build.uncounted);
	assert_true(query(&e, "typeck")->count == HISTORY_UNKNOWN);
	assert_int_equal(query(&e, "typeck")->self_ns, SAMPLE_NS);
}

/* Of a compiler that still ran when the recording ended. */
TEST_CASE(lower_limits_of_results_are_no_results)
{
	_extracted_ struct extracted e = extract_tables(2, TRACE_KIND_RESULTS_AT_LEAST);

	assert_true(e.rows.build.results == HISTORY_UNKNOWN);
	assert_true(e.rows.build.executions == HISTORY_UNKNOWN);
	assert_true(query(&e, "typeck")->count == HISTORY_UNKNOWN);
}

/* With --exact; nothing was recorded of the second compiler but what its tables have. */
static struct extracted extract_late(uint64_t results)
{
	const struct trace_info info = {.tool = (char *)"t", .kernel = (char *)"k"};
	char path[] = "/tmp/qprof-extract-XXXXXX.qpt";
	_trace_writer_ struct trace_writer *w = NULL;
	struct trace_span span = {
		.start_ns = 5000, .end_ns = 6000, .tid = 100, .invocation = TRACE_NO_INVOCATION};
	struct trace_tally tally = {.process = 1, .events = results, .sum = results / 2};
	struct extracted e;

	temporary_name(path);
	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(trace_writer__process(w, &processes[i]), 0);
	must(trace_writer__intern(w, "typeck", &span.label), trace_writer__span(w, &span));
	tally.label = span.label;
	tally.kind = TRACE_KIND_HIT_COUNT;
	assert_int_equal(trace_writer__tally(w, &tally), 0);
	tally.kind = TRACE_KIND_RESULTS;
	must(trace_writer__tally(w, &tally), trace_writer__losses(w, &(struct trace_losses){}),
	     trace_writer__finish(w));
	e = extract_file(path);
	assert_struct(e, err, 0, rows.build.how, "exact");
	return e;
}

TEST_CASE(executions_are_not_known_if_probes_came_too_late)
{
	_extracted_ struct extracted idle = extract_late(0), sure = extract_late(1),
				     unsure = extract_late(10);
	const struct extracted *late[] = {&sure, &unsure};

	assert_int_equal(idle.rows.build.executions, 1);
	for (size_t i = 0; i < N_OF(late); i++) {
		const struct history_rows *rows = &late[i]->rows;
		const struct history_compile *one = history_rows__at(rows, HISTORY_COMPILE, 0);
		const struct history_compile *two = history_rows__at(rows, HISTORY_COMPILE, 1);

		assert_int_equal(one->executions, 1);
		assert_true(two->executions == HISTORY_UNKNOWN);
		assert_true(rows->build.executions == HISTORY_UNKNOWN);
		assert_null(rows->build.uncounted);
	}
}

TEST_CASE(a_trace_without_a_compile_is_refused)
{
	_extracted_ struct extracted e = extract(0);

	assert_struct(e, err, -ENODATA, directory, NULL);
}

TEST_CASE(a_trace_that_is_not_whole_says_so)
{
	_extracted_ struct extracted e = extract_part(3, 10, (struct trace_id){});

	assert_int_equal(e.err, 0);
	assert_string_not_equal(e.rows.build.state, "whole");
}

TEST_CASE(the_id_is_the_traces_or_made_of_its_beginning)
{
	const struct trace_id id = {{1, [6] = 0x40, [8] = 0x80}};
	_extracted_ struct extracted given = extract_part(3, 0, id), one = extract(3),
				     two = extract(3);

	assert_string_equal(given.rows.build.build, "01000000-0000-4000-8000-000000000000");
	assert_int_equal(strlen(one.rows.build.build), HISTORY_ID_SIZE - 1);
	assert_string_equal(one.rows.build.build, two.rows.build.build);
}

TEST_MAIN(NULL, NULL)
