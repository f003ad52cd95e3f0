// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/command.h"

#include <errno.h>
#include <string.h>

/* One argument; not NUL-terminated where the arguments were cut. */
struct arg {
	const char *text;
	size_t size;
};

struct args {
	const char *at;
	const char *end;
};

static bool next_arg(struct args *args, struct arg *arg)
{
	if (args->at == args->end)
		return false;
	arg->text = args->at;
	arg->size = strnlen(args->at, args->end - args->at);
	args->at += arg->size;
	if (args->at < args->end)
		args->at++;
	return true;
}

static bool arg_is(const struct arg *arg, const char *text)
{
	return arg->size == strlen(text) && !memcmp(arg->text, text, arg->size);
}

static bool is_compiler(const struct arg *arg0)
{
	const char *slash = memrchr(arg0->text, '/', arg0->size);
	const char *base = slash ? slash + 1 : arg0->text;
	struct arg name = {base, arg0->text + arg0->size - base};

	return arg_is(&name, "rustc") || arg_is(&name, "clippy-driver") || arg_is(&name, "rustdoc");
}

/*
 * If `arg` is the option `name`, put its value in `*value`: "--name=value", or the argument after
 * "--name".
 */
static bool option_value(const char *name, const struct arg *arg, struct args *rest,
			 struct arg *value)
{
	size_t size = strlen(name);

	if (arg_is(arg, name))
		return next_arg(rest, value);
	if (arg->size <= size || memcmp(arg->text, name, size) || arg->text[size] != '=')
		return false;
	*value = (struct arg){arg->text + size + 1, arg->size - size - 1};
	return true;
}

static int set_text(char **to, const struct arg *value)
{
	char *text = strndup(value->text, value->size);

	if (!text)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

static int append_text(char **to, const struct arg *value)
{
	char *text;

	if (!*to)
		return set_text(to, value);
	if (asprintf(&text, "%s,%.*s", *to, (int)value->size, value->text) < 0)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

/* Options whose value may be the argument after them, which then is no input. */
static bool takes_next(const struct arg *arg)
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

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (arg_is(arg, names[i]))
			return true;
	return false;
}

/* The free arguments, one of which is the source file. */
struct inputs {
	struct arg source; /* the first that ends in ".rs" */
	struct arg any;
	unsigned int n;
	bool unknown; /* an @file: it may hold anything */
};

static void add_input(struct inputs *in, const struct arg *arg)
{
	if (arg->size > 3 && !memcmp(arg->text + arg->size - 3, ".rs", 3) && !in->source.text)
		in->source = *arg;
	in->any = *arg;
	in->n++;
	in->unknown = in->unknown || (arg->size && *arg->text == '@');
}

/* As rustc names a crate that nobody named: the stem of the file, with '-' made '_'. */
static int name_by_input(struct command *c, const struct inputs *in)
{
	struct arg file = in->source.text ? in->source : in->any;
	const char *slash, *dot;

	if (in->unknown || (!in->source.text && in->n != 1) || arg_is(&file, "-"))
		return 0;
	slash = memrchr(file.text, '/', file.size);
	if (slash)
		file = (struct arg){slash + 1, file.text + file.size - slash - 1};
	dot = memrchr(file.text, '.', file.size);
	if (dot && dot != file.text)
		file.size = dot - file.text;
	if (!file.size)
		return 0;
	if (set_text(&c->crate, &file))
		return -ENOMEM;
	for (char *at = c->crate; (at = strchr(at, '-'));)
		*at = '_';
	return 0;
}

/* "+toolchain" is for rustup; clippy-driver may be given the name of the rustc it stands for. */
static void skip_first(struct args *args)
{
	struct args rest = *args;
	struct arg arg;

	if (next_arg(&rest, &arg) && arg.size && (*arg.text == '+' || is_compiler(&arg)))
		*args = rest;
}

static int parse_options(struct command *c, struct args args, bool truncated)
{
	struct inputs inputs = {.unknown = truncated};
	struct arg arg, value;
	int err = 0;

	skip_first(&args);
	while (!err && next_arg(&args, &arg) && !arg_is(&arg, "--")) {
		if (option_value("--crate-name", &arg, &args, &value))
			err = set_text(&c->crate, &value);
		else if (option_value("--crate-type", &arg, &args, &value))
			err = append_text(&c->crate_type, &value);
		else if (takes_next(&arg))
			next_arg(&args, &value);
		else if (arg.size && (*arg.text != '-' || arg.size == 1))
			add_input(&inputs, &arg);
	}
	while (next_arg(&args, &arg))
		add_input(&inputs, &arg);
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
	struct args rest;
	struct arg arg0;

	*c = (struct command){0};
	if (!size)
		return 0;
	rest = (struct args){args, args + size};
	if (!next_arg(&rest, &arg0))
		return 0;
	c->line = join(args, size, truncated);
	c->is_compiler = is_compiler(&arg0);
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
