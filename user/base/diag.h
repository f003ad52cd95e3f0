/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Talk: everything the program says to a person goes through here, to stderr. Data goes to stdout
 * and never through here.
 *
 * An error line names the cause and the next step: diag_error("cannot open %s: %s; ...").
 */
#ifndef QPROF_BASE_DIAG_H
#define QPROF_BASE_DIAG_H

#include <stdarg.h>
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
 * From now on keep errors in `text`, the last one without what every line begins with, instead of
 * printing them: for who asks what would be said. NULL: print them again.
 */
void diag_hold_errors(char *text, size_t size);

/* "qprof-bpf: error: ..." Always printed. */
void diag_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "qprof-bpf: warning: ..." Printed unless quiet. */
void diag_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "qprof-bpf: ..." Printed unless quiet. */
void diag_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Printed with -v. */
void diag_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print an error and evaluate to `err` (a negative errno), for `return diag_error_r(err, ...)`. */
#define diag_error_r(err, ...) (diag_error(__VA_ARGS__), (err))

#endif /* QPROF_BASE_DIAG_H */
