// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/providers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/decode.h"
#include "plan/code/straight.h"

/* Instructions of a provider that are looked at: more are of a function inlined into it. */
#define STEPS_MAX 256
#define WAYS_MAX  (2 * STEPS_MAX + 1)

/* A place that a provider may read its function from. */
struct place {
	uint64_t at;
	uint32_t provider;
};

struct places {
	struct place *items; /* by `at` */
	uint32_t n, capacity;
};

static void places__destroy(struct places *p)
{
	free(p->items);
}

/* The instructions that a provider may come to, in all its parts, the nearest first. */
struct walk {
	struct code_decoder *decoder;
	const struct bound *whole; /* the function, or NULL */
	uint64_t ways[WAYS_MAX];
	uint32_t n_ways, gone; /* all, and those that were gone */
	uint64_t seen[STEPS_MAX];
	uint32_t n_seen;
};

static int step(struct walk *w, uint32_t provider, struct places *p)
{
	uint64_t at = w->ways[w->gone++];
	struct code_insn insn;
	struct place place;

	if (array__has_u64(w->seen, w->n_seen, at) || !code_decoder__at(w->decoder, at, &insn))
		return 0;
	w->seen[w->n_seen++] = at;
	if (code_insn__goes_on(&insn))
		w->ways[w->n_ways++] = at + insn.size;
	if (insn.flow == CODE_JCC || insn.flow == CODE_JMP)
		w->ways[w->n_ways++] = insn.target;
	/* One case of several is as good as another: they meet again. */
	if (insn.flow == CODE_JMP_INDIRECT && w->whole &&
	    at + insn.size - w->whole->addr < w->whole->size)
		w->ways[w->n_ways++] = at + insn.size;
	/* It may read a function there. */
	place = (struct place){(uint64_t)insn.disp, provider};
	if ((insn.shape == CODE_LOAD64 || insn.shape == CODE_CALL_MEM ||
	     insn.shape == CODE_JMP_MEM) &&
	    insn.base != CODE_REG_SP && insn.disp > 0 && !(insn.disp & 7))
		return array__add(&p->items, &p->n, &p->capacity, &place);
	return 0;
}

static int find_places(struct elf_image *img, const struct bounds *bounds,
		       const uint64_t *functions, uint32_t n, struct places *p)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_free_ struct walk *w = calloc(1, sizeof(*w));
	int err = w ? code_decoder__new(img, &decoder) : -ENOMEM;

	for (uint32_t i = 0; i < n && !err; i++) {
		*w = (struct walk){.decoder = decoder,
				   .whole = bounds__at(bounds, functions[i]),
				   .ways = {functions[i]},
				   .n_ways = 1};
		while (!err && w->gone < w->n_ways && w->n_seen < STEPS_MAX)
			err = step(w, i, p);
	}
	if (p->n)
		qsort(p->items, p->n, sizeof(*p->items), array__by_u64);
	return err;
}

/* Pairs of `n` providers and places: whether each has its other one. */
struct pairing {
	const struct places *p;
	uint64_t base; /* the first place */
	uint32_t n;
	uint8_t *taken;	 /* by place: by one provider */
	uint8_t *paired; /* by provider */
	uint32_t *with;	 /* by provider: the number of its place, if it is paired */
	uint32_t *only;	 /* by provider: the place that it reads and no other has, plus 1 */
};

/*
 * Pair the providers that read one place that is left. Code that is inlined into a provider may
 * read others' places. Returns how many there were.
 */
static uint32_t pair_some(struct pairing *t)
{
	uint32_t found = 0;

	memset(t->only, 0, t->n * sizeof(*t->only));
	for (uint32_t i = 0; i < t->p->n; i++) {
		const struct place *place = &t->p->items[i];
		uint64_t index = (place->at - t->base) / 8;
		uint32_t *only = &t->only[place->provider];

		if (place->at < t->base || index >= t->n || t->taken[index] || *only == UINT32_MAX)
			continue;
		*only = !*only || *only == index + 1 ? (uint32_t)index + 1 : UINT32_MAX;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t only = t->only[i];

		if (t->paired[i] || !only || only == UINT32_MAX || t->taken[only - 1])
			continue;
		t->taken[only - 1] = t->paired[i] = 1;
		t->with[i] = only - 1;
		found++;
	}
	return found;
}

