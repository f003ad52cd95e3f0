// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as records of samples, of jobs and of names of LLVM's functions, beside those
 * that a process begins and ends with. Entries of stacks and jobs have parents that were there
 * before, and samples have entries, jobs and processes that exist. All texts are printable.
 *
 * An input is records, each behind its size in two bytes.
 */
#include <errno.h>

#include "decode/decoder.h"
#include "../fixtures/records.h"
#include "fuzz.h"

#define STACKS_MAX 5000
#define JOBS	   1000

static uint32_t depths[JOBS + 1]; /* of jobs */
static uint32_t n_jobs, n_stacks, n_processes, n_strings, n_texts, n_llvm;

static int on_process(void *ctx, const struct trace_process *p)
{
	(void)ctx;
	expect(p->index <= n_processes);
	n_processes += p->index == n_processes;
	return 0;
}

static int on_label(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	(void)text;
	*id = 100 + n_strings++;
	return 0;
}

static int on_stack(void *ctx, const struct trace_stack *entry, uint32_t *id)
{
	(void)ctx;
	expect(entry->parent <= n_stacks && entry->kind < TRACE_STACK_KINDS);
	expect(entry->kind != TRACE_STACK_UNKNOWN || !entry->place);
	if (n_stacks == STACKS_MAX)
		return -E2BIG;
	*id = ++n_stacks;
	return 0;
}

static int on_sample(void *ctx, const struct trace_sample *s)
{
	(void)ctx;
	expect(s->process < n_processes && s->stack <= n_stacks && s->job <= n_jobs);
	expect(s->llvm <= n_llvm);
	expect(s->cause && s->cause < TRACE_SAMPLE_CAUSES && s->cut < TRACE_CUT_MAX);
	return 0;
}

static int on_job(void *ctx, const struct trace_job *job, uint64_t key, uint32_t *id)
{
	(void)ctx, (void)key;
	expect(job->parent <= n_jobs && job->process < n_processes);
	expect(job->query == 10 || job->query == 11);
	*id = n_jobs == JOBS ? TRACE_NO_JOB : ++n_jobs;
	if (*id) {
		depths[*id] = depths[job->parent] + 1;
		expect(depths[*id] <= TRACE_JOB_DEPTH_MAX);
	}
	return 0;
}

static int on_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	expect(*text && strlen(text) < WIRE_LLVM_NAME_MAX);
	for (; *text; text++)
		expect(*text > ' ' && *text <= '~');
	*id = n_texts++;
	return 0;
}

static int on_llvm(void *ctx, const struct trace_llvm *entry, uint32_t *id)
{
	(void)ctx;
	expect(entry->scope < TRACE_LLVM_SCOPES);
	expect(entry->pass == TRACE_NO_STRING || entry->pass < n_texts);
	expect(entry->function == TRACE_NO_STRING ||
	       (entry->function < n_texts &&
		(entry->scope == TRACE_LLVM_FUNCTION || entry->scope == TRACE_LLVM_SCC)));
	*id = ++n_llvm;
	return 0;
}

static int on_function(void *ctx, uint32_t file, const struct trace_function *f)
{
	(void)ctx;
	expect(file == 1 && f->first && f->size == 0x800 && *f->name);
	return 0;
}

static bool find(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	(void)ctx;
	*addr = pc & ~0xfffu;
	*size = 0x800;
	return pc - *addr < *size;
}

static char *name(const void *ctx, uint32_t pc)
{
	(void)ctx;
	(void)pc;
	return strdup("f");
}

static struct plan_query queries[] = {
	{.wrapper_non_incr = 0x1000, .provider = 0x3000, .body_incr = PLAN_NONE},
	{.wrapper_non_incr = 0x1800, .provider = 0x3800, .body_incr = PLAN_NONE, .stays = true},
};
static struct plan_body bodies[] = {{.addr = 0x2000, .n_queries = 2, .n_ends = 1}};
static struct plan_guard guards[] = {{.kind = WIRE_KIND_ACTIVITY},
				     {.kind = WIRE_KIND_HASHING, .label_of_query = true}};
static struct plan_frame frames[] = {
	{0x1000, 0x100, 0, PLAN_FRAME_WRAPPER}, {0x1800, 0x100, 1, PLAN_FRAME_WRAPPER},
	{0x2000, 0x100, 0, PLAN_FRAME_BODY},	{0x2100, 0x100, 0, PLAN_FRAME_RUNS},
	{0x2200, 0x005, 1, PLAN_FRAME_CALLS},	{0x3000, 0x100, 0, PLAN_FRAME_PROVIDER},
	{0x3800, 0x100, 1, PLAN_FRAME_PROVIDER}};
static struct plan_frame guard_frames[] = {{0x2140, 0x40, 1, PLAN_FRAME_GUARD},
					   {0x4000, 0x100, 0, PLAN_FRAME_GUARD},
					   {0x4000, 0x100, 1, PLAN_FRAME_GUARD}};
static const struct plan plan = {
	.queries = queries,
	.n_queries = 2,
	.bodies = bodies,
	.n_bodies = 1,
	.guards = guards,
	.n_guards = 2,
	.frames = frames,
	.n_frames = 7,
	.guard_frames = guard_frames,
	.n_guard_frames = 3,
};

static struct decoder *new_tracks(void)
{
	static const struct decoder_sink sink = {
		.process = on_process,
		.label = on_label,
		.stack = on_stack,
		.sample = on_sample,
		.job = on_job,
		.function = on_function,
		.text = on_text,
		.llvm = on_llvm,
	};
	static const struct decoder_functions functions = {NULL, find, name, NULL, 1};
	static const uint32_t labels[] = {10, 11};
	static struct llvm_pass pass = {.vtable = 0x5000, .name = (char *)"InstCombinePass"};
	static struct llvm_plan llvm = {.passes = {.items = &pass, .n = 1}};
	struct decoder *t = NULL;

	expect(!decoder__new(&sink, &t) && !decoder__set_library(t, 0, labels, 2, "ab", NULL));
	expect(!library__set_guards(&t->libraries[0], labels, 1) &&
	       !decoder__set_frames(t, 0, &plan));
	decoder__set_functions(t, 0, &functions);
	expect(!decoder__set_file(t, 1, &functions) && !samples__set_llvm(&t->samples, 1, &llvm));
	return t;
}

/* Other records are the other fuzzers'. */
static bool is_wanted(const uint8_t *record, size_t n)
{
	return n && (*record == WIRE_SAMPLE || *record == WIRE_JOB || *record == WIRE_EXEC ||
		     *record == WIRE_FORK || *record == WIRE_EXIT || *record == WIRE_LABEL ||
		     *record == WIRE_LLVM_NAME);
}

/* The bytes of a ring buffer are aligned. */
static int take(struct decoder *t, const uint8_t *bytes, size_t n)
{
	_free_ uint8_t *copy = fuzz_copy(bytes, n);

	return decoder__record(t, copy, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_decoder_ struct decoder *t = new_tracks();
	const uint8_t *record;
	size_t n;

	n_jobs = n_stacks = n_processes = n_strings = n_texts = n_llvm = 0;
	while ((record = fuzz_record(&data, &size, &n))) {
		int err = is_wanted(record, n) ? take(t, record, n) : 0;

		expect(!err || err == -EBADMSG);
	}
	expect(!decoder__release_samples(t));
	return 0;
}
