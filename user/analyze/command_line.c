// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/command_line.h"

#include <string.h>

bool word__is(struct word word, const char *text)
{
	return word.len == strlen(text) && !memcmp(word.at, text, word.len);
}

struct word word__last_component(struct word path)
{
	const char *slash = path.len ? memrchr(path.at, '/', path.len) : NULL;

	return slash ? (struct word){slash + 1, (size_t)(path.at + path.len - slash - 1)} : path;
}

struct word command_line__next(const char **rest)
{
	const char *at = *rest + strspn(*rest, " ");
	size_t len = strcspn(at, " ");

	*rest = at + len;
	return (struct word){len ? at : NULL, len};
}

bool command_line__has(const char *command, const char *wanted)
{
	const char *rest = command ?: "";

	for (struct word word; (word = command_line__next(&rest)).at;) {
		if (word__is(word, wanted))
			return true;
	}
	return false;
}

struct word command_line__value(const char *command, const char *option)
{
	const char *rest = command ?: "";
	size_t len = strlen(option);

	for (struct word word; (word = command_line__next(&rest)).at;) {
		if (word__is(word, option))
			return command_line__next(&rest);
		if (word.len > len && !memcmp(word.at, option, len) && word.at[len] == '=')
			return (struct word){word.at + len + 1, word.len - len - 1};
	}
	return (struct word){0};
}

struct word command_line__source(const char *command)
{
	const char *rest = command ?: "";

	for (struct word word; (word = command_line__next(&rest)).at;) {
		if (*word.at != '-' && word.len > 3 && !memcmp(word.at + word.len - 3, ".rs", 3))
			return word;
	}
	return (struct word){0};
}
