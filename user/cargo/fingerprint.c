// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/fingerprint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- Pieces of JSON -------------------------------------------------------------------------- */

static void skip_spaces(struct word *in)
{
	while (in->len && strchr(" \t\r\n", *in->at) && *in->at) {
		in->at++;
		in->len--;
	}
}

/* The bytes of the value that `in` begins with: up to the end of its text or its last bracket. */
static size_t value_size(struct word in)
{
	bool in_text = false;
	size_t depth = 0;

	for (size_t i = 0; i < in.len; i++) {
		char c = in.at[i];

		if (in_text) {
			i += c == '\\';
			in_text = c != '"';
		} else if (c == '"') {
			in_text = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']' || c == ',') {
			if (!depth)
				return i;
			if (c != ',' && !--depth)
				return i + 1;
		}
		if (!depth && !in_text && c == '"')
			return i + 1;
	}
	return in_text || depth ? 0 : in.len;
}

/* Take the next value off `in`, and what is between it and the next one; none if there is none. */
static struct word take_value(struct word *in, char separator)
{
	struct word value;

	skip_spaces(in);
	value = (struct word){in->at, value_size(*in)};
	if (separator == ':') /* the value is a key */
		value.len = value.len && *value.at == '"' ? value.len : 0;
	if (!value.len)
		return (struct word){0};
	in->at += value.len;
	in->len -= value.len;
	skip_spaces(in);
	if (in->len && *in->at == separator) {
		in->at++;
		in->len--;
	}
	return value;
}

/* What is between the brackets or quotes of a value; none if it has others. */
static struct word inside(struct word value, char open, char close)
{
	if (value.len < 2 || value.at[0] != open || value.at[value.len - 1] != close)
		return (struct word){0};
	return (struct word){value.at + 1, value.len - 2};
}

bool words_are_same(struct word a, struct word b)
{
	return !a.at == !b.at && a.len == b.len && (!a.len || !memcmp(a.at, b.at, a.len));
}

/* The member of an object; none if it has no such member. */
static struct word member(struct word object, const char *name)
{
	struct word in = inside(object, '{', '}');

	while (in.len) {
		struct word key = inside(take_value(&in, ':'), '"', '"');
		struct word value = take_value(&in, ',');

		if (!key.at || !value.at)
			break;
		if (word__is(key, name))
			return value;
	}
	return (struct word){0};
}

/* ---- Fingerprints ---------------------------------------------------------------------------- */

static const struct {
	const char *name;
	char first; /* of the value; '0': a digit */
	enum trace_rebuilt_reason reason;
} fields[FINGERPRINT_FIELDS] = {
	[FINGERPRINT_RUSTC] = {"rustc", '0', TRACE_REBUILT_RUSTC},
	[FINGERPRINT_FEATURES] = {"features", '"', TRACE_REBUILT_FEATURES},
	[FINGERPRINT_DECLARED_FEATURES] = {"declared_features", '"', TRACE_REBUILT_MANIFEST},
	[FINGERPRINT_TARGET] = {"target", '0', TRACE_REBUILT_MANIFEST},
	[FINGERPRINT_PATH] = {"path", '0', TRACE_REBUILT_SOURCE},
	[FINGERPRINT_PROFILE] = {"profile", '0', TRACE_REBUILT_PROFILE},
	[FINGERPRINT_RUSTFLAGS] = {"rustflags", '[', TRACE_REBUILT_FLAGS},
	[FINGERPRINT_CONFIG] = {"config", '0', TRACE_REBUILT_CONFIG},
	[FINGERPRINT_COMPILE_KIND] = {"compile_kind", '0', TRACE_REBUILT_CONFIG},
	[FINGERPRINT_LOCAL] = {"local", '[', TRACE_REBUILT_BUILD_SCRIPT},
	[FINGERPRINT_DEPS] = {"deps", '[', TRACE_REBUILT_DEPENDENCY},
};

int fingerprint__parse(struct fingerprint *f, const char *json, size_t size)
{
	struct word in = {json, size}, object;
	unsigned int found = 0;

	object = take_value(&in, ',');
	in = inside(object, '{', '}');
	while (in.len) {
		struct word key = inside(take_value(&in, ':'), '"', '"');
		struct word value = take_value(&in, ',');
		int i = 0;

		if (!key.at || !value.at)
			return -EBADMSG;
		while (i < FINGERPRINT_FIELDS && !word__is(key, fields[i].name))
			i++;
		/* A member that is not known may be the reason: nothing is said of its unit. */
		if (i == FINGERPRINT_FIELDS || found & 1u << i ||
		    (fields[i].first == '0' ? *value.at < '0' || *value.at > '9'
					    : *value.at != fields[i].first))
			return -EBADMSG;
		found |= 1u << i;
		f->field[i] = value;
	}
	return found == (1u << FINGERPRINT_FIELDS) - 1 ? 0 : -EBADMSG;
}

