// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Traces of a few hundred kilobytes that stand for very much: of 150,000 definitions, of half a
 * million items of results, of names that were made to collide. Every command reads them in memory
 * that is bounded, or says in a line that it does not. Such a trace takes no time that grows with
 * the square of its size: a single table that did would cost half a minute more.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "trace/writer.h"

#define DEFINITIONS 150000u
#define LISTED	    (1u << 18) /* results of one query; the same items for the next */
#define COLLIDING   100000u
#define QUERIES	    10u
#define MIB	    (UINT64_C(1) << 20)

static char *path;
static struct trace_writer *w;
static uint32_t queries[QUERIES];

static void begin(const char *name)
{
	const struct trace_info info = {.tool = "a writer",
					.kernel = "6.18",
					.host = "host",
					.cpus = 2,
					.clock_start_ns = 1000,
					.realtime_start_ns = 1700000000000000000,
					.id.bytes = {1}};
	const struct trace_process process = {.pid = 100,
					      .start_ns = 1000,
					      .end_ns = UINT32_MAX,
					      .crate = (char *)"h",
					      .crate_type = (char *)"lib",
					      .command = (char *)"rustc --crate-name h src/lib.rs",
					      .cwd = (char *)"/",
					      .cpu_ns = 500};
	char text[32];

	free(path);
	path = strdup(directory_path(name));
	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &process));
	for (uint32_t i = 0; i < QUERIES; i++) {
		snprintf(text, sizeof(text), "query_%u", i);
		assert_int_equal(trace_writer__intern(w, text, &queries[i]), 0);
	}
}

static void finish(void)
{
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
}

/* An execution about each of `n` strings from `first` on, one after another on one thread. */
static void execute(uint32_t first, uint32_t n)
{
	const struct trace_mapping mapping = {.first = 1, .n = n, .string = first, .series = true};

	assert_int_equal(trace_writer__map(w, &mapping), 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_span span = {.start_ns = 2000 + 10ULL * i,
						.end_ns = 2005 + 10ULL * i,
						.tid = 100,
						.label = queries[i % QUERIES],
						.invocation = 1 + i};

		assert_int_equal(trace_writer__span(w, &span), 0);
	}
}

/* ---- Readers --------------------------------------------------------------------------------- */

struct outcome {
	int status;
	uint64_t peak_bytes;
	char *text; /* messages */
};

/* Run a command in a child of its own, which `data_bytes` of memory must do for; 0: what is set. */
static struct outcome run(int (*command)(const void *options), const void *options,
			  uint64_t data_bytes)
{
	char *log = strdup(directory_path("log"));
	struct outcome out = {};
	struct rusage usage;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct rlimit data = {data_bytes, data_bytes};
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		int to = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		if (dup2(null, 1) < 0 || dup2(to, 2) < 0 ||
		    (data_bytes && setrlimit(RLIMIT_DATA, &data)))
			_exit(99);
		out.status = command(options);
		fflush(NULL);
		_exit(out.status);
	}
	assert_int_equal(wait4(child, &out.status, 0, &usage), child);
	out.peak_bytes = (uint64_t)usage.ru_maxrss << 10;
	out.text = output_read(log);
	free(log);
	if (!WIFEXITED(out.status))
		fail_msg("ended by signal %d: %.500s", WTERMSIG(out.status), out.text);
	out.status = WEXITSTATUS(out.status);
	return out;
}

#define AS_COMMAND(command) ((int (*)(const void *))(command))

static void reads(int (*command)(const void *options), const void *options, uint64_t most_bytes,
		  const char *what)
{
	struct outcome out = run(command, options, 0);

	if (out.status != EXIT_CODE_OK || out.peak_bytes > most_bytes)
		fail_msg("%s of %s: status %d, %llu MiB of memory, %.500s", what, path, out.status,
			 (unsigned long long)(out.peak_bytes / MIB), out.text);
	if (getenv("SHOW"))
		print_message("%s of %s: %llu MiB\n", what, path,
			      (unsigned long long)(out.peak_bytes / MIB));
	free(out.text);
}

static void reports(uint64_t most_bytes)
{
	const struct cli_report_options all[] = {
		{.file = path},
		{.file = path, .by = CLI_BY_ITEM},
		{.file = path, .by = CLI_BY_ITEM, .json = true},
		{.file = path, .full = true},
	};
	char name[32];

	for (size_t i = 0; i < N_OF(all); i++) {
		snprintf(name, sizeof(name), "report %zu", i);
		reads(AS_COMMAND(cmd_report), &all[i], most_bytes, name);
	}
}

static void compares(uint64_t most_bytes)
{
	const char *paths[] = {path, path};
	const struct cli_diff_options diff = {.sides = {paths, 2}};

	reads(AS_COMMAND(cmd_diff), &diff, most_bytes, "diff");
}

