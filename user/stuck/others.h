/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a build runs beside compilers, as /proc tells of it: linkers, build scripts and what they
 * start, a rustc that has not come to its library yet, cargo itself. Probes see nothing of them.
 */
#ifndef QPROF_STUCK_OTHERS_H
#define QPROF_STUCK_OTHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum other_kind {
	OTHER_PROGRAM, /* of which no more is known */
	OTHER_LINKER,
	OTHER_BUILD_SCRIPT,
	OTHER_COMPILER, /* its library is not mapped yet: it has not begun */
};

struct other {
	pid_t pid;
	pid_t parent;
	enum other_kind kind;
	char *name;    /* of the program */
	char *subject; /* package of a build script, crate of a compiler; or NULL */
	char *command; /* or NULL */
	uint64_t age_ns;
	uint64_t cpu_ns; /* of all of its threads */
	char state;	 /* R if any of them is running; else of its first, as in /proc/PID/stat */
	const char *waits; /* the system call that its first thread is in, or NULL */
};

/*
 * -ESRCH if it is gone, or has exited; -ENOMEM. Clear it in any case. `below_compiler`: a compiler,
 * or what it runs as a linker, is its parent.
 */
int other__read(struct other *o, pid_t pid, bool below_compiler);
void other__clear(struct other *o);

/*
 * What a program is, by its name. Only what is below a compiler is a linker: build scripts run C
 * compilers, which go by the same names. For other__read() and its test.
 */
enum other_kind other_kind_of(const char *program, bool below_compiler);

/* "linker", "build script", "compiler", "program". */
const char *other_kind_name(enum other_kind kind);

#endif /* QPROF_STUCK_OTHERS_H */
