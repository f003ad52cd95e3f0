// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader.h"

#include <glob.h>

#include "test.h"
#include "../fixtures/functions.h"
#include "../fixtures/spans.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"
#include "qprof/trace_format.h"
#include "trace/writer.h"

#define GOLDEN "tests/golden/"

static struct trace_writer *open_writer(void)
{
	const struct trace_info info = {.tool = "qprof-bpf test",
					.kernel = "6.18",
					.host = "h",
					.clock = TRACE_CLOCK_REALTIME,
					.clock_start_ns = 5,
					.realtime_start_ns = 1700000000000000000};
	struct trace_writer *w = NULL;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	return w;
}

/* Read the rest of a trace; returns what the reader has counted. */
static struct trace_stats read_to_end(struct trace_reader *r)
{
	struct trace_item item;

	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	return trace_reader__stats(r);
}

static void add_names(struct trace_writer *w, uint32_t n_processes, uint32_t n_labels)
{
	char text[32];
	uint32_t id;

	for (uint32_t i = 0; i < n_labels; i++) {
		snprintf(text, sizeof(text), "query_%u", i);
		assert_int_equal(trace_writer__intern(w, text, &id), 0);
		assert_int_equal(id, i);
	}
	for (uint32_t i = 0; i < n_processes; i++) {
		struct trace_process p = {.index = i,
					  .pid = 100 + i,
					  .exit_status = TRACE_EXIT_UNKNOWN,
					  .command = text};

		snprintf(text, sizeof(text), "rustc %u", i);
		assert_int_equal(trace_writer__process(w, &p), 0);
	}
}

static void write_spans(struct trace_writer *w, const struct spans *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(trace_writer__span(w, &s->at[i]), 0);
}

/* A function for add_lines(). */
static void add_function(struct trace_writer *w, const char *name, uint32_t first, uint32_t size)
{
	const struct trace_function f = {first, size, 0x1000, "abcd", name, NULL};

	assert_int_equal(trace_writer__function(w, &f), 0);
}

static void add_lines(struct trace_writer *w, uint32_t first)
{
	struct trace_line rows[] = {{0, 0, 10}, {4, 0, 11}};

	assert_int_equal(trace_writer__intern(w, "src/lib.rs", &rows[0].file), 0);
	rows[1].file = rows[0].file;
	assert_int_equal(trace_writer__lines(w, first, rows, 2), 0);
}

/* A file with every type of chunk, some twice. */
static uint8_t *small_file(size_t *size)
{
	struct trace_process gone = {
		.index = 1, .pid = 101, .end_ns = 9, .exit_status = 256, .no_llvm = "why"};
	struct trace_losses losses = {.count = {[TRACE_LOST_RING_FULL] = 3}};
	struct trace_thread thread = {.process = 1, .tid = 1000, .name = "opt cgu.0"};
	struct trace_costs costs = {.ps = {430000}};
	struct trace_mapping events = {.process = 1, .n = 200, .string = 5, .series = false};
	struct trace_mapping label = {.process = TRACE_NO_PROCESS, .first = 9, .n = 1};
	struct rng rng = {42};
	_free_ struct spans *s = spans_new(&rng, 60, 2, 20);
	_trace_writer_ struct trace_writer *w = open_writer();
	uint32_t id;

	add_names(w, 2, 20);
	s->at[3].label = TRACE_VIRTUAL | 9;
	add_function(w, "rustc::asks", 1, 20);
	s->at[5].caller = 5;
	s->at[7].caller = 21;
	write_spans(w, s, 0, 30);
	must(trace_writer__flush(w), trace_writer__thread(w, &thread),
	     trace_writer__costs(w, &costs), trace_writer__losses(w, &losses),
	     trace_writer__intern(w, "a name that comes later", &id));
	s->at[40].label = id;
	add_function(w, "rustc::asks_too", 30, 5);
	s->at[41].caller = 32;
	s->at[42].caller = 25;
	write_spans(w, s, 30, s->n);
	assert_int_equal(trace_writer__intern(w, "core::iter::Map", &label.string), 0);
	assert_int_equal(trace_writer__map(w, &label), 0);
	add_lines(w, 30);
	add_lines(w, 1);
	must(trace_writer__map(w, &events), trace_writer__process(w, &gone),
	     trace_writer__finish(w));
	return slurp(temporary, size);
}

