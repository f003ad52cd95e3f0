// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests walk.c with stopped.c and copied.c: a child of this process is stopped in a
 * known function.
 */
#include "stuck/walk.h"
#include <sys/mman.h>
#include <unistd.h>
#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/running_child.h"
#include "base/clock.h"
#include "plan/file_job.h"

#define LONG_NS	   60000000000ull
#define DEPTH	   50
#define STACK_SIZE (256u << 10)

static void (*at_the_end)(void);

__attribute__((noinline)) static int descend(int n, volatile int *sum)
{
	if (n)
		*sum += descend(n - 1, sum) + 1;
	else
		at_the_end();
	return *sum;
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void run_for_ever(void)
{
	for (volatile unsigned int i = 0;; i++)
		;
}

/* Switches stacks as rustc's psm does: sp points to the new stack, rbp keeps the old sp. */
__attribute__((naked)) static void call_on(void *stack_end __attribute__((unused)),
					   void (*fn)(void) __attribute__((unused)))
{
	__asm__("pushq %rbp\n"
		".cfi_def_cfa_offset 16\n"
		".cfi_offset rbp, -16\n"
		"movq %rsp, %rbp\n"
		".cfi_def_cfa_register rbp\n"
		"movq %rdi, %rsp\n"
		"callq *%rsi\n"
		"movq %rbp, %rsp\n"
		"popq %rbp\n"
		"ret\n");
}

static void on_other_stack(void)
{
	volatile int sum = 0;

	at_the_end = run_for_ever;
	descend(DEPTH, &sum);
}

static void change_stack(void)
{
	char *stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Guard pages keep the kernel from merging this mapping with another one. */
	mprotect(stack, 4096, PROT_NONE);
	mprotect(stack + STACK_SIZE - 4096, 4096, PROT_NONE);
	call_on(stack + STACK_SIZE - 4096, on_other_stack);
}

static void run_to_the_end(void)
{
	volatile int sum = 0;

	descend(DEPTH, &sum);
}

/* The child is in `end`, at the end of many calls. */
static pid_t start(void (*end)(void))
{
	at_the_end = end;
	return running_child__start(run_to_the_end);
}

/* All that a walk needs. */
struct walking {
	pid_t pid;
	struct broker *broker;
	struct walked_files *files;
	struct walker *walker;
	struct stopped stopped;
	struct copied memory;
	struct calls calls;
};

static void open_walking(struct walking *w, pid_t pid)
{
	*w = (struct walking){.pid = pid};
	must(broker__new(&w->broker), walked_files__new(w->broker, &w->files),
	     walker__new(pid, w->broker, w->files, &w->walker),
	     walker__refresh(w->walker, clock_ns(CLOCK_MONOTONIC) + LONG_NS));
}

static void forget_stack(struct walking *w)
{
	copied__clear(&w->memory);
	calls__clear(&w->calls);
}

static void close_walking(struct walking *w)
{
	forget_stack(w);
	walker__free(w->walker);
	walked_files__free(w->files);
	broker__free(w->broker);
}

static int on_stopped(void *ctx, const struct stopped *s)
{
	struct walking *w = ctx;

	return walker__walk(w->walker, s, &w->memory, &w->calls);
}

static void walk(struct walking *w)
{
	forget_stack(w);
	w->memory = (struct copied){.broker = w->broker, .pid = w->pid};
	assert_int_equal(stopped__take(&w->stopped, w->pid, on_stopped, w), 0);
	assert_true(w->stopped.ns > 0);
	copied__close(&w->memory);
}

static bool is_descent(const struct call *c)
{
	const char *symbol = c->file ? walked_file__symbol(c->file, c->addr) : NULL;

	return symbol && !strncmp(symbol, "descend", strlen("descend"));
}

static int count_descents(const struct calls *calls)
{
	int n = 0;

	for (uint32_t i = 0; i < calls->n; i++)
		n += is_descent(&calls->items[i]);
	return n;
}

/* Retries, because the child needs some time to reach its innermost function. */
static void walk_until(struct walking *w, int descents)
{
	int n = 0;

	for (int tries = 0; tries < 5000 && (n < descents || !w->calls.whole); tries++) {
		walk(w);
		n = count_descents(&w->calls);
		usleep(1000);
	}
	assert_int_equal(n, descents);
	assert_true(w->calls.whole);
}

static void check_walk(void (*at_end)(void), int descents)
{
	pid_t pid = start(at_end);
	struct walking w;

	if (!running_child__may_stop(pid))
		return;
	open_walking(&w, pid);
	walk_until(&w, descents);
	close_walking(&w);
	running_child__end(pid);
}

TEST_CASE(one_that_waits_is_walked)
{
	check_walk(wait_for_ever, DEPTH + 1);
}

TEST_CASE(one_that_runs_is_walked)
{
	check_walk(run_for_ever, DEPTH + 1);
}

TEST_CASE(one_on_another_stack_is_walked)
{
	check_walk(change_stack, 2 * (DEPTH + 1));
}

/* Larger than what is copied at a time. */
__attribute__((noinline)) static void have_a_large_frame(void)
{
	volatile char large[300 << 10];

	large[0] = large[sizeof(large) - 1] = 1;
	run_for_ever();
	large[1] = large[0];
}

TEST_CASE(frames_may_be_large)
{
	check_walk(have_a_large_frame, DEPTH + 1);
}

TEST_CASE(a_process_that_is_gone_has_no_mappings)
{
	pid_t pid = start(run_for_ever);
	struct walking w;

	open_walking(&w, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(walker__refresh(w.walker, 0), -ESRCH);
	close_walking(&w);
}

/* On a busy machine children may take long to answer. */
static int be_patient(void **state)
{
	broker_ns = file_job_end_ns = LONG_NS;
	library_file_settled_ns = 0;
	return cache_home_make(state);
}

TEST_MAIN(be_patient, cache_home_remove)
