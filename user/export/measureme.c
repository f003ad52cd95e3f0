// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/measureme.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "export/mm_process.h"
#include "qprof/measureme_format.h"
#include "trace/interner.h"

#define CRATE_MAX 200 /* bytes; the name of a file has at most 255 */

/* Facts about a process from the first reading. */
struct plan {
	const struct trace_process *process; /* owned by the survey */
	uint64_t first_ns;		     /* the start of its earliest span */
	uint64_t left;			     /* spans and tallies still to be written */
	char *name;			     /* of its file; NULL if it has none */
	struct mm_process *out;		     /* open between the first and the last write */
	uint64_t bytes;			     /* size of its file so far */
};

struct export
{
	struct trace_reader *survey;
	struct trace_reader *r;
	int dir_fd;
	const char *dir;
	bool force;
	uint64_t most; /* bytes */
	uint64_t bytes;
	struct plan *plans; /* by index */
	uint32_t n;
	uint32_t capacity;
	struct trace_losses losses;
	bool has_losses;
	struct interner names; /* of files */
	struct measureme_sums *sums;
};

static void export__clear(struct export *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		free(e->plans[i].name);
		mm_process__free(e->plans[i].out);
	}
	free(e->plans);
	interner__destroy(&e->names);
}

/* ---- The first reading ----------------------------------------------------------------------- */

static int survey_process(struct export *e, const struct trace_process *p)
{
	if (p->index < e->n)
		return 0;
	if (array__reserve_one(&e->plans, e->n, &e->capacity, sizeof(*e->plans)))
		return -ENOMEM;
	/* The reader updates the process in place. */
	e->plans[e->n++] = (struct plan){.process = p, .first_ns = UINT64_MAX};
	return 0;
}

/* measureme has no kind for intervals outside the compiler. */
static bool is_left_out(const struct trace_item *item)
{
	return item->kind == TRACE_ITEM_SPAN && item->span.kind == TRACE_KIND_OFF_CPU;
}

static int survey_item(void *ctx, const struct trace_item *item)
{
	struct export *e = ctx;
	struct plan *plan;

	if (is_left_out(item))
		return 0;
	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		return survey_process(e, item->process);
	case TRACE_ITEM_SPAN:
		plan = &e->plans[item->span.process];
		plan->left++;
		if (item->span.start_ns < plan->first_ns)
			plan->first_ns = item->span.start_ns;
		return 0;
	case TRACE_ITEM_TALLY:
		e->plans[item->tally.process].left++;
		return 0;
	case TRACE_ITEM_LOSSES:
		e->losses = item->losses;
		e->has_losses = true;
		return 0;
	default:
		return 0;
	}
}

static int unreadable(int err)
{
	if (!err || err == -E2BIG)
		return err;
	return diag_error_r(err, "cannot read the trace: %s", strerror(-err));
}

static int survey(struct export *e)
{
	return unreadable(trace_reader__each(e->survey, survey_item, e));
}

/* ---- Names of files -------------------------------------------------------------------------- */

/* The crate as part of a file name. measureme's tools take the text after a dot as the suffix. */
static void crate_of(const struct trace_process *p, char out[CRATE_MAX + 1])
{
	const char *crate = p->crate && *p->crate ? p->crate : "unknown-crate";
	size_t size = strnlen(crate, CRATE_MAX + 1);

	if (size > CRATE_MAX) {
		size = CRATE_MAX;
		while (size && ((unsigned char)crate[size] & 0xc0) == 0x80)
			size--;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char c = crate[i];

		out[i] = c <= ' ' || c == '/' || c == '.' || c == 0x7f ? '_' : (char)c;
	}
	out[size] = '\0';
}

/* Name the file as rustc does, but keep the files of an exec or a reused pid apart. */
static int name_file(struct export *e, struct plan *plan)
{
	char crate[CRATE_MAX + 1];
	char suffix[32] = "";
	bool is_new;
	uint32_t id;

	crate_of(plan->process, crate);
	for (uint32_t again = 0;; again++) {
		int err;

		free(plan->name);
		if (asprintf(&plan->name, "%s-%07" PRIu32 "%s" MM_EXTENSION, crate,
			     plan->process->pid, suffix) < 0) {
			plan->name = NULL;
			return -ENOMEM;
		}
		err = interner__id(&e->names, plan->name, &id, &is_new);
		if (err || is_new)
			return err;
		snprintf(suffix, sizeof(suffix), "-%" PRIu32, plan->process->index + again);
	}
}

