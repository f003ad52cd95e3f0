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
 *	source_map::get_source_map	mov  %fs:(%rax), %rax		the session's globals
 *					mov  MAP(%rax), %rax		an Arc
 *	SourceMap::lookup_source_file_idx
 *					mov  FILES(%rdi), %rcx		Arcs of files
 *					mov  FILES+8(%rdi), %rdx
 *					cmp  START(%rcx), %esi		position of its first byte
 *	SourceMap::get_source_file	lea  NAME(%r15), %rsi		given to FileName::eq
 *	FileName::into_local_path	mov  0x8(%rsi), %rcx		the name's text
 *					mov  0x10(%rsi), %rdx		its length
 *	SourceFile::lines		cmp  $-1, STATE(%rdi)		-1: the lines are at hand
 *					mov  LINES(%rdi), %rax		positions from the start
 *					mov  LINES+8(%rdi), %rdx
 *	SourceFile::line_bounds		add  LENGTH(%rdi), %edx		to START: where it ends
 *
 * Span::data_untracked hands the index of an interned span to a function. In 1.95 and 1.97 that is
 *
 *	IndexSet<SpanData>::index	cmp  0x10(%rdi), %rsi		how many spans are interned
 *					lea  (%rsi,%rsi,2), %rax	the size of one
 *					add  0x8(%rdi), %rax
 *
 * With less inlining (Debian's 1.96) it is ScopedKey<SessionGlobals>::with, which is given the key
 * and the address of the index:
 *
 *					mov  (%rsi), %rax
 *					call *(%rax)			finds the thread's globals
 *					mov  (%rax), %r15
 *					mov  (%rdx), %r12d
 *					cmp  %r12, SPANS+8(%r15)
 *					mov  SPANS(%r15), %rax
 *					lea  (%r12,%r12,2), %rcx
 *					movups (%rax,%rcx,8), %xmm0
 *					movups %xmm0, (%rdi)
 */
#include "plan/mine/layout.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/symbols/relocated.h"

/* Bytes that are read of the function that finds an interned span. */
#define INDEX_CODE 64

/* ---- Spans of definitions -------------------------------------------------------------------- */

/* The source_span provider's answer for one number. */
struct span_place {
	uint64_t bucket; /* within the GlobalCtxt: its address */
	uint64_t at;	 /* within the bucket */
	uint64_t count;	 /* within the GlobalCtxt: what the number is compared with */
};

static bool read_span_place(const struct eval *e, uint64_t number, struct span_place *out)
{
	struct letters l = {.known = 0};
	bool counted = false;

	if (shape__agreed(e, "return [[di+B]8+U]8, _", &l) <= 0)
		return false;
	out->bucket = letters__of(&l, 'B');
	out->at = letters__of(&l, 'U');
	letters__set(&l, 'Y', number);
	for (uint32_t i = 0; i < 2 * e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i / 2];
		struct letters count = l;

		/* The address of the bucket is compared with 0, too. */
		if (!shape__is(&e->nodes, i % 2 ? &c->a : &c->b, "Y", &count) ||
		    !shape__is(&e->nodes, i % 2 ? &c->b : &c->a, "[di+C]8", &count) ||
		    letters__of(&count, 'C') == out->bucket)
			continue;
		if (counted && out->count != letters__of(&count, 'C'))
			return false;
		out->count = letters__of(&count, 'C');
		counted = true;
	}
	return counted;
}

/* Distinctive: the first and last of buckets, under any of the ways to make them. */
static const uint64_t numbers[] = {0, 2, 3, 6, 7, 8, 14, 15, 62, 63, 1000, 65534, 1000000};

/* Bucket b holds the numbers from (first << step * b) - first on. */
static bool buckets_fit(const struct span_place *p, uint32_t first, uint32_t step)
{
	for (size_t i = 0; i < N_OF(numbers); i++) {
		uint64_t number = numbers[i] + first, slot;
		uint32_t bucket = 0;

		while (number >= (uint64_t)first << step * (bucket + 1))
			bucket++;
		slot = number - ((uint64_t)first << step * bucket);
		if (p[i].bucket != p[0].bucket + 8 * bucket || p[i].at != 8 * slot ||
		    p[i].count != p[0].count)
			return false;
	}
	return true;
}

