// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Parts of one function share a base name: "f", "f.cold", "f.warm". The search goes from an address
 * to the symbols there, their base names, the entries of these names, all symbols at the entries
 * (folded twins), their base names, and all parts of those.
 */
#include "plan/mine/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/scan.h"

/* Symbols examined before an address: some are labels within a function. */
#define BEFORE 16
/* Size of the table of hashes, which rules out most symbols quickly. */
#define HASHES 65536

struct base_name {
	const char *s;
	uint32_t len;
	uint32_t hash;
	uint32_t owner;
};

struct part {
	struct code_region region;
	uint32_t owner;
};

struct finder {
	const struct elf_symbol *syms;
	size_t n_syms;
	struct base_name *names; /* sorted, without doubles */
	uint32_t n_names, names_capacity;
	bool hashes[HASHES]; /* one of `names` has it */
	struct owners *out;
	struct part *parts; /* of all owners */
	uint32_t n_parts, parts_capacity;
};

static struct base_name base_of(const struct elf_symbol *sym)
{
	return (struct base_name){sym->name, sym->base_len, sym->base_hash, 0};
}

static int by_name(const void *a, const void *b)
{
	const struct base_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->s, y->s, x->len);
}

static int want(struct finder *f, const struct elf_symbol *sym, uint32_t owner)
{
	struct base_name name = base_of(sym);

	name.owner = owner;
	return array__add(&f->names, &f->n_names, &f->names_capacity, &name);
}

static void sort_names(struct finder *f)
{
	uint32_t n = 0;

	if (f->n_names)
		qsort(f->names, f->n_names, sizeof(*f->names), by_name);
	memset(f->hashes, 0, sizeof(f->hashes));
	for (size_t i = 0; i < f->n_names; i++) {
		if (!n || by_name(&f->names[n - 1], &f->names[i]))
			f->names[n++] = f->names[i];
		f->hashes[f->names[i].hash % HASHES] = true;
	}
	f->n_names = n;
}

static const struct base_name *wanted(const struct finder *f, const struct base_name *name)
{
	if (!f->n_names || !f->hashes[name->hash % HASHES])
		return NULL;
	return bsearch(name, f->names, f->n_names, sizeof(*f->names), by_name);
}

/* The first symbol behind `addr`. */
static size_t symbol_after(const struct finder *f, uint64_t addr)
{
	return bisect(f->n_syms, i, f->syms[i].addr <= addr);
}

/* The symbols that contain `addr` and have the nearest start. */
static int want_holders(struct finder *f, uint64_t addr)
{
	size_t i = symbol_after(f, addr);
	uint64_t start = 0;

	for (size_t back = 0; i-- > 0; back++) {
		const struct elf_symbol *sym = &f->syms[i];

		if (start ? sym->addr != start : back == BEFORE)
			break;
		if (addr - sym->addr >= sym->size)
			continue;
		start = sym->addr;
		if (want(f, sym, 0))
			return -ENOMEM;
	}
	return 0;
}

/* The entries of all wanted names become the owners. */
static int find_entries(struct finder *f)
{
	struct owners *o = f->out;
	size_t n = 0;

	/* A folded part may belong to several names, each with its own entry. */
	o->items = calloc(f->n_names + 1, sizeof(*o->items));
	if (!o->items)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_syms; i++) {
		struct base_name name = base_of(&f->syms[i]);

		/* A split-off part is no entry. */
		if (!wanted(f, &name) || name.s[name.len])
			continue;
		/* Symbols are sorted by address, and so are the owners. */
		if (n && o->items[n - 1].entry == f->syms[i].addr)
			continue;
		if (n == f->n_names)
			break;
		o->items[n++] = (struct owner){f->syms[i].addr, f->syms[i].name, 0, NULL, 0};
	}
	o->n = n;
	return 0;
}

static int want_twins(struct finder *f)
{
	f->n_names = 0;
	for (uint32_t i = 0; i < f->out->n; i++) {
		struct owner *o = &f->out->items[i];

		for (size_t k = symbol_after(f, o->entry);
		     k-- > 0 && f->syms[k].addr == o->entry;) {
			o->n_names++;
			if (want(f, &f->syms[k], i))
				return -ENOMEM;
		}
	}
	return 0;
}

