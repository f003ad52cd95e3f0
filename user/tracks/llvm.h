/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What LLVM was doing in a sample (wire_llvm.h): the name of the pass, by its vtable, and of the
 * function, by the number that the kernel half has sent its name with. Both are a process's memory,
 * and may be anything: a vtable that is no pass's has no name, and bytes of a name that are not
 * printable are replaced.
 */
#ifndef QPROF_TRACKS_LLVM_H
#define QPROF_TRACKS_LLVM_H

#include "base/map.h"
#include "plan/mine/llvm.h"
#include "qprof/wire.h"
#include "tracks/sink.h"
#include "tracks/symbols.h"

/* Of one compiler: functions beyond have no name. */
#define LLVM_NAMES_MAX (1u << 18)

/* The names of one compiler's functions; all zeroes is empty. */
struct llvm_names {
	struct u64_map strings; /* number -> string id */
};

/*
 * The record of a name, of a compiler whose symbols are `symbols`: the item of this one is wanted.
 * 0, -EBADMSG, -ENOMEM, or the sink's error. `n` and `symbols` may be NULL: unknown.
 */
int llvm_names__record(struct llvm_names *n, struct symbols *symbols,
		       const struct tracks_sink *sink, const void *record, size_t size);

void llvm_names__clear(struct llvm_names *n);

/* The parts that convert a sample. */
struct llvm_context {
	const struct tracks_sink *sink;
	const struct llvm_names *names; /* of its process */
	const struct llvm_plan *passes; /* of the file that the pass's vtable is in, or NULL */
	uint64_t *n_unnamed;		/* samples that lack the name of a function or a pass */
};

/*
 * Set *id to the trace's entry of what a sample has; TRACE_NO_LLVM: it is not known, or the trace
 * has no room. -ENOMEM, or the sink's error.
 */
int llvm_entry(const struct llvm_context *c, const struct wire_sample *r, uint32_t *id);

#endif /* QPROF_TRACKS_LLVM_H */
