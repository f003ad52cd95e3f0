// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "qprof/wire.h"
#include "stuck/tasks.h"
#include "decode/command.h"

static void thread__clear(struct snapshot_thread *t)
{
	stuck_rows__clear(&t->rows);
	stuck_llvm__clear(&t->llvm);
	for (uint32_t i = 0; i < t->n_functions; i++)
		free(t->functions[i]);
	free(t->functions);
}

void snapshot__clear(struct snapshot *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct snapshot_process *process = &p->processes[i];

		for (uint32_t k = 0; k < process->n_threads; k++)
			thread__clear(&process->threads[k]);
		free(process->threads);
		free(process->crate);
		free(process->crate_type);
		free(process->command);
	}
	for (uint32_t i = 0; i < p->n_others; i++)
		other__clear(&p->others[i]);
	free(p->others);
	free(p->processes);
	*p = (struct snapshot){0};
}

/* ---- What else runs -------------------------------------------------------------------------- */

/* The variable in which cargo gives a build script the name of its package. */
#define PACKAGE "CARGO_PKG_NAME"

static bool is_one_of(const char *name, size_t len, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == len && !memcmp(*names, name, len))
			return true;
	return false;
}

/* "x86_64-linux-gnu-gcc-12" is gcc, "ld.bfd" is ld. */
static bool links(const char *program)
{
	static const char *const names[] = {"cc",      "c++",  "gcc",  "g++",	   "clang",
					    "clang++", "ld",   "ld64", "lld",	   "mold",
					    "wild",    "link", "zig",  "collect2", NULL};
	const char *end = program + strlen(program), *begin;

	while (end > program && (isdigit((unsigned char)end[-1]) || end[-1] == '.'))
		end--;
	if (end > program && end[-1] == '-')
		end--;
	else
		end = program + strlen(program);
	begin = memrchr(program, '-', (size_t)(end - program));
	begin = begin ? begin + 1 : program;
	return is_one_of(begin, (size_t)(end - begin), names) ||
	       is_one_of(begin, strcspn(begin, "."), names);
}

enum other_kind other_kind_of(const char *program, bool below_compiler)
{
	if (!strncmp(program, "build-script-", strlen("build-script-")))
		return OTHER_BUILD_SCRIPT;
	if (is_compiler_name(program, strlen(program)))
		return OTHER_COMPILER;
	return below_compiler && links(program) ? OTHER_LINKER : OTHER_PROGRAM;
}

const char *other_kind_name(enum other_kind kind)
{
	static const char *const names[] = {
		[OTHER_PROGRAM] = "program",
		[OTHER_LINKER] = "linker",
		[OTHER_BUILD_SCRIPT] = "build script",
		[OTHER_COMPILER] = "compiler",
	};

	return names[kind];
}

static int read_state(struct other *o)
{
	_tasks_ struct tasks tasks;
	int err = tasks__read(&tasks, o->pid);

	o->age_ns = tasks.age_ns;
	for (uint32_t i = 0; i < tasks.n; i++) {
		const struct task *t = &tasks.items[i];

		o->cpu_ns += t->cpu_ns;
		if (t->tid == o->pid && o->state != 'R') {
			o->state = t->state;
			o->waits = t->waits;
		} else if (t->state == 'R') {
			o->state = 'R';
			o->waits = NULL;
		}
	}
	if (err)
		return err;
	return !tasks.n || strchr("ZXx", o->state) ? -ESRCH : 0;
}

/* A script has the name it was started with, because its executable is a shell. */
static char *name_of(pid_t pid)
{
	_free_ char *path = process_executable(pid);
	char comm[32];

	process_name(pid, comm, sizeof(comm));
	/* comm is cut to 15 bytes. */
	if (path && !strncmp(basename(path), comm, strlen(comm)))
		return strdup(basename(path));
	return strdup(comm);
}

int other__read(struct other *o, struct broker *broker, pid_t pid, bool below_compiler)
{
	_arguments_ struct arguments args = {0};
	struct command c;
	char package[256];
	int err;

	*o = (struct other){.pid = pid, .parent = process_parent(pid)};
	err = read_state(o);
	o->name = err ? NULL : name_of(pid);
	if (!o->name)
		return err ?: -ENOMEM;
	o->kind = other_kind_of(o->name, below_compiler);
	if (!broker__arguments(broker, pid, &args) &&
	    !command__parse(&c, args.bytes, args.size, args.cut)) {
		o->command = take_ptr(c.line);
		if (o->kind == OTHER_COMPILER) {
			o->subject = take_ptr(c.crate);
			o->crate_type = take_ptr(c.crate_type);
		}
		command__clear(&c);
	}
	if (o->kind == OTHER_BUILD_SCRIPT) {
		/* Empty if there is no such variable, or it is not readable. */
		broker__variable(broker, pid, PACKAGE, package, sizeof(package));
		o->subject = *package ? strdup(package) : NULL;
	}
	return 0;
}

void other__clear(struct other *o)
{
	free(o->name);
	free(o->subject);
	free(o->crate_type);
	free(o->command);
	*o = (struct other){0};
}
