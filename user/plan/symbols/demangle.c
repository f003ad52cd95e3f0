// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The legacy mangling: _ZN <length name>... 17h<16 hex digits> E. A name contains types as text,
 * with escapes for characters that a symbol cannot have.
 */
#include "plan/symbols/demangle.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* "17h" and the digits. */
#define HASH_LEN 19

struct word {
	const char *s;
	size_t len;
};

/* Value of a lower-case hex digit; -1 for any other character. */
static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "h" and 16 digits, at least five of them different: fewer are unlikely in a hash. */
static bool is_hash(struct word w)
{
	uint32_t seen = 0;

	if (w.len != 17 || w.s[0] != 'h')
		return false;
	for (size_t i = 1; i < w.len; i++) {
		int digit = hex_digit(w.s[i]);

		if (digit < 0)
			return false;
		seen |= 1u << digit;
	}
	return __builtin_popcount(seen) >= 5;
}

/* The character of the escape at the start of `w`, and its length; 0 if it is unknown. */
static char escape(struct word w, size_t *len)
{
	static const struct {
		const char *name;
		char c;
	} escapes[] = {{"C", ','},  {"SP", '@'}, {"BP", '*'}, {"RF", '&'},
		       {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}};
	const char *end = memchr(w.s + 1, '$', w.len - 1);
	struct word name = {w.s + 1, end ? (size_t)(end - w.s - 1) : 0};
	int high, low;

	*len = name.len + 2;
	for (size_t i = 0; i < N_OF(escapes); i++) {
		if (name.len == strlen(escapes[i].name) &&
		    !memcmp(name.s, escapes[i].name, name.len))
			return escapes[i].c;
	}
	/* "$u7b$" and similar ones: printable ASCII only. */
	if (name.len != 3 || name.s[0] != 'u')
		return '\0';
	high = hex_digit(name.s[1]);
	low = hex_digit(name.s[2]);
	return high >= 2 && high < 8 && low >= 0 ? (char)(high << 4 | low) : '\0';
}

static bool put_word(struct demangled *d, struct word w)
{
	bool fits = true;

	/* A name that begins with an escape has this prefix, to be an identifier. */
	if (w.len >= 2 && w.s[0] == '_' && w.s[1] == '$') {
		w.s++;
		w.len--;
	}
	while (w.len && fits) {
		size_t len = 0;
		char c;

		if (w.s[0] == '$') {
			c = escape(w, &len);
			if (!c)
				len = w.len;
			fits = c ? demangled__put(d, &c, 1) : demangled__put(d, w.s, w.len);
		} else if (w.s[0] == '.') {
			len = w.len >= 2 && w.s[1] == '.' ? 2 : 1;
			fits = demangled__put(d, len == 2 ? "::" : ".", len);
		} else {
			while (len < w.len && w.s[len] != '$' && w.s[len] != '.')
				len++;
			fits = demangled__put(d, w.s, len);
		}
		w.s += len;
		w.len -= len;
	}
	return fits;
}

/* Take <length name> off `rest`. */
static bool take_word(struct word *rest, struct word *w)
{
	size_t len = 0;

	if (!rest->len || *rest->s == '0')
		return false;
	for (; rest->len && isdigit((unsigned char)*rest->s); rest->s++, rest->len--) {
		len = len * 10 + (size_t)(*rest->s - '0');
		if (len > rest->len)
			return false;
	}
	if (!len || len > rest->len)
		return false;
	*w = (struct word){rest->s, len};
	rest->s += len;
	rest->len -= len;
	return true;
}

static bool has_only(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)s[i]) && (!s[i] || !strchr(more, s[i])))
			return false;
	}
	return true;
}

/* `s` follows "_ZN". */
static bool demangle_legacy(const char *s, size_t len, struct demangled *d)
{
	struct word rest, w;

	if (len <= HASH_LEN + 1 || s[len - 1] != 'E' || !has_only(s, len, "_$.:@"))
		return false;
	rest = (struct word){s, len - 1};
	while (rest.len > HASH_LEN) {
		if (!take_word(&rest, &w) || rest.len < HASH_LEN || !put_word(d, w))
			return false;
		if (rest.len > HASH_LEN && !demangled__put(d, "::", 2))
			return false;
	}
	return take_word(&rest, &w) && !rest.len && is_hash(w);
}

bool demangle(const char *symbol, size_t len, struct demangled *d)
{
	d->len = 0;
	if (len >= 3 && !memcmp(symbol, "_ZN", 3))
		return demangle_legacy(symbol + 3, len - 3, d);
	if (len >= 2 && !memcmp(symbol, "_R", 2) && has_only(symbol, len, "_"))
		return demangle_v0(symbol + 2, len - 2, V0_FULL, d);
	return false;
}

/* ---- Names of C++ ---------------------------------------------------------------------------- */

#define ANONYMOUS "_GLOBAL__N_"

/* Read a name preceded by its length, "4llvm". NULL if there is none, or it exceeds the text. */
static const char *take_part(const char **at, size_t *len)
{
	const char *name;
	char *end;

	if (!isdigit((unsigned char)**at))
		return NULL;
	*len = strtoul(*at, &end, 10);
	name = end;
	if (*len > strlen(name))
		return NULL;
	*at = name + *len;
	return name;
}

/*
 * Skip arguments: from behind "I" to the matching "E". Names are skipped whole, as they may contain
 * these letters.
 */
static const char *skip_arguments(const char *at)
{
	unsigned int depth = 1;

	while (*at && depth) {
		const char *before = at;
		size_t len;

		if (take_part(&at, &len))
			continue;
		at = before + 1;
		depth += strchr("INJXL", *before) != NULL;
		depth -= *before == 'E';
	}
	return at;
}

static void put_part(FILE *to, const char *name, size_t len, bool first)
{
	fputs(first ? "" : "::", to);
	if (len > strlen(ANONYMOUS) && !strncmp(name, ANONYMOUS, strlen(ANONYMOUS)))
		fputs("{anonymous}", to);
	else
		fprintf(to, "%.*s", (int)len, name);
}

/* Nested names are a list that ends with E; any other name is a single one. */
static unsigned int put_path(FILE *to, const char *at, bool nested)
{
	unsigned int n = 0, most = nested ? UINT_MAX : 1;
	const char *name;
	size_t len;

	while (nested && *at && strchr("KVrRO", *at))
		at++;
	if (!strncmp(at, "St", 2)) {
		put_part(to, "std", 3, true);
		at += 2;
		n++;
		most += !nested;
	}
	for (;;) {
		if (n && *at == 'I')
			at = skip_arguments(at + 1);
		name = n < most ? take_part(&at, &len) : NULL;
		if (!name)
			return n;
		put_part(to, name, len, n++ == 0);
	}
}

char *cxx_name(const char *symbol)
{
	bool nested = !strncmp(symbol, "_ZN", 3);
	_free_ char *text = NULL;
	unsigned int n;
	size_t size;
	FILE *to;

	if (strncmp(symbol, "_Z", 2))
		return NULL;
	to = open_memstream(&text, &size);
	if (!to)
		return NULL;
	n = put_path(to, symbol + (nested ? 3 : 2), nested);
	if (fclose(to) || !n)
		return NULL;
	return take_ptr(text);
}
