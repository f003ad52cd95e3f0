// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions and what each of them shows, as 1.95 and 1.97 have them:
 *
 *	provider of source_span, or what it calls
 *					cmp  %rax, SPANS+0x100(%rdi)	how many spans there are
 *					mov  SPANS(%rdi,%rcx,8), %rcx	of bucket log4(number + 1)
 *					mov  8(%rcx,%rax,8), %rax
 *					(before 1.86: one bucket, which is locked by taking it)
 *	Span::data_untracked		run on numbers: how they are made of a position, a length
 *					and a context; or of an index
 *
 * layout_files.c does the same for source files, and layout_interner.c for that index.
 */
#include "plan/mine/layout_places.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/mine/layout_files.h"
#include "plan/mine/layout_interner.h"

/* The source_span provider's answer for one number. */
struct span_place {
	uint32_t bucket; /* within the GlobalCtxt: its address */
	uint64_t at;	 /* within the bucket */
	uint32_t count;	 /* within the GlobalCtxt: what the number is compared with */
};

static bool read_span_place(const struct eval *e, uint64_t number, struct span_place *out)
{
	bool bucket = false, count = false;
	uint64_t at, more;

	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *node = places_loaded(e, &e->returns.items[i].a, 8, &more);
		struct sum base;

		if (!node || more || node->of.n != 1 || node->of.terms[0].factor != 1)
			continue;
		base = sum_term(&node->of, 0);
		if (!sum_is_field(&e->nodes, &base, WIRE_REG_DI, 8, &at))
			continue;
		if (!places_agree(&out->bucket, &bucket, at))
			return false;
		out->at = node->of.constant;
	}
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		const struct sum *a = sum_is_constant(&c->a) ? &c->b : &c->a;
		const struct sum *b = a == &c->a ? &c->b : &c->a;

		if (sum_is_constant(b) && b->constant == number &&
		    sum_is_field(&e->nodes, a, WIRE_REG_DI, 8, &at) && at != out->bucket &&
		    !places_agree(&out->count, &count, at))
			return false;
	}
	return bucket && count;
}

/* Bucket b holds the numbers from (first << step * b) - first on. */
static void split(uint64_t number, uint32_t first, uint32_t step, uint32_t *bucket, uint64_t *slot)
{
	*bucket = 0;
	while (number + first >= (uint64_t)first << step * (*bucket + 1))
		++*bucket;
	*slot = number + first - ((uint64_t)first << step * *bucket);
}

/* Distinctive: the first and last of buckets, under any of the ways to make them. */
static const uint64_t numbers[] = {0, 2, 3, 6, 7, 8, 14, 15, 62, 63, 1000, 65534, 1000000};

static bool buckets_fit(const struct span_place *p, uint32_t first, uint32_t step)
{
	for (size_t i = 0; i < N_OF(numbers); i++) {
		uint32_t bucket;
		uint64_t slot;

		split(numbers[i], first, step, &bucket, &slot);
		if (p[i].bucket != p[0].bucket + 8 * bucket || p[i].at != 8 * slot ||
		    p[i].count != p[0].count)
			return false;
	}
	return true;
}

static bool take_spans(struct places_miner *m, const struct span_place *places)
{
	static const uint32_t firsts[] = {1, 2, 4, 8, 16, WIRE_SPANS_IN_ONE};

	for (size_t i = 0; i < N_OF(firsts); i++)
		for (uint32_t step = 1; step <= 2; step++) {
			if (!buckets_fit(places, firsts[i], step))
				continue;
			m->l.spans = places[0].bucket;
			m->l.n_spans = places[0].count;
			m->l.first = firsts[i];
			m->l.step = step;
			return true;
		}
	return false;
}

static int mine_spans(struct places_miner *m, const struct layout_function *f, const char **problem)
{
	struct span_place places[N_OF(numbers)] = {0};

	*problem = "the provider of source_span shows no table of spans";
	for (size_t i = 0; i < N_OF(numbers); i++) {
		_free_ struct eval *e = NULL;
		int err = places_run(m, f, true, numbers[i], &e);

		if (err)
			return err;
		if (!read_span_place(e, numbers[i], &places[i]))
			return 0;
	}
	if (take_spans(m, places))
		*problem = NULL;
	return 0;
}

