// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/record.h"
#include "decode/jobs.h"

#include "test.h"

#define _llvm_names_ __cleanup(llvm_names__clear)
#define _symbols_    __cleanup(symbols__clear)

#define TYPECK	 11u
#define BORROWCK 12u

static struct {
	struct jobs jobs;
	struct keys keys;
	struct trace_job out[2 * TRACE_JOB_DEPTH_MAX];
	uint32_t n;
	uint32_t most; /* that the trace holds */
} w;

static int on_job(void *ctx, const struct trace_job *job, uint64_t key, uint32_t *id)
{
	*id = TRACE_NO_JOB;
	if (w.n == w.most)
		return 0;
	w.out[w.n++] = *job;
	*id = w.n;
	return 0;
}

static int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	w.most = N_OF(w.out);
	return 0;
}

static int teardown(void **state)
{
	jobs__clear(&w.jobs);
	keys__clear(&w.keys);
	return 0;
}

static void note(uint64_t job, uint64_t parent, uint16_t query, uint64_t key)
{
	const struct wire_job r = {
		.type = WIRE_JOB, .job = job, .parent = parent, .query = query, .key = key};

	assert_int_equal(jobs__note(&w.jobs, &r), 0);
}

static uint32_t in_trace(uint64_t number)
{
	static uint32_t labels[] = {TYPECK, BORROWCK, DECODER_NO_LABEL};
	static uint8_t types[] = {WIRE_KEY_LOCAL, WIRE_KEY_LOCAL, WIRE_KEY_LOCAL};
	static const struct decoder_sink sink = {.job = on_job};
	const struct library library = {.labels = labels, .n_labels = N_OF(labels), .keys = types};
	const struct jobs_context c = {
		.sink = &sink, .library = &library, .keys = &w.keys, .process = 5};
	uint32_t id = 99;

	assert_int_equal(jobs__in_trace(&w.jobs, &c, number, &id), 0);
	return id;
}

TEST_CASE_WITH(the_jobs_around_come_first, setup, teardown)
{
	note(300, 200, 1, wire_key(WIRE_KEY_LOCAL_CRATE, 7));
	note(100, 0, 0, 0);
	note(200, 100, 0, wire_key(WIRE_KEY_LOCAL_CRATE, 7));
	assert_int_equal(in_trace(300), 3);
	assert_struct(w, n, 3, out[0].query, TYPECK, out[0].parent, TRACE_NO_JOB, out[0].invocation,
		      TRACE_NO_INVOCATION, out[1].parent, 1, out[2].parent, 2, out[2].query,
		      BORROWCK, out[2].process, 5);
	/* Each has an id of its own, to be mapped to the name of its key. */
	assert_int_equal(w.out[1].invocation, KEYS_OWN_IDS);
	assert_int_equal(w.out[2].invocation, KEYS_OWN_IDS + 1);
}

TEST_CASE_WITH(a_job_is_in_the_trace_once, setup, teardown)
{
	note(1, 0, 0, 0);
	note(2, 1, 1, 0);
	note(2, 1, 1, 0);
	assert_int_equal(in_trace(1), 1);
	assert_int_equal(in_trace(2), 2);
	assert_int_equal(in_trace(2), 2);
	assert_struct(w, n, 2, out[1].query, BORROWCK);
	/* Of another context, whose jobs have the same numbers. */
	note(2, 7, 0, 0);
	assert_int_equal(in_trace(2), 3);
	assert_int_equal(w.out[2].query, TYPECK);
}

TEST_CASE_WITH(an_unknown_job_is_none, setup, teardown)
{
	note(1, 0, 2, 0);
	note(2, 0, 500, 0);
	assert_int_equal(in_trace(0), TRACE_NO_JOB);
	assert_int_equal(in_trace(9), TRACE_NO_JOB);
	assert_int_equal(in_trace(1), TRACE_NO_JOB);
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
	assert_int_equal(w.n, 0);
}

TEST_CASE_WITH(an_unknown_job_around_is_none, setup, teardown)
{
	note(4, 3, 0, 0);
	assert_int_equal(in_trace(4), 1);
	assert_int_equal(w.out[0].parent, TRACE_NO_JOB);
}

TEST_CASE_WITH(a_circle_ends, setup, teardown)
{
	note(1, 2, 0, 0);
	note(2, 1, 0, 0);
	assert_int_not_equal(in_trace(1), TRACE_NO_JOB);
	assert_struct(w, n, 2, out[0].parent, TRACE_NO_JOB);
}