/* ---- Traces ---------------------------------------------------------------------------------- */

/* `n` texts that differ. Returns the first one's id; those of the others follow. */
static uint32_t intern(uint32_t n, void (*make)(char *text, uint32_t i))
{
	uint32_t first = 0, id;
	char text[32];

	for (uint32_t i = 0; i < n; i++) {
		make(text, i);
		assert_int_equal(trace_writer__intern(w, text, &id), 0);
		first = i ? first : id;
	}
	assert_int_equal(id, first + n - 1);
	return first;
}

static void make_path(char *text, uint32_t i)
{
	sprintf(text, "h::%x", i);
}

/*
 * DEFINITIONS in the environment makes as many. Of 10,000,000 a report by item is refused at the
 * limit of memory, and fails the test with the line that says so.
 */
static uint32_t n_definitions(void)
{
	const char *n = getenv("DEFINITIONS");

	return n ? (uint32_t)strtoul(n, NULL, 10) : DEFINITIONS;
}

TEST_CASE_WITH(many_definitions_are_read, directory_make, directory_remove)
{
	const uint32_t n = n_definitions();
	struct cli_report_options report = {}, items = {.by = CLI_BY_ITEM};
	const uint64_t most = n * UINT64_C(1000) + 250 * MIB;

	begin("definitions.qpt");
	execute(intern(n, make_path), n);
	finish();
	report.file = items.file = path;
	reads(AS_COMMAND(cmd_report), &report, most, "report");
	reads(AS_COMMAND(cmd_report), &items, most, "report by item");
}

/* Each has a sum of its own; where they find no room, a line says so. */
TEST_CASE_WITH(many_results_are_read, directory_make, directory_remove)
{
	uint32_t *items = calloc(LISTED, sizeof(*items)), first;
	struct cli_report_options report = {.by = CLI_BY_ITEM, .json = true};
	struct outcome out;

	assert_non_null(items);
	begin("results.qpt");
	first = intern(LISTED, make_path);
	for (uint32_t i = 0; i < LISTED; i++)
		items[i] = first + i;
	execute(first, 1);
	for (uint32_t q = 0; q < 2; q++) {
		for (uint32_t i = 0; i < LISTED; i += TRACE_RESULTS_MAX) {
			const struct trace_results r = {.label = queries[q],
							.n = TRACE_RESULTS_MAX < LISTED - i
								     ? TRACE_RESULTS_MAX
								     : LISTED - i,
							.kind = TRACE_RESULTS_EXECUTED,
							.items = items + i};

			assert_int_equal(trace_writer__results(w, &r), 0);
		}
	}
	finish();
	free(items);
	report.file = path;
	reads(AS_COMMAND(cmd_report), &report, 400 * MIB, "report");
	out = run(AS_COMMAND(cmd_report), &report, 128 * MIB);
	assert_int_equal(out.status, EXIT_CODE_FAILURE);
	assert_non_null(strstr(out.text, "takes more memory"));
	assert_true(out.peak_bytes < 160 * MIB);
	free(out.text);
}

/* Two words of eight bytes that a hash without a secret makes the same of, as texts. */
static void make_colliding(char *text, uint32_t i)
{
	for (uint64_t seed = i;; seed += COLLIDING) {
		/* Of the crate: it begins with "h::". */
		uint64_t words[2] = {(seed + 1) * 0x9e3779b97f4a7c15 << 24 | 0x3a3a68};

		words[1] = (16 ^ words[0]) * 0x9e3779b97f4a7c15;
		words[1] ^= words[1] >> 32;
		memcpy(text, words, sizeof(words));
		text[sizeof(words)] = '\0';
		if (strlen(text) == sizeof(words))
			return;
	}
}

TEST_CASE_WITH(names_that_were_made_to_collide_are_read, directory_make, directory_remove)
{
	begin("colliding.qpt");
	execute(intern(COLLIDING, make_colliding), COLLIDING);
	finish();
	reports(350 * MIB);
	compares(350 * MIB);
}

/* A status of its own if the command left the memory that it may take as it was. */
static int verify_in_bounds(const void *options)
{
	int status = cmd_verify(options);
	struct rlimit data;

	return getrlimit(RLIMIT_DATA, &data) || data.rlim_cur > 2 * CMD_MEMORY_FREE ? 99 : status;
}

TEST_CASE_WITH(verify_bounds_its_memory, directory_make, directory_remove)
{
	struct cli_verify_options verify = {};

	begin("small.qpt");
	finish();
	verify.file = path;
	reads(verify_in_bounds, &verify, 400 * MIB, "verify");
}

TEST_MAIN(NULL, NULL)
