// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions and what each of them shows, as 1.95 and 1.97 have them:
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
 */
#include "plan/mine/layout_files.h"

#include <string.h>

#include "base/array.h"

static const char *read_source_map(struct places_miner *m, const struct eval *e)
{
	uint64_t more;

	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *map = places_loaded(e, &e->returns.items[i].a, 8, &more),
				      *word;

		if (!map || more)
			continue;
		word = places_loaded(e, &map->of, 8, &more);
		if (!word || !word->thread || !layout_offset(&m->l.source_map, more))
			continue;
		word = places_loaded(e, &word->of, 8, &more);
		if (word && !more && sum_is_constant(&word->of) &&
		    word->of.constant == m->names->globals)
			return NULL;
	}
	return "source_map::get_source_map returns no part of the globals that have the symbols";
}

/* `a` is an element of the list of files that the function has in rdi, and *more bytes. */
static bool is_file(const struct eval *e, const struct sum *a, uint64_t *list, uint64_t *more)
{
	const struct sum_node *file = places_loaded(e, a, 8, more);
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
			const struct sum_node *start = places_loaded(e, a, 4, &more);

			if (start && !more && is_file(e, &start->of, &list, &at) &&
			    sum_is_argument(&e->nodes, b, WIRE_REG_SI, &more) && !more &&
			    (!places_agree(&m->l.files, &has_list, list) ||
			     !places_agree(&m->l.file_start, &has_start, at)))
				return "SourceMap::lookup_source_file_idx looks in several lists";
			if (sum_is_constant(b) && b->constant <= 1 &&
			    sum_is_field(&e->nodes, a, WIRE_REG_DI, 8, &at) &&
			    !places_agree(&m->l.n_files, &has_count, at))
				return "SourceMap::lookup_source_file_idx counts several lists";
		}
	}
	return has_list && has_count && has_start
		       ? NULL
		       : "SourceMap::lookup_source_file_idx compares no position with a file's";
}

/*
 * Where the comparison was inlined, it first reads of what kind the name of a file is, which is at
 * the start of the name, and goes on by that: of a file nothing else is read but how often it is
 * referred to, which comes first.
 */
static bool reads_only_kind(struct places_miner *m, const struct eval *e)
{
	bool known = false;
	uint64_t list, at;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];

		if (node->kind == SUM_LOAD && !node->thread && is_file(e, &node->of, &list, &at) &&
		    list == m->l.files && at &&
		    (node->size != 8 || !places_agree(&m->l.name, &known, at)))
			return false;
	}
	return known;
}

static const char *read_file_name(struct places_miner *m, const struct eval *e)
{
	bool known = false;
	uint64_t list, at, more;

	for (uint32_t i = 0; i < e->n_calls; i++)
		if (sum_is_argument(&e->nodes, &e->calls[i].first, WIRE_REG_SI, &more) && !more &&
		    is_file(e, &e->calls[i].second, &list, &at) && list == m->l.files && at &&
		    !places_agree(&m->l.name, &known, at))
			return "SourceMap::get_source_file compares several names of a file";
	return known || reads_only_kind(m, e)
		       ? NULL
		       : "SourceMap::get_source_file compares no name of a file";
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
	uint64_t first, second, n = 0;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];

		if (!sum_is_field(&e->nodes, &c->first, WIRE_REG_SI, 8, &first) ||
		    !sum_is_field(&e->nodes, &c->second, WIRE_REG_SI, 8, &second) ||
		    first - from > 16 || second - from > 16)
			continue;
		*text = (first - from) / 8;
		*capacity = (second - from) / 8;
		n++;
	}
	return n == 1;
}

/* One of its three words is the capacity, which is zero if there is nothing to free. */
static bool read_words(const struct eval *e, uint64_t from, uint64_t *text, uint64_t *capacity)
{
	*text = *capacity = 3;
	for (uint64_t i = 0; i < 3; i++) {
		if (is_freed(e, from + 8 * i))
			*text = *text == 3 ? i : 4;
		if (is_tested(e, from + 8 * i))
			*capacity = *capacity == 3 ? i : 4;
	}
	return *text < 3 && *capacity < 3;
}

