/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The intervals that the compilers of a recording are in at the moment, for `top` and the live
 * view: the kernel half is asked for the open intervals of their threads, at most once a second,
 * and the innermost that is about an item is named, or the innermost activity with an argument.
 */
#ifndef QPROF_RECORD_NOW_H
#define QPROF_RECORD_NOW_H

#include "analyze/summary.h"
#include "capture/record.h"
#include "view/top_now.h"

#define NOW_THREADS WIRE_OPEN_TIDS

/* Where it is from: the session and the decoder, or a test. */
struct now_source {
	void *ctx;
	/* As session__show_open(). */
	int (*ask)(void *ctx, const uint32_t *tids, size_t n);
	/* As session__name(); NULL: there are no names. */
	int (*item)(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out);
	/* The name of an interval, or NULL. */
	const char *(*name)(void *ctx, const struct wire_open_frame *f);
	/* The subject of an activity, or NULL. The function may be NULL. */
	const char *(*argument)(void *ctx, const struct wire_open_frame *f);
	/* 0 and the symbol of a function in LLVM, by its string, or an error; may be NULL. */
	int (*symbol)(void *ctx, uint32_t string, char **out);
};

struct now_thread {
	uint32_t process; /* index */
	uint32_t tid;
	bool found;
	struct wire_open_frame frame;
};

/* All zeroes is empty. */
struct now {
	uint64_t asked_ns;
	struct now_thread threads[NOW_THREADS];
	uint32_t n;
	/* Of the thread whose records arrive. */
	uint32_t tid;
	struct wire_open_frame innermost, about; /* tid 0: none */
};

/* Ask for the threads of the compilers that run. False: it is too early for that. */
bool now__ask(struct now *n, const struct now_source *from, const struct summary *s,
	      uint64_t time_ns);

/* Take a record if it is one of an answer: these two kinds. */
bool now__take(struct now *n, const struct record *r);
void now__frame(struct now *n, const struct wire_open_frame *r);
void now__stack(struct now *n, const struct wire_open_stack *r);

/* The answer so far. Calls from->item for at most TOP_NOW_MAX compilers. */
void now__answer(const struct now *n, const struct now_source *from, const struct summary *s,
		 struct top_nows *out);

/* Set the item, or the function, to a path. One that is too long keeps its end. */
void now_set_item(struct top_now *to, const char *path);
void now_set_function(struct top_now *to, const char *path);

#endif /* QPROF_RECORD_NOW_H */
