// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/feeds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/code/opcode.h"
#include "plan/code/scan.h"
#include "plan/code/walk.h"
#include "plan/mine/owners.h"
#include "plan/mine/sites.h"

/* ---- Queries that may be fed ----------------------------------------------------------------- */

/* What a body complains about if a result that was fed is not what the query computes. */
#define FED_TEXT      "with fed value"
#define FED_TEXT_MOST 96
/* In a complaint, what is behind the name of the query. */
#define BEHIND_NAME " key="

static bool says_fed(const struct elf_image *img, const struct code_insn *insn)
{
	const uint8_t *text;
	size_t room;

	if (insn->shape != CODE_LEA_RIP)
		return false;
	text = elf_image__bytes(img, insn->target, &room);
	return text && memmem(text, room < FED_TEXT_MOST ? room : FED_TEXT_MOST, FED_TEXT,
			      strlen(FED_TEXT));
}

/* The next branch by the flags that instruction `i` sets, or SIZE_MAX. */
static size_t branch_of(const struct code *code, size_t i)
{
	size_t last = i + 6;

	for (i++; i < code->n && i < last && code__after(code, i - 1) == i; i++) {
		if (code->insns[i].flow == CODE_JCC)
			return i;
		if (code->insns[i].flow != CODE_FALLS || code->insns[i].sets_flags)
			break;
	}
	return SIZE_MAX;
}

/* Whether a branch is taken if what was compared is equal: 1, if it is not: 0; else -1. */
static int taken_if_equal(const struct elf_image *img, const struct code_insn *branch)
{
	size_t room;
	const uint8_t *code = elf_image__bytes(img, branch->addr, &room);

	return code && room >= 2 ? opcode_taken_if_equal(code) : -1;
}

/*
 * Mark all that control reaches from `from` on, up to what is marked already. Calls of `panic` do
 * not return: what lies behind one may belong to anything.
 */
static void mark(const struct walk *w, size_t from, uint64_t panic, uint8_t how, uint8_t *marks,
		 size_t *work)
{
	size_t n = 0;

	if (from < w->code->n && !marks[from]) {
		marks[from] = how;
		work[n++] = from;
	}
	while (n) {
		size_t i = work[--n], next[2] = {SIZE_MAX, w->to[i]};
		const struct code_insn *insn = &w->code->insns[i];
		bool calls = insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT;

		if (code_insn__goes_on(insn) && !(calls && panic && insn->target == panic))
			next[0] = code__after(w->code, i);
		for (int k = 0; k < 2; k++) {
			if (next[k] >= w->code->n || marks[next[k]])
				continue;
			marks[next[k]] = how;
			work[n++] = next[k];
		}
	}
}

int fed__prove(const struct elf_image *img, const struct code *code, uint64_t entry, size_t i,
	       bool *proven)
{
	enum { NOT_FED = 1, FED, HERE };
	size_t branch = branch_of(code, i), text = 0, call, sides[2];
	int equal = branch == SIZE_MAX ? -1 : taken_if_equal(img, &code->insns[branch]);
	_free_ uint8_t *marks = calloc(code->n + 1, 1);
	_free_ size_t *work = calloc(code->n + 1, sizeof(*work));
	struct walk w;
	uint64_t panic;
	int err;

	if (!marks || !work)
		return -ENOMEM;
	while (text < code->n && !says_fed(img, &code->insns[text]))
		text++;
	for (call = text; call < code->n && code->insns[call].flow == CODE_FALLS;)
		call++;
	if (equal < 0 || call == code->n)
		return 0;
	panic = code->insns[call].target;
	err = walk__init(&w, img, code, entry);
	if (!err) {
		sides[0] = code__after(code, branch);
		sides[1] = w.to[branch];
		marks[branch] = HERE; /* a loop may lead back to it */
		mark(&w, sides[equal], panic, NOT_FED, marks, work);
		mark(&w, sides[!equal], panic, FED, marks, work);
	}
	walk__fini(&w);
	*proven = *proven || marks[text] == FED;
	return err;
}

