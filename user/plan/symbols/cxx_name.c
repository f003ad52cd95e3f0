// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/cxx_name.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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
