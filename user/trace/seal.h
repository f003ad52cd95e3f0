/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The last step of writing a trace. It waits for the disk. */
#ifndef QPROF_TRACE_SEAL_H
#define QPROF_TRACE_SEAL_H

/*
 * Sync a trace that has its END chunk, clear the mark of a file that is not finished, sync again,
 * and close `fd`, in any case. 0 or a negative errno: then the file keeps its mark.
 */
int trace_seal(int fd);

#endif /* QPROF_TRACE_SEAL_H */
