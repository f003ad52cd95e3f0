// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A vtable, as the function that makes it leaves it behind in 1.95 and 1.97:
 *
 *	state	empty table of active jobs: the address of a group of empty slots, three words of 0
 *	cache	DefIdCache: zeroes, and a table; DefaultCache: a table; else it is behind the name
 *	name	address and length
 *	...	functions; VecCache: zeroes; SingleCache: a state that says that there is nothing
 *
 * and in the code of wrappers and bodies, whose argument is the address of the state:
 *
 *	wrapper		lea  VTABLE(tcx), %rsi
 *	body		movzbl MODE(%rsi), %eax; cmp $SHARDED, %al
 *			mov  SHARDS(%r14), %rcx; and $N-1, %edx; shl $LOG, %edx
 *			cmpq $0, LEFT(%r12)		is there room for another entry
 *			decq ITEMS(%r12)		the other word that is changed in place; or
 *			movdqu LEFT(%r12), %xmm1; psubq %xmm0, %xmm1; movdqu %xmm1, LEFT(%r12)
 *			cmpb $0, FED(%r14)
 *			lock xadd %rax, COUNT(%r14)	in a VecCache
 *			mov  CACHE(%r14), %eax; test %eax, %eax		in a SingleCache
 */
#include "plan/mine/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/straight.h"
#include "plan/recover/addresses.h"
#include "plan/symbols/bounds.h"

#define NONE UINT32_MAX
/* Words of a table before its lock. */
#define TABLE_WORDS 4
/* The empty slots that an empty table leads to. */
#define GROUP 16
/* How far a query's vtable goes on behind its name, at most. */
#define BEHIND_NAME  1024
#define NAME_MAX_LEN 128
/* A VecCache has some forty words. */
#define VEC_MIN (16 * 8)

/* A query's vtable, in the struct that the run fills in. */
struct vtable {
	uint32_t query;		/* of the plan's */
	uint32_t at;		/* of its name */
	uint32_t end;		/* where the next one begins */
	uint32_t state, second; /* tables before the name; or NONE */
	uint32_t zeroes;	/* where a VecCache is, or NONE */
	uint32_t once;		/* where a SingleCache is, or NONE */
	uint64_t text;
	uint8_t kind; /* enum wire_cache */
	uint8_t fed;
	const char *problem;
};

/* What bodies say about one number: each that says anything has one voice per value. */
struct votes {
	struct {
		uint64_t value;
		uint32_t n;
		uint32_t last; /* body */
	} items[32];
	uint32_t n;
};

struct miner {
	struct elf_image *img;
	struct code_decoder *decoder;
	const struct layout_function *functions;
	size_t n_functions;
	struct plan *plan;
	struct straight *run;
	struct vtable *vtables; /* by place */
	uint32_t n, capacity;
	uint32_t *tables; /* places of empty tables */
	uint32_t n_tables, cap_tables;
	uint32_t table_size, vec_size;
	struct code code;
	const char *problem;
};

static void miner__destroy(struct miner *m)
{
	straight__free(m->run);
	free(m->vtables);
	free(m->tables);
	code__free(&m->code);
}

/* ---- Votes ----------------------------------------------------------------------------------- */

static void votes__add(struct votes *v, uint32_t body, uint64_t value)
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

/* The value that at least `least` bodies have, and three times as many as any other. */
static bool votes__decide(const struct votes *v, uint32_t least, uint64_t *value)
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

/* ---- The run --------------------------------------------------------------------------------- */

static int compare_name(const void *key, const void *item)
{
	const struct plan_query *q = item;

	return strcmp(key, q->name);
}

/* The plan's query whose name is `n` bytes at an address of the library, or NONE. */
static uint32_t query_named(const struct miner *m, uint64_t addr, uint64_t n)
{
	const struct plan *plan = m->plan;
	const struct plan_query *q;
	char name[NAME_MAX_LEN + 1];
	const uint8_t *text;
	size_t room;

	if (n < 2 || n > NAME_MAX_LEN)
		return NONE;
	text = elf_image__bytes(m->img, addr, &room);
	if (!text || room < n || memchr(text, 0, n))
		return NONE;
	memcpy(name, text, n);
	name[n] = '\0';
	q = bsearch(name, plan->queries, plan->n_queries, sizeof(*q), compare_name);
	return q ? (uint32_t)(q - plan->queries) : NONE;
}

