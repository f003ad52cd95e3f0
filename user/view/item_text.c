// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/item_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "qprof/measureme_format.h"

#define CUT   ".."
#define SHORT 8 /* columns of a name that are left if the path needs room */

/*
 * The path gets what the name leaves, but at least two thirds. Its end tells it apart from
 * others.
 */
static void cut_both(const char *text, const char *open, size_t columns, char out[ITEM_TEXT_MAX])
{
	_free_ char *name = strndup(text, (size_t)(open - text));
	_free_ char *item = strndup(open + 1, strlen(open) - 2);
	size_t names = columns / 3 > SHORT ? columns / 3 : SHORT, room;
	const char *from, *mark = "";

	if (!name || !item)
		return;
	if (format_width(name) + format_width(item) + 2 > columns && format_width(name) > names) {
		name[format_fit(name, names - strlen(CUT))] = '\0';
		mark = CUT;
	}
	room = columns - format_width(name) - strlen(mark) - strlen("()");
	from = format_width(item) > room ? format_fit_end(item, room - strlen(CUT)) : item;
	snprintf(out, ITEM_TEXT_MAX, "%s%s(%s%s)", name, mark, from == item ? "" : CUT, from);
}

void item_text__cut(char text[ITEM_TEXT_MAX], size_t columns)
{
	char *open = strchr(text, '('), cut[ITEM_TEXT_MAX] = "";
	size_t len = strlen(text);

	if (format_width(text) <= columns)
		return;
	if (open && text[len - 1] == ')' && columns >= 2 * SHORT)
		cut_both(text, open, columns, cut);
	if (cut[0])
		memcpy(text, cut, sizeof(cut));
	else
		format_cut(text, columns);
}

void item_text__cut_start(char text[ITEM_TEXT_MAX], size_t columns)
{
	const char *end = text;

	if (format_width(text) > columns && columns > strlen(CUT))
		end = format_fit_end(text, columns - strlen(CUT));
	if (end == text)
		return;
	memmove(text + strlen(CUT), end, strlen(end) + 1);
	memcpy(text, CUT, strlen(CUT));
}

/* "unit, 12" of two arguments. */
static char *join(const char *item)
{
	_free_ char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (; *item; item++) {
		if (*item == MM_SEPARATOR)
			fputs(", ", to);
		else
			fputc(*item, to);
	}
	return fclose(to) ? NULL : take_ptr(text);
}

void item_text(char buf[ITEM_TEXT_MAX], size_t columns, const char *name, const char *item)
{
	bool about = item && *item;
	_free_ char *joined = about ? join(item) : NULL;
	_free_ char *text = NULL, *clean = NULL;
	int n = joined ? asprintf(&text, "%s(%s)", name, joined) : asprintf(&text, "%s", name);

	buf[0] = '\0';
	if (n < 0)
		text = NULL;
	else
		clean = format_clean(text);
	if (!clean)
		return;
	snprintf(buf, ITEM_TEXT_MAX, "%s", clean);
	item_text__cut(buf, columns);
}
