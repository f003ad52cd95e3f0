// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/on_cpu.h"
#include "base/array.h"
#include "base/table.h"
#include "qprof/measureme_format.h"

/* The text that a reader returns for an id that is not mapped. */
#define UNKNOWN "<unknown>"

/* The kind of subject that an activity with a label is about. */
struct tag {
	bool wanted;
	bool counted; /* it counts as an expansion, or an activity */
	uint8_t phase;
};

/* A text that subjects are called by; its number is its index. */
struct name {
	char *text;    /* NULL: none */
	uint32_t next; /* of the same hash: its number plus 1, or 0 */
};

/* The part of a string before the first separator, and the number behind it. */
struct event {
	uint32_t name;
	uint64_t number;
};

struct subject {
	uint32_t name;
	uint32_t process;	/* of a unit */
	struct subject_row row; /* the sums */
};

/* A subject's time in a crate, for macros, or on a thread, for units. */
struct cell {
	uint32_t subject;
	uint32_t of; /* number of the crate's name, or tid */
	uint64_t total_ns;
};

struct time {
	uint64_t ns;
	uint64_t off_ns; /* of it off the CPU */
};

/* Activities of the subjects that are no part of another one yet. */
struct done {
	uint32_t depth;
	struct time time;
};

struct track {
	struct done *done; /* by depth */
	uint32_t n, capacity;
};

struct thread_name {
	const char *name;
};

struct first_name {
	uint32_t number; /* plus 1 */
};

struct subjects {
	struct trace_texts texts;
	enum subjects_of of;
	struct trace_process *processes;
	uint32_t n_processes, processes_capacity;
	TABLE(struct tag) tags;		   /* by label */
	TABLE(struct event) events;	   /* by string id */
	TABLE(struct first_name) by_hash;  /* of the text */
	TABLE(struct subject) subjects;	   /* by process << 32 | name */
	TABLE(struct cell) cells;	   /* by subject << 32 | of */
	TABLE(struct track) tracks;	   /* by process << 32 | tid */
	TABLE(struct thread_name) threads; /* likewise */
	struct name *names;
	uint32_t n_names, names_capacity;
};

int subjects__new(const struct trace_texts *texts, enum subjects_of of, struct subjects **out)
{
	struct name none = {0};

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->texts = *texts;
	(*out)->of = of;
	return array__add(&(*out)->names, &(*out)->n_names, &(*out)->names_capacity, &none);
}

enum subjects_of subjects__of(const struct subjects *s)
{
	return s->of;
}

int subjects__process(struct subjects *s, const struct trace_process *p)
{
	if (p->index > s->n_processes)
		return -EINVAL;
	if (array__reserve_one(&s->processes, s->n_processes, &s->processes_capacity, sizeof(*p)))
		return -ENOMEM;
	s->n_processes += p->index == s->n_processes;
	s->processes[p->index] = *p;
	return 0;
}

int subjects__thread(struct subjects *s, const struct trace_thread *t)
{
	struct thread_name *known =
		table__get(&s->threads, (uint64_t)t->process << 32 | t->tid, .name = NULL);

	if (!known)
		return -ENOMEM;
	known->name = t->name;
	return 0;
}

/* Labels of rustc. One that ends in a star is a prefix. */
static const struct {
	const char *label;
	enum subjects_of of;
	enum subject_phase phase;
	bool counted;
} labels[] = {
	{"expand_proc_macro", SUBJECTS_MACROS, 0, true},
	{"expand_derive_proc_macro*", SUBJECTS_MACROS, 0, false},
	{"codegen_module", SUBJECTS_UNITS, SUBJECT_CODEGEN, true},
	{"codegen_module_optimize", SUBJECTS_UNITS, SUBJECT_OPTIMIZE, true},
	{"codegen_module_perform_lto", SUBJECTS_UNITS, SUBJECT_LTO, true},
	{"codegen_copy_artifacts_from_incr_cache", SUBJECTS_UNITS, SUBJECT_COPY, true},
	{"LLVM_module_optimize", SUBJECTS_UNITS, SUBJECT_OPTIMIZE, true},
	{"LLVM_module_codegen*", SUBJECTS_UNITS, SUBJECT_EMIT, true},
	{"LLVM_lto_optimize", SUBJECTS_UNITS, SUBJECT_LTO, true},
	{"LLVM_thin_lto_import", SUBJECTS_UNITS, SUBJECT_LTO, true},
	{"LLVM_thin_lto_internalize", SUBJECTS_UNITS, SUBJECT_LTO, true},
	{"LLVM_thin_lto_rename", SUBJECTS_UNITS, SUBJECT_LTO, true},
	{"LLVM_thin_lto_resolve_weak", SUBJECTS_UNITS, SUBJECT_LTO, true},
};

