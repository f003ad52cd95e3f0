// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outside_compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "test.h"
#include "base/clock.h"

/*
 * This process is the compiler: a thread has a context of N queries in its thread-local memory,
 * and what a library would say of it is in `library`.
 */
#define N	200
#define SIZE	64
#define CACHE	16
#define COUNT	16
#define CURRENT 0 /* places in the library: thread-local offsets, and names */
#define GLOBALS 8
#define TEXT	64
#define WITHIN	24 /* of the context's address, in an ImplicitCtxt */
#define SECOND	UINT64_C(1000000000)

static _Alignas(8) uint8_t library[TEXT + N];
static _Alignas(8) uint8_t context[N * SIZE];
static uint64_t implicit[8], globals[8];
static __thread uint64_t thread_words[2];
static struct wire_query_table queries[N];
static struct plan plan;
static struct outside_library lib;

static struct {
	pthread_t thread;
	sem_t go, done;
	bool in_context, ends;
	pid_t tid;
} worker;

static void put(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}

static void set_results(uint32_t query, uint64_t n)
{
	put(context + query * SIZE + CACHE + COUNT, n);
}

static void *work(void *arg)
{
	uint8_t *fs = (uint8_t *)pthread_self();

	worker.tid = (pid_t)syscall(SYS_gettid);
	put(library + CURRENT, (uint64_t)((uint8_t *)&thread_words[0] - fs));
	put(library + GLOBALS, (uint64_t)((uint8_t *)&thread_words[1] - fs));
	do {
		thread_words[0] = worker.in_context ? (uint64_t)implicit : 0;
		thread_words[1] = (uint64_t)globals;
		sem_post(&worker.done);
		while (sem_wait(&worker.go))
			;
	} while (!worker.ends);
	return arg;
}

static void set_in_context(bool on)
{
	worker.in_context = on;
	sem_post(&worker.go);
	sem_wait(&worker.done);
}

static int setup(void **state)
{
	pthread_attr_t attr;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		queries[i] = (struct wire_query_table){.text = TEXT + i,
						       .length = 1,
						       .name = i * SIZE,
						       .cache = i * SIZE + CACHE,
						       .kind = WIRE_CACHE_VEC};
		put(context + i * SIZE, (uint64_t)library + TEXT + i);
		put(context + i * SIZE + 8, 1);
		set_results(i, i);
	}
	put((uint8_t *)implicit + WITHIN, (uint64_t)context);
	plan.layout.wire = (struct wire_layout){
		.size = 16,
		.count = N * SIZE - 8, /* it has no definitions */
		.globals = GLOBALS,
		.current = {.offset = CURRENT, .context = WITHIN, .known = 1},
	};
	plan.names_old_results = true;
	lib = (struct outside_library){
		.plan = &plan,
		.number = 3,
		.tables = {{.n = N, .vec_count = COUNT, .items = 24, .mode = 33}, queries},
	};
	worker.in_context = true;
	worker.ends = false;
	sem_init(&worker.go, 0, 0);
	sem_init(&worker.done, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 8u << 20);
	assert_int_equal(pthread_create(&worker.thread, &attr, work, NULL), 0);
	pthread_attr_destroy(&attr);
	sem_wait(&worker.done);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	worker.ends = true;
	sem_post(&worker.go);
	pthread_join(worker.thread, NULL);
	sem_destroy(&worker.go);
	sem_destroy(&worker.done);
	return 0;
}

/* What the sink got of results: the last moment, and its numbers. */
static struct {
	uint8_t moment, no_loads;
	uint32_t n, readings, drops, named;
	uint64_t results[N], llvm_ns;
} got;

static int take(void *ctx, const struct record *r)
{
	(void)ctx;
	got.drops += r->kind == WIRE_NAMES_END && r->names_end->moment == WIRE_COUNTS_DROPPED;
	if (r->kind == WIRE_THREAD) {
		assert_string_equal(r->thread->name, "opt cgu.0");
		got.named++;
	}
	if (r->kind == WIRE_SAMPLE && r->sample->label == OUTSIDE_LLVM)
		got.llvm_ns += r->sample->value;
	if (r->kind != WIRE_COUNTS)
		return 0;
	got.moment = r->counts->moment;
	got.no_loads = r->counts->no_loads;
	got.readings += !r->counts->first;
	got.n = r->counts->first + r->counts->n;
	for (uint32_t i = 0; i < r->counts->n; i++)
		got.results[r->counts->first + i] = r->counts->items[i].results;
	return 0;
}

