/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the names of definitions from the memory of a compiler that runs. Whatever it has may
 * change or be freed meanwhile, and may be anything: the caller checks afterwards that the context
 * is still there, and every length is limited.
 */
#ifndef QPROF_CAPTURE_COMPILER_NAMES_H
#define QPROF_CAPTURE_COMPILER_NAMES_H

#include <sys/types.h>

#include "capture/broker.h"
#include "plan/plan.h"

/* A compiler's memory: the interface between this and broker.h, or a test. */
struct compiler_memory {
	void *ctx;
	/* As broker__memory(). */
	int (*read)(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *bytes);
};

/* One range: `size` bytes from `addr` on. */
int compiler_memory__read(const struct compiler_memory *m, uint64_t addr, void *to, uint32_t size);

/* Where the tables are. */
struct compiler_context {
	uint64_t context;
	uint64_t globals;
	uint64_t current; /* the thread's ImplicitCtxt; 0: not asked for */
};

/*
 * The context that a thread works in: `fs` is the base of its thread-local memory, `bias` the
 * library's. -ENOENT: it is in none; -ENODATA: the layout is not known; or the error of a read.
 */
int compiler_context__of_thread(const struct compiler_memory *m, const struct plan_layout *l,
				uint64_t bias, uint64_t fs, struct compiler_context *out);

/*
 * The path of definition `index` of the crate, whose name is `crate`, in *out, which the caller
 * frees. -ENOENT: it has none.
 */
int compiler_names__path(const struct compiler_memory *m, const struct plan_layout *l,
			 const struct compiler_context *c, const char *crate, uint32_t index,
			 char **out);

/*
 * Pass a copy of all definitions to `record`, as the records WIRE_PIECE and WIRE_SYMBOLS that the
 * kernel half sends at the drop. 0, or the error of a read or of `record`.
 */
typedef int (*compiler_names_fn)(void *ctx, const void *record, size_t size);
int compiler_names__copy(const struct compiler_memory *m, const struct plan_layout *l,
			 const struct compiler_context *c, pid_t pid, uint8_t lib,
			 compiler_names_fn record, void *ctx);

#endif /* QPROF_CAPTURE_COMPILER_NAMES_H */
