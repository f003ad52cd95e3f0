// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/stopped.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* The signal that it was about to get when it stopped, to be given back to it, or 0. */
static int wait_until_stopped(pid_t tid, int *signal)
{
	int status;

	if (waitpid(tid, &status, __WALL) < 0)
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
	return 0;
}

/* The end of the mapping that holds `addr`; 0 if there is none. */
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
	int err = read_registers(s);

	if (!err)
		err = copy_stack(s, maps, s->registers[STOPPED_SP]);
	for (size_t i = 0; i < n_also && !err; i++) {
		uint64_t unused;

		if (!stopped__read(s, also[i], &unused))
			err = copy_stack(s, maps, also[i]);
	}
	return err;
}

/* Between a stop and its end nothing may keep us: not even Ctrl-Z. */
static int copy_stopped(struct stopped *s, FILE *maps, const uint64_t *also, size_t n_also,
			stopped_fn meanwhile, void *ctx)
{
	uint64_t since = clock_ns(CLOCK_MONOTONIC);
	int signal = 0, err = stop(s->tid, &signal);

	if (err)
		return err;
	err = copy(s, maps, also, n_also);
	if (!err && meanwhile)
		err = meanwhile(ctx, s->tid);
	if (ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(intptr_t)signal) && !err)
		err = -errno;
	s->ns = clock_ns(CLOCK_MONOTONIC) - since;
	return err;
}

int stopped__take(struct stopped *s, pid_t pid, pid_t tid, const uint64_t *also, size_t n_also,
		  stopped_fn meanwhile, void *ctx)
{
	_fclose_ FILE *maps = NULL;
	sigset_t keys, before;
	char path[64];
	int err;

	*s = (struct stopped){.pid = pid, .tid = tid};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	sigemptyset(&keys);
	sigaddset(&keys, SIGTSTP);
	sigprocmask(SIG_BLOCK, &keys, &before);
	err = copy_stopped(s, maps, also, n_also, meanwhile, ctx);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
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