static int find_parts(struct finder *f)
{
	for (size_t i = 0; i < f->n_syms; i++) {
		const struct elf_symbol *sym = &f->syms[i];
		struct base_name name = base_of(sym);
		const struct base_name *found = wanted(f, &name);
		struct part part = {{sym->addr, sym->size}, found ? found->owner : 0};

		if (found && sym->size &&
		    array__add(&f->parts, &f->n_parts, &f->parts_capacity, &part))
			return -ENOMEM;
	}
	return 0;
}

static int give_parts(struct finder *f)
{
	struct owners *o = f->out;

	for (uint32_t i = 0; i < f->n_parts; i++)
		o->items[f->parts[i].owner].n_regions++;
	for (size_t i = 0; i < o->n; i++) {
		o->items[i].regions = calloc(o->items[i].n_regions + 1, sizeof(struct code_region));
		if (!o->items[i].regions)
			return -ENOMEM;
		o->items[i].n_regions = 0;
	}
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct owner *owner = &o->items[f->parts[i].owner];

		code_region__add(owner->regions, &owner->n_regions, f->parts[i].region);
	}
	return 0;
}

int owners__find(struct elf_image *img, const uint64_t *addrs, size_t n, struct owners *out)
{
	_free_ struct finder *f = calloc(1, sizeof(*f));
	int err;

	*out = (struct owners){NULL, 0};
	if (!f)
		return -ENOMEM;
	f->out = out;
	err = elf_image__symbols(img, &f->syms, &f->n_syms);
	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		err = want_holders(f, addrs[i]);
	sort_names(f);
	err = err ?: find_entries(f);
	err = err ?: want_twins(f);
	sort_names(f);
	err = err ?: find_parts(f);
	err = err ?: give_parts(f);
	free(f->names);
	free(f->parts);
	return err;
}

void owners__destroy(struct owners *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i].regions);
	free(o->items);
	*o = (struct owners){NULL, 0};
}

/* ---- Functions that call another ------------------------------------------------------------- */

const struct owner *owners__at(const struct owners *owners, uint64_t addr)
{
	for (size_t i = 0; i < owners->n; i++) {
		const struct owner *o = &owners->items[i];

		for (size_t k = 0; k < o->n_regions; k++)
			if (addr - o->regions[k].addr < o->regions[k].size)
				return o;
	}
	return NULL;
}

struct search {
	const void *targets;
	size_t n, size;
	struct calls *out;
};

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	const struct search *s = arg;
	const struct call call = {addr, to};

	return bsearch(&to, s->targets, s->n, s->size, array__by_u64)
		       ? array__add(&s->out->items, &s->out->n, &s->out->capacity, &call)
		       : 0;
}

int calls__find(struct elf_image *img, const void *targets, size_t n, size_t size,
		struct calls *out)
{
	struct search s = {targets, n, size, out};
	struct code_range range;

	*out = (struct calls){.n = 0};
	if (!n)
		return 0;
	memcpy(&range.first, targets, sizeof(range.first));
	memcpy(&range.last, (const char *)targets + (n - 1) * size, sizeof(range.last));
	return code_scan__calls(img, range, note_call, &s);
}

int calls__owners(struct elf_image *img, const struct calls *c, struct owners *out)
{
	_free_ uint64_t *addrs = calloc(c->n + 1UL, sizeof(*addrs));

	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		addrs[i] = c->items[i].addr;
	return owners__find(img, addrs, c->n, out);
}

int callers__find(struct elf_image *img, const uint64_t *targets, size_t n, struct owners *out)
{
	_free_ uint64_t *sorted = calloc(n + 1, sizeof(*sorted));
	struct calls calls = {.n = 0};
	int err;

	*out = (struct owners){NULL, 0};
	if (!n || !sorted)
		return sorted ? 0 : -ENOMEM;
	memcpy(sorted, targets, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), array__by_u64);
	err = calls__find(img, sorted, n, sizeof(*sorted), &calls)
		      ?: calls__owners(img, &calls, out);
	free(calls.items);
	return err;
}

int callers__of_cold(struct elf_image *img, const struct known_symbols *known, enum name_kind first,
		     enum name_kind last, struct owners *out)
{
	_free_ uint64_t *targets = NULL;
	uint32_t n = 0, capacity = 0;
	int err = 0;

	*out = (struct owners){NULL, 0};
	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];

		if (k->info.part == NAME_PART_ENTRY && k->info.kind >= first &&
		    k->info.kind <= last)
			err = array__add(&targets, &n, &capacity, &k->sym->addr);
	}
	return err ?: callers__find(img, targets, n, out);
}

