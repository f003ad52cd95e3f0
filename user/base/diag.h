/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * All messages to a person go through here, to stderr. Data goes to stdout, and never through here.
 *
 * An error line names the cause and the next step: diag_error("cannot open %s: %s; ...").
 */
#ifndef QPROF_BASE_DIAG_H
#define QPROF_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum diag_level {
	DIAG_QUIET = -1, /* errors only */
	DIAG_NORMAL = 0,
	DIAG_VERBOSE = 1,
	DIAG_DEBUG = 2, /* libbpf's own messages too */
};

void diag_set_level(enum diag_level level);
enum diag_level diag_level(void);

/*
 * From now on keep the last error in `text`, without the prefix of a line, instead of printing it.
 * NULL: print errors again.
 */
void diag_hold_errors(char *text, size_t size);

/*
 * While this is on, a line that cannot be written (a full pipe, a stopped terminal) is dropped
 * after DIAG_PATIENCE_MS and counted; the next line that is printed says how many were dropped.
 */
#define DIAG_PATIENCE_MS 100
void diag_drop_blocked(bool on);

/*
 * From now on such a line waits until its reader takes it, or is dropped once go_on(), which is
 * called when `fd` polls readable and must read it, returns false. -1: it waits. Not while
 * diag_drop_blocked() is on.
 */
void diag_wait_with(int fd, bool (*go_on)(void *ctx), void *ctx);

/* "qprof-bpf: error: ..." Always printed. */
void diag_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* How many errors there were, printed or kept. */
unsigned int diag_errors(void);
/* "qprof-bpf: warning: ..." Printed unless quiet. */
void diag_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "qprof-bpf: ..." Printed unless quiet. */
void diag_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Printed with -v. */
void diag_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The next step after a negative errno, to follow its text: "; raise the limit of open files
 * (ulimit -n)" if a limit of the process or the machine is the cause, as nothing else helps then.
 * Else `otherwise`.
 */
const char *diag_step(int err, const char *otherwise);

/* Print an error and evaluate to `err` (a negative errno), for `return diag_error_r(err, ...)`. */
#define diag_error_r(err, ...)                \
	({                                    \
		/* Printing may set errno. */ \
		int __err = (err);            \
		diag_error(__VA_ARGS__);      \
		__err;                        \
	})

#endif /* QPROF_BASE_DIAG_H */
