/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The processes of a build other than running compilers, read from /proc: linkers, build scripts
 * and their children, cargo itself, and a rustc that has not mapped its library yet. No probe sees
 * them.
 */
#ifndef QPROF_STUCK_OTHERS_H
#define QPROF_STUCK_OTHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/look.h"

enum other_kind {
	OTHER_PROGRAM, /* an unknown program */
	OTHER_LINKER,
	OTHER_BUILD_SCRIPT,
	OTHER_COMPILER, /* its library is not mapped yet: it has not begun; or see `problem` */
};

struct other {
	pid_t pid;
	pid_t parent;
	enum other_kind kind;
	char *name;	  /* of the program */
	char *subject;	  /* package of a build script, crate of a compiler; or NULL */
	char *crate_type; /* of a compiler, or NULL */
	char *command;	  /* or NULL */
	uint64_t age_ns;
	uint64_t cpu_ns; /* of all its threads */
	char state; /* R if any thread is running; else of the first thread, as in /proc/PID/stat */
	const char *waits;   /* the system call that its first thread waits in, or NULL */
	const char *problem; /* of a compiler: why its queries cannot be read; NULL: it has none */
};

/*
 * -ESRCH if the process is gone or has exited; -ENOMEM. The caller clears `o` in any case.
 * `below_compiler`: its parent is a compiler, or a process that a compiler runs as a linker.
 */
int other__read(struct other *o, struct look *look, pid_t pid, bool below_compiler);
void other__clear(struct other *o);

/*
 * The kind of a program, by its name. A linker is always below a compiler, because build scripts
 * run C compilers of the same names. For other__read() and its test.
 */
enum other_kind other_kind_of(const char *program, bool below_compiler);

/* "linker", "build script", "compiler", "program". */
const char *other_kind_name(enum other_kind kind);

#endif /* QPROF_STUCK_OTHERS_H */
