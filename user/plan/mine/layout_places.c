// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions and what each of them shows, as 1.95 and 1.97 have them:
 *
 *	provider of source_span		cmp  %rax, SPANS+0x100(%rdi)	how many spans there are
 *					mov  SPANS(%rdi,%rcx,8), %rcx	of bucket log4(number + 1)
 *					mov  8(%rcx,%rax,8), %rax
 *	source_map::get_source_map	mov  %fs:(%rax), %rax		the session's globals
 *					mov  MAP(%rax), %rax		an Arc
 *	SourceMap::lookup_source_file_idx
 *					mov  FILES(%rdi), %rcx		Arcs of files
 *					mov  FILES+8(%rdi), %rdx
 *					cmp  START(%rcx), %esi		position of the file's start
 *	SourceMap::get_source_file	lea  NAME(%r15), %rsi		given to FileName::eq
 *	FileName::into_local_path	mov  0x8(%rsi), %rcx		the name's text
 *					mov  0x10(%rsi), %rdx		its length
 *	SourceFile::lines		cmp  $-1, STATE(%rdi)		-1: the lines are at hand
 *					mov  LINES(%rdi), %rax		positions from the start
 *					mov  LINES+8(%rdi), %rdx
 *	SourceFile::line_bounds		add  LENGTH(%rdi), %edx		to START: where the file
 *ends Span::data_untracked		run on numbers, it shows how they are made of a position, a
 *length and a context; or of an index, which it hands to IndexSet<SpanData>::index	cmp
 *0x10(%rdi), %rsi		how many spans are interned lea  (%rsi,%rsi,2), %rax	the size of
 *one add  0x8(%rdi), %rax
 */
#include "plan/mine/layout_places.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/eval.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define COPIES_MAX 8

/* Of the function that finds an interned span, as much is looked at. */
#define INDEX_CODE 64

struct places_miner {
	const struct elf_image *img;
	const struct layout_function *functions;
	size_t n;
	const struct wire_layout *names;
	struct wire_layout_places l;
	uint32_t file_header; /* of an Arc, in front of the file */
	uint64_t index;	      /* address of the function that finds an interned span */
	uint32_t interner;    /* within the globals: what that function is given */
};

static bool set_offset(uint32_t *to, uint64_t value)
{
	if (value >= PLAN_LAYOUT_MAX)
		return false;
	*to = (uint32_t)value;
	return true;
}

/* As set_offset(), but *to must be the same each time. */
static bool agree(uint32_t *to, bool *known, uint64_t value)
{
	uint32_t before = *to;
	bool ok = set_offset(to, value) && (!*known || *to == before);

	*known = true;
	return ok;
}

static const struct sum_node *loaded(const struct eval *e, const struct sum *a, uint8_t size,
				     uint64_t *more)
{
	const struct sum_node *node = sum_node_of(&e->nodes, a, more);

	return node && node->kind == SUM_LOAD && node->size == size ? node : NULL;
}

static int run(const struct places_miner *m, const struct layout_function *f, bool has_second,
	       uint64_t second, struct eval **out)
{
	const struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.has_second = has_second,
		.second = second,
	};

	return eval__run(&ef, out);
}

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
		const struct sum_node *node = loaded(e, &e->returns.items[i].a, 8, &more);
		struct sum base;

		if (!node || more || node->of.n != 1 || node->of.terms[0].factor != 1)
			continue;
		base = sum_term(&node->of, 0);
		if (!sum_is_field(&e->nodes, &base, WIRE_REG_DI, 8, &at))
			continue;
		if (!agree(&out->bucket, &bucket, at))
			return false;
		out->at = node->of.constant;
	}
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		const struct sum *a = sum_is_constant(&c->a) ? &c->b : &c->a;
		const struct sum *b = a == &c->a ? &c->b : &c->a;

		if (sum_is_constant(b) && b->constant == number &&
		    sum_is_field(&e->nodes, a, WIRE_REG_DI, 8, &at) &&
		    !agree(&out->count, &count, at))
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

