// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/within.h"
#include "base/array.h"
#include "base/part.h"
#include "base/table.h"
#include "qprof/measureme_format.h"
#include "trace/interner.h"

/* The text that a reader returns for an id that is not mapped. */
#define UNKNOWN "<unknown>"

/* The kind of subject that an activity with a label is about. */
struct tag {
	bool wanted;
	bool counted; /* it counts as an expansion, or an activity */
	uint8_t phase;
};

/* The part of a string before the first separator, and the number behind it. */
struct event {
	uint32_t name; /* its number plus 1; 0: none */
	uint64_t number;
};

struct subject {
	uint32_t event;		/* that has its name: string id */
	uint32_t process;	/* of a unit */
	struct subject_row row; /* the sums */
	uint64_t most_ns;	/* of a thread: while rows are made */
};

/* A subject's time in a crate, for macros, or on a thread, for units. */
struct cell {
	uint32_t subject;
	uint32_t of; /* number of the crate's name, or tid */
	const char *crate;
	uint64_t total_ns;
};

/* The time of an interval, and the part of it off the CPU. */
enum { WHOLE, OFF_CPU };

struct subjects {
	struct trace_texts texts;
	const struct summary *processes;
	enum subjects_of of;
	TABLE(struct tag) tags;		   /* by label */
	TABLE(struct event) events;	   /* by string id */
	TABLE(struct subject) subjects;	   /* by process << 32 | name */
	TABLE(struct cell) cells;	   /* by subject << 32 | of */
	TABLE(struct within_track) tracks; /* by process << 32 | tid */
	TABLE(const char *) threads;	   /* names, likewise */
	struct interner names;
};

int subjects__new(const struct trace_texts *texts, const struct summary *processes,
		  enum subjects_of of, struct subjects **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->texts = *texts;
	(*out)->processes = processes;
	(*out)->of = of;
	return 0;
}

enum subjects_of subjects__of(const struct subjects *s)
{
	return s->of;
}

