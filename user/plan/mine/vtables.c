// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/vtables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/recover/recovered.h"
#include "qprof/wire.h"

/* ---- Votes ----------------------------------------------------------------------------------- */

void votes__add(struct votes *v, uint32_t body, uint64_t value)
{
	uint32_t i = 0;

	while (i < v->n && v->items[i].value != value)
		i++;
	if (i == N_OF(v->items))
		return;
	if (i == v->n) {
		v->items[v->n++].value = value;
		v->items[i].n = 0;
	} else if (v->items[i].last == body) {
		return;
	}
	v->items[i].n++;
	v->items[i].last = body;
}

bool votes__decide(const struct votes *v, uint32_t least, uint64_t *value)
{
	uint32_t best = 0, next = 0;

	*value = 0;
	for (uint32_t i = 0; i < v->n; i++) {
		if (v->items[i].n > best) {
			next = best;
			best = v->items[i].n;
			*value = v->items[i].value;
		} else if (v->items[i].n > next) {
			next = v->items[i].n;
		}
	}
	return best && best >= least && best >= 3 * next;
}

/* The empty slots that an empty table leads to. */
#define GROUP 16
/* How far a query's vtable goes on behind its name, at most. */
#define BEHIND_NAME  1024
#define NAME_MAX_LEN 128
/* A VecCache has some forty words. */
#define VEC_MIN (16 * 8)
/* How far behind the name the places of tables are, at most. */
#define PLACE_MOST 64

struct reader {
	struct elf_image *img;
	const struct plan *plan;
	struct vtables *t;
	uint32_t *tables; /* places of empty tables */
	uint32_t n_tables, cap_tables;
};

static int compare_name(const void *key, const void *item)
{
	const struct plan_query *q = item;

	return strcmp(key, q->name);
}

uint32_t vtables__query(const struct plan *plan, const uint8_t *name, size_t n)
{
	const struct plan_query *q;
	char text[NAME_MAX_LEN + 1];

	if (n < 2 || n > NAME_MAX_LEN || memchr(name, 0, n))
		return VTABLE_NONE;
	memcpy(text, name, n);
	text[n] = '\0';
	q = bsearch(text, plan->queries, plan->n_queries, sizeof(*q), compare_name);
	return q ? (uint32_t)(q - plan->queries) : VTABLE_NONE;
}

static int find_names(struct reader *r)
{
	int err = 0;

	for (uint32_t at = 0; at + 16 <= STRAIGHT_RESULT && !err; at += 8) {
		struct vtable v = {.at = at,
				   .second = VTABLE_NONE,
				   .zeroes = VTABLE_NONE,
				   .once = VTABLE_NONE,
				   .fed_at = VTABLE_NONE};
		const uint8_t *name;
		uint64_t length;
		size_t room;

		if (r->t->n > r->plan->n_queries || !straight__word(r->t->run, at, &v.text) ||
		    !straight__word(r->t->run, at + 8, &length) || length > NAME_MAX_LEN)
			continue;
		name = elf_image__bytes(r->img, v.text, &room);
		if (!name || room < length)
			continue;
		v.query = vtables__query(r->plan, name, length);
		if (v.query != VTABLE_NONE)
			err = array__add(&r->t->items, &r->t->n, &r->t->capacity, &v);
	}
	return err;
}

static bool is_zero(const struct reader *r, uint32_t at, uint32_t n)
{
	for (uint64_t word; n >= 8; at += 8, n -= 8)
		if (!straight__word(r->t->run, at, &word) || word)
			return false;
	return true;
}

/* An empty table has no slots of its own: its first word leads to a constant. */
static bool is_table(const struct reader *r, uint32_t at)
{
	const uint8_t *group;
	uint64_t addr;
	size_t room;

	if (!straight__word(r->t->run, at, &addr) || !addr || !is_zero(r, at + 8, 3 * 8))
		return false;
	group = elf_image__bytes(r->img, addr, &room);
	if (!group || room < GROUP)
		return false;
	for (size_t i = 0; i < GROUP; i++)
		if (group[i] != 0xff)
			return false;
	return true;
}

static int find_tables(struct reader *r)
{
	uint32_t last = r->t->items[r->t->n - 1].at;
	int err = 0;

	for (uint32_t at = 0; at < last && !err; at += 8)
		if (is_table(r, at))
			err = array__add(&r->tables, &r->n_tables, &r->cap_tables, &at);
	r->t->table_size = VTABLE_NONE;
	for (uint32_t i = 1; i < r->n_tables; i++)
		if (r->tables[i] - r->tables[i - 1] < r->t->table_size)
			r->t->table_size = r->tables[i] - r->tables[i - 1];
	return err;
}