static int say_exists(const struct export *e, const char *name)
{
	return diag_error_r(-EEXIST,
			    "%s/%s exists already; choose another directory with -o, or overwrite "
			    "it with --force",
			    e->dir, name);
}

static int name_files(struct export *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		struct plan *plan = &e->plans[i];
		int err;

		if (!plan->left) {
			e->sums->empty++;
			continue;
		}
		err = name_file(e, plan);
		if (err)
			return diag_error_r(err, "cannot name a file: %s", strerror(-err));
		/* Check before anything is written. The rename checks again. */
		if (!e->force && !faccessat(e->dir_fd, plan->name, F_OK, AT_SYMLINK_NOFOLLOW))
			return say_exists(e, plan->name);
	}
	return 0;
}

/* ---- The second reading ---------------------------------------------------------------------- */

static int failed(const struct export *e, const struct plan *plan, int err)
{
	if (err == -EEXIST)
		return say_exists(e, plan->name);
	if (err == -EFBIG)
		return err;
	return diag_error_r(err, "cannot write %s/%s: %s%s", e->dir, plan->name, strerror(-err),
			    diag_step(err, "; choose another place with -o"));
}

static int changed(void)
{
	return diag_error_r(-ESTALE,
			    "the trace changed while it was read; export it when it is whole");
}

static int begin_file(struct export *e, struct plan *plan)
{
	const struct trace_process *p = plan->process;
	uint64_t base = plan->first_ns;

	if (p->start_ns && p->start_ns < base)
		base = p->start_ns;
	return mm_process__open(e->dir_fd, e->r, p, base, e->has_losses ? &e->losses : NULL,
				&plan->out);
}

/* Add the growth of the file to the total. */
static int check_size(struct export *e, struct plan *plan)
{
	uint64_t bytes = mm_process__bytes(plan->out);

	e->bytes += bytes - plan->bytes;
	plan->bytes = bytes;
	return e->bytes > e->most ? -EFBIG : 0;
}

static int end_file(struct export *e, struct plan *plan)
{
	int err = mm_process__finish(plan->out, plan->name, e->force);

	err = err ?: check_size(e, plan);
	if (err)
		return err;
	e->sums->files++;
	e->sums->events += mm_process__events(plan->out);
	e->sums->bytes += mm_process__bytes(plan->out);
	mm_process__free(take_ptr(plan->out));
	return 0;
}

static int write_item(struct export *e, const struct trace_item *item, uint32_t process)
{
	struct plan *plan = process < e->n ? &e->plans[process] : NULL;
	int err;

	if (!plan || !plan->left)
		return changed();
	err = plan->out ? 0 : begin_file(e, plan);
	if (err)
		return failed(e, plan, err);
	if (item->kind == TRACE_ITEM_SPAN)
		err = mm_process__span(plan->out, &item->span);
	else
		err = mm_process__tally(plan->out, &item->tally);
	if (err < 0)
		return failed(e, plan, err);
	e->sums->adjusted += err;
	err = check_size(e, plan);
	if (!err && !--plan->left)
		err = end_file(e, plan);
	return err ? failed(e, plan, err) : 0;
}

static int write_files(struct export *e)
{
	struct trace_item item;
	int err;

	while (!(err = trace_reader__next(e->r, &item)) && item.kind != TRACE_ITEM_END) {
		if (is_left_out(&item))
			continue;
		if (item.kind == TRACE_ITEM_SPAN)
			err = write_item(e, &item, item.span.process);
		else if (item.kind == TRACE_ITEM_TALLY)
			err = write_item(e, &item, item.tally.process);
		if (err)
			return err;
	}
	if (err)
		return unreadable(err);
	for (uint32_t i = 0; i < e->n; i++) {
		if (e->plans[i].left)
			return changed();
	}
	return 0;
}

int export_measureme(struct trace_reader *survey_reader, struct trace_reader *r, int dir_fd,
		     const char *dir, bool force, uint64_t most, struct measureme_sums *sums)
{
	__cleanup(export__clear) struct export e = {
		.survey = survey_reader,
		.r = r,
		.dir_fd = dir_fd,
		.dir = dir,
		.force = force,
		.most = most,
		.sums = sums,
	};

	*sums = (struct measureme_sums){0};
	return survey(&e) ?: name_files(&e) ?: write_files(&e);
}
