// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One pass over the grammar of v0. Back references are not followed: what they stand for is either
 * written before (the module of an impl) or left out (types), and a few bytes of them can stand
 * for gigabytes of text.
 */
#include "plan/function_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct printer {
	const char *p;
	char *out; /* as long as the name, and a bit: nothing is written that was not read */
	size_t len;
	bool quiet; /* what is read now is left out */
	int depth;
};

static bool path(struct printer *c);
static bool type(struct printer *c);

static bool eat(struct printer *c, char ch)
{
	if (*c->p != ch)
		return false;
	c->p++;
	return true;
}

static bool base62(struct printer *c)
{
	while (isalnum((unsigned char)*c->p))
		c->p++;
	return eat(c, '_');
}

static void put(struct printer *c, const char *s, size_t len)
{
	if (c->quiet || !len)
		return;
	if (c->len) {
		memcpy(c->out + c->len, "::", 2);
		c->len += 2;
	}
	memcpy(c->out + c->len, s, len);
	c->len += len;
}

static bool identifier(struct printer *c, const char *nameless)
{
	size_t len = 0;

	if (eat(c, 's') && !base62(c))
		return false;
	eat(c, 'u');
	if (!isdigit((unsigned char)*c->p))
		return false;
	if (!eat(c, '0'))
		while (isdigit((unsigned char)*c->p) && len < 100000)
			len = len * 10 + (*c->p++ - '0');
	eat(c, '_');
	if (strnlen(c->p, len) < len)
		return false;
	if (len)
		put(c, c->p, len);
	else
		put(c, nameless, strlen(nameless));
	c->p += len;
	return true;
}

/* Runs `read` without printing. */
static bool quietly(struct printer *c, bool (*read)(struct printer *))
{
	bool quiet = c->quiet, ok;

	c->quiet = true;
	ok = read(c);
	c->quiet = quiet;
	return ok;
}

static bool constant(struct printer *c)
{
	if (eat(c, 'p'))
		return true;
	if (eat(c, 'B'))
		return base62(c);
	if (!islower((unsigned char)*c->p))
		return false;
	c->p++;
	eat(c, 'n');
	while (isxdigit((unsigned char)*c->p))
		c->p++;
	return eat(c, '_');
}

static bool argument(struct printer *c)
{
	if (eat(c, 'L'))
		return base62(c);
	return eat(c, 'K') ? constant(c) : type(c);
}

static bool until_end(struct printer *c, bool (*read)(struct printer *))
{
	while (!eat(c, 'E'))
		if (!read(c))
			return false;
	return true;
}

static bool function_type(struct printer *c)
{
	if (eat(c, 'G') && !base62(c))
		return false;
	eat(c, 'U');
	if (eat(c, 'K') && !eat(c, 'C') && !identifier(c, ""))
		return false;
	return until_end(c, type) && type(c);
}

static bool dyn_trait(struct printer *c)
{
	if (!path(c))
		return false;
	while (eat(c, 'p'))
		if (!identifier(c, "") || !type(c))
			return false;
	return true;
}

static bool type_inside(struct printer *c)
{
	switch (*c->p) {
	case 'A':
		return c->p++, type(c) && constant(c);
	case 'S':
	case 'P':
	case 'O':
		return c->p++, type(c);
	case 'R':
	case 'Q':
		c->p++;
		return (!eat(c, 'L') || base62(c)) && type(c);
	case 'T':
		return c->p++, until_end(c, type);
	case 'F':
		return c->p++, function_type(c);
	case 'D':
		c->p++;
		return (!eat(c, 'G') || base62(c)) && until_end(c, dyn_trait) && eat(c, 'L') &&
		       base62(c);
	default:
		if (islower((unsigned char)*c->p))
			return c->p++, true;
		return path(c);
	}
}

static bool type(struct printer *c)
{
	bool ok = c->depth++ < DEPTH_MAX && type_inside(c);

	c->depth--;
	return ok;
}

static bool generic_arguments(struct printer *c)
{
	return until_end(c, argument);
}

static bool nested(struct printer *c)
{
	char namespace = *c->p;

	if (!isalpha((unsigned char)namespace))
		return false;
	c->p++;
	return path(c) && identifier(c, namespace == 'C' ? "{closure}" : "{shim}");
}

static bool impl(struct printer *c, bool of_trait)
{
	if (eat(c, 's') && !base62(c))
		return false;
	return path(c) && type(c) && (!of_trait || quietly(c, path));
}

static bool path_inside(struct printer *c)
{
	switch (*c->p++) {
	case 'C':
		return identifier(c, "");
	case 'N':
		return nested(c);
	case 'I':
		return path(c) && quietly(c, generic_arguments);
	case 'M':
		return impl(c, false);
	case 'X':
		return impl(c, true);
	case 'Y':
		return type(c) && quietly(c, path);
	case 'B':
		return base62(c);
	default:
		c->p--;
		return false;
	}
}

static bool path(struct printer *c)
{
	bool ok = c->depth++ < DEPTH_MAX && path_inside(c);

	c->depth--;
	return ok;
}

/* <length name>... 17h<hash> E */
static bool legacy(struct printer *c)
{
	while (isdigit((unsigned char)*c->p)) {
		const char *s = c->p;
		size_t len = strtoul(s, (char **)&s, 10);

		if (len > 100000 || strnlen(s, len) < len)
			return false;
		if (len == 17 && *s == 'h' && s[len] == 'E')
			return true;
		put(c, s, len);
		c->p = s + len;
	}
	return false;
}

char *function_path(const char *symbol)
{
	/* A nameless closure takes two bytes; "::{closure}" eleven. */
	struct printer c = {.p = symbol, .out = malloc(6 * strlen(symbol) + 16)};
	bool ok = false;

	if (!c.out)
		return NULL;
	if (!strncmp(symbol, "_ZN", 3)) {
		c.p += 3;
		ok = legacy(&c);
	} else if (!strncmp(symbol, "_R", 2)) {
		c.p += 2;
		ok = path(&c);
	}
	c.out[c.len] = '\0';
	if (!ok || !c.len)
		strcpy(c.out, symbol);
	return c.out;
}
