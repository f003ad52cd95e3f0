// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/parts_needed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proc/command_line.h"
#include "proc/processes.h"
#include "proc/programs.h"

/* Processes that are remembered, by the last bits of their number. */
#define KEPT 4096

/* Words that ask for a part contain these: -Zthreads, -C incremental, -Zquery-dep-graph. */
static const struct {
	enum plan_part part;
	const char *text;
} options[] = {
	{PLAN_PART_THREADS, "threads="},
	{PLAN_PART_INCREMENTAL, "incremental="},
	/* rustc takes an underscore for each hyphen. */
	{PLAN_PART_INCREMENTAL, "dep-graph"},
	{PLAN_PART_INCREMENTAL, "dep_graph"},
};

struct parts_needed {
	struct broker *broker;
	struct {
		pid_t pid;
		uint32_t parts;
		bool whole; /* all of the command line was seen */
	} asked[KEPT];	    /* what their last execve may have asked for */
};

struct parts_needed *parts_needed__new(struct broker *broker)
{
	struct parts_needed *p = calloc(1, sizeof(*p));

	if (p)
		p->broker = broker;
	return p;
}

uint32_t parts_asked_for(const char *text)
{
	uint32_t parts = 0;

	for (size_t i = 0; i < N_OF(options); i++)
		if (strstr(text, options[i].text))
			parts |= PLAN_PART_BIT(options[i].part);
	return parts;
}

/* Without arguments, they could not be read. */
static uint32_t asked_by(const char *args, size_t len, bool truncated)
{
	uint32_t parts = 0;

	for (size_t i = 0; i < N_OF(options); i++)
		if (command_line__may_contain(command_line_raw(args, len), options[i].text,
					      truncated))
			parts |= PLAN_PART_BIT(options[i].part);
	return parts;
}

/* A program of another name may be a compiler, too, but only its mappings show that. */
uint32_t parts_needed__exec(struct parts_needed *p, const struct wire_exec *e)
{
	bool compiles = is_compiler_name(e->comm, strnlen(e->comm, sizeof(e->comm)));
	pid_t pid = (pid_t)e->pid;
	bool hidden = e->truncated || command_line_file_at(e->args, e->args_len) < e->args_len;
	uint32_t parts = compiles ? asked_by(e->args, e->args_len, hidden) : PLAN_PARTS_OPTIONAL;

	p->asked[e->pid % KEPT].pid = pid;
	p->asked[e->pid % KEPT].parts = parts;
	p->asked[e->pid % KEPT].whole = compiles && !hidden;
	return compiles && parts && !process_is_running(pid) ? parts : 0;
}

/* A compiler built of rustc's crates may ask for a part by itself. */
static bool is_known_compiler(const char *exe)
{
	const char *name = basename(exe);

	return is_compiler_name(name, strlen(name));
}

/*
 * False: the process has ended, or is about to: nothing of it can be read, though it still runs.
 * `known`: what a compiler of that pid needs, or NULL.
 */
static bool ask_proc(struct broker *broker, pid_t pid, const uint32_t *known, uint32_t *parts)
{
	_free_ char *exe = process_executable(pid);
	_arguments_ struct arguments args = {0};

	if (!exe)
		return false;
	*parts = PLAN_PARTS_OPTIONAL;
	if (!is_known_compiler(exe))
		return true;
	if (known) {
		*parts = *known;
		return true;
	}
	broker__arguments(broker, pid, &args);
	if (args.size)
		*parts = asked_by(args.bytes, args.size, args.cut);
	return args.size;
}

uint32_t parts_needed_by(struct broker *broker, pid_t pid)
{
	uint32_t parts;

	return ask_proc(broker, pid, NULL, &parts) ? parts : PLAN_PARTS_OPTIONAL;
}

bool parts_needed__knows(const struct parts_needed *p, pid_t pid)
{
	return p->asked[(uint32_t)pid % KEPT].pid == pid;
}

uint32_t parts_needed__asked(const struct parts_needed *p, pid_t pid)
{
	return parts_needed__knows(p, pid) ? p->asked[(uint32_t)pid % KEPT].parts
					   : PLAN_PARTS_OPTIONAL;
}

/* Only /proc has all of a long command line. Reading that wakes another process. */
int parts_needed__find(struct parts_needed *p, pid_t pid, uint32_t *parts)
{
	bool whole = parts_needed__knows(p, pid) && p->asked[(uint32_t)pid % KEPT].whole;

	if (ask_proc(p->broker, pid, whole ? &p->asked[(uint32_t)pid % KEPT].parts : NULL, parts))
		return 0;
	*parts = parts_needed__asked(p, pid);
	return parts_needed__knows(p, pid) ? 0 : -EAGAIN;
}

void parts_needed__free(struct parts_needed *p)
{
	free(p);
}
