// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "plan/cache.h"
#include "unwind/codec.h"

static struct plan_cache_key key_of(const struct library_file *file)
{
	return (struct plan_cache_key){.kind = "unwind",
				       .version = UNWIND_CODEC_VERSION,
				       .id = library_file__identity(file)};
}

int unwind_load__stored(const struct library_file *file, struct unwind_table **out)
{
	struct plan_cache_key key = key_of(file);
	struct unwind_table *t;
	size_t size;
	void *map;
	int err = plan_cache__map(&key, &map, &size);

	if (err)
		return err;
	err = unwind_decode(map, size, &t);
	if (err) {
		diag_verbose("not using the unwind table that was stored for %s: %s",
			     library_file__path(file), strerror(-err));
		munmap(map, size);
		return -ENOENT;
	}
	t->map = map;
	t->map_size = size;
	*out = t;
	return 0;
}

void unwind_load__store(const struct library_file *file, const uint8_t *bytes, size_t len)
{
	struct plan_cache_key key = key_of(file);

	plan_cache__write(&key, bytes, len);
}
