// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/json.h"

#include <errno.h>
#include <string.h>

#include "base/format.h"

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

void json__begin(struct json *j)
{
	if (j->err)
		return;
	j->object = json_object_new_object();
	if (!j->object)
		j->err = -ENOMEM;
}

void json__value(struct json *j, const char *key, struct json_object *value)
{
	if (j->err || !value || json_object_object_add(j->object, key, value)) {
		json_object_put(value);
		j->err = j->err ?: -ENOMEM;
	}
}

struct json_object *json_new_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	/* A bad byte becomes three bytes. */
	_free_ char *valid = malloc(3 * strlen(text) + 1);
	char *out = valid;

	if (!valid)
		return NULL;
	while (*text) {
		uint32_t cp;
		size_t len = format_utf8(text, &cp);

		out = mempcpy(out, len ? text : replacement, len ?: 3);
		text += len ?: 1;
	}
	return json_object_new_string_len(valid, out - valid);
}

void json__text(struct json *j, const char *key, const char *text)
{
	if (j->err)
		return;
	if (text)
		json__value(j, key, json_new_text(text));
	else
		json__null(j, key);
}

void json__number(struct json *j, const char *key, uint64_t value)
{
	if (!j->err)
		json__value(j, key, json_object_new_uint64(value));
}

void json__known(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json__number(j, key, value);
	else
		json__null(j, key);
}

void json__bool(struct json *j, const char *key, bool value)
{
	if (!j->err)
		json__value(j, key, json_object_new_boolean(value));
}

void json__null(struct json *j, const char *key)
{
	/* json-c represents null as NULL. */
	if (!j->err && json_object_object_add(j->object, key, NULL))
		j->err = -ENOMEM;
}

void json__losses(struct json *j, const char *key, const struct trace_losses *losses)
{
	struct json causes = {};

	if (!losses) {
		json__null(j, key);
		return;
	}
	json__begin(&causes);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		json__number(&causes, trace_loss_name(i), losses->count[i]);
	json__value(j, key, json__take(&causes));
}

static int put(struct json *j, size_t less)
{
	const char *text = NULL;
	size_t len;

	if (!j->err)
		text = json_object_to_json_string_length(j->object, PLAIN, &len);
	if (!text)
		j->err = j->err ?: -ENOMEM;
	else
		format_put_json(j->out, text, len - less);
	if (ferror(j->out))
		j->err = j->err ?: -EIO;
	json_object_put(take_ptr(j->object));
	return j->err;
}

int json__put(struct json *j)
{
	return put(j, 0);
}

int json__put_open(struct json *j)
{
	return put(j, 1);
}

struct json_object *json__take(struct json *j)
{
	if (j->err)
		json_object_put(take_ptr(j->object));
	return take_ptr(j->object);
}

void json__print(struct json *j, const char *text)
{
	if (!j->err)
		fputs(text, j->out);
}

void json__print_text(struct json *j, const char *text)
{
	struct json_object *object;
	const char *printed;
	size_t len;

	if (j->err)
		return;
	object = text ? json_new_text(text) : NULL;
	printed = json_object_to_json_string_length(object, PLAIN, &len);
	if (!printed || (text && !object))
		j->err = -ENOMEM;
	else
		format_put_json(j->out, printed, len);
	json_object_put(object);
}

void json__array(struct json *j, const char *key)
{
	if (!j->err)
		fprintf(j->out, ",\"%s\":[", key);
}

void json__item(struct json *j, size_t i)
{
	json__print(j, i ? "," : "");
	json__begin(j);
}

void json__line(struct json *j, size_t i)
{
	json__print(j, i ? ",\n" : "\n");
	json__begin(j);
}