/* The tables between the name before and a vtable's own; what follows those is its head. */
static void read_head(struct reader *r, struct vtable *v, uint32_t from)
{
	uint32_t first = bisect(r->n_tables, i, r->tables[i] < from), n = 0;

	while (first + n < r->n_tables && r->tables[first + n] < v->at)
		n++;
	if (!n || n > 2) {
		v->problem = n ? "it has more tables than are known"
			       : "its table of active jobs was not found";
		v->state = v->at;
		return;
	}
	v->state = r->tables[first];
	if (n == 1)
		return;
	v->second = r->tables[first + 1];
	if (v->second == v->state + r->t->table_size) {
		v->kind = WIRE_CACHE_HASH;
	} else if (is_zero(r, v->state + r->t->table_size,
			   v->second - v->state - r->t->table_size)) {
		v->kind = WIRE_CACHE_DEF;
		v->zeroes = v->state + r->t->table_size;
	} else {
		v->problem = "something unknown is between its tables";
	}
}

/* What lies between the two tables of a DefIdCache is a VecCache: most are of this size. */
static bool find_vec_size(struct reader *r)
{
	struct votes sizes = {0};
	uint64_t size;

	for (uint32_t i = 0; i < r->t->n; i++)
		if (r->t->items[i].kind == WIRE_CACHE_DEF)
			votes__add(&sizes, i, r->t->items[i].second - r->t->items[i].zeroes);
	if (!votes__decide(&sizes, 2, &size) || size < VEC_MIN)
		return false;
	r->t->vec_size = (uint32_t)size;
	for (uint32_t i = 0; i < r->t->n; i++)
		if (r->t->items[i].kind == WIRE_CACHE_DEF &&
		    r->t->items[i].second - r->t->items[i].zeroes != size)
			r->t->items[i].problem = "the first part of its cache has another size";
	return true;
}

/* The VecCaches behind names that are all at one distance from them. */
static void find_vec_caches(struct reader *r)
{
	struct votes distances = {0};
	uint64_t by;

	for (uint32_t i = 0; i < r->t->n; i++) {
		const struct vtable *v = &r->t->items[i];
		uint32_t n = 0;

		if (v->problem || v->kind)
			continue;
		for (uint32_t at = v->at + 16; at < v->end; at += 8) {
			n = is_zero(r, at, 8) ? n + 8 : 0;
			if (n == r->t->vec_size)
				votes__add(&distances, i, at + 8 - n - v->at);
		}
	}
	if (!votes__decide(&distances, 2, &by))
		return;
	for (uint32_t i = 0; i < r->t->n; i++) {
		struct vtable *v = &r->t->items[i];

		if (v->problem || v->kind || v->at + by + r->t->vec_size > v->end ||
		    !is_zero(r, v->at + (uint32_t)by, r->t->vec_size))
			continue;
		v->kind = WIRE_CACHE_VEC;
		v->zeroes = v->at + (uint32_t)by;
	}
}

/*
 * A query without a key has one result. The state is the only number of its size that is the same
 * in the vtables of all these queries, wherever it is; the bodies show what it is compared with.
 */
static void find_single_caches(struct reader *r, uint32_t initial)
{
	for (uint32_t i = 0; i < r->t->n; i++) {
		struct vtable *v = &r->t->items[i];
		uint32_t n = 0;

		if (v->problem || v->kind)
			continue;
		for (uint32_t at = v->at + 16, value; at < v->end; at += 4) {
			if (!straight__bytes(r->t->run, at, &value, 4) || value != initial)
				continue;
			v->once = at;
			n++;
		}
		if (n == 1)
			v->kind = WIRE_CACHE_ONCE;
		else
			v->problem =
				n ? "several words could be its cache" : "its cache was not found";
	}
}

static bool key_fits(const struct plan_query *q, uint8_t kind)
{
	if (!q->key_type)
		return true;
	switch (kind) {
	case WIRE_CACHE_VEC:
		return q->key == WIRE_KEY_LOCAL || q->key == WIRE_KEY_CRATE;
	case WIRE_CACHE_DEF:
		return q->key == WIRE_KEY_DEF;
	case WIRE_CACHE_ONCE:
		return q->key == WIRE_KEY_UNIT;
	default:
		return q->key != WIRE_KEY_UNIT;
	}
}

/* std's Once that has not run; bodies show what it is afterwards. */
#define ONCE_INITIAL 3

