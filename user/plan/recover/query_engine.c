// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/recover/providers.h"
#include "plan/recover/recovered.h"
#include "plan/code/walk.h"

#define QUERIES_MIN  32
#define QUERIES_MAX  2048
#define NAME_MAX_LEN 128

/* Queries of which a describe() is exported. */
struct described {
	struct variant_name *items;
	uint32_t n, capacity;
};

static void described__destroy(struct described *d)
{
	free(d->items);
}

/* <rustc_query_impl::queries::NAME as ..QueryDescription<..>>::describe */
static bool is_describe(const char *symbol, struct variant_name *name)
{
	static const char module[] = "16rustc_query_impl", queries[] = "7queries";
	const char *at = strstr(symbol, module), *end = strstr(symbol, "16QueryDescription");
	size_t len = strlen(symbol);
	char *text;

	if (strncmp(symbol, "_RNvX", 5) || !at || !end || len < 9 ||
	    strcmp(symbol + len - 9, "8describe"))
		return false;
	at = strstr(at, queries);
	if (!at || at > end || !isdigit((unsigned char)at[sizeof(queries) - 1]))
		return false;
	name->len = (uint32_t)strtoul(at + sizeof(queries) - 1, &text, 10);
	text += *text == '_';
	name->text = text;
	return name->len && name->len <= NAME_MAX_LEN && text < end &&
	       name->len <= (size_t)(end - text);
}

static int find_described(struct elf_image *img, struct described *d)
{
	const struct elf_symbol *syms;
	struct variant_name name;
	size_t n;
	int err = elf_image__symbols(img, &syms, &n);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		if (is_describe(syms[i].name, &name))
			err = array__add(&d->items, &d->n, &d->capacity, &name);
	return err;
}

bool query_engine__is_in(struct elf_image *img)
{
	__cleanup(described__destroy) struct described d = {0};

	return !find_described(img, &d) && d.n >= QUERIES_MIN && d.n <= QUERIES_MAX;
}

/* <DepKind as Debug>::fmt; of size 0 if it is not exported. */
static struct code_region find_debug(struct elf_image *img)
{
	static const char type[] = "7DepKind", method[] = "5Debug3fmt";
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return (struct code_region){0};
	for (size_t i = 0; i < n; i++) {
		const char *name = syms[i].name, *end = strstr(name, method);

		if (strstr(name, "12rustc_middle") && strstr(name, type) && end &&
		    !end[sizeof(method) - 1])
			return (struct code_region){syms[i].addr, syms[i].size};
	}
	return (struct code_region){0};
}

static int compare_names(const void *a, const void *b)
{
	const struct variant_name *x = a, *y = b;
	int cmp = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return cmp ?: x->len < y->len ? -1 : x->len > y->len;
}

static int read_debug(struct elf_image *img, struct variant_names *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct code_region region = find_debug(img);
	struct code code = {0};
	int err = code_decoder__new(img, &decoder);

	out->n = 0;
	if (!err && region.size)
		err = variant_names__read(img, decoder, region, &code, out);
	code__free(&code);
	return err;
}

/* The names from number `first` on are those in `d`, each once. */
static bool names_agree(const struct variant_names *names, uint32_t first, struct described *d)
{
	struct variant_name sorted[VARIANT_NAMES_MAX];

	if (first >= names->n || d->n > names->n - first)
		return false;
	memcpy(sorted, names->items + first, d->n * sizeof(*sorted));
	for (uint32_t i = 0; i < d->n; i++)
		if (!sorted[i].text)
			return false;
	qsort(sorted, d->n, sizeof(*sorted), compare_names);
	qsort(d->items, d->n, sizeof(*d->items), compare_names);
	for (uint32_t i = 0; i < d->n; i++)
		if (compare_names(&sorted[i], &d->items[i]) ||
		    (i && !compare_names(&sorted[i], &sorted[i - 1])))
			return false;
	return true;
}

