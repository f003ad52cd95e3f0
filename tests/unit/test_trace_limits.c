// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every reader takes what a writer wrote: no limit of a reader is below what a trace may hold.
 * Traces of random items, of one item over and over, and of the largest items go through the
 * writer, the reader, and every command that shows a trace.
 */
#include <fcntl.h>
#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/random.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "qprof/trace_format.h"
#include "trace/reader.h"
#include "trace/writer.h"

#define NAMES_MOST 4096

/* A trace that is being written, and the accepted items. */
struct written {
	struct trace_writer *w;
	struct rng rng;
	char *path;
	uint32_t names[NAMES_MOST]; /* string ids; any of them serves for anything */
	uint32_t n_names;
	uint32_t n_processes;
	uint32_t end; /* of the ranges of functions */
	uint32_t stack;
	uint64_t spans, samples, mapped;
};

static void begin(struct written *t, const char *name, const char *command)
{
	struct trace_info info = {.tool = "a writer",
				  .kernel = "6.18",
				  .host = "host",
				  .cpus = 2,
				  .clock_start_ns = 1000,
				  .realtime_start_ns = 1700000000000000000,
				  .command = (char *)command,
				  .id.bytes = {1}};

	*t = (struct written){.rng = rng_new(), .path = strdup(directory_path(name)), .end = 1};
	assert_int_equal(trace_writer__open(t->path, &info, &t->w), 0);
}

/* The writer may refuse an item, but only as its header says, and goes on. */
static bool is_taken(int err)
{
	assert_true(err == 0 || err == -EINVAL || err == -E2BIG);
	return !err;
}

static void keep_name(struct written *t, uint32_t id)
{
	if (t->n_names < NAMES_MOST)
		t->names[t->n_names++] = id;
}

static void add_name(struct written *t, const char *text)
{
	uint32_t id;

	if (is_taken(trace_writer__intern(t->w, text, &id)))
		keep_name(t, id);
}

static uint32_t any_name(struct written *t)
{
	return t->names[rng_below(&t->rng, t->n_names)];
}

static void add_process(struct written *t, const char *crate, const char *command)
{
	const struct trace_process p = {.index = t->n_processes,
					.pid = 100 + t->n_processes,
					.start_ns = 1000,
					.end_ns = 5000,
					.crate = (char *)crate,
					.command = (char *)command,
					.crate_type = "lib",
					.cwd = "/",
					.build_id = "ab",
					.rustc_version = "1.95.0",
					.cpu_ns = 500};

	t->n_processes += is_taken(trace_writer__process(t->w, &p));
}

static void add_span(struct written *t, const struct trace_span *s)
{
	t->spans += is_taken(trace_writer__span(t->w, s));
}

static void add_sampling(struct written *t)
{
	const struct trace_sampling s = {.hz = 999, .fault_period = 8, .off_cpu = true};

	assert_int_equal(trace_writer__sampling(t->w, &s), 0);
}

static void add_function(struct written *t, uint32_t gap, uint32_t size, const char *name)
{
	const struct trace_function f = {.first = t->end + gap,
					 .size = size,
					 .addr = rng_any_size(&t->rng),
					 .library = "ab",
					 .name = name,
					 .file = "/lib/x.so"};
	struct trace_line rows[] = {{0, any_name(t), 1}, {1, any_name(t), UINT32_MAX}};

	if (!is_taken(trace_writer__function(t->w, &f)))
		return;
	t->end = f.first + size + 1;
	if (size > 1)
		is_taken(trace_writer__lines(t->w, f.first, rows, N_OF(rows)));
}

static void add_stack(struct written *t, uint32_t parent, uint8_t kind, uint32_t place)
{
	const struct trace_stack s = {.parent = parent, .kind = kind, .place = place};
	uint32_t id;

	if (is_taken(trace_writer__stack(t->w, &s, &id)))
		t->stack = id;
}

static void add_sample(struct written *t, const struct trace_sample *s)
{
	t->samples += is_taken(trace_writer__sample(t->w, s));
}

static void add_mapping(struct written *t, const struct trace_mapping *m)
{
	if (is_taken(trace_writer__map(t->w, m)))
		t->mapped += m->n;
}

/* ---- Every reader ---------------------------------------------------------------------------- */

static int saved[2];

