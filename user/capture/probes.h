/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes of one library: one uprobe_multi link per role, or one perf event per site.
 */
#ifndef QPROF_CAPTURE_PROBES_H
#define QPROF_CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/choice.h"

struct bpf_program;
struct plan_hits;
struct probes;

/* The program for each enum wire_role; index 0 is unused. */
#define PROBES_ROLES 15

/*
 * Attach the sites that are wanted of a plan to `progs`. With `multi` the programs must have been
 * loaded with probes_multi_attach_type(). A role without a program, as that of requests if nobody
 * wants callers, is left out; with `governed`, so is what is in a unit (units.h). Returns a
 * negative errno without printing.
 */
int probes__attach(struct bpf_program *const progs[PROBES_ROLES], const struct choice *c,
		   bool multi, bool governed, struct probes **out);

/*
 * Attach `prog`, loaded as above for uprobe_multi, to the places where queries hit their caches in
 * the library of `c` as well. Negative errno.
 */
int probes__attach_hits(struct probes *p, struct bpf_program *prog, const struct choice *c,
			const struct plan_hits *hits);

/* Make a uprobe_multi link: its descriptor, or a negative errno. */
int probes_link(int prog_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies,
		uint32_t n);

/* True if this kernel makes uprobe_multi links (loading a program proves nothing: 6.1 does). */
bool probes_have_multi(void);
/*
 * Make a uprobe_multi link of a program that does nothing, at a file's offset, and remove it.
 * 0 or a negative errno.
 */
int probes_try_multi(const char *path, uint64_t offset);
int probes_multi_attach_type(void);

/*
 * Begin to detach, in the background; probes__free() waits for its end. Those of several libraries
 * that are begun before the first is waited for take no longer than one.
 */
void probes__begin_free(struct probes *p);
void probes__free(struct probes *p);

/* Free the memory and leave the probes, which another process holds as well, to it. */
void probes__abandon(struct probes *p);

#endif /* QPROF_CAPTURE_PROBES_H */
