// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/batch_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "qprof/trace_format.h"

int batch_threads__reserve(struct batch_threads *b, uint32_t n)
{
	struct batch_thread *at;
	uint32_t *of;

	if (n <= b->capacity)
		return 0;
	at = reallocarray(b->at, n, sizeof(*at));
	if (!at)
		return -ENOMEM;
	b->at = at;
	of = reallocarray(b->of, n, sizeof(*of));
	if (!of)
		return -ENOMEM;
	b->of = of;
	b->capacity = n;
	return 0;
}

void batch_threads__begin(struct batch_threads *b)
{
	u64_map__clear(&b->index_of);
	b->n = b->last = 0;
}

uint32_t batch_threads__index(struct batch_threads *b, uint32_t process, uint32_t tid)
{
	uint64_t key = (uint64_t)process << 32 | tid;
	uint32_t index = u64_map__get(&b->index_of, key);

	if (index != U64_MAP_NONE)
		return index;
	if (u64_map__put(&b->index_of, key, b->n))
		return U64_MAP_NONE;
	b->at[b->n] = (struct batch_thread){.process = process, .tid = tid};
	return b->n++;
}

void batch_threads__arrange(struct batch_threads *b)
{
	uint32_t at = 0;

	for (uint32_t t = 0; t < b->n; t++) {
		b->at[t].first = at;
		at += b->at[t].n;
		b->at[t].n = 0;
	}
}

void batch_threads__store(const struct batch_threads *b, struct byte_buffer *out)
{
	for (uint32_t t = 0; t < b->n; t++) {
		byte_buffer__varint(out, b->at[t].process);
		byte_buffer__varint(out, b->at[t].tid);
		byte_buffer__varint(out, b->at[t].n);
	}
}

int batch_threads__load(struct batch_threads *b, struct byte_reader *in, uint32_t n_threads,
			uint32_t n, uint32_t n_processes)
{
	uint32_t left = n;

	b->n = n_threads;
	for (uint32_t i = 0; i < n_threads && !in->bad; i++) {
		struct batch_thread *t = &b->at[i];

		t->process = byte_reader__varint_max(in, UINT32_MAX);
		t->tid = byte_reader__varint_max(in, UINT32_MAX);
		t->first = n - left;
		t->n = byte_reader__varint_max(in, left);
		left -= t->n;
		if (t->process >= n_processes)
			return -ENOENT;
	}
	return in->bad || left ? -EBADMSG : 0;
}

int batch_threads__add_to(const struct batch_threads *b, struct thread_set *to)
{
	for (uint32_t t = 0; t < b->n; t++) {
		int err = thread_set__add(to, b->at[t].process, b->at[t].tid);

		if (err)
			return err;
	}
	return 0;
}

void batch_threads__destroy(struct batch_threads *b)
{
	free(b->at);
	free(b->of);
	u64_map__destroy(&b->index_of);
	*b = (struct batch_threads){0};
}

/* ---- A set of threads ------------------------------------------------------------------------ */

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
