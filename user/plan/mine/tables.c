// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * In the code of wrappers and bodies, whose argument is the address of a vtable:
 *
 *	wrapper		lea  VTABLE(tcx), %rsi
 *	body		movzbl MODE(%rsi), %eax; cmp $SHARDED, %al
 *			mov  SHARDS(%r14), %rcx; and $N-1, %edx; shl $LOG, %edx
 *			cmpq $0, LEFT(%r12)		is there room for another entry
 *			decq ITEMS(%r12)		the other word that is changed in place; or
 *			movdqu LEFT(%r12), %xmm1; psubq %xmm0, %xmm1; movdqu %xmm1, LEFT(%r12)
 *			cmpb $0, FED(%r14)		feeds.h
 *			lock xadd %rax, COUNT(%r14)	in a VecCache; or
 *			add  $CACHE, %r14; mov %r14, %rsi; call COMPLETE, which has that
 *			mov  CACHE(%r14), %eax; test %eax, %eax		in a SingleCache
 *
 * or, where vtables have places:
 *
 *			mov  STATE_WORD(%rsi), %rax; lea (tcx, %rax), %r13; add $STATES, %r13
 *			movzbl STATES+MODE(tcx, %rax), %eax
 *			mov  CACHE_WORD(%rsi), %rax; lea (tcx, %rax), %rsi; add $CACHES, %rsi
 *			mov  CACHES+ONCE(tcx, %rax), %eax; cmp $DONE, %eax
 */
#include "plan/mine/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/mine/feeds.h"
#include "plan/mine/loads.h"
#include "plan/mine/vtables.h"

#define NONE VTABLE_NONE
/* Instructions that may lie between the address of a cache and the call that gets it. */
#define ARGUMENTS 8
/* Instructions that may lie between a place and what it is added to. */
#define NEAR_PLACE 6

struct miner {
	struct elf_image *img;
	struct code_decoder *decoder;
	const struct layout_function *functions;
	size_t n_functions;
	struct plan *plan;
	struct vtables t;
	/* Within the context, all tables of active jobs, and all caches; or what holds both. */
	uint32_t states, caches;
	struct bounds bounds;
	struct code code, callee;
	const char *problem;
};

static void miner__destroy(struct miner *m)
{
	vtables__destroy(&m->t);
	bounds__destroy(&m->bounds);
	code__free(&m->code);
	code__free(&m->callee);
}

static bool is_wrapper(const struct layout_function *f)
{
	return f->kind == NAME_WRAPPER_NON_INCR || f->kind == NAME_WRAPPER_INCR;
}

static const struct vtable *vtable_of(const struct miner *m, uint32_t query)
{
	for (uint32_t i = 0; i < m->t.n; i++)
		if (m->t.items[i].query == query)
			return &m->t.items[i];
	return NULL;
}

static bool is_of_body(const struct miner *m, const struct vtable *v, uint32_t body)
{
	return !v->problem && m->plan->queries[v->query].body_non_incr == body;
}

/* Where the vtable would be, less where it is in the run, for each address that a wrapper takes. */
static int wrapper_bases(struct miner *m, const struct layout_function *f, uint32_t **bases,
			 uint32_t *n, uint32_t *capacity)
{
	const struct vtable *v =
		vtable_of(m, vtables__query(m->plan, (const uint8_t *)f->query, f->query_len));
	uint32_t from = *n;
	int err;

	if (!v || v->problem)
		return 0;
	err = code_decoder__decode(m->decoder, f->regions, f->n_regions, &m->code);
	if (err)
		return err == -EFAULT ? 0 : err;
	for (size_t i = 0; i < m->code.n && !err; i++) {
		const struct code_insn *insn = &m->code.insns[i];
		int64_t base = insn->disp - v->begin;
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
		qsort(bases, n, sizeof(*bases), array__by_u32);
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
	struct votes states, caches; /* where vtables have places */
	struct votes left, changed, mode, shards, count, once;
	struct votes fed[WIRE_CACHE_MAX]; /* from the name to the byte */
	struct vec_keys keys;
	uint32_t bodies, vecs, singles;
};

/* A word that is added to or subtracted from, alone or with the one behind it. */
static void see_change(const struct miner *m, size_t i, uint32_t body, struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];
	bool pair = insn->shape == CODE_LOAD128;
	bool changes = insn->shape == CODE_OTHER && insn->stores == 8;

	if (insn->disp < 8 || insn->disp % 8 ||
	    insn->disp + (pair ? 16 : 8) > VTABLE_TABLE_WORDS * 8)
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
	bool places = m->t.have_places;
	int64_t at = insn->disp - (places ? m->states : 0);

	if (insn->shape != (places ? CODE_LOAD8_INDEXED : CODE_LOAD8) || at < 8 ||
	    at >= m->t.table_size)
		return;
	for (size_t k = i + 1; k < m->code.n && k < i + 3; k++) {
		const struct code_insn *next = &m->code.insns[k];

		if (next->shape == CODE_CMP_IMM && next->reg == insn->reg && next->imm > 1 &&
		    next->imm < 256)
			votes__add(&e->mode, body, (uint64_t)at << 32 | next->imm);
	}
}

