// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/hold.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "capture/processes.h"

struct hold {
	pid_t pid;
	int signal; /* that it was about to get when it stopped; or 0 */
	bool gone;
};

static int wait_for(pid_t pid, siginfo_t *info, int what)
{
	int err;

	info->si_pid = 0;
	do
		err = waitid(P_PID, (id_t)pid, info, what | __WALL);
	while (err && errno == EINTR);
	return err ? -errno : 0;
}

/*
 * Who died is ours to wait for before its parent can. If that is us, its status is wanted
 * elsewhere: one wait would take both.
 */
static void bury(pid_t pid)
{
	siginfo_t info;

	if (process_parent(pid) != getpid())
		wait_for(pid, &info, WEXITED);
}

/*
 * Any stop will do; one for a signal keeps that for when it runs on. What it comes to is looked at
 * first, and only a stop is taken, lest a death be: it may come between the two.
 */
static int wait_for_stop(struct hold *h)
{
	siginfo_t info;
	int err = wait_for(h->pid, &info, WSTOPPED | WEXITED | WNOWAIT);

	if (!err)
		err = wait_for(h->pid, &info, WSTOPPED | WNOHANG);
	h->gone = err || !info.si_pid;
	if (h->gone) {
		bury(h->pid);
		return err && err != -ECHILD ? err : -ESRCH;
	}
	/* As in a status of wait(2), less what tells that it is a stop: the signal, the event. */
	if (info.si_status >> 8 == 0)
		h->signal = info.si_status;
	return 0;
}

int hold__begin(pid_t pid, struct hold **out)
{
	_hold_ struct hold *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->pid = pid;
	h->gone = true;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return -errno;
	h->gone = false;
	/* Dead by now: hold__free() waits for it. */
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return -errno;
	err = wait_for_stop(h);
	if (err)
		return err;
	*out = take_ptr(h);
	return 0;
}

static int read_pc(pid_t pid, uint64_t *pc)
{
#ifdef __x86_64__
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	*pc = regs.rip;
	return 0;
#else
	return -ENOSYS;
#endif
}

/* Where the kernel put the program's interpreter; 0: it has none. */
static int read_loader(pid_t pid, uint64_t *base)
{
	_fclose_ FILE *f = NULL;
	Elf64_auxv_t entry;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/auxv", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	*base = 0;
	while (fread(&entry, sizeof(entry), 1, f) == 1 && entry.a_type != AT_NULL)
		if (entry.a_type == AT_BASE)
			*base = entry.a_un.a_val;
	return 0;
}

/*
 * A file's segments are mapped in a row: does `pc` lie in those of the file that begins at `base`?
 */
static bool is_in_file_at(FILE *maps, uint64_t base, uint64_t pc)
{
	_free_ char *line = NULL;
	size_t size = 0;
	unsigned long inode = 0;

	while (getline(&line, &size, maps) > 0) {
		unsigned long of;
		uint64_t lo, hi;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %lu", &lo, &hi, &of) != 3)
			continue;
		if (lo == base)
			inode = of;
		if (inode && of == inode && pc >= lo && pc < hi)
			return true;
	}
	return false;
}

bool hold__is_loading(const struct hold *h)
{
	_fclose_ FILE *maps = NULL;
	char name[64];
	uint64_t pc = 0, base = 0;

	if (read_pc(h->pid, &pc) || read_loader(h->pid, &base) || !base)
		return false;
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)h->pid);
	maps = fopen(name, "re");
	return maps && is_in_file_at(maps, base, pc);
}

void hold__free(struct hold *h)
{
	if (!h)
		return;
	if (!h->gone && ptrace(PTRACE_DETACH, h->pid, NULL, (void *)(uintptr_t)h->signal))
		bury(h->pid);
	free(h);
}
