// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/callees.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

static void beginnings__init(struct beginnings *b)
{
	*b = (struct beginnings){0};
	for (size_t i = 0; i < N_OF(names); i++) {
		b->first[(uint8_t)names[i].parts[0][0]] |= 1u << i;
		b->second[(uint8_t)names[i].parts[0][1]] |= 1u << i;
	}
}

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

/* The suffix of a mangled name. Some compilers have legacy names of the standard library. */
static const char *suffix_of(const char *name)
{
	const char *hash = strncmp(name, "_ZN", 3) ? NULL : strstr(name, "17h");

	return hash ? strchr(hash, '.') : strchr(name, '.');
}

/*
 * A part that was split off is no function. There are 250,000 symbols, so each is searched once for
 * all first parts.
 */
static enum callee kind_of(const struct beginnings *b, const char *name)
{
	const char *suffix;
	uint32_t begun = 0;

	if (strncmp(name, "_R", 2) && strncmp(name, "_ZN", 3))
		return CALLEE_NONE;
	for (const char *at = name; *at; at++)
		begun |= beginning_at(b, at);
	suffix = begun ? suffix_of(name) : NULL;
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
	struct beginnings b;
	size_t n;
	int err;

	beginnings__init(&b);
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
