// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/function_name.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/cleanup.h"

/* Bytes of a symbol that is read once for each of its beginnings. */
#define SUSPECT_MAX 2048

struct demangled {
	char text[FUNCTION_NAME_MAX];
	size_t len;
	jmp_buf too_long;
};

/*
 * Back references make a few bytes stand for gigabytes of text, and the demangler cannot be told to
 * stop: it is left. What it may have allocated for a name with letters beyond ASCII is lost then.
 */
static void on_piece(const char *piece, size_t len, void *ctx)
{
	struct demangled *d = ctx;

	/* Of nothing there may be no address either. */
	if (!len)
		return;
	if (len > FUNCTION_NAME_MAX - d->len)
		longjmp(d->too_long, 1);
	memcpy(d->text + d->len, piece, len);
	d->len += len;
}

/* True if a number of more than one digit, of 62, may follow a `tag`. */
static bool has_long_number(const char *symbol, const char *tag)
{
	for (const char *p = symbol; (p = strstr(p, tag)); p++) {
		const char *number = p + strlen(tag), *end = number;

		while (isalnum((unsigned char)*end))
			end++;
		if (end - number > 1 && *end == '_')
			return true;
	}
	return false;
}

/* True if an impl may stand in what is generic or of another impl: such a place has types. */
static bool has_odd_impl(const char *symbol)
{
	for (const char *p = symbol; (p = strpbrk(p, "MX")); p++) {
		const char *place = p + 1;

		if (*place == 's') {
			while (isalnum((unsigned char)*place))
				place++;
			if (*place++ != '_')
				continue;
		}
		while (*place == 'N' && isalpha((unsigned char)place[1]))
			place += 2;
		if (*place && strchr("IMXY", *place))
			return true;
	}
	return false;
}

/* What is printed ends when it is too long, with -E2BIG. */
static int demangle_start(const char *symbol, size_t len, struct demangled *d)
{
	_free_ char *start = strndup(symbol, len);

	d->len = 0;
	if (!start)
		return -ENOMEM;
	if (setjmp(d->too_long))
		return -E2BIG;
	return rust_demangle_callback(start, DMGL_RUST, on_piece, d) ? 0 : -EILSEQ;
}

/*
 * The demangler counts the lifetimes that a "dyn" or "fn" type is for one by one. Where it prints
 * nothing, nothing stops it: "FGzzzzzz_" would keep it for days. That is in the place of an impl,
 * and in what may follow a path, the crate it was made for. What looks like that may also be part
 * of an identifier or a hash: to tell would take a second demangler. So such a symbol must have no
 * impl with types in its place, and its path is read alone: the first of its beginnings that is
 * whole. All before it end, too early, in what is printed.
 */
static int demangle_path(const char *symbol, struct demangled *d)
{
	size_t len = strlen(symbol);
	int err = -EILSEQ;

	if (len > SUSPECT_MAX || has_odd_impl(symbol))
		return -E2BIG;
	for (size_t end = strlen("_RC"); err == -EILSEQ && end <= len; end++)
		err = demangle_start(symbol, end, d);
	return err;
}

static int demangle(const char *symbol, struct demangled *d)
{
	size_t len = strlen(symbol);

	/* Letters beyond ASCII take it a time that grows with the square of a name's length. */
	if (len > SYMBOL_MAX)
		return -E2BIG;
	if (!strncmp(symbol, "_R", 2) &&
	    (has_long_number(symbol, "DG") || has_long_number(symbol, "FG")))
		return demangle_path(symbol, d);
	return demangle_start(symbol, len, d);
}

/* Where the mangled name ends: what follows is not Rust's. A legacy one has dots of its own. */
static const char *suffix_of(const char *symbol)
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

/* LLVM's number of a module that a name was taken into says nothing to a person. */
static const char *without_llvm(const char *suffix)
{
	if (strncmp(suffix, ".llvm.", 6))
		return suffix;
	return suffix + 6 + strspn(suffix + 6, "0123456789");
}

/* The name without its suffix, to which *suffix points; empty if it is none of Rust's. */
static struct demangled *demangle_base(const char *symbol, const char **suffix)
{
	_free_ char *base = NULL;
	_free_ struct demangled *d = malloc(sizeof(*d));

	*suffix = suffix_of(symbol);
	base = strndup(symbol, (size_t)(*suffix - symbol));
	if (!base || !d)
		return NULL;
	if (demangle(base, d))
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
	if (asprintf(&name, "%.*s%s", (int)d->len, d->text, without_llvm(suffix)) < 0)
		return NULL;
	return name;
}

/* Part of a name as Rust writes it. */
struct text {
	const char *s, *end;
};

/* How deep in brackets a text is behind `c`, if it was at `depth` before, and `last` came before.
 */
static int depth_after(char last, char c, int depth)
{
	if (strchr("<([{", c))
		return depth + 1;
	/* "->" closes nothing. */
	return strchr(">)]}", c) && !(c == '>' && last == '-') ? depth - 1 : depth;
}

/* What is behind the bracket that closes the one `t` begins with: the end of `t` if none does. */
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

/* Writes the path of `t` to `out`, where there is room for all of it; the end of what it wrote. */
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
			/* Without the "::" before the arguments of a function. */
			if (out - start >= 2 && out[-1] == ':')
				out -= 2;
			t.s = behind_brackets(t);
		} else if (*t.s == '{') {
			/* Legacy names have two. */
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
	/* A bracket that nothing closes is closed. */
	path = malloc(2 * d->len + 1);
	if (path)
		*shorten((struct text){d->text, d->text + d->len}, path) = '\0';
	return path;
}
