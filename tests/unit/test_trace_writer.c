// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/file_limit.h"
#include "../fixtures/spans.h"
#include "../fixtures/trace_dump.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/walks.h"
#include "qprof/trace_format.h"
#include "trace/bytes.h"
#include "trace/reader.h"

static const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
static char path[sizeof(directory) + 8];

static int make_directory(void **state)
{
	int err = directory_make(state);

	snprintf(path, sizeof(path), "%s/a.qpt", directory);
	return err;
}

static int remove_file(void **state)
{
	return unlink(path) && errno != ENOENT;
}

static struct trace_writer *open_with_names(void)
{
	struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN, .command = "rustc"};
	struct trace_writer *w = NULL;
	uint32_t id;

	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &p),
	     trace_writer__intern(w, "typeck", &id));
	return w;
}

static uint32_t state_of_file(void)
{
	_free_ uint8_t *bytes = NULL;
	size_t size;

	bytes = slurp(path, &size);
	assert_true(bytes && size >= QPT_HEADER_SIZE);
	return bytes_load_u32(bytes + QPT_HEADER_STATE);
}

/* The finished trace as text; freed by the caller. */
static char *finished_trace(struct trace_writer *w)
{
	assert_int_equal(trace_writer__finish(w), 0);
	return dump_trace(path);
}

#define CASE(name)                                                                        \
	TEST_CASE_GIVEN(name, NULL, remove_file, _trace_writer_ struct trace_writer *, w, \
			open_with_names())

CASE(a_file_is_not_overwritten)
{
	_trace_writer_ struct trace_writer *second = NULL;

	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_writer__open(path, &info, &second), -EEXIST);
	assert_null(second);
	assert_int_equal(state_of_file(), QPT_STATE_FINISHED);
}

CASE(only_finish_clears_the_mark)
{
	struct stat st;

	assert_int_equal(trace_writer__flush(w), 0);
	assert_true(state_of_file() == QPT_STATE_UNFINISHED);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(state_of_file(), QPT_STATE_FINISHED);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(trace_writer__bytes(w), st.st_size);
	assert_int_equal(trace_writer__flush(w), -EBADF);
	assert_int_equal(trace_writer__finish(w), -EBADF);
}

CASE(only_invalid_records_are_refused)
{
	const struct trace_process gap = {.index = 2};
	const struct trace_span good = {.start_ns = 5, .end_ns = 5, .label = 1};
	struct trace_span bad[4] = {good, good, good, good};

	bad[0].process = 1;
	bad[1].label = 2;
	bad[2].start_ns = 6;
	bad[3].flags = 8;
	for (int i = 0; i < 4; i++)
		assert_int_equal(trace_writer__span(w, &bad[i]), -EINVAL);
	assert_int_equal(trace_writer__process(w, &gap), -EINVAL);
	assert_int_equal(trace_writer__span(w, &good), 0);
	assert_shows(finished_trace(w), "span 0/0 depth=0 5..5 typeck #0\nwhole\n");
}

CASE(names_of_other_crates_are_kept)
{
	struct trace_mapping m = {.process = 0, .first = 7, .n = 1};
	const struct trace_span span = {.tid = 1, .invocation = 7};

	assert_int_equal(trace_writer__intern(w, "core", &m.string), 0);
	assert_int_equal(trace_writer__foreign(w, m.string + 1), -EINVAL);
	must(trace_writer__foreign(w, m.string), trace_writer__foreign(w, m.string),
	     trace_writer__map(w, &m), trace_writer__span(w, &span));
	assert_shows(finished_trace(w), " #7 event=core foreign\nwhole\n");
}

/* A list that is long enough is compressed. */
CASE(very_many_other_crates_are_kept)
{
	struct trace_mapping m = {.process = 0, .first = 7, .n = 1};
	const struct trace_span span = {.tid = 1, .invocation = 7};
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "crate%d", i);
		must(trace_writer__intern(w, name, &m.string), trace_writer__foreign(w, m.string));
	}
	must(trace_writer__map(w, &m), trace_writer__span(w, &span));
	assert_shows(finished_trace(w), " #7 event=crate4999 foreign\nwhole\n");
}

