// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/engine_methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* mov dword [rsp+x], imm: the immediate is at its end. */
#define OPCODE_MOV_IMM 0xc7
/* How long a query's vtable may be. */
#define VTABLE_MAX 256

struct reader {
	struct elf_image *img;
	const struct bounds *bounds;
	const struct known_symbols *known;
	struct code_decoder *decoder;
	struct code code;
};

static int decode(struct reader *r, uint64_t function)
{
	const struct bound *b = bounds__at(r->bounds, function);
	struct code_region region = {function, b->size};
	int err = code_decoder__decode(r->decoder, &region, 1, &r->code);

	if (err == -EFAULT)
		r->code.n = 0;
	return err == -EFAULT ? 0 : err;
}

/* The one function that the decoded one calls, or 0. */
static uint64_t only_callee(const struct reader *r)
{
	uint64_t callee = 0;

	for (size_t i = 0; i < r->code.n; i++) {
		const struct code_insn *insn = &r->code.insns[i];

		if ((insn->flow != CODE_CALL && insn->flow != CODE_JMP) ||
		    !bounds__starts(r->bounds, insn->target))
			continue;
		if (callee && callee != insn->target)
			return 0;
		callee = insn->target;
	}
	return callee;
}

/* The number that a 32-bit constant in the frame may hold; UINT32_MAX if `insn` stores none. */
static uint32_t stored_number(const struct reader *r, const struct code_insn *insn)
{
	size_t len;
	const uint8_t *bytes;

	if (insn->stores != 4 || insn->base != CODE_REG_SP || insn->shape != CODE_OTHER)
		return UINT32_MAX;
	bytes = elf_image__code(r->img, insn->addr, &len);
	if (!bytes || len < insn->size || insn->size < 7 || bytes[0] != OPCODE_MOV_IMM)
		return UINT32_MAX;
	return (uint32_t)bytes[insn->size - 4] | (uint32_t)bytes[insn->size - 3] << 8;
}

static bool is_address(const struct code_insn *insn)
{
	return (insn->shape == CODE_LEA || insn->shape == CODE_MOVE64) &&
	       insn->base == CODE_REG_SP && insn->reg < CODE_REG_SP;
}

static int note(const struct reader *r, const struct code_insn *insn, int64_t sp,
		struct engine_methods *m)
{
	int64_t disp = insn->shape == CODE_MOVE64 ? 0 : insn->disp;
	struct engine_store store = {sp + disp, stored_number(r, insn)};

	if (is_address(insn))
		return array__add(&m->addresses, &m->n_addresses, &m->addresses_capacity, &store);
	return store.number == UINT32_MAX
		       ? 0
		       : array__add(&m->stores, &m->n_stores, &m->stores_capacity, &store);
}

/* Up to its first return sp moves in the order of the code. */
static int note_frame(const struct reader *r, struct engine_methods *m)
{
	int64_t sp = 0;
	int err = 0;

	for (size_t i = 0; i < r->code.n && !err; i++) {
		const struct code_insn *insn = &r->code.insns[i];

		if (insn->flow == CODE_RET || insn->flow == CODE_TRAPS ||
		    (insn->writes & 1u << CODE_REG_SP && !insn->sp_adjust &&
		     insn->flow == CODE_FALLS))
			break;
		err = note(r, insn, sp, m);
		sp += insn->sp_adjust;
	}
	return err;
}

static bool is_cold_provider(const struct known_symbols *known, uint64_t addr)
{
	for (uint32_t i = 0; i < known->n; i++)
		if (known->items[i].info.kind == NAME_COLD_PROVIDER &&
		    known->items[i].sym->addr == addr)
			return true;
	return false;
}

static bool executes(const struct reader *r)
{
	for (size_t i = 0; i < r->code.n; i++)
		if (r->code.insns[i].flow == CODE_CALL &&
		    is_cold_provider(r->known, r->code.insns[i].target))
			return true;
	return false;
}

static int add_method(struct reader *r, uint64_t method, struct engine_methods *m)
{
	struct engine_method item = {
		.first_store = m->n_stores,
		.first_address = m->n_addresses,
	};
	int err = decode(r, method);

	item.wrapper = err ? 0 : only_callee(r);
	if (!err && item.wrapper)
		err = decode(r, item.wrapper) ?: note_frame(r, m);
	item.executes = !err && item.wrapper && executes(r);
	item.end_store = m->n_stores;
	item.end_address = m->n_addresses;
	return err ?: array__add(&m->items, &m->n, &m->capacity, &item);
}

static bool stores(const struct engine_methods *m, uint32_t i, uint32_t number)
{
	for (uint32_t k = m->items[i].first_store; k < m->items[i].end_store; k++)
		if (m->stores[k].number == number)
			return true;
	return false;
}

static bool follow_one_another(const struct engine_methods *m, uint32_t from, uint32_t n,
			       uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (!stores(m, from + i, number + i))
			return false;
	return true;
}