/* At once, or in parts. */
TEST_CASE_WITH(a_chain_has_an_end, setup, teardown)
{
	const uint32_t n = 3 * TRACE_JOB_DEPTH_MAX / 2;
	uint32_t depth[2 * TRACE_JOB_DEPTH_MAX + 1] = {0};

	for (uint32_t i = 1; i <= n; i++)
		note(i, i - 1, 0, 0);
	in_trace(TRACE_JOB_DEPTH_MAX - 1);
	assert_int_not_equal(in_trace(n), TRACE_NO_JOB);
	/* One is too deep. */
	assert_int_equal(w.n, n - 1);
	for (uint32_t i = 0; i < w.n; i++) {
		assert_in_range(w.out[i].parent, 0, i);
		depth[i + 1] = depth[w.out[i].parent] + 1;
		assert_in_range(depth[i + 1], 1, TRACE_JOB_DEPTH_MAX);
	}
	assert_int_equal(depth[TRACE_JOB_DEPTH_MAX], TRACE_JOB_DEPTH_MAX);
}

TEST_CASE_WITH(a_full_trace_has_no_further_job, setup, teardown)
{
	w.most = 1;
	note(1, 0, 0, 0);
	note(2, 1, 0, 0);
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
	assert_int_equal(in_trace(1), 1);
	/* It is not tried again. */
	w.most = 2;
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
}

/* ---- Llvm ------------------------------------------------------------------------------------ */

static struct {
	char texts[8][WIRE_LLVM_NAME_MAX];
	uint32_t n_texts;
	struct trace_llvm last;
	uint32_t n_entries;
	bool full;
} got;

static int on_text(void *ctx, const char *text, uint32_t *id)
{
	*id = TRACE_NO_STRING;
	if (got.full)
		return 0;
	for (*id = 0; *id < got.n_texts; ++*id)
		if (!strcmp(got.texts[*id], text))
			return 0;
	assert_in_range(got.n_texts, 0, N_OF(got.texts) - 1);
	strcpy(got.texts[got.n_texts++], text);
	return 0;
}

static int on_llvm(void *ctx, const struct trace_llvm *entry, uint32_t *id)
{
	got.last = *entry;
	*id = ++got.n_entries;
	return 0;
}

static const struct decoder_sink sink = {.text = on_text, .llvm = on_llvm};

static struct llvm_pass passes[] = {{.vtable = 0x5000, .name = (char *)"InstCombinePass"},
				    {.vtable = 0x6000, .name = (char *)"X86AsmPrinter"}};
static const struct llvm_plan plan = {.passes = {.items = passes, .n = N_OF(passes)}};

static int set_up(void **state)
{
	memset(&got, 0, sizeof(got));
	return 0;
}

static int name(struct llvm_names *n, uint64_t number, const char *text)
{
	struct wire_llvm_name r = {.type = WIRE_LLVM_NAME, .number = number};

	r.size = (wire_u16)strlen(text);
	memcpy(r.bytes, text, r.size);
	return llvm_names__record(n, NULL, &sink, &r);
}

/* The entry of a sample, or TRACE_NO_LLVM. */
static uint32_t entry(const struct llvm_names *n, uint8_t scope, uint64_t vtable, uint64_t function,
		      uint64_t *n_unnamed)
{
	const struct wire_sample r = {
		.llvm = scope, .llvm_pass = wire_place(3, vtable), .llvm_function = function};
	const struct llvm_context c = {&sink, n, &plan, n_unnamed};
	uint32_t id = 99;

	assert_int_equal(llvm_entry(&c, &r, &id), 0);
	return id;
}

TEST_CASE_WITH(a_sample_has_its_pass_and_its_function, set_up, NULL)
{
	_llvm_names_ struct llvm_names n = {0};
	uint64_t unnamed = 0;

	assert_int_equal(name(&n, 77, "_RNvC1a1f"), 0);
	assert_int_equal(entry(&n, WIRE_LLVM_FUNCTION, 0x5000, 77, &unnamed), 1);
	assert_struct(got.last, scope, TRACE_LLVM_FUNCTION, codegen, false);
	assert_string_equal(got.texts[got.last.pass], "InstCombinePass");
	assert_string_equal(got.texts[got.last.function], "_RNvC1a1f");
	assert_int_equal(entry(&n, WIRE_LLVM_FUNCTION | WIRE_LLVM_CODEGEN, 0x6000, 77, &unnamed),
			 2);
	assert_struct(got, last.codegen, true, texts[got.last.pass], "X86AsmPrinter");
	entry(&n, WIRE_LLVM_COMPONENT, 0x5000, 77, &unnamed);
	assert_int_equal(got.last.scope, TRACE_LLVM_SCC);
	assert_string_equal(got.texts[got.last.function], "_RNvC1a1f");
	assert_int_equal(unnamed, 0);
}

TEST_CASE_WITH(scopes_without_a_function, set_up, NULL)
{
	_llvm_names_ struct llvm_names n = {0};
	uint64_t unnamed = 0;

	assert_int_equal(name(&n, 77, "f"), 0);
	entry(&n, WIRE_LLVM_MODULE, 0x5000, 77, &unnamed);
	assert_struct(got.last, scope, TRACE_LLVM_MODULE, function, TRACE_NO_STRING);
	entry(&n, WIRE_LLVM_NONE, 0, 0, &unnamed);
	assert_struct(got.last, scope, TRACE_LLVM_NONE, pass, TRACE_NO_STRING);
	got.n_entries = 0;
	assert_int_equal(entry(&n, WIRE_LLVM_UNKNOWN, 0x5000, 77, &unnamed), TRACE_NO_LLVM);
	assert_int_equal(entry(&n, WIRE_LLVM_SCOPES, 0x5000, 77, &unnamed), TRACE_NO_LLVM);
	assert_int_equal(got.n_entries, 0);
}