CASE(mappings_that_make_no_sense_are_refused)
{
	const uint32_t strings[] = {0, 1, 2};
	const struct trace_mapping good = {.process = TRACE_NO_PROCESS, .n = 1};
	struct trace_mapping bad[6] = {good, good, good, good, good, good};

	bad[0].n = 0;
	bad[1].string = 2;
	bad[2].process = 1;
	bad[3].first = TRACE_VIRTUAL;
	bad[4].strings = strings;
	bad[4].n = 3;
	bad[5].n = 3;
	bad[5].series = true;
	for (int i = 0; i < 6; i++)
		assert_int_equal(trace_writer__map(w, &bad[i]), -EINVAL);
	must(trace_writer__map(w, &good), trace_writer__finish(w));
}

/* The writer refuses records that a reader would refuse: the reader would stop there. */
CASE(ids_too_far_apart_are_refused)
{
	struct trace_mapping m = {.process = TRACE_NO_PROCESS, .n = 1};

	for (uint32_t i = 0; i < QPT_MAP_BLOCKS_MAX; i++) {
		m.first = i * QPT_MAP_BLOCK;
		assert_int_equal(trace_writer__map(w, &m), 0);
	}
	m.first += QPT_MAP_BLOCK;
	assert_int_equal(trace_writer__map(w, &m), -E2BIG);
	m.first = 7;
	assert_int_equal(trace_writer__map(w, &m), 0);
	assert_shows(finished_trace(w), "whole\n");
}

/* More than one chunk's worth, of invocation ids and of virtual labels. */
CASE(long_mappings_come_back)
{
	_free_ uint32_t *strings = calloc(200000, sizeof(*strings));
	struct trace_mapping m = {.n = 200000, .strings = strings};
	struct trace_span span = {.end_ns = 1, .invocation = 199999};

	for (uint32_t i = 0; i < m.n; i++)
		strings[i] = i % 2;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(trace_writer__map(w, &m), 0);
		m.process = TRACE_NO_PROCESS;
	}
	span.label = TRACE_VIRTUAL | 199998;
	assert_int_equal(trace_writer__span(w, &span), 0);
	assert_shows(finished_trace(w), " 0..1 rustc #199999 event=typeck\nwhole\n");
}

/* A string of its own for the last segment and for the path: their parent is there. */
CASE(paths_share_what_they_have_in_common)
{
	struct trace_function f = {1, 1, 0x1000, "abcd", "core::iter::adapters::Filter", NULL};
	uint32_t before, after;

	must(trace_writer__function(w, &f), trace_writer__intern(w, "before", &before));
	f.first = 3;
	f.name = "core::iter::adapters::Map";
	must(trace_writer__function(w, &f), trace_writer__intern(w, "after", &after));
	assert_int_equal(after, before + 3);
	assert_int_equal(trace_writer__finish(w), 0);
}

CASE(callers_need_their_function)
{
	struct trace_function f = {1, 9, 0x1000, "abcd", "rustc::asks", NULL};
	struct trace_span span = {.end_ns = 1, .caller = 1};
	struct trace_line row = {.offset = 9, .line = 1};

	assert_int_equal(trace_writer__span(w, &span), -EINVAL);
	assert_int_equal(trace_writer__function(w, &f), 0);
	assert_int_equal(trace_writer__function(w, &f), -EINVAL);
	assert_int_equal(trace_writer__span(w, &span), 0);
	span.caller = 10;
	assert_int_equal(trace_writer__span(w, &span), 0);
	span.caller = 11;
	assert_int_equal(trace_writer__span(w, &span), -EINVAL);
	assert_int_equal(trace_writer__lines(w, 2, &row, 1), -EINVAL);
	assert_int_equal(trace_writer__lines(w, 1, &row, 1), -EINVAL);
	row.offset = 8;
	assert_int_equal(trace_writer__lines(w, 1, &row, 1), 0);
	assert_int_equal(trace_writer__lines(w, 1, &row, 1), -EINVAL);
	/* The refusals above did not end the writing. */
	assert_int_equal(trace_writer__finish(w), 0);
}

