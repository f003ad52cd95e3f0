/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The threads of a batch of spans or samples. On disk the items of a batch are grouped by thread,
 * and a table says which thread has how many.
 */
#ifndef QPROF_TRACE_BATCH_THREADS_H
#define QPROF_TRACE_BATCH_THREADS_H

#include <errno.h>

#include "base/map.h"
#include "trace/bytes.h"

/* The threads of a trace, by its spans and names. A trace has at most QPT_THREADS_MAX of them. */

/* All zeroes is empty. */
struct thread_set {
	struct u64_map known; /* process << 32 | tid */
	uint64_t last;	      /* the thread that was added last, if `any` was */
	bool any;
};

/* Add a thread; 0, also if it is there; -E2BIG beyond the limit, or -ENOMEM. */
int thread_set__add(struct thread_set *s, uint32_t process, uint32_t tid);

void thread_set__destroy(struct thread_set *s);

struct batch_thread {
	uint32_t process;
	uint32_t tid;
	uint32_t n;	/* items */
	uint32_t first; /* index of its first item in the grouped order */
};

/* All zeroes is empty. */
struct batch_threads {
	struct batch_thread *at;
	uint32_t n;
	uint32_t *of; /* by item, in the order of the batch: the index of its thread */
	uint32_t capacity;
	uint32_t last;		 /* index of the thread of the item that was added last */
	struct u64_map index_of; /* process << 32 | tid -> index */
};

/* Make room for `n` items. 0 or -ENOMEM. */
int batch_threads__reserve(struct batch_threads *b, uint32_t n);

/* Begin a batch. There is room for its items, which are added in their order, from 0 on. */
void batch_threads__begin(struct batch_threads *b);

/* The index of a thread, a new one if need be, or U64_MAP_NONE without memory. */
uint32_t batch_threads__index(struct batch_threads *b, uint32_t process, uint32_t tid);

/* Add the item `i`. 0 or -ENOMEM. */
static inline int batch_threads__add(struct batch_threads *b, uint32_t i, uint32_t process,
				     uint32_t tid)
{
	const struct batch_thread *last = &b->at[b->last];

	if (!i || last->tid != tid || last->process != process) {
		b->last = batch_threads__index(b, process, tid);
		if (b->last == U64_MAP_NONE)
			return -ENOMEM;
	}
	b->of[i] = b->last;
	b->at[b->last].n++;
	return 0;
}

/* All items were added: from now on batch_threads__place() may be called, once for each. */
void batch_threads__arrange(struct batch_threads *b);

/* The index of item `i` in the grouped order; the items of a thread keep theirs. */
static inline uint32_t batch_threads__place(struct batch_threads *b, uint32_t i)
{
	struct batch_thread *t = &b->at[b->of[i]];

	return t->first + t->n++;
}

/* Append the table to a payload; the number of threads is not in it. */
void batch_threads__store(const struct batch_threads *b, struct byte_buffer *out);

/*
 * Read the table of a batch of `n` items, for which there is room, and of `n_threads` threads.
 * -ENOENT: a thread of a process that is not among the first `n_processes`. -EBADMSG: the items do
 * not add up.
 */
int batch_threads__load(struct batch_threads *b, struct byte_reader *in, uint32_t n_threads,
			uint32_t n, uint32_t n_processes);

/* Add the threads to a set; errors as thread_set__add(). */
int batch_threads__add_to(const struct batch_threads *b, struct thread_set *to);

void batch_threads__destroy(struct batch_threads *b);

#endif /* QPROF_TRACE_BATCH_THREADS_H */
