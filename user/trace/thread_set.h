/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The threads of a trace, by its spans and names. A trace has at most QPT_THREADS_MAX of them. */
#ifndef QPROF_TRACE_THREAD_SET_H
#define QPROF_TRACE_THREAD_SET_H

#include "base/map.h"

/* All zeroes is empty. */
struct thread_set {
	struct u64_map known; /* process << 32 | tid */
	uint64_t last;	      /* the thread that was added last, if `any` was */
	bool any;
};

/* Add a thread; 0, also if it is there; -E2BIG beyond the limit, or -ENOMEM. */
int thread_set__add(struct thread_set *s, uint32_t process, uint32_t tid);

void thread_set__destroy(struct thread_set *s);

#endif /* QPROF_TRACE_THREAD_SET_H */
