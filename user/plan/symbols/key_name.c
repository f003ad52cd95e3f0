// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The spellings, by the rustc sources that define them (compiler/...):
 *   caches  rustc_middle/src/query/caches.rs; before, rustc_query_system/src/query/caches.rs;
 *           rustc_data_structures/src/vec_cache.rs
 *   values  rustc_middle/src/query/erase.rs
 *   keys    rustc_span/src/def_id.rs, rustc_hir_id/src/lib.rs, rustc_middle/src/ty/instance.rs
 *
 * Types move between crates and modules, so only the last part of a path is compared, in crates of
 * rustc.
 */
#include "plan/symbols/key_name.h"

#include <string.h>

#include "base/array.h"
#include "plan/symbols/demangle.h"
#include "qprof/wire.h"

struct text {
	const char *p;
	size_t len;
};

/* A type: a path, and what stands between "<" and ">" behind it. */
struct type {
	struct text path;
	struct text args;
};

static bool ends_with(struct text t, const char *word)
{
	size_t len = strlen(word);

	return t.len >= len && !memcmp(t.p + t.len - len, word, len);
}

/* rustc_<crate>:: ... ::<word> */
static bool is_path(struct text t, const char *word)
{
	static const char crate[] = "rustc_", sep[] = "::";
	size_t len = strlen(word);

	if (t.len < strlen(crate) + strlen(sep) + len || memcmp(t.p, crate, strlen(crate)) ||
	    !ends_with(t, word))
		return false;
	return !memcmp(t.p + t.len - len - strlen(sep), sep, strlen(sep));
}

/* The first item of a list, which is removed from it; false if the list is empty or broken. */
static bool next_item(struct text *list, struct text *item)
{
	size_t depth = 0, i;

	for (i = 0; i < list->len; i++) {
		char c = list->p[i];
		bool arrow = c == '>' && i && list->p[i - 1] == '-';

		if (c == '<' || c == '(' || c == '[')
			depth++;
		if ((c == '>' && !arrow) || c == ')' || c == ']') {
			if (!depth)
				return false;
			depth--;
		}
		if (c == ',' && !depth)
			break;
	}
	if (depth || !i)
		return false;
	*item = (struct text){list->p, i};
	for (i += i < list->len; i < list->len && list->p[i] == ' ';)
		i++;
	list->p += i;
	list->len -= i;
	return true;
}