const char *fed__next_name(const struct elf_image *img, size_t *at, size_t *len)
{
	uint64_t addr;
	size_t room;
	const char *all = (const char *)elf_image__section_bytes(img, ".rodata", &addr, &room);
	const char *name, *end;

	if (!all || *at >= room)
		return NULL;
	name = memmem(all + *at, room - *at, FED_COMPLAINT, strlen(FED_COMPLAINT));
	name = name ? name + strlen(FED_COMPLAINT) : NULL;
	end = name ? memmem(name, room - (size_t)(name - all), BEHIND_NAME, strlen(BEHIND_NAME))
		   : NULL;
	if (!end)
		return NULL;
	*at = (size_t)(end - all);
	*len = (size_t)(end - name);
	return name;
}

#define COMPLAINT_LEN strlen(FED_COMPLAINT)
/* lea reg, [rip+x] */
#define LEA_SIZE 7
/* The last index of a node of the dependency graph, and two limits that are compared with. */
#define INDEX_END 0xffffff00u
/* Of the branch behind the addition, in instructions. */
#define NEAR 10

struct miner {
	struct elf_image *img;
	struct plan *plan;
	struct code code;
	uint64_t *texts; /* addresses of instructions that take the complaint's */
	uint32_t n_texts, cap_texts;
	const char *problem;
};

static void miner__destroy(struct miner *m)
{
	code__free(&m->code);
	free(m->texts);
}

static int find_texts(void *arg, const struct code_span *span)
{
	struct miner *m = arg;
	int err = 0;

	for (size_t i = 0; i + LEA_SIZE <= span->len && !err; i++) {
		const uint8_t *p = span->bytes + i, *text;
		uint64_t addr = span->addr + i;
		int32_t by;
		size_t room;

		if (p[1] != 0x8d || (p[0] & 0xfb) != 0x48 || (p[2] & 0xc7) != 0x05)
			continue;
		memcpy(&by, p + 3, sizeof(by));
		text = elf_image__bytes(m->img, addr + LEA_SIZE + (uint64_t)(int64_t)by, &room);
		if (!text || room <= COMPLAINT_LEN)
			continue;
		text += *text == COMPLAINT_LEN; /* a byte with its length may be in front of it */
		if (!memcmp(text, FED_COMPLAINT, COMPLAINT_LEN))
			err = array__add(&m->texts, &m->n_texts, &m->cap_texts, &addr);
	}
	return err;
}

static bool is_locked_xadd(const struct miner *m, const struct code_insn *insn)
{
	size_t room;
	const uint8_t *b = elf_image__bytes(m->img, insn->addr, &room);

	return b && room >= insn->size && insn->size > 4 && b[0] == 0xf0 &&
	       memmem(b + 1, 4, "\x0f\xc1", 2);
}

enum { SHIFT_LEFT = 0xe0, SHIFT_RIGHT = 0xe8 };

static bool is_shift_by_32(const struct miner *m, const struct code_insn *insn, uint8_t how)
{
	size_t room;
	const uint8_t *b = elf_image__bytes(m->img, insn->addr, &room);

	return b && insn->size == 4 && room >= 4 && b[1] == 0xc1 && (b[2] & 0xf8) == how &&
	       b[3] == 32;
}

/* or reg, imm: of 64 bits, and the upper half stays. */
static bool is_or_of_lower_half(const struct miner *m, const struct code_insn *insn)
{
	size_t room;
	const uint8_t *b = elf_image__bytes(m->img, insn->addr, &room);

	return b && insn->size == 7 && room >= 7 && (b[0] & 0xfe) == 0x48 && b[1] == 0x81 &&
	       (b[2] & 0xf8) == 0xc8 && b[6] < 0x80;
}

/* The query whose cache is at this place of the context, or PLAN_NONE. */
static uint32_t query_at(const struct plan *plan, int64_t cache)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan->queries[i].table.kind && plan->queries[i].table.cache == cache)
			return i;
	return PLAN_NONE;
}

/*
 * The branch behind the addition `i`, or SIZE_MAX; which query it is about, or else which register
 * still has its vtable.
 */
