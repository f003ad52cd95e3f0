// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/samples.h"

#include "test.h"
#include "../fixtures/sunk.h"

#define LIB 2

/* Files: of library LIB, another one of which functions are known, and one of which nothing is. */
enum { DRIVER = 1, LIBC = 2, NOTHING = 3 };

/* Each function takes the first 0x800 bytes of 0x1000. */
#define WRAPPER	 0x1010 /* of query 0 */
#define BODY	 0x2010 /* of queries 0, 1 and 2; outside of an execution */
#define RUNS	 0x2110
#define PROVIDER 0x3010 /* of query 1 */
#define ACTIVITY 0x4010 /* guard 0, whose label is known */
#define DYNAMIC	 0x4110 /* guard 1, whose label is not */
#define LOADS	 0x2090 /* outside of an execution */
#define HASHES	 0x2210 /* within an execution */
#define FEEDS	 0x4210 /* hashes what a query feeds to another */
#define OTHER	 0x7010
#define PROBED	 0x2120

static bool find_function(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	*addr = pc & ~0xfffu;
	*size = 0x800;
	return pc - *addr < *size;
}

static char *name_function(const void *ctx, uint32_t pc)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%x", (const char *)ctx, pc >> 12);
	return strdup(name);
}

static const struct decoder_functions driver = {"d", find_function, name_function, NULL, 1};
static const struct decoder_functions libc = {"c", find_function, name_function, NULL, 2};

static struct plan_query queries[] = {
	{.name = (char *)"a",
	 .wrapper_non_incr = 0x1000,
	 .provider = 0x9000,
	 .body_incr = PLAN_NONE},
	{.name = (char *)"b",
	 .wrapper_non_incr = 0x9100,
	 .provider = 0x3000,
	 .body_incr = PLAN_NONE},
	{.name = (char *)"c",
	 .wrapper_non_incr = 0x9200,
	 .provider = 0x9300,
	 .body_incr = PLAN_NONE},
};
static struct plan_body bodies[] = {{.addr = 0x2000, .n_queries = 3, .n_ends = 1}};
static struct plan_guard guards[] = {
	{.kind = WIRE_KIND_ACTIVITY, .exact = true},
	{.kind = WIRE_KIND_ACTIVITY, .exact = true},
	{.kind = WIRE_KIND_HASHING, .exact = true, .label_of_query = true},
	{.kind = WIRE_KIND_HASHING, .exact = true},
	{.kind = WIRE_KIND_LOAD, .exact = true},
};
static struct plan_frame frames[] = {
	{0x1000, 0x800, 0, PLAN_FRAME_WRAPPER},
	{0x2000, 0x100, 0, PLAN_FRAME_BODY},
	{0x2100, 0x200, 0, PLAN_FRAME_RUNS},
	{0x3000, 0x800, 1, PLAN_FRAME_PROVIDER},
};
static struct plan_site sites[] = {
	{.role = WIRE_ROLE_END, .addr = PROBED},
	{.role = WIRE_ROLE_START, .addr = 0x1001},
};
static struct plan_frame guard_frames[] = {
	{0x2080, 0x40, 4, PLAN_FRAME_GUARD}, {0x2200, 0x80, 2, PLAN_FRAME_GUARD},
	{0x4000, 0x80, 0, PLAN_FRAME_GUARD}, {0x4100, 0x80, 1, PLAN_FRAME_GUARD},
	{0x4200, 0x80, 3, PLAN_FRAME_GUARD},
};
static const struct plan plan = {.queries = queries,
				 .n_queries = N_OF(queries),
				 .bodies = bodies,
				 .n_bodies = N_OF(bodies),
				 .guards = guards,
				 .n_guards = N_OF(guards),
				 .sites = sites,
				 .n_sites = N_OF(sites),
				 .frames = frames,
				 .n_frames = N_OF(frames),
				 .guard_frames = guard_frames,
				 .n_guard_frames = N_OF(guard_frames)};

/* A compiler runs as process 11. */
static int set_up(void **state)
{
	static const uint32_t labels[] = {90, DECODER_NO_LABEL, DECODER_NO_LABEL, DECODER_NO_LABEL,
					  DECODER_NO_LABEL};
	int err = setup(state);
	struct fixture *f = *state;

	err = err ?: library__set_guards(&f->t->libraries[LIB], labels, N_OF(labels));
	err = err ?: decoder__set_frames(f->t, LIB, &plan);
	decoder__set_functions(f->t, LIB, &driver);
	err = err ?: decoder__set_file(f->t, DRIVER, &driver);
	err = err ?: decoder__set_file(f->t, LIBC, &libc);
	return err ?: do_exec(f->t, 11, 100, RUSTC("a"));
}