/* Match a span with the next unread one of its thread: a chunk groups spans by thread. */
static void check_span(const struct trace_span *got, const struct spans *s, bool *seen)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_span *want = &s->at[i];

		if (seen[i] || want->process != got->process || want->tid != got->tid)
			continue;
		assert_true(spans_same(want, got));
		seen[i] = true;
		return;
	}
	fail_msg("a span that was not written");
}

TEST_CASE(written_spans_are_read_back)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 9000, 5, 300);
	_free_ bool *seen = calloc(s->n, sizeof(*seen));
	_trace_writer_ struct trace_writer *w = open_writer();
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_item item;
	uint32_t n = 0;

	add_names(w, 5, 300);
	write_spans(w, s, 0, s->n);
	must(trace_writer__finish(w), trace_reader__open(temporary, &r, NULL));
	assert_struct(*trace_reader__info(r), tool, "qprof-bpf test", clock, TRACE_CLOCK_REALTIME,
		      clock_start_ns, 5);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind != TRACE_ITEM_SPAN)
			continue;
		check_span(&item.span, s, seen);
		n++;
	}
	assert_int_equal(n, s->n);
	assert_null(trace_reader__problem(r));
	assert_string_equal(trace_reader__string(r, 299), "query_299");
	assert_string_equal(trace_reader__string(r, UINT32_MAX), "<unknown>");
	/* Reading again at the end yields the end again. */
	assert_int_equal(trace_reader__next(r, &item), 0);
	assert_int_equal(item.kind, TRACE_ITEM_END);
}

TEST_CASE(processes_come_before_their_spans_and_update)
{
	_free_ uint8_t *bytes = NULL;
	_free_ char *text = NULL;
	const char *first, *update;
	size_t size;

	bytes = small_file(&size);
	text = dump_bytes(bytes, size);
	first = strstr(text, "process 1 pid=101 parent=0 start=0 end=0 [rustc 1]");
	update =
		strstr(text, "process 1 pid=101 parent=0 start=0 end=9 exit=256 no_llvm=[why] [-]");
	assert_non_null(first);
	assert_non_null(update);
	assert_true(first < strstr(text, "\nspan 1/"));
	assert_non_null(strstr(text, " a name that comes later"));
	assert_non_null(strstr(text, " core::iter::Map"));
	assert_non_null(strstr(text, " event=query_5"));
	assert_non_null(strstr(text, "thread 1/1000 [opt cgu.0]\n"));
	assert_non_null(strstr(text, "costs 430000 0 0 0\n"));
	assert_non_null(strstr(text, "losses ring_full=3\n"));
	assert_non_null(strstr(text, " from=rustc::asks+4@src/lib.rs:10\n"));
	assert_non_null(strstr(text, " from=rustc::asks+20@src/lib.rs:11\n"));
	assert_non_null(strstr(text, " from=rustc::asks_too+2@src/lib.rs:10\n"));
	assert_non_null(strstr(text, " from=25\n"));
	assert_string_equal(text + strlen(text) - 6, "whole\n");
}

/*
 * Remove texts of virtual ids and lines from a dump: a truncated file may lack the chunks that hold
 * them.
 */
static void drop_late(char *text)
{
	static const char *const late[] = {" event=query_5", "core::iter::Map", "<unknown>"};
	char *at;

	while ((at = strchr(text, '@')))
		memmove(at, strchr(at, '\n'), strlen(strchr(at, '\n')) + 1);
	for (size_t i = 0; i < N_OF(late); i++)
		while ((at = strstr(text, late[i])))
			memmove(at, at + strlen(late[i]), strlen(at + strlen(late[i])) + 1);
}

