// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/decoder.h"

#include "test.h"
#include "../fixtures/sunk.h"

static int do_interval(struct decoder *t, uint8_t kind, uint16_t query, uint32_t label)
{
	struct wire_span r = span(11, 0, 300, 400);

	r.kind = kind;
	r.query = query;
	r.label = label;
	return decoder__record(t, &r, sizeof(r));
}

static int do_label(struct decoder *t, uint32_t label, const char *text)
{
	struct wire_label r = {
		.type = WIRE_LABEL, .label = label, .key = {.len = (uint32_t)strlen(text)}};

	strncpy(r.key.text, text, sizeof(r.key.text));
	return decoder__record(t, &r, sizeof(r));
}

static void assert_last(const struct fixture *f, unsigned int kind, uint32_t label)
{
	const struct trace_span *s = &f->out.spans[f->out.n_spans - 1];

	assert_struct(*s, kind, kind, label, label, caller, TRACE_NO_LOCATION);
}

#define CASE(name) TEST_CASE_OF(name, setup, teardown, struct fixture *f)

CASE(an_interval_has_the_label_of_its_guard_or_query)
{
	static const uint32_t guards[] = {90, DECODER_NO_LABEL};

	assert_int_equal(library__set_guards(&f->t->libraries[2], guards, 2), 0);
	assert_int_equal(
		decoder__label(f->t,
			       &(struct wire_open_frame){.lib = 2, .kind = WIRE_KIND_ACTIVITY}),
		90);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 0, 0), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 90);
	assert_int_equal(do_interval(f->t, WIRE_KIND_BLOCKED, 2, 0), 0);
	assert_last(f, TRACE_KIND_BLOCKED, 72);
	assert_int_equal(do_interval(f->t, WIRE_KIND_LOAD, 0, 0), 0);
	assert_last(f, TRACE_KIND_LOAD, 70);
	assert_int_equal(do_interval(f->t, WIRE_KIND_HASHING, 1, 0), 0);
	assert_last(f, TRACE_KIND_HASHING, 71);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 2, 0), -EBADMSG);
	assert_int_equal(do_interval(f->t, WIRE_KIND_LOAD, 3, 0), -EBADMSG);
	assert_int_equal(do_interval(f->t, WIRE_KIND_MAX, 0, 0), -EBADMSG);
	assert_struct(f->out, n_spans, 4, n_labels, 0);
}

CASE(a_dynamic_label_comes_before_its_intervals)
{
	const struct wire_open_frame none = {.kind = WIRE_KIND_ACTIVITY},
				     first = {.kind = WIRE_KIND_ACTIVITY, .label = 1},
				     second = {.kind = WIRE_KIND_ACTIVITY, .label = 2};
	char longest[90];

	assert_int_equal(decoder__label(f->t, &none), DECODER_NO_LABEL);
	assert_int_equal(decoder__label(f->t, &second), DECODER_NO_LABEL);
	assert_int_equal(do_label(f->t, 2, "dynamic"), 0);
	assert_int_equal(decoder__label(f->t, &second), 80);
	assert_int_equal(decoder__label(f->t, &first), DECODER_NO_LABEL);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 2), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 80);
	assert_string_equal(f->out.labels[0], "dynamic");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(do_label(f->t, 1, longest), 0);
	strcpy(longest + WIRE_LABEL_MAX, "...");
	assert_string_equal(f->out.labels[1], longest);
	longest[WIRE_LABEL_MAX] = '\0';
	assert_int_equal(do_label(f->t, 3, longest), 0);
	assert_string_equal(f->out.labels[2], longest);
	assert_int_equal(do_label(f->t, 0, "none"), -EBADMSG);
	assert_int_equal(do_label(f->t, (1u << 20) + 1, "none"), -EBADMSG);
	assert_int_equal(do_label(f->t, UINT32_MAX, "none"), -EBADMSG);
}

