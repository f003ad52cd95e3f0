// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LABEL_PREFIX (WIRE_LABEL_MAX + 1)

struct answers_label {
	uint32_t label;
	char text[LABEL_PREFIX];
};

int answers__library(struct answers *a, uint8_t lib, const struct plan *plan)
{
	/* The number may be reused from a library that is detached. */
	compiler__free(take_ptr(a->compilers[lib]));
	return compiler__new(plan, &a->compilers[lib]);
}

void answers__recorded(struct answers *a, uint8_t lib, const bool *queries, const bool *guards)
{
	if (a && a->compilers[lib])
		compiler__set_recorded(a->compilers[lib], queries, guards);
}

static int on_label(struct answers *a, const struct wire_label *r)
{
	_free_ struct answers_label *label = calloc(1, sizeof(*label));

	if (!label ||
	    array__reserve_one(&a->labels, a->n_labels, &a->labels_capacity, sizeof(*a->labels)))
		return -ENOMEM;
	label->label = r->label;
	memcpy(label->text, r->key.text, WIRE_LABEL_MAX);
	a->labels[a->n_labels++] = take_ptr(label);
	return 0;
}

int answers__record(struct answers *a, const void *record, size_t size)
{
	uint8_t type = size ? *(const uint8_t *)record : 0;

	if (type == WIRE_LABEL && size == sizeof(struct wire_label))
		return on_label(a, record);
	if (type == WIRE_OPEN_FRAME && size == sizeof(struct wire_open_frame))
		return array__add_bytes(&a->frames, &a->n_frames, &a->frames_capacity, record,
					size);
	if (type == WIRE_OPEN_STACK && size == sizeof(a->stack)) {
		memcpy(&a->stack, record, size);
		a->has_stack = true;
	}
	return 0;
}

void answers__expect(struct answers *a)
{
	a->n_frames = 0;
	a->has_stack = false;
}

static const char *label_text(const struct answers *a, uint32_t label)
{
	for (uint32_t i = 0; i < a->n_labels; i++)
		if (a->labels[i]->label == label)
			return a->labels[i]->text;
	return NULL;
}

const char *answers__name(const struct answers *a, const struct wire_open_frame *f)
{
	const struct compiler *c = a->compilers[f->lib];

	if (f->kind == WIRE_KIND_ACTIVITY && f->label)
		return label_text(a, f->label);
	if (!c)
		return NULL;
	return f->kind == WIRE_KIND_ACTIVITY ? compiler__guard(c, f->query)
					     : compiler__query(c, f->query);
}

int answers__compiler(const struct answers *a, const struct library_file *library)
{
	for (int i = 0; library && i <= WIRE_MAX_LIBS; i++)
		if (a->compilers[i] && compiler__is(a->compilers[i], library))
			return i;
	return -ENOENT;
}

void answers__clear(struct answers *a)
{
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		compiler__free(a->compilers[i]);
	for (uint32_t i = 0; i < a->n_labels; i++)
		free(a->labels[i]);
	free(a->labels);
	free(a->frames);
	*a = (struct answers){0};
}
