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

/*
 * The NAME in build/NAME-HASH, where cargo puts build scripts, or in build/NAME/HASH/out, cargo's
 * other layout.
 */
static struct word package_of_directory(struct word dir)
{
	struct word last = word__last_component(dir),
		    hash = word__last_component(word__directory(dir));

	if (last.len > HASH_DIGITS + 1 && last.at[last.len - HASH_DIGITS - 1] == '-' &&
	    is_hash((struct word){last.at + last.len - HASH_DIGITS, HASH_DIGITS}))
		return (struct word){last.at, last.len - HASH_DIGITS - 1};
	if (!is_hash(hash))
		return (struct word){0};
	last = word__directory(word__directory(dir));
	if (!word__is(word__last_component(word__directory(last)), "build"))
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

bool compile_is_build_script(const struct trace_process *p)
{
	return p->crate && !strncmp(p->crate, "build_script_", strlen("build_script_"));
}

static struct word package_of(const struct trace_process *p)
{
	struct word name = {0};

	if (!compile_is_build_script(p))
		return name;
	name = package_of_directory(
		command_line__value(command_line_joined(p->command), "--out-dir"));
	if (!name.len)
		name = without_version(word__last_component(
			word__directory(command_line__source(command_line_joined(p->command)))));
	return name.len ? name : (struct word){0};
}

char *compile_package(const struct trace_process *p)
{
	struct word name = package_of(p);

	return strndup(name.at ?: "", name.len);
}

static struct word program_of(const struct trace_process *p)
{
	struct command_line line = command_line_joined(p->command);

	return word__last_component(command_line__next(&line));
}

/* Another tool than rustc compiles the same target: the word that sets them apart. */
static const char *tool_of(const struct trace_process *p)
{
	struct word program = program_of(p);

	return word__is(program, "clippy-driver") ? " clippy"
	       : word__is(program, "miri")	  ? " miri"
						  : "";
}

/* With the target within the package, which is "" for its library. */
static char *name_of_crate(const struct trace_process *p)
{
	const char *type = p->crate_type;
	bool is_doc = word__is(program_of(p), "rustdoc");
	const char *target = !type || !strcmp(type, "lib") || !strcmp(type, "rlib") ? "" : type;
	const char *inside = "";
	char *name;

	if (command_line__has(command_line_joined(p->command), "--test"))
		target = is_doc ? "doctests" : "test";
	else if (is_doc)
		inside = *target ? " doc" : "doc";
	return asprintf(&name, "%.*s%s%.*s%s%s%s", NAME_MAX_BYTES, p->crate,
			*target || *inside ? " (" : "", NAME_MAX_BYTES, target, inside,
			*target || *inside ? ")" : "", tool_of(p)) < 0
		       ? NULL
		       : name;
}

/* The program and its arguments, without the directory. */
static const char *shown_command(const struct trace_process *p)
{
	const char *command = p->command ?: "";
	const char *slash = memrchr(command, '/', strcspn(command, " "));

	command = slash ? slash + 1 : command;
	return *command && *command != ' ' ? command : "unknown";
}

char *compile_name(const struct trace_process *p)
{
	struct word package = package_of(p);
	char *name;
	int n;

	if (compile_is_doctest(p))
		return strdup("doctest");
	/* cargo calls a crate that it asks about "___". */
	if (p->crate && compile_only_queries(p))
		return strdup("rustc --print");
	if (p->crate && *p->crate && !package.at)
		return name_of_crate(p);
	if (package.at)
		n = asprintf(&name, "%.*s (build script)%s", (int)package.len, package.at,
			     tool_of(p));
	else if (compile_is_cut(p))
		n = asprintf(&name, "%.*s (crate unknown)",
			     (int)(program_of(p).len < NAME_MAX_BYTES ? program_of(p).len
								      : NAME_MAX_BYTES),
			     program_of(p).at ?: "");
	else
		n = asprintf(&name, "%.*s", NAME_MAX_BYTES, shown_command(p));
	return n < 0 ? NULL : name;
}

/* rustdoc gives each its options in a file of this name, in a directory of its own. */
bool compile_is_doctest(const struct trace_process *p)
{
	static const char options[] = "rustdoc-cfgs";
	struct command_line line = command_line_joined(p->command);

	for (struct word word; (word = command_line__next(&line)).at;)
		if (*word.at == '@' && word__is(word__last_component(word), options))
			return true;
	return false;
}

bool compile_is_cut(const struct trace_process *p)
{
	static const char mark[] = " ...";
	size_t len = strlen(p->command ?: "");

	return len >= strlen(mark) && !strcmp(p->command + len - strlen(mark), mark);
}

bool compile_only_queries(const struct trace_process *p)
{
	return (!p->crate && !compile_is_cut(p)) ||
	       command_line__value(command_line_joined(p->command), "--print").at;
}

bool compile_only_lists(const struct trace_process *p)
{
	return word__is(command_line__value(command_line_joined(p->command), "--emit"), "dep-info");
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

	if (compile_only_queries(p))
		return false;
	/* cargo gives every crate a number of its own; who calls rustc himself caps his own lints.
	 */
	if (command_line__value(line, "--cap-lints").at &&
	    command_line__codegen(line, "metadata").at)
		return false;
	for (size_t i = 0; i < N_OF(foreign); i++)
		if (word__contains(source, foreign[i]))
			return false;
	return true;
}
