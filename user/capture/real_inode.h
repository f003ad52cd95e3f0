/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The inode that the kernel probes for a file. Several overlays over one directory show one file as
 * several, with different device numbers, but a uprobe goes to the file below.
 */
#ifndef QPROF_CAPTURE_REAL_INODE_H
#define QPROF_CAPTURE_REAL_INODE_H

#include <stdint.h>

#include "base/cleanup.h"

struct real_inodes;

/* Takes CAP_BPF and CAP_PERFMON. Negative errno; prints nothing. */
int real_inodes__new(struct real_inodes **out);

/*
 * The address of the inode in the kernel: two open files have the same one only if the kernel
 * probes the same inode for both. 0 if it cannot be found. Reads nothing of the file.
 */
uint64_t real_inodes__of(struct real_inodes *r, int fd);

void real_inodes__free(struct real_inodes *r);
DEFINE_CLEANUP(struct real_inodes, real_inodes__free)
#define _real_inodes_ __cleanup(real_inodes__free_p)

#endif /* QPROF_CAPTURE_REAL_INODE_H */