static const struct session_sink sink = {.take = take};

static void look(struct outside_compiler *c, uint64_t now_ns)
{
	assert_int_equal(outside_compiler__read(c, &sink, now_ns), 0);
}

static void begin(struct outside_compiler *c)
{
	memset(&got, 0, sizeof(got));
	outside_compiler__init(c, getpid(), &lib, (uint64_t)library);
}

TEST_CASE_WITH(results_are_so_far_while_the_thread_is_in_its_context, setup, teardown)
{
	struct outside_compiler c;

	begin(&c);
	look(&c, SECOND);
	assert_int_equal(c.tid, worker.tid);
	assert_int_equal(got.n, N);
	assert_int_equal(got.moment, WIRE_COUNTS_RUNNING);
	assert_int_equal(got.results[7], 7);
	/* Seldom in a long compile, often in its begin. */
	set_results(7, 70);
	look(&c, SECOND + SECOND / 10);
	assert_int_equal(got.results[7], 70);
	set_results(7, 71);
	look(&c, SECOND + SECOND / 10 + 1000);
	assert_int_equal(got.results[7], 70);
	look(&c, 2 * SECOND);
	assert_int_equal(got.results[7], 71);
	assert_int_equal(got.moment, WIRE_COUNTS_RUNNING);
	outside_compiler__clear(&c);
}

TEST_CASE_WITH(two_readings_that_agree_after_it_are_those_of_the_end, setup, teardown)
{
	struct outside_compiler c;

	begin(&c);
	look(&c, SECOND);
	set_results(9, 90);
	set_in_context(false);
	assert_true(outside_compiler__has_left(&c));
	assert_int_equal(got.moment, WIRE_COUNTS_RUNNING);
	look(&c, SECOND + 1000);
	assert_int_equal(got.moment, WIRE_COUNTS_FINISHED);
	assert_int_equal(got.results[9], 90);
	assert_true(c.known);
	assert_int_equal(outside_compiler__watch_ns(&c, SECOND + 1000), UINT64_MAX);
	/* Nothing is read of it any more. */
	got.readings = 0;
	look(&c, 3 * SECOND);
	assert_int_equal(got.readings, 0);
	outside_compiler__clear(&c);
}

/* Something else lies there by now: a number is less, or a name is gone. */
TEST_CASE_WITH(memory_that_is_used_again_proves_nothing, setup, teardown)
{
	struct outside_compiler c;

	for (int i = 0; i < 2; i++) {
		begin(&c);
		set_results(9, 90);
		look(&c, SECOND);
		set_in_context(false);
		if (i)
			put(context + 9 * SIZE, 0);
		else
			set_results(9, 9);
		look(&c, SECOND + 1000);
		look(&c, SECOND + 2000);
		assert_int_equal(got.moment, WIRE_COUNTS_RUNNING);
		assert_true(c.known);
		outside_compiler__clear(&c);
		set_in_context(true);
	}
}

/* What it frees at its end is less in its begin. */
TEST_CASE_WITH(a_compiler_is_watched_often_in_its_begin, setup, teardown)
{
	struct outside_compiler c;

	begin(&c);
	assert_int_equal(outside_compiler__watch_ns(&c, SECOND), UINT64_MAX);
	look(&c, SECOND);
	assert_false(outside_compiler__has_left(&c));
	assert_int_equal(outside_compiler__watch_ns(&c, SECOND), SECOND + SECOND / 1000);
	assert_int_equal(outside_compiler__watch_ns(&c, 129 * SECOND), 130 * SECOND);
	outside_compiler__clear(&c);
}