static void read_tables_within(struct reader *r)
{
	struct vtables *t = r->t;

	for (uint32_t i = 0; i < t->n; i++)
		read_head(r, &t->items[i], i ? t->items[i - 1].at + 16 : 0);
	for (uint32_t i = 0; i < t->n; i++) {
		struct vtable *v = &t->items[i];
		uint32_t most = v->at + BEHIND_NAME;

		v->begin = v->state;
		v->end = i + 1 < t->n ? t->items[i + 1].state : most;
		v->end = v->end < most ? v->end : most;
	}
	if (!find_vec_size(r)) {
		t->problem = "the caches of definitions have no common size";
		return;
	}
	find_vec_caches(r);
	find_single_caches(r, ONCE_INITIAL);
}

/* ---- Vtables with places --------------------------------------------------------------------- */

/*
 * The words of all vtables at one distance from their names, sorted, if these are places: all
 * different, the first 0. *step is the distance between any two neighbours, or 0 if these differ.
 */
static bool are_places(const struct vtables *t, uint32_t distance, uint32_t *places, uint32_t *step)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t word;

		if (!straight__word(t->run, t->items[i].at + distance, &word) || word % 4 ||
		    word >= PLAN_LAYOUT_MAX)
			return false;
		places[i] = (uint32_t)word;
	}
	qsort(places, t->n, sizeof(*places), array__by_u32);
	*step = places[1];
	for (uint32_t i = 1; i < t->n; i++) {
		if (places[i] == places[i - 1])
			return false;
		if (places[i] - places[i - 1] != *step)
			*step = 0;
	}
	return !places[0];
}

/* What is at a place goes on to the next one. 0: it is the last. */
static uint32_t size_at(const struct vtables *t, const uint32_t *places, uint32_t place)
{
	uint32_t i = bisect(t->n, k, places[k] <= place);

	return i < t->n ? places[i] - place : 0;
}

static void read_place(const struct vtables *t, const uint32_t *caches, const struct plan_query *q,
		       struct vtable *v)
{
	uint64_t state = 0, cache = 0;
	uint32_t size;

	straight__word(t->run, v->at + t->state_word, &state);
	straight__word(t->run, v->at + t->cache_word, &cache);
	size = size_at(t, caches, (uint32_t)cache);
	/* The last one has no end, but only one kind of cache takes all sorts of keys. */
	if (!size && q->key_type && (q->key == WIRE_KEY_UNKNOWN || q->key == WIRE_KEY_MEMORY))
		size = t->table_size;
	v->state = (uint32_t)state;
	if (size == t->table_size) {
		v->kind = WIRE_CACHE_HASH;
		v->second = (uint32_t)cache;
	} else if (size == t->vec_size || size == t->vec_size + t->table_size) {
		v->kind = size == t->vec_size ? WIRE_CACHE_VEC : WIRE_CACHE_DEF;
		v->zeroes = (uint32_t)cache;
		v->second = v->kind == WIRE_CACHE_DEF ? v->zeroes + t->vec_size : VTABLE_NONE;
	} else if (size && q->key == WIRE_KEY_UNIT) {
		v->kind = WIRE_CACHE_ONCE;
		v->once = (uint32_t)cache;
	} else {
		v->problem = size ? "its cache is of no known size"
				  : "the size of the last cache is not known";
	}
}

/* Caches of keys that number definitions of one crate, or crates, are VecCaches, or tables. */
static bool find_vec_size_by_keys(struct reader *r, const uint32_t *caches)
{
	struct vtables *t = r->t;
	struct votes sizes = {0};
	uint64_t size, place;

	for (uint32_t i = 0; i < t->n; i++) {
		uint8_t key = r->plan->queries[t->items[i].query].key;
		uint32_t of;

		if ((key != WIRE_KEY_LOCAL && key != WIRE_KEY_CRATE) ||
		    !straight__word(t->run, t->items[i].at + t->cache_word, &place))
			continue;
		of = size_at(t, caches, (uint32_t)place);
		if (of != t->table_size)
			votes__add(&sizes, i, of);
	}
	if (!votes__decide(&sizes, 2, &size) || size < VEC_MIN)
		return false;
	t->vec_size = (uint32_t)size;
	return true;
}