int subjects__thread(struct subjects *s, const struct trace_thread *t)
{
	const char **known = table__get(&s->threads, (uint64_t)t->process << 32 | t->tid, NULL);

	if (!known)
		return -ENOMEM;
	*known = t->name;
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

/* NULL without memory. */
static const struct tag *tag_of(struct subjects *s, uint32_t label)
{
	const struct tag *known = table__find(&s->tags, label);
	const char *text = known ? NULL : s->texts.text(s->texts.ctx, label);
	struct tag tag = {0};

	if (known)
		return known;
	for (size_t i = 0; i < N_OF(labels) && !tag.wanted; i++) {
		size_t len = strlen(labels[i].label) - 1;

		/* With the NUL, unless it is a prefix. */
		len = labels[i].label[len] == '*' ? len : len + 2;
		if (labels[i].of == s->of && !strncmp(labels[i].label, text, len))
			tag = (struct tag){true, labels[i].counted, (uint8_t)labels[i].phase};
	}
	return table__get(&s->tags, label, .wanted = tag.wanted, .counted = tag.counted,
			  .phase = tag.phase);
}

/* Its name is the part before the first separator. */
static size_t name_length(const char *text)
{
	return (size_t)(strchrnul(text, MM_SEPARATOR) - text);
}

/* NULL without memory. */
static const struct event *event_of(struct subjects *s, uint32_t string)
{
	const struct event *known = table__find(&s->events, string);
	const char *text =
		known || string == TRACE_NO_STRING ? "" : s->texts.text(s->texts.ctx, string);
	size_t end = name_length(text);
	uint32_t name = 0;

	if (known)
		return known;
	if (*text && strcmp(text, UNKNOWN) != 0) {
		_free_ char *copy = strndup(text, end);
		bool is_new;

		if (!copy || interner__id(&s->names, copy, &name, &is_new))
			return NULL;
		name++;
	}
	return table__get(&s->events, string, .name = name,
			  .number = text[end] ? strtoull(text + end + 1, NULL, 10) : 0);
}

int subjects__span(struct subjects *s, const struct trace_span *span,
		   const struct trace_times *times, uint32_t event)
{
	struct within_track *t =
		table__get(&s->tracks, (uint64_t)span->process << 32 | span->tid, .n = 0);
	const struct tag *tag = tag_of(s, span->label);
	const char *crate = summary__process_at(s->processes, span->process)->crate;
	struct within inner, whole = {.depth = span->depth};
	bool unit = s->of == SUBJECTS_UNITS, is_new;
	uint32_t of = span->tid, i;
	const struct event *about;
	struct subject *subject;
	struct cell *cell;
	uint64_t own_ns;

	if (!t || !tag)
		return -ENOMEM;
	inner = within__take(t, span->depth);
	if (!tag->wanted || span->kind != TRACE_KIND_ACTIVITY)
		return within__put(t, &inner);
	about = event_of(s, event);
	if (!about || (!unit && interner__id(&s->names, crate ?: "", &of, &is_new)))
		return -ENOMEM;
	subject = table__get(&s->subjects, (uint64_t)(unit ? span->process : 0) << 32 | about->name,
			     .event = event, .process = span->process);
	if (!subject)
		return -ENOMEM;
	i = (uint32_t)(subject - s->subjects.at);
	cell = table__get(&s->cells, (uint64_t)i << 32 | of, .subject = i, .of = of,
			  .crate = crate);
	if (!cell)
		return -ENOMEM;
	whole.ns[WHOLE] = trace_without_probes(span->end_ns - span->start_ns, times->probe_ns);
	/* An interval that takes no time was not off the CPU either. */
	whole.ns[OFF_CPU] = whole.ns[WHOLE] ? times->off_ns : 0;
	own_ns = less(whole.ns[WHOLE], inner.ns[WHOLE]);
	cell->total_ns += own_ns;
	subject->row.total_ns += own_ns;
	subject->row.cpu_ns += on_cpu_ns(own_ns, less(whole.ns[OFF_CPU], inner.ns[OFF_CPU]));
	subject->row.phase_ns[tag->phase] += own_ns;
	subject->row.count += tag->counted;
	if (whole.ns[WHOLE] > subject->row.max_ns)
		subject->row.max_ns = whole.ns[WHOLE];
	if (tag->phase == SUBJECT_CODEGEN && about->number)
		subject->row.size = about->number;
	return within__put(t, &whole);
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

int subjects__rows(struct subjects *s, struct subject_row **rows, size_t *n)
{
	struct subject_row *out = calloc(s->subjects.n + 1UL, sizeof(*out));

	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->subjects.n; i++) {
		struct subject *subject = &s->subjects.at[i];
		const struct trace_process *p = summary__process_at(s->processes, subject->process);
		const struct event *event = table__find(&s->events, subject->event);
		const char *text =
			event && event->name ? s->texts.text(s->texts.ctx, subject->event) : NULL;

		subject->most_ns = 0;
		out[i] = subject->row;
		out[i].name = text ? strndup(text, name_length(text)) : NULL;
		if (text && !out[i].name) {
			subject_rows__free(out, i);
			return -ENOMEM;
		}
		if (s->of == SUBJECTS_UNITS) {
			out[i].pid = p->pid;
			note_crate(&out[i], p->crate, out[i].total_ns);
		}
	}
	for (uint32_t i = 0; i < s->cells.n; i++) {
		const struct cell *c = &s->cells.at[i];
		struct subject *subject = &s->subjects.at[c->subject];
		struct subject_row *row = &out[c->subject];
		const char **thread;

		if (s->of == SUBJECTS_MACROS) {
			note_crate(row, c->crate, c->total_ns);
		} else if (!row->tid || c->total_ns > subject->most_ns) {
			thread = table__find(&s->threads, (uint64_t)subject->process << 32 | c->of);
			subject->most_ns = c->total_ns;
			row->tid = c->of;
			row->thread = thread ? *thread : NULL;
		}
	}
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
		free(s->tracks.at[i].at);
	interner__destroy(&s->names);
	table__destroy(&s->tags);
	table__destroy(&s->events);
	table__destroy(&s->subjects);
	table__destroy(&s->cells);
	table__destroy(&s->tracks);
	table__destroy(&s->threads);
	free(s);
}