/* Where Span::data_untracked stores `value`: offsets below 64, as bits. */
static uint64_t stored(const struct eval *e, uint64_t value)
{
	uint64_t found = 0, at;

	for (uint32_t i = 0; i < e->stores.n; i++)
		if (sum_is_constant(&e->stores.items[i].b) &&
		    e->stores.items[i].b.constant == value &&
		    sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, &at) && at < 64)
			found |= 1ull << at;
	return found;
}

#define POSITION 0x01020304ull
#define LENGTH	 0x0123ull
#define CONTEXT	 0x0045ull

/* A span of which `length` and `context` are as they are in its bits. */
static uint64_t span(uint64_t length, uint64_t context)
{
	return context << 48 | length << 32 | POSITION;
}

static bool is_single(uint64_t bits)
{
	return bits && !(bits & (bits - 1));
}

/* A position, a length below 0x7fff, and a context; or with 0x8000 a parent, without context. */
static bool read_inline(struct places_miner *m, const struct eval *own, const struct eval *parent)
{
	uint64_t at = stored(own, POSITION), context = stored(own, CONTEXT);

	if (!is_single(at) || !is_single(context) || !is_single(stored(own, POSITION + LENGTH)) ||
	    stored(parent, POSITION) != at || !(stored(parent, 0) & context) ||
	    stored(parent, CONTEXT) & context)
		return false;
	m->l.position = (uint32_t)__builtin_ctzll(at);
	m->l.context = (uint32_t)__builtin_ctzll(context);
	return true;
}

/* A length of 0xffff: an index and a context; or with 0xffff the context is interned too. */
static int mine_span_data(struct places_miner *m, const struct layout_function *f,
			  const char **problem)
{
	const struct wire_layout_places before = m->l;
	_free_ struct eval *own = NULL, *parent = NULL, *partly = NULL, *interned = NULL;
	int err = places_run(m, f, true, span(LENGTH, CONTEXT), &own)
			  ?: places_run(m, f, true, span(LENGTH | 0x8000, CONTEXT), &parent)
			  ?: places_run(m, f, true, span(0xffff, CONTEXT), &partly)
			  ?: places_run(m, f, true, span(0xffff, 0xffff), &interned);

	if (err)
		return err;
	if (!read_inline(m, own, parent))
		*problem = "Span::data_untracked unpacks spans in another way";
	else if (stored(partly, POSITION) || stored(interned, POSITION) || !stored(partly, CONTEXT))
		*problem = "Span::data_untracked finds interned spans in another way";
	else
		err = places_mine_interner(m, partly, interned, POSITION, problem);
	if (*problem)
		m->l = before;
	return err;
}

static bool is_source_span(const struct layout_function *f)
{
	return f->kind == NAME_SOURCE_SPAN ||
	       (f->kind == NAME_PROVIDER && f->query_len == strlen("source_span") &&
		!memcmp(f->query, "source_span", f->query_len));
}

static bool is_span_data(const struct layout_function *f)
{
	return f->kind == NAME_SPAN_DATA;
}

/* Any of several functions of a kind will do. */
static int mine_any(struct places_miner *m, bool (*is)(const struct layout_function *f),
		    int (*mine)(struct places_miner *, const struct layout_function *,
				const char **),
		    const char **problem)
{
	int err = 0, tried = 0;

	for (size_t i = 0; i < m->n && tried < PLACES_COPIES_MAX && !err && *problem; i++) {
		if (!is(&m->functions[i]))
			continue;
		tried++;
		err = mine(m, &m->functions[i], problem);
	}
	return err;
}

int layout_mine_places(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_places *out,
		       const char **problem)
{
	struct places_miner m = {.img = img, .functions = functions, .n = n, .names = names};
	int err;

	*problem = "there is no provider of source_span";
	err = mine_any(&m, is_source_span, mine_spans, problem);
	if (!err && !*problem)
		err = places_mine_files(&m, problem);
	if (!err && !*problem) {
		*problem = "there is no Span::data_untracked";
		err = mine_any(&m, is_span_data, mine_span_data, problem);
	}
	if (err || *problem)
		return err;
	m.l.known = 1;
	*problem = plan_places_excess(&m.l);
	if (!*problem)
		*out = m.l;
	return 0;
}