/* Without stack: its outermost frame comes first, as stacks are read. */
static struct wire_sample sample_of(const uint64_t *stack, uint32_t n)
{
	struct wire_sample r = {.type = WIRE_SAMPLE,
				.cause = WIRE_SAMPLE_CPU,
				.query = WIRE_NO_QUERY,
				.pid = 11,
				.tid = 12,
				.time_ns = 500,
				.value = 1000000,
				.n = n};

	for (uint32_t i = 0; i < n; i++)
		r.frames[n - 1 - i] = stack[i];
	return r;
}

static int hold(struct fixture *f, const struct wire_sample *r)
{
	return decoder__record(f->t, r, offsetof(struct wire_sample, frames) + 8ul * r->n);
}

static int take(struct fixture *f, const struct wire_sample *r)
{
	return hold(f, r) ?: decoder__release_samples(f->t);
}

/* The last sample's stack, the outermost entry first: "+offset" in the function before it. */
static const char *stack_of(const struct fixture *f, uint32_t stack)
{
	static const char kinds[] = "lqabhHu";
	static char text[512], *at;
	uint32_t path[64], n = 0;

	for (; stack && n < N_OF(path); stack = f->out.stacks[stack - 1].parent)
		path[n++] = stack;
	at = text;
	*at = '\0';
	while (n--) {
		const struct trace_stack *s = &f->out.stacks[path[n] - 1];
		const char *name = NULL;
		uint32_t offset = 0;

		for (uint32_t i = 0; s->kind == TRACE_STACK_LOCATION && i < f->out.n_functions; i++)
			if (s->place - f->out.functions[i].first <= f->out.functions[i].size) {
				name = f->out.names[i];
				offset = s->place - f->out.functions[i].first;
			}
		if (name)
			at += sprintf(at, "%s+%x ", name, offset);
		else if (s->kind == TRACE_STACK_LOCATION)
			at += sprintf(at, "%s ", s->place ? "lost" : "?");
		else
			at += sprintf(at, "%c%u ", kinds[s->kind], s->place);
	}
	if (at > text)
		at[-1] = '\0';
	return text;
}

#define IN(file, addr) ((uint64_t)(file) << 48 | (addr))

/* The sample is taken, and has this stack. */
static void check(struct fixture *f, const struct wire_sample *r, const char *want)
{
	assert_int_equal(take(f, r), 0);
	assert_string_equal(stack_of(f, f->out.samples[0].stack), want);
}

#define CHECK(f, want, ...)                                            \
	do {                                                           \
		const uint64_t stack[] = {__VA_ARGS__};                \
		struct wire_sample r_ = sample_of(stack, N_OF(stack)); \
                                                                       \
		check(f, &r_, want);                                   \
	} while (0)

#define CASE(name) TEST_CASE_OF(name, set_up, teardown, struct fixture *f)

CASE(a_stack_becomes_entries_with_its_queries)
{
	const struct trace_sample *s = &f->out.samples[0];

	CHECK(f, "c5+20 d1+10 q70 d2+110 d7+10", IN(LIBC, 0x5020), IN(DRIVER, WRAPPER),
	      IN(DRIVER, RUNS), IN(DRIVER, OTHER));
	assert_int_equal(f->out.n_functions, 4);
	assert_struct(*s, process, 0, tid, 12, time_ns, 500, value, 1000000, cause,
		      TRACE_SAMPLE_CPU, cut, TRACE_CUT_NOT, depth, 0, label, TRACE_NO_STRING);
	assert_string_equal(f->out.processes[0].build_id, "abcd");
	/* Another one has most of it. */
	CHECK(f, "c5+20 d1+10 q70 d2+110 d7+18", IN(LIBC, 0x5020), IN(DRIVER, WRAPPER),
	      IN(DRIVER, RUNS), IN(DRIVER, OTHER + 8));
	assert_struct(f->out, n_stacks, 6, n_functions, 4);
}

static void check_light(struct fixture *f, const struct wire_sample *r, const char *want)
{
	check(f, r, want);
	assert_int_equal(f->out.samples[0].cut, TRACE_CUT_TOO_DEEP);
}