/* More functions and lines than one chunk takes. */
CASE(functions_beyond_a_batch_come_back)
{
	struct trace_span span = {.end_ns = 1};
	const struct trace_line row = {.offset = 1, .line = 77};
	char name[40];

	for (uint32_t i = 0; i < 20000; i++) {
		const struct trace_function f = {1 + 10 * i, 9, 16 * i, "abcd", name, NULL};

		snprintf(name, sizeof(name), "rustc::asks_%u", i);
		assert_int_equal(trace_writer__function(w, &f), 0);
	}
	span.caller = 1 + 10 * 19999 + 2;
	assert_int_equal(trace_writer__span(w, &span), 0);
	for (uint32_t i = 20000; i-- > 0;)
		assert_int_equal(trace_writer__lines(w, 1 + 10 * i, &row, 1), 0);
	assert_shows(finished_trace(w), " from=rustc::asks_19999+2@rustc:77\nwhole\n");
}

CASE(losses_are_written_when_they_change)
{
	struct trace_losses losses = {.count = {[TRACE_LOST_RECURSION] = 1}};
	_free_ char *text = NULL;
	uint64_t bytes;

	must(trace_writer__losses(w, &losses), trace_writer__flush(w));
	bytes = trace_writer__bytes(w);
	must(trace_writer__losses(w, &losses), trace_writer__flush(w));
	assert_int_equal(trace_writer__bytes(w), bytes);
	losses.count[TRACE_LOST_RECURSION] = 1ULL << 40;
	assert_int_equal(trace_writer__losses(w, &losses), 0);
	text = finished_trace(w);
	assert_non_null(
		strstr(text, "losses recursion=1\nlosses recursion=1099511627776\nwhole\n"));
}

/* More names and processes than one chunk takes. */
CASE(names_beyond_a_batch_come_back)
{
	char text[100];

	for (uint32_t i = 1; i < 5000; i++) {
		struct trace_process p = {.index = i, .pid = i, .command = text};

		snprintf(text, sizeof(text), "rustc --crate-name a_crate_with_a_long_name_%u", i);
		assert_int_equal(trace_writer__process(w, &p), 0);
	}
	assert_shows(finished_trace(w), "_name_4999] [-] [-] [-] [-] [-]\nwhole\n");
}

/* Write spans until one fails; returns the error. */
static int write_much(struct trace_writer *w)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 15000, 1, 2);
	int err = 0;

	for (uint32_t i = 0; !err && i < s->n; i++)
		err = trace_writer__span(w, &s->at[i]);
	return err;
}

CASE(a_full_disk_is_remembered)
{
	struct trace_losses losses = {.count = {1}};
	struct trace_span span = {.end_ns = 1};
	_free_ char *text = NULL;
	const char *problem;
	uint32_t id;

	set_file_limit(20000);
	assert_int_equal(write_much(w), -EFBIG);
	set_file_limit(RLIM_INFINITY);
	/* There is room again, but the writer keeps failing: earlier data is missing. */
	assert_int_equal(trace_writer__span(w, &span), -EFBIG);
	assert_int_equal(trace_writer__intern(w, "new", &id), -EFBIG);
	assert_int_equal(trace_writer__losses(w, &losses), -EFBIG);
	assert_int_equal(trace_writer__flush(w), -EFBIG);
	assert_int_equal(trace_writer__finish(w), -EFBIG);
	assert_int_equal(trace_writer__bytes(w), 20000);
	assert_true(state_of_file() == QPT_STATE_UNFINISHED);
	text = dump_trace(path);
	problem = strstr(text, "problem: cut short at byte 20000: ");
	assert_non_null(problem);
	assert_non_null(strstr(text, "span 0/"));
	assert_null(strstr(text, "<unknown>"));
}