/* ---- Callers of the profiler's cold sides ---------------------------------------------------- */

static int add_addr(struct profiler_addrs *a, uint64_t addr)
{
	return array__add(&a->items, &a->n, &a->capacity, &addr);
}

static int note_symbol(struct profiler *p, const struct known_symbol *known)
{
	const struct elf_symbol *sym = known->sym;
	struct profiler_cold cold = {sym->addr, known->info.kind};

	if (known->info.part != NAME_PART_ENTRY)
		return 0;
	switch (known->info.kind) {
	case NAME_COLD_ACTIVITY:
	case NAME_COLD_BLOCKED:
	case NAME_COLD_LOAD:
	case NAME_COLD_HASHING:
	case NAME_COLD_ARTIFACT:
	case NAME_COLD_UNKNOWN:
		return array__add(&p->cold, &p->n_cold, &p->cold_capacity, &cold);
	case NAME_DROP_GUARD:
		return add_addr(&p->drops, sym->addr);
	case NAME_DROP_TIMER:
		return add_addr(&p->timer_drops, sym->addr);
	case NAME_TIMER:
		p->timer = sym->addr;
		return 0;
	default:
		return 0;
	}
}

const struct profiler_cold *profiler__cold(const struct profiler *p, uint64_t addr)
{
	return p->n_cold ? bsearch(&addr, p->cold, p->n_cold, sizeof(*p->cold), array__by_u64)
			 : NULL;
}

bool profiler__drops(const struct profiler *p, uint64_t addr)
{
	return array__has_u64(p->drops.items, p->drops.n, addr);
}

uint64_t profiler__callee(const struct code_insn *insn)
{
	return insn->flow == CODE_CALL || insn->flow == CODE_JMP ? insn->target : 0;
}

static int profiler_note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct profiler *p = arg;

	return profiler__cold(p, to) ? add_addr(&p->calls, addr) : 0;
}

int profiler__find(struct elf_image *img, const struct known_symbols *known, struct profiler *out)
{
	struct code_range cold;
	int err = 0;

	*out = (struct profiler){.n_cold = 0};
	for (uint32_t i = 0; !err && i < known->n; i++)
		err = note_symbol(out, &known->items[i]);
	if (err || !out->n_cold)
		return err;
	qsort(out->cold, out->n_cold, sizeof(*out->cold), array__by_u64);
	cold = (struct code_range){out->cold[0].addr, out->cold[out->n_cold - 1].addr};
	return code_scan__calls(img, cold, profiler_note_call, out);
}

void profiler__destroy(struct profiler *p)
{
	free(p->cold);
	free(p->drops.items);
	free(p->timer_drops.items);
	free(p->calls.items);
	*p = (struct profiler){.n_cold = 0};
}

/* ---- Callees by name ------------------------------------------------------------------------- */

/*
 * Parts of mangled names (v0), each an identifier or more with its length. Generic functions have
 * several instances, and all count.
 */
static const struct {
	enum callee kind;
	const char *parts[3];
} names[] = {
	{CALLEE_COLD_WITH_ARGUMENT, {"4exec9cold_call", "25generic_activity_with_arg"}},
	{CALLEE_COLD_WITH_ARGUMENT, {"4exec9cold_call", "34generic_activity_with_arg_recorder"}},
	{CALLEE_INTERN, {"12SelfProfiler26get_or_alloc_cached_stringRe"}},
	{CALLEE_PRINT_SYMBOL, {"10rustc_span6symbol", "6SymbolNtNt", "3fmt7Display3fmt"}},
	{CALLEE_PRINT_NUMBER, {"4core3fmt3num", "j4__fmt"}},
	{CALLEE_PRINT_NUMBER, {"4core3fmt3num", "y10__fmt_inner"}},
	{CALLEE_PRINT_NUMBER, {"4core3fmt3num", "j10__fmt_inner"}},
	{CALLEE_DISPLAY_NUMBER,
	 {"4core3fmt3num3imp", "core..fmt..Display$u20$for$u20$usize$GT$3fmt17h"}},
	{CALLEE_DISPLAY_NUMBER, {"4core3fmt3num3impjNtB", "_7Display3fmt"}},
	{CALLEE_RECORD_SPAN, {"16EventArgRecorder", "20record_arg_with_span"}},
	{CALLEE_EXPANSION_TEXT, {"7ExtCtxt15expansion_descr"}},
	{CALLEE_EXPANSION, {"11HygieneData4with", "11LocalExpnId9expn_data"}},
	{CALLEE_EXPANSION_OF, {"7hygiene", "11HygieneData9expn_data"}},
	{CALLEE_LOCAL_EXPANSION, {"7hygiene", "11HygieneData15local_expn_data"}},
	{CALLEE_WALK_CHAIN, {"7hygiene10walk_chain"}},
	{CALLEE_EXPANSION_KIND, {"7hygiene", "8ExpnKind5descr"}},
	{CALLEE_DEBUG_C_STRING, {"5alloc3ffi5c_strNtB", "7CStringNtNt", "4core3fmt5Debug3fmt"}},
	{CALLEE_DEBUG_C_STRING,
	 {"alloc..ffi..c_str..CString$u20$as$u20$core..fmt..Debug$GT$3fmt17h"}},
	{CALLEE_FORMAT, {"5alloc3fmt6format12format_inner"}},
};