/*
 * The number of a shard is taken from the hash, and multiplied by its size. The mask may have been
 * multiplied instead.
 */
static void see_shards(const struct miner *m, size_t i, uint32_t body, struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i];
	uint32_t size = insn->imm & -insn->imm, n = size ? insn->imm / size + 1 : 0;
	int64_t at = -1;

	for (size_t k = i; k-- && i - k < 6;)
		if (m->code.insns[k].shape == CODE_LOAD64 && at < 0 &&
		    m->code.insns[k].base < CODE_REG_SP)
			at = m->code.insns[k].disp;
	for (size_t k = i + 1; k < m->code.n && k < i + 3 && size == 1; k++) {
		const struct code_insn *next = &m->code.insns[k];

		if (next->shape == CODE_SHL_IMM && next->reg == insn->reg && next->imm < 16)
			size = 1u << next->imm;
	}
	if (n < 2 || n > WIRE_SHARDS_MAX || n & (n - 1) || size < m->t.table_size ||
	    size > WIRE_SHARD_SIZE_MAX || at < 0 || at >= m->t.table_size)
		return;
	votes__add(&e->shards, body, (uint64_t)at << 32 | n << 16 | size);
}

/* Where a body finds what is `at` among the caches: from the vtable, or from all caches. */
static int64_t shown(const struct miner *m, const struct vtable *v, uint32_t at)
{
	return m->t.have_places ? m->caches : at - (int64_t)v->begin;
}

static void see_once(const struct miner *m, const struct vtable *v, size_t i, uint32_t body,
		     struct evidence *e)
{
	const struct code_insn *insn = &m->code.insns[i], *next = insn + 1;
	bool here = insn->shape == CODE_LOAD32 && insn->disp == shown(m, v, v->once);

	if (i + 1 == m->code.n || next->reg != insn->reg)
		return;
	if (m->t.have_places) {
		if (insn->shape == CODE_LOAD32_INDEXED && insn->disp == m->caches &&
		    next->shape == CODE_CMP_IMM)
			votes__add(&e->once, body, next->imm);
		return;
	}

	/* Or its address was taken before. */
	for (size_t k = i; !here && insn->shape == CODE_LOAD32 && !insn->disp && k--;)
		here = m->code.insns[k].shape == CODE_LEA && m->code.insns[k].reg == insn->base &&
		       m->code.insns[k].disp == shown(m, v, v->once);
	if (here && next->shape == CODE_TEST32_SELF)
		votes__add(&e->once, body, 0);
}

/* The function that puts a result into a VecCache, if it is no part of the body. */
static int see_complete(struct miner *m, const struct vtable *v, size_t i, uint32_t body,
			struct evidence *e)
{
	const struct bound *f = bounds__at(&m->bounds, m->code.insns[i].target);
	bool takes_cache = false;
	int err;

