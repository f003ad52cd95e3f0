/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts the runs of a BPF program that the kernel skipped, because another program of ours was
 * running on that CPU.
 */
#ifndef QPROF_CAPTURE_MISSES_H
#define QPROF_CAPTURE_MISSES_H

#include <bpf/libbpf.h>
#include <stdint.h>

/* 0 if the program is not loaded. */
uint64_t misses_of(const struct bpf_program *prog);

/* Misses of the first of two programs, without those that the second one has made up for. */
uint64_t misses_not_made_up(const struct bpf_program *first, int64_t made_up);

/* An upper bound of the events that both programs missed. */
uint64_t misses_of_both(const struct bpf_program *first, const struct bpf_program *again);

#endif /* QPROF_CAPTURE_MISSES_H */