static int read_places(struct reader *r)
{
	struct vtables *t = r->t;
	_free_ uint32_t *places = calloc(t->n, sizeof(*places));
	uint32_t step, n_states = 0, n_caches = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t by = 16; by <= PLACE_MOST; by += 8) {
		if (!are_places(t, by, places, &step))
			continue;
		n_states += step > 0;
		n_caches += !step;
		*(step ? &t->state_word : &t->cache_word) = by;
		t->table_size = step ?: t->table_size;
	}
	if (n_states != 1 || n_caches != 1 || t->table_size < (VTABLE_TABLE_WORDS + 1) * 8) {
		t->problem = "the vtables of queries have neither empty tables nor their places";
		return 0;
	}
	are_places(t, t->cache_word, places, &step);
	if (!find_vec_size_by_keys(r, places)) {
		t->problem = "the caches of definitions have no common size";
		return 0;
	}
	t->have_places = true;
	for (uint32_t i = 0; i < t->n; i++) {
		struct vtable *v = &t->items[i];

		/* All names are as far from the beginnings of their vtables. */
		v->begin = v->at - t->items[0].at;
		v->end = i + 1 < t->n ? t->items[i + 1].at - t->items[0].at : v->at + BEHIND_NAME;
		read_place(t, places, &r->plan->queries[v->query], v);
	}
	return 0;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int vtables__read(struct elf_image *img, const struct bounds *bounds, const struct plan *plan,
		  struct vtables *out)
{
	struct reader r = {.img = img, .plan = plan, .t = out};
	struct address_counts counts;
	uint32_t best = 0;
	int err = addresses__count(img, bounds, &counts);

	if (!err && !counts.n)
		err = -ENODATA;
	/* What BOLT leaves where it was comes first, and has the addresses of other such functions.
	 */
	while (!err && best + 1 < counts.n && counts.items[best + 1].count == counts.items[0].count)
		best++;
	err = err ?: straight__run(img, counts.items[best].function, 0, &out->run);
	if (err == -ENOTSUP || err == -ENODATA) {
		out->problem = "the function that makes the vtables of queries was not found";
		return 0;
	}
	err = err ?: find_names(&r);
	if (!err && out->n < 2)
		out->problem = "the vtables of queries are not in one table";
	if (err || out->problem)
		return err;
	err = find_tables(&r);
	if (!err && r.n_tables >= 2 && out->table_size >= (VTABLE_TABLE_WORDS + 1) * 8)
		read_tables_within(&r);
	else if (!err)
		err = read_places(&r);
	free(r.tables);
	for (uint32_t i = 0; i < out->n && !err && !out->problem; i++) {
		struct vtable *v = &out->items[i];

		if (!v->problem && !key_fits(&plan->queries[v->query], v->kind))
			v->problem = "its key is not one that such a cache has";
	}
	return err;
}

void vtables__destroy(struct vtables *t)
{
	straight__free(t->run);
	free(t->items);
}

/* ---- Keys of a VecCache ---------------------------------------------------------------------- */

/* Instructions from the count to the store of the key. */
#define NEAR	 32
#define MARK_MAX 16

static bool has_lea(const struct code *code, int64_t disp)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].shape == CODE_LEA && code->insns[i].base < CODE_REG_SP &&
		    code->insns[i].disp == disp)
			return true;
	return false;
}

static bool has_number(const struct code *code, enum code_shape shape, uint32_t number)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].shape == shape && code->insns[i].imm == number)
			return true;
	return false;
}

/* The key with the mark. */
static bool is_marked(const struct code_insn *insn, uint64_t *mark)
{
	uint64_t by = insn->shape == CODE_LEA	    ? (uint64_t)insn->disp
		      : insn->shape == CODE_ADD_IMM ? insn->imm
						    : 0;

	if (!by || by > MARK_MAX)
		return false;
	*mark = by;
	return true;
}

void vec_keys__see(struct vec_keys *v, const struct code *code, size_t i, int64_t at, uint32_t size,
		   uint32_t body)
{
	uint64_t buckets = 0, mark = 0;
	uint8_t key = CODE_REG_OTHER;
	bool stored = false;

	for (uint32_t left = NEAR; left && ++i < code->n && !stored; left--) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JMP) {
			/* Go on at the target, if that is farther on. */
			while (i + 1 < code->n && code->insns[i + 1].addr != insn->target)
				i++;
		} else if (!code_insn__goes_on(insn) || insn->flow == CODE_CALL)
			return;
		else if (insn->shape == CODE_LOAD_ITEM && insn->imm == 8 && insn->disp > at &&
			 insn->disp + 8 <= at + size)
			buckets = (uint64_t)(insn->disp - at);
		else if (insn->shape == CODE_STORE_ITEM && insn->imm == 4)
			stored = mark && insn->reg == key;
		else if (buckets && is_marked(insn, &mark))
			key = insn->reg;
	}
	if (!stored)
		return;
	votes__add(&v->buckets, body, buckets);
	votes__add(&v->mark, body, mark);
	/*
	 * The first bucket has 2^n numbers, if 2^n, of which the logarithm is n, is the first
	 * number of bucket 1.
	 */
	for (uint32_t n = 2; n < 32; n++) {
		bool by_number = has_number(code, CODE_CMP_IMM, 1u << n),
		     by_logarithm = has_number(code, CODE_CMP_IMM, n) &&
				    has_number(code, CODE_SET, 1u << n);

		if ((by_number || by_logarithm) && has_lea(code, 1 - (int64_t)n))
			votes__add(&v->first, body, 1u << n);
	}
}