static int mine_spans(struct places_miner *m, const struct layout_function *f, const char **problem)
{
	struct span_place places[N_OF(numbers)] = {0};

	*problem = "the provider of source_span shows no table of spans";
	for (size_t i = 0; i < N_OF(numbers); i++) {
		_free_ struct eval *e = NULL;
		int err = run(m, f, true, numbers[i], &e);

		if (err)
			return err;
		if (!read_span_place(e, numbers[i], &places[i]))
			return 0;
	}
	for (uint32_t first = 1; first <= 16; first *= 2) {
		for (uint32_t step = 1; step <= 2; step++) {
			if (!buckets_fit(places, first, step))
				continue;
			m->l.spans = places[0].bucket;
			m->l.n_spans = places[0].count;
			m->l.first = first;
			m->l.step = step;
			*problem = NULL;
			return 0;
		}
	}
	return 0;
}

static const char *read_source_map(struct places_miner *m, const struct eval *e)
{
	uint64_t more;

	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *map = loaded(e, &e->returns.items[i].a, 8, &more), *word;

		if (!map || more)
			continue;
		word = loaded(e, &map->of, 8, &more);
		if (!word || !word->thread || !set_offset(&m->l.source_map, more))
			continue;
		word = loaded(e, &word->of, 8, &more);
		if (word && !more && sum_is_constant(&word->of) &&
		    word->of.constant == m->names->globals)
			return NULL;
	}
	return "source_map::get_source_map returns no part of the globals that have the symbols";
}

/* `a` is an element of the list of files that the function has in rdi, and *more bytes. */
static bool is_file(const struct eval *e, const struct sum *a, uint64_t *list, uint64_t *more)
{
	const struct sum_node *file = loaded(e, a, 8, more);
	struct sum first;

	if (!file || file->of.n != 1 || file->of.terms[0].factor != 1 || file->of.constant % 8)
		return false;
	first = sum_term(&file->of, 0);
	return sum_is_field(&e->nodes, &first, WIRE_REG_DI, 8, list);
}

static const char *read_files(struct places_miner *m, const struct eval *e)
{
	bool has_list = false, has_count = false, has_start = false;
	uint64_t list, at, more;

	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		for (int side = 0; side < 2; side++) {
			const struct sum *a = side ? &c->a : &c->b, *b = side ? &c->b : &c->a;
			const struct sum_node *start = loaded(e, a, 4, &more);

			if (start && !more && is_file(e, &start->of, &list, &at) &&
			    sum_is_argument(&e->nodes, b, WIRE_REG_SI, &more) && !more &&
			    (!agree(&m->l.files, &has_list, list) ||
			     !agree(&m->l.file_start, &has_start, at)))
				return "SourceMap::lookup_source_file_idx looks in several lists";
			if (sum_is_constant(b) && b->constant <= 1 &&
			    sum_is_field(&e->nodes, a, WIRE_REG_DI, 8, &at) &&
			    !agree(&m->l.n_files, &has_count, at))
				return "SourceMap::lookup_source_file_idx counts several lists";
		}
	}
	return has_list && has_count && has_start
		       ? NULL
		       : "SourceMap::lookup_source_file_idx compares no position with a file's";
}

static const char *read_file_name(struct places_miner *m, const struct eval *e)
{
	bool known = false;
	uint64_t list, at, more;

	for (uint32_t i = 0; i < e->n_calls; i++)
		if (sum_is_argument(&e->nodes, &e->calls[i].first, WIRE_REG_SI, &more) && !more &&
		    is_file(e, &e->calls[i].second, &list, &at) && list == m->l.files && at &&
		    !agree(&m->l.name, &known, at))
			return "SourceMap::get_source_file compares several names of a file";
	return known ? NULL : "SourceMap::get_source_file compares no name of a file";
}

static bool is_tested(const struct eval *e, uint64_t at)
{
	uint64_t found;

	for (uint32_t i = 0; i < e->compares.n; i++)
		if (sum_is_constant(&e->compares.items[i].b) && !e->compares.items[i].b.constant &&
		    sum_is_field(&e->nodes, &e->compares.items[i].a, WIRE_REG_SI, 8, &found) &&
		    found == at)
			return true;
	return false;
}

