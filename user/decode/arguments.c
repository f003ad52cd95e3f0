// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "qprof/measureme_format.h"

/* 128 MiB. */
#define ARGUMENTS_MAX (1u << 23)

/* How rustc describes an expansion by a macro of each kind. */
static const struct {
	const char *before, *behind;
} macros[] = {
	[WIRE_MACRO_UNKNOWN] = {"", ""},      [WIRE_MACRO_BANG] = {"", "!"},
	[WIRE_MACRO_ATTRIBUTE] = {"#[", "]"}, [WIRE_MACRO_DERIVE] = {"#[derive(", ")]"},
	[WIRE_MACRO_QUOTED] = {"\"", "\""},
};

/* The text as rustc's profiles have it. NULL without memory. */
static char *text_of(const struct wire_argument *r)
{
	char number[32] = "", *text;

	if (r->value == WIRE_VALUE_NUMBER)
		snprintf(number, sizeof(number), "%c%" PRIu64, MM_SEPARATOR, (uint64_t)r->number);
	if (asprintf(&text, "%s%.*s%s%s%s", macros[r->macro].before, (int)r->size, r->bytes,
		     r->cut ? "..." : "", macros[r->macro].behind, number) < 0)
		return NULL;
	return text;
}

int guard_arguments__record(struct guard_arguments *a, const struct decoder_sink *sink,
			    const struct wire_argument *r)
{
	uint64_t number = r->argument;
	_free_ char *text = NULL;
	uint32_t string;
	size_t at, n;
	int err;

	if (r->macro >= N_OF(macros) || r->value > WIRE_VALUE_SPAN)
		return -EBADMSG;
	if (!sink->text)
		return 0;
	text = text_of(r);
	if (!text)
		return -ENOMEM;
	err = sink->text(sink->items, text, &string);
	/* The trace may have no room for it. */
	if (err || string == TRACE_NO_STRING)
		return err;
	at = a->texts.size;
	n = strlen(text) + 1;
	if (u64_map__get(&a->text_of, string) == U64_MAP_NONE && n <= ARGUMENTS_TEXTS_MAX - at) {
		byte_buffer__bytes(&a->texts, text, n);
		if (a->texts.failed || u64_map__put(&a->text_of, string, (uint32_t)at))
			return -ENOMEM;
	}
	if (number >= ARGUMENTS_MAX)
		return 0;
	if (number >= a->n && array__reserve_at(&a->at, (uint32_t)number, &a->n, sizeof(*a->at)))
		return -ENOMEM;
	a->at[number] = (struct argument){
		.span = r->value == WIRE_VALUE_SPAN ? r->number : 0,
		.string = string + 1,
	};
	return 0;
}

const struct argument *guard_arguments__at(const struct guard_arguments *a, uint64_t number)
{
	return number < a->n && a->at[number].string ? &a->at[number] : NULL;
}

const char *guard_arguments__text(const struct guard_arguments *a, uint64_t number)
{
	const struct argument *found = guard_arguments__at(a, number);
	uint32_t at = found ? u64_map__get(&a->text_of, found->string - 1) : U64_MAP_NONE;

	return at == U64_MAP_NONE ? NULL : (const char *)a->texts.data + at;
}

void guard_arguments__clear(struct guard_arguments *a)
{
	u64_map__destroy(&a->text_of);
	byte_buffer__destroy(&a->texts);
	free(a->at);
	*a = (struct guard_arguments){0};
}
