/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chains of calls of the test program, for samples: chain_outer, chain_middle, then one of these.
 */
#ifndef QPROF_TESTS_BPF_TARGET_CHAINS_H
#define QPROF_TESTS_BPF_TARGET_CHAINS_H

#define CHAIN_RECURSION 1000 /* calls of chain_recursive */

/* Spin for this much CPU time: chain_spin. */
void chain_of_spin(unsigned int ms);
/* The same in spin_by_r11, whose CFA is by r11: chain_frame. */
void chain_of_frames(unsigned int ms);
/* The same within the kernel: chain_read. */
void chain_of_reads(unsigned int ms);
/* Write to `n` fresh pages: chain_touch. */
void chain_of_pages(unsigned int n);
/* Sleep: chain_sleep. */
void chain_of_sleep(unsigned int us);
/* Spin below CHAIN_RECURSION calls. */
void chain_of_recursion(unsigned int ms);

/*
 * The same text in a new mapping of this program's file, or of another file, whose pages are not
 * there.
 */
const char *absent_text(const char *text, int is_in_program);

/* The text itself, whose pages are not there; from now on a thread locks the mappings again and
 * again. */
const char *dropped_text(const char *text);

#endif /* QPROF_TESTS_BPF_TARGET_CHAINS_H */