static int find_names(struct miner *m)
{
	int err = 0;

	for (uint32_t at = 0; at + 16 <= STRAIGHT_RESULT && !err; at += 8) {
		struct vtable v = {.at = at, .second = NONE, .zeroes = NONE, .once = NONE};
		uint64_t length;

		if (m->n > m->plan->n_queries || !straight__word(m->run, at, &v.text) ||
		    !straight__word(m->run, at + 8, &length))
			continue;
		v.query = query_named(m, v.text, length);
		if (v.query != NONE)
			err = array__add(&m->vtables, &m->n, &m->capacity, &v);
	}
	return err;
}

static bool is_zero(const struct miner *m, uint32_t at, uint32_t n)
{
	for (uint64_t word; n >= 8; at += 8, n -= 8)
		if (!straight__word(m->run, at, &word) || word)
			return false;
	return true;
}

/* An empty table has no slots of its own: its first word leads to a constant. */
static bool is_table(const struct miner *m, uint32_t at)
{
	const uint8_t *group;
	uint64_t addr;
	size_t room;

	if (!straight__word(m->run, at, &addr) || !addr || !is_zero(m, at + 8, 3 * 8))
		return false;
	group = elf_image__bytes(m->img, addr, &room);
	if (!group || room < GROUP)
		return false;
	for (size_t i = 0; i < GROUP; i++)
		if (group[i] != 0xff)
			return false;
	return true;
}

static int find_tables(struct miner *m)
{
	uint32_t last = m->vtables[m->n - 1].at;
	int err = 0;

	for (uint32_t at = 0; at < last && !err; at += 8)
		if (is_table(m, at))
			err = array__add(&m->tables, &m->n_tables, &m->cap_tables, &at);
	m->table_size = NONE;
	for (uint32_t i = 1; i < m->n_tables; i++)
		if (m->tables[i] - m->tables[i - 1] < m->table_size)
			m->table_size = m->tables[i] - m->tables[i - 1];
	return err;
}

/* The tables between the name before and a vtable's own; what follows those is its head. */
static void read_head(struct miner *m, struct vtable *v, uint32_t from)
{
	uint32_t first = bisect(m->n_tables, i, m->tables[i] < from), n = 0;

	while (first + n < m->n_tables && m->tables[first + n] < v->at)
		n++;
	if (!n || n > 2) {
		v->problem = n ? "it has more tables than are known"
			       : "its table of active jobs was not found";
		v->state = v->at;
		return;
	}
	v->state = m->tables[first];
	if (n == 1)
		return;
	v->second = m->tables[first + 1];
	if (v->second == v->state + m->table_size) {
		v->kind = WIRE_CACHE_HASH;
	} else if (is_zero(m, v->state + m->table_size, v->second - v->state - m->table_size)) {
		v->kind = WIRE_CACHE_DEF;
		v->zeroes = v->state + m->table_size;
	} else {
		v->problem = "something unknown is between its tables";
	}
}

/* What lies between the two tables of a DefIdCache is a VecCache: most are of this size. */
static bool find_vec_size(struct miner *m)
{
	struct votes sizes = {0};
	uint64_t size;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->vtables[i].kind == WIRE_CACHE_DEF)
			votes__add(&sizes, i, m->vtables[i].second - m->vtables[i].zeroes);
	if (!votes__decide(&sizes, 2, &size) || size < VEC_MIN)
		return false;
	m->vec_size = (uint32_t)size;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->vtables[i].kind == WIRE_CACHE_DEF &&
		    m->vtables[i].second - m->vtables[i].zeroes != size)
			m->vtables[i].problem = "the first part of its cache has another size";
	return true;
}

