/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds LLVM's library beside a compiler's, and the facts known of it. */
#ifndef QPROF_CLI_PLAN_LLVM_H
#define QPROF_CLI_PLAN_LLVM_H

#include "view/plan_view.h"

/*
 * Look for a library of LLVM's beside `library`, and read it, unless a store has what it shows;
 * with `store` that is kept. Always fills in *out, which is valid until plan_llvm__clear().
 */
void plan_llvm__find(const char *library, bool store, struct plan_llvm *out);
void plan_llvm__clear(struct plan_llvm *l);
#define _plan_llvm_ __cleanup(plan_llvm__clear)

#endif /* QPROF_CLI_PLAN_LLVM_H */
