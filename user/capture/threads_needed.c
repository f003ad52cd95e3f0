// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/threads_needed.h"

#include <stdlib.h>
#include <string.h>

#include "proc/command_line.h"
#include "proc/processes.h"
#include "proc/programs.h"

/* Processes that are remembered, by the last bits of their number. */
#define KEPT 4096
/* Longer command lines may ask for threads. */
#define MOST_ARGS 32768

struct threads_needed {
	struct look *look;
	pid_t asked[KEPT]; /* their last execve may have asked for threads */
};

struct threads_needed *threads_needed__new(struct look *look)
{
	struct threads_needed *t = calloc(1, sizeof(*t));

	if (t)
		t->look = look;
	return t;
}

/* Without arguments, they could not be read. */
static bool asks(const char *args, size_t len, bool truncated)
{
	return command_line__may_ask_for_threads(command_line_raw(args, len), truncated);
}

/* A program of another name may be a compiler, too, but only its mappings show that. */
bool threads_needed__exec(struct threads_needed *t, const struct wire_exec *e)
{
	bool compiles = is_compiler_name(e->comm, strnlen(e->comm, sizeof(e->comm)));
	pid_t pid = (pid_t)e->pid, *asked = &t->asked[e->pid % KEPT];

	if (compiles && !asks(e->args, e->args_len, e->truncated)) {
		*asked = *asked == pid ? 0 : *asked;
		return false;
	}
	*asked = pid;
	return compiles && !process_is_running(pid);
}

/* A compiler built of rustc's crates may ask for threads by itself. */
static bool is_known_compiler(const char *exe)
{
	const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;

	return is_compiler_name(name, strlen(name));
}

bool threads_needed_by(struct look *look, pid_t pid)
{
	_free_ char *exe = process_executable(pid);
	char args[MOST_ARGS];
	size_t len;

	if (!exe || !is_known_compiler(exe))
		return true;
	len = look__arguments(look, pid, args, sizeof(args));
	return asks(args, len, len == sizeof(args));
}

bool threads_needed__asked(const struct threads_needed *t, pid_t pid)
{
	return t->asked[(uint32_t)pid % KEPT] == pid;
}

bool threads_needed__of(struct threads_needed *t, pid_t pid)
{
	bool needed = process_is_running(pid) && threads_needed_by(t->look, pid);

	/* Only /proc has all of a long command line, but not of a process that ended meanwhile. */
	return process_is_running(pid) ? needed : threads_needed__asked(t, pid);
}

void threads_needed__free(struct threads_needed *t)
{
	free(t);
}
