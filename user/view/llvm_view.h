/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print the time in LLVM (analyze/llvm.h) by pass and by function. */
#ifndef QPROF_VIEW_LLVM_VIEW_H
#define QPROF_VIEW_LLVM_VIEW_H

#include "view/columns.h"
#include "view/view.h"

/* The table that report_options.llvm_by asks for. 0 or a negative errno. */
int llvm_text(FILE *out, const struct report_options *opt);

/* The member "llvm"; with llvm_wants, only of these functions. Missing if no sample is in LLVM. */
void llvm_columns(struct columns *c, const struct report_options *opt);

/*
 * Print "LLVM 12.4 s: 41 % machine code, 38 % optimisation; first: InstCombine 8 %" for the
 * report of a build, after `lead`, or why that is not known; nothing if few samples are in LLVM. A
 * text is wrapped at `width`; 0: it is not. True: passes and functions are known.
 */
bool llvm_print_line(FILE *out, const char *lead, size_t width, const struct llvm_rows *rows);

#endif /* QPROF_VIEW_LLVM_VIEW_H */