static bool is_label(const char *pattern, const char *label)
{
	size_t len = strlen(pattern) - 1;

	return pattern[len] == '*' ? !strncmp(pattern, label, len) : !strcmp(pattern, label);
}

/* NULL without memory. */
static const struct tag *tag_of(struct subjects *s, uint32_t label)
{
	const struct tag *known = table__find(&s->tags, label);
	const char *text = known ? NULL : s->texts.text(s->texts.ctx, label);
	struct tag tag = {0};

	if (known)
		return known;
	for (size_t i = 0; i < N_OF(labels) && !tag.wanted; i++)
		if (labels[i].of == s->of && is_label(labels[i].label, text))
			tag = (struct tag){true, labels[i].counted, (uint8_t)labels[i].phase};
	return table__get(&s->tags, label, .wanted = tag.wanted, .counted = tag.counted,
			  .phase = tag.phase);
}

static bool is_called(const struct name *name, const char *text, size_t len)
{
	return strlen(name->text) == len && !memcmp(name->text, text, len);
}

/* The number of a text; -ENOMEM. */
static int number_name(struct subjects *s, const char *text, size_t len, uint32_t *number)
{
	struct first_name *first = table__get(&s->by_hash, map_hash(text, len), .number = 0);
	struct name name = {.text = strndup(text, len)};
	int err;

	if (!first || !name.text) {
		free(name.text);
		return -ENOMEM;
	}
	for (uint32_t i = first->number; i; i = s->names[i - 1].next) {
		if (!is_called(&s->names[i - 1], text, len))
			continue;
		free(name.text);
		*number = i - 1;
		return 0;
	}
	name.next = first->number;
	err = array__add(&s->names, &s->n_names, &s->names_capacity, &name);
	if (err) {
		free(name.text);
		return err;
	}
	first->number = s->n_names;
	*number = s->n_names - 1;
	return 0;
}

static bool is_known(const char *text)
{
	return *text && strcmp(text, UNKNOWN) != 0;
}

/* NULL without memory. */
static const struct event *event_of(struct subjects *s, uint32_t string)
{
	const struct event *known = table__find(&s->events, string);
	const char *text =
		known || string == TRACE_NO_STRING ? "" : s->texts.text(s->texts.ctx, string);
	const char *end = strchrnul(text, MM_SEPARATOR);
	uint32_t name = 0;

	if (known)
		return known;
	if (is_known(text) && number_name(s, text, (size_t)(end - text), &name))
		return NULL;
	return table__get(&s->events, string, .name = name,
			  .number = *end ? strtoull(end + 1, NULL, 10) : 0);
}

/* Time within an interval of this depth belongs to it from now on. Returns that time. */
static struct time take_inner(struct track *t, uint32_t depth)
{
	struct time sum = {0};

	while (t->n && t->done[t->n - 1].depth > depth) {
		const struct time *inner = &t->done[--t->n].time;

		sum.ns += inner->ns;
		sum.off_ns += inner->off_ns;
	}
	return sum;
}

static int put_done(struct track *t, uint32_t depth, struct time time)
{
	struct done done = {depth, time};

	if (!time.ns)
		return 0;
	if (!t->n || t->done[t->n - 1].depth != depth)
		return array__add(&t->done, &t->n, &t->capacity, &done);
	t->done[t->n - 1].time.ns += time.ns;
	t->done[t->n - 1].time.off_ns += time.off_ns;
	return 0;
}

static struct time without(struct time whole, struct time inner)
{
	return (struct time){
		.ns = whole.ns > inner.ns ? whole.ns - inner.ns : 0,
		.off_ns = whole.off_ns > inner.off_ns ? whole.off_ns - inner.off_ns : 0,
	};
}

static int add(struct subjects *s, const struct trace_span *span, const struct tag *tag,
	       const struct event *event, uint64_t whole_ns, struct time own)
{
	bool unit = s->of == SUBJECTS_UNITS;
	uint32_t process = unit ? span->process : 0, of = span->tid;
	const char *crate = s->processes[span->process].crate;
	struct subject *subject;
	struct cell *cell;
	uint32_t i;

	if (!unit && number_name(s, crate ?: "", strlen(crate ?: ""), &of))
		return -ENOMEM;
	subject = table__get(&s->subjects, (uint64_t)process << 32 | event->name,
			     .name = event->name, .process = span->process);
	if (!subject)
		return -ENOMEM;
	i = (uint32_t)(subject - s->subjects.at);
	cell = table__get(&s->cells, (uint64_t)i << 32 | of, .subject = i, .of = of);
	if (!cell)
		return -ENOMEM;
	cell->total_ns += own.ns;
	subject->row.total_ns += own.ns;
	subject->row.cpu_ns += on_cpu_ns(own.ns, own.off_ns);
	subject->row.phase_ns[tag->phase] += own.ns;
	subject->row.count += tag->counted;
	if (whole_ns > subject->row.max_ns)
		subject->row.max_ns = whole_ns;
	if (tag->phase == SUBJECT_CODEGEN && event->number)
		subject->row.size = event->number;
	return 0;
}