/* It may be where the first was. */
TEST_CASE_WITH(another_context_of_a_process_is_found, setup, teardown)
{
	struct outside_compiler c;

	begin(&c);
	set_results(9, 90);
	look(&c, SECOND);
	set_in_context(false);
	look(&c, SECOND + 1000);
	assert_int_equal(got.moment, WIRE_COUNTS_FINISHED);
	look(&c, 2 * SECOND);
	assert_int_equal(got.drops, 0);
	set_in_context(true);
	set_results(9, 3);
	look(&c, 3 * SECOND);
	assert_int_equal(got.drops, 1);
	assert_int_equal(got.moment, WIRE_COUNTS_RUNNING);
	assert_int_equal(got.results[9], 3);
	set_in_context(false);
	look(&c, 3 * SECOND + 1000);
	assert_int_equal(got.moment, WIRE_COUNTS_FINISHED);
	assert_int_equal(got.results[9], 3);
	assert_int_equal(got.drops, 1);
	outside_compiler__clear(&c);
}

/* As an incremental compiler has those of the last compile. */
static void *map_old_results(void)
{
	char dir[] = "/tmp/outside-XXXXXX", path[64];
	void *at;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/query-cache.bin", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	unlink(path);
	rmdir(dir);
	return at;
}

/* It is known once it has executed something since. */
TEST_CASE_WITH(without_the_results_of_an_earlier_compile_nothing_is_loaded, setup, teardown)
{
	struct outside_compiler c;
	void *old;

	for (int i = 0; i < 2; i++) {
		old = i ? map_old_results() : NULL;
		begin(&c);
		look(&c, SECOND);
		assert_int_equal(got.no_loads, 0);
		look(&c, 2 * SECOND);
		assert_int_equal(got.readings, 2);
		assert_int_equal(got.no_loads, 0);
		if (old)
			munmap(old, 4096);
		/* That a number is known shows no execution. */
		put(context + 8 * SIZE + 8, 2);
		look(&c, 5 * SECOND / 2);
		put(context + 8 * SIZE + 8, 1);
		look(&c, 11 * SECOND / 4);
		assert_int_equal(got.no_loads, 0);
		set_results(9, 90 + i);
		look(&c, 3 * SECOND);
		assert_int_equal(got.results[9], 90 + i);
		assert_int_equal(got.no_loads, !i);
		set_in_context(false);
		look(&c, 3 * SECOND + 1000);
		look(&c, 3 * SECOND + 2000);
		assert_int_equal(got.moment, WIRE_COUNTS_FINISHED);
		assert_int_equal(got.no_loads, !i);
		outside_compiler__clear(&c);
		set_in_context(true);
	}
}

static sem_t burnt, burn;

/* Takes 5 ms of CPU time, twice. */
static void *burn_time(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (uint64_t most = 5; most <= 10; most += 5) {
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < most * 1000000)
			;
		sem_post(&burnt);
		while (sem_wait(&burn))
			;
	}
	return NULL;
}

/* By their names. */
TEST_CASE_WITH(threads_of_llvm_have_their_time, setup, teardown)
{
	static char llvm[] = "opt cgu.0", other[] = "coordinator";
	struct outside_compiler c;
	pthread_t threads[2];

	sem_init(&burnt, 0, 0);
	sem_init(&burn, 0, 0);
	begin(&c);
	look(&c, SECOND);
	pthread_create(&threads[0], NULL, burn_time, llvm);
	pthread_create(&threads[1], NULL, burn_time, other);
	for (int i = 1; i <= 2; i++) {
		for (int k = 0; k < 2; k++)
			while (sem_wait(&burnt))
				;
		look(&c, SECOND + (uint64_t)i);
		assert_true(got.llvm_ns >= (uint64_t)i * 5000000);
		for (int k = 0; k < 2; k++)
			sem_post(&burn);
	}
	assert_int_equal(got.named, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	outside_compiler__clear(&c);
}

TEST_CASE(a_process_that_is_gone_is_no_error_of_ours)
{
	struct outside_compiler c;
	struct outside_mapping m;

	begin(&c);
	c.pid = 0x7ffffffe;
	assert_int_equal(outside_compiler__read(&c, &sink, SECOND), -ESRCH);
	assert_int_equal(outside_cpu_ns(c.pid), 0);
	assert_true(outside_cpu_ns(getpid()) > 0);
	assert_int_equal(outside_mapping__find(c.pid, &m), -ESRCH);
	/* This one has no compiler's library. */
	assert_int_equal(outside_mapping__find(getpid(), &m), -ENOENT);
	outside_compiler__clear(&c);
}

TEST_MAIN(NULL, NULL)
