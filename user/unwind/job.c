// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/job.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "plan/cache.h"
#include "unwind/codec.h"
#include "unwind/input.h"

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

/*
 * The parts of a file's tables, behind the sizes of two. Without the others the unwind table is as
 * good: functions are read again when names are wanted, and what LLVM does is not known. They come
 * last, as they take the image's symbols.
 */
static int encode(struct library_file *file, bool with_functions, uint8_t **out, size_t *out_len)
{
	_functions_ struct functions *functions = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_unwind_table_ struct unwind_table *t = NULL;
	_llvm_plan_ struct llvm_plan *llvm = NULL;
	_free_ uint8_t *table = NULL, *llvm_bytes = NULL;
	size_t table_len, llvm_len = 0, functions_len = 0;
	const uint8_t *function_bytes = NULL;
	uint64_t sizes[2];
	uint8_t *bytes, *at;
	int err = unwind_table__of(file, &t) ?: unwind_encode(t, &table, &table_len);

	_Static_assert(sizeof(sizes) == UNWIND_LOAD_HEADER, "header");
	if (err)
		return err;
	if (!elf_image__map(file, &img) && !llvm_plan__mine(img, &llvm) && llvm)
		err = llvm_plan__encode(llvm, &llvm_bytes, &llvm_len);
	if (err)
		return err;
	if (with_functions && img && !functions__of_image(img, &functions))
		function_bytes = functions__bytes(functions, &functions_len);
	bytes = malloc(UNWIND_LOAD_HEADER + table_len + llvm_len + functions_len);
	if (!bytes)
		return -ENOMEM;
	sizes[0] = htole64(table_len);
	sizes[1] = htole64(llvm_len);
	at = mempcpy(bytes, sizes, sizeof(sizes));
	at = mempcpy(at, table, table_len);
	if (llvm_len)
		at = mempcpy(at, llvm_bytes, llvm_len);
	if (functions_len)
		at = mempcpy(at, function_bytes, functions_len);
	*out = bytes;
	*out_len = (size_t)(at - bytes);
	return 0;
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
	/*
	 * A stored file with such a part would be refused. And the file may have been written to
	 * while the child read it.
	 */
	if (j->store && !without_llvm && library_file__identity(file)->lasting &&
	    library_file__is_same(file) && are_functions(&parts))
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

/* ---- Loading --------------------------------------------------------------------------------- */

static struct plan_cache_key key_of(const struct library_file *file)
{
	return (struct plan_cache_key){.kind = "code",
				       .version = UNWIND_CODEC_VERSION,
				       .id = library_file__identity(file)};
}

int unwind_load__split(const uint8_t *bytes, size_t len, struct unwind_parts *out)
{
	uint64_t sizes[2];

	if (len < UNWIND_LOAD_HEADER)
		return -EBADMSG;
	memcpy(sizes, bytes, sizeof(sizes));
	sizes[0] = le64toh(sizes[0]);
	sizes[1] = le64toh(sizes[1]);
	bytes += UNWIND_LOAD_HEADER;
	len -= UNWIND_LOAD_HEADER;
	if (sizes[0] > len || sizes[1] > len - sizes[0])
		return -EBADMSG;
	*out = (struct unwind_parts){
		.table = bytes,
		.table_len = sizes[0],
		.llvm = bytes + sizes[0],
		.llvm_len = sizes[1],
		.functions = bytes + sizes[0] + sizes[1],
		.functions_len = len - sizes[0] - sizes[1],
	};
	return 0;
}

struct mapped {
	void *map;
	size_t size;
	struct unwind_parts parts;
};

static int map_stored(const struct library_file *file, struct mapped *m)
{
	struct plan_cache_key key = key_of(file);
	int err = plan_cache__map(&key, &m->map, &m->size);

	if (err)
		return err;
	err = unwind_load__split(m->map, m->size, &m->parts);
	if (err)
		munmap(m->map, m->size);
	return err;
}

static int refuse(const struct library_file *file, const struct mapped *m, int err)
{
	diag_verbose("not using the tables that were stored for %s: %s", library_file__path(file),
		     strerror(-err));
	munmap(m->map, m->size);
	return -ENOENT;
}

int unwind_load__table(const struct unwind_parts *p, struct unwind_table **out)
{
	_unwind_table_ struct unwind_table *t = NULL;
	int err = unwind_decode(p->table, p->table_len, &t);

	if (!err && p->llvm_len)
		err = llvm_plan__decode(p->llvm, p->llvm_len, &t->llvm);
	if (!err)
		*out = take_ptr(t);
	return err;
}

int unwind_load__stored(const struct library_file *file, struct unwind_table **out)
{
	struct unwind_table *t;
	struct mapped m;
	int err = map_stored(file, &m);

	if (err)
		return -ENOENT;
	/* All of it is read at once. The pages of the names behind it stay where they are. */
	madvise(m.map, UNWIND_LOAD_HEADER + m.parts.table_len, MADV_POPULATE_READ);
	err = unwind_load__table(&m.parts, &t);
	if (err)
		return refuse(file, &m, err);
	t->map = m.map;
	t->map_size = m.size;
	*out = t;
	return 0;
}

int unwind_load__functions(const struct library_file *file, struct functions **out)
{
	struct mapped m;
	int err = map_stored(file, &m);

	if (err)
		return -ENOENT;
	if (!unwind_is_current(m.parts.table, m.parts.table_len))
		return refuse(file, &m, -EBADMSG);
	err = functions__of_bytes(m.parts.functions, m.parts.functions_len, m.map, m.size, out);
	return err ? refuse(file, &m, err) : 0;
}

void unwind_load__store(const struct library_file *file, const uint8_t *bytes, size_t len)
{
	struct plan_cache_key key = key_of(file);

	plan_cache__write(&key, bytes, len);
}

/* ---- The vDSO -------------------------------------------------------------------------------- */

/* The kernel's has two pages. */
#define SIZE_MAX_BYTES (1u << 20)

/* Where it is mapped in this process. */
static int find_mapping(uint64_t *start, uint64_t *end)
{
	_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[vdso]"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) != 2 || *end <= *start ||
		    *end - *start > SIZE_MAX_BYTES)
			return -EBADMSG;
		return 0;
	}
	return maps ? -ENOENT : -errno;
}

int unwind_vdso__table(struct unwind_table **out)
{
	_library_file_ struct library_file *file = NULL;
	_close_ int fd = -1;
	struct file_writer w = {0};
	uint64_t start, end;
	char path[32], hidden[256];
	int err = find_mapping(&start, &end);

	if (err)
		return err;
	/* A file in memory with this content. */
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	w.fd = fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = file_writer__write(&w, (const void *)(uintptr_t)start, end - start)
		      ?: library_file__try(path, &file);
	if (err)
		return err;
	diag_hold_errors(hidden, sizeof(hidden));
	err = unwind_table__of(file, out);
	diag_hold_errors(NULL, 0);
	return err;
}