static int mine_spans(struct layout_miner *m, const struct layout_function *f, const char **problem)
{
	static const uint32_t firsts[] = {1, 2, 4, 8, 16, WIRE_SPANS_IN_ONE};
	struct wire_layout_places *l = &m->l.wire.places;
	struct span_place places[N_OF(numbers)] = {0};

	*problem = "the provider of source_span shows no table of spans";
	for (size_t i = 0; i < N_OF(numbers); i++) {
		_free_ struct eval *e = NULL;
		int err = layout__run(m, f, &numbers[i], &e);

		if (err)
			return err;
		if (!read_span_place(e, numbers[i], &places[i]))
			return 0;
	}
	for (size_t i = 0; i < N_OF(firsts); i++)
		for (uint32_t step = 1; step <= 2; step++) {
			if (!buckets_fit(places, firsts[i], step))
				continue;
			l->spans = (uint32_t)places[0].bucket;
			l->n_spans = (uint32_t)places[0].count;
			l->first = firsts[i];
			l->step = step;
			*problem = NULL;
			return 0;
		}
	return 0;
}

/* ---- Source files ---------------------------------------------------------------------------- */

/* A file of the list that the function has in rdi; the list is at F. */
#define FILE_OF "[[di+F]8+?]8"

static const char *read_files(struct layout_miner *m, const struct eval *e,
			      const struct letters *list)
{
	struct letters l = *list;
	int with_0 = shape__agreed(e, "compare [di+C]8 = 0", &l);
	int with_1 = with_0 < 0 ? -1 : shape__agreed(e, "compare [di+C]8 = 1", &l);

	if (with_0 < 0 || with_1 < 0)
		return "SourceMap::lookup_source_file_idx counts several lists";
	if (!with_0 && !with_1)
		return "SourceMap::lookup_source_file_idx compares no position with a file's";
	m->l.wire.places.n_files = (uint32_t)letters__of(&l, 'C');
	return NULL;
}

/*
 * Where the comparison was inlined, it first reads of what kind the name of a file is, which is at
 * the start of the name, and goes on by that: of a file nothing else is read but how often it is
 * referred to, which comes first.
 */
static const char *read_file_name(struct layout_miner *m, const struct eval *e,
				  const struct letters *none)
{
	struct letters l = *none;
	int compared;

	letters__set(&l, 'F', m->l.wire.places.files);
	compared = shape__agreed(e, "call ?: si, " FILE_OF "+N", &l);
	if (compared < 0)
		return "SourceMap::get_source_file compares several names of a file";
	if (!compared && (shape__agreed(e, "node [" FILE_OF "+N]", &l) <= 0 ||
			  !shape__shown(e, "node [" FILE_OF "+N]8", &l)))
		return "SourceMap::get_source_file compares no name of a file";
	m->l.wire.places.name = (uint32_t)letters__of(&l, 'N');
	return NULL;
}

/* The word of the name that is stored `at` bytes into the path, for the name that begins at `from`.
 */
static bool is_returned(const struct eval *e, uint64_t from, uint64_t at)
{
	uint64_t to, word;

	/* 8 bytes, or 16 with another word in front or behind. */
	for (uint32_t i = 0; i < e->stores.n; i++)
		for (uint8_t size = 8; size <= 16; size += 8)
			if (sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, &to) &&
			    sum_is_field(&e->nodes, &e->stores.items[i].b, WIRE_REG_SI, size,
					 &word) &&
			    word == from + to && to <= at && at - to < size)
				return true;
	return false;
}

/* A text is freed, and with it as many bytes as its capacity: both are among the three words. */
static bool read_freed(const struct eval *e, uint64_t from, uint64_t *text, uint64_t *capacity)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		struct letters l = {.known = 0};
		uint64_t first, second;

		if (!shape__is(&e->nodes, &e->calls[i].first, "[si+A]8", &l) ||
		    !shape__is(&e->nodes, &e->calls[i].second, "[si+B]8", &l))
			continue;
		first = letters__of(&l, 'A') - from;
		second = letters__of(&l, 'B') - from;
		if (first > 16 || second > 16)
			continue;
		*text = first / 8;
		*capacity = second / 8;
		n++;
	}
	return n == 1;
}

/* One of its three words is the capacity, which is zero if there is nothing to free. */
static bool read_words(const struct eval *e, uint64_t from, uint64_t *text, uint64_t *capacity)
{
	*text = *capacity = 3;
	for (uint64_t i = 0; i < 3; i++) {
		struct letters l = {.known = 0};

		letters__set(&l, 'A', from + 8 * i);
		if (shape__shown(e, "call ?: [si+A]8", &l))
			*text = *text == 3 ? i : 4;
		if (shape__shown(e, "compare [si+A]8, 0", &l))
			*capacity = *capacity == 3 ? i : 4;
	}
	return *text < 3 && *capacity < 3;
}