CASE(an_interval_without_a_label_is_marked_unknown)
{
	static const uint32_t guards[] = {DECODER_NO_LABEL};

	assert_int_equal(library__set_guards(&f->t->libraries[2], guards, 1), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, WIRE_LABEL_LOST), 0);
	assert_last(f, TRACE_KIND_ACTIVITY, 80);
	assert_string_equal(f->out.labels[0], DECODER_UNKNOWN);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 7), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 0, 0), 0);
	assert_int_equal(do_interval(f->t, WIRE_KIND_HASHING, WIRE_NO_QUERY, 0), 0);
	assert_last(f, TRACE_KIND_HASHING, 80);
	assert_int_equal(do_interval(f->t, WIRE_KIND_QUERY, WIRE_NO_QUERY, 0), -EBADMSG);
	assert_int_equal(f->out.n_labels, 1);
}

CASE(unwanted_intervals_are_left_out)
{
	must(do_label(f->t, 1, "unwanted"), do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 1));
	assert_struct(f->out, n_spans, 0, n_processes, 0);
	/* A number that is a label's is not one for a query. */
	assert_int_equal(do_interval(f->t, WIRE_KIND_QUERY, 1, 1), 0);
	assert_last(f, TRACE_KIND_QUERY, 71);
}

static int do_hit(struct decoder *t, uint32_t pid, uint32_t invocation)
{
	const struct wire_hit r = {.type = WIRE_HIT,
				   .lib = 2,
				   .depth = 1,
				   .pid = pid,
				   .tid = pid,
				   .invocation = invocation,
				   .time_ns = 500};

	return decoder__record(t, &r, sizeof(r));
}

CASE(a_hit_is_of_the_query_that_was_executed)
{
	const struct trace_span *s = &f->out.spans[1];

	f->t->expects_hits = true;
	must(do_span(f->t, 11, 0, 300, 400), do_hit(f->t, 11, 5));
	assert_last(f, TRACE_KIND_HIT, 71);
	assert_struct(*s, invocation, 5, start_ns, 500, end_ns, 500, depth, 1);
	assert_int_equal(f->t->unknown_hits, 0);
	/* An id without an execution; an id of another process. */
	assert_int_equal(do_hit(f->t, 11, 6), 0);
	assert_last(f, TRACE_KIND_HIT, 80);
	assert_string_equal(f->out.labels[0], DECODER_UNKNOWN);
	assert_int_equal(do_hit(f->t, 12, 5), 0);
	assert_last(f, TRACE_KIND_HIT, 80);
	assert_int_equal(f->t->unknown_hits, 2);
}

static int do_execution(struct decoder *t, uint32_t invocation)
{
	struct wire_span r = span(11, 0, 300, 400);

	r.invocation = invocation;
	return decoder__record(t, &r, sizeof(r));
}

CASE(executions_with_the_largest_ids_are_not_remembered)
{
	f->t->expects_hits = true;
	must(do_execution(f->t, EXECUTIONS_MAX), do_hit(f->t, 11, EXECUTIONS_MAX));
	assert_last(f, TRACE_KIND_HIT, 80);
	must(do_execution(f->t, WIRE_NO_INVOCATION), do_hit(f->t, 11, WIRE_NO_INVOCATION));
	assert_last(f, TRACE_KIND_HIT, 80);
	must(do_execution(f->t, EXECUTIONS_MAX - 1), do_hit(f->t, 11, EXECUTIONS_MAX - 1));
	assert_last(f, TRACE_KIND_HIT, 71);
	/* Nor is one between those that are. */
	assert_int_equal(do_hit(f->t, 11, 7), 0);
	assert_last(f, TRACE_KIND_HIT, 80);
	assert_int_equal(f->t->unknown_hits, 3);
}

static int do_off_cpu(struct decoder *t, uint8_t reason, uint32_t flags, uint64_t end)
{
	const struct wire_off_cpu r = {.type = WIRE_OFF_CPU,
				       .reason = reason,
				       .depth = 1,
				       .pid = 11,
				       .tid = 12,
				       .flags = flags,
				       .start_ns = 500,
				       .end_ns = end};

	return decoder__record(t, &r, sizeof(r));
}

