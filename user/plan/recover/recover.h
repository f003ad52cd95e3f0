/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Symbols for a library that has none but exported ones: functions and their parts from the unwind
 * table, and for those that a plan needs, names that follow from the code.
 *
 * To learn how the room user/plan/recover works, read in this order:
 *
 *	recover.c	the order of the steps: recover__symbols()
 *	recovered.h	the names that were found, and the symbols that are made of them
 *	activities.h	the functions of rustc's profiler, and the bodies of queries
 *	vtables.h	the names of queries, from a table that the compiler makes when it starts
 *	query_engine.h	the same in older compilers, where queries are the methods of a trait
 *	arguments.h	the functions that make arguments of events, or read names of definitions
 *
 * providers.h compares queries with the compiler's table of providers, and modes.h checks which
 * wrapper is for incremental compiles: a wrong name would not be noticed later.
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
