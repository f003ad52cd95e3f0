/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Numbers as people read them, and text that is safe to print: names come from traces and from
 * other people's command lines.
 */
#ifndef QPROF_BASE_FORMAT_H
#define QPROF_BASE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_MAX 32

/* All of these fill `buf` and return it. */

/* Three significant digits: "0 ns", "1.23 ms", "75.3 s", "1234 s". */
char *format_duration(char buf[FORMAT_MAX], uint64_t ns);
/* Every digit, in groups: "204,607". */
char *format_count(char buf[FORMAT_MAX], uint64_t n);
/* Three significant digits: "999", "12.3k", "1.23M". */
char *format_short(char buf[FORMAT_MAX], uint64_t n);
/* "512 B", "1.50 KiB", "16.0 MiB". */
char *format_bytes(char buf[FORMAT_MAX], uint64_t bytes);
/* part / whole as "12.3", without a sign; "0.0" if the whole is 0. */
char *format_percent(char buf[FORMAT_MAX], uint64_t part, uint64_t whole);

/* n per `ns` nanoseconds, as a rate per second; 0 if no time has passed. */
uint64_t format_rate(uint64_t n, uint64_t ns);

/*
 * A terminal acts on it, or shows something else than what is there: C0, DEL and C1, the characters
 * that change the direction of text, and the separators of lines and paragraphs. No output that may
 * reach a terminal holds one of these out of a name.
 */
bool format_is_unsafe(uint32_t cp);

/* How a JSON string has this character; NULL: as itself. All that is unsafe is escaped. */
#define FORMAT_ESCAPE 8
const char *format_json_escape(uint32_t cp, char scratch[FORMAT_ESCAPE]);

/* Print JSON of a library, with what is unsafe in its strings escaped. Errors are the stream's. */
void format_put_json(FILE *out, const char *json, size_t len);

/*
 * A copy of `text` without control characters and broken UTF-8 ('?' for each byte of them), so
 * that it cannot move a cursor or break a table. NULL when out of memory.
 */
char *format_clean(const char *text);

/* Columns that clean text takes on a terminal. */
size_t format_width(const char *text);

/* Bytes of the longest prefix of clean text that fits `columns`. */
size_t format_fit(const char *text, size_t columns);

/* Cut clean text to columns; ".." at its end says so, if there is room for it. */
void format_cut(char *text, size_t columns);

/* The longest end of clean text that fits `columns`: a pointer into it. */
const char *format_fit_end(const char *text, size_t columns);

/*
 * Length of the UTF-8 character at `text` and its code point; 0 if the bytes there are not
 * one. Never reads past a NUL.
 */
size_t format_utf8(const char *text, uint32_t *code_point);

/* Bytes as text, two digits each: 2 * n + 1 bytes. */
void format_hex(char *text, const uint8_t *bytes, size_t n);

#endif /* QPROF_BASE_FORMAT_H */