TEST_CASE_WITH(what_has_no_name_is_counted, set_up, NULL)
{
	struct llvm_names n = {0};
	uint64_t unnamed = 0;

	assert_int_equal(entry(&n, WIRE_LLVM_FUNCTION, 0x5001, 77, &unnamed), 1);
	assert_struct(got.last, function, TRACE_NO_STRING, pass, TRACE_NO_STRING);
	assert_int_equal(unnamed, 1);
	/* The function itself has none. */
	entry(&n, WIRE_LLVM_FUNCTION, 0x5000, 0, &unnamed);
	assert_int_equal(unnamed, 1);
}

TEST_CASE_WITH(what_the_trace_has_no_room_for_is_counted, set_up, NULL)
{
	_llvm_names_ struct llvm_names n = {0};
	uint64_t unnamed = 0;

	got.full = true;
	assert_int_equal(name(&n, 77, "f"), 0);
	got.full = false;
	assert_int_equal(entry(&n, WIRE_LLVM_FUNCTION, 0x5000, 77, &unnamed), 1);
	assert_int_equal(got.last.function, TRACE_NO_STRING);
	assert_int_equal(unnamed, 1);
	got.full = true;
	entry(&n, WIRE_LLVM_MODULE, 0x6000, 0, &unnamed);
	assert_int_equal(got.last.pass, TRACE_NO_STRING);
	assert_int_equal(unnamed, 2);
	/* Both, of one sample. */
	entry(&n, WIRE_LLVM_FUNCTION, 0x6000, 77, &unnamed);
	assert_int_equal(unnamed, 3);
}

TEST_CASE_WITH(a_name_is_printable, set_up, NULL)
{
	_llvm_names_ struct llvm_names n = {0};
	uint64_t unnamed = 0;

	assert_int_equal(name(&n, 1, "a b\n\xff~"), 0);
	entry(&n, WIRE_LLVM_FUNCTION, 0x5000, 1, &unnamed);
	assert_string_equal(got.texts[got.last.function], "a?b??~");
	/* The number has another name now. */
	assert_int_equal(name(&n, 1, "g"), 0);
	entry(&n, WIRE_LLVM_FUNCTION, 0x5000, 1, &unnamed);
	assert_string_equal(got.texts[got.last.function], "g");
}

static int on_symbol(void *ctx, const struct trace_symbol *s)
{
	return 0;
}

/* The whole symbol, under the string that the entries of samples have. */
TEST_CASE_WITH(the_item_of_a_function_is_wanted, set_up, NULL)
{
	static const char symbol[] = "_ZN1a1bE.llvm.1234";
	const struct decoder_sink gives = {.text = on_text, .llvm = on_llvm, .symbol = on_symbol};
	struct wire_llvm_name r = {.type = WIRE_LLVM_NAME, .number = 7, .size = sizeof(symbol) - 1};
	_llvm_names_ struct llvm_names n = {0};
	_symbols_ struct symbols symbols = {0};

	memcpy(r.bytes, symbol, r.size);
	assert_int_equal(llvm_names__record(&n, &symbols, &sink, &r), 0);
	assert_int_equal(symbols.wanted.n, 0);
	strcpy(got.texts[got.n_texts++], "another");
	assert_int_equal(llvm_names__record(&n, &symbols, &gives, &r), 0);
	assert_struct(symbols.wanted, n, 1, at[0].string, u64_map__get(&n.strings, 7), at[0].hash,
		      symbols__hash("_ZN1a1bE"));
}

TEST_CASE_WITH(malformed_records_are_refused, set_up, NULL)
{
	struct wire_llvm_name r = {.type = WIRE_LLVM_NAME, .number = 1, .size = 4};
	const size_t head = offsetof(struct wire_llvm_name, bytes);
	struct llvm_names n = {0};

	assert_int_equal(record_of(&r, head - 1).kind, RECORD_BAD);
	assert_int_equal(record_of(&r, head + 3).kind, RECORD_BAD);
	assert_int_equal(record_of(&r, head + 5).kind, RECORD_BAD);
	r.size = 0;
	assert_int_equal(llvm_names__record(&n, NULL, &sink, &r), -EBADMSG);
	r.size = WIRE_LLVM_NAME_MAX;
	assert_int_equal(llvm_names__record(&n, NULL, &sink, &r), -EBADMSG);
	/* Its process is not known. */
	assert_int_equal(name(NULL, 1, "f"), 0);
	assert_int_equal(got.n_texts, 0);
}

TEST_MAIN(NULL, NULL)
