// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/definition.h"

#include <stdio.h>
#include <string.h>

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

struct definition definition__read(const struct plan_layout *l, const uint8_t *bytes)
{
	return (struct definition){
		.tag = word(bytes + l->wire.tag),
		.symbol = word(bytes + l->wire.symbol),
		.disambiguator = word(bytes + l->disambiguator),
		.parent = word(bytes + l->parent),
	};
}

static bool is_unnamed(const struct plan_layout *l, const struct definition *d)
{
	return !d->symbol && d->tag < WIRE_TAGS && l->wire.unnamed_tags >> d->tag & 1;
}

uint32_t definition__symbol(const struct plan_layout *l, const struct definition *d)
{
	uint32_t symbol = d->tag < WIRE_TAGS ? l->wire.tags[d->tag] : WIRE_TAG_UNKNOWN;

	if (is_unnamed(l, d))
		return l->wire.unnamed;
	return symbol == WIRE_TAG_NAMED ? d->symbol : symbol;
}

void definition__segment(const struct plan_layout *l, const struct definition *d, const char *text,
			 char out[DEFINITION_SEGMENT_MAX])
{
	bool named = d->tag < WIRE_TAGS && !is_unnamed(l, d) &&
		     (l->wire.tags[d->tag] == WIRE_TAG_NAMED || l->plain >> d->tag & 1);
	int n = snprintf(out, DEFINITION_SEGMENT_MAX, named ? "%.*s" : "{{%.*s}}", WIRE_SYMBOL_MAX,
			 text);

	if (d->disambiguator)
		snprintf(out + n, DEFINITION_SEGMENT_MAX - n, "[%u]", d->disambiguator);
}