/* `cut` must be a prefix of `whole`, with all names, followed by the problem. */
static void assert_prefix(const char *whole, const char *cut)
{
	const char *problem = strstr(cut, "problem: ");

	if (!strncmp(cut, "refused: EBADMSG: ", 18) ||
	    !strncmp(cut, "refused: EPROTONOSUPPORT: ", 26))
		return;
	assert_non_null(problem);
	assert_null(strstr(cut, "<unknown>"));
	assert_memory_equal(whole, cut, problem - cut);
}

TEST_CASE(every_cut_reads_as_a_prefix)
{
	_free_ uint8_t *bytes = NULL;
	_free_ char *whole = NULL;
	size_t last = 0;
	size_t size;

	bytes = small_file(&size);
	whole = dump_bytes(bytes, size);
	drop_late(whole);
	for (size_t n = 0; n < size; n++) {
		_free_ char *cut = dump_bytes(bytes, n);

		drop_late(cut);
		assert_prefix(whole, cut);
		/* A longer piece holds no less; one with a complete first chunk is readable. */
		if (*cut != 'r') {
			size_t held = strstr(cut, "problem: ") - cut;
			char problem[64];

			snprintf(problem, sizeof(problem), "problem: cut short at byte %zu: ", n);
			assert_memory_equal(cut + held, problem, strlen(problem));
			assert_true(held >= last);
			last = held;
		}
		assert_true(*cut != 'r' || !last);
	}
	assert_int_equal(last, strlen(whole) - strlen("whole\n"));
}

TEST_CASE(every_flipped_bit_is_noticed)
{
	_free_ uint8_t *bytes = NULL;
	_free_ char *whole = NULL;
	size_t size;

	bytes = small_file(&size);
	whole = dump_bytes(bytes, size);
	drop_late(whole);
	for (size_t bit = 0; bit < size * 8; bit++) {
		_free_ char *damaged = NULL;

		bytes[bit / 8] ^= 1 << bit % 8;
		damaged = dump_bytes(bytes, size);
		bytes[bit / 8] ^= 1 << bit % 8;
		drop_late(damaged);
		assert_prefix(whole, damaged);
	}
}

/* The criteria of a filter; 0 and NULL: any. */
struct wish {
	uint64_t from_ns, to_ns;
	char label, process; /* the last ones of label and command */
	const char *name;
	uint32_t not_pid; /* plus 1 */
};

static bool wants_label(void *ctx, const char *text)
{
	const struct wish *wish = ctx;

	return (!wish->label || text[strlen(text) - 1] == wish->label) &&
	       (!wish->name || !strcmp(text, wish->name));
}

static bool wants_process(void *ctx, const struct trace_process *p)
{
	const struct wish *wish = ctx;

	return (!wish->process || p->command[strlen(p->command) - 1] == wish->process) &&
	       p->pid + 1 != wish->not_pid;
}

/* Passes the spans that the reader's filter lets through, or the same filter applied `by_hand`. */
static struct trace_stats each_wanted(const char *file, struct wish *wish, bool by_hand,
				      void (*take)(void *ctx, const struct trace_reader *r,
						   const struct trace_item *item),
				      void *ctx)
{
	const struct trace_filter filter = {
		wish->from_ns, wish->to_ns ?: UINT64_MAX, wants_process, wants_label, wish, false};
	const struct trace_process *processes[40];
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_item item;

	assert_int_equal(trace_reader__open(file, &r, NULL), 0);
	if (!by_hand)
		trace_reader__filter(r, &filter);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		const struct trace_span *s = &item.span;

		if (item.kind == TRACE_ITEM_PROCESS)
			processes[item.process->index] = item.process;
		if (item.kind != TRACE_ITEM_SPAN)
			continue;
		if (!by_hand || (s->end_ns >= filter.from_ns && s->start_ns <= filter.to_ns &&
				 wants_label(wish, trace_reader__string(r, s->label)) &&
				 wants_process(wish, processes[s->process])))
			take(ctx, r, &item);
	}
	if (trace_reader__problem(r) && strncmp(trace_reader__problem(r), "unfinished", 10) != 0)
		fail_msg("%s: %s", file, trace_reader__problem(r));
	return trace_reader__stats(r);
}

struct sums {
	uint64_t n, starts;
};

