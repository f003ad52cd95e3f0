/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bodies of rustc's query engine (mine/body.h) are the functions that call the cold side of the
 * guards of query providers, whose name rustc exports.
 */
#ifndef QPROF_PLAN_RECOVER_BODIES_H
#define QPROF_PLAN_RECOVER_BODIES_H

#include "plan/recover/recovered.h"
#include "plan/symbols/known_symbols.h"

/*
 * Add their names. `known` are the image's symbols, among them the cold side's. Which mode of the
 * compiler a body is for does not show: the name has none. 0 or -ENOMEM.
 */
int bodies__recover(struct elf_image *img, const struct known_symbols *known,
		    struct recovered *out);

#endif /* QPROF_PLAN_RECOVER_BODIES_H */
