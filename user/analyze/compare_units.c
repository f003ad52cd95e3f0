// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "proc/command_line.h"

#define NONE UINT32_MAX

/* Longer names are cut; they come from the command line of a process without a crate. */
#define NAME_MAX_BYTES 200

/* The mark at the end of a command that the trace cut because it was too long. */
#define CUT_MARK " ..."

/* Dependencies are not compared if more units than this share a name and place. */
#define DISTINGUISHED_MOST 32

static char *copy(struct word word)
{
	return strndup(word.at ?: "", word.len);
}

/*
 * The buffer is large enough: the value of each --cfg is shorter than the option with its value.
 * The target has space of its own, because "--cfg --target=x" uses the same text twice.
 */
static char *variant_of(const struct trace_process *p)
{
	struct command_line rest = command_line_joined(p->command);
	struct word target = command_line__value(rest, "--target");
	char *text = malloc(target.len + (size_t)(rest.end - rest.at) + 1), *to = text;

	if (!text)
		return NULL;
	to = mempcpy(to, target.at ?: "", target.len);
	for (struct word word; (word = command_line__next(&rest)).at;) {
		if (!word__is(word, "--cfg"))
			continue;
		word = command_line__next(&rest);
		*to++ = ' ';
		to = mempcpy(to, word.at ?: "", word.len);
	}
	*to = '\0';
	return text;
}

static char *source_of(const struct trace_process *p)
{
	struct word source = command_line__source(command_line_joined(p->command));
	char *path;

	if (!source.at || *source.at == '/' || !p->cwd)
		return copy(source);
	return asprintf(&path, "%s/%.*s", p->cwd, (int)source.len, source.at) < 0 ? NULL : path;
}

/*
 * cargo runs in the root directory of a package outside the workspace and passes full file names.
 * Another build may keep the package elsewhere, but in a directory of the same name.
 */
static char *place_of(const struct trace_process *p)
{
	struct word source = command_line__source(command_line_joined(p->command));
	struct word root = {p->cwd, p->cwd ? strlen(p->cwd) : 0};

	if (!source.at || !root.len || source.len <= root.len || source.at[root.len] != '/' ||
	    memcmp(source.at, root.at, root.len))
		return copy(source);
	root = word__last_component(root);
	return copy((struct word){source.at + strlen(p->cwd) - root.len,
				  source.len - strlen(p->cwd) + root.len});
}

static void free_unit(struct compare_unit *unit)
{
	if (!unit)
		return;
	free(unit->crate);
	free(unit->type);
	free(unit->name);
	free(unit->title);
	free(unit->package);
	free(unit->command);
	free(unit->metadata);
	free(unit->source);
	free(unit->place);
	free(unit->variant);
	free(unit->extra);
	free(unit);
}

DEFINE_CLEANUP(struct compare_unit, free_unit)

static struct compare_unit *new_unit(const struct trace_process *p)
{
	__cleanup(free_unit_p) struct compare_unit *unit = calloc(1, sizeof(*unit));
	struct command_line line = command_line_joined(p->command);

	if (!unit)
		return NULL;
	if (asprintf(&unit->crate, "%.*s", NAME_MAX_BYTES, p->crate ?: p->command ?: "unknown") < 0)
		unit->crate = NULL;
	unit->type = strdup(command_line__has(line, "--test") ? "test" : p->crate_type ?: "bin");
	unit->title = compile_name(p);
	unit->package = compile_package(p);
	unit->command = strdup(p->command ?: "");
	unit->metadata = copy(command_line__codegen(line, "metadata"));
	unit->extra = copy(command_line__codegen(line, "extra-filename"));
	unit->source = source_of(p);
	unit->place = place_of(p);
	unit->variant = variant_of(p);
	if (!unit->crate || !unit->type || !unit->title || !unit->package || !unit->command ||
	    !unit->metadata || !unit->source || !unit->place || !unit->variant || !unit->extra)
		return NULL;
	return take_ptr(unit);
}

static size_t version_len(const char *text)
{
	return strspn(text, "0123456789.");
}

/* True if cargo accepts one version for the other: the first non-zero numbers are equal. */
static bool are_compatible(const char *a, const char *b)
{
	for (;; a++, b++) {
		size_t len = strspn(a, "0123456789"), len_b = strspn(b, "0123456789");

		if (!len || len != len_b || memcmp(a, b, len))
			return false;
		if (strspn(a, "0") < len)
			return true;
		a += len;
		b += len;
		if (*a != '.' || *b != '.')
			return false;
	}
}

