// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/format.h"
#include "base/invoker.h"
#include "plan/library/file.h"
#include "unwind/job.h"

struct symbol_file {
	struct code_symbols *owner;
	struct symbol_file *next;
	uint32_t users;
	struct library_file *file;   /* NULL: the vdso */
	struct functions *functions; /* NULL: not read yet, or it cannot be read */
	bool is_read;
	bool foreign;
	uid_t uid; /* of the owner of a foreign file */
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
};

struct code_symbols {
	struct code_symbols_options opt;
	struct symbol_file *first;
	size_t bytes, foreign_bytes;
	uint64_t cpu_ns;
	bool warned;
};

int code_symbols__new(const struct code_symbols_options *o, struct code_symbols **out)
{
	struct code_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opt = *o;
	*out = s;
	return 0;
}

int code_symbols__new_default(struct code_symbols **out)
{
	struct code_symbols_options o = {
		.most = CODE_SYMBOLS_BYTES_MAX,
		.most_foreign = CODE_SYMBOLS_FOREIGN_MAX,
	};
	_invoker_ struct invoker inv = {0};
	int err = invoker__get(&inv);

	if (err)
		return err;
	o.invoker = inv.uid;
	return code_symbols__new(&o, out);
}

size_t code_symbols__bytes(const struct code_symbols *s)
{
	return s->bytes + s->foreign_bytes;
}

uint64_t code_symbols__cpu_ns(const struct code_symbols *s)
{
	return s->cpu_ns;
}

void code_symbols__free(struct code_symbols *s)
{
	free(s);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_file(const struct symbol_file *f, const struct library_file *file)
{
	if (!f->file || !file)
		return f->file == file;
	return library_identity_is_one(library_file__identity(f->file),
				       library_file__identity(file));
}

int symbol_file__get(struct code_symbols *s, struct library_file *file, struct symbol_file **out)
{
	uid_t owner = file ? library_file__identity(file)->uid : 0;
	struct symbol_file *f = s->first;

	while (f && !is_file(f, file))
		f = f->next;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->owner = s;
		f->file = file ? library_file__ref(file) : NULL;
		f->foreign = owner && owner != s->opt.invoker;
		f->uid = owner;
		f->next = s->first;
		s->first = f;
	}
	f->users++;
	*out = f;
	return 0;
}

struct library_file *symbol_file__file(const struct symbol_file *f)
{
	return f->file;
}

bool symbol_file__is_foreign(const struct symbol_file *f)
{
	return f->foreign;
}

const char *symbol_file__build_id(const struct symbol_file *f)
{
	return f->build_id;
}

/* An overlay of another mount namespace may lie on FUSE. */
static bool is_withheld(const struct symbol_file *f)
{
	struct file_mount m;

	return file_mount__of(library_file__fd(f->file), &m) || m.fuse ||
	       (f->foreign && m.overlay && !m.ours);
}

static size_t *bytes_of(const struct symbol_file *f)
{
	return f->foreign ? &f->owner->foreign_bytes : &f->owner->bytes;
}

/* A foreign file must also find room among the symbols of its owner's files. */
static bool has_room(const struct symbol_file *f)
{
	const struct code_symbols_options *o = &f->owner->opt;
	size_t of_owner = 0;

	for (const struct symbol_file *other = f->foreign ? f->owner->first : NULL; other;
	     other = other->next)
		if (other->functions && other->foreign && other->uid == f->uid)
			of_owner += functions__memory(other->functions);
	return *bytes_of(f) <= o->most && (!f->foreign || of_owner <= o->most_foreign);
}

/* The store has the functions of the invoker's files and root's, once their unwind table is made.
 */
static void read_functions(struct symbol_file *f)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	uint32_t n;

	f->is_read = true;
	if (!f->file)
		return;
	if (unwind_load__functions(f->file, &f->functions)) {
		if (!has_room(f)) {
			if (!f->owner->warned)
				diag_warn("functions of %s have no names, as the symbols of too "
					  "many files are in memory; there may be more such files",
					  library_file__path(f->file));
			f->owner->warned = true;
			return;
		}
		if (is_withheld(f) || functions__read(f->file, &f->functions))
			return;
	}
	*bytes_of(f) += functions__memory(f->functions);
	n = functions__build_id(f->functions, id);
	format_hex(f->build_id, id, n);
}

struct functions *symbol_file__functions(struct symbol_file *f)
{
	uint64_t before_ns;

	if (f->is_read)
		return f->functions;
	before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	read_functions(f);
	f->owner->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	return f->functions;
}

void symbol_file__free(struct symbol_file *f)
{
	struct symbol_file **at;

	if (!f || --f->users)
		return;
	at = &f->owner->first;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	if (f->functions)
		*bytes_of(f) -= functions__memory(f->functions);
	functions__free(f->functions);
	library_file__free(f->file);
	free(f);
}
