// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compile_name.h"
#include "analyze/samples.h"
#include "base/array.h"
#include "base/map.h"
#include "base/table.h"
#include "proc/command_line.h"

#define THREAD_NAME_MOST 512 /* bytes; the kernel keeps 15 */

/*
 * The meaning of a label: which part of a compile an activity marks, or why a thread was off the
 * CPU.
 */
enum sign {
	SIGN_NONE,
	SIGN_FRONT_END,
	SIGN_CODEGEN,
	SIGN_LINK,
	SIGN_METADATA,
	SIGN_PREEMPTED,
};

struct compiler {
	struct trace_process process;
	struct build_process sums;
	uint64_t codegen_ns; /* start of codegen; UINT64_MAX: not seen (same for the next three) */
	uint64_t codegen_end_ns;
	uint64_t link_ns;
	uint64_t link_end_ns;
	uint64_t metadata_ns; /* when the metadata was written; 0: never */
	bool linking;	      /* a link interval started and did not end */
	bool counted;	      /* its results are those of its tables */
};

struct thread {
	uint32_t process;
	uint32_t tid;
	char *name; /* or NULL */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t off_ns;
	struct within_track waits;
	uint32_t interrupted; /* index, or U64_MAP_NONE */
};

struct build {
	const struct trace_texts *texts;
	struct compiler *compilers;
	uint32_t n_compilers;
	uint32_t compilers_capacity;
	TABLE(struct thread) threads; /* by process << 32 | tid */
	struct u64_map sign_of;	      /* label -> enum sign */
	struct build_thread *interrupted;
	uint32_t n_interrupted;
	uint32_t interrupted_capacity;
	struct build_process *processes; /* made at the end */
	struct build_totals totals;
	bool is_part;
	const struct build *whole; /* of a part, or NULL */
	bool *in_part;		   /* by process of the whole */
};

int build__new(const struct trace_texts *texts, struct build **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->texts = texts;
	return 0;
}

int build__process(struct build *b, const struct trace_process *p)
{
	if (p->index > b->n_compilers)
		return -EINVAL;
	if (array__reserve_one(&b->compilers, b->n_compilers, &b->compilers_capacity,
			       sizeof(*b->compilers)))
		return -ENOMEM;
	if (p->index == b->n_compilers)
		b->compilers[b->n_compilers++] = (struct compiler){
			.codegen_ns = UINT64_MAX,
			.link_ns = UINT64_MAX,
		};
	b->compilers[p->index].process = *p;
	return 0;
}

static struct thread *get_thread(struct build *b, uint32_t process, uint32_t tid)
{
	return table__get(&b->threads, (uint64_t)process << 32 | tid, .process = process,
			  .tid = tid, .start_ns = UINT64_MAX, .interrupted = U64_MAP_NONE);
}