/* The VecCaches behind names that are all at one distance from them. */
static void find_vec_caches(struct miner *m)
{
	struct votes distances = {0};
	uint64_t by;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct vtable *v = &m->vtables[i];
		uint32_t n = 0;

		if (v->problem || v->kind)
			continue;
		for (uint32_t at = v->at + 16; at < v->end; at += 8) {
			n = is_zero(m, at, 8) ? n + 8 : 0;
			if (n == m->vec_size)
				votes__add(&distances, i, at + 8 - n - v->at);
		}
	}
	if (!votes__decide(&distances, 2, &by))
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		struct vtable *v = &m->vtables[i];

		if (v->problem || v->kind || v->at + by + m->vec_size > v->end ||
		    !is_zero(m, v->at + (uint32_t)by, m->vec_size))
			continue;
		v->kind = WIRE_CACHE_VEC;
		v->zeroes = v->at + (uint32_t)by;
	}
}

/*
 * A query without a key has one result. The state is the only number of its size that is the same
 * in the vtables of all these queries, wherever it is; the bodies show what it is compared with.
 */
static void find_single_caches(struct miner *m, uint32_t initial)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct vtable *v = &m->vtables[i];
		uint32_t n = 0;

		if (v->problem || v->kind)
			continue;
		for (uint32_t at = v->at + 16, value; at < v->end; at += 4) {
			if (!straight__bytes(m->run, at, &value, 4) || value != initial)
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

static void check_kinds(struct miner *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct vtable *v = &m->vtables[i];

		if (!v->problem && !key_fits(&m->plan->queries[v->query], v->kind))
			v->problem = "its key is not one that such a cache has";
	}
}

/* std's Once that has not run; find_once() finds out what it is afterwards. */
#define ONCE_INITIAL 3

static int read_run(struct miner *m)
{
	_bounds_ struct bounds bounds;
	struct address_counts counts;
	int err = bounds__find(m->img, &bounds) ?: addresses__count(m->img, &bounds, &counts);

	if (!err && !counts.n)
		err = -ENODATA;
	err = err ?: straight__run(m->img, counts.items[0].function, 0, &m->run);
	if (err == -ENOTSUP || err == -ENODATA) {
		m->problem = "the function that makes the vtables of queries was not found";
		return 0;
	}
	err = err ?: find_names(m);
	if (!err && m->n < 2)
		m->problem = "the vtables of queries are not in one table";
	if (err || m->problem)
		return err;
	err = find_tables(m);
	if (err)
		return err;
	if (m->n_tables < 2 || m->table_size < (TABLE_WORDS + 1) * 8) {
		m->problem = "the vtables of queries have no empty tables";
		return 0;
	}
	for (uint32_t i = 0; i < m->n; i++)
		read_head(m, &m->vtables[i], i ? m->vtables[i - 1].at + 16 : 0);
	for (uint32_t i = 0; i < m->n; i++) {
		struct vtable *v = &m->vtables[i];
		uint32_t most = v->at + BEHIND_NAME;

		v->end = i + 1 < m->n ? m->vtables[i + 1].state : most;
		v->end = v->end < most ? v->end : most;
	}
	if (!find_vec_size(m)) {
		m->problem = "the caches of definitions have no common size";
		return 0;
	}
	find_vec_caches(m);
	find_single_caches(m, ONCE_INITIAL);
	check_kinds(m);
	return 0;
}

/* ---- Code ------------------------------------------------------------------------------------ */

static bool is_wrapper(const struct layout_function *f)
{
	return f->kind == NAME_WRAPPER_NON_INCR || f->kind == NAME_WRAPPER_INCR;
}

static const struct vtable *vtable_of(const struct miner *m, uint32_t query)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->vtables[i].query == query)
			return &m->vtables[i];
	return NULL;
}