static bool pair_all(struct pairing *t)
{
	uint32_t n = 0, found;

	memset(t->taken, 0, t->n);
	memset(t->paired, 0, t->n);
	do {
		found = pair_some(t);
		n += found;
	} while (found);
	return n == t->n;
}

/* How many of the places from `base` on are read, of `n`. */
static uint32_t places_from(const struct places *p, uint32_t first, uint32_t n)
{
	uint64_t last = 0;
	uint32_t found = 0;

	for (uint32_t i = first; i < p->n && p->items[i].at - p->items[first].at < 8ull * n; i++) {
		found += i == first || p->items[i].at != last;
		last = p->items[i].at;
	}
	return found;
}

int providers_places(struct elf_image *img, const struct bounds *bounds, const uint64_t *functions,
		     uint32_t n, uint32_t *numbers)
{
	_free_ uint8_t *marks = calloc(n + 1UL, 2);
	_free_ uint32_t *only = calloc(n + 1UL, 2 * sizeof(*only));
	__cleanup(places__destroy) struct places p = {0};
	struct pairing t = {.p = &p, .n = n, .taken = marks, .only = only};
	int err = marks && only ? find_places(img, bounds, functions, n, &p) : -ENOMEM, found = 0;

	if (err)
		return err;
	t.paired = marks + n;
	t.with = only + n;
	for (uint32_t i = 0; i < p.n; i++) {
		t.base = p.items[i].at;
		if ((i && t.base == p.items[i - 1].at) || places_from(&p, i, n) != n ||
		    !pair_all(&t))
			continue;
		if (found++)
			return 2;
		memcpy(numbers, t.with, n * sizeof(*numbers));
	}
	return found;
}

/* The function that this one calls first; itself if there is none. */
static uint64_t first_called(struct walk *w, const struct bounds *bounds, uint64_t function)
{
	struct places none = {0};
	struct code_insn insn;
	uint64_t called = function;

	w->ways[0] = function;
	w->n_ways = 1;
	w->gone = w->n_seen = 0;
	while (w->gone < w->n_ways && w->n_seen < STEPS_MAX && called == function) {
		uint64_t at = w->ways[w->gone];

		if (code_decoder__at(w->decoder, at, &insn) &&
		    (insn.flow == CODE_CALL || insn.flow == CODE_JMP) &&
		    bounds__starts(bounds, insn.target))
			called = insn.target;
		if (step(w, 0, &none))
			break;
	}
	places__destroy(&none);
	return called;
}

int providers_called(struct elf_image *img, const struct bounds *bounds, uint64_t *functions,
		     uint32_t n)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_free_ struct walk *w = calloc(1, sizeof(*w));
	int err = w ? code_decoder__new(img, &decoder) : -ENOMEM;

	if (err)
		return err;
	w->decoder = decoder;
	for (uint32_t i = 0; i < n; i++)
		functions[i] = first_called(w, bounds, functions[i]);
	return 0;
}

/* How many functions the table begins with. */
static uint32_t fills_in(const struct straight *s, const struct bounds *bounds)
{
	uint64_t function;
	uint32_t i = 0;

	while (straight__word(s, 8 * i, &function) && bounds__starts(bounds, function))
		i++;
	return i;
}

int providers_defaults(struct elf_image *img, const struct bounds *bounds,
		       const struct address_counts *counts, uint32_t n, uint64_t *function)
{
	for (uint32_t i = 0; i < counts->n; i++) {
		_straight_ struct straight *s = NULL;
		int err = straight__run(img, counts->items[i].function, 0, &s);

		if (err == -ENOMEM)
			return err;
		if (err || fills_in(s, bounds) != n)
			continue;
		*function = counts->items[i].function;
		return 1;
	}
	return 0;
}
