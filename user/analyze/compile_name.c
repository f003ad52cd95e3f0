// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proc/command_line.h"

#define NAME_MAX_BYTES 200
#define HASH_DIGITS    16

static bool is_hash(struct word word)
{
	return word.len == HASH_DIGITS && strspn(word.at, "0123456789abcdef") >= HASH_DIGITS;
}

/* The path without its last component. */
static struct word parent_of(struct word path)
{
	struct word last = word__last_component(path);

	return last.len == path.len ? (struct word){0}
				    : (struct word){path.at, path.len - last.len - 1};
}

/*
 * The NAME in build/NAME-HASH, where cargo puts build scripts, or in build/NAME/HASH/out, cargo's
 * other layout.
 */
static struct word package_of_directory(struct word dir)
{
	struct word last = word__last_component(dir), hash = word__last_component(parent_of(dir));

	if (last.len > HASH_DIGITS + 1 && last.at[last.len - HASH_DIGITS - 1] == '-' &&
	    is_hash((struct word){last.at + last.len - HASH_DIGITS, HASH_DIGITS}))
		return (struct word){last.at, last.len - HASH_DIGITS - 1};
	if (!is_hash(hash))
		return (struct word){0};
	last = parent_of(parent_of(dir));
	if (!word__is(word__last_component(parent_of(last)), "build"))
		return (struct word){0};
	return word__last_component(last);
}

/* The NAME in "NAME-1.2.3". */
static struct word without_version(struct word text)
{
	for (size_t i = 1; i < text.len; i++) {
		size_t digits = i + 1;

		if (text.at[i] != '-')
			continue;
		while (digits < text.len && isdigit((unsigned char)text.at[digits]))
			digits++;
		if (digits > i + 1 && digits < text.len && text.at[digits] == '.')
			return (struct word){text.at, i};
	}
	return (struct word){0};
}

static bool is_build_script(const struct trace_process *p)
{
	return p->crate && !strncmp(p->crate, "build_script_", strlen("build_script_"));
}

static struct word package_of(const struct trace_process *p)
{
	struct word name = {0};

	if (!is_build_script(p))
		return name;
	name = package_of_directory(
		command_line__value(command_line_joined(p->command), "--out-dir"));
	if (!name.len)
		name = without_version(word__last_component(
			parent_of(command_line__source(command_line_joined(p->command)))));
	return name.len ? name : (struct word){0};
}

char *compile_package(const struct trace_process *p)
{
	struct word name = package_of(p);

	return strndup(name.at ?: "", name.len);
}

char *compile_name(const struct trace_process *p)
{
	struct word package = package_of(p);
	const char *type = command_line__has(command_line_joined(p->command), "--test")
				   ? "test"
				   : p->crate_type;
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

bool compile_only_queries(const struct trace_process *p)
{
	return !p->crate || command_line__value(command_line_joined(p->command), "--print").at;
}

bool compile_emits_metadata(const struct trace_process *p)
{
	struct word kinds = command_line__value(command_line_joined(p->command), "--emit");
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

bool compile_is_own(const struct trace_process *p)
{
	static const char *const foreign[] = {"/registry/src/", "/git/checkouts/",
					      "/lib/rustlib/src/"};
	struct command_line line = command_line_joined(p->command);
	struct word source = command_line__source(line);

	if (compile_only_queries(p) || command_line__value(line, "--cap-lints").at)
		return false;
	for (size_t i = 0; i < N_OF(foreign); i++)
		if (word__contains(source, foreign[i]))
			return false;
	return true;
}