static bool read_path(struct layout_miner *m, const struct eval *e, uint64_t from)
{
	struct wire_layout_places *places = &m->l.wire.places;
	uint64_t text, capacity;

	for (uint64_t i = 0; i < 3; i++)
		if (!is_returned(e, from, 8 * i))
			return false;
	if ((!read_words(e, from, &text, &capacity) && !read_freed(e, from, &text, &capacity)) ||
	    text == capacity)
		return false;
	places->name_capacity = places->name + (uint32_t)(from + 8 * capacity);
	places->name_length = places->name + (uint32_t)(from + 8 * (3 - text - capacity));
	places->name += (uint32_t)(from + 8 * text);
	return true;
}

/* The name that a file always has comes first: it holds what kind of name it is. */
static const char *read_local_path(struct layout_miner *m, const struct eval *e,
				   const struct letters *none)
{
	(void)none;
	for (uint64_t from = 0; from < 256; from += 8)
		if (read_path(m, e, from))
			return NULL;
	return "FileName::into_local_path returns no path";
}

/* The lines are at hand if the word at `state` is `ready`. */
static const char *read_state(struct layout_miner *m, const struct eval *e,
			      const struct letters *lines)
{
	struct wire_layout_places *places = &m->l.wire.places;

	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		struct letters l = *lines;

		/* 0 less the word overflows: it is the smallest number. */
		if (shape__is(&e->nodes, &c->a, "0", &l) &&
		    shape__is(&e->nodes, &c->b, "[di+C]8", &l))
			places->ready = 1ull << 63;
		else if (shape__is(&e->nodes, &c->a, "[di+C]8", &l) && sum_is_constant(&c->b))
			places->ready = c->b.constant;
		else
			continue;
		places->state = (uint32_t)letters__of(&l, 'C');
		return NULL;
	}
	return "SourceFile::lines returns no lines that are at hand";
}

/*
 * The start of an empty file is where both its lines begin and end. Where the last line of another
 * one ends: the file's start and length.
 */
static const char *read_line_bounds(struct layout_miner *m, const struct eval *e,
				    const struct letters *start)
{
	struct letters l = *start;
	uint64_t again = m->l.wire.places.file_start - letters__of(&l, 'A');

	if (!shape__shown(e, "return _, low([di+A]4+[di+B]4)", &l))
		return "SourceFile::line_bounds returns no start and end of a file";
	if (again < 8 || again > 64 || again % 8)
		return "SourceFile::line_bounds reads the start of a file elsewhere";
	m->file_header = (uint32_t)again;
	m->l.wire.places.file_length = (uint32_t)letters__of(&l, 'B');
	return NULL;
}