TEST_CASE(a_file_that_cannot_begin_is_removed)
{
	_trace_writer_ struct trace_writer *w = NULL;

	set_file_limit(40);
	assert_int_equal(trace_writer__open(path, &info, &w), -EFBIG);
	set_file_limit(RLIM_INFINITY);
	assert_int_equal(access(path, F_OK), -1);
}

TEST_CASE(unwritable_places_say_why)
{
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open("/nonexistent/a.qpt", &info, &w), -ENOENT);
	assert_int_equal(trace_writer__open("/tmp", &info, &w), -EEXIST);
	assert_null(w);
}

TEST_CASE_WITH(a_killed_writer_leaves_what_it_flushed, NULL, remove_file)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct trace_writer *w = open_with_names();
		struct trace_span flushed = {.end_ns = 1, .label = 1};
		struct trace_span lost = {.end_ns = 2, .label = 1};

		if (trace_writer__span(w, &flushed) || trace_writer__flush(w) ||
		    trace_writer__span(w, &lost))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_shows(dump_trace(path), "span 0/0 depth=0 0..1 typeck #0\nproblem: unfinished: ");
}

CASE(the_largest_tally_comes_back)
{
	const struct trace_tally tally = {
		.label = 1, .kind = TRACE_KIND_HIT_COUNT, .events = UINT64_MAX};
	_free_ char *text = NULL;

	must(trace_writer__tally(w, &tally), trace_writer__flush(w));
	text = dump_trace(path);
	assert_non_null(
		strstr(text, "tally 0 typeck [QueryCacheHitCount] 18446744073709551615 0\n"));
}

/* The strings come back in the order in which they were given, and as often. */
CASE(results_come_back)
{
	uint32_t items[4], typeck;
	struct trace_results r = {.kind = TRACE_RESULTS_UNSURE, .n = 4, .items = items};

	assert_int_equal(trace_writer__intern(w, "a::one", &items[1]), 0);
	assert_int_equal(trace_writer__intern(w, "a::two", &items[0]), 0);
	assert_int_equal(trace_writer__intern(w, "typeck", &typeck), 0);
	items[2] = items[3] = items[1];
	r.label = typeck;
	assert_int_equal(trace_writer__results(w, &r), 0);
	r = (struct trace_results){.kind = TRACE_RESULTS_UNKNOWN, .label = typeck};
	must(trace_writer__results(w, &r), trace_writer__flush(w));
	assert_shows(dump_trace(path), "results 0 typeck 1: a::two a::one a::one a::one\n"
				       "results 0 typeck 2:\n");
	r = (struct trace_results){.process = 1};
	assert_int_equal(trace_writer__results(w, &r), -EINVAL);
	r = (struct trace_results){.n = 1, .items = &(uint32_t){1000}};
	assert_int_equal(trace_writer__results(w, &r), -EINVAL);
	r = (struct trace_results){.n = TRACE_RESULTS_MAX + 1, .items = NULL};
	assert_int_equal(trace_writer__results(w, &r), -EINVAL);
}

CASE(symbols_come_back)
{
	_trace_reader_ struct trace_reader *r = NULL;
	const char *why = NULL;
	struct trace_symbol s = {.process = 0};
	struct trace_item item;

	must(trace_writer__intern(w, "_ZN1a3oneE", &s.symbol),
	     trace_writer__intern(w, "a::one", &s.item), trace_writer__symbol(w, &s));
	assert_int_equal(trace_writer__symbol(w, &(struct trace_symbol){.process = 1}), -EINVAL);
	assert_int_equal(trace_writer__symbol(w, &(struct trace_symbol){.symbol = 1000}), -EINVAL);
	assert_int_equal(trace_writer__symbol(w, &(struct trace_symbol){.item = 1000}), -EINVAL);
	must(trace_writer__flush(w), trace_reader__open(path, &r, &why));
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		continue;
	assert_int_equal(trace_reader__symbol_item(r, 0, s.symbol), s.item);
	assert_int_equal(trace_reader__symbol_item(r, 0, s.item), TRACE_NO_STRING);
	assert_int_equal(trace_reader__symbol_item(r, 1, s.symbol), TRACE_NO_STRING);
}

