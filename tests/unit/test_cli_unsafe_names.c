// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Names in a trace are other people's: no output that may reach a terminal passes on what the
 * terminal would act on, nor bytes that are no UTF-8.
 */

#include "test.h"
#include "../fixtures/command_line.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "base/format.h"
#include "options/exit_code.h"
#include "trace/writer.h"

/* Each name begins so, and goes on with all that is unsafe. */
#define MARK "hostile"

static char hostile[256];
static char trace[64], other[64];

static void add_character(uint32_t cp)
{
	char *to = hostile + strlen(hostile);

	if (cp < 0x80)
		*to++ = (char)cp;
	else if (cp < 0x800)
		*to++ = (char)(0xc0 | cp >> 6);
	if (cp >= 0x800) {
		*to++ = (char)(0xe0 | cp >> 12);
		*to++ = (char)(0x80 | (cp >> 6 & 0x3f));
	}
	if (cp >= 0x80)
		*to++ = (char)(0x80 | (cp & 0x3f));
	*to = '\0';
}

/* C0, DEL and C1; directions of text; separators of lines and paragraphs. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{0x01, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},
	{0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
};

static bool is_unsafe(uint32_t cp)
{
	for (size_t i = 0; i < N_OF(unsafe); i++)
		if (cp >= unsafe[i].first && cp <= unsafe[i].last)
			return true;
	return false;
}

static void make_hostile(void)
{
	strcpy(hostile, MARK);
	for (size_t i = 0; i < N_OF(unsafe); i++)
		for (uint32_t cp = unsafe[i].first; cp <= unsafe[i].last; cp++)
			add_character(cp);
	strcat(hostile, "\xff\x9b[2J\"\\<&");
}

static void write_names(struct trace_writer *w, uint32_t *id)
{
	const struct trace_thread thread = {0, 100, hostile};
	const struct trace_function function = {.first = 1,
						.size = 20,
						.addr = 0x1000,
						.library = "dd",
						.name = hostile,
						.file = hostile};
	struct trace_process p = {.index = 0,
				  .pid = 100,
				  .start_ns = 1000,
				  .end_ns = 9000000,
				  .cpu_ns = 5000000,
				  .peak_bytes = 1 << 20,
				  .command = hostile,
				  .crate = hostile,
				  .crate_type = hostile,
				  .rustc_version = hostile,
				  .build_id = "dd",
				  .cwd = hostile};
	uint8_t kind;

	assert_int_equal(trace_writer__process(w, &p), 0);
	p.index = 1;
	p.pid = 200;
	p.exit_status = 256;
	must(trace_writer__process(w, &p), trace_writer__thread(w, &thread),
	     trace_writer__intern(w, hostile, id), trace_writer__kind(w, hostile, &kind),
	     trace_writer__function(w, &function));
}

static void write_events(struct trace_writer *w, uint32_t id)
{
	const struct trace_mapping event = {0, 7, 1, &id, 0, false};
	const struct trace_place place = {0, id, id, 12, id, 13};
	const struct trace_sampling sampling = {.hz = 499, .fault_period = 100, .off_cpu = true};
	const struct trace_line line = {0, id, 14};
	const struct trace_llvm in_llvm = {
		.pass = id, .function = id, .scope = TRACE_LLVM_FUNCTION};
	const struct trace_symbol symbol = {.process = 0, .symbol = id, .item = id};
	struct trace_stack entry = {
		.parent = TRACE_NO_STACK, .kind = TRACE_STACK_QUERY, .place = id};
	struct trace_sample sample = {
		.tid = 100, .label = TRACE_NO_STRING, .value = 2000000, .time_ns = 5000};

	must(trace_writer__map(w, &event), trace_writer__place(w, &place),
	     trace_writer__lines(w, 1, &line, 1));
	for (uint64_t i = 0; i < 4; i++) {
		const struct trace_span span = {.start_ns = 2000 + 1000000 * i,
						.end_ns = 900000 + 1000000 * i,
						.tid = 100,
						.label = id,
						.invocation = 7,
						.caller = 3,
						.kind = i < 2	? TRACE_KIND_QUERY
							: i < 3 ? TRACE_KIND_ACTIVITY
								: TRACE_KIND_OTHER};

		assert_int_equal(trace_writer__span(w, &span), 0);
	}
	must(trace_writer__sampling(w, &sampling), trace_writer__stack(w, &entry, &sample.stack));
	entry = (struct trace_stack){.parent = sample.stack, .place = 4};
	must(trace_writer__stack(w, &entry, &sample.stack),
	     trace_writer__llvm(w, &in_llvm, &sample.llvm), trace_writer__symbol(w, &symbol));
	for (uint8_t cause = TRACE_SAMPLE_CPU; cause <= TRACE_SAMPLE_FAULT; cause++) {
		sample.cause = cause;
		assert_int_equal(trace_writer__sample(w, &sample), 0);
		sample.time_ns += 2000000;
	}
}

static void write_trace(const char *path)
{
	const struct trace_info info = {
		.tool = hostile,
		.kernel = hostile,
		.host = hostile,
		.command = hostile,
		.clock_start_ns = 1000,
		.realtime_start_ns = 1700000000000000000,
		.id = {{(uint8_t)strlen(path), (uint8_t)path[strlen(path) - 5]}},
		.cpus = 2,
	};
	_trace_writer_ struct trace_writer *w = NULL;
	uint32_t id;

	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	write_names(w, &id);
	write_events(w, id);
	must(trace_writer__losses(w, &(struct trace_losses){}), trace_writer__finish(w));
}

static int begin(void **state)
{
	if (directory_make(state))
		return -1;
	make_hostile();
	strcpy(trace, directory_path("a.qpt"));
	strcpy(other, directory_path("b.qpt"));
	write_trace(trace);
	write_trace(other);
	return 0;
}

/* Of a command line: TRACE, OTHER and DIR are put in. */
static char **split(const char *line, char *copy, size_t size)
{
	static char *argv[32], paths[8][256];
	size_t n = 0, n_paths = 0;

	snprintf(copy, size, "qprof-bpf %s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		char *path = paths[n_paths % N_OF(paths)];

		argv[n++] = !strcmp(word, "TRACE") ? trace : !strcmp(word, "OTHER") ? other : word;
		if (!strncmp(word, "DIR/", 4)) {
			snprintf(path, sizeof(paths[0]), "%s/%s", directory, word + 4);
			argv[n - 1] = path;
			n_paths++;
		} else if (!strcmp(word, "HOSTILE")) {
			argv[n - 1] = hostile;
		}
	}
	argv[n] = NULL;
	return argv;
}