static size_t site_of(const struct miner *m, size_t i, struct plan_site *site)
{
	const struct code_insn *add = &m->code.insns[i];
	int64_t cache = add->disp - m->plan->tables.vec_count;
	bool shifted = false;

	if (add->shape != CODE_XADD64 || add->base >= CODE_REG_SP || !plan_site__feed_fits(cache))
		return SIZE_MAX;
	site->query = query_at(m->plan, cache);
	site->reg = site->query == PLAN_NONE ? add->base : WIRE_REG_NONE;
	site->vtable_offset = site->query == PLAN_NONE ? (int32_t)cache : 0;
	site->result_reg = add->reg < CODE_REG_SP ? add->reg : WIRE_REG_NONE;
	for (size_t k = code__after(&m->code, i); k < m->code.n && k <= i + NEAR;
	     k = code__after(&m->code, k)) {
		const struct code_insn *insn = &m->code.insns[k];

		if (insn->flow == CODE_JCC)
			return shifted && insn->emulated ? k : SIZE_MAX;
		if (insn->flow != CODE_FALLS ||
		    (site->reg != WIRE_REG_NONE && insn->writes & 1u << site->reg))
			return SIZE_MAX;
		/* It writes to the register that has which result it is. */
		if (site->result_reg != WIRE_REG_NONE && insn->writes & 1u << site->result_reg) {
			if (!site->result_shift && is_shift_by_32(m, insn, SHIFT_LEFT))
				site->result_shift = 32;
			else if (!site->result_shift || !is_or_of_lower_half(m, insn))
				site->result_reg = WIRE_REG_NONE;
		}
		shifted = shifted || is_shift_by_32(m, insn, SHIFT_RIGHT);
	}
	return SIZE_MAX;
}

/* The branch behind a new index, or SIZE_MAX. */
static size_t new_index(const struct miner *m, size_t i)
{
	const struct code_insn *insn = &m->code.insns[i];
	size_t next = code__after(&m->code, i);

	if (!i || insn->shape != CODE_CMP_IMM || (insn->imm | 1) != (INDEX_END | 1) ||
	    !is_locked_xadd(m, insn - 1) || next >= m->code.n ||
	    m->code.insns[next].flow != CODE_JCC)
		return SIZE_MAX;
	return next;
}

/* Where the index goes on that is not beyond the last one: behind the branch, or where it leads. */
static size_t goes_on(const struct miner *m, const struct walk *w, size_t branch)
{
	size_t room;
	const uint8_t *b = elf_image__bytes(m->img, m->code.insns[branch].addr, &room);
	uint8_t condition = !b || room < 2 ? 0 : (b[0] == 0x0f ? b[1] : b[0]) & 0xf;

	/* jb and jbe */
	return condition == 2 || condition == 6 ? w->to[branch] : code__after(&m->code, branch);
}

/* Whether control may come from `from` to a site before it takes another index. */
static bool reaches_site(const struct walk *w, size_t from, const uint8_t *stops, uint8_t *seen,
			 size_t *work)
{
	size_t n = 0;
	bool found = false;

	memset(seen, 0, w->code->n);
	if (from < w->code->n)
		work[n++] = from;
	while (n && !found) {
		size_t i = work[--n], next[2] = {SIZE_MAX, w->to[i]};

		found = stops[i] == 's';
		if (stops[i] || seen[i]++)
			continue;
		if (code_insn__goes_on(&w->code->insns[i]))
			next[0] = code__after(w->code, i);
		for (int k = 0; k < 2; k++)
			if (next[k] < w->code->n && !seen[next[k]])
				work[n++] = next[k];
	}
	return found;
}

/* Whether it is as far from the vtable of a query without a key to the state of its result. */
static bool is_state(const struct plan *plan, int64_t distance)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct wire_query_table *t = &plan->queries[i].table;

		if (t->kind == WIRE_CACHE_ONCE && t->fed &&
		    (int64_t)t->cache - t->active == distance)
			return true;
	}
	return false;
}

/*
 * Whether the function feeds only queries without a key, which have no VecCache. Without a name it
 * shows that before it first branches: there it looks whether such a query has a result. In a
 * VecCache 4 bytes at this place are half of an address.
 */
static bool has_one_result(const struct miner *m, const struct owner *o)
{
	uint32_t written = 0;

	if (strstr(o->name, "SingleCache"))
		return true;
	for (size_t i = 0; i + 1 < m->code.n && m->code.insns[i].flow == CODE_FALLS; i++) {
		const struct code_insn *insn = &m->code.insns[i], *next = insn + 1;

		if (insn->shape == CODE_LOAD32 && insn->base < CODE_REG_SP &&
		    !(written & 1u << insn->base) && is_state(m->plan, insn->disp))
			return !m->plan->tables.once && next->shape == CODE_TEST32_SELF &&
			       next->reg == insn->reg;
		written |= insn->writes;
	}
	return false;
}

