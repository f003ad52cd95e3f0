/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_SYMBOLS_DEMANGLE_V0_H
#define QPROF_PLAN_SYMBOLS_DEMANGLE_V0_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/symbols/v0_reader.h"

/*
 * Append the text of a v0 symbol. `s` is the symbol after "_R"; it has only ASCII letters, digits
 * and '_'. False as demangle().
 */
bool demangle_v0(const char *s, size_t len, enum v0_style style, struct demangled *d);

#endif /* QPROF_PLAN_SYMBOLS_DEMANGLE_V0_H */