static bool same_but_for_version(const char *a, const char *b, bool compatible)
{
	for (;; a++, b++) {
		size_t len = version_len(a), len_b = version_len(b);

		if (compatible && (len != len_b || memcmp(a, b, len)) && !are_compatible(a, b))
			return false;
		a += len;
		b += len_b;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* Signs that two units are the same, from the strongest to the weakest. */
enum sign {
	SAME_COMMAND,
	SAME_METADATA,
	SAME_SOURCE, /* from here on, a sign proves nothing if two units of a build share it */
	SAME_PLACE,
	COMPATIBLE_VERSION,
	ANY_VERSION,
	SAME_DEPENDENCIES,
	THE_LAST,
	N_SIGNS
};

static bool is_same(const char *a, const char *b)
{
	return *a && !strcmp(a, b);
}

/* A command that was cut may differ from another in the missing part. */
static bool is_whole(const char *command)
{
	size_t len = strlen(command), mark = strlen(CUT_MARK);

	return len && (len < mark || strcmp(command + len - mark, CUT_MARK));
}

static bool has_sign(const struct compare_unit *a, const struct compare_unit *b, enum sign sign)
{
	switch (sign) {
	case SAME_COMMAND:
		return is_whole(a->command) && !strcmp(a->command, b->command);
	case SAME_METADATA:
		return is_same(a->metadata, b->metadata);
	case SAME_SOURCE:
		return is_same(a->source, b->source);
	case SAME_PLACE:
		return is_same(a->place, b->place);
	case SAME_DEPENDENCIES: /* depend_on_same() checks the rest */
	case COMPATIBLE_VERSION:
	case ANY_VERSION:
		return *a->place &&
		       same_but_for_version(a->place, b->place, sign == COMPATIBLE_VERSION);
	default:
		/* All build scripts have the same crate name, so it proves nothing. */
		return *a->package || strncmp(a->crate, "build_script_", strlen("build_script_"));
	}
}

static bool fits(const struct compare_unit *a, const struct compare_unit *b, enum sign sign,
		 bool same_variant)
{
	return !strcmp(a->crate, b->crate) && !strcmp(a->type, b->type) &&
	       !strcmp(a->package, b->package) &&
	       (!same_variant || !strcmp(a->variant, b->variant)) && has_sign(a, b, sign);
}

/* The units of one trace, and the units that are taken. */
struct matching {
	struct compare_unit **own;
	uint32_t *unit_of; /* NONE: not matched yet */
	uint32_t n;
	bool *taken;
	uint32_t n_known;
};

static void matching__clear(struct matching *m)
{
	for (uint32_t i = 0; m->own && i < m->n; i++)
		free_unit(m->own[i]);
	free(m->own);
	free(m->taken);
}

/* Whether a unit of the trace is not matched yet. */
static bool is_left(const struct matching *m, uint32_t i)
{
	return m->unit_of[i] == NONE;
}

/* "libsyn-0123456789abcdef.rmeta" is made by the unit with the extra "-0123456789abcdef". */
static bool is_made_by(struct word file, const char *extra)
{
	const char *dot = file.len ? memrchr(file.at, '.', file.len) : NULL;
	size_t stem = dot ? (size_t)(dot - file.at) : file.len, len = strlen(extra);

	return len && len < stem && !memcmp(file.at + stem - len, extra, len);
}

/* The unit that made the file of an `--extern`, in the other build and in this one; or NONE. */
static uint32_t known_maker(const struct compare_units *u, struct word file)
{
	for (uint32_t k = 0; k < u->n; k++) {
		if (is_made_by(file, u->all[k]->extra))
			return k;
	}
	return NONE;
}

static uint32_t own_maker(const struct matching *m, struct word file)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (is_made_by(file, m->own[i]->extra))
			return m->unit_of[i];
	}
	return NONE;
}

static struct word next_extern(struct command_line *rest)
{
	for (struct word word; (word = command_line__next(rest)).at;) {
		if (word__is(word, "--extern"))
			return word__last_component(command_line__next(rest));
	}
	return (struct word){0};
}

/* True if all dependencies are known and equal; two units of one name may differ only in these. */
static bool depend_on_same(const struct compare_units *u, const struct matching *m,
			   const struct compare_unit *known, const struct compare_unit *own)
{
	struct command_line rest = command_line_joined(known->command);
	struct command_line rest_own = command_line_joined(own->command);
	struct word a, b;

	do {
		a = next_extern(&rest);
		b = next_extern(&rest_own);
		/* "proc_macro" has no file, and no unit of the build makes it. */
		if (a.at && b.at && (a.len != b.len || memcmp(a.at, b.at, a.len)) &&
		    (known_maker(u, a) == NONE || known_maker(u, a) != own_maker(m, b)))
			return false;
	} while (a.at && b.at);
	return !a.at && !b.at;
}