/* Of the frames that were walked, only the innermost and its query are kept. */
CASE(a_light_sample_has_the_innermost_function_and_query)
{
	static const uint64_t stack[] = {IN(DRIVER, WRAPPER), IN(DRIVER, RUNS), IN(LIBC, 0x5020)};
	struct wire_sample r = sample_of(stack, N_OF(stack));

	r.light = WIRE_LIGHT_NEAR;
	r.cut = WIRE_CUT_TOO_DEEP;
	check_light(f, &r, "q70 c5+20");
	/* Another query runs in the first one, but nothing shows which. */
	r.n = 2;
	r.frames[1] = IN(DRIVER, RUNS);
	check_light(f, &r, "u0 c5+20");
	r.n = 1;
	check_light(f, &r, "u0 c5+20");
	/* The thread begins here, so it is in no query. */
	r.cut = WIRE_CUT_NOT;
	check_light(f, &r, "c5+20");
	r.n = 0;
	r.cut = WIRE_CUT_NO_MAP;
	check_light(f, &r, "");
}

/* A wait in a job: the queries are those of the jobs around. */
CASE(a_sample_without_frames_has_the_queries_of_its_job)
{
	struct wire_job outer = {.type = WIRE_JOB, .lib = LIB, .pid = 11, .job = 7, .query = 2};
	struct wire_job inner = {
		.type = WIRE_JOB, .lib = LIB, .pid = 11, .job = 9, .parent = 7, .query = 1};
	struct wire_sample r = sample_of(NULL, 0);

	assert_int_equal(decoder__record(f->t, &outer, sizeof(outer)), 0);
	assert_int_equal(decoder__record(f->t, &inner, sizeof(inner)), 0);
	r.cause = WIRE_SAMPLE_OFF_CPU;
	r.inner = WIRE_INNER_UNKNOWN;
	r.job = 9;
	r.job_lib = LIB;
	check(f, &r, "q72 q71");
	assert_int_equal(f->out.samples[0].cut, TRACE_CUT_NOT);
	/* In an activity within it, or around. */
	r.lib = LIB;
	r.kind = WIRE_KIND_ACTIVITY;
	r.query = 0;
	r.depth = 1;
	check(f, &r, "q72 q71");
	r.inner = 0;
	check(f, &r, "q72 q71 a90");
	/* A job that no record is of, in no library, or in one that is not known. */
	r.depth = 0;
	for (uint32_t i = 0; i < 3; i++) {
		r.job = i ? 9 : 8;
		r.job_lib = i ? (i - 1) * 77 : LIB;
		check(f, &r, "");
	}
}

CASE(probes_that_see_all_queries_name_that_of_a_light_sample)
{
	static const uint64_t stack[] = {IN(DRIVER, PROVIDER)};
	struct wire_sample r = sample_of(stack, N_OF(stack));

	r.light = WIRE_LIGHT_HERE;
	r.cut = WIRE_CUT_TOO_DEEP;
	check_light(f, &r, "d3+10");
	r.busy = 1;
	check_light(f, &r, "q71 d3+10");
	r.frames[0] = IN(LIBC, 0x5020);
	check_light(f, &r, "u0 c5+20");
	r.busy = 0;
	r.lib = LIB;
	r.query = 0;
	r.depth = 3;
	check_light(f, &r, "q70 c5+20");
	assert_int_equal(f->out.samples[0].label, 70);
	/* The function is a part of what the query calls. */
	r.frames[0] = IN(DRIVER, ACTIVITY);
	check_light(f, &r, "q70 d4+10");
}

CASE(a_query_that_nothing_shows_is_marked)
{
	CHECK(f, "u0 d2+110 d7+10", IN(DRIVER, RUNS), IN(DRIVER, OTHER));
	CHECK(f, "q71 d2+110 d3+10", IN(DRIVER, RUNS), IN(DRIVER, PROVIDER));
	CHECK(f, "d1+10 d2+10", IN(DRIVER, WRAPPER), IN(DRIVER, BODY));
}

CASE(other_intervals_have_their_labels)
{
	CHECK(f, "a90 d4+10", IN(DRIVER, ACTIVITY));
	CHECK(f, "d1+10 q70 H70 d2+210", IN(DRIVER, WRAPPER), IN(DRIVER, HASHES));
	assert_int_equal(f->out.n_labels, 0);
	CHECK(f, "a80 d4+110", IN(DRIVER, DYNAMIC));
	assert_string_equal(f->out.labels[0], DECODER_UNKNOWN);
	CHECK(f, "d1+10 h70 d2+90", IN(DRIVER, WRAPPER), IN(DRIVER, LOADS));
	assert_int_equal(f->out.n_labels, 1);
}