static bool read_path(struct places_miner *m, const struct eval *e, uint64_t from)
{
	uint64_t text, capacity;

	for (uint64_t i = 0; i < 3; i++)
		if (!is_returned(e, from, 8 * i))
			return false;
	if ((!read_words(e, from, &text, &capacity) && !read_freed(e, from, &text, &capacity)) ||
	    text == capacity)
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
			layout_offset(&m->l.lines, lines) && layout_offset(&m->l.n_lines, count);
	for (uint32_t i = 0; i < e->compares.n && known; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		if (sum_is_constant(&c->b) && sum_is_field(&e->nodes, &c->a, WIRE_REG_DI, 8, &at)) {
			m->l.ready = c->b.constant;
			return layout_offset(&m->l.state, at) ? NULL : "SourceFile::lines";
		}
		/* 0 less the word overflows: it is the smallest number. */
		if (sum_is_constant(&c->a) && !c->a.constant &&
		    sum_is_field(&e->nodes, &c->b, WIRE_REG_DI, 8, &at)) {
			m->l.ready = 1ull << 63;
			return layout_offset(&m->l.state, at) ? NULL : "SourceFile::lines";
		}
	}
	return "SourceFile::lines returns no lines that are at hand";
}

/* Where the last line ends: the file's start and length. */
static bool read_end(const struct eval *e, const struct sum *end, uint64_t at[2])
{
	uint64_t more, found[2];
	const struct sum_node *low = sum_node_of(&e->nodes, end, &more);
	struct sum terms[2];

	if (!low || more || low->kind != SUM_LOW || low->of.n != 2 || low->of.constant ||
	    low->of.terms[0].factor != 1 || low->of.terms[1].factor != 1)
		return false;
	for (int i = 0; i < 2; i++)
		terms[i] = sum_term(&low->of, (uint32_t)i);
	if (!sum_is_field(&e->nodes, &terms[0], WIRE_REG_DI, 4, &found[0]) ||
	    !sum_is_field(&e->nodes, &terms[1], WIRE_REG_DI, 4, &found[1]))
		return false;
	memcpy(at, found, sizeof(found));
	return true;
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
	return layout_offset(&m->l.file_length, end[0] == start ? end[1] : end[0])
		       ? NULL
		       : "SourceFile::line_bounds";
}

/* A file's name, of its variants the one that begins with a path, whose capacity is small. */
static const struct eval_given path_name = {.reg = WIRE_REG_SI, .size = 8};

/*
 * In this order: each reads what those before it have found. A second run follows calls, and is on
 * the name of a file, if that is an argument.
 */
static const struct {
	enum name_kind kind;
	const char *(*read)(struct places_miner *m, const struct eval *e);
	const char *missing;
	bool given;
} readers[] = {
	{NAME_SOURCE_MAP, read_source_map, "there is no source_map::get_source_map", false},
	{NAME_FILE_INDEX, read_files, "there is no SourceMap::lookup_source_file_idx", false},
	{NAME_FILE_BY_NAME, read_file_name, "there is no SourceMap::get_source_file", true},
	{NAME_LOCAL_PATH, read_local_path, "there is no FileName::into_local_path", false},
	{NAME_FILE_LINES, read_lines, "there is no SourceFile::lines", false},
	{NAME_LINE_BOUNDS, read_line_bounds, "there is no SourceFile::line_bounds", false},
};

static int read_function(struct places_miner *m, size_t reader, const struct layout_function *f,
			 bool follows, const char **problem)
{
	const struct wire_layout_places before = m->l;
	const struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.follows = follows,
		.given = &path_name,
		.n_given = follows && readers[reader].given,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (err)
		return err;
	*problem = readers[reader].read(m, e);
	if (*problem)
		m->l = before;
	return 0;
}

static int mine_reader(struct places_miner *m, size_t reader, const char **problem)
{
	int tried = 0, err = 0;

	*problem = readers[reader].missing;
	for (size_t i = 0; i < m->n && tried < PLACES_COPIES_MAX && *problem && !err; i++) {
		const struct layout_function *f = &m->functions[i];

		if (f->kind != readers[reader].kind)
			continue;
		tried++;
		err = read_function(m, reader, f, false, problem);
		if (!err && *problem)
			err = read_function(m, reader, f, true, problem);
	}
	return err;
}

/* Offsets were found within a file, and are needed within its allocation. */
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

int places_mine_files(struct places_miner *m, const char **problem)
{
	int err = 0;

	*problem = NULL;
	for (size_t i = 0; i < N_OF(readers) && !err && !*problem; i++)
		err = mine_reader(m, i, problem);
	if (!err && !*problem)
		place_file(m);
	return err;
}