int subjects__span(struct subjects *s, const struct trace_span *span,
		   const struct trace_times *times, uint32_t event)
{
	struct track *t = table__get(&s->tracks, (uint64_t)span->process << 32 | span->tid, .n = 0);
	const struct tag *tag = tag_of(s, span->label);
	struct time inner, whole;
	const struct event *about;

	if (span->process >= s->n_processes)
		return -EINVAL;
	if (!t || !tag)
		return -ENOMEM;
	inner = take_inner(t, span->depth);
	if (!tag->wanted || span->kind != TRACE_KIND_ACTIVITY)
		return put_done(t, span->depth, inner);
	about = event_of(s, event);
	if (!about)
		return -ENOMEM;
	whole.ns = trace_without_probes(span->end_ns - span->start_ns, times->probe_ns);
	whole.off_ns = times->off_ns;
	return add(s, span, tag, about, whole.ns, without(whole, inner))
		       ?: put_done(t, span->depth, whole);
}

static void note_crate(struct subject_row *row, const char *crate, uint64_t ns)
{
	uint32_t n = row->n_crates < SUBJECT_PARTS ? row->n_crates : SUBJECT_PARTS, at = n;

	row->n_crates++;
	while (at && row->crates[at - 1].total_ns < ns)
		at--;
	if (at == SUBJECT_PARTS)
		return;
	n = n < SUBJECT_PARTS ? n : SUBJECT_PARTS - 1;
	memmove(&row->crates[at + 1], &row->crates[at], (n - at) * sizeof(*row->crates));
	row->crates[at] = (struct subject_part){crate, ns};
}

static const char *thread_name(struct subjects *s, uint32_t process, uint32_t tid)
{
	const struct thread_name *t = table__find(&s->threads, (uint64_t)process << 32 | tid);

	return t ? t->name : NULL;
}

static void place(struct subjects *s, struct subject_row *rows)
{
	_free_ uint64_t *most = calloc(s->subjects.n + 1UL, sizeof(*most));

	for (uint32_t i = 0; most && i < s->cells.n; i++) {
		const struct cell *c = &s->cells.at[i];
		const struct subject *subject = &s->subjects.at[c->subject];

		if (s->of == SUBJECTS_MACROS) {
			note_crate(&rows[c->subject], s->names[c->of].text, c->total_ns);
		} else if (!rows[c->subject].tid || c->total_ns > most[c->subject]) {
			most[c->subject] = c->total_ns;
			rows[c->subject].tid = c->of;
			rows[c->subject].thread = thread_name(s, subject->process, c->of);
		}
	}
}

int subjects__rows(struct subjects *s, struct subject_row **rows, size_t *n)
{
	struct subject_row *out = calloc(s->subjects.n + 1UL, sizeof(*out));

	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->subjects.n; i++) {
		const struct subject *subject = &s->subjects.at[i];
		const char *name = s->names[subject->name].text;
		const struct trace_process *p = &s->processes[subject->process];

		out[i] = subject->row;
		out[i].name = name ? strdup(name) : NULL;
		if (name && !out[i].name) {
			subject_rows__free(out, i);
			return -ENOMEM;
		}
		if (s->of == SUBJECTS_UNITS) {
			out[i].pid = p->pid;
			note_crate(&out[i], p->crate, out[i].total_ns);
		}
	}
	place(s, out);
	*rows = out;
	*n = s->subjects.n;
	return 0;
}

void subject_rows__free(struct subject_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].name);
	free(rows);
}

void subjects__free(struct subjects *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->tracks.n; i++)
		free(s->tracks.at[i].done);
	for (uint32_t i = 0; i < s->n_names; i++)
		free(s->names[i].text);
	free(s->names);
	free(s->processes);
	table__destroy(&s->tags);
	table__destroy(&s->events);
	table__destroy(&s->by_hash);
	table__destroy(&s->subjects);
	table__destroy(&s->cells);
	table__destroy(&s->tracks);
	table__destroy(&s->threads);
	free(s);
}
