// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/measureme.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/table.h"
#include "qprof/measureme_format.h"
#include "decode/command.h"
#include "base/array.h"

#define BLOCK	  1024
#define CACHE_MAX 65536u /* labels, 4 MiB; an event with arguments has a label of its own */

#define HIT "QueryCacheHit" /* one instant per cache hit; not used for a label that has counts */

struct import {
	struct trace_writer *w;
	struct mm_reader *r;
	uint32_t index;
	uint64_t base_ns;
	uint8_t hit_kind;
	struct u64_map kinds;		   /* string id -> number */
	struct u64_map labels;		   /* address -> label of the trace */
	TABLE(struct trace_tally) tallies; /* by label << 8 | kind */
	uint32_t unknown;		   /* the label "<unknown>" */
	struct mm_arguments arguments;
	struct measureme_found *found;
};

static void import__clear(struct import *im)
{
	u64_map__destroy(&im->kinds);
	u64_map__destroy(&im->labels);
	mm_arguments__destroy(&im->arguments);
	table__destroy(&im->tallies);
}

/* ---- The process ----------------------------------------------------------------------------- */

/*
 * The crate from "regex_syntax-0004711.mm_profdata". rustc's own metadata is better than the
 * command, which may be an @file.
 */
static char *crate_of_path(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *dash = strrchr(name, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;

	if (digits < 7 || strcmp(dash + 1 + digits, MM_EXTENSION))
		return NULL;
	if (dash - name == 13 && !strncmp(name, "unknown-crate", 13))
		return NULL;
	return strndup(name, dash - name);
}

/* Take from the command line the fields that rustc's metadata lacks. */
static int read_command(struct trace_process *p, struct command *c)
{
	size_t size = strlen(p->command);
	_free_ char *args = strdup(p->command);
	int err;

	if (!args)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		if (args[i] == ' ')
			args[i] = '\0';
	}
	err = command__parse(c, args, size, false);
	if (err)
		return err;
	p->crate = take_ptr(c->crate);
	p->crate_type = take_ptr(c->crate_type);
	return 0;
}

