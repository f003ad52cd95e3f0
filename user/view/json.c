// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/format.h"

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

void json__begin(struct json *j)
{
	j->object = json_object_new_object();
	j->err = j->object ? 0 : -ENOMEM;
}

void json__value(struct json *j, const char *key, struct json_object *value)
{
	if (!value)
		j->err = -ENOMEM;
	if (j->err || json_object_object_add(j->object, key, value)) {
		json_object_put(value);
		j->err = -ENOMEM;
	}
}

struct json_object *json_new_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct json_object *object;
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
	object = json_object_new_string_len(valid, out - valid);
	return object;
}

void json__text(struct json *j, const char *key, const char *text)
{
	if (text)
		json__value(j, key, json_new_text(text));
	else
		json__null(j, key);
}

void json__number(struct json *j, const char *key, uint64_t value)
{
	json__value(j, key, json_object_new_uint64(value));
}

void json__bool(struct json *j, const char *key, bool value)
{
	json__value(j, key, json_object_new_boolean(value));
}

void json__null(struct json *j, const char *key)
{
	/* json-c represents null as NULL. */
	if (!j->err && json_object_object_add(j->object, key, NULL))
		j->err = -ENOMEM;
}

void json__hex(struct json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json__text(j, key, text);
}

void json__losses(struct json *j, const char *key, const struct trace_losses *losses)
{
	struct json causes;

	if (!losses) {
		json__null(j, key);
		return;
	}
	json__begin(&causes);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		json__number(&causes, trace_loss_name(i), losses->count[i]);
	if (causes.err) {
		json_object_put(causes.object);
		causes.object = NULL;
	}
	json__value(j, key, causes.object);
}

static int put(struct json *j, FILE *out, size_t less)
{
	const char *text = NULL;
	size_t len;

	if (!j->err)
		text = json_object_to_json_string_length(j->object, PLAIN, &len);
	if (text)
		j->err = fwrite(text, 1, len - less, out) < len - less || ferror(out) ? -EIO : 0;
	else
		j->err = j->err ?: -ENOMEM;
	json_object_put(j->object);
	j->object = NULL;
	return j->err;
}

int json__put(struct json *j, FILE *out)
{
	return put(j, out, 0);
}

int json__put_open(struct json *j, FILE *out)
{
	return put(j, out, 1);
}