int build__thread(struct build *b, const struct trace_thread *thread)
{
	/* A hostile trace may repeat a long text in each thread. */
	_free_ char *name = thread->name ? strndup(thread->name, THREAD_NAME_MOST) : NULL;
	struct thread *t;

	if (thread->process >= b->n_compilers)
		return -EINVAL;
	t = get_thread(b, thread->process, thread->tid);
	if (!t || (thread->name && !name))
		return -ENOMEM;
	free(t->name);
	t->name = take_ptr(name);
	return 0;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Every long enough compile has a SIGN_FRONT_END label; the other signs mark its parts. */
static enum sign sign_of_text(const char *text)
{
	if (!strcmp(text, "parse_crate") || !strcmp(text, "expand_crate") ||
	    !strcmp(text, "type_check_crate") || !strcmp(text, "MIR_borrow_checking"))
		return SIGN_FRONT_END;
	if (!strcmp(text, "codegen_crate") || !strcmp(text, "finish_ongoing_codegen") ||
	    begins(text, "LLVM_") || begins(text, "codegen_module"))
		return SIGN_CODEGEN;
	if (!strcmp(text, "link") || begins(text, "link_") || !strcmp(text, "run_linker"))
		return SIGN_LINK;
	if (!strcmp(text, "write_crate_metadata"))
		return SIGN_METADATA;
	return strcmp(text, TRACE_OFF_PREEMPTED) ? SIGN_NONE : SIGN_PREEMPTED;
}

static int find_sign(struct build *b, uint32_t label, enum sign *out)
{
	uint32_t known = u64_map__get(&b->sign_of, label);

	if (known == U64_MAP_NONE) {
		known = sign_of_text(b->texts->text(b->texts->ctx, label));
		if (u64_map__put(&b->sign_of, label, known))
			return -ENOMEM;
	}
	*out = known;
	return 0;
}

static void take_phase(struct compiler *c, const struct trace_span *span, enum sign sign)
{
	bool open = span->flags & TRACE_SPAN_OPEN;

	c->sums.parts_known |= sign != SIGN_NONE;
	if (sign == SIGN_CODEGEN) {
		if (span->start_ns < c->codegen_ns)
			c->codegen_ns = span->start_ns;
		if (span->end_ns > c->codegen_end_ns)
			c->codegen_end_ns = span->end_ns;
	} else if (sign == SIGN_LINK) {
		if (span->start_ns < c->link_ns)
			c->link_ns = span->start_ns;
		if (span->end_ns > c->link_end_ns)
			c->link_end_ns = span->end_ns;
		c->linking |= open;
	} else if (sign == SIGN_METADATA && !open) {
		c->metadata_ns = span->end_ns;
	}
}

/* Record an open span. Children come before their parents, so the innermost span is first. */
static int take_open(struct build *b, struct thread *t, const struct trace_span *span)
{
	struct build_thread *in;

	if (t->interrupted == U64_MAP_NONE) {
		if (array__reserve_one(&b->interrupted, b->n_interrupted, &b->interrupted_capacity,
				       sizeof(*b->interrupted)))
			return -ENOMEM;
		t->interrupted = b->n_interrupted++;
		b->interrupted[t->interrupted] = (struct build_thread){
			.process = t->process,
			.tid = t->tid,
		};
	}
	in = &b->interrupted[t->interrupted];
	if (in->n_open == BUILD_OPEN_MOST)
		in->more++;
	else
		in->open[in->n_open++] =
			(struct build_open){span->label, span->kind, span->end_ns - span->start_ns};
	return 0;
}

void build__results(struct build *b, uint32_t process, uint64_t n)
{
	struct compiler *c = process < b->n_compilers ? &b->compilers[process] : NULL;

	if (!c)
		return;
	c->sums.results = c->counted ? c->sums.results + n : n;
	c->counted = true;
}

int build__span(struct build *b, const struct trace_span *span)
{
	struct compiler *c;
	struct thread *t;
	enum sign sign;

	if (span->process >= b->n_compilers || span->end_ns < span->start_ns)
		return -EINVAL;
	c = &b->compilers[span->process];
	t = get_thread(b, span->process, span->tid);
	if (!t)
		return -ENOMEM;
	if (span->start_ns < t->start_ns)
		t->start_ns = span->start_ns;
	if (span->end_ns > t->end_ns)
		t->end_ns = span->end_ns;
	if (span->kind == TRACE_KIND_OFF_CPU) {
		if (find_sign(b, span->label, &sign))
			return -ENOMEM;
		b->totals.off_cpu_known = true;
		t->off_ns += span->end_ns - span->start_ns;
		if (sign != SIGN_PREEMPTED)
			return wait_track__wait(&t->waits, span);
		c->sums.preempted_ns += span->end_ns - span->start_ns;
		return 0;
	}
	c->sums.intervals++;
	wait_track__span(&t->waits, span, &c->sums.waits);
	if (span->kind == TRACE_KIND_QUERY) {
		c->sums.executions++;
		/* Where no table was read: numbers are given in the order of the ends. */
		if (!c->counted && trace_span__has_number(span) &&
		    span->invocation >= c->sums.results)
			c->sums.results = span->invocation + 1UL;
	} else if (span->kind == TRACE_KIND_BLOCKED) {
		c->sums.blocked_ns += span->end_ns - span->start_ns;
	} else if (span->kind == TRACE_KIND_ACTIVITY) {
		if (find_sign(b, span->label, &sign))
			return -ENOMEM;
		take_phase(c, span, sign);
	}
	return span->flags & TRACE_SPAN_OPEN ? take_open(b, t, span) : 0;
}

int build__sample(struct build *b, const struct trace_sample *sample)
{
	uint64_t end_ns = trace_sample__end_ns(sample), *last_ns;

	if (sample->process >= b->n_compilers)
		return -EINVAL;
	last_ns = &b->compilers[sample->process].sums.end_ns;
	*last_ns = end_ns > *last_ns ? end_ns : *last_ns;
	return 0;
}

static uint64_t clamp(uint64_t ns, uint64_t from, uint64_t to)
{
	return ns < from ? from : ns > to ? to : ns;
}

/* Fill in the times of a compiler. `end_ns` holds the end of its last span or sample so far. */
static void end_compiler(struct compiler *c)
{
	struct build_process *s = &c->sums;
	const struct trace_process *p = &c->process;
	bool links = c->link_ns != UINT64_MAX, generates = c->codegen_ns != UINT64_MAX;
	uint64_t codegen = c->codegen_ns, link = c->link_ns, exit;

	s->start_ns = p->start_ns;
	if (p->end_ns)
		s->end_ns = p->end_ns;
	if (s->end_ns < s->start_ns)
		s->end_ns = s->start_ns;
	/* Attached during codegen, and no codegen interval ended before the link. */
	if (p->attached_late && !generates && links)
		s->parts_known = false;
	s->compiles = !compile_is_doctest(p) && !compile_only_lists(p) &&
		      (s->executions || !compile_only_queries(p));
	if (c->metadata_ns > s->start_ns && compile_emits_metadata(p))
		s->metadata_ns = c->metadata_ns - s->start_ns;

	/*
	 * A part starts where it was seen, but not before the previous part. Without a link,
	 * codegen ends at its last activity; without either, all is front end.
	 */
	exit = s->end_ns;
	if (!links)
		link = generates ? c->codegen_end_ns : s->end_ns;
	if (!generates)
		codegen = link;
	if (links && !c->linking)
		exit = c->link_end_ns;
	else if (!links)
		exit = link;
	codegen = clamp(codegen, s->start_ns, s->end_ns);
	link = clamp(link, codegen, s->end_ns);
	exit = clamp(exit, link, s->end_ns);
	s->part_ns[BUILD_FRONT_END] = codegen - s->start_ns;
	s->part_ns[BUILD_CODEGEN] = link - codegen;
	s->part_ns[BUILD_LINK] = exit - link;
	s->part_ns[BUILD_EXIT] = s->end_ns - exit;
}

static void add_totals(struct build_totals *all, const struct build_process *s)
{
	int32_t status = s->process->exit_status;

	all->compiler_ns += s->end_ns - s->start_ns;
	all->intervals += s->intervals;
	all->late += s->process->attached_late;
	all->preempted_ns += s->preempted_ns;
	all->waits.in_queries += s->waits.in_queries;
	all->waits.in_passes += s->waits.in_passes;
	all->waits.in_neither += s->waits.in_neither;
	all->blocked_ns += s->blocked_ns;
	all->executions += s->executions;
	all->compiles += s->compiles;
	if (s->compiles) {
		all->memory_kills += s->process->kill == TRACE_KILL_MEMORY;
		all->unended += status == TRACE_EXIT_UNKNOWN;
		all->killed += status != TRACE_EXIT_UNKNOWN && WIFSIGNALED(status);
		all->failed += status != TRACE_EXIT_UNKNOWN && !WIFSIGNALED(status) &&
			       WEXITSTATUS(status) != 0;
	} else if (compile_is_doctest(s->process)) {
		all->doctests++;
	} else if (compile_only_lists(s->process)) {
		all->listed++;
	} else {
		all->asked++;
	}
}

/* The crate and its -C metadata, which a cache passes on when it asks for a list. */
static uint64_t crate_hash(const struct trace_process *p)
{
	struct word metadata = command_line__codegen(command_line_joined(p->command), "metadata");

	return map_hash(p->crate ?: "", strlen(p->crate ?: "")) * 31 +
	       map_hash(metadata.at ?: "", metadata.len);
}

static int count_cached(struct build *b)
{
	struct u64_map compiled = {};
	int err = 0;

	for (uint32_t i = 0; i < b->n_compilers && !err; i++)
		if (b->processes[i].compiles)
			err = u64_map__put(&compiled, crate_hash(b->processes[i].process), 0);
	for (uint32_t i = 0; i < b->n_compilers && !err; i++) {
		const struct trace_process *p = b->processes[i].process;
		uint64_t hash = crate_hash(p);

		if (!compile_only_lists(p) || u64_map__get(&compiled, hash) != U64_MAP_NONE)
			continue;
		b->totals.cached++;
		err = u64_map__put(&compiled, hash, 0);
	}
	u64_map__destroy(&compiled);
	return err;
}

static int find_running(struct build *b)
{
	_free_ struct running_interval *intervals =
		calloc(b->n_compilers + 1UL, sizeof(*intervals));

	if (!intervals)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_compilers; i++)
		intervals[i] = (struct running_interval){
			.start_ns = b->processes[i].start_ns,
			.end_ns = b->processes[i].end_ns,
		};
	if (running__of(&b->totals.running, intervals, b->n_compilers))
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_compilers; i++)
		b->processes[i].alone_ns = intervals[i].alone_ns;
	return 0;
}