static bool next_type(struct text *list, struct type *type)
{
	struct text item;
	const char *args;

	if (!next_item(list, &item))
		return false;
	*type = (struct type){.path = item};
	args = memchr(item.p, '<', item.len);
	if (!args)
		return true;
	type->path.len = (size_t)(args - item.p);
	type->args = (struct text){args + 1, item.len - type->path.len - 2};
	return item.p[item.len - 1] == '>';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Copy `t`, without the crates and modules of paths. "" if it does not fit. */
static void shorten(struct text t, char out[KEY_TYPE_MAX])
{
	size_t n = 0, word = 0;

	for (size_t i = 0; i < t.len && n < KEY_TYPE_MAX; i++) {
		if (i + 2 < t.len && !memcmp(t.p + i, "::", 2) && is_word(t.p[i + 2])) {
			n = word;
			i++;
			continue;
		}
		out[n++] = t.p[i];
		word = is_word(t.p[i]) ? word : n;
	}
	out[n < KEY_TYPE_MAX ? n : 0] = '\0';
}

static uint8_t key_of(const struct type *type)
{
	static const struct {
		const char *name;
		uint8_t key;
	} keys[] = {
		{"LocalDefId", WIRE_KEY_LOCAL},	   {"OwnerId", WIRE_KEY_LOCAL},
		{"LocalModDefId", WIRE_KEY_LOCAL}, {"DefId", WIRE_KEY_DEF},
		{"CrateNum", WIRE_KEY_CRATE},
	};

	for (size_t i = 0; i < N_OF(keys); i++)
		if (!type->args.p && is_path(type->path, keys[i].name))
			return keys[i].key;
	return WIRE_KEY_UNKNOWN;
}

/* ErasedData<[u8; N]>, before: Erased<[u8; N]>. */
static void read_size(struct text *list, struct key_name *out)
{
	static const char bytes[] = "[u8; ";
	struct type value;
	uint32_t size = 0;
	struct text n;

	if (!next_type(list, &value) ||
	    (!is_path(value.path, "ErasedData") && !is_path(value.path, "Erased")))
		return;
	n = value.args;
	if (n.len < sizeof(bytes) + 1 || memcmp(n.p, bytes, sizeof(bytes) - 1) ||
	    !ends_with(n, "]"))
		return;
	for (size_t i = sizeof(bytes) - 1; i < n.len - 1; i++) {
		if (n.p[i] < '0' || n.p[i] > '9' || size > 100000)
			return;
		size = size * 10 + (uint32_t)(n.p[i] - '0');
	}
	out->has_size = true;
	out->size = size;
}

static struct key_name of_cache(const struct type *cache)
{
	struct key_name out = {.key = WIRE_KEY_UNKNOWN};
	struct text args = cache->args, item, rest;
	struct type key;

	if (is_path(cache->path, "DefIdCache")) {
		out.key = WIRE_KEY_DEF;
		strcpy(out.type, "DefId");
	} else if (is_path(cache->path, "SingleCache")) {
		out.key = WIRE_KEY_UNIT;
		strcpy(out.type, "()");
	} else if (is_path(cache->path, "VecCache") || is_path(cache->path, "DefaultCache")) {
		rest = args;
		if (!next_item(&rest, &item))
			return out;
		shorten(item, out.type);
		if (next_type(&args, &key))
			out.key = key_of(&key);
		args = rest;
	} else {
		return out;
	}
	read_size(&args, &out);
	return out;
}

/* The types behind `start`. The last byte is the '>' that ends `d`, or one of another list. */
static bool types_behind(const struct demangled *d, const char *start, struct text *list)
{
	const char *at = memmem(d->text, d->len, start, strlen(start));

	if (!at || d->text[d->len - 1] != '>')
		return false;
	list->p = at + strlen(start);
	list->len = (size_t)(d->text + d->len - 1 - list->p);
	return true;
}

/* The name of a task that executes a query has it in the type of the vtable. */
static bool find_cache(const struct demangled *d, struct type *cache)
{
	struct text list;

	if (types_behind(d, "::outline::<", &list))
		return types_behind(d, "::with_task<(&", &list) && next_type(&list, cache);
	return types_behind(d, "::try_execute_query::<", &list) && next_type(&list, cache);
}

/* The key of a guard that is dropped. */
static bool find_guarded(const struct demangled *d, struct text *key)
{
	static const char drop[] = " as core::ops::drop::Drop>::drop";
	struct text all = {d->text, d->len}, list;
	struct type guard;

	if (!ends_with(all, drop) || d->text[0] != '<')
		return false;
	list = (struct text){d->text + 1, d->len - strlen(drop) - 1};
	if (!next_type(&list, &guard) || list.len ||
	    (!is_path(guard.path, "ActiveJobGuard") && !is_path(guard.path, "JobOwner")))
		return false;
	return next_item(&guard.args, key) && !guard.args.len;
}

/* The key of a table's row, and what is behind it: the value, and an index. */
static bool find_tabled(const struct demangled *d, struct text *key, struct text *value)
{
	static const char start[] = "<hashbrown::raw::RawTable<", end[] = ">>::reserve_rehash::<";
	struct text all, row;
	const char *at = memmem(d->text, d->len, end, strlen(end));

	if (!at || d->len < strlen(start) || memcmp(d->text, start, strlen(start)))
		return false;
	all = (struct text){d->text + strlen(start), (size_t)(at - d->text) - strlen(start)};
	if (!next_item(&all, &row) || all.len || row.len < 2 || row.p[0] != '(')
		return false;
	row = (struct text){row.p + 1, row.len - 2};
	if (!next_item(&row, key) || !next_item(&row, value) || row.len || value->p[0] != '(')
		return false;
	*value = (struct text){value->p + 1, value->len - 2};
	return true;
}

static struct key_name of_guarded(struct text key)
{
	struct key_name out = {.key = WIRE_KEY_UNKNOWN};
	struct type type;

	shorten(key, out.type);
	if (!strcmp(out.type, "()"))
		out.key = WIRE_KEY_UNIT;
	else if (next_type(&key, &type))
		out.key = key_of(&type);
	return out;
}

struct key_name key_name__parse(const char *symbol)
{
	struct key_name none = {.key = WIRE_KEY_UNKNOWN};
	struct demangled d = {.len = 0};
	struct type cache;
	struct text list, value;

	if (!demangle(symbol, strcspn(symbol, "."), &d))
		return none;
	if (find_guarded(&d, &list))
		return of_guarded(list);
	if (find_tabled(&d, &list, &value)) {
		none = of_guarded(list);
		read_size(&value, &none);
		return none;
	}
	if (!find_cache(&d, &cache))
		return none;
	if (is_path(cache.path, "DynamicConfig") || is_path(cache.path, "QueryVTable")) {
		list = cache.args;
		if (!next_type(&list, &cache))
			return none;
	}
	return of_cache(&cache);
}

/* The type before `trait` in "<type as trait>::function". */
static bool of_impl(const char *symbol, const char *trait, char type[KEY_TYPE_MAX])
{
	struct demangled d = {.len = 0};
	size_t len = strlen(trait);
	const char *as;

	if (!demangle(symbol, strcspn(symbol, "."), &d) || d.len < len || d.text[0] != '<' ||
	    memcmp(d.text + d.len - len, trait, len))
		return false;
	as = memmem(d.text, d.len, " as ", 4);
	if (!as)
		return false;
	shorten((struct text){d.text + 1, (size_t)(as - d.text) - 1}, type);
	return type[0];
}

static bool has(const char *symbol, const char *text)
{
	return strstr(symbol, text);
}

/* Most symbols are none, and demangling takes time. */
bool key_name__of_span(const char *symbol, char type[KEY_TYPE_MAX])
{
	if (strncmp(symbol, "_RNvX", 5) || !has(symbol, "Key12default_span"))
		return false;
	return of_impl(symbol, "::QueryKey>::default_span", type) ||
	       of_impl(symbol, "::Key>::default_span", type);
}

bool key_name__of_debug(const char *symbol, char type[KEY_TYPE_MAX])
{
	return !strncmp(symbol, "_RNvX", 5) && has(symbol, "20PseudoCanonicalInput") &&
	       has(symbol, "5Debug3fmt") && of_impl(symbol, " as core::fmt::Debug>::fmt", type);
}

bool key_name__of_tagged(const char *symbol, const char *function)
{
	static const char type[] = "TaggedQueryKey>::";
	struct demangled d = {.len = 0};
	struct text t;

	if (strncmp(symbol, "_RNvM", 5) || !has(symbol, "14TaggedQueryKey") ||
	    !demangle(symbol, strcspn(symbol, "."), &d))
		return false;
	t = (struct text){d.text, d.len};
	if (!ends_with(t, function))
		return false;
	t.len -= strlen(function);
	return ends_with(t, type);
}
