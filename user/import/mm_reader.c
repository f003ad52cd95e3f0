// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_reader.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qprof/trace_format.h"

#define BLOCK_EVENTS 2048

struct mm_reader {
	struct mm_file file;
	struct mm_strings strings;
	struct mm_metadata metadata;
	struct byte_buffer text; /* of the last kind or label */
	uint32_t event_size;
	uint64_t n_events;
	uint8_t block[BLOCK_EVENTS * MM_EVENT_SIZE];
};

static uint64_t load_id(const struct mm_strings *s, const uint8_t *p)
{
	return s->id_size == 8 ? bytes_load_u64(p) : bytes_load_u32(p);
}

int mm_reader__open(const char *path, struct mm_reader **out, const char **why)
{
	_mm_reader_ struct mm_reader *r = calloc(1, sizeof(*r));
	uint64_t size;
	int err;

	*why = strerrordesc_np(ENOMEM);
	if (!r)
		return -ENOMEM;
	err = mm_file__open(&r->file, path, why);
	if (err)
		return err;
	err = mm_strings__load(&r->strings, &r->file)
		      ?: mm_strings__text(&r->strings, MM_METADATA_ID, &r->text);
	err = err ?: mm_metadata__parse(&r->metadata, (const char *)r->text.data, r->text.size - 1);
	if (err) {
		*why = err == -EFBIG ? "it has more than 4 GiB of strings" : strerrordesc_np(-err);
		return err;
	}
	if (!r->metadata.found)
		r->metadata.start_time_ns = r->file.mtime_ns;
	/* Older versions differ in the size of the two ids only. */
	r->event_size = MM_EVENT_SIZE - 2 * (8 - r->strings.id_size);
	size = r->file.streams[MM_EVENTS].size;
	size = size < MM_HEADER_SIZE ? 0 : size - MM_HEADER_SIZE;
	r->n_events = size / r->event_size;
	if (size % r->event_size)
		mm_file__problem(&r->file, "cut short: its events end inside one");
	*out = take_ptr(r);
	return 0;
}

const struct mm_metadata *mm_reader__metadata(const struct mm_reader *r)
{
	return &r->metadata;
}

uint64_t mm_reader__n_events(const struct mm_reader *r)
{
	return r->n_events;
}

static struct mm_event load_event(const struct mm_reader *r, const uint8_t *p)
{
	/* The fields after the ids have the same distances in both versions. */
	const uint8_t *rest = p + 2 * r->strings.id_size - MM_EVENT_THREAD;
	uint32_t high = bytes_load_u32(rest + MM_EVENT_HIGH);
	struct mm_event e = {
		.kind = load_id(&r->strings, p),
		.id = load_id(&r->strings, p + r->strings.id_size),
		.thread = bytes_load_u32(rest + MM_EVENT_THREAD),
		.start = bytes_load_u32(rest + MM_EVENT_PAYLOAD1) | (uint64_t)(high >> 16) << 32,
		.end = bytes_load_u32(rest + MM_EVENT_PAYLOAD2) | (uint64_t)(high & 0xffff) << 32,
	};

	if (e.end == MM_INSTANT)
		e.type = MM_INSTANT_EVENT;
	else if (e.end == MM_INTEGER)
		e.type = MM_INTEGER_EVENT;
	return e;
}

int mm_reader__events(struct mm_reader *r, uint64_t first, uint32_t n, struct mm_event *events)
{
	while (n) {
		uint32_t some = n < BLOCK_EVENTS ? n : BLOCK_EVENTS;
		int err = mm_file__read(&r->file, MM_EVENTS, MM_HEADER_SIZE + first * r->event_size,
					r->block, (size_t)some * r->event_size);

		if (err)
			return err;
		for (uint32_t i = 0; i < some; i++)
			*events++ = load_event(r, r->block + (size_t)i * r->event_size);
		first += some;
		n -= some;
	}
	return 0;
}

/* The rule of measureme: not empty, and no control characters except white space. */
static bool is_label(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool space =
			text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r' && text[i] != '\v');

		if (!space && (text[i] < 0x20 || text[i] == 0x7f))
			return false;
	}
	return size > 0;
}