static void add_to_sums(void *ctx, const struct trace_reader *r, const struct trace_item *item)
{
	struct sums *sums = ctx;

	sums->n++;
	sums->starts += item->span.start_ns;
}

static struct sums sums_of(const char *file, struct wish *wish, bool by_hand,
			   struct trace_stats *stats)
{
	struct sums sums = {0};

	*stats = each_wanted(file, wish, by_hand, add_to_sums, &sums);
	return sums;
}

/* Processes follow each other and labels change, so chunks differ in their contents. */
static struct spans *write_phases(struct rng *rng, bool finish)
{
	struct spans *s = spans_new(rng, 19000, 1, 30);
	struct trace_writer *w = open_writer();

	add_names(w, 40, 300);
	for (uint32_t i = 0; i < s->n; i++) {
		s->at[i].process = i / 500;
		s->at[i].label += i / 2000 * 30;
		assert_int_equal(trace_writer__span(w, &s->at[i]), 0);
		if (i % 100 == 99)
			assert_int_equal(trace_writer__flush(w), 0);
	}
	assert_int_equal(finish ? trace_writer__finish(w) : trace_writer__flush(w), 0);
	trace_writer__free(w);
	return s;
}

TEST_CASE(filters_give_what_reading_all_would)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = write_phases(&rng, true);
	uint64_t first = s->at[0].start_ns, length = s->now - first, saved = 0;

	for (int i = 0; i < 60; i++) {
		struct wish wish = {};
		struct trace_stats all, stats;
		struct sums want, got;

		if (rng_below(&rng, 2))
			wish.from_ns = first + rng_below(&rng, length);
		if (rng_below(&rng, 2))
			wish.to_ns = first + rng_below(&rng, length);
		if (rng_below(&rng, 2))
			wish.label = '0' + rng_below(&rng, 11);
		if (rng_below(&rng, 2))
			wish.process = '0' + rng_below(&rng, 11);
		want = sums_of(temporary, &wish, true, &all);
		got = sums_of(temporary, &wish, false, &stats);
		assert_struct(got, n, want.n, starts, want.starts);
		assert_int_equal(stats.spans + stats.passed_over, s->n);
		assert_int_equal(all.passed_over, 0);
		saved += stats.passed_over;
	}
	assert_true(saved > 20UL * s->n);
}

/* The file of a killed writer has no index, and a reader of a pipe cannot use one. */
TEST_CASE(filters_need_no_index)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = write_phases(&rng, false);
	struct wish wish = {s->at[9000].start_ns, s->at[10000].end_ns, .label = '7'};
	struct trace_stats stats;
	struct sums want, got;
	char pipe_path[64];
	int fds[2];

	want = sums_of(temporary, &wish, true, &stats);
	got = sums_of(temporary, &wish, false, &stats);
	assert_true(want.n > 0);
	assert_struct(got, n, want.n, starts, want.starts);
	assert_int_equal(pipe(fds), 0);
	if (!fork()) {
		size_t size = 0;
		uint8_t *bytes = slurp(temporary, &size);

		_exit(write(fds[1], bytes, size) != (ssize_t)size);
	}
	close(fds[1]);
	snprintf(pipe_path, sizeof(pipe_path), "/proc/self/fd/%d", fds[0]);
	got = sums_of(pipe_path, &wish, false, &stats);
	close(fds[0]);
	assert_int_equal(got.n, want.n);
	assert_int_equal(stats.chunks_passed_over, 0);
}

TEST_CASE(the_index_has_every_chunk)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = write_phases(&rng, true);
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_stats stats;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	trace_reader__check_index(r);
	stats = read_to_end(r);
	assert_int_equal(stats.misindexed, 0);
	assert_int_equal(stats.indexed + stats.unindexed, stats.chunks);
	assert_true(stats.unindexed >= 3);
	assert_struct(stats, whole_bytes, stats.file_bytes, damaged, false);
}

TEST_CASE(names_that_never_come_are_counted)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_stats stats;

	assert_int_equal(trace_reader__open(GOLDEN "good-strings.qpt", &r, NULL), 0);
	stats = read_to_end(r);
	assert_struct(stats, unknown_labels, 1, unknown_events, 2, mapped, 5);
}

