/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The strings of a trace, as its reader holds them: each a text, or a sequence of texts and
 * earlier strings. They are kept as they are stored, and put together when somebody asks.
 */
#ifndef QPROF_TRACE_STRING_TABLE_H
#define QPROF_TRACE_STRING_TABLE_H

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/expansion.h"

struct string_table;

/* Texts count for `expansion`, which outlives the table; NULL: they do not. 0, or -ENOMEM. */
int string_table__new(struct expansion *expansion, struct string_table **out);

/* Strings in the table; their ids are dense from 0. */
uint32_t string_table__n(const struct string_table *t);

/*
 * Add the strings of a STRINGS payload, which is read to its end. One whose strings are all in the
 * table already changes nothing, and neither does an error. *first and *n are what the payload
 * says. 0, -ENOMEM, or -EBADMSG with a text for a person in `*why`.
 */
int string_table__take(struct string_table *t, struct byte_reader *in, uint32_t *first, uint32_t *n,
		       const char **why);

/*
 * The text of a string, kept until the table is freed: for names, which are asked for again and
 * again. 0; -ENOENT if there is no such string; -ENOMEM; -E2BIG if the texts that were asked for go
 * beyond QPT_NAME_BYTES_MAX, or the trace expands to too much.
 */
int string_table__text(struct string_table *t, uint32_t id, const char **text);

/* A string that there is is the name of a crate other than the one that is compiled. */
void string_table__mark_foreign(struct string_table *t, uint32_t id);

/*
 * Whether a string is the path of a definition that is not of `crate`: it begins with a name that
 * is marked, as it is put together; or with another name than `crate`, unless that is NULL.
 */
bool string_table__is_foreign(const struct string_table *t, uint32_t id, const char *crate);

/* Bytes of the text of a string that there is. */
uint32_t string_table__length(const struct string_table *t, uint32_t id);

/*
 * As string_table__text(), without keeping it: valid until the next call. NULL: no such string, no
 * memory, or the trace expands to too much.
 */
const char *string_table__passing_text(struct string_table *t, uint32_t id);

void string_table__free(struct string_table *t);
DEFINE_CLEANUP(struct string_table, string_table__free)
#define _string_table_ __cleanup(string_table__free_p)

#endif /* QPROF_TRACE_STRING_TABLE_H */
