// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define NONE UINT32_MAX

/* A name longer than this is cut: the command line of something without a crate. */
#define NAME_MAX_BYTES 200

/* The next word of a command, whose arguments are joined by spaces; NULL at its end. */
static const char *next_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, " ");

	*len = strcspn(word, " ");
	*at = word + *len;
	return *len ? word : NULL;
}

static bool has_word(const char *command, const char *wanted)
{
	const char *word;
	size_t len;

	while ((word = next_word(&command, &len))) {
		if (len == strlen(wanted) && !memcmp(word, wanted, len))
			return true;
	}
	return false;
}

/* The first word that names a file of Rust source; "" if none does. */
static char *source_of(const char *command)
{
	const char *word;
	size_t len;

	while ((word = next_word(&command, &len))) {
		if (*word != '-' && len > 3 && !memcmp(word + len - 3, ".rs", 3))
			return strndup(word, len);
	}
	return strdup("");
}

static const char *type_of(const struct trace_process *p)
{
	if (p->command && has_word(p->command, "--test"))
		return "test";
	return p->crate_type ?: "bin";
}

static void free_unit(struct compare_unit *unit)
{
	if (!unit)
		return;
	free(unit->crate);
	free(unit->type);
	free(unit->name);
	free(unit->command);
	free(unit->source);
	free(unit);
}

DEFINE_CLEANUP(struct compare_unit, free_unit)

static struct compare_unit *new_unit(const struct trace_process *p)
{
	__cleanup(free_unit_p) struct compare_unit *unit = calloc(1, sizeof(*unit));

	if (!unit)
		return NULL;
	if (asprintf(&unit->crate, "%.*s", NAME_MAX_BYTES, p->crate ?: p->command ?: "unknown") < 0)
		unit->crate = NULL;
	unit->type = strdup(type_of(p));
	unit->command = strdup(p->command ?: "");
	unit->source = source_of(unit->command);
	if (!unit->crate || !unit->type || !unit->command || !unit->source)
		return NULL;
	return take_ptr(unit);
}

static int add_unit(struct compare_units *u, struct compare_unit *unit)
{
	if (array__reserve_one(&u->all, u->n, &u->capacity, sizeof(struct compare_unit *)))
		return -ENOMEM;
	u->all[u->n++] = unit;
	return 0;
}

static bool in_version(char c)
{
	return (c >= '0' && c <= '9') || c == '.';
}

static bool same_but_for_version(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (in_version(*a))
			a++;
		while (in_version(*b))
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* From the surest sign to the weakest. */
enum sign { SAME_COMMAND, SAME_SOURCE, SAME_PACKAGE, SAME_TURN, N_SIGNS };

static bool fits(const struct compare_unit *a, const struct compare_unit *b, enum sign sign)
{
	if (strcmp(a->crate, b->crate) || strcmp(a->type, b->type))
		return false;
	switch (sign) {
	case SAME_COMMAND:
		return !strcmp(a->command, b->command);
	case SAME_SOURCE:
		return !strcmp(a->source, b->source);
	case SAME_PACKAGE:
		return same_but_for_version(a->source, b->source);
	default:
		return true;
	}
}

/* The units of one trace that have no place among all yet, and the units that are taken. */
struct matching {
	struct compare_unit **own; /* NULL once it has its place */
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

static int matching__init(struct matching *m, const struct compare_units *u,
			  const struct trace_process *const *compilers, uint32_t n)
{
	*m = (struct matching){.n = n, .n_known = u->n};
	m->own = calloc(n + 1UL, sizeof(*m->own));
	m->taken = calloc(u->n + 1UL, sizeof(*m->taken));
	if (!m->own || !m->taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		m->own[i] = new_unit(compilers[i]);
		if (!m->own[i])
			return -ENOMEM;
	}
	return 0;
}

static uint32_t find_unit(const struct compare_units *u, const struct matching *m,
			  const struct compare_unit *own, enum sign sign)
{
	for (uint32_t k = 0; k < m->n_known; k++) {
		if (!m->taken[k] && fits(u->all[k], own, sign))
			return k;
	}
	return NONE;
}

int compare_units__match(struct compare_units *u, const struct trace_process *const *compilers,
			 uint32_t n, uint32_t *unit_of)
{
	__cleanup(matching__clear) struct matching m = {};
	int err = matching__init(&m, u, compilers, n);

	for (enum sign sign = 0; !err && sign < N_SIGNS; sign++) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = m.own[i] ? find_unit(u, &m, m.own[i], sign) : NONE;

			if (k == NONE)
				continue;
			m.taken[k] = true;
			unit_of[i] = k;
			free_unit(take_ptr(m.own[i]));
		}
	}
	for (uint32_t i = 0; !err && i < n; i++) {
		if (!m.own[i])
			continue;
		unit_of[i] = u->n;
		err = add_unit(u, m.own[i]);
		if (!err)
			m.own[i] = NULL;
	}
	return err;
}

int compare_units__name(struct compare_units *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		struct compare_unit *unit = u->all[i];
		uint32_t others = 0, before = 0;
		char *name;
		int len;

		for (uint32_t k = 0; k < u->n; k++) {
			if (k == i || strcmp(u->all[k]->crate, unit->crate))
				continue;
			others++;
			before += k < i && !strcmp(u->all[k]->type, unit->type);
		}
		if (!others)
			len = asprintf(&name, "%s", unit->crate);
		else if (!before)
			len = asprintf(&name, "%s:%s", unit->crate, unit->type);
		else
			len = asprintf(&name, "%s:%s#%" PRIu32, unit->crate, unit->type,
				       before + 1);
		if (len < 0)
			return -ENOMEM;
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