const char *mm_reader__label(struct mm_reader *r, uint64_t id)
{
	if (mm_strings__label(&r->strings, id, &r->text))
		return NULL;
	return is_label(r->text.data, r->text.size - 1) ? (const char *)r->text.data
							: "<parse error>";
}

const char *mm_reader__kind(struct mm_reader *r, uint64_t kind)
{
	/* A text with a NUL ends there. */
	return mm_strings__text(&r->strings, kind, &r->text) ? NULL : (const char *)r->text.data;
}

uint32_t mm_reader__address(const struct mm_reader *r, uint64_t id)
{
	return mm_strings__address(&r->strings, id);
}

const struct mm_strings *mm_reader__strings(const struct mm_reader *r)
{
	return &r->strings;
}

const char *mm_reader__problem(const struct mm_reader *r)
{
	return *r->file.problem ? r->file.problem : NULL;
}

void mm_reader__free(struct mm_reader *r)
{
	if (!r)
		return;
	mm_file__destroy(&r->file);
	mm_strings__destroy(&r->strings);
	mm_metadata__clear(&r->metadata);
	byte_buffer__destroy(&r->text);
	free(r);
}

/* ---- Strings --------------------------------------------------------------------------------- */

#define NESTED_MAX 64
#define STEPS_MAX  65536 /* components of one string, which each level of references may double */

static int load_index(struct mm_strings *s, struct mm_file *f)
{
	const struct mm_stream *stream = &f->streams[MM_STRING_INDEX];
	const size_t entry = 2 * s->id_size;
	uint64_t at = MM_HEADER_SIZE;
	uint8_t block[4096];

	while (at < stream->size) {
		uint64_t left = stream->size - at;
		size_t n = left < sizeof(block) ? left : sizeof(block);
		int err;

		n -= n % entry;
		if (!n) {
			mm_file__problem(f, "cut short: its string index ends inside an entry");
			break;
		}
		err = mm_file__read(f, MM_STRING_INDEX, at, block, n);
		if (err)
			return err;
		for (const uint8_t *p = block; p < block + n; p += entry) {
			uint64_t id = load_id(s, p), address = load_id(s, p + s->id_size);

			if (id > MM_METADATA_ID || address >= MM_NO_ADDRESS)
				continue;
			if (id_table__put(&s->index, (uint32_t)id, (uint32_t)address))
				return -ENOMEM;
			if (id <= MM_VIRTUAL_ID_MAX && id >= s->virtual_end)
				s->virtual_end = (uint32_t)id + 1;
		}
		at += n;
	}
	return 0;
}

int mm_strings__load(struct mm_strings *s, struct mm_file *f)
{
	uint64_t size = f->streams[MM_STRING_DATA].size;
	int err;

	*s = (struct mm_strings){.id_size = f->version == MM_VERSION ? 8 : 4};
	if (size >= MM_NO_ADDRESS)
		return -EFBIG;
	s->data = malloc(size + 1);
	if (!s->data)
		return -ENOMEM;
	err = mm_file__read(f, MM_STRING_DATA, 0, s->data, size);
	if (err)
		return err;
	s->size = (uint32_t)size;
	return load_index(s, f);
}

uint32_t mm_strings__address(const struct mm_strings *s, uint64_t id)
{
	uint64_t address = MM_NO_ADDRESS;

	if (id <= MM_METADATA_ID)
		address = id_table__get(&s->index, (uint32_t)id);
	else if (id >= MM_FIRST_REGULAR_ID)
		address = id - MM_FIRST_REGULAR_ID;
	return address < s->size ? (uint32_t)address : MM_NO_ADDRESS;
}