/* Samples of a query that no frame names count for the query around it. */
CASE(an_interval_without_a_query_has_no_row)
{
	CHECK(f, "u0 d2+210", IN(DRIVER, HASHES));
	CHECK(f, "u0 d2+90", IN(DRIVER, LOADS));
	/* The query around is known. */
	CHECK(f, "d1+10 q70 d2+110 d4+210", IN(DRIVER, WRAPPER), IN(DRIVER, RUNS),
	      IN(DRIVER, FEEDS));
	assert_int_equal(f->out.n_labels, 0);
}

/* The same number is a pc in one stack, and a return address in another. */
CASE(the_innermost_place_is_a_pc)
{
	CHECK(f, "d2+100 ?", IN(DRIVER, 0x2100), IN(LIBC, 0x900));
	CHECK(f, "u0 d2+100", IN(DRIVER, 0x2100));
	CHECK(f, "d2+100 ?", IN(DRIVER, 0x2100), IN(LIBC, 0x900));
	/* A function ends with a call. */
	CHECK(f, "d7+800 ?", IN(DRIVER, 0x7800), IN(LIBC, 0x900));
	CHECK(f, "?", IN(DRIVER, 0x7800));
}

CASE(places_may_be_anything)
{
	CHECK(f, "? ? ?", IN(NOTHING, 0x1000), IN(0, 0x7f0000001000), IN(0xffff, 0x1000));
	CHECK(f, "? ? ? ?", 0, UINT64_MAX, IN(DRIVER, 0), IN(DRIVER, 0xffffffffffff));
	CHECK(f, "? d7+10", IN(DRIVER, 1ull << 47 | OTHER), IN(DRIVER, OTHER));
	CHECK(f, "?", IN(DRIVER, 1ull << 32 | OTHER));
	CHECK(f, "", );
	assert_int_equal(f->out.samples[0].stack, TRACE_NO_STACK);
}

/* A record that is sound but for these. */
#define REFUSED(...)                                       \
	do {                                               \
		struct wire_sample bad = good;             \
                                                           \
		__VA_ARGS__;                               \
		assert_int_equal(take(f, &bad), -EBADMSG); \
	} while (0)

CASE(a_malformed_record_is_refused)
{
	static const uint64_t stack[] = {IN(DRIVER, OTHER)};
	struct wire_sample good = sample_of(stack, 1), r = good;
	const size_t empty = offsetof(struct wire_sample, frames), size = empty + 8;

	assert_int_equal(decoder__record(f->t, &r, empty - 1), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, empty), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, size + 8), -EBADMSG);
	assert_int_equal(decoder__record(f->t, &r, size - 1), -EBADMSG);
	r.n = WIRE_SAMPLE_FRAMES + 1;
	assert_int_equal(decoder__record(f->t, &r, sizeof(r)), -EBADMSG);
	r.n = UINT16_MAX;
	assert_int_equal(decoder__record(f->t, &r, size), -EBADMSG);
	REFUSED(bad.cause = 0);
	REFUSED(bad.cause = WIRE_SAMPLE_CAUSES);
	REFUSED(bad.cut = WIRE_CUT_MAX);
	REFUSED(bad.light = WIRE_LIGHT_MAX);
	REFUSED(bad.depth = 1, bad.lib = LIB, bad.kind = WIRE_KIND_MAX);
	REFUSED(bad.depth = 1, bad.lib = LIB, bad.kind = WIRE_KIND_QUERY, bad.query = 3);
	assert_struct(f->out, n_samples, 0, n_stacks, 0);
}

static void check_interval(struct fixture *f, uint8_t kind, uint16_t query, uint32_t number,
			   uint32_t label)
{
	static const uint64_t stack[] = {IN(DRIVER, OTHER)};
	struct wire_sample r = sample_of(stack, 1);

	r.lib = LIB;
	r.kind = kind;
	r.query = query;
	r.label = number;
	r.depth = 3;
	assert_int_equal(take(f, &r), 0);
	assert_struct(f->out.samples[0], label, label, kind, kind, depth, 3);
	r.busy = 1;
	assert_int_equal(take(f, &r), 0);
	assert_struct(f->out.samples[0], label, TRACE_NO_STRING, depth, 0);
}

