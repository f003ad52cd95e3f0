/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Parses values from the command line. Each function returns 0, -EINVAL (malformed) or -ERANGE, and
 * prints nothing.
 */
#ifndef QPROF_OPTIONS_VALUE_H
#define QPROF_OPTIONS_VALUE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "options/options.h"

/* "1.5s", "500ms", "100us", "2m", "1h"; a plain number is seconds. Up to six decimals. */
int value_duration(const char *text, uint64_t *ns);

/* "16m", "64k", "1g" or plain bytes. k, m and g are powers of 1024, and so are KiB and the like. */
int value_size(const char *text, uint64_t *bytes);

/*
 * A time such as "90s", "30min", "1h", "7d", or a size such as "256m", "10g": sets the one that it
 * is. Not zero.
 */
int value_limit(const char *text, struct cli_limits *limits);

/* Decimal digits only. */
int value_number(const char *text, uint64_t *n);

/* Add "1,22,333" to `pids`, without duplicates. -ENOMEM. */
int value_pids(const char *text, struct cli_pids *pids);

/* A duration, or a share of the total such as "2.5%", with up to three decimals. */
int value_threshold(const char *text, struct cli_threshold *threshold);

/*
 * Add "[WHAT=]LIMIT" to `gates`. WHAT is QUERY, CRATE/QUERY, or CRATE/ and a star. LIMIT is a
 * threshold, but a share may exceed 100 %, and a time must have a unit; or it is a size as "200M",
 * with a unit that is none of time. -ENOMEM.
 */
int value_gate(const char *text, struct cli_gates *gates);

/* Add `text` to `texts`. -ENOMEM; -EINVAL if it is empty. */
int value_texts(const char *text, struct cli_texts *texts);

/* The index of `text` among "a|b|c". */
int value_choice(const char *text, const char *choices, unsigned int *index);

/* True if a glob matches, or if there are no globs. */
bool value_matches(const struct cli_texts *globs, const char *text);

/* The traces that one argument of the command line names. */

struct trace_list {
	char **paths;
	uint32_t n;
	uint32_t capacity;
};

/*
 * `word` is a file; else a directory, which stands for its *.qpt files, sorted by name; else files
 * separated by commas, so that no shell glob is needed. A missing file is found when it is opened.
 * Negative errno after an error line: -ENOENT for a directory without traces, -EINVAL for an empty
 * name.
 */
int trace_list__init(struct trace_list *list, const char *word);
void trace_list__clear(struct trace_list *list);
#define _trace_list_ __cleanup(trace_list__clear)

#endif /* QPROF_OPTIONS_VALUE_H */
