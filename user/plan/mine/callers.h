/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_MINE_CALLERS_H
#define QPROF_PLAN_MINE_CALLERS_H

#include "plan/mine/owners.h"
#include "plan/symbols/function_name.h"

/*
 * The functions that call any of these, or jump there, as owners__find(): found by their bytes, so
 * one may be too many. 0, -ENOMEM, or an error of elf_image__symbols(); destroy them in any case.
 */
int callers__find(struct elf_image *img, const uint64_t *targets, size_t n, struct owners *out);

/* The same of the cold sides whose kind is one of `first` to `last`. */
int callers__of_cold(struct elf_image *img, const struct known_symbols *known, enum name_kind first,
		     enum name_kind last, struct owners *out);

#endif /* QPROF_PLAN_MINE_CALLERS_H */