/* How many ways there are to number `n` methods of the run, of which the last one is kept. */
static uint32_t number_run(const struct engine_methods *m, uint32_t n, uint32_t *from,
			   uint32_t *number)
{
	uint32_t found = 0;

	for (uint32_t start = 0; start + n <= m->n; start++)
		for (uint32_t k = m->items[start].first_store; k < m->items[start].end_store; k++) {
			uint32_t first = m->stores[k].number;

			if (!first || (found && start == *from && first == *number) ||
			    !follow_one_another(m, start, n, first))
				continue;
			found++;
			*from = start;
			*number = first;
		}
	return found;
}

/* True if all these functions are different. */
static bool differ(const struct engine_methods *m, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < from + n; i++)
		for (uint32_t k = from; k < i; k++)
			if (m->items[i].wrapper == m->items[k].wrapper)
				return false;
	return true;
}

static void keep(struct engine_methods *m, uint32_t from, uint32_t n, uint32_t number,
		 struct engine_methods *out)
{
	memmove(m->items, m->items + from, n * sizeof(*m->items));
	m->n = n;
	m->first = number;
	engine_methods__destroy(out);
	*out = *m;
	*m = (struct engine_methods){0};
}

static int try_run(struct reader *r, const uint64_t *functions, uint32_t n_functions, uint32_t n,
		   uint32_t *found, struct engine_methods *out)
{
	_engine_methods_ struct engine_methods m = {0};
	uint32_t from = 0, number = 0, ways;
	int err = 0;

	for (uint32_t i = 0; i < n_functions && !err; i++)
		err = add_method(r, functions[i], &m);
	ways = err ? 0 : number_run(&m, n, &from, &number);
	if (ways && differ(&m, from, n)) {
		*found += ways;
		keep(&m, from, n, number, out);
	}
	return err;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int try_runs(struct reader *r, const uint8_t *words, size_t n_words, uint32_t n,
		    uint32_t *found, struct engine_methods *out)
{
	_free_ uint64_t *run = NULL;
	uint32_t len = 0, capacity = 0;
	int err = 0;

	for (size_t i = 0; i <= n_words && !err; i++) {
		uint64_t function = i < n_words ? word_at(words + 8 * i) : 0;

		if (function && bounds__starts(r->bounds, function)) {
			err = array__add(&run, &len, &capacity, &function);
			continue;
		}
		/* A few words may belong to the vtables before and behind it. */
		if (len >= n && len < 2 * n)
			err = try_run(r, run, len, n, found, out);
		len = 0;
	}
	return err;
}

int engine_methods__find(struct elf_image *img, const struct bounds *bounds,
			 const struct known_symbols *known, uint32_t n, struct engine_methods *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct reader r = {.img = img, .bounds = bounds, .known = known};
	uint64_t addr, size;
	uint32_t found = 0;
	size_t room;
	const uint8_t *words;
	int err = code_decoder__new(img, &decoder);

	*out = (struct engine_methods){0};
	if (err || !n || !elf_image__section(img, ".data.rel.ro", &addr, &size))
		return err;
	r.decoder = decoder;
	words = elf_image__bytes(img, addr, &room);
	if (words)
		err = try_runs(&r, words, (room < size ? room : size) / 8, n, &found, out);
	code__free(&r.code);
	if (!err && found > 1)
		engine_methods__destroy(out);
	return err;
}

static bool has(const struct engine_methods *m, uint32_t i, uint32_t offset)
{
	const struct engine_method *item = &m->items[i];

	for (uint32_t k = item->first_store; k < item->end_store; k++)
		for (uint32_t a = item->first_address; a < item->end_address; a++)
			if (m->stores[k].number == m->first + i &&
			    m->stores[k].at - m->addresses[a].at == (int64_t)offset)
				return true;
	return false;
}

static bool all_have(const struct engine_methods *m, uint32_t offset)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		if (m->items[i].executes)
			continue;
		if (!has(m, i, offset))
			return false;
		n++;
	}
	return n;
}

uint32_t engine_methods__offset(const struct engine_methods *m)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t offset = 0; offset < VTABLE_MAX; offset += 2) {
		if (!all_have(m, offset))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = offset;
	}
	return found;
}

bool engine_methods__vtable(const struct engine_methods *m, uint32_t i, uint32_t offset,
			    int64_t *at)
{
	const struct engine_method *item = &m->items[i];
	bool found = false;

	for (uint32_t k = item->first_store; k < item->end_store; k++) {
		if (m->stores[k].number != m->first + i)
			continue;
		if (found)
			return false;
		*at = m->stores[k].at - (int64_t)offset;
		found = true;
	}
	return found;
}

void engine_methods__destroy(struct engine_methods *m)
{
	free(m->items);
	free(m->stores);
	free(m->addresses);
	*m = (struct engine_methods){0};
}
