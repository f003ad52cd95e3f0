// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/stopped.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "proc/processes.h"

/* A running thread stops within microseconds of getting a CPU, which a busy machine delays. */
#define PATIENCE_NS 2000000000
#define PAUSE_NS    50000

struct taking {
	struct stopped *s;
	FILE *maps;
	const uint64_t *also;
	size_t n_also;
	stopped_fn meanwhile;
	void *ctx;
	int err;
};

/*
 * *signal is a signal that was about to be delivered when the thread stopped; the caller delivers
 * it again. 0: none.
 */
static int wait_until_stopped(pid_t tid, int *signal)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	int status, got;

	while (!(got = waitpid(tid, &status, __WALL | WNOHANG))) {
		if (clock_ns(CLOCK_MONOTONIC) >= end)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	if (got < 0)
		return errno == ECHILD ? -ESRCH : -errno;
	if (!WIFSTOPPED(status))
		return -ESRCH;
	*signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return 0;
}

static int stop(pid_t tid, int *signal)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -errno;
	return wait_until_stopped(tid, signal);
}

static int read_registers(struct stopped *s)
{
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};

	if (ptrace(PTRACE_GETREGSET, s->tid, NT_PRSTATUS, &io))
		return -errno;
	if (io.iov_len < sizeof(r))
		return -ENOTSUP;
	memcpy(s->registers,
	       (uint64_t[STOPPED_REGISTERS]){r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
					     r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15,
					     r.rip},
	       sizeof(s->registers));
	s->fs_base = r.fs_base;
	return 0;
}

/* The end of the mapping that contains `addr`; 0 if there is none. */
static uint64_t end_of_mapping(FILE *maps, uint64_t addr)
{
	_free_ char *line = NULL;
	size_t size = 0;

	rewind(maps);
	while (getline(&line, &size, maps) > 0) {
		uint64_t lo, hi;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi) == 2 && addr >= lo && addr < hi)
			return hi;
	}
	return 0;
}

static int copy_stack(struct stopped *s, FILE *maps, uint64_t addr)
{
	struct stopped_stack *st = &s->stacks[s->n_stacks];
	uint64_t end = end_of_mapping(maps, addr);
	struct iovec to, from;
	ssize_t n;

	if (!end || s->n_stacks == STOPPED_STACKS)
		return 0;
	st->addr = addr;
	st->size = end - addr < STOPPED_STACK_BYTES ? end - addr : STOPPED_STACK_BYTES;
	st->bytes = malloc(st->size);
	if (!st->bytes)
		return -ENOMEM;
	to = (struct iovec){st->bytes, st->size};
	from = (struct iovec){(void *)(uintptr_t)addr, st->size};
	s->n_stacks++;
	n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
	st->size = n < 0 ? 0 : (uint64_t)n;
	return n < 0 ? -errno : 0;
}

static int copy(struct stopped *s, FILE *maps, const uint64_t *also, size_t n_also)
{
	int err = read_registers(s) ?: copy_stack(s, maps, s->registers[STOPPED_SP]);

	for (size_t i = 0; i < n_also && !err; i++) {
		uint64_t unused;

		if (!stopped__read(s, also[i], &unused))
			err = copy_stack(s, maps, also[i]);
	}
	return err;
}

static void *take(void *taking)
{
	struct taking *t = taking;
	uint64_t since = clock_ns(CLOCK_MONOTONIC);
	struct stopped *s = t->s;
	int signal = 0;

	t->err = stop(s->tid, &signal);
	if (t->err)
		return NULL;
	t->err = copy(s, t->maps, t->also, t->n_also);
	if (!t->err && t->meanwhile)
		t->err = t->meanwhile(t->ctx, s->tid);
	if (ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(intptr_t)signal) && !t->err)
		t->err = -errno;
	s->ns = clock_ns(CLOCK_MONOTONIC) - since;
	return NULL;
}

/*
 * Only a stopped thread can be detached. When a tracing thread ends, the kernel detaches its
 * tracees and withdraws the stop request, so a thread of our own does the tracing. No signal may
 * interrupt the stop, not even Ctrl-Z, which would stop the whole process.
 */
static int take_in_thread(struct taking *t)
{
	const sigset_t keys = signals_of((const int[]){SIGTSTP, 0});
	sigset_t before;
	pthread_t thread;
	int err = signals_start_thread(&thread, NULL, take, t);

	if (err)
		return err;
	pthread_sigmask(SIG_BLOCK, &keys, &before);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return t->err;
}

int stopped__take(struct stopped *s, pid_t pid, pid_t tid, const uint64_t *also, size_t n_also,
		  stopped_fn meanwhile, void *ctx)
{
	struct taking t = {
		.s = s, .also = also, .n_also = n_also, .meanwhile = meanwhile, .ctx = ctx};
	_fclose_ FILE *maps = process_file(pid, "maps");

	*s = (struct stopped){.pid = pid, .tid = tid};
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	t.maps = maps;
	return take_in_thread(&t);
}

bool stopped__read(const struct stopped *s, uint64_t addr, uint64_t *value)
{
	for (size_t i = 0; i < s->n_stacks; i++) {
		const struct stopped_stack *st = &s->stacks[i];

		if (addr < st->addr || addr - st->addr >= st->size ||
		    st->size - (addr - st->addr) < sizeof(*value))
			continue;
		memcpy(value, st->bytes + (addr - st->addr), sizeof(*value));
		return true;
	}
	return false;
}

void stopped__clear(struct stopped *s)
{
	for (size_t i = 0; i < s->n_stacks; i++)
		free(s->stacks[i].bytes);
	*s = (struct stopped){0};
}
