/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * JSON documents. They are printed while they are built, so their size does not matter; json-c
 * builds the small objects in them and does the escaping.
 *
 *	struct json j = {.out = out};
 *
 *	json__begin(&j);
 *	json__number(&j, "pid", pid);
 *	json__put_open(&j);
 *	json__array(&j, "threads");
 *	for (size_t i = 0; i < n; i++) {
 *		json__item(&j, i);
 *		json__text(&j, "name", names[i]);
 *		json__put(&j);
 *	}
 *	json__print(&j, "]}");
 *	return j.err;
 */
#ifndef QPROF_VIEW_JSON_H
#define QPROF_VIEW_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/trace.h"

/*
 * A document. The first error is kept, and nothing is printed after it. A loop over items ends at
 * an error; otherwise a limit of the output would not limit the time that a hostile trace takes.
 */
struct json {
	FILE *out;
	struct json_object *object; /* the current object */
	int err;
};

/* Begin an object, and fill it in. */
void json__begin(struct json *j);
void json__text(struct json *j, const char *key, const char *text); /* NULL -> null */
void json__number(struct json *j, const char *key, uint64_t value);
void json__known(struct json *j, const char *key, bool known, uint64_t value); /* else null */
void json__bool(struct json *j, const char *key, bool value);
void json__null(struct json *j, const char *key);
/* Add a value and take its reference. A NULL value is an error, not null. */
void json__value(struct json *j, const char *key, struct json_object *value);
/* Add an object with counts by cause; NULL -> null. */
void json__losses(struct json *j, const char *key, const struct trace_losses *losses);

/* Print the object on one line without a newline, and free it. Returns the document's error. */
int json__put(struct json *j);
/* Print the object without its closing brace, so that more members can follow. */
int json__put_open(struct json *j);
/* Return the object instead, to be added to another one. NULL after a failure. */
struct json_object *json__take(struct json *j);

/* Print text between objects. */
void json__print(struct json *j, const char *text);
/* Print a JSON string; NULL -> null. */
void json__print_text(struct json *j, const char *text);
/* Begin an array that follows other members. */
void json__array(struct json *j, const char *key);
/* Begin the object at index `i` of an array; json__line() begins it on a new line. */
void json__item(struct json *j, size_t i);
void json__line(struct json *j, size_t i);

/* A JSON string; bytes that are not UTF-8 become U+FFFD, because JSON must be UTF-8. */
struct json_object *json_new_text(const char *text);

#endif /* QPROF_VIEW_JSON_H */