/* ---- Sample writer --------------------------------------------------------------------------- */

TEST_GROUP(NULL, NULL)

#define SAMPLED_CASE(name)                                      \
	TEST_CASE_GIVEN(name, temporary_make, temporary_remove, \
			_trace_writer_ struct trace_writer *, w, sampled_trace_open(temporary))

SAMPLED_CASE(samples_come_back_with_their_stacks)
{
	struct trace_sample s;

	sampled_trace_begin(w);
	s = sampled_trace_sample(1000, sampled_trace_stack(w, SAMPLED_TYPECK, 5));
	assert_int_equal(trace_writer__sample(w, &s), 0);
	s = sampled_trace_sample(2000, sampled_trace_stack(w, SAMPLED_MIR_BUILT, 6));
	s.cut = TRACE_CUT_NO_RULE;
	s.label = SAMPLED_TYPECK;
	s.kind = TRACE_KIND_BLOCKED;
	s.depth = 3;
	assert_int_equal(trace_writer__sample(w, &s), 0);
	s = sampled_trace_sample(3000, TRACE_NO_STACK);
	s.cause = TRACE_SAMPLE_FAULT;
	s.value = 409600;
	must(trace_writer__sample(w, &s), trace_writer__finish(w));
	assert_shows(dump_trace(temporary),
		     "=info [t] [k] [h] 0 0\n"
		     "sampling 499 Hz, faults by 100, off-cpu\n"
		     "process 0 pid=40 parent=0 start=0 end=0 [rustc] [-] [-] [-] [-] [-]\n"
		     "sample 0/40 cpu 1000 2004008 stack=3:"
		     " rustc_hir::walk+5(/lib/librustc_driver.so) 1:typeck"
		     " rustc_driver::main+7(/lib/librustc_driver.so)\n"
		     "sample 0/40 cpu 2000 2004008 cut=2 in=typeck [QueryBlocked] depth=3 stack=5:"
		     " rustc_hir::walk+6(/lib/librustc_driver.so) 1:mir_built"
		     " rustc_driver::main+7(/lib/librustc_driver.so)\n"
		     "sample 0/40 fault 3000 409600 stack=0:\n"
		     "whole\n");
}

SAMPLED_CASE(samples_come_back_with_what_llvm_was_doing)
{
	const struct trace_llvm entries[] = {
		{SAMPLED_TYPECK, SAMPLED_MIR_BUILT, TRACE_LLVM_FUNCTION, true},
		{SAMPLED_TYPECK, TRACE_NO_STRING, TRACE_LLVM_MODULE, false},
	};
	struct trace_sample s = sampled_trace_sample(1000, TRACE_NO_STACK);

	sampled_trace_begin(w);
	s.llvm = 1;
	assert_int_equal(trace_writer__sample(w, &s), -EINVAL);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(trace_writer__llvm(w, &entries[i / 2], &s.llvm), 0);
		assert_int_equal(s.llvm, 1 + i / 2);
		assert_int_equal(trace_writer__sample(w, &s), 0);
		s.time_ns += 1000;
	}
	assert_int_equal(trace_writer__finish(w), 0);
	assert_shows(dump_trace(temporary),
		     "cpu 2000 2004008 llvm=codegen:typeck:function:mir_built stack=0",
		     "cpu 4000 2004008 llvm=typeck:module stack=0");
}

