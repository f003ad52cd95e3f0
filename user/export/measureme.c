// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/measureme.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/format.h"
#include "base/map.h"
#include "export/mm_writer.h"
#include "export/timeline.h"
#include "qprof/measureme_format.h"
#include "trace/interner.h"
#include "view/json.h"

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

/* measureme has no kind for intervals outside the compiler. */
static bool is_left_out(const struct trace_item *item)
{
	return item->kind == TRACE_ITEM_SPAN && item->span.kind == TRACE_KIND_OFF_CPU;
}

static int survey_item(void *ctx, const struct trace_item *item)
{
	struct plan new = {.first_ns = UINT64_MAX}, *plan;
	struct export *e = ctx;

	if (is_left_out(item))
		return 0;
	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		if (item->process->index < e->n)
			return 0;
		/* The reader updates the process in place. */
		new.process = item->process;
		return array__add(&e->plans, &e->n, &e->capacity, &new);
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

/* Add the growth of the file to the total. */
static int check_size(struct export *e, struct plan *plan)
{
	uint64_t bytes = mm_process__bytes(plan->out);

	e->bytes += bytes - plan->bytes;
	plan->bytes = bytes;
	return e->bytes > e->most ? -EFBIG : 0;
}

static int write_item(struct export *e, const struct trace_item *item, uint32_t process)
{
	struct plan *plan = process < e->n ? &e->plans[process] : NULL;
	int err = 0;

	if (!plan || !plan->left)
		return changed();
	if (!plan->out) {
		uint64_t start_ns = plan->process->start_ns;

		err = mm_process__open(e->dir_fd, e->r, plan->process,
				       start_ns && start_ns < plan->first_ns ? start_ns
									     : plan->first_ns,
				       e->has_losses ? &e->losses : NULL, &plan->out);
	}
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
	if (!err && --plan->left)
		return 0;
	err = err ?: mm_process__finish(plan->out, plan->name, e->force) ?: check_size(e, plan);
	if (err)
		return failed(e, plan, err);
	e->sums->files++;
	e->sums->events += mm_process__events(plan->out);
	e->sums->bytes += mm_process__bytes(plan->out);
	mm_process__free(take_ptr(plan->out));
	return 0;
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

int export_measureme(struct trace_reader *survey, struct trace_reader *r, int dir_fd,
		     const char *dir, bool force, uint64_t most, struct measureme_sums *sums)
{
	__cleanup(export__clear) struct export e = {
		.r = r,
		.dir_fd = dir_fd,
		.dir = dir,
		.force = force,
		.most = most,
		.sums = sums,
	};

	*sums = (struct measureme_sums){0};
	return unreadable(trace_reader__each(survey, survey_item, &e))
		       ?: name_files(&e) ?: write_files(&e);
}

/* ---- The file of one process ----------------------------------------------------------------- */

struct mm_process {
	const struct trace_reader *r;
	struct mm_writer *w;
	uint64_t base_ns;
	uint64_t events;
	uint64_t kinds[TRACE_KINDS_MAX]; /* string ids; 0: not written yet */
	struct u64_map strings;		 /* label -> string id minus MM_FIRST_REGULAR_ID */
	struct u64_map arguments;	 /* string id of the trace -> likewise */
	struct id_table label_of;	 /* invocation id -> its label */
	struct nesting nesting;
};

/* ---- Metadata -------------------------------------------------------------------------------- */

static int put_metadata(struct mm_process *m, const struct trace_process *p,
			const struct trace_losses *losses)
{
	const struct trace_info *info = trace_reader__info(m->r);
	/* Since the epoch. */
	__int128 start = (__int128)info->realtime_start_ns + m->base_ns - info->clock_start_ns;
	const char *text = NULL;
	struct json j = {}, own = {};
	uint64_t id;
	int err;

	json__begin(&j);
	json__number(&j, "start_time",
		     start < 0		  ? 0
		     : start > UINT64_MAX ? UINT64_MAX
					  : (uint64_t)start);
	json__number(&j, "process_id", p->pid);
	json__text(&j, "cmd", p->command ?: "");
	/* What measureme does not define. Its readers skip it; `import` reads it. */
	json__begin(&own);
	json__text(&own, "tool", info->tool);
	json__text(&own, "kernel", info->kernel);
	json__text(&own, "host", info->host);
	json__number(&own, "parent_pid", p->parent_pid);
	json__text(&own, "crate", p->crate);
	json__text(&own, "crate_type", p->crate_type);
	json__text(&own, "rustc_version", p->rustc_version);
	json__text(&own, "build_id", p->build_id);
	json__bool(&own, "attached_late", p->attached_late);
	json__known(&own, "exit_status", p->exit_status != TRACE_EXIT_UNKNOWN,
		    (uint32_t)p->exit_status);
	json__losses(&own, "losses", losses);
	json__value(&j, "qprof", json__take(&own));
	if (!j.err)
		text = json_object_to_json_string_ext(
			j.object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	err = text ? mm_writer__string(m->w, text, &id) : -ENOMEM;
	json_object_put(j.object);
	return err ?: mm_writer__map(m->w, MM_METADATA_ID, id);
}

int mm_process__open(int dir_fd, const struct trace_reader *r, const struct trace_process *p,
		     uint64_t base_ns, const struct trace_losses *losses, struct mm_process **out)
{
	_mm_process_ struct mm_process *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->r = r;
	m->base_ns = base_ns;
	err = mm_writer__open(dir_fd, &m->w) ?: put_metadata(m, p, losses);
	if (err)
		return err;
	*out = take_ptr(m);
	return 0;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* measureme's readers refuse control characters and empty labels. */
static int put_clean(struct mm_process *m, const char *text, uint64_t *id)
{
	_free_ char *clean = format_clean(*text ? text : "<unknown>");

	return clean ? mm_writer__string(m->w, clean, id) : -ENOMEM;
}

static int kind_id(struct mm_process *m, uint8_t kind, uint64_t *id)
{
	int err =
		m->kinds[kind] ? 0 : put_clean(m, trace_reader__kind(m->r, kind), &m->kinds[kind]);

	*id = m->kinds[kind];
	return err;
}

static int label_id(struct mm_process *m, uint32_t label, uint64_t *id)
{
	uint32_t address = u64_map__get(&m->strings, label);
	int err;

	if (address != U64_MAP_NONE) {
		*id = (uint64_t)address + MM_FIRST_REGULAR_ID;
		return 0;
	}
	err = put_clean(m, trace_reader__string(m->r, label), id);
	if (err)
		return err;
	if (*id - MM_FIRST_REGULAR_ID >= U64_MAP_NONE)
		return -EFBIG;
	return u64_map__put(&m->strings, label, *id - MM_FIRST_REGULAR_ID);
}

/* Arguments are separated like the label; none may be empty. */
static int put_arguments(struct mm_process *m, const char *text, uint64_t *id)
{
	static const char separators[] = {MM_SEPARATOR, '\0'};
	_free_ char *copy = strdup(text);
	_free_ char *all = malloc(strlen(text) + 1);
	char *rest = copy, *out = all;

	if (!copy || !all)
		return -ENOMEM;
	for (const char *part; (part = strsep(&rest, separators));) {
		_free_ char *clean = format_clean(part);

		if (!clean)
			return -ENOMEM;
		if (!*clean)
			continue;
		if (out != all)
			*out++ = MM_SEPARATOR;
		out = stpcpy(out, clean);
	}
	*id = 0;
	*out = '\0';
	return out == all ? 0 : mm_writer__string(m->w, all, id);
}

/* The string of the span's arguments; 0 if it has none. */
static int arguments_id(struct mm_process *m, const struct trace_span *s, uint64_t *id)
{
	uint32_t string = trace_reader__event_string(m->r, s);
	uint32_t address;
	int err;

	*id = 0;
	if (string == TRACE_NO_STRING)
		return 0;
	address = u64_map__get(&m->arguments, string);
	if (address != U64_MAP_NONE) {
		*id = address ? (uint64_t)address + MM_FIRST_REGULAR_ID : 0;
		return 0;
	}
	err = put_arguments(m, trace_reader__event(m->r, s), id);
	if (err)
		return err;
	if (*id && *id - MM_FIRST_REGULAR_ID >= U64_MAP_NONE)
		return -EFBIG;
	/* Address 0 holds the stream's header, so no string has it. */
	return u64_map__put(&m->arguments, string, *id ? *id - MM_FIRST_REGULAR_ID : 0);
}

/* The string of the label and the arguments; just the label if there are none. */
static int whole_id(struct mm_process *m, const struct trace_span *s, uint64_t *id)
{
	uint64_t arguments;
	int err = arguments_id(m, s, &arguments);

	return err || !arguments ? err : mm_writer__event(m->w, *id, arguments, id);
}

/*
 * The invocation id, if it can stand for the label. It stands for one label only, and some
 * executions share it: rustc gives an anonymous query with a single dependency the id of that
 * dependency, whose arguments differ.
 */
static int event_id(struct mm_process *m, const struct trace_span *s, uint64_t *id)
{
	uint32_t known;
	int err = label_id(m, s->label, id);

	if (err)
		return err;
	if (s->invocation > MM_VIRTUAL_ID_MAX)
		return whole_id(m, s, id);
	known = id_table__get(&m->label_of, s->invocation);
	if (known != ID_TABLE_NONE && known != s->label)
		return 0;
	if (known == ID_TABLE_NONE)
		err = whole_id(m, s, id) ?: id_table__put(&m->label_of, s->invocation, s->label)
			      ?: mm_writer__map(m->w, s->invocation, *id);
	*id = s->invocation;
	return err;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static uint64_t clamp(uint64_t ns, int *adjusted)
{
	if (ns <= MM_TIME_MAX)
		return ns;
	*adjusted = 1;
	return MM_TIME_MAX;
}

int mm_process__span(struct mm_process *m, const struct trace_span *s)
{
	uint64_t start = s->start_ns - m->base_ns, end = s->end_ns - m->base_ns;
	uint64_t kind, id;
	int err = 0, adjusted = 0;

	if (s->start_ns < m->base_ns || s->end_ns < s->start_ns)
		return -EINVAL;
	start = clamp(start, &adjusted);
	end = clamp(end, &adjusted);
	if (s->kind != TRACE_KIND_HIT)
		err = nesting__fit(&m->nesting, s->tid, s->depth, &start, &end);
	if (err < 0)
		return err;
	adjusted |= err;
	err = kind_id(m, s->kind, &kind) ?: event_id(m, s, &id);
	if (err)
		return err;
	m->events++;
	if (s->kind == TRACE_KIND_HIT)
		return mm_writer__instant(m->w, kind, id, s->tid, start) ?: adjusted;
	return mm_writer__interval(m->w, kind, id, s->tid, start, end) ?: adjusted;
}

int mm_process__tally(struct mm_process *m, const struct trace_tally *t)
{
	uint64_t kind, id, left = t->sum;
	int err = kind_id(m, t->kind, &kind) ?: label_id(m, t->label, &id);

	if (err)
		return err;
	/* A sum may exceed the value that one event can hold. */
	do {
		uint64_t value = left < MM_VALUE_MAX ? left : MM_VALUE_MAX;

		err = mm_writer__integer(m->w, kind, id, 0, value);
		m->events++;
		left -= value;
	} while (left && !err);
	return err;
}

int mm_process__finish(struct mm_process *m, const char *name, bool force)
{
	return mm_writer__finish(m->w, name, force);
}

uint64_t mm_process__events(const struct mm_process *m)
{
	return m->events;
}

uint64_t mm_process__bytes(const struct mm_process *m)
{
	return mm_writer__bytes(m->w);
}

void mm_process__free(struct mm_process *m)
{
	if (!m)
		return;
	mm_writer__free(m->w);
	u64_map__destroy(&m->strings);
	u64_map__destroy(&m->arguments);
	id_table__destroy(&m->label_of);
	nesting__destroy(&m->nesting);
	free(m);
}