static bool is_freed(const struct eval *e, uint64_t at)
{
	uint64_t found;

	for (uint32_t i = 0; i < e->n_calls; i++)
		if (sum_is_field(&e->nodes, &e->calls[i].first, WIRE_REG_SI, 8, &found) &&
		    found == at)
			return true;
	return false;
}

/* The word of the name that is stored `at` bytes into the path, for the name that begins at `from`.
 */
static bool is_returned(const struct eval *e, uint64_t from, uint64_t at)
{
	uint64_t to, word;

	for (uint32_t i = 0; i < e->stores.n; i++)
		if (sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, &to) &&
		    to == at &&
		    sum_is_field(&e->nodes, &e->stores.items[i].b, WIRE_REG_SI, 8, &word) &&
		    word == from + at)
			return true;
	return false;
}

/* Of its three words one is the capacity, which is zero if there is nothing to free. */
static bool read_path(struct places_miner *m, const struct eval *e, uint64_t from)
{
	uint64_t text = 3, capacity = 3;

	for (uint64_t i = 0; i < 3; i++) {
		if (!is_returned(e, from, 8 * i))
			return false;
		if (is_freed(e, from + 8 * i))
			text = text == 3 ? i : 4;
		if (is_tested(e, from + 8 * i))
			capacity = capacity == 3 ? i : 4;
	}
	if (text > 2 || capacity > 2 || text == capacity)
		return false;
	m->l.name_capacity = m->l.name + (uint32_t)(from + 8 * capacity);
	m->l.name_length = m->l.name + (uint32_t)(from + 8 * (3 - text - capacity));
	m->l.name += (uint32_t)(from + 8 * text);
	return true;
}

/* The name that a file always has comes first: it holds what kind of name it is. */
static const char *read_local_path(struct places_miner *m, const struct eval *e)
{
	for (uint64_t from = 0; from < 256; from += 8)
		if (read_path(m, e, from))
			return NULL;
	return "FileName::into_local_path returns no path";
}

/* The lines are at hand if the word at `state` is `ready`. */
static const char *read_lines(struct places_miner *m, const struct eval *e)
{
	uint64_t lines, count, at;
	bool known = false;

	for (uint32_t i = 0; i < e->returns.n && !known; i++)
		known = sum_is_field(&e->nodes, &e->returns.items[i].a, WIRE_REG_DI, 8, &lines) &&
			sum_is_field(&e->nodes, &e->returns.items[i].b, WIRE_REG_DI, 8, &count) &&
			set_offset(&m->l.lines, lines) && set_offset(&m->l.n_lines, count);
	for (uint32_t i = 0; i < e->compares.n && known; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		if (sum_is_constant(&c->b) && sum_is_field(&e->nodes, &c->a, WIRE_REG_DI, 8, &at)) {
			m->l.ready = c->b.constant;
			return set_offset(&m->l.state, at) ? NULL : "SourceFile::lines";
		}
		/* 0 less the word overflows: it is the smallest number. */
		if (sum_is_constant(&c->a) && !c->a.constant &&
		    sum_is_field(&e->nodes, &c->b, WIRE_REG_DI, 8, &at)) {
			m->l.ready = 1ull << 63;
			return set_offset(&m->l.state, at) ? NULL : "SourceFile::lines";
		}
	}
	return "SourceFile::lines returns no lines that are at hand";
}

/* Where the last line ends: the file's start and length. */
static bool read_end(const struct eval *e, const struct sum *end, uint64_t at[2])
{
	uint64_t more;
	const struct sum_node *low = sum_node_of(&e->nodes, end, &more);
	struct sum terms[2];

	if (!low || more || low->kind != SUM_LOW || low->of.n != 2 || low->of.constant ||
	    low->of.terms[0].factor != 1 || low->of.terms[1].factor != 1)
		return false;
	for (int i = 0; i < 2; i++)
		terms[i] = sum_term(&low->of, (uint32_t)i);
	return sum_is_field(&e->nodes, &terms[0], WIRE_REG_DI, 4, &at[0]) &&
	       sum_is_field(&e->nodes, &terms[1], WIRE_REG_DI, 4, &at[1]);
}

