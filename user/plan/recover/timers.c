// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/timers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/place.h"
#include "plan/mine/callers.h"

static uint64_t find_printer(struct elf_image *img)
{
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strstr(syms[i].name, "9profiling23print_time_passes_entry") &&
		    !syms[i].name[syms[i].base_len])
			return syms[i].addr;
	return 0;
}

/* A part of what its first argument leads to. */
static bool is_of_first(const struct eval *e, const struct sum *text)
{
	struct wire_place place;

	return place_of(&e->nodes, text, &place) && place.n == 1 && place.reg == WIRE_REG_DI;
}

/* 1, 0, or -ENOMEM. */
static int drops(struct elf_image *img, const struct owner *o, uint64_t printer)
{
	const struct eval_function f = {
		.img = img,
		.entry = o->entry,
		.regions = o->regions,
		.n_regions = o->n_regions,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++)
		if (e->calls[i].target == printer && is_of_first(e, &e->calls[i].first))
			return 1;
	return err;
}

/* 1, 0, or -ENOMEM. */
static int is_called(struct elf_image *img, uint64_t function)
{
	_owners_ struct owners owners = {0};
	int err = callers__find(img, &function, 1, &owners);

	return err ?: owners.n > 0;
}

static int name_drop(struct recovered *out, uint64_t function, size_t number)
{
	char name[160];

	snprintf(name, sizeof(name),
		 "_RINvNtC4core3ptr13drop_in_placeNtNtC21rustc_data_structures9profiling"
		 "18VerboseTimingGuardEB0_.%zu",
		 number);
	return recovered__add(out, function, name);
}

int timers__recover(struct elf_image *img, struct recovered *out)
{
	_owners_ struct owners owners = {0};
	uint64_t printer = find_printer(img);
	int err = printer ? callers__find(img, &printer, 1, &owners) : 0;

	for (size_t i = 0; i < owners.n && !err; i++) {
		err = drops(img, &owners.items[i], printer);
		if (err > 0)
			err = is_called(img, owners.items[i].entry);
		if (err > 0)
			err = name_drop(out, owners.items[i].entry, i);
	}
	return err;
}
