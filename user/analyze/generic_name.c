// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/generic_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "plan/symbols/demangle.h"
#include "plan/symbols/function_name.h"

struct slice {
	const char *s;
	size_t len;
};

static char *copy(struct slice t)
{
	return strndup(t.s, t.len);
}

size_t generic_name_symbol_length(const char *symbol)
{
	const char *moved = strstr(symbol, ".llvm."), *suffix = function_name_suffix(symbol);

	return (size_t)((moved && moved < suffix ? moved : suffix) - symbol);
}

/* ---- Crates ---------------------------------------------------------------------------------- */

static size_t identifier_length(const char *s, size_t len)
{
	size_t n = 0;

	/* Identifiers may have letters that are not ASCII. */
	while (n < len && (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] & 0x80))
		n++;
	return n;
}

/* The first segment of the first path in a text: "alloc" of "&mut alloc::vec::Vec"; or none. */
static struct slice crate_of(struct slice t)
{
	for (size_t i = 0; i < t.len;) {
		size_t n = identifier_length(t.s + i, t.len - i);

		if (n && t.len - i - n >= 2 && !memcmp(t.s + i + n, "::", 2))
			return (struct slice){t.s + i, n};
		/* "mut ", "const ", "dyn ", "impl " precede a path. */
		if (n && (i + n == t.len || t.s[i + n] != ' '))
			break;
		i += n + 1;
	}
	return (struct slice){t.s, 0};
}

/* How far outside a crate of the standard library is; 0: it is none. */
static unsigned int standard_rank(struct slice crate)
{
	static const char *const names[] = {"core", "alloc", "std"};

	for (unsigned int i = 0; i < N_OF(names); i++)
		if (crate.len == strlen(names[i]) && !memcmp(crate.s, names[i], crate.len))
			return i + 1;
	return 0;
}

/* An impl is in the crate of its type or in that of its trait. */
static struct slice crate_of_impl(struct slice type, struct slice trait)
{
	struct slice of_type = crate_of(type), of_trait = crate_of(trait);
	unsigned int x = standard_rank(of_type), y = standard_rank(of_trait);

	if (!of_type.len || (x && of_trait.len && (!y || y > x)))
		return of_trait;
	return of_type;
}

/* ---- Legacy symbols -------------------------------------------------------------------------- */

/* The position of `what` outside of all brackets; t.len: it is nowhere. Stops at a '>' too many. */
static size_t find_outside(struct slice t, const char *what)
{
	size_t n = strlen(what);
	int depth = 0;

	for (size_t i = 0; i < t.len && depth >= 0; i++) {
		if (!depth && t.len - i >= n && !memcmp(t.s + i, what, n))
			return i;
		if (strchr("<([", t.s[i]))
			depth++;
		else if (strchr(")]", t.s[i]) || (t.s[i] == '>' && (!i || t.s[i - 1] != '-')))
			depth--;
	}
	return t.len;
}

/* A text with an impl, "<Type as Trait>::f" or "module::<impl Trait for Type>::f". */
struct impl {
	struct slice module, type, trait, rest;
};

static struct slice part(struct slice t, size_t from, size_t to)
{
	return (struct slice){t.s + from, to - from};
}

/* False if it has none, or one whose brackets do not close. */
static bool find_impl(struct slice t, struct impl *out)
{
	static const char impl[] = "<impl ", as[] = " as ", for_[] = " for ";
	const char *open = memmem(t.s, t.len, impl, strlen(impl));
	size_t start = open ? (size_t)(open - t.s) + strlen(impl) : 1, close, at;
	struct slice in;

	if (!open && (!t.len || t.s[0] != '<'))
		return false;
	in = part(t, start, t.len);
	close = find_outside(in, ">");
	if (close == in.len)
		return false;
	*out = (struct impl){.rest = part(in, close + 1, in.len)};
	out->module = part(t, 0, open ? (size_t)(open - t.s) : 0);
	in.len = close;
	at = find_outside(in, open ? for_ : as);
	out->type = part(in, 0, at);
	if (at == in.len)
		return true;
	out->trait = part(in, at + strlen(open ? for_ : as), in.len);
	if (open) {
		struct slice trait = out->type;

		out->type = out->trait;
		out->trait = trait;
	}
	return true;
}