	for (size_t k = i; k-- && i - k <= ARGUMENTS && !takes_cache;) {
		const struct code_insn *insn = &m->code.insns[k];
		int64_t by = insn->shape == CODE_LEA	   ? insn->disp
			     : insn->shape == CODE_ADD_IMM ? (int64_t)insn->imm
							   : -1;

		takes_cache = by == shown(m, v, v->zeroes);
	}
	if (!takes_cache || !f || f->addr != m->code.insns[i].target)
		return 0;
	err = code_decoder__decode(m->decoder, &(struct code_region){f->addr, f->size}, 1,
				   &m->callee);
	for (size_t k = 0; k < m->callee.n && !err; k++) {
		const struct code_insn *insn = &m->callee.insns[k];

		if (insn->shape == CODE_XADD64 && insn->base < CODE_REG_SP && insn->disp >= 0 &&
		    insn->disp + 8 <= m->t.vec_size) {
			votes__add(&e->count, body, (uint64_t)insn->disp);
			vec_keys__see(&e->keys, &m->callee, k, 0, m->t.vec_size, body);
		}
	}
	return err == -ENOMEM ? err : 0;
}

/* The byte by which a body tells whether another query may feed a result to its query. */
static void note_fed(struct miner *m, uint32_t body, const struct votes *fed, bool proven,
		     struct evidence *e)
{
	for (uint32_t i = 0; i < m->t.n; i++) {
		struct vtable *v = &m->t.items[i];

		if (!is_of_body(m, v, body))
			continue;
		v->fed_at = fed->n == 1 ? (uint32_t)fed->items[0].value : NONE;
		v->fed_proven = proven && fed->n == 1;
		if (v->fed_proven)
			votes__add(&e->fed[v->kind], body, fed->items[0].value + v->begin - v->at);
	}
}

/*
 * A vtable has the distance of the query's table from where all tables begin, which is added to the
 * distance. The same of caches.
 */
static int see_places(struct miner *m, const struct vtable *v, uint64_t entry, uint32_t body,
		      struct evidence *e)
{
	(void)v, (void)entry;
	e->bodies++;
	for (size_t i = 0, state = SIZE_MAX, cache = SIZE_MAX; i < m->code.n; i++) {
		const struct code_insn *insn = &m->code.insns[i];

		if (insn->shape == CODE_LOAD64 && insn->base < CODE_REG_SP) {
			state = insn->disp == m->t.items[0].at + m->t.state_word ? i : state;
			cache = insn->disp == m->t.items[0].at + m->t.cache_word ? i : cache;
		}
		if (insn->shape != CODE_ADD_IMM || insn->imm % 8 || insn->imm >= PLAN_LAYOUT_MAX)
			continue;
		if (state != SIZE_MAX && i - state <= NEAR_PLACE)
			votes__add(&e->states, body, insn->imm);
		if (cache != SIZE_MAX && i - cache <= NEAR_PLACE)
			votes__add(&e->caches, body, insn->imm);
	}
	return 0;
}

/* The entries of caches that are hash tables, of all queries of a body. */
static int see_hash(struct miner *m, const struct vtable *v, uint64_t entry, uint32_t body)
{
	bool places = m->t.have_places;
	struct body_run_table table = {
		.at = places ? m->caches : v->second - v->begin,
		.has_place = places,
		.word = places ? m->t.items[0].at + m->t.cache_word : 0,
		.ctrl = m->plan->jobs.ctrl,
		.mask = m->plan->jobs.mask,
	};
	const char *problem = NULL;
	struct hash_keys found = {0};
	int err = 0;

	if (!m->plan->jobs.known)
		problem = "it is not known how bodies read their caches";
	else
		err = hash_keys__mine(m->img, entry, &table, &found, &problem);
	for (uint32_t i = 0; i < m->t.n; i++) {
		struct vtable *of = &m->t.items[i];

		if (!is_of_body(m, of, body))
			continue;
		of->hash = found;
		of->hash_problem = problem;
	}
	return err;
}

static int see_body(struct miner *m, const struct vtable *v, uint64_t entry, uint32_t body,
		    struct evidence *e)
{
	struct votes fed = {0};
	bool proven = false;
	int err = 0;