static bool has_parts(const char *name, size_t i)
{
	for (size_t k = 0; k < N_OF(names[i].parts) && names[i].parts[k]; k++) {
		name = strstr(name, names[i].parts[k]);
		if (!name)
			return false;
	}
	return true;
}

_Static_assert(N_OF(names) <= 32, "a bit for each");

/*
 * The names whose first part is at a place, as bits. There are 10 million places, so the first two
 * characters are looked up first.
 */
struct beginnings {
	uint32_t first[256], second[256]; /* the names whose first part has this character there */
};

static uint32_t beginning_at(const struct beginnings *b, const char *at)
{
	uint32_t maybe = b->first[(uint8_t)at[0]] & b->second[(uint8_t)at[1]], found = 0;

	for (; maybe; maybe &= maybe - 1) {
		const char *part = names[__builtin_ctz(maybe)].parts[0];

		if (!strncmp(at, part, strlen(part)))
			found |= maybe & -maybe;
	}
	return found;
}

/*
 * A part that was split off is no function. There are 250,000 symbols, so each is searched once for
 * all first parts.
 */
static enum callee kind_of(const struct beginnings *b, const char *name)
{
	bool is_legacy = !strncmp(name, "_ZN", 3);
	const char *suffix;
	uint32_t begun = 0;

	if (strncmp(name, "_R", 2) && !is_legacy)
		return CALLEE_NONE;
	for (const char *at = name; *at; at++)
		begun |= beginning_at(b, at);
	if (!begun)
		return CALLEE_NONE;
	/* Some compilers have legacy names of the standard library, with dots before the hash. */
	suffix = is_legacy ? strstr(name, "17h") : NULL;
	suffix = strchr(suffix ?: name, '.');
	if (suffix && strncmp(suffix, ".llvm.", 6))
		return CALLEE_NONE;
	for (; begun; begun &= begun - 1) {
		size_t i = (size_t)__builtin_ctz(begun);

		if (has_parts(name, i))
			return names[i].kind;
	}
	return CALLEE_NONE;
}

enum callee callees__at(const struct callees *c, uint64_t addr)
{
	const struct callees_entry *e =
		c->n ? bsearch(&addr, c->functions, c->n, sizeof(*e), array__by_u64) : NULL;

	return e ? e->kind : CALLEE_NONE;
}

int callees__find(struct elf_image *img, struct callees *out)
{
	const struct elf_symbol *syms;
	struct beginnings b = {0};
	size_t n;
	int err;

	for (size_t i = 0; i < N_OF(names); i++) {
		b.first[(uint8_t)names[i].parts[0][0]] |= 1u << i;
		b.second[(uint8_t)names[i].parts[0][1]] |= 1u << i;
	}
	*out = (struct callees){0};
	err = elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; !err && i < n; i++) {
		struct callees_entry e = {syms[i].addr, kind_of(&b, syms[i].name), 0};

		if (e.kind)
			err = array__add(&out->functions, &out->n, &out->capacity, &e);
	}
	if (!err && out->n)
		qsort(out->functions, out->n, sizeof(*out->functions), array__by_u64);
	return err;
}

void callees__destroy(struct callees *c)
{
	free(c->functions);
	*c = (struct callees){0};
}
