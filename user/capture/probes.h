/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes of one library: one uprobe_multi link per role, or one perf event per site.
 */
#ifndef QPROF_CAPTURE_PROBES_H
#define QPROF_CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/plan.h"

struct bpf_program;
struct probes;

/* The program for each enum wire_role; index 0 is unused. */
#define PROBES_ROLES 8

/*
 * Attach `plan`'s sites to `progs`, with cookies for library `lib`. With `multi` the programs must
 * have been loaded with probes_multi_attach_type(). A role without a program, as that of requests
 * if nobody wants callers, is left out. Returns a negative errno without printing.
 */
int probes__attach(struct bpf_program *const progs[PROBES_ROLES], const struct plan *plan,
		   uint8_t lib, bool multi, struct probes **out);

/*
 * The cookie of one site (qprof/wire.h). With `callers`, where a query starts at its wrapper is
 * also where it is requested, and has the cookie of that.
 */
uint64_t probes_cookie(const struct plan *plan, const struct plan_site *site, uint8_t lib,
		       bool callers);

/*
 * The entry for `query` in the table that the WIRE_ROLE_IDENTIFY site `site` looks up. A query that
 * has a start of its own is entered as WIRE_NO_QUERY. False if the site's body does not serve it.
 */
bool probes_provider(const struct plan *plan, const struct plan_site *site, uint32_t query,
		     uint8_t lib, struct wire_provider_key *key, struct wire_provider *value);

/* Put the entries for all queries of one site's body into that table, `map_fd`. Negative errno. */
int probes_fill_providers(int map_fd, const struct plan *plan, const struct plan_site *site,
			  uint8_t lib);

/* What the requests of one query go by. False if none of its wrappers is probed. */
bool probes_wrappers(const struct plan *plan, uint32_t query, struct wire_wrappers *out);

/* Put that of all queries into the table `map_fd`. Negative errno. */
int probes_fill_wrappers(int map_fd, const struct plan *plan, uint8_t lib);

/* True if this kernel makes uprobe_multi links (loading a program proves nothing: 6.1 does). */
bool probes_have_multi(void);
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