/* Mark sites, and new indices. The function shows all that it feeds if each of these has a site. */
static int check(struct miner *m, const struct owner *o, uint8_t *stops, uint32_t n_sites)
{
	_free_ uint8_t *seen = calloc(m->code.n + 1, 1);
	_free_ size_t *work = calloc(2 * m->code.n + 1, sizeof(*work));
	struct walk w;
	int err;

	if (!seen || !work)
		return -ENOMEM;
	if (!n_sites)
		m->problem = "a function that feeds a query does not show where";
	err = walk__init(&w, m->img, &m->code, o->entry);
	for (size_t i = 0; i < m->code.n && !err; i++)
		if (stops[i] == 'i' && !reaches_site(&w, goes_on(m, &w, i), stops, seen, work))
			m->problem =
				"a function that feeds queries does not show where it feeds one";
	walk__fini(&w);
	return err;
}

static int read_owner(struct miner *m, struct code_decoder *decoder, const struct owner *o)
{
	_free_ uint8_t *stops = NULL;
	uint32_t n = 0;
	int err;

	err = code_decoder__decode(decoder, o->regions, o->n_regions, &m->code);
	if (err == -EFAULT)
		m->problem = "a function that feeds queries lies outside the code";
	if (err)
		return err == -EFAULT ? 0 : err;
	stops = calloc(m->code.n + 1, 1);
	if (!stops)
		return -ENOMEM;
	for (size_t i = 0; i < m->code.n && !err; i++) {
		struct plan_site site = {
			.body = PLAN_NONE,
			.guard = PLAN_NONE,
			.role = WIRE_ROLE_DROP,
			.cls = PLAN_EMULATED,
			.slot = PLAN_NO_SLOT,
		};
		size_t index = new_index(m, i), at = site_of(m, i, &site);

		if (index != SIZE_MAX)
			stops[index] = 'i';
		if (at == SIZE_MAX)
			continue;
		stops[at] = 's';
		n++;
		site.addr = m->code.insns[at].addr;
		if (site.query == PLAN_NONE ||
		    !plan_query__is_fed_always(&m->plan->queries[site.query]))
			err = sites_add(m->img, m->plan, site);
	}
	if (!err && !n && has_one_result(m, o))
		return 0;
	return err ?: check(m, o, stops, n);
}

static int mine(struct miner *m, struct code_decoder *decoder)
{
	_owners_ struct owners owners = {0};
	int err;

	if (!m->plan->tables.n) {
		m->problem = "the tables of results are not known";
		return 0;
	}
	err = code_scan__spans(m->img, find_texts, m);
	if (!err && !m->n_texts)
		m->problem = "no function has the complaint of those that feed queries";
	if (err || m->problem)
		return err;
	err = owners__find(m->img, m->texts, m->n_texts, &owners);
	for (uint32_t i = 0; i < m->n_texts && !err; i++)
		if (!owners__at(&owners, m->texts[i]))
			m->problem = "code that feeds queries is in no known function";
	for (size_t i = 0; i < owners.n && !err; i++)
		err = read_owner(m, decoder, &owners.items[i]);
	return err;
}

int feeds__mine(struct elf_image *img, struct code_decoder *decoder, struct plan *plan)
{
	__cleanup(miner__destroy) struct miner m = {.img = img, .plan = plan};
	int err = mine(&m, decoder);
	struct plan_site *sites = plan->sites;
	uint32_t n = 0;

	/* Functions may share code: a site is there once, and feeds the same query in all. */
	sites_sort(plan);
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &sites[i], *last = n ? &sites[n - 1] : NULL;

		if (!last || last->addr != s->addr || !plan_site__feeds(s) ||
		    !plan_site__feeds(last))
			sites[n++] = *s;
		else if (last->query != s->query || last->reg != s->reg ||
			 last->vtable_offset != s->vtable_offset)
			m.problem = "code feeds one query or another";
	}
	plan->n_sites = n;
	if (err || !m.problem)
		return err;

	/* Sites of other roles stay. */
	n = 0;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (!plan_site__feeds(&sites[i]))
			sites[n++] = sites[i];
	plan->n_sites = n;
	plan->feeds_problem = strdup(m.problem);
	return plan->feeds_problem ? 0 : -ENOMEM;
}