/* Where the vtable would be, less where it is in the run, for each address that a wrapper takes. */
static int wrapper_bases(struct miner *m, const struct layout_function *f, uint32_t **bases,
			 uint32_t *n, uint32_t *capacity)
{
	const struct plan_query *q = NULL;
	const struct vtable *v;
	char name[NAME_MAX_LEN + 1];
	uint32_t from = *n;
	int err;

	if (f->query_len > NAME_MAX_LEN)
		return 0;
	memcpy(name, f->query, f->query_len);
	name[f->query_len] = '\0';
	q = bsearch(name, m->plan->queries, m->plan->n_queries, sizeof(*q), compare_name);
	v = q ? vtable_of(m, (uint32_t)(q - m->plan->queries)) : NULL;
	if (!v || v->problem)
		return 0;
	err = code_decoder__decode(m->decoder, f->regions, f->n_regions, &m->code);
	if (err)
		return err == -EFAULT ? 0 : err;
	for (size_t i = 0; i < m->code.n && !err; i++) {
		const struct code_insn *insn = &m->code.insns[i];
		int64_t base = insn->disp - v->state;
		bool seen = false;

		if (insn->shape != CODE_LEA || insn->base >= CODE_REG_SP || base < 0 ||
		    base >= PLAN_LAYOUT_MAX)
			continue;
		for (uint32_t k = from; k < *n; k++)
			seen = seen || (*bases)[k] == (uint32_t)base;
		if (!seen) {
			uint32_t value = (uint32_t)base;

			err = array__add(bases, n, capacity, &value);
		}
	}
	return err;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* All wrappers that take the address of a vtable have one base in common. */
static int find_base(struct miner *m, uint32_t *base)
{
	_free_ uint32_t *bases = NULL;
	uint32_t n = 0, capacity = 0, best = 0, wrappers = 0;
	int err = 0;

	for (size_t i = 0; i < m->n_functions && !err; i++) {
		uint32_t before = n;

		if (!is_wrapper(&m->functions[i]))
			continue;
		err = wrapper_bases(m, &m->functions[i], &bases, &n, &capacity);
		wrappers += n > before;
	}
	if (err)
		return err;
	if (n)
		qsort(bases, n, sizeof(*bases), compare_u32);
	for (uint32_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && bases[j] == bases[i];)
			j++;
		if (j - i > best) {
			best = j - i;
			*base = bases[i];
		}
	}
	/* The few that have others call a body that was inlined. */
	if (best < 2 || best < wrappers - wrappers / 8)
		m->problem = "the wrappers of queries do not agree on where the vtables are";
	return 0;
}

/* What the bodies of queries have shown. */
struct evidence {
	struct votes left, changed, mode, shards, count, once;
	uint32_t bodies, vecs, singles;
};

/* A word that is added to or subtracted from, alone or with the one behind it. */
static void see_change(const struct miner *m, size_t i, uint32_t body, struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];
	bool pair = insn->shape == CODE_LOAD128;
	bool changes = insn->shape == CODE_OTHER && insn->stores == 8;

	if (insn->disp < 8 || insn->disp % 8 || insn->disp + (pair ? 16 : 8) > TABLE_WORDS * 8)
		return;
	for (size_t k = i + 1; pair && !changes && k < m->code.n && k < i + 6; k++)
		changes = m->code.insns[k].stores == 16 && m->code.insns[k].base == insn->base &&
			  m->code.insns[k].disp == insn->disp;
	if (!changes)
		return;
	votes__add(&e->changed, body, (uint64_t)insn->disp);
	if (pair)
		votes__add(&e->changed, body, (uint64_t)insn->disp + 8);
}

/* The byte says whether it has shards: it is read, and compared at once. */
static void see_mode(const struct miner *m, size_t i, uint32_t body, struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];

	if (insn->shape != CODE_LOAD8 || insn->base >= CODE_REG_SP || insn->disp < 8 ||
	    insn->disp >= m->table_size)
		return;
	for (size_t k = i + 1; k < m->code.n && k < i + 3; k++) {
		const struct code_insn *next = &m->code.insns[k];

		if (next->shape == CODE_CMP_IMM && next->reg == insn->reg && next->imm > 1 &&
		    next->imm < 256)
			votes__add(&e->mode, body, (uint64_t)insn->disp << 32 | next->imm);
	}
}

/* The number of a shard is taken from the hash, and multiplied by its size. */
static void see_shards(const struct miner *m, size_t i, uint32_t body, struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];
	uint32_t n = insn->imm + 1;
	int64_t at = -1;

	if (insn->shape != CODE_AND_IMM || n < 2 || n > WIRE_SHARDS_MAX || n & (n - 1))
		return;
	for (size_t k = i; k-- && i - k < 6;)
		if (m->code.insns[k].shape == CODE_LOAD64 && at < 0 &&
		    m->code.insns[k].base < CODE_REG_SP)
			at = m->code.insns[k].disp;
	for (size_t k = i + 1; k < m->code.n && k < i + 3; k++) {
		const struct code_insn *next = &m->code.insns[k];

		if (next->shape == CODE_SHL_IMM && next->reg == insn->reg && next->imm < 16 &&
		    1u << next->imm <= WIRE_SHARD_SIZE_MAX && at >= 0 && at < m->table_size)
			votes__add(&e->shards, body,
				   (uint64_t)at << 32 | n << 16 | 1u << next->imm);
	}
}