int build__end(struct build *b)
{
	uint32_t used = 0;

	b->processes = calloc(b->n_compilers + 1UL, sizeof(*b->processes));
	if (!b->processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->threads.n; i++) {
		struct thread *t = &b->threads.at[i];
		struct build_process *s = &b->compilers[t->process].sums;
		uint64_t ns = t->end_ns > t->start_ns ? t->end_ns - t->start_ns : 0;

		if (t->end_ns > s->end_ns)
			s->end_ns = t->end_ns;
		s->cpu_ns += ns > t->off_ns ? ns - t->off_ns : 0;
		wait_track__end(&t->waits, &s->waits);
		if (t->interrupted != U64_MAP_NONE)
			b->interrupted[t->interrupted].name = t->name;
	}
	for (uint32_t i = 0; i < b->n_compilers; i++) {
		struct compiler *c = &b->compilers[i];

		end_compiler(c);
		b->processes[i] = c->sums;
		b->processes[i].process = &c->process;
		add_totals(&b->totals, &b->processes[i]);
	}
	/* Only the open spans of compilers that did not exit by themselves matter. */
	for (uint32_t i = 0; i < b->n_interrupted; i++) {
		int32_t status = b->compilers[b->interrupted[i].process].process.exit_status;

		if (status == TRACE_EXIT_UNKNOWN || WIFSIGNALED(status))
			b->interrupted[used++] = b->interrupted[i];
	}
	b->n_interrupted = used;
	return count_cached(b) ?: find_running(b);
}

