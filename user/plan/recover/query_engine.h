/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of queries in a library without symbols whose compiler has a trait QueryEngine: the
 * methods of the trait are the queries, in the order of their declaration, and the vtable of the
 * one type that implements it is in the file. Each method calls a function of its own, which makes
 * the query's vtable in its frame: the number of the query (DepKind) is a constant there. Debug of
 * DepKind, which is exported, prints the name for that number.
 *
 * A wrong name would not be noticed later. So the numbers must follow one another in the order of
 * the methods, their names must be those of the exported QueryDescription::describe of all queries,
 * each once, and the default Providers must have as many functions.
 */
#ifndef QPROF_PLAN_RECOVER_QUERY_ENGINE_H
#define QPROF_PLAN_RECOVER_QUERY_ENGINE_H

#include "plan/recover/query_numbers.h"
#include "plan/recover/recovered.h"
#include "plan/symbols/bounds.h"
#include "plan/symbols/elf_image.h"

/* True if the image, whose symbols are those of .dynsym, is of such a compiler. */
bool query_engine__is_in(struct elf_image *img);

/*
 * Add the functions that the methods call, one for both modes, under the names of wrappers, and
 * their numbers. 0 or -ENOMEM. A constant string in *problem: nothing was added, and why.
 */
int query_engine__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
			  struct query_numbers *numbers, const char **problem);

#endif /* QPROF_PLAN_RECOVER_QUERY_ENGINE_H */