static void see_once(const struct miner *m, const struct vtable *v, size_t i, uint32_t body,
		     struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];
	bool here = insn->shape == CODE_LOAD32 && insn->disp == v->once - v->state;

	/* Or its address was taken before. */
	for (size_t k = i; !here && insn->shape == CODE_LOAD32 && !insn->disp && k--;)
		here = m->code.insns[k].shape == CODE_LEA && m->code.insns[k].reg == insn->base &&
		       m->code.insns[k].disp == v->once - v->state;
	if (here && i + 1 < m->code.n && m->code.insns[i + 1].shape == CODE_TEST32_SELF &&
	    m->code.insns[i + 1].reg == insn->reg)
		votes__add(&e->once, body, 0);
}

static void see_body(const struct miner *m, const struct vtable *v, uint32_t body,
		     struct evidence *e, struct votes *fed)
{
	e->bodies++;
	e->vecs += v->kind == WIRE_CACHE_VEC || v->kind == WIRE_CACHE_DEF;
	e->singles += v->kind == WIRE_CACHE_ONCE;
	for (size_t i = 0; i < m->code.n; i++) {
		const struct code_insn *insn = &m->code.insns[i];
		int64_t at = insn->disp;

		if (insn->shape == CODE_AND_IMM)
			see_shards(m, i, body, e);
		if (insn->base >= CODE_REG_SP || at < 0)
			continue;
		see_mode(m, i, body, e);
		if (insn->shape == CODE_CMP64_ZERO && at >= 8 && at < TABLE_WORDS * 8)
			votes__add(&e->left, body, (uint64_t)at);
		see_change(m, i, body, e);
		if (insn->shape == CODE_CMP8_ZERO && at >= m->table_size && at < v->end - v->state)
			votes__add(fed, body, (uint64_t)at);
		if (insn->shape == CODE_XADD64 && v->zeroes != NONE && at >= v->zeroes - v->state &&
		    at + 8 <= v->zeroes - v->state + m->vec_size)
			votes__add(&e->count, body, (uint64_t)at - (v->zeroes - v->state));
		if (v->kind == WIRE_CACHE_ONCE)
			see_once(m, v, i, body, e);
	}
}

/* The byte by which a body tells whether another query may feed a result to its query. */
static void take_fed(struct miner *m, uint32_t body, const struct votes *fed)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct vtable *v = &m->vtables[i];
		uint8_t byte;

		if (v->problem || m->plan->queries[v->query].body_non_incr != body)
			continue;
		if (fed->n == 1 &&
		    straight__bytes(m->run, v->state + (uint32_t)fed->items[0].value, &byte, 1) &&
		    byte <= 1)
			v->fed = byte;
		else
			v->fed = 1;
	}
}

static int read_bodies(struct miner *m, struct evidence *e)
{
	for (uint32_t b = 0; b < m->plan->n_bodies; b++) {
		const struct vtable *v = NULL;
		struct votes fed = {0};
		bool found = false;

		for (uint32_t i = 0; i < m->n && !v; i++)
			if (!m->vtables[i].problem &&
			    m->plan->queries[m->vtables[i].query].body_non_incr == b)
				v = &m->vtables[i];
		for (size_t i = 0; v && i < m->n_functions && !found; i++) {
			const struct layout_function *f = &m->functions[i];
			int err;

			if (f->entry != m->plan->bodies[b].addr || is_wrapper(f))
				continue;
			err = code_decoder__decode(m->decoder, f->regions, f->n_regions, &m->code);
			if (err == -ENOMEM)
				return err;
			found = !err;
			if (found)
				see_body(m, v, b, e, &fed);
		}
		take_fed(m, b, &fed);
	}
	return 0;
}

/* The number of entries that there is room for is compared with 0; the other one is how many there
 * are. */
