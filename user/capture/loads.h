/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads programs in several threads. libbpf loads one after the other, and a user waits for the
 * verifier of each: a program that is taken is replaced by one that only returns, whose
 * descriptor is the real one's in the end.
 */
#ifndef QPROF_CAPTURE_LOADS_H
#define QPROF_CAPTURE_LOADS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* From now on loads__take() takes programs; one thread at a time may do this. */
void loads__begin(void);

/*
 * To be called by a libbpf_prog_prepare_load_fn_t, last: loads the program of this type, in another
 * thread. Does nothing before loads__begin(). 0, or a negative errno.
 */
int loads__take(struct bpf_program *prog, struct bpf_prog_load_opts *opts);

/*
 * Wait for all programs that were taken, and put them in their place. Their object must be loaded;
 * if that failed, `failed`, they are thrown away. 0, or the negative errno of the first failure.
 */
int loads__end(bool failed);

#endif /* QPROF_CAPTURE_LOADS_H */