	e->bodies++;
	e->vecs += v->kind == WIRE_CACHE_VEC || v->kind == WIRE_CACHE_DEF;
	e->singles += v->kind == WIRE_CACHE_ONCE;
	for (size_t i = 0; i < m->code.n && !err; i++) {
		const struct code_insn *insn = &m->code.insns[i];
		int64_t at = insn->disp;

		if (insn->shape == CODE_AND_IMM)
			see_shards(m, i, body, e);
		if (insn->flow == CODE_CALL && v->zeroes != NONE)
			err = see_complete(m, v, i, body, e);
		if (insn->base >= CODE_REG_SP || at < 0)
			continue;
		see_mode(m, i, body, e);
		if (insn->shape == CODE_CMP64_ZERO && at >= 8 && at < VTABLE_TABLE_WORDS * 8)
			votes__add(&e->left, body, (uint64_t)at);
		see_change(m, i, body, e);
		if (insn->shape == CODE_CMP8_ZERO && at >= m->t.table_size &&
		    at < v->end - v->begin) {
			votes__add(&fed, body, (uint64_t)at);
			err = err ?: fed__prove(m->img, &m->code, entry, i, &proven);
		}
		at -= shown(m, v, v->zeroes);
		if (insn->shape == CODE_XADD64 && v->zeroes != NONE && at >= 0 &&
		    at + 8 <= m->t.vec_size) {
			votes__add(&e->count, body, (uint64_t)at);
			vec_keys__see(&e->keys, &m->code, i, shown(m, v, v->zeroes), m->t.vec_size,
				      body);
		}
		if (v->kind == WIRE_CACHE_ONCE)
			see_once(m, v, i, body, e);
	}
	if (!err && v->kind == WIRE_CACHE_HASH && plan_query__names(&m->plan->queries[v->query]))
		err = see_hash(m, v, entry, body);
	if (!err)
		note_fed(m, body, &fed, proven, e);
	return err;
}

/*
 * Vtables with caches of one kind have the byte at one distance from the name, but where the cache
 * is behind the name, and of any size. So it is known too where the code of a few bodies, after
 * calls that do not return, seems to lead to the complaint on another way.
 */
static void decide_fed(struct miner *m, const struct evidence *e)
{
	for (uint32_t i = 0; i < m->t.n; i++) {
		struct vtable *v = &m->t.items[i];
		uint64_t by;
		uint8_t byte;

		v->fed = 1;
		if (v->problem || v->fed_at == NONE)
			continue;
		if (!v->fed_proven &&
		    (v->kind == WIRE_CACHE_ONCE || !votes__decide(&e->fed[v->kind], 2, &by) ||
		     v->begin + v->fed_at != v->at + by))
			continue;
		if (straight__bytes(m->t.run, v->begin + v->fed_at, &byte, 1) && byte <= 1)
			v->fed = byte;
	}
}

/* Without any name it is not known which may be fed. */
static void decide_fed_by_name(struct miner *m)
{
	const char *name;
	size_t at = 0, len;
	bool any = fed__next_name(m->img, &at, &len);

	for (uint32_t i = 0; i < m->t.n; i++)
		m->t.items[i].fed = !any;
	at = 0;
	while ((name = fed__next_name(m->img, &at, &len))) {
		uint32_t query = vtables__query(m->plan, (const uint8_t *)name, len);

		for (uint32_t i = 0; i < m->t.n && query != NONE; i++)
			m->t.items[i].fed |= m->t.items[i].query == query;
	}
}

typedef int see_fn(struct miner *m, const struct vtable *v, uint64_t entry, uint32_t body,
		   struct evidence *e);

static int each_body(struct miner *m, see_fn *see, struct evidence *e)
{
	for (uint32_t b = 0; b < m->plan->n_bodies; b++) {
		const struct vtable *v = NULL;
		bool found = false;

		for (uint32_t i = 0; i < m->t.n && !v; i++)
			if (is_of_body(m, &m->t.items[i], b))
				v = &m->t.items[i];
		for (size_t i = 0; v && i < m->n_functions && !found; i++) {
			const struct layout_function *f = &m->functions[i];
			int err;

			if (f->entry != m->plan->bodies[b].addr || is_wrapper(f))
				continue;
			err = code_decoder__decode(m->decoder, f->regions, f->n_regions, &m->code);
			found = !err;
			err = found ? see(m, v, f->entry, b, e) : err;
			if (err == -ENOMEM)
				return err;
		}
	}
	return 0;
}