/* Offsets were found within a file, and are needed within its allocation. */
static void place_file(struct layout_miner *m)
{
	struct wire_layout_places *l = &m->l.wire.places;
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

/* A file's name, of its variants the one that begins with a path, whose capacity is small. */
static const struct eval_given path_name = {.reg = WIRE_REG_SI, .size = 8};

static int mine_files(struct layout_miner *m, const char **problem)
{
	static const struct layout_fact facts[] = {
		/* Of the globals that have the symbols. */
		{.kind = NAME_SOURCE_MAP,
		 .missing = "there is no source_map::get_source_map",
		 .follows = true,
		 .shape = "return [fs[[Z]8]8+A]8, _",
		 .unlike = "source_map::get_source_map returns no part of the globals that have "
			   "the symbols",
		 .fields = {LAYOUT_FIELD('A', wire.places.source_map)}},
		{.kind = NAME_FILE_INDEX,
		 .missing = "there is no SourceMap::lookup_source_file_idx",
		 .follows = true,
		 .shape = "compare [" FILE_OF "+A]4 = si",
		 .unlike = "SourceMap::lookup_source_file_idx compares no position with a file's",
		 .several = "SourceMap::lookup_source_file_idx looks in several lists",
		 .fields = {LAYOUT_FIELD('F', wire.places.files),
			    LAYOUT_FIELD('A', wire.places.file_start)},
		 .read = read_files},
		{.kind = NAME_FILE_BY_NAME,
		 .missing = "there is no SourceMap::get_source_file",
		 .follows = true,
		 .read = read_file_name,
		 .given = &path_name},
		{.kind = NAME_LOCAL_PATH,
		 .missing = "there is no FileName::into_local_path",
		 .follows = true,
		 .read = read_local_path},
		{.kind = NAME_FILE_LINES,
		 .missing = "there is no SourceFile::lines",
		 .follows = true,
		 .shape = "return [di+A]8, [di+B]8",
		 .unlike = "SourceFile::lines returns no lines that are at hand",
		 .fields = {LAYOUT_FIELD('A', wire.places.lines),
			    LAYOUT_FIELD('B', wire.places.n_lines)},
		 .read = read_state},
		{.kind = NAME_LINE_BOUNDS,
		 .missing = "there is no SourceFile::line_bounds",
		 .follows = true,
		 .shape = "return [di+A]4, [di+A]4",
		 .unlike = "SourceFile::line_bounds returns no start and end of a file",
		 .read = read_line_bounds},
	};
	int err = layout__mine_facts(m, facts, N_OF(facts), problem);

	if (!err && !*problem)
		place_file(m);
	return err;
}

/* ---- Interned spans -------------------------------------------------------------------------- */

/*
 * A function that is given the table, *at bytes within the globals, and the index returns: first
 * entry + number * size. The number is compared with how many there are.
 */
static int mine_index(struct layout_miner *m, uint64_t entry, uint32_t interner,
		      const char **problem)
{
	struct wire_layout_places *places = &m->l.wire.places;
	_free_ struct eval *e = NULL;
	struct letters l = {.known = 0};
	int err = layout__run_callee(m, entry, INDEX_CODE, 0, &e);

	if (err)
		return err;
	if (!shape__shown(e, "compare si, [di+A]8", &l) ||
	    !shape__shown(e, "return [di+B]8+C*si+D, _", &l) || letters__of(&l, 'D') > 64 ||
	    !layout_offset(&places->n_interned, interner + letters__of(&l, 'A')) ||
	    !layout_offset(&places->interned, interner + letters__of(&l, 'B'))) {
		*problem = "what finds an interned span returns no entry of a table";
		return 0;
	}
	places->interned_size = (uint32_t)letters__of(&l, 'C');
	places->position += (uint32_t)letters__of(&l, 'D');
	places->context += (uint32_t)letters__of(&l, 'D');
	return 0;
}

/* The function that is handed the key of the globals, K, and the address of the index. */
static uint64_t with_call(const struct eval *e, uint64_t index, uint64_t *key)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];
		struct letters l = {.known = 0};

		letters__set(&l, 'X', index);
		if (!c->target || !shape__is(&e->nodes, &c->second, "[U]8", &l) ||
		    !shape__is(&e->nodes, &c->half, "X", &l))
			continue;
		*key = letters__of(&l, 'U');
		return c->target;
	}
	return 0;
}

/* The key leads to a function that returns where the thread has the globals that have the symbols.
 */
static int is_of_globals(const struct layout_miner *m, uint64_t key, bool *is)
{
	uint64_t local = relocated__value(m->img, relocated__value(m->img, key));
	uint64_t getter = relocated__value(m->img, local);
	_free_ struct eval *e = NULL;
	struct letters l = {.known = 0};
	int err = layout__run_callee(m, getter, elf_image__size_of(m->img, getter), 0, &e);

	letters__set(&l, 'Z', m->l.wire.globals);
	*is = !err && shape__shown(e, "return fs[0]8+[Z]8, _", &l);
	return err;
}

/* A word of the globals, which the function of the key in rsi returned. */
#define FOUND(at) "[[by([si]8)]8+" at "]8"

/* The first 16 bytes of what it fills in are those of an entry. */
static int mine_with(struct layout_miner *m, uint64_t entry, uint64_t key, bool *found)
{
	struct wire_layout_places *places = &m->l.wire.places;
	_free_ struct eval *e = NULL;
	struct letters l = {.known = 0};
	bool is = false;
	int err = is_of_globals(m, key, &is)
			  ?: layout__run_callee(m, entry, elf_image__size_of(m->img, entry), 0, &e);

	*found = !err && is && shape__agreed(e, "compare " FOUND("A") " = [dx]4", &l) > 0 &&
		 shape__shown(e, "store di, [" FOUND("B") "+C*[dx]4+D]16", &l) &&
		 letters__of(&l, 'D') <= 64;
	if (!*found)
		return err;
	places->n_interned = (uint32_t)letters__of(&l, 'A');
	places->interned = (uint32_t)letters__of(&l, 'B');
	places->interned_size = (uint32_t)letters__of(&l, 'C');
	places->position += (uint32_t)letters__of(&l, 'D');
	places->context += (uint32_t)letters__of(&l, 'D');
	return 0;
}

