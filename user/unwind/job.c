// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/job.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "unwind/codec.h"
#include "unwind/load.h"

struct unwind_job {
	struct file_job *job;
	bool store;
};

int unwind_table__of(struct library_file *file, struct unwind_table **out)
{
	_elf_image_ struct elf_image *img = NULL;
	_unwind_rows_ struct unwind_rows rows = {};
	struct unwind_input input;

	return elf_image__map(file, &img) ?: unwind_input__find(img, &input)
		       ?: unwind_rows__read(&input, &rows)
		       ?: unwind_table__make(&input, &rows, out);
}

/* The parts of a file in memory of their own, behind their sizes. */
static int join(const struct unwind_parts *p, uint8_t **out, size_t *out_len)
{
	const uint64_t sizes[] = {htole64(p->table_len), htole64(p->llvm_len)};
	uint8_t *bytes, *at;

	_Static_assert(sizeof(sizes) == UNWIND_LOAD_HEADER, "header");
	*out_len = UNWIND_LOAD_HEADER + p->table_len + p->llvm_len + p->functions_len;
	bytes = malloc(*out_len);
	if (!bytes)
		return -ENOMEM;
	at = mempcpy(bytes, sizes, sizeof(sizes));
	at = mempcpy(at, p->table, p->table_len);
	if (p->llvm_len)
		at = mempcpy(at, p->llvm, p->llvm_len);
	if (p->functions_len)
		memcpy(at, p->functions, p->functions_len);
	*out = bytes;
	return 0;
}

/*
 * Without the others a table is as good: functions are read again when names are wanted, and what
 * LLVM does is not known. They come last, as they take the image's symbols.
 */
static int encode(struct library_file *file, bool with_functions, uint8_t **out, size_t *out_len)
{
	_functions_ struct functions *functions = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_unwind_table_ struct unwind_table *t = NULL;
	_llvm_plan_ struct llvm_plan *llvm = NULL;
	_free_ uint8_t *table = NULL, *llvm_bytes = NULL;
	struct unwind_parts p = {0};
	int err = unwind_table__of(file, &t) ?: unwind_encode(t, &table, &p.table_len);

	if (err)
		return err;
	p.table = table;
	if (!elf_image__map(file, &img) && !llvm_plan__mine(img, &llvm) && llvm)
		err = llvm_plan__encode(llvm, &llvm_bytes, &p.llvm_len);
	if (err)
		return err;
	p.llvm = llvm_bytes;
	if (with_functions && img && !functions__of_image(img, &functions))
		p.functions = functions__bytes(functions, &p.functions_len);
	return join(&p, out, out_len);
}

int unwind_tables__encode(struct library_file *file, uint8_t **bytes, size_t *len)
{
	return encode(file, true, bytes, len);
}

/* A file_job_fn: sends what unwind_load__store() takes. */
static int make(struct library_file *file, const void *arg, struct file_writer *to)
{
	const struct unwind_job *j = arg;
	_free_ uint8_t *bytes = NULL;
	size_t len;
	int err = encode(file, j->store, &bytes, &len);

	return err ?: file_writer__write(to, bytes, len);
}

int unwind_job__begin(struct library_file *file, int nice, bool store, struct unwind_table **table,
		      struct unwind_job **job)
{
	_unwind_job_ struct unwind_job *j = NULL;
	int err;

	if (!unwind_load__stored(file, table))
		return 0;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->store = store;
	err = file_job__start(file, NULL, make, j, nice, &j->job);
	if (!err)
		*job = take_ptr(j);
	return err;
}

int unwind_job__fd(const struct unwind_job *j)
{
	return file_job__fd(j->job);
}

int unwind_job__read(struct unwind_job *j)
{
	return file_job__read(j->job);
}

/* The file may have been written to while the child read it. */
static bool may_store(const struct library_file *file)
{
	return library_file__identity(file)->lasting && library_file__is_same(file);
}

static bool are_functions(const struct unwind_parts *p)
{
	_functions_ struct functions *f = NULL;

	return !p->functions_len ||
	       !functions__of_bytes(p->functions, p->functions_len, NULL, 0, &f);
}

/* The child may have been taken over: what it sent is decoded before it is stored. */
static int take_table(struct unwind_job *j, const uint8_t *sent, size_t len,
		      struct unwind_table **out)
{
	const struct library_file *file = file_job__file(j->job);
	_free_ uint8_t *bytes = NULL;
	struct unwind_parts parts;
	struct unwind_table *t;
	bool without_llvm = false;
	int err = unwind_load__split(sent, len, &parts);

	if (err)
		return err;
	bytes = malloc(parts.table_len + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, parts.table, parts.table_len);
	parts.table = bytes;
	err = unwind_load__table(&parts, &t);
	if (err == -EBADMSG && parts.llvm_len) {
		/* It may be the other part, without which stacks are as good. */
		without_llvm = true;
		parts.llvm_len = 0;
		err = unwind_load__table(&parts, &t);
	}
	if (err)
		return err;
	t->bytes = take_ptr(bytes);
	/* A stored file with such a part would be refused. */
	if (j->store && !without_llvm && may_store(file) && are_functions(&parts))
		unwind_load__store(file, sent, len);
	*out = t;
	return 0;
}

int unwind_job__finish(struct unwind_job *j, struct unwind_table **out)
{
	const char *path = library_file__path(file_job__file(j->job));
	const uint8_t *bytes;
	size_t len;
	int err = file_job__finish(j->job, &bytes, &len);

	if (err)
		diag_verbose("no unwind table: %s", file_job__why(j->job));
	else if ((err = take_table(j, bytes, len, out)))
		diag_verbose("no unwind table: cannot read %s: %s", path, strerror(-err));
	return err;
}

void unwind_job__free(struct unwind_job *j)
{
	if (!j)
		return;
	file_job__free(j->job);
	free(j);
}
