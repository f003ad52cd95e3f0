// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/load.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "plan/cache.h"
#include "unwind/codec.h"

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
