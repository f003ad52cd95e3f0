// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/timers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/place.h"
#include "plan/code/scan.h"
#include "plan/mine/callers.h"
#include "plan/recover/dynsym.h"

/* Functions that print times and are looked at: looking takes time, and code is untrusted. */
#define PRINT_MAX 256
/* A part of the name of the function that prints a time. */
#define PRINTER "9profiling23print_time_passes_entry"

struct droppers {
	uint64_t addrs[PRINT_MAX];
	bool called[PRINT_MAX];
	uint32_t n;
};

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

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct droppers *d = arg;

	(void)addr;
	for (uint32_t i = 0; i < d->n; i++)
		d->called[i] = d->called[i] || d->addrs[i] == to;
	return 0;
}

static int find_called(struct elf_image *img, struct droppers *d)
{
	struct code_range range = {UINT64_MAX, 0};

	for (uint32_t i = 0; i < d->n; i++) {
		range.first = d->addrs[i] < range.first ? d->addrs[i] : range.first;
		range.last = d->addrs[i] > range.last ? d->addrs[i] : range.last;
	}
	return d->n ? code_scan__calls(img, range, note_call, d) : 0;
}

static int find_droppers(struct elf_image *img, struct droppers *d, const char **problem)
{
	_owners_ struct owners owners = {0};
	uint64_t printer = dynsym__function(img, PRINTER);
	int err = printer ? callers__find(img, &printer, 1, &owners) : 0;

	if (owners.n > PRINT_MAX) {
		*problem = "more functions print the time of a pass than can be looked at";
		return err;
	}
	for (size_t i = 0; i < owners.n && err >= 0; i++) {
		err = drops(img, &owners.items[i], printer);
		if (err > 0)
			d->addrs[d->n++] = owners.items[i].entry;
	}
	return err < 0 ? err : 0;
}

static int name_drop(struct recovered *out, uint64_t function, uint32_t number)
{
	char name[160];

	snprintf(name, sizeof(name),
		 "_RINvNtC4core3ptr13drop_in_placeNtNtC21rustc_data_structures9profiling"
		 "18VerboseTimingGuardEB0_.%u",
		 number);
	return recovered__add(out, function, name);
}

int timers__recover(struct elf_image *img, struct recovered *out, const char **problem)
{
	struct droppers d = {.n = 0};
	int err = find_droppers(img, &d, problem) ?: find_called(img, &d);

	for (uint32_t i = 0; i < d.n && !err; i++)
		if (d.called[i])
			err = name_drop(out, d.addrs[i], i);
	return err;
}