static int check(struct elf_image *img, const struct bounds *bounds, const struct engine_methods *m,
		 const struct variant_names *names, struct described *d, const char **problem)
{
	struct address_counts counts;
	uint64_t defaults;
	int found;

	if (!m->n) {
		*problem = "the methods of its QueryEngine were not found, or their numbers do not "
			   "follow one another";
		return 0;
	}
	if (!names_agree(names, m->first, d)) {
		*problem = "the names of the numbers of its queries are not those of the queries "
			   "that it describes";
		return 0;
	}
	found = addresses__count(img, bounds, &counts)
			?: providers_defaults(img, bounds, &counts, m->n, &defaults);
	if (found < 0)
		return found;
	if (!found)
		*problem = "the compiler has another number of providers than of queries that were "
			   "found";
	return 0;
}

int query_engine__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
			  struct query_numbers *numbers, const char **problem)
{
	__cleanup(described__destroy) struct described d = {0};
	_known_symbols_ struct known_symbols known = {0};
	_engine_methods_ struct engine_methods m = {0};
	_free_ struct variant_names *names = calloc(1, sizeof(*names));
	uint32_t offset;
	int err = names ? known_symbols__find(img, &known) ?: find_described(img, &d) : -ENOMEM;

	*problem = NULL;
	err = err ?: read_debug(img, names) ?: engine_methods__find(img, bounds, &known, d.n, &m)
		       ?: check(img, bounds, &m, names, &d, problem);
	if (err || *problem)
		return err;
	offset = engine_methods__offset(&m);
	numbers->offset = offset == UINT32_MAX ? 0 : offset;
	for (uint32_t i = 0; i < m.n && !err; i++) {
		const struct variant_name *name = &names->items[m.first + i];
		uint64_t wrapper = m.items[i].wrapper;
		struct query_number number = {.wrapper = wrapper, .number = m.first + i};

		err = query_names__wrappers(out, name->text, name->len, wrapper, wrapper);
		if (!err && offset != UINT32_MAX &&
		    engine_methods__vtable(&m, i, offset, &number.vtable))
			err = query_numbers__add(numbers, number);
	}
	query_numbers__sort(numbers);
	return err;
}

/* ---- Names of variants ----------------------------------------------------------------------- */

/* Instructions of a case. */
#define CASE_MAX 16

_Static_assert(VARIANT_NAMES_MAX == WALK_TABLE_MAX, "all cases of a switch");

/* The text at `addr` of the image: a name, or none. */
static struct variant_name read_name(struct elf_image *img, uint64_t addr, uint64_t len)
{
	size_t room;
	const char *text = (const char *)elf_image__bytes(img, addr, &room);

	if (!text || len > room || len > NAME_MAX_LEN)
		return (struct variant_name){0};
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return (struct variant_name){0};
	return (struct variant_name){text, (uint32_t)len};
}

/* The second and third argument of the function that the case ends with. */
static struct variant_name name_of_case(struct elf_image *img, const struct code *code, size_t i)
{
	uint64_t addr = 0, len = 0;

	for (int steps = 0; steps < CASE_MAX && i != SIZE_MAX; steps++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JMP && code__index(code, insn->target) != SIZE_MAX) {
			i = code__index(code, insn->target);
			continue;
		}
		if (insn->flow != CODE_FALLS)
			break;
		if (insn->writes & 1u << WIRE_REG_SI)
			addr = insn->shape == CODE_LEA_RIP ? insn->target : 0;
		if (insn->writes & 1u << WIRE_REG_DX)
			len = insn->shape == CODE_SET ? insn->imm : 0;
		i = code__after(code, i);
	}
	return addr && len ? read_name(img, addr, len) : (struct variant_name){0};
}

int variant_names__read(struct elf_image *img, struct code_decoder *decoder,
			struct code_region region, struct code *code, struct variant_names *out)
{
	uint64_t targets[WALK_TABLE_MAX];
	struct walk w;
	int err = code_decoder__decode(decoder, &region, 1, code);

