/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Helpers for JSON output. Documents are printed while they are built, so their size does not
 * matter; json-c builds the small objects in them and does the escaping.
 */
#ifndef QPROF_VIEW_JSON_H
#define QPROF_VIEW_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/trace.h"

/* Setters keep the first error; json__put() returns it: -ENOMEM. */
struct json {
	struct json_object *object;
	int err;
};

void json__begin(struct json *j);
void json__text(struct json *j, const char *key, const char *text); /* NULL -> null */
void json__number(struct json *j, const char *key, uint64_t value);
void json__bool(struct json *j, const char *key, bool value);
void json__null(struct json *j, const char *key);
void json__hex(struct json *j, const char *key, uint64_t value); /* "0x..": JSON has no hex */
/* Add a value and take its reference. A NULL value is an error, not null. */
void json__value(struct json *j, const char *key, struct json_object *value);
/* Add an object with counts by cause; NULL -> null. */
void json__losses(struct json *j, const char *key, const struct trace_losses *losses);
/* Print the object on one line without a newline, and free it. */
int json__put(struct json *j, FILE *out);
/* Print the object without its closing brace, so that more members can follow. */
int json__put_open(struct json *j, FILE *out);

/* A JSON string; bytes that are not UTF-8 become U+FFFD, because JSON must be UTF-8. */
struct json_object *json_new_text(const char *text);

#endif /* QPROF_VIEW_JSON_H */
