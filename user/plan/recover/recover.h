/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Symbols for a library that has none but exported ones: functions and their parts from the unwind
 * table, and for those that a plan needs, names that follow from the code.
 */
#ifndef QPROF_PLAN_RECOVER_RECOVER_H
#define QPROF_PLAN_RECOVER_RECOVER_H

#include "plan/recover/recovered.h"
#include "plan/symbols/debug_file.h"
#include "plan/symbols/elf_image.h"

/* A problem: it is no compiler, so no symbols would help. */
extern const char recover_no_compiler[];

/*
 * As debug_symbols__map(); if there are no symbols, those that can be are recovered, and *source is
 * SYMBOLS_RECOVERED. -ENODATA, and *problem: they were not; otherwise *problem is NULL. *numbers,
 * which is empty before, gets those by which this compiler tells queries apart; the caller destroys
 * it in any case.
 */
int recover__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		 enum symbol_source *source, struct query_numbers *numbers, const char **problem);

#endif /* QPROF_PLAN_RECOVER_RECOVER_H */
