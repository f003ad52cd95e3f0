/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions by which cold sides make arguments (mine/cold_sides.h), and that are not exported.
 * The values that they exchange with exported functions show which is which:
 *
 *	LocalExpnId::expn_data		fills in a slot; a part of it is given to ExpnKind::descr
 *	ExtCtxt::expansion_descr	calls both itself
 *	record_arg_with_span		gives its fourth argument, a span, to span_to_string
 *	usize::__fmt_inner		gets the number from <usize as Display>::fmt
 */
#ifndef QPROF_PLAN_RECOVER_ARGUMENTS_H
#define QPROF_PLAN_RECOVER_ARGUMENTS_H

#include "plan/recover/recovered.h"

/* Add their names, of an image whose cold sides have theirs. 0 or -ENOMEM. */
int arguments__recover(struct elf_image *img, struct recovered *out);

/*
 * Functions whose code shows where names of definitions are, and that libraries do not export: a
 * run of each shows which it is. Facts mined from them are checked as if they had their names.
 */

/*
 * Add their names, in an image with symbols for all its functions. If several functions could be
 * one of them, none gets the name. 0 or -ENOMEM.
 */
int readers__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_ARGUMENTS_H */