void vec_keys__decide(const struct vec_keys *v, uint32_t bodies, struct wire_tables *out)
{
	uint64_t first, buckets, mark;

	if (!votes__decide(&v->first, bodies / 8, &first) ||
	    !votes__decide(&v->buckets, bodies / 8, &buckets) ||
	    !votes__decide(&v->mark, bodies / 8, &mark) || first > WIRE_VEC_FIRST_MAX ||
	    first % WIRE_KEYS_MAX)
		return;
	out->buckets = (uint32_t)buckets;
	out->first = (uint32_t)first;
	out->mark = (uint32_t)mark;
}

/* ---- Keys of a DefaultCache ------------------------------------------------------------------ */

#define TEXT_SIZE   16
#define NUMBER_SIZE 4

/* Of the key: argument `argument`, or what it leads to. */
static bool is_of_key(const struct run_value *v, uint64_t argument, int64_t *at)
{
	*at = v->origin == ORIGIN_KEY ? (int64_t)(v->at % BODY_RUN_FAR) : 0;
	return (v->origin == ORIGIN_KEY && v->at / BODY_RUN_FAR == argument) ||
	       (v->origin == ORIGIN_ARGUMENT && v->at == argument);
}

static bool is_apart(const struct run_access *a, int64_t from, int64_t end)
{
	return a->at + a->size <= from || a->at >= end;
}

/*
 * Where a result is that is a text, its address and its length, which are moved at once: apart from
 * all that is of the key, and beside the number of the result's node.
 */
static bool find_text(const struct body_run *r, int64_t size, uint64_t key, uint32_t *at)
{
	int64_t begin = 0, end = -size, text = 0, unused;
	bool has_number = false;

	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (!is_of_key(&a->value, key, &unused))
			continue;
		begin = a->at < begin ? a->at : begin;
		end = a->at + a->size > end ? a->at + a->size : end;
	}
	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->size != TEXT_SIZE || !is_apart(a, begin, end))
			continue;
		if (text && text != a->at)
			return false;
		text = a->at;
	}
	for (uint32_t i = 0; i < r->n_accesses && text; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->size != NUMBER_SIZE || !is_apart(a, begin, end))
			continue;
		if (!is_apart(a, text, text + TEXT_SIZE))
			return false;
		has_number |= a->at == text + TEXT_SIZE || a->at == text - 8;
	}
	if (has_number)
		*at = (uint32_t)(text + size);
	return has_number;
}

static const char *find_keys(const struct body_run *r, uint64_t key, struct hash_keys *out)
{
	int64_t size = r->n_accesses ? -r->accesses[0].times : 0, at = -1, within;

	if (!size)
		return "its body does not show how large an entry of its cache is";
	for (uint32_t i = 0; i < r->n_accesses; i++) {
		const struct run_access *a = &r->accesses[i];

		if (a->times != -size || a->at < -size || a->at + a->size > 0)
			return "its body contradicts itself on how large an entry of its cache is";
		if (!is_of_key(&a->value, key, &within))
			continue;
		within = a->at + size - within;
		if (within < 0 || (at >= 0 && within != at))
			return "its body contradicts itself on where its cache has the key";
		at = within;
	}
	if (at < 0)
		return "its body does not show where its cache has the key";
	if (size > WIRE_ENTRY_MAX)
		return "an entry of its cache is larger than a reading has room for";
	*out = (struct hash_keys){.size = (uint32_t)size, .key = (uint32_t)at};
	out->has_text = find_text(r, size, key, &out->text);
	return NULL;
}

/*
 * A body's arguments are the vtable, the context, a span and the key. Before them may be where its
 * result goes.
 */
int hash_keys__mine(const struct elf_image *img, uint64_t entry, const struct body_run_table *table,
		    struct hash_keys *out, const char **problem)
{
	struct body_run_table at = *table;

	*problem = "its body does not show which argument is the key";
	for (at.argument = 0; at.argument < 2; at.argument++) {
		_body_run_ struct body_run *r = NULL;
		int err = body_run__new(img, entry, 0, &at, &r);

		if (err)
			return err;
		if (r->context_argument != at.argument + 1)
			continue;
		*problem = find_keys(r, at.argument + 3, out);
		return 0;
	}
	return 0;
}