	out->n = 0;
	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, img, code, region.addr);
	for (size_t i = 0; i < code->n && !err; i++) {
		if (code->insns[i].flow != CODE_JMP_INDIRECT)
			continue;
		out->n = (uint32_t)walk__table(&w, i, targets);
		for (uint32_t k = 0; k < out->n; k++)
			out->items[k] = name_of_case(img, code, code__index(code, targets[k]));
		break;
	}
	walk__fini(&w);
	return err;
}

/* ---- Methods of the trait -------------------------------------------------------------------- */

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

/*
 * Note the numbers that the function stores in its frame, and the places there whose address it
 * takes. Up to its first return sp moves in the order of the code.
 */
static int note_frame(const struct reader *r, struct engine_methods *m)
{
	int64_t sp = 0;
	int err = 0;

	for (size_t i = 0; i < r->code.n && !err; i++) {
		const struct code_insn *insn = &r->code.insns[i];
		int64_t disp = insn->shape == CODE_MOVE64 ? 0 : insn->disp;
		struct engine_store store = {sp + disp, stored_number(r, insn)};

		if (insn->flow == CODE_RET || insn->flow == CODE_TRAPS ||
		    (insn->writes & 1u << CODE_REG_SP && !insn->sp_adjust &&
		     insn->flow == CODE_FALLS))
			break;
		if ((insn->shape == CODE_LEA || insn->shape == CODE_MOVE64) &&
		    insn->base == CODE_REG_SP && insn->reg < CODE_REG_SP)
			err = array__add(&m->addresses, &m->n_addresses, &m->addresses_capacity,
					 &store);
		else if (store.number != UINT32_MAX)
			err = array__add(&m->stores, &m->n_stores, &m->stores_capacity, &store);
		sp += insn->sp_adjust;
	}
	return err;
}

/* The decoded function calls the cold side of a provider. */
static bool executes(const struct reader *r)
{
	const struct known_symbols *known = r->known;

	for (size_t i = 0; i < r->code.n; i++)
		for (uint32_t k = 0; k < known->n && r->code.insns[i].flow == CODE_CALL; k++)
			if (known->items[k].info.kind == NAME_COLD_PROVIDER &&
			    known->items[k].sym->addr == r->code.insns[i].target)
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

static int try_run(struct reader *r, const uint64_t *functions, uint32_t n_functions, uint32_t n,
		   uint32_t *found, struct engine_methods *out)
{
	_engine_methods_ struct engine_methods m = {0};
	uint32_t from = 0, number = 0, ways;
	int err = 0;

	for (uint32_t i = 0; i < n_functions && !err; i++)
		err = add_method(r, functions[i], &m);
	ways = err ? 0 : number_run(&m, n, &from, &number);
	if (!ways || !differ(&m, from, n))
		return err;
	*found += ways;
	memmove(m.items, m.items + from, n * sizeof(*m.items));
	m.n = n;
	m.first = number;
	engine_methods__destroy(out);
	*out = m;
	m = (struct engine_methods){0};
	return 0;
}

static int try_runs(struct reader *r, const uint8_t *words, size_t n_words, uint32_t n,
		    uint32_t *found, struct engine_methods *out)
{
	_free_ uint64_t *run = NULL;
	uint32_t len = 0, capacity = 0;
	int err = 0;

	for (size_t i = 0; i <= n_words && !err; i++) {
		uint64_t function = 0;

		if (i < n_words)
			memcpy(&function, words + 8 * i, sizeof(function));
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
	uint64_t addr;
	uint32_t found = 0;
	size_t size;
	const uint8_t *words = elf_image__section_bytes(img, ".data.rel.ro", &addr, &size);
	int err = code_decoder__new(img, &decoder);

	*out = (struct engine_methods){0};
	r.decoder = decoder;
	if (!err && n && words)
		err = try_runs(&r, words, size / 8, n, &found, out);
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