/* Run a command without its output; its messages must not blame the trace. */
static void passes(const char *path, const char *what, int (*run)(const void *options),
		   const void *options)
{
	static const char *const wrong[] = {"cannot",	 "damaged",    "expands",
					    "cut short", "unfinished", "would "};
	char *log = strdup(directory_path("log")), *text;
	int to[] = {open("/dev/null", O_WRONLY | O_CLOEXEC),
		    open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
	int status;

	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		saved[i] = dup(i + 1);
		dup2(to[i], i + 1);
		close(to[i]);
	}
	status = run(options);
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
	}
	text = output_read(log);
	if (status != EXIT_CODE_OK && !*text)
		fail_msg("%s of %s: status %d without a line", what, path, status);
	for (size_t i = 0; i < N_OF(wrong); i++)
		if (strstr(text, wrong[i]))
			fail_msg("%s of %s: status %d\n%.500s", what, path, status, text);
	free(text);
	free(log);
}

#define AS_RUN(command) ((int (*)(const void *))(command))

static void reports(const char *path)
{
	struct cli_report_options o = {.file = path};
	static const struct cli_report_options all[] = {
		{.full = true},
		{.json = true},
		{.markdown = true},
		{.cost = true},
		{.by = CLI_BY_QUERY, .wide = true},
		{.by = CLI_BY_ITEM, .json = true},
		{.by = CLI_BY_GENERIC},
		{.by = CLI_BY_THREAD},
		{.by = CLI_BY_PROCESS},
		{.functions = true},
		{.functions = true, .json = true},
		{.functions = true, .tree = CLI_TREE_DOWN},
		{.functions = true, .tree = CLI_TREE_UP},
		{.memory = true},
		{.waits = true},
	};
	char name[64];

	for (size_t i = 0; i < N_OF(all); i++) {
		o = all[i];
		o.file = path;
		snprintf(name, sizeof(name), "report %zu", i);
		passes(path, name, AS_RUN(cmd_report), &o);
	}
}

static void exports(const char *path)
{
	char name[64];

	for (unsigned int format = 0; format < CLI_N_FORMATS; format++) {
		char *to =
			strdup(format == CLI_FORMAT_MEASUREME ? directory : directory_path("out"));
		const struct cli_export_options o = {
			.file = path, .format = format, .output = to, .force = true};

		snprintf(name, sizeof(name), "export %u", format);
		passes(path, name, AS_RUN(cmd_export), &o);
		free(to);
	}
}