CASE(it_has_the_interval_that_probes_saw)
{
	struct wire_label label = {.type = WIRE_LABEL, .label = 1, .key = {.len = 7}};

	check_interval(f, WIRE_KIND_QUERY, 1, 0, 71);
	check_interval(f, WIRE_KIND_ACTIVITY, 0, 0, 90);
	check_interval(f, WIRE_KIND_HASHING, 2, 0, 72);
	strcpy(label.key.text, "dynamic");
	assert_int_equal(decoder__record(f->t, &label, sizeof(label)), 0);
	check_interval(f, WIRE_KIND_ACTIVITY, 9, 1, 80);
	label.label = 2;
	label.key.len = 8;
	strcpy(label.key.text, "unwanted");
	assert_int_equal(decoder__record(f->t, &label, sizeof(label)), 0);
	check_interval(f, WIRE_KIND_ACTIVITY, 9, 2, TRACE_NO_STRING);
}

/* A sample of a query, whose innermost place is this. */
static const struct trace_sample *sample_at(struct fixture *f, uint64_t place)
{
	const uint64_t stack[] = {IN(DRIVER, PROBED), place};
	struct wire_sample r = sample_of(stack, 2);

	r.lib = LIB;
	r.query = 1;
	r.depth = 3;
	assert_int_equal(take(f, &r), 0);
	return &f->out.samples[0];
}

CASE(in_the_trap_of_a_probe_nothing_is_known)
{
	assert_int_equal(sample_at(f, IN(DRIVER, PROBED))->depth, 0);
	assert_int_equal(f->out.samples[0].label, TRACE_NO_STRING);
	assert_int_equal(sample_at(f, IN(DRIVER, PROBED + 1))->label, 71);
	assert_int_equal(sample_at(f, IN(LIBC, PROBED))->label, 71);
	assert_int_equal(sample_at(f, IN(DRIVER, 0x1001))->label, TRACE_NO_STRING);
}

static int sample_in(struct fixture *f, uint32_t pid, uint64_t time, uint64_t place)
{
	struct wire_sample r = sample_of(&place, 1);

	r.pid = pid;
	r.time_ns = time;
	return take(f, &r);
}

CASE(samples_of_others_are_left_out)
{
	struct wire_fork fork = {.type = WIRE_FORK, .parent_pid = 11, .child_pid = 12};

	/* Process 11 is a compiler by its name. */
	assert_int_equal(sample_in(f, 11, 200, IN(LIBC, 0x5020)), 0);
	assert_struct(f->out, n_samples, 1, processes[0].build_id, NULL);
	must(do_exec(f->t, 20, 100, "ld\0-o\0x"), sample_in(f, 20, 200, IN(LIBC, 0x5020)),
	     sample_in(f, 21, 200, IN(LIBC, 0x5020)));
	/* A child of the compiler runs its code until it executes a program. */
	fork.time_ns = 210;
	must(decoder__record(f->t, &fork, sizeof(fork)), sample_in(f, 12, 220, IN(DRIVER, OTHER)));
	assert_struct(f->out, n_samples, 1, n_processes, 1);
	/* The compiler's own samples go on. */
	assert_int_equal(sample_in(f, 11, 230, IN(DRIVER, OTHER)), 0);
	assert_struct(f->out, n_samples, 2, processes[0].build_id, "abcd");
}

CASE(code_of_a_compiler_makes_a_compiler)
{
	assert_int_equal(sample_in(f, 30, 200, IN(DRIVER, OTHER)), 0);
	assert_struct(f->out, n_processes, 2, processes[1].attached_late, true,
		      processes[1].build_id, "abcd", samples[0].process, 1);
	/* From now on all of its samples count. */
	assert_int_equal(sample_in(f, 30, 300, IN(LIBC, 0x5020)), 0);
	assert_int_equal(f->out.n_samples, 2);
	assert_int_equal(do_exit(f->t, 30, 400, 0), 0);
	/* This one came late; the next is of a process that is not known. */
	must(sample_in(f, 30, 350, IN(LIBC, 0x5020)), sample_in(f, 30, 450, IN(LIBC, 0x5020)));
	assert_int_equal(f->out.n_samples, 3);
}

