/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* uprobe_multi links of the kernel (since 6.6): one link attaches a program to many sites. */
#ifndef QPROF_CAPTURE_UPROBE_MULTI_H
#define QPROF_CAPTURE_UPROBE_MULTI_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/library/file.h"

/* Programs must be loaded with this expected attach type. */
int uprobe_multi_attach_type(void);

/*
 * Make a link: its descriptor, or a negative errno. -ESTALE if the file was changed since it was
 * opened; then nothing stays attached.
 */
int uprobe_multi_link(int prog_fd, const struct library_file *file, const uint64_t *offsets,
		      const uint64_t *cookies, uint32_t n);

/* True if this kernel makes such links. (That a program loads proves nothing: 6.1 loads it.) */
bool uprobe_multi_is_available(void);

/* Make a link of an empty program at an offset of a file, and remove it. 0 or a negative errno. */
int uprobe_multi_try(const char *path, uint64_t offset);

#endif /* QPROF_CAPTURE_UPROBE_MULTI_H */
