/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions by which cold sides make arguments (mine/cold_sides.h), and that are not exported.
 * Told by what is passed between them and exported ones:
 *
 *	LocalExpnId::expn_data		fills in a slot, of which a part is given to ExpnKind::descr
 *	ExtCtxt::expansion_descr	calls both itself
 *	record_arg_with_span		gives its fourth argument, a span, to
 *SourceMap::span_to_string usize::__fmt_inner		is given the number by <usize as
 *Display>::fmt
 */
#ifndef QPROF_PLAN_RECOVER_ARGUMENTS_H
#define QPROF_PLAN_RECOVER_ARGUMENTS_H

#include "plan/recover/recovered.h"

/* Add their names, of an image whose cold sides have theirs. 0 or -ENOMEM. */
int arguments__recover(struct elf_image *img, struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_ARGUMENTS_H */