int build__set_whole(struct build *part, const struct build *whole)
{
	uint32_t at = 0;

	part->is_part = true;
	if (!whole)
		return 0;
	part->in_part = calloc(whole->n_compilers + 1UL, sizeof(*part->in_part));
	if (!part->in_part)
		return -ENOMEM;
	part->whole = whole;
	/* Those of the part come in the same order. */
	for (uint32_t i = 0; i < whole->n_compilers && at < part->n_compilers; i++) {
		const struct trace_process *p = &whole->compilers[i].process;
		struct build_process *own = &part->processes[at];

		if (p->pid != own->process->pid || p->start_ns != own->process->start_ns)
			continue;
		own->alone_ns = whole->processes[i].alone_ns;
		part->in_part[i] = true;
		at++;
	}
	return 0;
}

const struct build *build__whole(const struct build *b)
{
	return b->is_part ? b->whole : b;
}

bool build__has(const struct build *b, uint32_t index)
{
	return !b->in_part || (index < b->whole->n_compilers && b->in_part[index]);
}

const struct build_totals *build__totals(const struct build *b)
{
	return &b->totals;
}

const struct build_process *build__processes(const struct build *b, uint32_t *n)
{
	*n = b->n_compilers;
	return b->processes;
}

bool build__cpu_ns(const struct build *b, const struct samples *samples,
		   const struct build_process *p, uint64_t *ns)
{
	uint64_t sampled =
		samples ? samples__process(samples, p->process->index)[TRACE_SAMPLE_CPU].value : 0;

	*ns = 0;
	if (p->process->cpu_ns && !p->process->attached_late)
		*ns = p->process->cpu_ns;
	else if (b->totals.off_cpu_known)
		/* A thread that meets no probe after it was attached to is only in samples. */
		*ns = p->process->attached_late && sampled > p->cpu_ns ? sampled : p->cpu_ns;
	else if (samples)
		*ns = sampled;
	else
		*ns = p->process->cpu_ns;
	return *ns || b->totals.off_cpu_known || samples;
}

const struct build_thread *build__interrupted(const struct build *b, uint32_t *n)
{
	*n = b->n_interrupted;
	return b->interrupted;
}

void build__free(struct build *b)
{
	struct waits none = {0};

	if (!b)
		return;
	for (uint32_t i = 0; i < b->threads.n; i++) {
		wait_track__end(&b->threads.at[i].waits, &none);
		free(b->threads.at[i].name);
	}
	free(b->compilers);
	table__destroy(&b->threads);
	free(b->interrupted);
	free(b->processes);
	free(b->in_part);
	running__destroy(&b->totals.running);
	u64_map__destroy(&b->sign_of);
	free(b);
}