CASE(the_cause_of_off_cpu_time_is_reported)
{
	const struct trace_span *s = &f->out.spans[0];

	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, 0, 600), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 80);
	assert_string_equal(f->out.labels[0], TRACE_OFF_WAITING);
	assert_struct(*s, tid, 12, depth, 1, start_ns, 500, end_ns, 600, invocation,
		      TRACE_NO_INVOCATION);
	assert_int_equal(f->out.n_processes, 1);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_PREEMPTED, WIRE_SPAN_OPEN, 600), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 81);
	assert_string_equal(f->out.labels[1], TRACE_OFF_PREEMPTED);
	assert_int_equal(f->out.spans[1].flags, TRACE_SPAN_OPEN);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, WIRE_SPAN_LEFT, 700), 0);
	assert_last(f, TRACE_KIND_OFF_CPU, 80);
	assert_int_equal(f->out.spans[2].flags, TRACE_SPAN_LEFT);
	assert_int_equal(do_off_cpu(f->t, 0, 0, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_MAX, 0, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, WIRE_SPAN_UNWOUND, 600), -EBADMSG);
	assert_int_equal(do_off_cpu(f->t, WIRE_OFF_WAITING, 0, 499), -EBADMSG);
}

CASE(spans_are_converted)
{
	struct wire_span r = span(11, 3, 300, 400);
	const struct trace_span *s = f->out.spans;

	r.tid = 12;
	r.query = 2;
	r.flags = WIRE_SPAN_LEFT | WIRE_SPAN_UNWOUND;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
	assert_struct(*s, start_ns, 300, end_ns, 400);
	assert_int_equal(f->out.self_ns[0], 100);
	assert_struct(*s, process, 0, tid, 12, label, 72, invocation, 5, depth, 3, flags,
		      TRACE_SPAN_LEFT | TRACE_SPAN_UNWOUND);
	r.flags = WIRE_SPAN_OPEN;
	r.invocation = WIRE_NO_INVOCATION;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
	assert_true(s[1].invocation == TRACE_NO_INVOCATION);
	assert_int_equal(s[1].flags, TRACE_SPAN_OPEN);
}

CASE(a_thread_has_a_name)
{
	struct wire_thread r = {WIRE_THREAD, .pid = 10, .tid = 11, .time_ns = 5, .name = "opt a"};

	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
	assert_struct(f->out, n_processes, 1, processes[0].pid, 10, n_threads, 1, threads[0].tid,
		      11, thread_names[0], "opt a");
	memset(r.name, 'x', sizeof(r.name));
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, sizeof(r) - 1), -EBADMSG);
	assert_int_equal(f->out.n_threads, 1);
}

CASE(self_times_of_many_threads_are_exact)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 15000, 3, 3);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_span *want = &s->at[i];
		struct wire_span r =
			span(100 + want->process, want->depth, want->start_ns, want->end_ns);

		r.tid = want->tid;
		assert_int_equal(decoder__record(f->t, &r, sizeof(r)), 0);
		assert_true(f->out.self_ns[i] == s->self_ns[i]);
	}
	assert_int_equal(f->t->images.n_processes, 3);
}

CASE(a_malformed_record_changes_nothing)
{
	struct wire_exec exec = {.type = WIRE_EXEC, .pid = 11, .args_len = 5};
	struct wire_span r = span(11, 0, 300, 400);
	const wire_u8 types[] = {0, WIRE_EXIT + 1, 255};

	assert_int_equal(decoder__record(f->t, &r, 0), -EBADMSG);
	for (size_t size = 1; size < sizeof(r); size++)
		assert_int_equal(decoder__record(f->t, &r, size), -EBADMSG);
	r.query = 3;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.query = 1;
	r.lib = 3;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.lib = 2;
	r.end_ns = 299;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	for (size_t i = 0; i < sizeof(types); i++) {
		r.type = types[i];
		assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	}
	assert_int_equal(decoder__record(f->t, &exec, offsetof(struct wire_exec, args) + 4),
			 -EBADMSG);
	exec.args_len = WIRE_ARGS_MAX + 1;
	assert_int_equal(decoder__record(f->t, &exec, sizeof(exec)), -EBADMSG);
	exec.args_len = WIRE_COMMAND_MAX + 1;
	assert_int_equal(decoder__record(f->t, &exec, SIZE_MAX), -EBADMSG);
	assert_int_equal(do_fork(f->t, 11, 11, 0), -EBADMSG);
	assert_struct(*f, t->images.n_processes, 0, out.n_spans, 0);
}

