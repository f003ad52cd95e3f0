/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Symbols for a library that has none but exported ones: functions and their parts from the unwind
 * table, and for those that a plan needs, names that follow from the code.
 */
#ifndef QPROF_PLAN_RECOVER_RECOVER_H
#define QPROF_PLAN_RECOVER_RECOVER_H

#include "plan/plan.h"
#include "plan/recover/recovered.h"
#include "plan/symbols/debug_file.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/function_name.h"

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

/* ---- Modes ----------------------------------------------------------------------------------- */

/*
 * Which of a query's two wrappers is for incremental compiles is only known from a run of the
 * compiler's code (recover/vtables.h). The bodies show it, too: only those of incremental compiles
 * load results of the last one, or hash theirs for the next.
 */

/*
 * `problem`: static text if a query has such a body for other compiles, or none has one for
 * incremental ones; or NULL. 0 or -ENOMEM.
 */
int modes__check(struct elf_image *img, const struct known_symbols *known, const struct plan *plan,
		 const char **problem);

#endif /* QPROF_PLAN_RECOVER_RECOVER_H */
