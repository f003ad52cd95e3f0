// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/set_providers.h"

#include <errno.h>
#include <string.h>

#include "plan/code/eval.h"
#include "plan/code/straight.h"
#include "plan/mine/callers.h"

/* One in so many places may hold a value that could not be followed: 1.85 has 10 of 301. */
#define UNKNOWN_SHARE 16
/* A function that refuses is short. */
#define STEPS_MAX 32

static bool is_text(const struct elf_image *img, uint64_t addr, const char *text, size_t len)
{
	size_t room;
	const uint8_t *bytes = elf_image__bytes(img, addr, &room);

	return bytes && room >= len && !memcmp(bytes, text, len);
}

/* It passes on the name, as an address and a length. 1, 0 or -ENOMEM. */
static int refuses(const struct elf_image *img, uint64_t function, const char *query)
{
	const struct code_region region = {function, elf_image__size_of(img, function)};
	const struct eval_function f = {.img = img,
					.entry = function,
					.regions = &region,
					.n_regions = 1,
					.steps = STEPS_MAX};
	size_t len = strlen(query);
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];

		if (sum_is_constant(&c->first) && sum_is_constant(&c->second) &&
		    c->second.constant == len && is_text(img, c->first.constant, query, len))
			return 1;
	}
	return err;
}

/* The only place of the defaults that has the query's name. 1, 0 or -ENOMEM. */
static int find_place(struct elf_image *img, uint64_t defaults, uint32_t n, const char *query,
		      uint32_t *place)
{
	_straight_ struct straight *s = NULL;
	int err = straight__run(img, defaults, 0, &s), found = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint64_t function;
		int is = straight__word(s, 8 * i, &function) ? refuses(img, function, query) : 0;

		if (is < 0)
			return is;
		if (is)
			*place = i;
		found += is;
	}
	return err == -ENOMEM ? err : found == 1;
}

/* Run a function that sets providers; 1 and what it puts in the place, 0 or -ENOMEM. */
static int run_setter(struct elf_image *img, const struct bounds *bounds, uint64_t setter,
		      uint32_t n, uint32_t place, uint64_t *function)
{
	_straight_ struct straight *s = NULL;
	int err = straight__run(img, setter, 0, &s);
	uint32_t unknown = 0;
	uint64_t any;

	if (err)
		return err == -ENOMEM ? err : 0;
	for (uint32_t i = 0; i < n; i++) {
		bool known = straight__word(s, 8 * i, &any);

		unknown += !known;
		if ((known && !bounds__starts(bounds, any)) || unknown > n / UNKNOWN_SHARE)
			return 0;
	}
	return straight__word(s, 8 * place, function);
}

int set_providers__find(struct elf_image *img, const struct bounds *bounds, uint64_t defaults,
			uint32_t n, const char *query, uint64_t *function)
{
	_owners_ struct owners setters = {0};
	uint32_t place = 0;
	int is = find_place(img, defaults, n, query, &place), found = 0;

	if (is > 0 && callers__find(img, &defaults, 1, &setters) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < setters.n && is >= 0; i++) {
		uint64_t set;

		is = run_setter(img, bounds, setters.items[i].entry, n, place, &set);
		if (is <= 0)
			continue;
		if (found && set != *function)
			return 0;
		*function = set;
		found = 1;
	}
	return is < 0 ? is : found;
}