CASE(a_stack_that_finds_no_room_is_cut)
{
	f->out.most_stacks = 3;
	CHECK(f, "c5+20 d1+10 q70", IN(LIBC, 0x5020), IN(DRIVER, WRAPPER), IN(DRIVER, RUNS),
	      IN(DRIVER, OTHER));
	f->out.err = -EIO;
	assert_int_equal(sample_in(f, 11, 200, IN(LIBC, 0x5020)), -EIO);
}

CASE(a_library_that_comes_later_shows_its_queries)
{
	static const uint32_t labels[] = {60, 61, 62};

	decoder__set_functions(f->t, LIB, NULL);
	CHECK(f, "d1+10 d2+110", IN(DRIVER, WRAPPER), IN(DRIVER, RUNS));
	assert_null(f->out.processes[0].build_id);
	decoder__set_functions(f->t, LIB, &driver);
	CHECK(f, "d1+10 q70 d2+110", IN(DRIVER, WRAPPER), IN(DRIVER, RUNS));
	/* The number goes to another library, of another file. */
	assert_int_equal(decoder__set_library(f->t, LIB, labels, 3, "ef", NULL), 0);
	assert_int_equal(decoder__set_frames(f->t, LIB, &plan), 0);
	CHECK(f, "d1+10 d2+110", IN(DRIVER, WRAPPER), IN(DRIVER, RUNS));
	decoder__set_functions(f->t, LIB, &libc);
	CHECK(f, "c1+10 q60 c2+110", IN(LIBC, WRAPPER), IN(LIBC, RUNS));
	assert_int_equal(f->out.n_functions, 4);
}

/* Code of two compilers' libraries in one stack: the innermost one's counts. */
CASE(one_library_shows_the_intervals_of_a_stack)
{
	static const uint32_t labels[] = {60, 61, 62};

	assert_int_equal(decoder__set_library(f->t, 3, labels, 3, "ef", NULL), 0);
	assert_int_equal(decoder__set_frames(f->t, 3, &plan), 0);
	decoder__set_functions(f->t, 3, &libc);
	CHECK(f, "c1+10 c2+110 d1+10 q70 d2+110", IN(LIBC, WRAPPER), IN(LIBC, RUNS),
	      IN(DRIVER, WRAPPER), IN(DRIVER, RUNS));
}

/* A function is looked up when the sample is released, not while its compiler runs. */
CASE(samples_wait_with_what_is_known_of_them)
{
	static const uint64_t stack[] = {IN(DRIVER, WRAPPER), IN(DRIVER, RUNS)};
	static const uint32_t labels[] = {60, 61, 62};
	struct wire_sample r = sample_of(stack, N_OF(stack));

	assert_int_equal(hold(f, &r), 0);
	r.value = 7;
	r.n = 1;
	assert_int_equal(hold(f, &r), 0);
	assert_int_equal(f->out.n_samples + f->out.n_functions, 0);
	assert_string_equal(f->out.processes[0].build_id, "abcd");
	/* The process executes a program that is no compiler, which changes nothing. */
	assert_int_equal(do_exec(f->t, 11, 600, "ld\0-o\0x"), 0);
	/* The number goes to another library, with other queries. */
	assert_int_equal(decoder__set_library(f->t, LIB, labels, 3, "ef", NULL), 0);
	assert_int_equal(f->out.n_samples, 2);
	assert_string_equal(stack_of(f, f->out.samples[1].stack), "d1+10 q70 d2+110");
	assert_struct(f->out, samples[1].value, 1000000, samples[0].value, 7, samples[0].process, 0,
		      n_processes, 1);
	assert_int_equal(decoder__release_samples(f->t), 0);
	assert_int_equal(f->out.n_samples, 2);
}

CASE(samples_do_not_wait_for_a_file_whose_number_is_given_away)
{
	static const uint64_t stack[] = {IN(LIBC, 0x5020)};
	struct wire_sample r = sample_of(stack, 1);

	must(hold(f, &r), decoder__set_file(f->t, NOTHING, &driver));
	assert_int_equal(f->out.n_samples, 0);
	assert_int_equal(decoder__set_file(f->t, LIBC, &driver), 0);
	assert_string_equal(stack_of(f, f->out.samples[0].stack), "c5+20");
	/* The rest is there in the end. */
	must(hold(f, &r), decoder__settle(f->t));
	assert_string_equal(stack_of(f, f->out.samples[0].stack), "d5+20");
}