static struct functions *write_functions(struct rng *rng, struct spans *s)
{
	struct functions *all = functions_new(rng, FUNCTIONS_MAX, 20);
	struct trace_writer *w = open_writer();

	add_names(w, 2, 20);
	for (uint32_t i = 0, n = 0; i < s->n; i++) {
		for (; n < all->n && rng_below(rng, 2); n++)
			assert_int_equal(trace_writer__function(w, &all->at[n].f), 0);
		if (n && rng_below(rng, 3))
			s->at[i].caller =
				rng_below(rng, all->at[n - 1].f.first + all->at[n - 1].f.size + 1);
		assert_int_equal(trace_writer__span(w, &s->at[i]), 0);
	}
	for (uint32_t i = all->n; i-- > 0;)
		assert_int_equal(trace_writer__lines(w, all->at[i].f.first, all->at[i].rows,
						     all->at[i].n_rows),
				 0);
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
	return all;
}

static void check_location(const struct trace_reader *r, const struct functions *all,
			   uint32_t locindex)
{
	const struct function_model *m = functions_find(all, locindex);
	const struct trace_line *line;
	struct trace_location got;

	assert_int_equal(trace_reader__location(r, locindex, &got), m != NULL);
	if (!m)
		return;
	assert_struct(*got.function, name, m->name, library, m->f.library, addr, m->f.addr);
	assert_int_equal(got.offset, locindex - m->f.first);
	line = function_model__line(m, got.offset);
	assert_int_equal(got.line, line ? line->line : 0);
	if (line)
		assert_string_equal(got.file, trace_reader__string(r, line->file));
	else
		assert_null(got.file);
}

/* Locations have lines from the first span on, though LINES chunks come last in the file. */
TEST_CASE(callers_are_known_by_function_and_line)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 9000, 2, 20);
	_free_ struct functions *all = write_functions(&rng, s);
	_free_ bool *seen = calloc(s->n, sizeof(*seen));
	_trace_reader_ struct trace_reader *r = NULL;
	uint64_t callers = 0, unknown = 0;
	struct trace_stats stats;
	struct trace_item item;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind != TRACE_ITEM_SPAN)
			continue;
		check_span(&item.span, s, seen);
		check_location(r, all, item.span.caller);
		callers += item.span.caller != TRACE_NO_LOCATION;
		unknown += item.span.caller != TRACE_NO_LOCATION &&
			   !functions_find(all, item.span.caller);
	}
	assert_null(trace_reader__problem(r));
	stats = trace_reader__stats(r);
	assert_struct(stats, callers, callers, unknown_callers, unknown, functions, all->n);
}

TEST_CASE(what_was_built_again_is_kept)
{
	struct trace_rebuilt rows[2] = {{.detail = TRACE_NO_STRING, .reason = TRACE_REBUILT_FLAGS},
					{.reason = TRACE_REBUILT_FILE}};
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_writer_ struct trace_writer *w = open_writer();
	struct trace_item item;

	assert_int_equal(trace_writer__rebuilt(w, &rows[0]), -EINVAL);
	assert_int_equal(trace_writer__intern(w, "low", &rows[0].crate), 0);
	assert_int_equal(trace_writer__intern(w, "app (bin)", &rows[1].crate), 0);
	assert_int_equal(trace_writer__intern(w, "src/main.rs", &rows[1].detail), 0);
	/* So many that their chunk is compressed. */
	for (int i = 0; i < 300; i++)
		assert_int_equal(trace_writer__rebuilt(w, &rows[i % 2]), 0);
	must(trace_writer__finish(w), trace_reader__open(temporary, &r, NULL));
	for (int i = 0; i < 300; i++) {
		assert_int_equal(trace_reader__next(r, &item), 0);
		assert_struct(item, kind, TRACE_ITEM_REBUILT, rebuilt.crate, rows[i % 2].crate,
			      rebuilt.detail, rows[i % 2].detail, rebuilt.reason,
			      rows[i % 2].reason);
	}
	assert_string_equal(trace_reader__string(r, item.rebuilt.detail), "src/main.rs");
	assert_int_equal(trace_reader__next(r, &item), 0);
	assert_int_equal(item.kind, TRACE_ITEM_END);
	assert_null(trace_reader__problem(r));
}

