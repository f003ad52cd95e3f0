/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Values as people type them. Each returns 0, -EINVAL (not such a value) or -ERANGE, and does not
 * print.
 */
#ifndef QPROF_CLI_VALUE_H
#define QPROF_CLI_VALUE_H

#include <stdint.h>

#include "cli/options.h"

/* "1.5s", "500ms", "100us", "2m", "1h"; a plain number is seconds. Up to six decimals. */
int value_duration(const char *text, uint64_t *ns);

/* "16m", "64k", "1g" or plain bytes; KiB and the like are 1024s, as are k, m and g. */
int value_size(const char *text, uint64_t *bytes);

/* Decimal digits only. */
int value_number(const char *text, uint64_t *n);

/* Add "1,22,333" to `pids`; one that is in already is not added again. -ENOMEM. */
int value_pids(const char *text, struct cli_pids *pids);

/* A duration, or "2.5%": a part of all, up to three decimals. */
int value_threshold(const char *text, struct cli_threshold *threshold);

/*
 * Add "[WHAT=]LIMIT" to `gates`: WHAT is QUERY, CRATE/QUERY or CRATE/ and a star, LIMIT as a
 * threshold, but that its part may be more than all, and that a time has a unit. -ENOMEM.
 */
int value_gate(const char *text, struct cli_gates *gates);

/* Add `text` to `texts`. -ENOMEM; -EINVAL if it is empty. */
int value_texts(const char *text, struct cli_texts *texts);

/* The index of `text` among "a|b|c". */
int value_choice(const char *text, const char *choices, unsigned int *index);

#endif /* QPROF_CLI_VALUE_H */
