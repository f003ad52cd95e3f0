/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* When a library was attached to by perf events. */
#ifndef QPROF_CAPTURE_PERF_ATTACHED_H
#define QPROF_CAPTURE_PERF_ATTACHED_H

#include "capture/kernel.h"
#include "capture/library_table.h"

/*
 * Perf events are attached in the background, after the library counts as attached. Replace the
 * time by that of the last attachment that began before it; without an end, the library is not
 * attached yet.
 */
void perf_attached__see(struct kernel *k, struct library_state *lib);

#endif /* QPROF_CAPTURE_PERF_ATTACHED_H */