TEST_CASE(missing_files_say_why)
{
	_trace_reader_ struct trace_reader *r = NULL;
	const char *why = NULL;

	assert_int_equal(trace_reader__open("/nonexistent/a.qpt", &r, &why), -ENOENT);
	assert_string_equal(why, "No such file or directory");
	assert_int_equal(trace_reader__open("/tmp", &r, &why), -EISDIR);
	assert_string_equal(why, "Is a directory");
	assert_int_equal(trace_reader__open("/dev/null", &r, NULL), -EBADMSG);
	assert_null(r);
}

static void check_golden(const char *pattern, size_t least)
{
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_free_ char *text = dump_trace(found.gl_pathv[i]);
		_free_ char *expected = NULL;
		size_t size;

		strcpy(strrchr(found.gl_pathv[i], '.'), ".txt");
		expected = (char *)slurp(found.gl_pathv[i], &size);
		assert_non_null(expected);
		if (strcmp(text, expected))
			fail_msg("%s: got\n%s", found.gl_pathv[i], text);
	}
	globfree(&found);
}

TEST_CASE(good_golden_files_are_read)
{
	check_golden(GOLDEN "good-*.qpt", 9);
}

static void dump_to(void *ctx, const struct trace_reader *r, const struct trace_item *item)
{
	trace_dump_item(ctx, r, item);
}

static char *golden_items(const char *file, struct wish *wish, bool by_hand, uint64_t *passed_over)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*passed_over += each_wanted(file, wish, by_hand, dump_to, out).chunks_passed_over;
	fclose(out);
	return text;
}

/* The files include wrong indexes, except those that hide wanted items. */
TEST_CASE(golden_files_are_filtered_as_by_hand)
{
	struct wish wishes[] = {
		{},
		{.name = "typeck"},
		{.name = "none"},
		{.name = "late"},
		{.name = "<unknown>"},
		{.not_pid = 1},
		{.not_pid = 10},
		{.not_pid = 4712},
		{.name = "mir_built", .not_pid = 1},
		{.from_ns = 1015},
		{.to_ns = 1015},
		{.from_ns = 2500, .to_ns = 3199},
		{.from_ns = 15, .to_ns = 3049},
		{.name = "typeck", .from_ns = 1, .to_ns = 2},
	};
	uint64_t passed_over = 0;
	glob_t found;

	assert_int_equal(glob(GOLDEN "good-*.qpt", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		for (size_t k = 0; k < N_OF(wishes); k++) {
			const char *file = found.gl_pathv[i];
			_free_ char *want = golden_items(file, &wishes[k], true, &passed_over);
			_free_ char *got = golden_items(file, &wishes[k], false, &passed_over);

			if (strcmp(got, want))
				fail_msg("%s, %zu: got\n%swant\n%s", file, k, got, want);
		}
	}
	assert_true(passed_over > 0);
	globfree(&found);
}

/* Whether checking finds the index of a file wrong. */
static bool is_index_wrong(const char *file)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_stats stats;

	assert_int_equal(trace_reader__open(file, &r, NULL), 0);
	trace_reader__check_index(r);
	stats = read_to_end(r);
	assert_false(stats.damaged);
	return stats.index_is_wrong || stats.misindexed;
}

TEST_CASE(every_wrong_index_is_noticed)
{
	glob_t found;

	assert_int_equal(glob(GOLDEN "good-*.qpt", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *file = found.gl_pathv[i];
		bool wrong = strstr(file, "good-index-") && !strstr(file, "good-index-right");

		if (is_index_wrong(file) != wrong)
			fail_msg("%s: its index is %swrong", file, wrong ? "" : "not ");
	}
	globfree(&found);
}

TEST_CASE(bad_golden_files_are_refused_for_the_right_reason)
{
	check_golden(GOLDEN "bad-*.qpt", 45);
}

TEST_MAIN(temporary_make, temporary_remove)