static unsigned int n_faults;

#define FAULT(...) (n_faults++, print_error(__VA_ARGS__))

/* `tabs`: scripts of ours are in it. */
static void check_safe(const char *line, const char *text, bool tabs)
{
	for (const char *p = text, *before; *p;) {
		uint32_t cp = 0;
		size_t len = format_utf8(p, &cp);

		before = p - text > 40 ? p - 40 : text;
		if (!len)
			FAULT("%s: a byte %02x, which is no UTF-8, after: %.*s\n", line,
			      (unsigned char)*p, (int)(p - before), before);
		else if (is_unsafe(cp) && cp != '\n' && !(tabs && cp == '\t'))
			FAULT("%s: U+%04X after: %.*s\n", line, cp, (int)(p - before), before);
		else
			before = NULL;
		if (before)
			return;
		p += len;
	}
}

TEST_CASE_WITH(nothing_unsafe_is_printed, begin, directory_remove)
{
	static const struct {
		const char *line;
		bool nameless; /* prints no name */
		const char *file;
	} all[] = {
		{.line = "report --by build TRACE"},
		{.line = "report --by build --full TRACE"},
		{.line = "report --by build --markdown TRACE"},
		{.line = "report --by build --json TRACE"},
		{.line = "report --by query TRACE"},
		{.line = "report --by query --json TRACE"},
		{.line = "report --by item TRACE"},
		{.line = "report --by item --json TRACE"},
		{.line = "report --by module TRACE"},
		{.line = "report --by crate TRACE"},
		{.line = "report --by crate --json TRACE"},
		{.line = "report --by process TRACE"},
		{.line = "report --by thread TRACE"},
		{.line = "report --by thread --json TRACE"},
		{.line = "report --callers * TRACE"},
		{.line = "report --callers * --json TRACE"},
		{.line = "report --functions TRACE"},
		{.line = "report --functions --json TRACE"},
		{.line = "report --tree down TRACE"},
		{.line = "report --tree down --json TRACE"},
		{.line = "report --memory TRACE"},
		{.line = "report --memory --json TRACE"},
		{.line = "report --waits TRACE"},
		{.line = "report --waits --json TRACE"},
		{.line = "report --by pass TRACE"},
		{.line = "report --by pass --json TRACE"},
		{.line = "report --by generic TRACE", .nameless = true}, /* the mark is cut */
		{.line = "report --by generic --wide TRACE"},
		{.line = "report --by generic --json TRACE"},
		{.line = "report --llvm * TRACE"},
		{.line = "report --llvm * --json TRACE"},
		{.line = "report --llvm HOSTILE TRACE"},
		{.line = "report --query HOSTILE TRACE", .nameless = true},
		{.line = "report --cost TRACE", .nameless = true},
		{.line = "diff TRACE OTHER", .nameless = true},
		{.line = "diff --json TRACE OTHER"},
		{.line = "diff --markdown TRACE OTHER", .nameless = true},
		{.line = "dump TRACE"},
		{.line = "verify TRACE", .nameless = true},
		{.line = "why HOSTILE TRACE"},
		{.line = "why --json HOSTILE TRACE"},
		{.line = "export -f folded -o - TRACE"},
		{.line = "export -f folded --functions -o - TRACE"},
		{.line = "export -f speedscope -o - TRACE"},
		{.line = "export -f counts -o - TRACE"},
		{.line = "export -f jsonl -o - TRACE"},
		{.line = "export -f html -o DIR/page.html TRACE",
		 .nameless = true,
		 .file = "page.html"},
		{.line = "history add --store DIR/h.db --with-commands --label HOSTILE --commit c1 "
			 "--branch HOSTILE TRACE",
		 .nameless = true},
		{.line = "history add --store DIR/h.db --with-commands --commit c2 OTHER",
		 .nameless = true},
		{.line = "history list --store DIR/h.db"},
		{.line = "history list --store DIR/h.db --json"},
		{.line = "history export --store DIR/h.db"},
		{.line = "history page --store DIR/h.db -o DIR/trends.html",
		 .nameless = true,
		 .file = "trends.html"},
		{.line = "trend --store DIR/h.db", .nameless = true},
		{.line = "trend --store DIR/h.db --json", .nameless = true},
	};

	for (size_t i = 0; i < N_OF(all); i++) {
		_output_ struct output o = {};
		char copy[512];
		int status;

		output_begin(&o);
		status = command_line_run(split(all[i].line, copy, sizeof(copy)));
		output_end(&o);
		check_safe(all[i].line, o.text[0], false);
		check_safe(all[i].line, o.text[1], false);
		if (status != EXIT_CODE_OK)
			FAULT("%s: status %d: %s\n", all[i].line, status, o.text[1]);
		if (!all[i].nameless && !strstr(o.text[0], MARK))
			FAULT("%s: prints no name\n", all[i].line);
		if (all[i].file) {
			_free_ char *text = output_read(directory_path(all[i].file));

			check_safe(all[i].line, text, true);
		}
	}
	assert_int_equal(n_faults, 0);
}

TEST_MAIN(NULL, NULL)