bool mm_strings__component(const struct mm_strings *s, uint32_t *address, struct mm_component *c,
			   bool *bad)
{
	uint32_t from = *address, to = from;

	*bad = false;
	if (from < s->size && s->data[from] == MM_STRING_END)
		return false;
	if (from < s->size && s->data[from] == MM_STRING_REF && s->size - from > s->id_size) {
		*c = (struct mm_component){.id = load_id(s, s->data + from + 1)};
		*address += 1 + s->id_size;
		return true;
	}
	while (to < s->size && s->data[to] < MM_STRING_REF)
		to++;
	*bad = to == s->size || to == from;
	*c = (struct mm_component){.text = s->data + from, .size = to - from};
	*address = to;
	return !*bad;
}

/* The state of an expansion: positions in the string and in the strings that refer to it. */
struct expansion {
	const struct mm_strings *s;
	struct byte_buffer *out;
	bool label; /* stop at a separator */
	bool done;
	uint32_t at[NESTED_MAX];
	unsigned int n;
};

static void append(struct expansion *x, const void *text, size_t size)
{
	size_t room = QPT_TEXT_MAX - x->out->size;
	const void *separator = x->label ? memchr(text, MM_SEPARATOR, size) : NULL;

	if (separator) {
		size = (const char *)separator - (const char *)text;
		x->done = true;
	}
	if (size >= room) {
		size = room;
		x->done = true;
	}
	byte_buffer__bytes(x->out, text, size);
}

static void append_text(struct expansion *x, const char *text)
{
	append(x, text, strlen(text));
}

static void enter(struct expansion *x, uint64_t id)
{
	uint32_t address = mm_strings__address(x->s, id);

	if (address == MM_NO_ADDRESS)
		append_text(x, "<unknown>");
	else if (x->n == NESTED_MAX)
		append_text(x, "<invalid>");
	else
		x->at[x->n++] = address;
}

static int expand(const struct mm_strings *s, uint64_t id, bool label, struct byte_buffer *out)
{
	struct expansion x = {.s = s, .out = out, .label = label};
	struct mm_component c;
	bool bad;

	byte_buffer__clear(out);
	enter(&x, id);
	for (unsigned int steps = 0; x.n && !x.done; steps++) {
		if (steps == STEPS_MAX) {
			append_text(&x, "<invalid>");
			break;
		}
		/* Take one component of the innermost string. */
		if (!mm_strings__component(s, &x.at[x.n - 1], &c, &bad)) {
			x.n--;
			if (bad)
				append_text(&x, "<invalid>");
		} else if (c.text) {
			append(&x, c.text, c.size);
		} else {
			enter(&x, c.id);
		}
	}
	byte_buffer__bytes(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}

int mm_strings__text(const struct mm_strings *s, uint64_t id, struct byte_buffer *out)
{
	return expand(s, id, false, out);
}

int mm_strings__label(const struct mm_strings *s, uint64_t id, struct byte_buffer *out)
{
	return expand(s, id, true, out);
}

void mm_strings__destroy(struct mm_strings *s)
{
	free(s->data);
	id_table__destroy(&s->index);
	*s = (struct mm_strings){0};
}

/* ---- Metadata: Rust's escapes ---------------------------------------------------------------- */

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

/* ---- Metadata: members ----------------------------------------------------------------------- */

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

static int get_own(struct mm_metadata *m, struct json_object *own)
{
	struct trace_process *p = &m->process;
	struct json_object *member;
	uint64_t value;
	int err = 0;

	m->exported = true;
	if (get_number(own, "parent_pid", UINT32_MAX, &value))
		p->parent_pid = (uint32_t)value;
	if (get_number(own, "exit_status", UINT32_MAX, &value))
		p->exit_status = (int32_t)(uint32_t)value;
	p->attached_late = json_object_object_get_ex(own, "attached_late", &member) &&
			   json_object_get_boolean(member);
	p->crate = get_text(own, "crate", &err);
	p->crate_type = get_text(own, "crate_type", &err);
	p->rustc_version = get_text(own, "rustc_version", &err);
	p->build_id = get_text(own, "build_id", &err);
	m->has_losses = json_object_object_get_ex(own, "losses", &member) &&
			json_object_is_type(member, json_type_object);
	for (int i = 0; i < TRACE_LOSS_MAX && m->has_losses; i++)
		get_number(member, trace_loss_name(i), UINT64_MAX, &m->losses.count[i]);
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
