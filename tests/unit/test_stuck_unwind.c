// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests stopped.c and unwind.c together: a child of this process is stopped in a known function. */
#include "stuck/unwind.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

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

/* The child dies with this process, even if a test fails. */
static pid_t start(void (*end)(void))
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		volatile int sum = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);

		close(ready[0]);
		close(ready[1]);
		at_the_end = end;
		descend(DEPTH, &sum);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &(char){0}, 1), 0);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	int status;

	/* The child must still run. */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static bool may_stop(pid_t pid)
{
	_stopped_ struct stopped s;
	int err = stopped__take(&s, pid, pid, NULL, 0, NULL, NULL);

	if (err != -EPERM)
		return true;
	print_message("skipped: ptrace is not allowed here\n");
	end(pid);
	return false;
}

static int count_descents(struct unwinder *u, const struct calls *calls)
{
	int n = 0;

	for (uint32_t i = 0; i < calls->n; i++) {
		const char *symbol = unwinder__symbol(u, calls->items[i].pc);

		n += symbol && !strncmp(symbol, "descend", strlen("descend"));
	}
	return n;
}

/* Retries, because the child needs some time to reach its innermost function. */
static void check_walk(void (*at_end)(void))
{
	pid_t pid = start(at_end);
	_look_ struct look *look = NULL;
	_unwinder_ struct unwinder *u = NULL;
	int n = 0;

	if (!may_stop(pid))
		return;
	assert_int_equal(look__new(&look), 0);
	assert_int_equal(unwinder__new(pid, look, &u), 0);
	for (int tries = 0; tries < 5000 && n < DEPTH + 1; tries++) {
		_stopped_ struct stopped s;
		_calls_ struct calls calls;

		assert_int_equal(stopped__take(&s, pid, pid, NULL, 0, NULL, NULL), 0);
		assert_true(s.ns > 0);
		assert_int_equal(unwinder__walk(u, &s, &calls), 0);
		n = count_descents(u, &calls);
		usleep(1000);
	}
	assert_int_equal(n, DEPTH + 1);
	end(pid);
}

static void one_that_waits_is_walked(void **state)
{
	check_walk(wait_for_ever);
}

static void one_that_runs_is_walked(void **state)
{
	check_walk(run_for_ever);
}

/* The walk need not go beyond the switched stack. */
static void one_on_another_stack_is_walked(void **state)
{
	check_walk(change_stack);
}

static int count_one(void *ctx, pid_t tid)
{
	++*(int *)ctx;
	return 0;
}

static void it_is_stopped_meanwhile_and_other_stacks_are_copied(void **state)
{
	pid_t pid = start(wait_for_ever);
	_stopped_ struct stopped s;
	static int here = 42;
	uint64_t also[2] = {(uintptr_t)&here, 8}, value;
	int calls = 0;

	if (!may_stop(pid))
		return;
	assert_int_equal(stopped__take(&s, pid, pid, also, 2, count_one, &calls), 0);
	assert_int_equal(calls, 1);
	assert_true(stopped__read(&s, s.registers[STOPPED_SP], &value));
	assert_true(stopped__read(&s, (uintptr_t)&here, &value));
	assert_int_equal((uint32_t)value, 42);
	assert_false(stopped__read(&s, 8, &value));
	assert_false(stopped__read(&s, s.registers[STOPPED_SP] - 8, &value));
	assert_false(stopped__read(&s, s.stacks[0].addr + s.stacks[0].size - 7, &value));
	end(pid);
}

static volatile sig_atomic_t *signals;

static void on_signal(int sig)
{
	++*signals;
}

/* A signal that was about to be delivered at the stop is delivered afterwards. */
static void signals_reach_it(void **state)
{
	int sent = 0;
	pid_t pid;

	signals = mmap(NULL, sizeof(*signals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	signal(SIGUSR1, on_signal);
	pid = start(run_for_ever);
	if (!may_stop(pid))
		return;
	for (; sent < 200; sent++) {
		_stopped_ struct stopped s;

		kill(pid, SIGUSR1);
		assert_int_equal(stopped__take(&s, pid, pid, NULL, 0, NULL, NULL), 0);
		/* A second pending instance of a signal would be merged with the first. */
		for (int i = 0; i < 5000 && *signals <= sent; i++)
			usleep(1000);
		assert_int_equal(*signals, sent + 1);
	}
	end(pid);
	signal(SIGUSR1, SIG_DFL);
	munmap((void *)signals, sizeof(*signals));
}

/* The value after `field` in a file of /proc/PID: a number or a letter. */
static int number_in(pid_t pid, const char *file, const char *field, const char *format)
{
	char name[64], line[256];
	_fclose_ FILE *f = NULL;
	char letter = 0;
	int number = 0;

	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, file);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, field, strlen(field)))
			continue;
		sscanf(line + strlen(field), format, format[2] == 'c' ? (void *)&letter : &number);
	}
	return letter ?: number;
}

static char state_of(pid_t pid)
{
	return (char)number_in(pid, "status", "State:", " %c");
}

static int tracer_of(pid_t pid)
{
	return number_in(pid, "status", "TracerPid:", " %d");
}

static pid_t child_of(pid_t pid)
{
	char file[64];

	snprintf(file, sizeof(file), "task/%d/children", (int)pid);
	return number_in(pid, file, "", " %d");
}

/* A thread in vfork() waits until its child ends; only a fatal signal interrupts it. */
static void one_that_cannot_stop_is_not_waited_for(void **state)
{
	pid_t pid = fork();
	_stopped_ struct stopped s;
	int err, status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!vfork()) {
			pause();
			_exit(0);
		}
		_exit(0);
	}
	while (state_of(pid) != 'D')
		usleep(100);
	err = stopped__take(&s, pid, pid, NULL, 0, NULL, NULL);
	if (err != -EPERM)
		assert_int_equal(err, -EBUSY);
	/* The kernel detaches when the tracing thread exits, which may be after pthread_join(). */
	for (int i = 0; i < 30000 && tracer_of(pid); i++)
		usleep(1000);
	assert_int_equal(tracer_of(pid), 0);
	kill(child_of(pid), SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
}

static void a_process_that_is_gone_is_reported(void **state)
{
	_stopped_ struct stopped s;

	assert_int_equal(stopped__take(&s, 0x7fffffff, 0x7fffffff, NULL, 0, NULL, NULL), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_waits_is_walked),
		cmocka_unit_test(one_that_runs_is_walked),
		cmocka_unit_test(one_on_another_stack_is_walked),
		cmocka_unit_test(it_is_stopped_meanwhile_and_other_stacks_are_copied),
		cmocka_unit_test(signals_reach_it),
		cmocka_unit_test(one_that_cannot_stop_is_not_waited_for),
		cmocka_unit_test(a_process_that_is_gone_is_reported),
	};

	/* On a busy machine the child of a look may take long to answer. */
	look_ns = 60000000000;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
