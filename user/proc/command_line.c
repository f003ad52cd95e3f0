// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/command_line.h"

#include <string.h>

#include "proc/programs.h"

/* ---- Words ----------------------------------------------------------------------------------- */

bool word__is(struct word word, const char *text)
{
	return word.len == strlen(text) && (!word.len || !memcmp(word.at, text, word.len));
}

bool word__contains(struct word word, const char *text)
{
	return word.len && memmem(word.at, word.len, text, strlen(text));
}

struct word word__last_component(struct word path)
{
	const char *slash = path.len ? memrchr(path.at, '/', path.len) : NULL;

	return slash ? (struct word){slash + 1, (size_t)(path.at + path.len - slash - 1)} : path;
}

struct word word__directory(struct word path)
{
	struct word last = word__last_component(path);

	return last.len == path.len ? (struct word){path.at, 0}
				    : (struct word){path.at, path.len - last.len - 1};
}

bool word__names_compiler(struct word path)
{
	struct word name = word__last_component(path);

	return name.at && is_compiler_name(name.at, name.len);
}

struct command_line command_line_joined(const char *text)
{
	const char *at = text ?: "";

	return (struct command_line){at, at + strlen(at), ' '};
}

struct command_line command_line_raw(const char *args, size_t size)
{
	/* Nothing may be added to NULL, not even 0. */
	const char *at = args ?: "";

	return (struct command_line){at, at + size, '\0'};
}

struct word command_line__next(struct command_line *rest)
{
	const char *at, *end;

	while (rest->separator && rest->at < rest->end && *rest->at == rest->separator)
		rest->at++;
	if (rest->at == rest->end)
		return (struct word){0};
	at = rest->at;
	end = memchr(at, rest->separator, (size_t)(rest->end - at)) ?: rest->end;
	rest->at = end < rest->end ? end + 1 : end;
	return (struct word){at, (size_t)(end - at)};
}

size_t command_line_file_at(const char *args, size_t size)
{
	for (size_t i = 1; i < size; i++)
		if (args[i] == '@' && !args[i - 1])
			return i;
	return size;
}

/* ---- Options --------------------------------------------------------------------------------- */

bool command_line__has(struct command_line line, const char *wanted)
{
	for (struct word word; (word = command_line__next(&line)).at;)
		if (word__is(word, wanted))
			return true;
	return false;
}

struct word command_line__value(struct command_line line, const char *option)
{
	size_t len = strlen(option);

	for (struct word word; (word = command_line__next(&line)).at;) {
		if (word__is(word, option))
			return command_line__next(&line);
		if (word.len > len && !memcmp(word.at, option, len) && word.at[len] == '=')
			return (struct word){word.at + len + 1, word.len - len - 1};
	}
	return (struct word){0};
}

struct word command_line__codegen(struct command_line line, const char *name)
{
	size_t len = strlen(name);

	for (struct word word; (word = command_line__next(&line)).at;) {
		if (word.len > 2 && !memcmp(word.at, "-C", 2))
			word = (struct word){word.at + 2, word.len - 2};
		if (word.len > len && !memcmp(word.at, name, len) && word.at[len] == '=')
			return (struct word){word.at + len + 1, word.len - len - 1};
	}
	return (struct word){0};
}

struct word command_line__source(struct command_line line)
{
	for (struct word word; (word = command_line__next(&line)).at;)
		if (word.len > 3 && *word.at != '-' && !memcmp(word.at + word.len - 3, ".rs", 3))
			return word;
	return (struct word){0};
}

bool command_line__may_contain(struct command_line line, const char *text, bool truncated)
{
	bool may = truncated || line.at == line.end;

	for (struct word word; (word = command_line__next(&line)).at;)
		may |= word__contains(word, text);
	return may;
}
