// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/command.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "proc/command_line.h"

/*
 * If `arg` is the option `name`, put its value in `*value`: "--name=value", or the argument after
 * "--name".
 */
static bool option_value(const char *name, struct word arg, struct command_line *rest,
			 struct word *value)
{
	size_t len = strlen(name);

	if (word__is(arg, name)) {
		*value = command_line__next(rest);
		return value->at;
	}
	if (arg.len <= len || memcmp(arg.at, name, len) || arg.at[len] != '=')
		return false;
	*value = (struct word){arg.at + len + 1, arg.len - len - 1};
	return true;
}

static int set_text(char **to, struct word value)
{
	char *text = strndup(value.at, value.len);

	if (!text)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

static int append_text(char **to, struct word value)
{
	char *text;

	if (!*to)
		return set_text(to, value);
	if (asprintf(&text, "%s,%.*s", *to, (int)value.len, value.at) < 0)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

/* Options whose value may be the argument after them, which then is no input. */
static bool takes_next(struct word arg)
{
	static const char *const names[] = {
		"-A",
		"-C",
		"-D",
		"-F",
		"-L",
		"-W",
		"-Z",
		"-l",
		"-o",
		"--allow",
		"--cap-lints",
		"--cfg",
		"--check-cfg",
		"--codegen",
		"--color",
		"--deny",
		"--diagnostic-width",
		"--edition",
		"--emit",
		"--env-set",
		"--error-format",
		"--explain",
		"--extern",
		"--forbid",
		"--force-warn",
		"--json",
		"--out-dir",
		"--output",
		"--print",
		"--remap-path-prefix",
		"--sysroot",
		"--target",
		"--warn",
	};

	for (size_t i = 0; i < N_OF(names); i++)
		if (word__is(arg, names[i]))
			return true;
	return false;
}

/* The free arguments, one of which is the source file. */
struct inputs {
	struct word source; /* the first that ends in ".rs" */
	struct word any;
	unsigned int n;
	bool unknown; /* some are missing */
};

static void add_input(struct inputs *in, struct word arg)
{
	if (arg.len && *arg.at == '@')
		return;
	if (arg.len > 3 && !memcmp(arg.at + arg.len - 3, ".rs", 3) && !in->source.at)
		in->source = arg;
	in->any = arg;
	in->n++;
}

/* As rustc names a crate without --crate-name: the stem of the file, with '-' made '_'. */
static int name_by_input(struct command *c, const struct inputs *in)
{
	struct word file = in->source.at ? in->source : in->any;
	const char *dot;

	if (in->unknown || (!in->source.at && in->n != 1) || word__is(file, "-"))
		return 0;
	file = word__last_component(file);
	dot = memrchr(file.at, '.', file.len);
	if (dot && dot != file.at)
		file.len = dot - file.at;
	if (!file.len)
		return 0;
	if (set_text(&c->crate, file))
		return -ENOMEM;
	for (char *at = c->crate; (at = strchr(at, '-'));)
		*at = '_';
	return 0;
}

static int parse_options(struct command *c, struct command_line args, bool truncated)
{
	struct inputs inputs = {.unknown = truncated};
	struct command_line rest = args;
	struct word arg, value;
	int err = 0;

	/* "+toolchain" is for rustup; clippy-driver may be given the name of its rustc. */
	arg = command_line__next(&rest);
	if (arg.len && (*arg.at == '+' || word__names_compiler(arg)))
		args = rest;
	while (!err && (arg = command_line__next(&args)).at && !word__is(arg, "--")) {
		if (option_value("--crate-name", arg, &args, &value))
			err = set_text(&c->crate, value);
		else if (option_value("--crate-type", arg, &args, &value))
			err = append_text(&c->crate_type, value);
		else if (takes_next(arg))
			command_line__next(&args);
		else if (arg.len && (*arg.at != '-' || arg.len == 1))
			add_input(&inputs, arg);
	}
	while ((arg = command_line__next(&args)).at)
		add_input(&inputs, arg);
	return err || c->crate ? err : name_by_input(c, &inputs);
}

static char *join(const char *args, size_t size, bool truncated)
{
	const char *more = " ...";
	char *line;

	while (size && !args[size - 1])
		size--;
	if (size > COMMAND_MAX) {
		size = COMMAND_MAX;
		truncated = true;
	}
	line = malloc(size + strlen(more) + 1);
	if (!line)
		return NULL;
	for (size_t i = 0; i < size; i++)
		line[i] = args[i] ? args[i] : ' ';
	strcpy(line + size, truncated ? more : "");
	return line;
}

int command__parse(struct command *c, const char *args, size_t size, bool truncated)
{
	struct command_line rest = command_line_raw(args, size);
	struct word arg0 = command_line__next(&rest);

	*c = (struct command){0};
	if (!arg0.at)
		return 0;
	c->line = join(args, size, truncated);
	c->is_compiler = word__names_compiler(arg0);
	if (c->line && (!c->is_compiler || !parse_options(c, rest, truncated)))
		return 0;
	command__clear(c);
	return -ENOMEM;
}

void command__clear(struct command *c)
{
	free(c->line);
	free(c->crate);
	free(c->crate_type);
	*c = (struct command){0};
}