/* The start of an empty file is where both its lines begin and end. */
static const char *read_line_bounds(struct places_miner *m, const struct eval *e)
{
	uint64_t start, again, end[2];
	bool has_start = false, has_end = false;

	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct eval_pair *r = &e->returns.items[i];

		if (sum_equal(&r->a, &r->b) &&
		    sum_is_field(&e->nodes, &r->a, WIRE_REG_DI, 4, &start))
			has_start = true;
		else if (read_end(e, &r->b, end))
			has_end = true;
	}
	if (!has_start || !has_end || (end[0] != start && end[1] != start))
		return "SourceFile::line_bounds returns no start and end of a file";
	again = m->l.file_start - start;
	if (again < 8 || again > 64 || again % 8)
		return "SourceFile::line_bounds reads the start of a file elsewhere";
	m->file_header = (uint32_t)again;
	return set_offset(&m->l.file_length, end[0] == start ? end[1] : end[0])
		       ? NULL
		       : "SourceFile::line_bounds";
}

/* In this order: each reads what those before it have found. */
static const struct {
	enum name_kind kind;
	const char *(*read)(struct places_miner *m, const struct eval *e);
	const char *missing;
} readers[] = {
	{NAME_SOURCE_MAP, read_source_map, "there is no source_map::get_source_map"},
	{NAME_FILE_INDEX, read_files, "there is no SourceMap::lookup_source_file_idx"},
	{NAME_FILE_BY_NAME, read_file_name, "there is no SourceMap::get_source_file"},
	{NAME_LOCAL_PATH, read_local_path, "there is no FileName::into_local_path"},
	{NAME_FILE_LINES, read_lines, "there is no SourceFile::lines"},
	{NAME_LINE_BOUNDS, read_line_bounds, "there is no SourceFile::line_bounds"},
};

static int mine_reader(struct places_miner *m, size_t reader, const char **problem)
{
	const struct wire_layout_places before = m->l;
	int tried = 0;

	*problem = readers[reader].missing;
	for (size_t i = 0; i < m->n && tried < COPIES_MAX && *problem; i++) {
		_free_ struct eval *e = NULL;
		int err;

		if (m->functions[i].kind != readers[reader].kind)
			continue;
		tried++;
		err = run(m, &m->functions[i], false, 0, &e);
		if (err)
			return err;
		m->l = before;
		*problem = readers[reader].read(m, e);
	}
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

/* The function that is handed the index, with an object that is a part of the globals. */
static bool read_index_call(const struct eval *e, uint64_t index, uint64_t *target, uint32_t *at)
{
	uint64_t more;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];

		if (c->target && sum_is_constant(&c->second) && c->second.constant == index &&
		    loaded(e, &c->first, 8, &more) && set_offset(at, more)) {
			*target = c->target;
			return true;
		}
	}
	return false;
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
static bool read_interned(struct places_miner *m, const struct eval *own, const struct eval *all)
{
	uint64_t target[2];
	uint32_t at[2];

	if (stored(own, POSITION) || stored(all, POSITION) || !stored(own, CONTEXT) ||
	    !read_index_call(own, POSITION, &target[0], &at[0]) ||
	    !read_index_call(all, POSITION, &target[1], &at[1]) || target[0] != target[1] ||
	    at[0] != at[1])
		return false;
	m->index = target[0];
	m->interner = at[0];
	return true;
}

static int mine_span_data(struct places_miner *m, const struct layout_function *f,
			  const char **problem)
{
	_free_ struct eval *own = NULL, *parent = NULL, *partly = NULL, *interned = NULL;
	int err = run(m, f, true, span(LENGTH, CONTEXT), &own)
			  ?: run(m, f, true, span(LENGTH | 0x8000, CONTEXT), &parent)
			  ?: run(m, f, true, span(0xffff, CONTEXT), &partly)
			  ?: run(m, f, true, span(0xffff, 0xffff), &interned);

	if (err)
		return err;
	if (!read_inline(m, own, parent))
		*problem = "Span::data_untracked unpacks spans in another way";
	else if (!read_interned(m, partly, interned))
		*problem = "Span::data_untracked finds interned spans in another way";
	else
		*problem = NULL;
	return 0;
}