static bool decide_items(const struct evidence *e, uint64_t *items)
{
	struct votes others = {0};
	uint64_t left;

	if (!votes__decide(&e->left, e->bodies / 2, &left))
		return false;
	for (uint32_t i = 0; i < e->changed.n; i++)
		if (e->changed.items[i].value != left)
			others.items[others.n++] = e->changed.items[i];
	return votes__decide(&others, e->bodies / 4, items);
}

static bool decide(struct miner *m, const struct evidence *e, struct wire_tables *out)
{
	uint64_t items, mode, shards, count, once = 0;

	if (!decide_items(e, &items)) {
		m->problem = "the bodies of queries do not show how many entries a table has";
		return false;
	}
	if (!votes__decide(&e->mode, e->bodies / 2, &mode) ||
	    !votes__decide(&e->shards, e->bodies / 4, &shards)) {
		m->problem = "the bodies of queries do not show how a table is divided";
		return false;
	}
	if (!votes__decide(&e->count, e->vecs / 4, &count)) {
		m->problem = "the bodies of queries do not show how many entries a VecCache has";
		return false;
	}
	if (e->singles && !votes__decide(&e->once, 1, &once))
		once = UINT32_MAX; /* no state has it */
	*out = (struct wire_tables){
		.finished = out->finished,
		.n = m->plan->n_queries,
		.vec_count = (uint32_t)count,
		.items = (uint32_t)items,
		.mode = (uint32_t)(mode >> 32),
		.sharded = (uint32_t)mode,
		.shards = (uint32_t)(shards >> 32),
		.n_shards = (uint32_t)shards >> 16,
		.shard_size = (uint32_t)shards & 0xffff,
		.once = e->singles ? (uint32_t)once : UINT32_MAX,
	};
	return true;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static int set_problem(char **to, const char *problem)
{
	*to = problem ? strdup(problem) : NULL;
	return !problem || *to ? 0 : -ENOMEM;
}

static void take_table(struct miner *m, const struct vtable *v, uint32_t base)
{
	struct plan_query *q = &m->plan->queries[v->query];

	q->table = (struct wire_query_table){
		.text = v->text,
		.length = (uint32_t)strlen(q->name),
		.name = base + v->at,
		.active = base + v->state,
		.cache = base + (v->kind == WIRE_CACHE_ONCE   ? v->once
				 : v->kind == WIRE_CACHE_HASH ? v->second
							      : v->zeroes),
		.others = v->kind == WIRE_CACHE_DEF ? base + v->second : 0,
		.kind = v->kind,
		.fed = v->fed,
	};
}

static int give(struct miner *m, uint32_t base)
{
	struct plan *plan = m->plan;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct vtable *v = vtable_of(m, i);
		const char *problem = v ? v->problem : "it is not in the table of vtables";

		for (uint32_t k = 0; k < m->n && !problem; k++)
			if (m->vtables[k].query == i && &m->vtables[k] != v)
				problem = "it is in the table of vtables twice";
		if (!problem && v->kind == WIRE_CACHE_ONCE && plan->tables.once == UINT32_MAX)
			problem = "no body shows the state of a cache that has a result";
		if (!problem && base + v->end >= PLAN_LAYOUT_MAX)
			problem = "it is too far within the context";
		if (!problem)
			take_table(m, v, base);
		if (set_problem(&plan->queries[i].table_problem, problem))
			return -ENOMEM;
	}
	return 0;
}

static int mine(struct miner *m)
{
	struct evidence e = {0};
	uint32_t base = 0;
	int err;

	if (m->plan->n_queries > WIRE_TABLES_MAX) {
		m->problem = "it has more queries than a reading has room for";
		return 0;
	}
	err = read_run(m);
	if (err || m->problem)
		return err;
	err = find_base(m, &base);
	if (err || m->problem)
		return err;
	err = read_bodies(m, &e);
	if (err || !decide(m, &e, &m->plan->tables))
		return err;
	return give(m, base);
}

int tables__mine(struct elf_image *img, struct code_decoder *decoder,
		 const struct layout_function *functions, size_t n, struct plan *plan)
{
	__cleanup(miner__destroy) struct miner m = {
		.img = img,
		.decoder = decoder,
		.functions = functions,
		.n_functions = n,
		.plan = plan,
	};
	int err = mine(&m);

	return err ?: set_problem(&plan->tables_problem, m.problem);
}
