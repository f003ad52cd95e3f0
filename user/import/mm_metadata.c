// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_metadata.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

/* ---- Rust's escapes -------------------------------------------------------------------------- */

/* Parse the code point "{e9}" at `p`. Returns its length, or 0 if it is malformed. */
static size_t braced(const char *p, const char *end, uint32_t *code_point)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = p;
	uint32_t value = 0;

	if (at == end || *at++ != '{')
		return 0;
	for (; at < end && *at != '}'; at++) {
		const char *digit = memchr(digits, *at, 16);

		if (!digit || value > 0x10ffff)
			return 0;
		value = value << 4 | (uint32_t)(digit - digits);
	}
	if (at == end || value > 0x10ffff)
		return 0;
	*code_point = value;
	return at + 1 - p;
}

/*
 * Write a code point as JSON. A NUL becomes a space: neither arguments nor our texts can hold it.
 */
static size_t put_code_point(char *out, uint32_t code_point)
{
	if (!code_point)
		code_point = ' ';
	if (code_point >= 0xd800 && code_point < 0xe000)
		code_point = 0xfffd;
	if (code_point < 0x10000)
		return sprintf(out, "\\u%04x", code_point);
	code_point -= 0x10000;
	return sprintf(out, "\\u%04x\\u%04x", 0xd800 | code_point >> 10,
		       0xdc00 | (code_point & 0x3ff));
}

/* Translate the escape at `p`, a backslash. Returns its length; `*out` is moved behind the copy. */
static size_t copy_escape(const char *p, const char *end, char **out)
{
	uint32_t code_point;
	size_t size;

	if (end - p >= 2 && p[1] == '\'') {
		*(*out)++ = '\'';
		return 2;
	}
	size = end - p >= 2 && p[1] == 'u' ? braced(p + 2, end, &code_point) : 0;
	if (size) {
		*out += put_code_point(*out, code_point);
		return 2 + size;
	}
	size = end - p >= 2 ? 2 : 1;
	*out = mempcpy(*out, p, size);
	return size;
}

/* A copy with Rust's escapes replaced by JSON's. The longest takes 6 bytes for the 5 of "\u{0}". */
static char *repair(const char *text, size_t size)
{
	const char *end = text + size;
	char *copy = malloc(3 * size + 1), *out = copy;

	while (copy && text < end) {
		if (*text == '\\')
			text += copy_escape(text, end, &out);
		else
			*out++ = *text++;
	}
	if (copy)
		*out = '\0';
	return copy;
}

/* ---- Members --------------------------------------------------------------------------------- */

/* A number from 0 to `max`; false if it is missing or out of range. */
static bool get_number(struct json_object *object, const char *key, uint64_t max, uint64_t *value)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_int))
		return false;
	/* json_object_get_uint64() turns -1 into 0. */
	if (json_object_get_int64(member) < 0)
		return false;
	*value = json_object_get_uint64(member);
	return *value <= max;
}

static bool get_bool(struct json_object *object, const char *key)
{
	struct json_object *member;

	return json_object_object_get_ex(object, key, &member) && json_object_get_boolean(member);
}

/* A copy of a text without trailing spaces; NULL if it is missing. */
static char *get_text(struct json_object *object, const char *key, int *err)
{
	struct json_object *member;
	const char *value;
	size_t size;
	char *text;

	if (!json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_string))
		return NULL;
	value = json_object_get_string(member);
	size = strlen(value);
	while (size && value[size - 1] == ' ')
		size--;
	text = strndup(value, size);
	if (!text)
		*err = -ENOMEM;
	return text;
}

static void get_losses(struct mm_metadata *m, struct json_object *own)
{
	struct json_object *losses;

	if (!json_object_object_get_ex(own, "losses", &losses) ||
	    !json_object_is_type(losses, json_type_object))
		return;
	m->has_losses = true;
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		get_number(losses, trace_loss_name(i), UINT64_MAX, &m->losses.count[i]);
}

static int get_own(struct mm_metadata *m, struct json_object *own)
{
	struct trace_process *p = &m->process;
	uint64_t value;
	int err = 0;

	m->exported = true;
	if (get_number(own, "parent_pid", UINT32_MAX, &value))
		p->parent_pid = (uint32_t)value;
	if (get_number(own, "exit_status", UINT32_MAX, &value))
		p->exit_status = (int32_t)(uint32_t)value;
	p->attached_late = get_bool(own, "attached_late");
	p->crate = get_text(own, "crate", &err);
	p->crate_type = get_text(own, "crate_type", &err);
	p->rustc_version = get_text(own, "rustc_version", &err);
	p->build_id = get_text(own, "build_id", &err);
	get_losses(m, own);
	return err;
}

static int get_all(struct mm_metadata *m, struct json_object *object)
{
	struct json_object *own;
	uint64_t pid = 0;
	int err = 0;
	bool has_start = get_number(object, "start_time", UINT64_MAX, &m->start_time_ns);
	bool has_pid = get_number(object, "process_id", UINT32_MAX, &pid);

	m->process.pid = has_pid ? (uint32_t)pid : 0;
	m->process.command = get_text(object, "cmd", &err);
	m->found = has_start && has_pid && m->process.command;
	if (!err && json_object_object_get_ex(object, "qprof", &own) &&
	    json_object_is_type(own, json_type_object))
		err = get_own(m, own);
	return err;
}

int mm_metadata__parse(struct mm_metadata *m, const char *text, size_t size)
{
	char *json = repair(text, size);
	struct json_object *object;
	int err = 0;

	*m = (struct mm_metadata){.process.exit_status = TRACE_EXIT_UNKNOWN};
	if (!json)
		return -ENOMEM;
	object = json_tokener_parse(json);
	if (json_object_is_type(object, json_type_object))
		err = get_all(m, object);
	json_object_put(object);
	free(json);
	return err;
}

void mm_metadata__clear(struct mm_metadata *m)
{
	trace_process__clear(&m->process);
	*m = (struct mm_metadata){0};
}