/* Both kinds of spans are found by a function of their own, but in the same table. */
static int mine_both(struct layout_miner *m, const uint64_t targets[2], uint64_t key,
		     const char **problem)
{
	struct layout_miner other = *m;
	bool found[2] = {false};
	int err = mine_with(m, targets[0], key, &found[0])
			  ?: mine_with(&other, targets[1], key, &found[1]);
	const struct wire_layout_places *a = &m->l.wire.places, *b = &other.l.wire.places;

	if (!err && (!found[0] || !found[1] || a->interned != b->interned ||
		     a->n_interned != b->n_interned || a->interned_size != b->interned_size ||
		     a->position != b->position))
		*problem = "what finds an interned span fills in no entry of the globals' table";
	return err;
}

static int mine_interner(struct layout_miner *m, const struct eval *partly,
			 const struct eval *interned, uint64_t index, const char **problem)
{
	static const char handed[] = "call U: [_]8+A, X";
	uint64_t target[2], key[2];
	struct letters l = {.known = 0};

	*problem = NULL;
	letters__set(&l, 'X', index);
	if (shape__shown(partly, handed, &l) && shape__shown(interned, handed, &l))
		return mine_index(m, letters__of(&l, 'U'), (uint32_t)letters__of(&l, 'A'), problem);
	target[0] = with_call(partly, index, &key[0]);
	target[1] = with_call(interned, index, &key[1]);
	if (target[0] && target[1] && key[0] == key[1])
		return mine_both(m, target, key[0], problem);
	*problem = "Span::data_untracked finds interned spans in another way";
	return 0;
}

/* ---- How a span is packed -------------------------------------------------------------------- */

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
static bool read_inline(struct layout_miner *m, const struct eval *own, const struct eval *parent)
{
	uint64_t at = stored(own, POSITION), context = stored(own, CONTEXT);

	if (!is_single(at) || !is_single(context) || !is_single(stored(own, POSITION + LENGTH)) ||
	    stored(parent, POSITION) != at || !(stored(parent, 0) & context) ||
	    stored(parent, CONTEXT) & context)
		return false;
	m->l.wire.places.position = (uint32_t)__builtin_ctzll(at);
	m->l.wire.places.context = (uint32_t)__builtin_ctzll(context);
	return true;
}

/* A length of 0xffff: an index and a context; or with 0xffff the context is interned too. */
static int mine_span_data(struct layout_miner *m, const struct layout_function *f,
			  const char **problem)
{
	const struct plan_layout before = m->l;
	_free_ struct eval *own = NULL, *parent = NULL, *partly = NULL, *interned = NULL;
	const uint64_t spans[] = {span(LENGTH, CONTEXT), span(LENGTH | 0x8000, CONTEXT),
				  span(0xffff, CONTEXT), span(0xffff, 0xffff)};
	int err = layout__run(m, f, &spans[0], &own) ?: layout__run(m, f, &spans[1], &parent)
		  ?: layout__run(m, f, &spans[2], &partly) ?: layout__run(m, f, &spans[3], &interned);

	if (err)
		return err;
	if (!read_inline(m, own, parent))
		*problem = "Span::data_untracked unpacks spans in another way";
	else if (stored(partly, POSITION) || stored(interned, POSITION) || !stored(partly, CONTEXT))
		*problem = "Span::data_untracked finds interned spans in another way";
	else
		err = mine_interner(m, partly, interned, POSITION, problem);
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
static int mine_any(struct layout_miner *m, bool (*is)(const struct layout_function *f),
		    int (*mine)(struct layout_miner *, const struct layout_function *,
				const char **),
		    const char **problem)
{
	int err = 0, tried = 0;

	for (size_t i = 0; i < m->n && tried < LAYOUT_COPIES_MAX && !err && *problem; i++) {
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
	struct layout_miner m = {.img = img, .functions = functions, .n = n, .l = {.wire = *names}};
	int err;

	*problem = "there is no provider of source_span";
	err = mine_any(&m, is_source_span, mine_spans, problem);
	if (!err && !*problem)
		err = mine_files(&m, problem);
	if (!err && !*problem) {
		*problem = "there is no Span::data_untracked";
		err = mine_any(&m, is_span_data, mine_span_data, problem);
	}
	if (err || *problem)
		return err;
	m.l.wire.places.known = 1;
	*problem = plan_places_excess(&m.l.wire.places);
	if (!*problem)
		*out = m.l.wire.places;
	return 0;
}
