// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/code_file.h"

struct code_names {
	struct code_file **files; /* by number - 1; NULL: forgotten */
	bool *is_sampled;	  /* likewise */
	uint32_t n_files, files_capacity, sampled_capacity;
	uint32_t of_library[WIRE_MAX_LIBS + 1]; /* numbers, or 0 */
	struct code_symbols *symbols, *owned;
};

int code_names__new(struct code_symbols *shared, struct code_names **out)
{
	_code_names_ struct code_names *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (!err && !shared)
		err = code_symbols__new_default(&c->owned);
	if (err)
		return err;
	c->symbols = shared ?: c->owned;
	*out = take_ptr(c);
	return 0;
}

static int add_code_file(struct code_names *c, struct library_file *file, uint32_t *number)
{
	_symbol_file_ struct symbol_file *symbols = NULL;
	int err = symbol_file__get(c->symbols, file, &symbols);

	*number = 0;
	for (uint32_t i = 0; i < c->n_files && !err && !*number; i++)
		if (c->files[i] && code_file__symbols(c->files[i]) == symbols)
			*number = i + 1;
	if (err || *number)
		return err;
	if (array__reserve_one(&c->files, c->n_files, &c->files_capacity, sizeof(*c->files)) ||
	    array__reserve_one(&c->is_sampled, c->n_files, &c->sampled_capacity,
			       sizeof(*c->is_sampled)))
		return -ENOMEM;
	err = code_file__new(symbols, c->n_files + 1, &c->files[c->n_files]);
	if (err)
		return err;
	take_ptr(symbols);
	c->is_sampled[c->n_files++] = false;
	*number = c->n_files;
	return 0;
}

int code_names__add_library(struct code_names *c, uint8_t lib, const struct plan *plan,
			    const struct decoder_functions **functions)
{
	uint32_t number;
	int err = add_code_file(c, plan->file, &number);

	if (err)
		return err;
	c->of_library[lib] = number;
	*functions = code_file__functions(c->files[number - 1]);
	return 0;
}

int code_names__add_file(struct code_names *c, struct library_file *file,
			 const struct decoder_functions **functions)
{
	uint32_t number;
	int err = add_code_file(c, file, &number);

	if (err)
		return err;
	c->is_sampled[number - 1] = true;
	*functions = code_file__functions(c->files[number - 1]);
	return 0;
}

int code_names__note(struct code_names *c, uint32_t file, const struct trace_function *f)
{
	return code_file__note(c->files[file - 1], f);
}

int code_names__retire(struct code_names *c, uint8_t lib, struct trace_writer *w)
{
	uint32_t number = c->of_library[lib];
	bool used = !number || c->is_sampled[number - 1];
	int err;

	c->of_library[lib] = 0;
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		used = used || c->of_library[i] == number;
	if (used)
		return 0;
	err = w ? code_file__write_lines(c->files[number - 1], w) : 0;
	code_file__free(take_ptr(c->files[number - 1]));
	return err;
}

int code_names__write_lines(struct code_names *c, struct trace_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < c->n_files && !err; i++)
		err = c->files[i] ? code_file__write_lines(c->files[i], w) : 0;
	return err;
}

uint64_t code_names__cpu_ns(const struct code_names *c)
{
	return code_symbols__cpu_ns(c->symbols);
}

void code_names__free(struct code_names *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_files; i++)
		code_file__free(c->files[i]);
	free(c->files);
	free(c->is_sampled);
	code_symbols__free(c->owned);
	free(c);
}