/* A type or trait needs no brackets where it is a path. */
static char *written(const struct impl *impl)
{
	char *text;
	bool is_path = !impl->trait.len && crate_of(impl->type).s == impl->type.s &&
		       crate_of(impl->type).len;

	if (asprintf(&text, "%s%.*s%s%.*s%s%.*s", is_path ? "" : "<", (int)impl->type.len,
		     impl->type.s, impl->trait.len ? " as " : "", (int)impl->trait.len,
		     impl->trait.len ? impl->trait.s : "", is_path ? "" : ">", (int)impl->rest.len,
		     impl->rest.s) < 0)
		return NULL;
	return text;
}

/*
 * Whether a legacy symbol is that of one definition: not in a generic impl or an impl of a trait,
 * of which there may be several, and no closure, nor in one. Arguments of the function itself, as
 * of drop_in_place, are at the end.
 */
static bool tells_definition(struct slice text)
{
	size_t last = 0, depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.s[i] == '<')
			depth++;
		else if (text.s[i] == '>' && depth && text.s[i - 1] != '-')
			depth--;
		else if (!depth && i + 2 < text.len && !memcmp(text.s + i, "::", 2))
			last = i + 2;
	}
	return !memchr(text.s, '<', last) && !memchr(text.s, '{', last) &&
	       (last == text.len || (text.s[last] != '<' && text.s[last] != '{'));
}

/* As name_v0(). */
static bool name_legacy(struct slice text, struct generic_name *out)
{
	struct impl impl = {};
	bool has_impl = find_impl(text, &impl);
	_free_ char *whole = has_impl ? written(&impl) : copy(text);
	struct slice crate = crate_of(text);
	char *to = whole;

	if (!whole)
		return false;
	if (has_impl)
		crate = impl.module.len ? crate_of(impl.module)
					: crate_of_impl(impl.type, impl.trait);
	/* "{{closure}}" has more braces than that of a v0 symbol. */
	for (const char *p = whole; *p; p++) {
		*to++ = *p;
		if ((*p == '{' || *p == '}') && p[1] == *p)
			p++;
	}
	*to = '\0';
	out->is_one = tells_definition(text);
	out->path = code_name_plain(whole);
	out->definition = out->path ? strdup(out->path) : NULL;
	out->crate = crate.len ? copy(crate) : NULL;
	return out->path && out->definition && (out->crate || !crate.len);
}

/* ---- v0 symbols ------------------------------------------------------------------------------ */

static bool put_v0(struct slice symbol, enum v0_style style, struct demangled *d, char **out)
{
	d->len = 0;
	if (demangle_v0(symbol.s + 2, symbol.len - 2, style, d))
		*out = copy((struct slice){d->text, d->len});
	return *out;
}

/* False: out of memory, or the text exceeds a limit. */
static bool name_v0(struct slice symbol, struct demangled *d, struct generic_name *out)
{
	if (!put_v0(symbol, V0_PLAIN, d, &out->path) ||
	    !put_v0(symbol, V0_ANY_TYPE, d, &out->any_path) ||
	    !put_v0(symbol, V0_DEFINITION, d, &out->definition))
		return false;
	if (!strcmp(out->path, out->any_path)) {
		free(out->any_path);
		out->any_path = NULL;
	}
	out->crate = strndup(out->definition, strcspn(out->definition, ":"));
	out->is_one = true;
	return out->crate;
}

int generic_name__of(const char *symbol, struct generic_name *out)
{
	struct slice base = {symbol, generic_name_symbol_length(symbol)};
	struct slice most = {symbol, base.len < SYMBOL_MAX ? base.len : SYMBOL_MAX};
	_free_ struct demangled *d = malloc(sizeof(*d));
	struct generic_name name = {};
	bool named;

	if (!d)
		return -ENOMEM;
	named = base.len <= SYMBOL_MAX && demangle(symbol, base.len, d) && d->len;
	/* A legacy symbol has a point in place of "-". */
	for (size_t i = 1; named && symbol[1] != 'R' && i < d->len; i++)
		if (d->text[i] == '>' && d->text[i - 1] == '.')
			d->text[i - 1] = '-';
	named = named && (symbol[1] == 'R' ? name_v0(base, d, &name)
					   : name_legacy((struct slice){d->text, d->len}, &name));
	if (!named) {
		/* The symbol itself, of which nothing is known. */
		generic_name__clear(&name);
		name = (struct generic_name){
			.path = copy(most), .definition = copy(most), .is_one = true};
	}
	if (!name.path || !name.definition) {
		generic_name__clear(&name);
		return -ENOMEM;
	}
	*out = name;
	return 0;
}

void generic_name__clear(struct generic_name *n)
{
	free(n->path);
	free(n->any_path);
	free(n->definition);
	free(n->crate);
	*n = (struct generic_name){};
}