/* True if unit `k` of another build may be this unit. */
static bool may_be(const struct compare_units *u, const struct matching *m, uint32_t k, uint32_t i,
		   enum sign sign, bool same_variant)
{
	return fits(u->all[k], m->own[i], sign, same_variant) &&
	       (sign != SAME_DEPENDENCIES || depend_on_same(u, m, u->all[k], m->own[i]));
}

/*
 * True if there are too many candidates to compare dependencies, which compares all pairs: doctests
 * can be thousands of units with one name and the same dependencies.
 */
static bool are_too_many(const struct compare_units *u, const struct matching *m, uint32_t i,
			 bool same_variant)
{
	uint32_t n = 0, n_own = 0;

	for (uint32_t k = 0; k < m->n_known; k++)
		n += !m->taken[k] && fits(u->all[k], m->own[i], SAME_DEPENDENCIES, same_variant);
	for (uint32_t j = 0; n && j < m->n; j++)
		n_own += is_left(m, j) &&
			 fits(m->own[j], m->own[i], SAME_DEPENDENCIES, same_variant);
	return n > DISTINGUISHED_MOST || n_own > DISTINGUISHED_MOST;
}

static uint32_t find_unit(const struct compare_units *u, const struct matching *m, uint32_t i,
			  enum sign sign, bool same_variant)
{
	uint32_t found = NONE;

	if (sign == SAME_DEPENDENCIES && are_too_many(u, m, i, same_variant))
		return NONE;
	for (uint32_t k = 0; k < m->n_known; k++) {
		if (m->taken[k] || !may_be(u, m, k, i, sign, same_variant))
			continue;
		/* The same command twice is the same work twice, so units are matched in turn. */
		if (sign <= SAME_METADATA)
			return k;
		if (found != NONE)
			return NONE;
		found = k;
	}
	/* Nor may another unit of this trace match. */
	for (uint32_t j = 0; found != NONE && j < m->n; j++)
		if (j != i && is_left(m, j) && may_be(u, m, found, j, sign, same_variant))
			return NONE;
	return found;
}

/* Returns true if any unit was matched. */
static bool find_units(const struct compare_units *u, struct matching *m, enum sign sign,
		       bool same_variant)
{
	bool any = false;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t k = is_left(m, i) ? find_unit(u, m, i, sign, same_variant) : NONE;

		if (k == NONE)
			continue;
		m->taken[k] = any = true;
		m->unit_of[i] = k;
	}
	return any;
}

int compare_units__match(struct compare_units *u, const struct trace_process *const *compilers,
			 uint32_t n, uint32_t *unit_of)
{
	__cleanup(matching__clear) struct matching m = {
		.own = calloc(n + 1UL, sizeof(struct compare_unit *)),
		.unit_of = unit_of,
		.n = n,
		.taken = calloc(u->n + 1UL, sizeof(bool)),
		.n_known = u->n,
	};

	if (!m.own || !m.taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		unit_of[i] = NONE;
		m.own[i] = new_unit(compilers[i]);
		if (!m.own[i])
			return -ENOMEM;
	}
	for (enum sign sign = 0; sign < N_SIGNS; sign++) {
		/* Each match may allow its dependents to be matched next. */
		while (find_units(u, &m, sign, true) && sign == SAME_DEPENDENCIES)
			;
		find_units(u, &m, sign, false);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!is_left(&m, i))
			continue;
		if (array__reserve_one(&u->all, u->n, &u->capacity, sizeof(struct compare_unit *)))
			return -ENOMEM;
		unit_of[i] = u->n;
		u->all[u->n++] = take_ptr(m.own[i]);
	}
	return 0;
}

/* "regex", with a suffix if other units share the name; `before`: the others of its type. */
int compare_units__name(struct compare_units *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		struct compare_unit *unit = u->all[i];
		uint32_t before = 0;
		char *name;

		for (uint32_t k = 0; k < i; k++)
			before += !strcmp(u->all[k]->title, unit->title);
		if (before) {
			if (asprintf(&name, "%s#%" PRIu32, unit->title, before + 1) < 0)
				return -ENOMEM;
		} else {
			name = strdup(unit->title);
			if (!name)
				return -ENOMEM;
		}
		free(unit->name);
		unit->name = name;
	}
	return 0;
}

void compare_units__clear(struct compare_units *u)
{
	for (uint32_t i = 0; i < u->n; i++)
		free_unit(u->all[i]);
	free(u->all);
	*u = (struct compare_units){0};
}
