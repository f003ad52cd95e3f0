/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The plan: every probe site of one librustc_driver, what it means, and how its operands are read.
 *
 * Built by reading the file only (symbols, disassembly); knows nothing of BPF or traces.
 * All addresses are ELF virtual addresses; `offset` is the file offset a uprobe wants.
 */
#ifndef QPROF_PLAN_PLAN_H
#define QPROF_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "qprof/wire.h"

#define PLAN_NONE	    UINT32_MAX
#define PLAN_NO_SLOT	    (-1)
#define PLAN_BUILD_ID_MAX   20
#define PLAN_MASK_DISAGREES UINT64_MAX

/* What the kernel does with a breakpoint on this instruction (x86-64 uprobes). */
enum plan_class {
	PLAN_EMULATED, /* the kernel emulates it: about the cost of a trap */
	PLAN_STEPPED,  /* single-stepped out of line: several traps */
};

struct plan_site {
	uint64_t addr;
	uint64_t offset;
	uint32_t query; /* index into queries, or PLAN_NONE */
	uint32_t body;	/* index into bodies, or PLAN_NONE */
	uint8_t role;	/* enum wire_role */
	uint8_t cls;	/* enum plan_class */
	/*
	 * END: the enum wire_reg that holds the invocation id, or else its offset from sp in bytes.
	 * IDENTIFY: the same for the query's vtable. REQUEST: the return address's offset.
	 */
	uint8_t reg;	       /* or WIRE_REG_NONE */
	int32_t slot;	       /* or PLAN_NO_SLOT */
	int32_t vtable_offset; /* IDENTIFY: of the provider's address in the vtable, bytes */
	int32_t sp_delta;      /* (sp at the body's sites) - (sp here), bytes */
};

/* One query: where it is requested, where its provider starts. Addresses are 0 where absent. */
struct plan_query {
	char *name;
	uint64_t wrapper_non_incr;
	uint64_t wrapper_incr;
	uint64_t provider;
	uint32_t body_non_incr; /* index into bodies, or PLAN_NONE */
	uint32_t body_incr;
	uint8_t start_role; /* enum wire_role of the sites that see its start, 0 if none do */
	uint32_t n_start;   /* sites that see its start, in both modes together */
	uint32_t n_end;	    /* end sites of its bodies */
	uint32_t n_request; /* of its wrappers, those whose entry tells who requests it */
	bool start_exact;   /* starts are seen in both modes */
	bool end_exact; /* every normal return of its provider meets an end site, in both modes */
	bool has_id;	/* every one of its end sites knows the invocation id */
};

/* One body of try_execute_query: the function that calls providers. Shared by many queries. */
struct plan_body {
	uint64_t addr;
	uint32_t n_queries;
	uint32_t n_symbols; /* symbols at this address: > 1 where identical code was folded */
	uint32_t n_ends;
	uint32_t group; /* bodies that serve the same queries share one; what cookies carry */
	bool incremental;
	char *problem; /* why its ends could not be mined, or NULL */
};

struct plan {
	uint8_t build_id[PLAN_BUILD_ID_MAX];
	uint32_t build_id_len;
	char *path;		    /* the file it was made from; never NULL */
	char *rustc_version;	    /* from .comment or the symbols, or NULL */
	char *mangling;		    /* "v0" or "legacy" */
	struct plan_query *queries; /* sorted by name */
	uint32_t n_queries;
	struct plan_body *bodies;
	uint32_t n_bodies;
	struct plan_site *sites; /* sorted by (role, addr) */
	uint32_t n_sites;
	uint32_t code_crc; /* see plan_code_crc() */
	/* Displacement of the event filter mask; 0 if unknown, or PLAN_MASK_DISAGREES. */
	uint64_t mask_disp;
};

/*
 * Make the plan of the librustc_driver at `path`.
 * Returns 0 and a plan the caller frees, or a negative errno after one diag_error line:
 * -ENOENT/-EACCES (cannot open), -ENOEXEC (not an ELF file for this machine, or damaged),
 * -ENODATA (no symbol table), -ENOTSUP (no rustc queries under any name we know, or more of
 * something than the probes can carry).
 */
int plan__build(const char *path, struct plan **out);

/* As plan__build(), but from the cache when it holds a plan of this file that still fits it. */
int plan__load(const char *path, struct plan **out);

void plan__free(struct plan *plan);
DEFINE_CLEANUP(struct plan, plan__free)
#define _plan_ __cleanup(plan__free_p)

/* Sites that only a recording with callers attaches to. */
uint32_t plan__requests(const struct plan *plan);
/* Its wrappers: n_request of them tell their callers. */
uint32_t plan_query__wrappers(const struct plan_query *q);

const char *plan_role_name(enum wire_role role);
const char *plan_reg_name(enum wire_reg reg);

#endif /* QPROF_PLAN_PLAN_H */
