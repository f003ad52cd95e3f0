// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/function_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/symbols/demangle.h"
#include "base/array.h"

/* A legacy name contains dots itself. */
const char *function_name_suffix(const char *symbol)
{
	const char *end;

	if (!strncmp(symbol, "_R", 2)) {
		end = strchr(symbol, '.');
	} else {
		end = strstr(symbol, "E.");
		for (const char *next = end; next; next = strstr(next + 1, "E."))
			end = next;
		end = end ? end + 1 : NULL;
	}
	return end ? end : symbol + strlen(symbol);
}

/*
 * Demangle the name without its suffix, and set *suffix to that; the result is empty if the name is
 * no Rust name.
 */
static struct demangled *demangle_base(const char *symbol, const char **suffix)
{
	_free_ struct demangled *d = malloc(sizeof(*d));
	size_t len;

	*suffix = function_name_suffix(symbol);
	if (!d)
		return NULL;
	len = (size_t)(*suffix - symbol);
	if (len > SYMBOL_MAX || !demangle(symbol, len, d))
		d->len = 0;
	return take_ptr(d);
}

char *function_name(const char *symbol)
{
	const char *suffix;
	_free_ struct demangled *d = demangle_base(symbol, &suffix);
	char *name = NULL;

	if (!d)
		return NULL;
	if (!d->len)
		return strdup(symbol);
	/*
	 * Skip the number that LLVM adds to a name when it moves the function to another module: it
	 * means nothing to a person.
	 */
	if (!strncmp(suffix, ".llvm.", 6))
		suffix += 6 + strspn(suffix + 6, "0123456789");
	if (asprintf(&name, "%.*s%s", (int)d->len, d->text, suffix) < 0)
		return NULL;
	return name;
}

/* Part of a name in Rust syntax. */
struct text {
	const char *s, *end;
};

/*
 * The depth of brackets after `c`, if it was `depth` before and `last` is the previous character.
 */
static int depth_after(char last, char c, int depth)
{
	if (strchr("<([{", c))
		return depth + 1;
	/* The '>' of "->" does not close a bracket. */
	return strchr(">)]}", c) && !(c == '>' && last == '-') ? depth - 1 : depth;
}

/*
 * The position after the bracket that closes the first bracket of `t`; the end of `t` if no bracket
 * does.
 */
static const char *behind_brackets(struct text t)
{
	int depth = 0;
	char last = '\0';

	for (const char *p = t.s; p < t.end; p++) {
		depth = depth_after(last, *p, depth);
		if (!depth)
			return p + 1;
		last = *p;
	}
	return t.end;
}

/* "Type" of "Type as Trait>", or of "Type>". */
static struct text self_type(struct text t)
{
	static const char as[] = " as ";
	int depth = 0;
	char last = '\0';

	for (const char *p = t.s; p < t.end; p++) {
		bool is_end = (size_t)(t.end - p) >= strlen(as) && !memcmp(p, as, strlen(as));

		depth = depth_after(last, *p, depth);
		if (depth < 0 || (!depth && is_end))
			return (struct text){t.s, p};
		last = *p;
	}
	return t;
}

/*
 * Write the path of `t` to `out`, which has room for all of it. Returns the end of the written
 * text.
 */
static char *shorten(struct text t, char *out)
{
	const char *start = out;

	if (t.s < t.end && *t.s == '<') {
		const char *behind = behind_brackets(t);

		out = shorten(self_type((struct text){t.s + 1, behind}), out);
		t.s = behind;
	}
	while (t.s < t.end) {
		if (*t.s == '<') {
			/* Remove the "::" before the arguments of a function. */
			if (out - start >= 2 && out[-1] == ':')
				out -= 2;
			t.s = behind_brackets(t);
		} else if (*t.s == '{') {
			/* Legacy names have two opening braces. */
			const char *word = t.s + (t.end - t.s > 1 && t.s[1] == '{');

			t.s = behind_brackets(t);
			while (word < t.s && !strchr("#:}", *word))
				*out++ = *word++;
			*out++ = '}';
		} else {
			*out++ = *t.s++;
		}
	}
	return out;
}

char *function_path(const char *symbol)
{
	const char *suffix;
	_free_ struct demangled *d = demangle_base(symbol, &suffix);
	char *path;

	if (!d)
		return NULL;
	if (!d->len)
		return strdup(symbol);
	/* The writer closes an unclosed bracket, so the text may grow. */
	path = malloc(2 * d->len + 1);
	if (path)
		*shorten((struct text){d->text, d->text + d->len}, path) = '\0';
	return path;
}

/* ---- Symbols that are known ------------------------------------------------------------------ */

/* rustc 1.97 has 4,000. */
#define KNOWN_MOST (1u << 16)

int known_symbols__find(struct elf_image *img, struct known_symbols *out)
{
	const struct elf_symbol *syms;
	size_t n;
	int err;

	*out = (struct known_symbols){0};
	err = elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; i < n && !err; i++) {
		struct known_symbol known = {.sym = &syms[i]};

		name_classify(syms[i].name, &known.info);
		if (known.info.kind != NAME_OTHER)
			err = out->n == KNOWN_MOST
				      ? -EFBIG
				      : array__add(&out->items, &out->n, &out->capacity, &known);
	}
	return err;
}

void known_symbols__destroy(struct known_symbols *k)
{
	free(k->items);
	*k = (struct known_symbols){0};
}
