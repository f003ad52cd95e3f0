/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The end of a recording of `cargo qprof`. */
#ifndef QPROF_CLI_CARGO_REPORT_H
#define QPROF_CLI_CARGO_REPORT_H

/*
 * Print the report of `trace` to stderr, as stdout is cargo's, and remove traces that are not kept
 * from the directory. A trace without a compile is removed, and a line says why there is none.
 * `status`: how the recording ended, as of wait(2). Errors are printed, and
 * SIGPIPE is ignored from now on.
 */
void cargo_report(const char *directory, const char *trace, int status);

#endif /* QPROF_CLI_CARGO_REPORT_H */