static void everything_reads(struct written *t)
{
	_trace_reader_ struct trace_reader *r = NULL;
	const char *paths[] = {t->path, t->path};
	const struct cli_dump_options dump = {.file = t->path, .to_ns = UINT64_MAX};
	const struct cli_verify_options verify = {.file = t->path};
	const struct cli_diff_options diff = {.sides = {paths, 2}};
	uint64_t spans = 0, samples = 0;
	struct trace_item item;

	assert_int_equal(trace_writer__finish(t->w), 0);
	trace_writer__free(t->w);
	assert_int_equal(trace_reader__open(t->path, &r, NULL), 0);
	trace_reader__check_index(r);
	do {
		assert_int_equal(trace_reader__next(r, &item), 0);
		spans += item.kind == TRACE_ITEM_SPAN;
		samples += item.kind == TRACE_ITEM_SAMPLE;
	} while (item.kind != TRACE_ITEM_END);
	if (trace_reader__problem(r))
		fail_msg("%s", trace_reader__problem(r));
	assert_int_equal(spans, t->spans);
	assert_int_equal(samples, t->samples);
	assert_struct(trace_reader__stats(r), mapped, t->mapped, misindexed, 0);
	passes(t->path, "verify", AS_RUN(cmd_verify), &verify);
	passes(t->path, "dump", AS_RUN(cmd_dump), &dump);
	passes(t->path, "diff", AS_RUN(cmd_diff), &diff);
	reports(t->path);
	exports(t->path);
	free(t->path);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static void add_random_name(struct written *t)
{
	char text[400];
	size_t size = rng_any_size(&t->rng) % sizeof(text);
	uint32_t id;

	for (size_t i = 0; i < size; i++)
		text[i] = (char)(1 + rng_below(&t->rng, 255));
	text[size] = '\0';
	add_name(t, text);
	if (t->n_names > 2) {
		const struct trace_piece pieces[] = {
			{.id = any_name(t)}, {.text = "::"}, {.id = any_name(t)}};

		if (is_taken(trace_writer__compose(t->w, pieces, N_OF(pieces), &id)))
			keep_name(t, id);
	}
}

/* Any number, with many at both ends. */
static uint64_t any_number(struct written *t)
{
	uint64_t v = rng_any_size(&t->rng);

	return rng_below(&t->rng, 4) ? v : ~v;
}

static void add_random_item(struct written *t)
{
	struct rng *r = &t->rng;
	uint64_t at = rng_below(r, 8) ? 1000 + rng_below(r, 1 << 20) : any_number(t);
	uint64_t took = rng_any_size(r) % (UINT64_MAX - at + 1 ?: 1);
	uint32_t process = rng_below(r, t->n_processes), tid = rng_below(r, 5);
	const struct trace_span span = {
		.start_ns = at,
		.end_ns = at + took,
		.process = process,
		.tid = tid,
		.label = rng_below(r, 9) ? any_name(t) : TRACE_VIRTUAL | rng_below(r, 99),
		.invocation = rng_below(r, 5) ? rng_below(r, 5000) : any_number(t),
		.caller = rng_below(r, 2) ? 0 : rng_below(r, t->end),
		.depth = rng_below(r, 5) ? rng_below(r, 5) : any_number(t),
		.flags = rng_below(r, 8),
		.kind = rng_below(r, 3) ? 0 : rng_below(r, TRACE_KIND_OTHER)};
	const struct trace_sample sample = {.time_ns = at,
					    .value = took,
					    .process = process,
					    .tid = tid,
					    .stack = t->stack ? rng_below(r, t->stack + 1) : 0,
					    .label =
						    rng_below(r, 2) ? TRACE_NO_STRING : any_name(t),
					    .cause = 1 + rng_below(r, 3),
					    .cut = rng_below(r, TRACE_CUT_MAX),
					    .depth = rng_below(r, 9)};
	const struct trace_mapping mapping = {.process =
						      rng_below(r, 9) ? process : TRACE_NO_PROCESS,
					      .first = rng_below(r, 5000),
					      .n = 1 + rng_below(r, 3000),
					      .string = any_name(t),
					      .series = rng_below(r, 2)};
	const struct trace_place place = {.process = process,
					  .string = any_name(t),
					  .file = any_name(t),
					  .line = any_number(t),
					  .call_file =
						  rng_below(r, 2) ? TRACE_NO_STRING : any_name(t),
					  .call_line = any_number(t)};
	const struct trace_tally tally = {process, any_name(t), TRACE_KIND_ARTIFACT_SIZE,
					  any_number(t), any_number(t)};
	const struct trace_thread thread = {process, tid, "thread"};

	switch (rng_below(r, 40)) {
	case 0:
		add_process(t, rng_below(r, 2) ? "a" : NULL, rng_below(r, 2) ? "rustc a.rs" : NULL);
		break;
	case 1:
		add_function(t, rng_below(r, 3), any_number(t) % (1 << 24), "core::f");
		break;
	case 2:
		add_mapping(t, &mapping);
		break;
	case 3:
		is_taken(trace_writer__place(t->w, &place));
		break;
	case 4:
		is_taken(trace_writer__tally(t->w, &tally));
		break;
	case 5:
		add_random_name(t);
		break;
	case 6:
		is_taken(trace_writer__thread(t->w, &thread));
		break;
	case 7:
		is_taken(trace_writer__foreign(t->w, any_name(t)));
		break;
	case 8:
		is_taken(trace_writer__key_type(t->w, any_name(t), "DefId"));
		break;
	case 9 ... 15:
		add_stack(t, t->stack ? rng_below(r, t->stack + 1) : 0, rng_below(r, 7),
			  rng_below(r, 2) ? rng_below(r, t->end) : any_name(t));
		break;
	case 16 ... 22:
		add_sample(t, &sample);
		break;
	default:
		add_span(t, &span);
	}
}

TEST_CASE_WITH(random_items_are_read, directory_make, directory_remove)
{
	struct written t;

	begin(&t, "random.qpt", "cargo build");
	add_sampling(&t);
	add_process(&t, "first", "rustc --crate-name first");
	for (int i = 0; i < 9; i++)
		add_random_name(&t);
	for (int i = 0; i < 6000; i++)
		add_random_item(&t);
	everything_reads(&t);
}

/* Such a trace compresses better than any ratio that a reader could go by. */
TEST_CASE_WITH(one_item_again_and_again_is_read, directory_make, directory_remove)
{
	struct trace_span span = {
		.start_ns = 2000, .end_ns = 2100, .tid = 7, .invocation = TRACE_NO_INVOCATION};
	struct trace_sample sample = {.time_ns = 2000, .value = 1000, .tid = 7, .cause = 1};
	struct trace_mapping same = {.first = 0, .n = 1 << 10};
	struct trace_place place = {.line = 1, .call_file = TRACE_NO_STRING};
	const struct trace_thread thread = {0, 7, "thread"};
	uint32_t *list = calloc(1 << 20, sizeof(*list));
	struct written t;
	char *name = malloc(600);

	assert_non_null(list);
	memset(name, 'x', 599);
	name[599] = '\0';
	begin(&t, "same.qpt", NULL);
	add_sampling(&t);
	add_name(&t, name);
	add_process(&t, "same", "rustc");
	add_function(&t, 0, 100, name);
	span.label = place.string = place.file = t.names[0];
	for (uint32_t i = 0; i < 1 << 20; i++)
		list[i] = t.names[0];
	same = (struct trace_mapping){.first = 1, .n = 1 << 20, .strings = list};
	add_mapping(&t, &same);
	for (int i = 0; i < 1 << 11; i++)
		must(trace_writer__thread(t.w, &thread), trace_writer__place(t.w, &place));
	/* One function that calls itself. */
	for (uint32_t i = 0; i < QPT_STACK_DEPTH_MAX; i++)
		add_stack(&t, t.stack, TRACE_STACK_LOCATION, 1);
	assert_int_equal(t.stack, QPT_STACK_DEPTH_MAX);
	for (uint32_t i = 0; i < 1 << 16; i++) {
		span.invocation = i;
		add_span(&t, &span);
	}
	for (uint32_t i = 0; i < 500; i++) {
		sample.stack = t.stack - i;
		add_sample(&t, &sample);
	}
	free(list);
	free(name);
	everything_reads(&t);
}

TEST_CASE_WITH(the_largest_items_are_read, directory_make, directory_remove)
{
	char *name = malloc(QPT_TEXT_MAX + 100);
	struct trace_span span = {.end_ns = UINT64_MAX, .depth = UINT16_MAX, .tid = UINT32_MAX};
	struct trace_piece *pieces = calloc(QPT_PAYLOAD_MAX, sizeof(*pieces));
	struct trace_process last = {.pid = UINT32_MAX, .end_ns = UINT64_MAX};
	struct trace_losses losses;
	struct written t;
	uint32_t id;

	memset(name, 'x', QPT_TEXT_MAX + 99);
	name[QPT_TEXT_MAX + 99] = '\0';
	begin(&t, "largest.qpt", name);
	name[QPT_TEXT_MAX] = '\0';
	add_sampling(&t);
	add_name(&t, name);
	assert_int_equal(t.n_names, 1);
	add_process(&t, name, name);
	last.command = last.crate = last.crate_type = last.rustc_version = name;
	last.build_id = last.cwd = name;
	assert_int_equal(trace_writer__process(t.w, &last), 0);
	/* As deep as strings may be, and of as many pieces. */
	add_name(&t, "y");
	id = t.names[1];
	for (int i = 0; i < 300; i++) {
		const struct trace_piece deep[] = {{.id = id}, {.text = "z"}};

		if (is_taken(trace_writer__compose(t.w, deep, 2, &id)))
			keep_name(&t, id);
	}
	assert_int_equal(t.n_names, 2 + QPT_STRING_DEPTH_MAX);
	for (uint32_t n = 2; n <= QPT_PAYLOAD_MAX; n *= 2) {
		for (uint32_t i = 0; i < n; i++)
			pieces[i] = (struct trace_piece){.id = t.names[1]};
		if (is_taken(trace_writer__compose(t.w, pieces, n, &id)))
			keep_name(&t, id);
	}
	/* All kinds, of names of all lengths. */
	for (int i = 0; i < TRACE_KINDS_MAX; i++) {
		char kind[32];

		snprintf(kind, sizeof(kind), "Kind%d", i);
		if (is_taken(trace_writer__kind(t.w, kind, &span.kind))) {
			span.label = t.names[1 + i];
			add_span(&t, &span);
		}
	}
	add_function(&t, 0, 1 << 30, name);
	add_function(&t, UINT32_MAX - t.end - 1 - 100, 99, "");
	for (uint32_t i = 0; i < 4 * QPT_STACK_DEPTH_MAX; i++)
		add_stack(&t, i % QPT_STACK_DEPTH_MAX ? t.stack : 0, 1 + i / QPT_STACK_DEPTH_MAX,
			  t.names[i % t.n_names]);
	for (uint32_t i = 0; i < 300; i++) {
		const struct trace_mapping m = {.n = 1, .first = i << 10, .string = t.names[0]};
		const struct trace_sample sample = {.time_ns = UINT64_MAX - i,
						    .value = i,
						    .stack = t.stack,
						    .tid = i,
						    .label = t.names[1 + i % 200],
						    .depth = UINT16_MAX,
						    .cause = 1 + i % 3};

		add_mapping(&t, &m);
		add_sample(&t, &sample);
	}
	memset(&losses, 0xff, sizeof(losses));
	assert_int_equal(trace_writer__losses(t.w, &losses), 0);
	free(name);
	free(pieces);
	everything_reads(&t);
}

TEST_MAIN(NULL, NULL)
