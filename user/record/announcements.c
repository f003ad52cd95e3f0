// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/announcements.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/codec.h"
#include "plan/library/file.h"

static void forget(struct announced_library *l)
{
	free(l->plan);
	free(l->recorded);
	library_file__free(l->file);
	*l = (struct announced_library){0};
}

static int keep_library(struct announcements *p, const struct record *r)
{
	const struct plan *plan = r->library.plan;
	struct announced_library *l = &p->libraries[r->lib];
	int err;

	/* The number may be reused from a library that is detached. */
	forget(l);
	l->n_queries = plan->n_queries;
	l->n_guards = plan->n_guards;
	l->recorded = calloc((size_t)l->n_queries + l->n_guards + 1, sizeof(*l->recorded));
	if (!l->recorded)
		return -ENOMEM;
	memcpy(l->recorded, r->library.queries, l->n_queries * sizeof(*l->recorded));
	memcpy(l->recorded + l->n_queries, r->library.guards, l->n_guards * sizeof(*l->recorded));
	err = plan_encode(plan, &l->plan, &l->len);
	if (!err && plan->file)
		l->file = library_file__ref(plan->file);
	return err;
}

static struct announced_file *find(const struct announcements *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->n_files; i++)
		if (p->files[i].number == number)
			return &p->files[i];
	return NULL;
}

static void forget_file(struct announced_file *f)
{
	library_file__free(f->file);
	llvm_plan__free(f->llvm);
}

static int keep_file(struct announcements *p, uint32_t number, struct library_file *file)
{
	struct announced_file one = {number, file ? library_file__ref(file) : NULL, NULL};
	struct announced_file *known = find(p, number);
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

int announcements__take(struct announcements *p, const struct record *r)
{
	struct announced_file *known;

	switch (r->kind) {
	case RECORD_LIBRARY:
		return keep_library(p, r);
	case RECORD_FILE:
		return keep_file(p, r->file.number, r->file.file);
	case RECORD_LLVM:
		known = find(p, r->file.number);
		if (known) {
			llvm_plan__free(known->llvm);
			known->llvm = llvm_plan__ref(r->file.llvm);
		}
		return 0;
	case WIRE_LABEL:
		return array__add(&p->labels, &p->n_labels, &p->labels_capacity, r->label);
	default:
		return 0;
	}
}

static int tell_library(const struct announced_library *l, uint8_t lib, record_fn take, void *ctx)
{
	_plan_ struct plan *plan = NULL;
	int err = plan_decode(l->plan, l->len, &plan);

	if (err)
		return err;
	if (l->file && !plan->file)
		plan->file = library_file__ref(l->file);
	return take(ctx, &(struct record){
				 .kind = RECORD_LIBRARY,
				 .lib = lib,
				 .pid = RECORD_NO_PID,
				 .library = {plan, l->recorded, l->recorded + l->n_queries},
			 });
}

int announcements__tell(const struct announcements *p, record_fn take, void *ctx)
{
	int err = 0;

	for (unsigned int i = 0; i <= WIRE_MAX_LIBS && !err; i++)
		if (p->libraries[i].plan)
			err = tell_library(&p->libraries[i], (uint8_t)i, take, ctx);
	for (uint32_t i = 0; i < p->n_files && !err; i++) {
		const struct announced_file *f = &p->files[i];
		struct record r = {.kind = RECORD_FILE,
				   .pid = RECORD_NO_PID,
				   .file = {f->number, f->file, f->llvm}};

		err = take(ctx, &r);
		r.kind = RECORD_LLVM;
		if (!err && f->llvm)
			err = take(ctx, &r);
	}
	for (uint32_t i = 0; i < p->n_labels && !err; i++) {
		const struct record r = record_of(&p->labels[i], sizeof(p->labels[i]));

		err = take(ctx, &r);
	}
	return err;
}

void announcements__clear(struct announcements *p)
{
	for (unsigned int i = 0; i <= WIRE_MAX_LIBS; i++)
		forget(&p->libraries[i]);
	for (uint32_t i = 0; i < p->n_files; i++)
		forget_file(&p->files[i]);
	free(p->files);
	free(p->labels);
	*p = (struct announcements){0};
}
