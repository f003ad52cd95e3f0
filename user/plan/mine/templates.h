/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The literal text of a call of alloc::fmt::format. Compilers pass it in one of two ways:
 *
 *	1.95	format(out, template, arguments)	"\11#[derive(\300\2)]\0": the length of each
 *							part and the part; \300 is an argument
 *	1.85	format(out, {pieces, n, arguments, ..})	pieces: the address and length of each
 */
#ifndef QPROF_PLAN_MINE_TEMPLATES_H
#define QPROF_PLAN_MINE_TEMPLATES_H

#include "plan/code/eval.h"
#include "plan/symbols/elf_image.h"

#define TEMPLATE_MAX 24

struct template
{
	uint8_t text[TEMPLATE_MAX]; /* all parts, cut */
	size_t len;
	bool is_bare; /* one argument and nothing else */
};

/* False if it is not in the file. */
bool template__of(const struct elf_image *img, const struct eval_call *call, struct template *out);

bool template__holds(const struct template *t, const char *text);

#endif /* QPROF_PLAN_MINE_TEMPLATES_H */