static int read_bodies(struct miner *m, struct evidence *e)
{
	uint64_t states, caches;
	int err = m->t.have_places ? each_body(m, see_places, e) : 0;

	if (m->t.have_places && !err) {
		if (!votes__decide(&e->states, e->bodies / 2, &states) ||
		    !votes__decide(&e->caches, e->bodies / 2, &caches)) {
			m->problem = "the bodies of queries do not show where all tables begin";
			return 0;
		}
		m->states = (uint32_t)states;
		m->caches = (uint32_t)caches;
		e->bodies = 0;
	}
	err = err ?: each_body(m, see_body, e);
	if (!err && m->t.have_places)
		decide_fed_by_name(m);
	else if (!err)
		decide_fed(m, e);
	return err;
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
		.ctrl = m->plan->jobs.ctrl,
		.mask = m->plan->jobs.mask,
		.once = e->singles ? (uint32_t)once : UINT32_MAX,
	};
	/* Else the keys of results are not known, but how many there are. */
	vec_keys__decide(&e->keys, e->vecs, out);
	return true;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static int set_problem(char **to, const char *problem)
{
	*to = problem ? strdup(problem) : NULL;
	return !problem || *to ? 0 : -ENOMEM;
}

static struct wire_query_table table_of(const struct miner *m, const struct vtable *v,
					uint32_t base)
{
	bool places = m->t.have_places;
	uint32_t caches = places ? m->caches : base;

	return (struct wire_query_table){
		.text = v->text,
		.length = (uint32_t)strlen(m->plan->queries[v->query].name),
		.name = base + v->at,
		.active = (places ? m->states : base) + v->state,
		.cache = caches + (v->kind == WIRE_CACHE_ONCE	? v->once
				   : v->kind == WIRE_CACHE_HASH ? v->second
								: v->zeroes),
		.others = v->kind == WIRE_CACHE_DEF ? caches + v->second : 0,
		.entry_size = v->hash.size,
		.key_at = v->hash.key,
		.kind = v->kind,
		.fed = v->fed,
		.key = v->hash.size ? m->plan->queries[v->query].key : WIRE_KEY_UNKNOWN,
		.has_text =
			v->hash.has_text && plan_query__has_symbols(&m->plan->queries[v->query]),
		.text_at = v->hash.text,
	};
}

static int give(struct miner *m, uint32_t base)
{
	struct plan *plan = m->plan;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct vtable *v = vtable_of(m, i);
		const char *problem = v ? v->problem : "it is not in the table of vtables";
		struct wire_query_table table;

		for (uint32_t k = 0; k < m->t.n && !problem; k++)
			if (m->t.items[k].query == i && &m->t.items[k] != v)
				problem = "it is in the table of vtables twice";
		if (!problem && v->kind == WIRE_CACHE_ONCE && plan->tables.once == UINT32_MAX)
			problem = "no body shows the state of a cache that has a result";
		if (!problem) {
			table = table_of(m, v, base);
			if (table.name < PLAN_LAYOUT_MAX && table.active < PLAN_LAYOUT_MAX &&
			    table.cache < PLAN_LAYOUT_MAX && table.others < PLAN_LAYOUT_MAX)
				plan->queries[i].table = table;
			else
				problem = "it is too far within the context";
		}
		if (set_problem(&plan->queries[i].table_problem, problem) ||
		    set_problem(&plan->queries[i].result_keys_problem,
				problem ? NULL : v->hash_problem))
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
	err = bounds__find(m->img, &m->bounds);
	if (err == -ENODATA) {
		m->problem = "it has no .eh_frame";
		return 0;
	}
	err = err ?: vtables__read(m->img, &m->bounds, m->plan, &m->t);
	m->problem = m->t.problem;
	if (!err && !m->problem)
		err = find_base(m, &base);
	if (!err && !m->problem)
		err = read_bodies(m, &e);
	if (err || m->problem || !decide(m, &e, &m->plan->tables))
		return err;
	return give(m, base)
		       ?: loads__find(m->img, m->decoder, &m->bounds, m->functions, m->n_functions,
				      &m->t, m->plan);
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