static int add_process(struct import *im, uint64_t last_end_ns, const char *path)
{
	const struct mm_metadata *m = mm_reader__metadata(im->r);
	struct trace_process p;
	struct command c = {0};
	int err = trace_process__copy(&p, &m->process);

	if (err)
		return err;
	if (!m->exported && p.command)
		err = read_command(&p, &c);
	command__clear(&c);
	if (!err && !m->exported && !p.crate)
		p.crate = crate_of_path(path);
	p.index = im->index;
	p.start_ns = im->base_ns;
	/*
	 * An approximation: rustc runs on for a moment after its last event. 0 would mean that it
	 * still runs.
	 */
	p.end_ns = im->base_ns + last_end_ns;
	p.end_ns += !p.end_ns;
	err = err ?: trace_writer__process(im->w, &p);
	trace_process__clear(&p);
	return err;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int kind_of(struct import *im, uint64_t id, uint8_t *kind)
{
	uint32_t known = u64_map__get(&im->kinds, id);
	const char *text;
	int err;

	if (known != U64_MAP_NONE) {
		*kind = known;
		return 0;
	}
	text = mm_reader__kind(im->r, id);
	err = text ? trace_writer__kind(im->w, text, kind) : -ENOMEM;
	if (err)
		return err;
	if (im->kinds.used >= CACHE_MAX)
		u64_map__clear(&im->kinds);
	return u64_map__put(&im->kinds, id, *kind);
}

static int label_of(struct import *im, uint64_t id, uint32_t *label)
{
	uint32_t address = mm_reader__address(im->r, id);
	const char *text;
	int err;

	*label = im->unknown;
	if (address == UINT32_MAX)
		return 0;
	*label = u64_map__get(&im->labels, address);
	if (*label != U64_MAP_NONE)
		return 0;
	text = mm_reader__label(im->r, id);
	err = text ? trace_writer__intern(im->w, text, label) : -ENOMEM;
	if (err)
		return err;
	if (im->labels.used >= CACHE_MAX)
		u64_map__clear(&im->labels);
	return u64_map__put(&im->labels, address, *label);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int add_span(struct import *im, const struct mm_event *e, uint16_t depth, uint32_t label,
		    uint8_t kind)
{
	struct trace_span s = {
		.start_ns = im->base_ns + e->start,
		.end_ns = im->base_ns + e->end,
		.process = im->index,
		.tid = e->thread,
		.label = label,
		.invocation = TRACE_NO_INVOCATION,
		.depth = depth,
		.kind = kind,
	};
	uint32_t address = mm_reader__address(im->r, e->id);
	int err = 0;

	/* The virtual id, or a number of our own for an event with arguments. */
	if (e->id <= MM_VIRTUAL_ID_MAX)
		s.invocation = (uint32_t)e->id;
	else if (address != MM_NO_ADDRESS)
		err = mm_arguments__number(&im->arguments, address, &s.invocation);
	im->found->spans++;
	return err ?: trace_writer__span(im->w, &s);
}

static int add_event(struct import *im, const struct mm_event *e, uint16_t depth)
{
	struct trace_tally *t;
	uint32_t label;
	uint8_t kind;
	int err;

	if (e->type == MM_INTERVAL_EVENT && depth == MM_NO_DEPTH)
		return 0;
	err = kind_of(im, e->kind, &kind) ?: label_of(im, e->id, &label);
	if (err)
		return err;
	im->found->unnamed += label == im->unknown;
	if (e->type == MM_INTERVAL_EVENT)
		return add_span(im, e, depth, label, kind);
	t = table__get(&im->tallies, (uint64_t)label << 8 | kind, .process = im->index,
		       .label = label, .kind = kind);
	if (!t)
		return -ENOMEM;
	im->found->values++;
	t->events++;
	if (e->type == MM_INTEGER_EVENT && __builtin_add_overflow(t->sum, e->start, &t->sum))
		t->sum = UINT64_MAX;
	return 0;
}

static int add_events(struct import *im, const struct mm_depths *d)
{
	_free_ struct mm_event *events = malloc(BLOCK * sizeof(*events));
	uint64_t n_events = mm_reader__n_events(im->r);

	if (!events)
		return -ENOMEM;
	for (uint64_t at = 0; at < n_events; at += BLOCK) {
		uint32_t n = n_events - at < BLOCK ? (uint32_t)(n_events - at) : BLOCK;
		int err = mm_reader__events(im->r, at, n, events);

		for (uint32_t i = 0; !err && i < n; i++)
			err = add_event(im, &events[i], d->depth[at + i]);
		if (err)
			return err;
	}
	return 0;
}

static int write_tallies(struct import *im)
{
	for (uint32_t i = 0; i < im->tallies.n; i++) {
		struct trace_tally t = im->tallies.at[i];
		int err;

		if (t.kind == im->hit_kind) {
			uint64_t counted = (uint64_t)t.label << 8 | TRACE_KIND_HIT_COUNT;

			if (table__find(&im->tallies, counted))
				continue;
			t.kind = TRACE_KIND_HIT_COUNT;
			t.sum = t.events;
		}
		err = trace_writer__tally(im->w, &t);
		if (err)
			return err;
	}
	return 0;
}

int import_measureme(struct trace_writer *w, uint32_t index, struct mm_reader *r, const char *path,
		     struct measureme_found *found)
{
	__cleanup(mm_depths__destroy) struct mm_depths d = {0};
	__cleanup(import__clear) struct import im = {
		.w = w,
		.r = r,
		.index = index,
		.base_ns = mm_reader__metadata(r)->start_time_ns,
		.arguments = {.w = w, .strings = mm_reader__strings(r), .process = index},
		.found = found,
	};
	int err;

	*found = (struct measureme_found){0};
	err = mm_depths__find(&d, r) ?: add_process(&im, d.last_end_ns, path)
		      ?: trace_writer__intern(w, "<unknown>", &im.unknown)
		      ?: trace_writer__kind(w, HIT, &im.hit_kind)
		      ?: add_events(&im, &d) ?: write_tallies(&im)
		      ?: mm_arguments__map(&im.arguments);
	found->arguments = im.arguments.kept;
	found->too_many_arguments = im.arguments.full;
	found->backwards = d.backwards;
	found->out_of_order = d.out_of_order;
	found->overlapping = d.overlapping;
	/* The trace must hold all of this process before the next one begins. */
	return err ? err : trace_writer__flush(w);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

#define NESTED_MAX     32
#define PIECES_MAX     16
#define REMEMBERED_MAX 65536u

/* In string_of: the string is being expanded, so another reference to it is a cycle. */
#define UNDERWAY (U64_MAP_NONE - 1)

struct pieces {
	struct trace_piece all[PIECES_MAX];
	size_t text_at[PIECES_MAX]; /* offset in texts of a piece that is a text */
	uint32_t n;
	struct byte_buffer texts;
};

static void pieces__clear(struct pieces *p)
{
	byte_buffer__destroy(&p->texts);
}

static int string_of(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id);

static int add_component(struct mm_arguments *a, struct pieces *p, const struct mm_component *c,
			 unsigned int nested)
{
	uint32_t address = c->text ? 0 : mm_strings__address(a->strings, c->id);
	uint32_t id;
	int err;

	if (p->n == PIECES_MAX)
		return -E2BIG;
	if (c->text || address == MM_NO_ADDRESS) {
		p->text_at[p->n++] = p->texts.size;
		byte_buffer__bytes(&p->texts, c->text ?: (const uint8_t *)"<unknown>",
				   c->text ? c->size : strlen("<unknown>"));
		byte_buffer__bytes(&p->texts, "", 1);
		return 0;
	}
	err = string_of(a, address, nested + 1, &id);
	if (err)
		return err;
	p->text_at[p->n] = SIZE_MAX;
	p->all[p->n++] = (struct trace_piece){.id = id};
	return 0;
}

/* Compose the string of its pieces. -E2BIG: not possible, but one plain text may do. */
static int compose(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id)
{
	__cleanup(pieces__clear) struct pieces p = {.n = 0};
	struct mm_component c;
	bool bad;
	int err = u64_map__put(&a->string_of, address, UNDERWAY);

	while (!err && mm_strings__component(a->strings, &address, &c, &bad))
		err = add_component(a, &p, &c, nested);
	if (err)
		return err;
	if (bad)
		return -E2BIG;
	if (p.texts.failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < p.n; i++)
		if (p.text_at[i] != SIZE_MAX)
			p.all[i].text = (const char *)p.texts.data + p.text_at[i];
	return trace_writer__compose(a->w, p.all, p.n, id);
}

/* The trace's id of the string at `address`, which may be the rest of a string. */
static int string_of(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id)
{
	int err;

	*id = u64_map__get(&a->string_of, address);
	if (*id < UNDERWAY)
		return 0;
	err = *id == UNDERWAY || nested == NESTED_MAX ? -E2BIG : compose(a, address, nested, id);
	if (err == -E2BIG)
		err = mm_strings__text(a->strings, (uint64_t)address + MM_FIRST_REGULAR_ID,
				       &a->text)
			      ?: trace_writer__intern(a->w, (const char *)a->text.data, id);
	return err ? err : u64_map__put(&a->string_of, address, *id);
}

/* An event's text without the label, which ends somewhere inside the text. */
static int flat_arguments(struct mm_arguments *a, uint32_t address, uint32_t *id)
{
	const char *separator;
	int err = mm_strings__text(a->strings, (uint64_t)address + MM_FIRST_REGULAR_ID, &a->text);

	if (err)
		return err;
	separator = strchr((const char *)a->text.data, MM_SEPARATOR);
	return trace_writer__intern(a->w, separator ? separator + 1 : "", id);
}

/*
 * The string of the arguments of the event at `address`; U64_MAP_NONE if it has none. The part
 * after a separator is read as a string of its own with the same end.
 */
static int arguments_of(struct mm_arguments *a, uint32_t address, uint32_t *id)
{
	uint32_t from = address, at = address;
	struct mm_component c;
	bool bad;

	*id = U64_MAP_NONE;
	if (a->string_of.used >= REMEMBERED_MAX)
		u64_map__clear(&a->string_of);
	for (; mm_strings__component(a->strings, &at, &c, &bad); from = at) {
		const uint8_t *end = c.text ? memchr(c.text, MM_SEPARATOR, c.size) : NULL;
		int err;

		if (end)
			return string_of(a, from + (uint32_t)(end - c.text) + 1, 0, id);
		if (c.text)
			continue;
		/* A label may end inside the referenced string. It never does in rustc's files. */
		err = mm_strings__text(a->strings, c.id, &a->text);
		if (err)
			return err;
		if (strchr((const char *)a->text.data, MM_SEPARATOR))
			return flat_arguments(a, address, id);
	}
	return 0;
}

static int write_run(struct mm_arguments *a)
{
	const struct trace_mapping m = {
		.process = a->process,
		.first = a->first,
		.n = a->n,
		.strings = a->run,
	};

	a->n = 0;
	return m.n ? trace_writer__map(a->w, &m) : 0;
}

static int map(struct mm_arguments *a, uint32_t invocation, uint32_t string)
{
	bool follows = a->n < MM_ARGUMENTS_RUN && invocation == a->first + a->n;
	int err = follows ? 0 : write_run(a);

	if (err)
		return err;
	if (!a->n)
		a->first = invocation;
	a->run[a->n++] = string;
	return 0;
}

/* The trace is usable even if it can hold no more arguments. */
static int unless_full(struct mm_arguments *a, int err)
{
	if (err != -E2BIG)
		return err;
	a->full = true;
	return 0;
}

int mm_arguments__number(struct mm_arguments *a, uint32_t address, uint32_t *invocation)
{
	uint32_t string, number = MM_FIRST_REGULAR_ID + a->n_own;
	int err;

	*invocation = u64_map__get(&a->number_of, address);
	if (*invocation != U64_MAP_NONE)
		return 0;
	*invocation = TRACE_NO_INVOCATION;
	if (a->full || a->n_own >= TRACE_NO_INVOCATION - MM_FIRST_REGULAR_ID)
		return 0;
	err = arguments_of(a, address, &string);
	if (err || string == U64_MAP_NONE)
		return unless_full(a, err);
	if (a->number_of.used >= REMEMBERED_MAX)
		u64_map__clear(&a->number_of);
	err = map(a, number, string) ?: u64_map__put(&a->number_of, address, number);
	if (err)
		return unless_full(a, err);
	*invocation = number;
	a->n_own++;
	a->kept++;
	return 0;
}

/*
 * The arguments of the first virtual id from *id on that stands for an event. *id is virtual_end if
 * there is none.
 */
static int next_virtual(struct mm_arguments *a, uint32_t *id, uint32_t *string)
{
	uint32_t end = a->strings->virtual_end;

	while ((*id = id_table__next(&a->strings->index, *id)) < end) {
		uint32_t address = mm_strings__address(a->strings, *id);

		if (address != MM_NO_ADDRESS)
			return arguments_of(a, address, string);
		++*id;
	}
	*id = end;
	return 0;
}

/* Map the virtual ids with arguments to them, and the others to `empty`. */
static int map_virtual(struct mm_arguments *a, uint32_t empty)
{
	uint32_t string;

	for (uint32_t id = 0;; id++) {
		int err = next_virtual(a, &id, &string);

		if (err)
			return err;
		if (id == a->strings->virtual_end)
			return write_run(a);
		a->kept += string != U64_MAP_NONE;
		err = map(a, id, string == U64_MAP_NONE ? empty : string);
		if (err)
			return err;
	}
}

int mm_arguments__map(struct mm_arguments *a)
{
	uint32_t string, empty;
	bool any = a->kept;
	int err = 0;

	/* Whether any virtual id has arguments. */
	for (uint32_t id = 0; !any && !err; id++) {
		err = next_virtual(a, &id, &string);
		if (id == a->strings->virtual_end)
			break;
		any = !err && string != U64_MAP_NONE;
	}
	if (!err && any)
		err = trace_writer__intern(a->w, "", &empty);
	if (!err && any)
		err = a->full ? write_run(a) : map_virtual(a, empty);
	return unless_full(a, err);
}

void mm_arguments__destroy(struct mm_arguments *a)
{
	u64_map__destroy(&a->string_of);
	u64_map__destroy(&a->number_of);
	byte_buffer__destroy(&a->text);
}

/* ---- Depths ---------------------------------------------------------------------------------- */

#define MM_DEPTHS_BLOCK 1024

struct interval {
	uint64_t start;
	uint64_t end;
};

struct thread {
	struct interval *open; /* each encloses the next */
	uint32_t n;
	uint32_t capacity;
	uint64_t next_end; /* of the next interval in the file */
};

struct walk {
	struct mm_depths *d;
	TABLE(struct thread) threads; /* by number */
};

static void walk__clear(struct walk *w)
{
	for (uint32_t i = 0; i < w->threads.n; i++)
		free(w->threads.at[i].open);
	table__destroy(&w->threads);
}

static int take(struct walk *w, const struct mm_event *e, uint16_t *depth)
{
	const struct interval interval = {e->start, e->end};
	bool overlaps = false;
	struct thread *t;

	*depth = MM_NO_DEPTH;
	if (e->type != MM_INTERVAL_EVENT)
		return 0;
	if (e->start > e->end) {
		w->d->backwards++;
		return 0;
	}
	t = table__get(&w->threads, e->thread, .next_end = UINT64_MAX);
	if (!t)
		return -ENOMEM;
	if (e->end > t->next_end) {
		w->d->out_of_order++;
		return 0;
	}
	t->next_end = e->end;
	/* Close the intervals that do not enclose this one. */
	for (; t->n; t->n--) {
		const struct interval *top = &t->open[t->n - 1];

		if (top->start <= e->start && e->end <= top->end)
			break;
		overlaps |= e->end > top->start;
	}
	w->d->overlapping += overlaps;
	*depth = t->n < MM_NO_DEPTH ? t->n : MM_NO_DEPTH - 1;
	if (e->end > w->d->last_end_ns)
		w->d->last_end_ns = e->end;
	return array__add(&t->open, &t->n, &t->capacity, &interval);
}

int mm_depths__find(struct mm_depths *d, struct mm_reader *r)
{
	__cleanup(walk__clear) struct walk w = {.d = d};
	uint64_t left = mm_reader__n_events(r);
	_free_ struct mm_event *events = malloc(MM_DEPTHS_BLOCK * sizeof(*events));

	*d = (struct mm_depths){0};
	d->depth = malloc(left * sizeof(*d->depth) + 1);
	if (!events || !d->depth)
		return -ENOMEM;
	while (left) {
		uint32_t n = left < MM_DEPTHS_BLOCK ? (uint32_t)left : MM_DEPTHS_BLOCK;
		int err;

		left -= n;
		err = mm_reader__events(r, left, n, events);
		for (uint32_t i = n; !err && i--;)
			err = take(&w, &events[i], &d->depth[left + i]);
		if (err)
			return err;
	}
	return 0;
}

void mm_depths__destroy(struct mm_depths *d)
{
	free(d->depth);
	*d = (struct mm_depths){0};
}