CASE(an_error_of_the_sink_comes_back)
{
	f->out.err = -ENOSPC;
	assert_int_equal(do_exec(f->t, 11, 200, RUSTC("a")), -ENOSPC);
	f->out.err = 0;
	assert_int_equal(do_span(f->t, 11, 0, 300, 400), 0);
	f->out.err = -EIO;
	assert_int_equal(do_span(f->t, 11, 0, 500, 600), -EIO);
	assert_int_equal(do_label(f->t, 1, "dynamic"), -EIO);
	assert_int_equal(do_interval(f->t, WIRE_KIND_ACTIVITY, 9, 7), -EIO);
}

TEST_CASE(a_sink_may_be_empty)
{
	_decoder_ struct decoder *t = NULL;
	const struct decoder_sink none = {0};
	const uint32_t label = 0;

	must(decoder__new(&none, &t), decoder__set_library(t, 2, &label, 1, NULL, NULL),
	     do_exec(t, 11, 200, RUSTC("a")));
	assert_int_equal(do_span(t, 11, 0, 300, 400), -EBADMSG);
	assert_int_equal(do_label(t, 1, "dynamic"), -EBADMSG);
	assert_int_equal(do_interval(t, WIRE_KIND_ACTIVITY, 9, 7), -EBADMSG);
	assert_int_equal(do_exit(t, 11, 500, 0), 0);
}

/* One that says nothing of what is wanted wants all. */
TEST_CASE(a_sink_may_want_all_labels)
{
	_decoder_ struct decoder *t = NULL;
	struct sunk out = {0};
	const struct decoder_sink sink = {.ctx = &out, .label = sink_label};

	must(decoder__new(&sink, &t), do_label(t, 1, "unwanted"));
	assert_string_equal(out.labels[0], "unwanted");
}

/* A function takes the first 0x80 bytes of every 0x100. */
static bool find_function(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	*addr = pc & ~0xffu;
	*size = 0x80;
	return pc - *addr < *size;
}

static char *name_function(const void *ctx, uint32_t pc)
{
	char name[16];

	snprintf(name, sizeof(name), "%s_%x", (const char *)ctx, pc >> 8);
	return strdup(name);
}

static int do_span_called(struct decoder *t, uint32_t caller, uint64_t start)
{
	struct wire_span r = span(11, 0, start, start + 10);

	r.caller = caller;
	return decoder__record(t, &r, sizeof(r));
}

CASE(a_caller_is_a_place_in_a_known_function)
{
	static const struct decoder_functions functions = {"f", find_function, name_function, NULL,
							   1};
	const struct trace_span *s = f->out.spans;

	/* Without functions the address is unknown. */
	assert_int_equal(do_span_called(f->t, 0x9010, 100), 0);
	decoder__set_functions(f->t, 2, &functions);
	assert_int_equal(do_span_called(f->t, 0x1234, 200), 0);
	assert_struct(f->out, n_functions, 1, names[0], "f_12");
	assert_struct(f->out.functions[0], addr, 0x1200, size, 0x80);
	assert_true(f->out.functions[0].first >= 1);
	assert_int_equal(s[0].caller, TRACE_NO_LOCATION);
	assert_int_equal(s[1].caller, f->out.functions[0].first + 0x34);
	assert_int_equal(do_span_called(f->t, 0x1236, 300), 0);
	/* A call that ends a function returns right behind it; a byte further is no function. */
	must(do_span_called(f->t, 0x1280, 400), do_span_called(f->t, 0x1281, 500),
	     do_span_called(f->t, 0, 600));
	assert_int_equal(f->out.n_functions, 1);
	assert_int_equal(s[2].caller, f->out.functions[0].first + 0x36);
	assert_int_equal(s[3].caller, f->out.functions[0].first + 0x80);
	assert_int_equal(s[4].caller, TRACE_NO_LOCATION);
	assert_int_equal(s[5].caller, TRACE_NO_LOCATION);
	f->out.err = -EIO;
	assert_int_equal(do_span_called(f->t, 0x1310, 700), -EIO);
}

