// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/past.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/codec.h"
#include "plan/library/file.h"

static void forget(struct past_library *l)
{
	free(l->plan);
	library_file__free(l->file);
	*l = (struct past_library){0};
}

int past__library(struct past *p, uint8_t lib, const struct plan *plan)
{
	struct past_library *l = &p->libraries[lib];
	int err;

	/* The number may be reused from a library that is detached. */
	forget(l);
	err = plan_encode(plan, &l->plan, &l->len);
	if (!err && plan->file)
		l->file = library_file__ref(plan->file);
	return err;
}

static struct past_file *find(const struct past *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->n_files; i++)
		if (p->files[i].number == number)
			return &p->files[i];
	return NULL;
}

static void forget_file(struct past_file *f)
{
	library_file__free(f->file);
	llvm_plan__free(f->llvm);
}

int past__file(struct past *p, uint32_t number, struct library_file *file)
{
	struct past_file one = {number, file ? library_file__ref(file) : NULL, NULL};
	struct past_file *known = find(p, number);
	int err;

	/* The number may be reused. */
	if (known) {
		forget_file(known);
		*known = one;
		return 0;
	}
	err = array__add(&p->files, &p->n_files, &p->files_capacity, &one);
	if (err)
		library_file__free(one.file);
	return err;
}

int past__llvm(struct past *p, uint32_t number, struct llvm_plan *plan)
{
	struct past_file *known = find(p, number);

	if (!known)
		return 0;
	llvm_plan__free(known->llvm);
	known->llvm = llvm_plan__ref(plan);
	return 0;
}

int past__label(struct past *p, const struct wire_label *label)
{
	return array__add(&p->labels, &p->n_labels, &p->labels_capacity, label);
}

static int tell_library(const struct past_library *l, uint8_t lib, const struct session_sink *to)
{
	_plan_ struct plan *plan = NULL;
	int err = plan_decode(l->plan, l->len, &plan);

	if (err)
		return err;
	if (l->file && !plan->file)
		plan->file = library_file__ref(l->file);
	return to->library(to->ctx, lib, plan);
}

int past__tell(const struct past *p, const struct session_sink *to)
{
	int err = 0;

	for (unsigned int i = 0; i <= WIRE_MAX_LIBS && !err; i++)
		if (p->libraries[i].plan)
			err = tell_library(&p->libraries[i], (uint8_t)i, to);
	for (uint32_t i = 0; i < p->n_files && !err; i++) {
		const struct past_file *f = &p->files[i];

		err = to->file(to->ctx, f->number, f->file);
		if (!err && f->llvm && to->llvm)
			err = to->llvm(to->ctx, f->number, f->llvm);
	}
	for (uint32_t i = 0; i < p->n_labels && !err; i++)
		err = to->record(to->ctx, &p->labels[i], sizeof(p->labels[i]));
	return err;
}

void past__clear(struct past *p)
{
	for (unsigned int i = 0; i <= WIRE_MAX_LIBS; i++)
		forget(&p->libraries[i]);
	for (uint32_t i = 0; i < p->n_files; i++)
		forget_file(&p->files[i]);
	free(p->files);
	free(p->labels);
	*p = (struct past){0};
}
