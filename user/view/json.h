/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * JSON pieces. Documents are printed as they are made, so that their size does not matter; json-c
 * builds the small objects in them and does the escaping.
 */
#ifndef QPROF_VIEW_JSON_H
#define QPROF_VIEW_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/trace.h"

/* Setters keep their first failure, which json__put() returns: -ENOMEM. */
struct json {
	struct json_object *object;
	int err;
};

void json__begin(struct json *j);
void json__text(struct json *j, const char *key, const char *text); /* NULL -> null */
void json__number(struct json *j, const char *key, uint64_t value);
void json__bool(struct json *j, const char *key, bool value);
void json__null(struct json *j, const char *key);
void json__hex(struct json *j, const char *key, uint64_t value); /* "0x..", JSON has no hex */
/* Add a value; its reference is taken. NULL is a failure, not null. */
void json__value(struct json *j, const char *key, struct json_object *value);
/* An object of counts by cause; NULL -> null. */
void json__losses(struct json *j, const char *key, const struct trace_losses *losses);
/* Print the object on one line without a newline, and free it. */
int json__put(struct json *j, FILE *out);
/* Print the object without its closing brace, so that members can be printed after it. */
int json__put_open(struct json *j, FILE *out);

/* A string; bytes that are not UTF-8 become U+FFFD, as JSON must be UTF-8. */
struct json_object *json_new_text(const char *text);

#endif /* QPROF_VIEW_JSON_H */