CASE(a_number_goes_to_another_library)
{
	static const struct decoder_functions one = {"one", find_function, name_function, NULL, 1};
	static const struct decoder_functions two = {"two", find_function, name_function, NULL, 2};
	static const uint32_t labels[] = {77, 78, 79};
	const struct trace_span *s = f->out.spans;

	decoder__set_functions(f->t, 2, &one);
	assert_int_equal(do_span_called(f->t, 0x1234, 100), 0);
	assert_int_equal(decoder__set_library(f->t, 2, labels, 3, "abcd", NULL), 0);
	assert_int_equal(do_span_called(f->t, 0x1234, 200), 0);
	decoder__set_functions(f->t, 2, &two);
	assert_int_equal(do_span_called(f->t, 0x1244, 300), 0);
	assert_struct(f->out, n_functions, 2, names[0], "one_12", names[1], "two_12");
	assert_int_equal(s[0].caller, f->out.functions[0].first + 0x34);
	assert_int_equal(s[1].caller, TRACE_NO_LOCATION);
	assert_struct(s[2], caller, f->out.functions[1].first + 0x44, label, labels[1]);
}

/* ---- Kernel losses --------------------------------------------------------------------------- */

/* Each counter is mapped to its cause, and to no other. */
TEST_CASE(losses_are_mapped_cause_by_cause)
{
	static const struct {
		enum wire_counter counter;
		enum trace_loss cause;
	} causes[] = {
		{WIRE_LOST_RING_FULL, TRACE_LOST_RING_FULL},
		{WIRE_LOST_STACK_FULL, TRACE_LOST_STACK_FULL},
		{WIRE_LOST_NO_STORAGE, TRACE_LOST_NO_STORAGE},
		{WIRE_LOST_RECURSION, TRACE_LOST_RECURSION},
		{WIRE_LOST_PROCESS_RECORD, TRACE_LOST_PROCESS_RECORD},
		{WIRE_LOST_TARGETS_FULL, TRACE_LOST_TARGETS_FULL},
		{WIRE_LOST_MAPPINGS, TRACE_LOST_MAPPINGS},
		{WIRE_LOST_COMPILERS, TRACE_LOST_COMPILERS},
		{WIRE_DROP_END_WITHOUT_START, TRACE_DROP_END_WITHOUT_START},
		{WIRE_DROP_UNKNOWN_PROVIDER, TRACE_LOST_UNKNOWN_PROVIDER},
		{WIRE_COUNT_UNWOUND, TRACE_COUNT_UNWOUND},
		{WIRE_COUNT_LEFT, TRACE_COUNT_LEFT},
		{WIRE_COUNT_OPEN, TRACE_COUNT_OPEN},
		{WIRE_COUNT_HITS, TRACE_COUNT_HITS},
		{WIRE_COUNT_HITS_OTHER, TRACE_COUNT_HITS_OTHER},
		{WIRE_COUNT_NO_LABEL, TRACE_COUNT_NO_LABEL},
		{WIRE_COUNT_NO_CALLER, TRACE_COUNT_NO_CALLER},
		{WIRE_LOST_SAMPLES_RING, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_SAMPLES_NESTED, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_SAMPLES_CPU, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_JOBS, TRACE_COUNT_NO_JOB},
		{WIRE_LOST_LLVM, TRACE_COUNT_NO_LLVM},
	};
	const struct decoder_sink sink = {0};
	struct decoder *t = NULL;

	assert_int_equal(decoder__new(&sink, &t), 0);
	for (size_t i = 0; i < N_OF(causes); i++) {
		uint64_t counters[WIRE_COUNTER_MAX] = {0};
		struct trace_losses losses;

		counters[causes[i].counter] = 40 + i;
		losses = decoder__losses(t, counters);
		for (unsigned int cause = 0; cause < TRACE_LOSS_MAX; cause++)
			assert_int_equal(losses.count[cause],
					 cause == causes[i].cause ? 40 + i : 0);
	}
	decoder__free(t);
}

TEST_MAIN(NULL, NULL)
