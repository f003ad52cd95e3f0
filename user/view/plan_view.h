/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print a plan (`qprof-bpf plan`) as text and JSON. */
#ifndef QPROF_VIEW_PLAN_VIEW_H
#define QPROF_VIEW_PLAN_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "plan/mine/llvm.h"
#include "plan/plan.h"

/* LLVM's library beside the compiler's. */
struct plan_llvm {
	char *path;		/* NULL: there is none */
	struct llvm_plan *plan; /* NULL likewise */
};

/* Why nothing is known of what LLVM does in samples; NULL: it is. */
const char *plan_llvm_problem(const struct plan_llvm *llvm);

/*
 * The file, how much of it can be recorded, its sites by role and class, and every problem by name;
 * with `full`, also tables of the queries and the sites. 0 or -ENOMEM.
 */
int plan_text(FILE *out, const struct plan *plan, const struct plan_llvm *llvm, bool full);

/*
 * The whole plan, schema "qprof-plan/1":
 * {"schema", "file", "build_id", "rustc_version" (or null), "mangling", "symbols" (where they come
 *  from, as text), "symbols_file" (the debug file; null: none, or a stored plan),
 *  "mask_displacement" (null if unknown), "complete" (queries with exact start and end), "folded"
 * (body symbols that share their address with one before them), "artifact_sizes" (places that
 * record one), "names" (true if names of definitions can be read), "names_problem" (why not, or
 * null), "running_names" (true if they can be read before the compiler drops its query context
 * too), "running_names_problem" (why not, or null), "llvm": {"file" (LLVM's library, or null),
 * "passes" (whose names are known), "problem" (why samples do not have what LLVM does, or null),
 * "components" (whether those of passes over components of the call graph have a function)},
 * "queries": [{"name", "wrapper",
 * "wrapper_incremental", "provider", "body", "body_incremental", "start_role", "key" ("DefId",
 * "CrateNum", "()", "Instance", "LocalDefId" for all types of local definitions; null: another
 * type, or unknown), "key_by_address" (its provider is given the address of such a key),
 * "start_sites", "key_sites" (start sites at which the key can be read),
 * "end_sites", "request_sites", "start_exact", "end_exact", "invocation_id", "in_stacks" (whether
 * sampled stacks show it: "always", "requested": unless the dependency graph forces it, "no")}],
 *  "bodies": [{"address", "incremental", "group", "queries", "symbols", "end_sites",
 *  "between" (bytes of stack from the body down to what calls its provider, 0: the body itself),
 *  "problem"}],
 *  "guards": [{"kind" (as in rustc's profiles), "label" (null: not in the file), "function",
 *  "scope", "number", "body", "label_slot", "label_of_query", "end_sites", "exact", "problem"}],
 *  "sites": [{"role", "class", "address", "offset", "query", "body", "guard", "register", "slot",
 *  "vtable_offset", "sp_delta", "key_register", "key_slot"}]}
 * Addresses are "0x..." texts, null where absent; body, query and guard are indices into their
 * arrays.
 */
int plan_json(FILE *out, const struct plan *plan, const struct plan_llvm *llvm);

/* Build-id in hex; `text` needs 2 * PLAN_BUILD_ID_MAX + 1 bytes. */
void plan_build_id_text(const struct plan *plan, char *text);

/* Number of queries with an exact start and end. */
uint32_t plan_complete_queries(const struct plan *plan);
/* Number of body symbols that share their address with a previous symbol. */
uint32_t plan_folded_symbols(const struct plan *plan);

#endif /* QPROF_VIEW_PLAN_VIEW_H */