/* first entry + number * size, and the number is compared with how many there are. */
static bool read_interner(struct places_miner *m, const struct eval *e)
{
	bool has_count = false;
	uint64_t at, more;

	for (uint32_t i = 0; i < e->compares.n && !has_count; i++)
		has_count =
			sum_is_argument(&e->nodes, &e->compares.items[i].a, WIRE_REG_SI, &more) &&
			!more &&
			sum_is_field(&e->nodes, &e->compares.items[i].b, WIRE_REG_DI, 8, &at) &&
			set_offset(&m->l.n_interned, m->interner + at);
	for (uint32_t i = 0; i < e->returns.n && has_count; i++) {
		const struct sum *a = &e->returns.items[i].a;

		for (uint32_t k = 0; a->n == 2 && k < 2; k++) {
			struct sum number = sum_term(a, 1 - k), first = sum_term(a, k);

			if (a->terms[k].factor != 1 || a->constant > 64 ||
			    !sum_is_argument(&e->nodes, &number, WIRE_REG_SI, &more) ||
			    !sum_is_field(&e->nodes, &first, WIRE_REG_DI, 8, &at) ||
			    !set_offset(&m->l.interned, m->interner + at) ||
			    !set_offset(&m->l.interned_size, a->terms[1 - k].factor))
				continue;
			m->l.position += (uint32_t)a->constant;
			m->l.context += (uint32_t)a->constant;
			return true;
		}
	}
	return false;
}

static int mine_interner(struct places_miner *m, const char **problem)
{
	const struct code_region region = {m->index, INDEX_CODE};
	const struct layout_function f = {.entry = m->index, .regions = &region, .n_regions = 1};
	_free_ struct eval *e = NULL;
	int err = run(m, &f, false, 0, &e);

	if (!err && !read_interner(m, e))
		*problem = "what finds an interned span returns no entry of a table";
	return err;
}

static bool is_source_span(const struct layout_function *f)
{
	return f->kind == NAME_PROVIDER && f->query_len == strlen("source_span") &&
	       !memcmp(f->query, "source_span", f->query_len);
}

static bool is_span_data(const struct layout_function *f)
{
	return f->kind == NAME_SPAN_DATA;
}

/* Of several functions of a kind any will do. */
static int mine_any(struct places_miner *m, bool (*is)(const struct layout_function *f),
		    int (*mine)(struct places_miner *, const struct layout_function *,
				const char **),
		    const char **problem)
{
	int err = 0, tried = 0;

	for (size_t i = 0; i < m->n && tried < COPIES_MAX && !err && *problem; i++) {
		if (!is(&m->functions[i]))
			continue;
		tried++;
		err = mine(m, &m->functions[i], problem);
	}
	return err;
}

/* What was found within a file is to be within its allocation. */
static void place_file(struct places_miner *m)
{
	struct wire_layout_places *l = &m->l;
	const uint32_t *fields[] = {&l->file_start,  &l->file_length,	&l->name,
				    &l->name_length, &l->name_capacity, &l->lines,
				    &l->n_lines,     &l->state};

	l->file_length += m->file_header;
	l->lines += m->file_header;
	l->n_lines += m->file_header;
	l->state += m->file_header;
	l->files += m->file_header;
	l->n_files += m->file_header;
	for (size_t i = 0; i < N_OF(fields); i++)
		if (*fields[i] + 8 > l->file_size)
			l->file_size = *fields[i] + 8;
}

int layout_mine_places(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_places *out,
		       const char **problem)
{
	struct places_miner m = {.img = img, .functions = functions, .n = n, .names = names};
	int err;

	*problem = "there is no provider of source_span";
	err = mine_any(&m, is_source_span, mine_spans, problem);
	for (size_t i = 0; i < N_OF(readers) && !err && !*problem; i++)
		err = mine_reader(&m, i, problem);
	if (!err && !*problem) {
		*problem = "there is no Span::data_untracked";
		err = mine_any(&m, is_span_data, mine_span_data, problem);
	}
	if (!err && !*problem)
		err = mine_interner(&m, problem);
	if (err || *problem)
		return err;
	place_file(&m);
	m.l.known = 1;
	*problem = plan_places_excess(&m.l);
	if (!*problem)
		*out = m.l;
	return 0;
}
