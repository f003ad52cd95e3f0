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

/*
 * Give a mapped image without symbols those that can be recovered. *problem is NULL, or a static
 * text: why queries have no names. 0; -ENODATA without an unwind table: the image has no symbols
 * then; or -ENOMEM. *numbers, which is empty before, gets those by which this compiler tells
 * queries apart; the caller destroys it in any case.
 */
int recover__symbols(struct elf_image *img, struct query_numbers *numbers, const char **problem);

/* A problem: it is no compiler, so no symbols would help. */
extern const char recover_no_compiler[];

/*
 * As debug_symbols__map(), and then this, if there are no symbols: *source is SYMBOLS_RECOVERED.
 * -ENODATA, and *problem: they were not recovered; otherwise *problem is NULL.
 */
int recover__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		 enum symbol_source *source, struct query_numbers *numbers, const char **problem);

#endif /* QPROF_PLAN_RECOVER_RECOVER_H */
