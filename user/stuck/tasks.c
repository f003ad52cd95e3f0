// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "proc/processes.h"

static uint64_t ticks_to_ns(uint64_t ticks)
{
	long per_s = sysconf(_SC_CLK_TCK);

	return ticks * (1000000000u / (uint64_t)(per_s > 0 ? per_s : 100));
}

/* The system calls that rustc's threads wait in. */
static const char *name_of_call(long number)
{
	static const struct {
		long number;
		const char *name;
	} calls[] = {
		{SYS_futex, "futex"},		{SYS_read, "read"},
		{SYS_write, "write"},		{SYS_wait4, "wait4"},
		{SYS_waitid, "waitid"},		{SYS_poll, "poll"},
		{SYS_ppoll, "ppoll"},		{SYS_flock, "flock"},
		{SYS_fcntl, "fcntl"},		{SYS_fsync, "fsync"},
		{SYS_openat, "openat"},		{SYS_nanosleep, "nanosleep"},
		{SYS_recvmsg, "recvmsg"},	{SYS_munmap, "munmap"},
		{SYS_clock_nanosleep, "sleep"}, {SYS_connect, "connect"},
		{SYS_recvfrom, "recvfrom"},
	};

	for (size_t i = 0; i < N_OF(calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}

static int read_task(struct task *t, pid_t pid, pid_t tid)
{
	_fclose_ FILE *f = NULL;
	struct process_stat stat;
	char name[32];
	long call;

	if (!process_stat(pid, tid, &stat))
		return -ESRCH;
	*t = (struct task){.tid = tid, .state = stat.state, .cpu_ns = ticks_to_ns(stat.cpu_ticks)};
	memcpy(t->name, stat.name, sizeof(t->name));
	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	f = t->state == 'R' ? NULL : process_file(pid, name);
	if (f && fscanf(f, "%ld", &call) == 1)
		t->waits = name_of_call(call);
	return 0;
}

int tasks__read(struct tasks *t, pid_t pid)
{
	_closedir_ DIR *dir = NULL;
	uint64_t now = clock_ns(CLOCK_BOOTTIME), start;
	struct process_stat stat;
	struct dirent *ent;
	char path[64];
	int err = 0;

	*t = (struct tasks){0};
	if (!process_stat(pid, 0, &stat))
		return -ESRCH;
	start = ticks_to_ns(stat.start_ticks);
	t->age_ns = now > start ? now - start : 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!err && (ent = readdir(dir))) {
		if (!isdigit((unsigned char)*ent->d_name))
			continue;
		err = array__reserve_one(&t->items, t->n, &t->capacity, sizeof(*t->items));
		/* A thread that has gone meanwhile is left out. */
		if (!err && !read_task(&t->items[t->n], pid, atoi(ent->d_name)))
			t->n++;
	}
	if (t->n)
		qsort(t->items, t->n, sizeof(*t->items), array__by_u32);
	return err;
}

void tasks__clear(struct tasks *t)
{
	free(t->items);
	*t = (struct tasks){0};
}