unsigned int fingerprint__distance(const struct fingerprint *a, const struct fingerprint *b)
{
	unsigned int n = 0;

	for (int i = 0; i < FINGERPRINT_LOCAL; i++)
		n += !words_are_same(a->field[i], b->field[i]);
	return n;
}

/* Append " " and the word; one that does not fit whole is left out. */
static void add_name(char *detail, char sign, struct word name)
{
	size_t len = strlen(detail);

	if (name.len && len + name.len + 3 <= FINGERPRINT_DETAIL_MAX)
		snprintf(detail + len, FINGERPRINT_DETAIL_MAX - len, "%s%c%.*s", len ? " " : "",
			 sign, (int)name.len, name.at);
}

/* The next feature of a text of the form "[\"a\", \"b\"]", which is a text within JSON. */
static struct word take_feature(struct word *in)
{
	static const char quote[] = "\\\"";
	const char *at = in->len ? memmem(in->at, in->len, quote, 2) : NULL, *end;
	struct word name = {0};

	if (!at)
		return name;
	at += 2;
	end = memmem(at, (size_t)(in->at + in->len - at), quote, 2);
	if (!end)
		return name;
	name = (struct word){at, (size_t)(end - at)};
	*in = (struct word){end + 2, (size_t)(in->at + in->len - end - 2)};
	return name;
}

/* The extern name of the next dependency: [id, name, is public, hash]. */
static struct word take_dep(struct word *in, uint64_t *hash)
{
	struct word dep = inside(take_value(in, ','), '[', ']'), name;

	take_value(&dep, ',');
	name = inside(take_value(&dep, ','), '"', '"');
	take_value(&dep, ',');
	dep = take_value(&dep, ',');
	if (!dep.len || *dep.at < '0' || *dep.at > '9')
		return (struct word){0};
	/* Behind the number there is a bracket of its list. */
	*hash = strtoull(dep.at, NULL, 10);
	return name;
}

static struct word take_dep_name(struct word *in)
{
	uint64_t hash;

	return take_dep(in, &hash);
}

/* Comparisons of names: lists that are longer than any of cargo's do not take longer. */
#define COMPARISONS_MAX (1u << 18)

/* Name what one list has and the other has not. */
static void name_difference(struct word before, struct word after,
			    struct word (*take)(struct word *in), char *detail)
{
	unsigned int left = COMPARISONS_MAX;

	for (int gone = 0; gone < 2; gone++) {
		struct word in = gone ? before : after, name;

		while (left && (name = take(&in)).at) {
			struct word others = gone ? after : before, other;

			while (left && (other = take(&others)).at && !words_are_same(name, other))
				left--;
			if (left && !other.at)
				add_name(detail, gone ? '-' : '+', name);
		}
	}
}

/*
 * The first difference of two inputs of a unit, each {"Kind": value}. The directory of the unit has
 * another name if its features have changed, and so have files in it.
 */
static bool input_differs(struct word before, struct word after, enum trace_rebuilt_reason *reason,
			  char *detail)
{
	static const struct {
		const char *kind, *compared[2];
	} kinds[] = {
		{"Precalculated", {NULL}},
		{"CheckDepInfo", {"checksum"}},
		{"RerunIfChanged", {"paths"}},
		{"RerunIfEnvChanged", {"var", "val"}},
	};

	for (size_t i = 0; i < N_OF(kinds); i++) {
		struct word old = member(before, kinds[i].kind), now = member(after, kinds[i].kind);
		const char *const *compared = kinds[i].compared;

		if (!now.at != !old.at)
			return true;
		/* "1700000000.1s (src/main.rs)": the newest file of the package. */
		if (now.at && !compared[0] && !words_are_same(old, now)) {
			const char *open = memchr(now.at, '(', now.len);
			struct word path = inside(now, '"', '"');

			if (open && path.at && path.at[path.len - 1] == ')') {
				*reason = TRACE_REBUILT_FILE;
				snprintf(detail, FINGERPRINT_DETAIL_MAX, "%.*s",
					 (int)(path.at + path.len - open - 2), open + 1);
			}
			return true;
		}
		for (int k = 0; now.at && k < 2 && compared[k]; k++) {
			struct word var;

			if (words_are_same(member(old, compared[k]), member(now, compared[k])))
				continue;
			var = inside(member(now, "var"), '"', '"');
			if (!strcmp(compared[k], "checksum"))
				*reason = TRACE_REBUILT_CONFIG;
			if (k) {
				*reason = TRACE_REBUILT_ENVIRONMENT;
				snprintf(detail, FINGERPRINT_DETAIL_MAX, "%.*s", (int)var.len,
					 var.at ?: "");
			}
			return true;
		}
	}
	return false;
}

bool fingerprint__differs(const struct fingerprint *before, const struct fingerprint *after,
			  enum trace_rebuilt_reason *reason, char *detail)
{
	struct word old, now;

