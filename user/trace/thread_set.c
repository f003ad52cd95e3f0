// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/thread_set.h"

#include <errno.h>

#include "qprof/trace_format.h"

int thread_set__add(struct thread_set *s, uint32_t process, uint32_t tid)
{
	uint64_t key = (uint64_t)process << 32 | tid;
	int err;

	if (s->any && s->last == key)
		return 0;
	if (u64_map__get(&s->known, key) == U64_MAP_NONE) {
		if (s->known.used == QPT_THREADS_MAX)
			return -E2BIG;
		err = u64_map__put(&s->known, key, 0);
		if (err)
			return err;
	}
	s->last = key;
	s->any = true;
	return 0;
}

void thread_set__destroy(struct thread_set *s)
{
	u64_map__destroy(&s->known);
	*s = (struct thread_set){0};
}