CASE(the_room_for_samples_that_wait_is_bounded)
{
	static uint64_t stack[WIRE_SAMPLE_FRAMES];
	struct wire_sample r = sample_of(stack, WIRE_SAMPLE_FRAMES);
	uint32_t n = 0;

	for (; !f->out.n_samples && n < SAMPLES_HELD_MAX; n++)
		assert_int_equal(hold(f, &r), 0);
	assert_int_equal(f->out.n_samples, n);
	assert_in_range(n, SAMPLES_HELD_MAX / 2 / sizeof(r), SAMPLES_HELD_MAX / sizeof(r));
}

/* Whatever the interval between two ticks is. */
CASE(the_time_that_samples_wait_is_bounded)
{
	static const uint64_t stack[] = {IN(LIBC, 0x5020)};
	struct wire_sample r = sample_of(stack, 1);
	uint64_t first_ns = r.time_ns;

	for (int i = 0; i < 2; i++) {
		r.time_ns = first_ns + (uint64_t)i * (SAMPLES_HELD_NS + 1);
		first_ns = r.time_ns;
		assert_int_equal(hold(f, &r), 0);
		r.time_ns = first_ns + SAMPLES_HELD_NS - 1;
		assert_int_equal(hold(f, &r), 0);
		assert_int_equal(f->out.n_samples, 3 * i);
		r.time_ns = first_ns + SAMPLES_HELD_NS;
		assert_int_equal(hold(f, &r), 0);
		assert_int_equal(f->out.n_samples, 3 * i + 3);
	}
}

static struct trace_stack innermost;

static int keep_innermost(void *ctx, const struct trace_stack *entry, uint32_t *id)
{
	innermost = *entry;
	*id = TRACE_NO_STACK;
	return 0;
}

/* Take a stack that ends with OTHER, and give the number of that place. */
static uint32_t place_of_other(struct samples *s, const struct samples_context *c)
{
	static const uint64_t stack[] = {IN(DRIVER, OTHER)};
	struct wire_sample r = sample_of(stack, 1);

	must(samples__record(s, c, &r), samples__release(s, c));
	return innermost.place;
}

/* A stack of places that no other call with another `first` has. */
static void take_many(struct samples *s, const struct samples_context *c, uint32_t first)
{
	uint64_t stack[WIRE_SAMPLE_FRAMES];
	struct wire_sample r;

	for (uint32_t i = 0; i < WIRE_SAMPLE_FRAMES; i++)
		stack[i] = IN(DRIVER, (uint64_t)(first + i) << 12 | 0x900);
	r = sample_of(stack, WIRE_SAMPLE_FRAMES);
	must(samples__record(s, c, &r), samples__release(s, c));
}

CASE(places_that_are_forgotten_are_found_again)
{
	struct samples samples = {0};
	struct library libraries[WIRE_MAX_LIBS + 1] = {{0}};
	const struct decoder_sink sink = {.ctx = &f->out,
					  .function = sink_function,
					  .stack = keep_innermost,
					  .sample = sink_sample};
	struct interval_labels names;
	struct self_time *self_time = NULL;
	struct images images;
	struct samples_context c = {&sink, libraries, &names, NULL, &images};
	uint32_t place, most = 0;

	must(self_time__new(&self_time), caller_index__new(&c.callers));
	images__init(&images, &sink, self_time);
	interval_labels__init(&names, &sink, libraries);
	libraries[0].functions = &driver;
	assert_int_equal(samples__set_file(&samples, DRIVER, &driver), 0);
	place = place_of_other(&samples, &c);
	assert_int_not_equal(place, TRACE_NO_LOCATION);
	for (uint32_t i = 0; i < SAMPLES_PLACES_MAX; i += WIRE_SAMPLE_FRAMES) {
		take_many(&samples, &c, i);
		most = samples.n_places > most ? samples.n_places : most;
	}
	/* The last stack found no room. */
	assert_in_range(most, SAMPLES_PLACES_MAX - WIRE_SAMPLE_FRAMES, SAMPLES_PLACES_MAX);
	assert_in_range(samples.n_places, 1, WIRE_SAMPLE_FRAMES);
	assert_int_equal(place_of_other(&samples, &c), place);
	assert_int_equal(f->out.n_functions, 1);
	samples__clear(&samples);
	caller_index__free(c.callers);
	images__destroy(&images);
	self_time__free(self_time);
	interval_labels__clear(&names);
}

TEST_MAIN(NULL, NULL)