	*detail = '\0';
	for (int i = 0; i < FINGERPRINT_LOCAL; i++) {
		if (words_are_same(before->field[i], after->field[i]))
			continue;
		*reason = fields[i].reason;
		if (i == FINGERPRINT_FEATURES)
			name_difference(before->field[i], after->field[i], take_feature, detail);
		return true;
	}
	old = inside(before->field[FINGERPRINT_LOCAL], '[', ']');
	now = inside(after->field[FINGERPRINT_LOCAL], '[', ']');
	*reason = TRACE_REBUILT_BUILD_SCRIPT;
	while (!words_are_same(old, now)) {
		struct word a = take_value(&old, ','), b = take_value(&now, ',');

		if (!a.at || !b.at || input_differs(a, b, reason, detail))
			return true;
	}
	old = inside(before->field[FINGERPRINT_DEPS], '[', ']');
	now = inside(after->field[FINGERPRINT_DEPS], '[', ']');
	if (words_are_same(old, now))
		return false;
	name_difference(old, now, take_dep_name, detail);
	*reason = *detail ? TRACE_REBUILT_DEPENDENCIES : TRACE_REBUILT_DEPENDENCY;
	return true;
}

bool fingerprint__any_dep(const struct fingerprint *f, bool (*take)(void *ctx, uint64_t hash),
			  void *ctx)
{
	struct word in = inside(f->field[FINGERPRINT_DEPS], '[', ']');
	uint64_t hash;

	while (take_dep(&in, &hash).at)
		if (take(ctx, hash))
			return true;
	return false;
}

struct word fingerprint__watched(const struct fingerprint *f, size_t *at)
{
	struct word in = inside(f->field[FINGERPRINT_LOCAL], '[', ']');

	for (size_t i = 0; in.len;) {
		struct word input = take_value(&in, ','), path;
		struct word paths =
			inside(member(member(input, "RerunIfChanged"), "paths"), '[', ']');

		if (!input.at)
			break;
		while ((path = take_value(&paths, ',')).at) {
			path = inside(path, '"', '"');
			/* An escaped path is none that can be looked for as it is. */
			if (i++ < *at || !path.at || memchr(path.at, '\\', path.len))
				continue;
			*at = i;
			return path;
		}
	}
	return (struct word){0};
}

/* ---- The list of files and variables --------------------------------------------------------- */

/* "One file", of a kind that there is not, so that older versions of cargo stop; and version 1. */
static const uint8_t marker[] = {1, 0, 0, 0, 0xff, 1};

static bool take_u32(struct dep_info *d, uint32_t *value)
{
	if (d->end - d->at < 4)
		return false;
	*value = d->at[0] | (uint32_t)d->at[1] << 8 | (uint32_t)d->at[2] << 16 |
		 (uint32_t)d->at[3] << 24;
	d->at += 4;
	return true;
}

static bool take_u8(struct dep_info *d, uint8_t most, uint8_t *value)
{
	if (d->at == d->end || *d->at > most)
		return false;
	*value = *d->at++;
	return true;
}

static bool take_bytes(struct dep_info *d, struct word *text)
{
	uint32_t size;

	if (!take_u32(d, &size) || (size_t)(d->end - d->at) < size)
		return false;
	*text = (struct word){(const char *)d->at, size};
	d->at += size;
	return true;
}

int dep_info__begin(struct dep_info *d, const void *bytes, size_t size)
{
	*d = (struct dep_info){.n_variables = UINT32_MAX};
	if (size < sizeof(marker) || memcmp(bytes, marker, sizeof(marker)) != 0)
		return -EBADMSG;
	d->at = (const uint8_t *)bytes + sizeof(marker);
	d->end = (const uint8_t *)bytes + size;
	return take_u32(d, &d->n_files) ? 0 : -EBADMSG;
}

int dep_info__next(struct dep_info *d, struct dep_info_entry *entry)
{
	uint8_t kind, has;
	struct word checksum;

	*entry = (struct dep_info_entry){0};
	if (d->n_files) {
		d->n_files--;
		if (!take_u8(d, 1, &kind) || !take_bytes(d, &entry->name) || !take_u8(d, 1, &has))
			return -EBADMSG;
		entry->in_package = !kind;
		if (has && d->end - d->at < 8)
			return -EBADMSG;
		d->at += has ? 8 : 0;
		return has && !take_bytes(d, &checksum) ? -EBADMSG : 1;
	}
	if (d->n_variables == UINT32_MAX && !take_u32(d, &d->n_variables))
		return -EBADMSG;
	if (!d->n_variables)
		return d->at == d->end ? 0 : -EBADMSG;
	d->n_variables--;
	entry->is_variable = true;
	if (!take_bytes(d, &entry->name) || !take_u8(d, 1, &has))
		return -EBADMSG;
	return has && !take_bytes(d, &entry->value) ? -EBADMSG : 1;
}
