// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 200
#define HASH_DIGITS    16

/* A piece of a command line; nothing if `at` is NULL. */
struct word {
	const char *at;
	size_t len;
};

/* Arguments are joined by spaces. */
static struct word next_word(const char **rest)
{
	const char *at = *rest + strspn(*rest, " ");
	size_t len = strcspn(at, " ");

	*rest = at + len;
	return (struct word){len ? at : NULL, len};
}

static bool is(struct word word, const char *text)
{
	return word.len == strlen(text) && !memcmp(word.at, text, word.len);
}

/* The first value of an option, as "--name value" or "--name=value". */
static struct word value_of(const char *command, const char *option)
{
	const char *rest = command ?: "";
	size_t len = strlen(option);

	for (struct word word; (word = next_word(&rest)).at;) {
		if (is(word, option))
			return next_word(&rest);
		if (word.len > len && !memcmp(word.at, option, len) && word.at[len] == '=')
			return (struct word){word.at + len + 1, word.len - len - 1};
	}
	return (struct word){0};
}

static bool has_word(const char *command, const char *wanted)
{
	const char *rest = command ?: "";

	for (struct word word; (word = next_word(&rest)).at;) {
		if (is(word, wanted))
			return true;
	}
	return false;
}

static bool is_hash(const char *text)
{
	return strspn(text, "0123456789abcdef") >= HASH_DIGITS;
}

/* Of target/debug/build/NAME-HASH, where cargo puts build scripts, NAME. */
static struct word package_of_build_script(const struct trace_process *p)
{
	struct word dir = value_of(p->command, "--out-dir"), last = dir;

	if (!p->crate || strncmp(p->crate, "build_script_", strlen("build_script_")) || !dir.at)
		return (struct word){0};
	for (size_t i = 0; i < dir.len; i++) {
		if (dir.at[i] == '/')
			last = (struct word){dir.at + i + 1, dir.len - i - 1};
	}
	if (last.len < HASH_DIGITS + 2 || last.at[last.len - HASH_DIGITS - 1] != '-' ||
	    !is_hash(last.at + last.len - HASH_DIGITS))
		return (struct word){0};
	return (struct word){last.at, last.len - HASH_DIGITS - 1};
}

char *compile_name(const struct trace_process *p)
{
	struct word package = package_of_build_script(p);
	const char *type = has_word(p->command, "--test") ? "test" : p->crate_type;
	char *name;
	int n;

	if (package.at)
		n = asprintf(&name, "%.*s build script", (int)package.len, package.at);
	else if (p->crate && type && strcmp(type, "lib") && strcmp(type, "rlib"))
		n = asprintf(&name, "%.*s %.*s", NAME_MAX_BYTES, p->crate, NAME_MAX_BYTES, type);
	else
		n = asprintf(&name, "%.*s", NAME_MAX_BYTES, p->crate ?: p->command ?: "unknown");
	return n < 0 ? NULL : name;
}

bool compile_only_asks(const struct trace_process *p)
{
	return !p->crate || value_of(p->command, "--print").at;
}

bool compile_emits_metadata(const struct trace_process *p)
{
	struct word kinds = value_of(p->command, "--emit");
	const char *wanted = "metadata";
	size_t len = strlen(wanted);

	for (size_t i = 0; i + len <= kinds.len; i++) {
		bool begins = !i || kinds.at[i - 1] == ',';
		bool ends = i + len == kinds.len || strchr(",=", kinds.at[i + len]);

		if (begins && ends && !memcmp(kinds.at + i, wanted, len))
			return true;
	}
	return false;
}