SAMPLED_CASE(it_says_that_stacks_were_not_asked_for)
{
	const struct trace_sampling sampling = {.fault_period = 10, .light = true};

	must(trace_writer__sampling(w, &sampling), trace_writer__finish(w));
	assert_shows(dump_trace(temporary), "sampling 0 Hz, faults by 10, light\n");
}

SAMPLED_CASE(what_was_not_added_is_refused)
{
	const struct trace_sampling sampling = {.hz = 1};
	const struct trace_sample good = sampled_trace_sample(5, TRACE_NO_STACK);
	struct trace_sample bad[] = {good, good, good, good, good, good, good, good};

	assert_int_equal(trace_writer__sample(w, &good), -EINVAL);
	sampled_trace_begin(w);
	assert_int_equal(trace_writer__sampling(w, &sampling), -EINVAL);
	bad[0].process = 1;
	bad[1].stack = 1;
	bad[2].label = 100;
	bad[3].label = TRACE_VIRTUAL;
	bad[4].cause = 0;
	bad[5].cause = TRACE_SAMPLE_CAUSES;
	bad[6].cut = TRACE_CUT_MAX;
	bad[7].cause = TRACE_SAMPLE_OFF_CPU;
	bad[7].value = UINT64_MAX - 4;
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(trace_writer__sample(w, &bad[i]), -EINVAL);
	must(trace_writer__sample(w, &good), trace_writer__finish(w));
}

/* More than a chunk of samples and of entries, with flushes between. */
SAMPLED_CASE(nothing_is_lost_between_chunks)
{
	struct rng rng = rng_new();
	struct walk walk = {.rng = &rng};
	_trace_reader_ struct trace_reader *r = NULL;
	const struct trace_function code = {1000, 1000000, 0, "beef", "code", NULL};
	struct trace_item item;
	uint32_t n = 0, entries = 0;

	sampled_trace_begin(w);
	assert_int_equal(trace_writer__function(w, &code), 0);
	for (int i = 0; i < 10000; i++) {
		struct trace_sample s = sampled_trace_sample(walk.now_ns, TRACE_NO_STACK);

		walk_step(&walk);
		for (uint32_t k = 0; k < walk.depth; k++) {
			struct trace_stack entry = walk_entry(&walk, k);

			entry.place += 1000;
			s.stack = sampled_trace_entry(w, s.stack, entry.kind, entry.place);
		}
		/* The time is as good a place as any for what it should be. */
		s.time_ns = walk_entry(&walk, walk.depth - 1).place + 1000;
		assert_int_equal(trace_writer__sample(w, &s), 0);
		entries = s.stack > entries ? s.stack : entries;
		if (!rng_below(&rng, 2000))
			assert_int_equal(trace_writer__flush(w), 0);
	}
	must(trace_writer__finish(w), trace_reader__open(temporary, &r, NULL));
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind != TRACE_ITEM_SAMPLE)
			continue;
		n++;
		assert_int_equal(trace_reader__stack(r, item.sample.stack)->place,
				 item.sample.time_ns);
	}
	assert_null(trace_reader__problem(r));
	assert_int_equal(n, 10000);
	assert_int_equal(trace_reader__stacks(r), entries);
	assert_int_equal(trace_reader__stats(r).stacks, entries);
}

SAMPLED_CASE(the_file_of_a_library_is_stored_once)
{
	struct trace_function f = {1000, 10, 0, "feed", "more", "/elsewhere"};
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_location at;
	struct trace_item item;

	assert_int_equal(trace_writer__function(w, &f), 0);
	f = (struct trace_function){2000, 10, 0, "beef", "", NULL};
	must(trace_writer__function(w, &f), trace_writer__finish(w),
	     trace_reader__open(temporary, &r, NULL));
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	assert_true(trace_reader__location(r, 1000, &at));
	assert_string_equal(at.function->file, "/lib/librustc_driver.so");
	assert_true(trace_reader__location(r, 2000, &at));
	assert_struct(*at.function, file, NULL, name, "");
}

TEST_MAIN(make_directory, directory_remove)
