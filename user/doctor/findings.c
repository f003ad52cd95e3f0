// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"

static void finding__clear(struct finding *f)
{
	free(f->name);
	free(f->says);
	free(f->fix);
}

void findings__add(struct findings *f, enum finding_section section, enum finding_state state,
		   const char *name, const char *fix, const char *fmt, ...)
{
	struct finding one = {.section = section, .state = state};
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&one.says, fmt, ap) < 0)
		one.says = NULL;
	va_end(ap);
	one.name = strdup(name);
	one.fix = fix ? strdup(fix) : NULL;
	if (!one.says || !one.name || (fix && !one.fix) ||
	    array__reserve_one(&f->items, f->n, &f->capacity, sizeof(*f->items))) {
		finding__clear(&one);
		f->err = -ENOMEM;
		return;
	}
	f->items[f->n++] = one;
}

uint32_t findings__problems(const struct findings *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->items[i].state == FINDING_PROBLEM;
	return n;
}

const char *finding_section_name(enum finding_section section)
{
	static const char *const names[FINDING_SECTIONS] = {
		[FINDING_KERNEL] = "kernel",	     [FINDING_PRIVILEGES] = "privileges",
		[FINDING_RECORDING] = "recording",   [FINDING_LIMITS] = "limits",
		[FINDING_TOOLCHAINS] = "toolchains",
	};

	return names[section];
}

const char *finding_state_name(enum finding_state state)
{
	static const char *const names[] = {
		[FINDING_OK] = "ok",
		[FINDING_NOTE] = "note",
		[FINDING_PROBLEM] = "problem",
	};

	return names[state];
}

void findings__clear(struct findings *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		finding__clear(&f->items[i]);
	free(f->items);
	*f = (struct findings){0};
}
