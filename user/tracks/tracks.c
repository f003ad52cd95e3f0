// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/tracks.h"

#include <errno.h>
#include <string.h>

/* A span's kind is copied as a number. */
_Static_assert((int)WIRE_KIND_QUERY == (int)TRACE_KIND_QUERY, "kind");
_Static_assert((int)WIRE_KIND_ACTIVITY == (int)TRACE_KIND_ACTIVITY, "kind");
_Static_assert((int)WIRE_KIND_BLOCKED == (int)TRACE_KIND_BLOCKED, "kind");
_Static_assert((int)WIRE_KIND_LOAD == (int)TRACE_KIND_LOAD, "kind");
_Static_assert((int)WIRE_KIND_HASHING == (int)TRACE_KIND_HASHING, "kind");

int tracks__new(const struct tracks_sink *sink, struct tracks **out)
{
	_tracks_ struct tracks *t = calloc(1, sizeof(*t));

	if (!t || self_time__new(&t->self_time) || caller_index__new(&t->callers))
		return -ENOMEM;
	t->sink = *sink;
	images__init(&t->images, &t->sink, t->self_time);
	interval_labels__init(&t->labels, &t->sink, t->libraries);
	memset(t->off_cpu, 0xff, sizeof(t->off_cpu)); /* TRACKS_NO_LABEL */
	*out = take_ptr(t);
	return 0;
}

static struct samples_context context_of(struct tracks *t)
{
	return (struct samples_context){
		.sink = &t->sink,
		.libraries = t->libraries,
		.labels = &t->labels,
		.callers = t->callers,
		.images = &t->images,
	};
}

int tracks__release_samples(struct tracks *t)
{
	const struct samples_context context = context_of(t);

	return samples__release(&t->samples, &context);
}

int tracks__set_library(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			const char *build_id, const char *rustc_version)
{
	int err = t->libraries[lib].labels ? tracks__release_samples(t) : 0;

	err = err ?: images__leave(&t->images, &t->libraries[lib]);
	err = err ?: library__set(&t->libraries[lib], labels, n_labels, build_id, rustc_version);
	if (err)
		return err;
	t->libraries[lib].serial = ++t->last_serial;
	samples__forget(&t->samples);
	return 0;
}

uint32_t tracks__label(const struct tracks *t, const struct wire_open_frame *f)
{
	const struct library *lib = &t->libraries[f->lib];
	uint32_t id;

	if (f->kind == WIRE_KIND_QUERY)
		return f->query < lib->n_labels ? lib->labels[f->query] : TRACKS_NO_LABEL;
	if (!f->label)
		return f->query < lib->n_guards ? lib->guards[f->query] : TRACKS_NO_LABEL;
	id = dynamic_labels__id(&t->labels.dynamic, f->label);
	return id == DYNAMIC_LABEL_UNWANTED ? TRACKS_NO_LABEL : id;
}

int tracks__settle(struct tracks *t)
{
	return tracks__release_samples(t) ?: images__settle(&t->images);
}

void tracks__set_functions(struct tracks *t, uint8_t lib, const struct tracks_functions *functions)
{
	t->libraries[lib].functions = functions;
	samples__forget(&t->samples);
}

int tracks__set_file(struct tracks *t, uint32_t number, const struct tracks_functions *functions)
{
	int err = samples__has_file(&t->samples, number) ? tracks__release_samples(t) : 0;

	return err ?: samples__set_file(&t->samples, number, functions);
}

int tracks__set_frames(struct tracks *t, uint8_t lib, const struct plan *plan)
{
	samples__forget(&t->samples);
	return library__set_frames(&t->libraries[lib], plan);
}

struct trace_losses tracks__losses(const struct tracks *t,
				   const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct trace_losses losses = kernel_losses(counters);

	losses.count[TRACE_COUNT_NO_CALLER] += caller_index__unplaced(t->callers);
	losses.count[TRACE_COUNT_NO_NAMES] = t->n_names_missing;
	losses.count[TRACE_COUNT_NO_LLVM] += t->samples.n_unnamed;
	losses.count[TRACE_COUNT_NO_RESULTS] = t->images.n_uncounted;
	return losses;
}

static int on_thread(struct tracks *t, const struct wire_thread *r)
{
	struct trace_thread thread = {.tid = r->tid, .name = r->name};
	struct image *image;
	int err = 0;

	if (r->name[sizeof(r->name) - 1])
		return -EBADMSG;
	image = images__in_trace(&t->images, r->pid, r->time_ns, &err);
	if (!image || !t->sink.thread)
		return err;
	thread.process = image->p.index;
	return t->sink.thread(t->sink.ctx, &thread);
}

/* Set *caller to the locindex of a span's caller, after giving its function to the sink if new. */
static int locate_caller(struct tracks *t, const struct wire_span *r, uint32_t *caller)
{
	const struct library *lib = &t->libraries[r->lib];
	struct trace_function f;
	uint32_t addr = r->kind == WIRE_KIND_QUERY ? r->caller : 0;
	int err = caller_index__get(t->callers, lib->functions, addr, caller, &f);
	_free_ char *name = (char *)f.name;

	if (err || !name || !t->sink.function)
		return err;
	return t->sink.function(t->sink.ctx, lib->functions->file, &f);
}

static int give(struct tracks *t, const struct trace_span *span)
{
	struct trace_times times;
	int err = self_time__span(t->self_time, span, &times);

	return err || !t->sink.span ? err : t->sink.span(t->sink.ctx, span, &times);
}

/* A dynamic label's guard, whose number is not in the span, has no argument. */
static bool is_argued(const struct library *lib, const struct wire_span *r)
{
	return lib->argued && !r->label && r->query < lib->n_guards && lib->argued[r->query];
}

static int note_argument(struct tracks *t, const struct library *lib, struct image *image,
			 const struct wire_span *r, uint32_t *invocation)
{
	const struct argument *a = guard_arguments__at(&t->arguments, r->key);

	if (!a) {
		t->unread_arguments += is_argued(lib, r);
		return 0;
	}
	image->library = lib;
	image->library_serial = lib->serial;
	if (a->span)
		return keys__note_part(&image->keys, a->string - 1, a->span, invocation);
	return keys__note_text(&image->keys, a->string - 1, invocation);
}

/* Remember what an execution was about. It may get an invocation id of its own. */
static int note_key(struct tracks *t, const struct library *lib, struct image *image,
		    const struct wire_span *r, uint32_t *invocation)
{
	uint64_t key = r->key;
	int err;

	if (lib->keys && r->kind == WIRE_KIND_ACTIVITY)
		return note_argument(t, lib, image, r, invocation);
	if (!lib->keys || r->kind != WIRE_KIND_QUERY)
		return 0;
	err = images__on_query(&t->images, image, r->start_ns);
	if (err)
		return err;
	/* The ids of another context are those of the first, which the trace maps already. */
	if (image->has_another)
		*invocation = TRACE_NO_INVOCATION;
	if (lib->keys[r->query] == WIRE_KEY_UNIT)
		key = KEY_UNIT;
	image->library = lib;
	image->library_serial = lib->serial;
	return keys__note(&image->keys, key, invocation);
}

static int on_span(struct tracks *t, const struct wire_span *r)
{
	const struct interval_named named = {r->lib, r->kind, r->query, r->label};
	struct image *image;
	struct trace_span span;
	uint32_t label;
	int err = 0;

	if (r->end_ns < r->start_ns || r->kind >= WIRE_KIND_MAX || !t->libraries[r->lib].labels)
		return -EBADMSG;
	err = interval_labels__of(&t->labels, named, &label);
	if (err || label == DYNAMIC_LABEL_UNWANTED)
		return err;
	image = images__of(&t->images, r->pid, &t->libraries[r->lib], r->start_ns, &err);
	if (!image)
		return err;
	if (r->kind == WIRE_KIND_LOAD &&
	    results__load(&image->results, &t->libraries[r->lib], r->query))
		return -ENOMEM;
	if (t->expects_hits && r->kind == WIRE_KIND_QUERY &&
	    executions__note(&image->executions, r->invocation, r->query))
		return -ENOMEM;
	span = (struct trace_span){
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.process = image->p.index,
		.tid = r->tid,
		.label = label,
		.invocation =
			r->invocation == WIRE_NO_INVOCATION ? TRACE_NO_INVOCATION : r->invocation,
		.depth = r->depth,
		.flags = (r->flags & WIRE_SPAN_UNWOUND ? TRACE_SPAN_UNWOUND : 0) |
			 (r->flags & WIRE_SPAN_LEFT ? TRACE_SPAN_LEFT : 0) |
			 (r->flags & WIRE_SPAN_OPEN ? TRACE_SPAN_OPEN : 0),
		.kind = r->kind,
	};
	err = note_key(t, &t->libraries[r->lib], image, r, &span.invocation)
		      ?: locate_caller(t, r, &span.caller);
	return err ?: give(t, &span);
}

static int on_hit(struct tracks *t, const struct wire_hit *r)
{
	const struct library *lib = &t->libraries[r->lib];
	struct trace_span span = {
		.start_ns = r->time_ns,
		.end_ns = r->time_ns,
		.tid = r->tid,
		.invocation = r->invocation,
		.depth = r->depth,
		.kind = TRACE_KIND_HIT,
	};
	struct image *image;
	uint16_t query;
	int err = 0;

	if (!lib->labels)
		return -EBADMSG;
	image = images__of(&t->images, r->pid, lib, r->time_ns, &err);
	if (!image)
		return err;
	span.process = image->p.index;
	query = executions__query(&image->executions, r->invocation);
	if (query < lib->n_labels) {
		span.label = lib->labels[query];
	} else {
		t->unknown_hits++;
		err = interval_labels__unknown(&t->labels, &span.label);
	}
	return err ?: give(t, &span);
}

/* The record names no library: whether the image has spans of one stays as it is. */
static int on_off_cpu(struct tracks *t, const struct wire_off_cpu *r)
{
	struct trace_span span = off_cpu__span(r);
	const char *text = off_cpu__text(r);
	struct image *image;
	int err = 0;

	if (!text || !t->sink.label)
		return -EBADMSG;
	if (t->off_cpu[r->reason] == TRACKS_NO_LABEL)
		err = t->sink.label(t->sink.ctx, text, &t->off_cpu[r->reason]);
	if (err)
		return err;
	image = images__in_trace(&t->images, r->pid, r->start_ns, &err);
	if (!image)
		return err;
	span.process = image->p.index;
	span.label = t->off_cpu[r->reason];
	return give(t, &span);
}

static int on_piece(struct tracks *t, const struct wire_piece *r)
{
	struct image *image = images__find(&t->images, r->pid);

	switch (r->table) {
	case WIRE_TABLE_DEFINITIONS:
		return image ? definitions__add(&image->definitions, r) : 0;
	case WIRE_TABLE_SPANS:
	case WIRE_TABLE_INTERNED:
	case WIRE_TABLE_FILES:
	case WIRE_TABLE_LINES:
	case WIRE_TABLE_CONTEXTS:
	case WIRE_TABLE_EXPANSIONS:
		return image ? sources__add(&image->sources, r) : 0;
	case WIRE_TABLE_CRATES:
		return image ? crates__add(&image->crates, r) : 0;
	case WIRE_TABLE_RESULTS:
		return image ? results__add_keys(&image->results, &t->libraries[r->lib], r) : 0;
	case WIRE_TABLE_INSTANCES:
		return images__on_instances(&t->images, r, &t->libraries[r->lib]);
	case WIRE_TABLE_KEYS:
		return image ? crates__add_keys(&image->crates, &t->libraries[r->lib].layout, r)
			     : 0;
	default:
		return -EBADMSG;
	}
}

static int on_names_end(struct tracks *t, const struct wire_names_end *r)
{
	struct image *image = images__find(&t->images, r->pid);
	const struct library *lib = &t->libraries[r->lib];
	bool named = image && image->finished && !image->uncopied;
	int err = 0;

	t->n_names_missing += r->missing;
	if (!image)
		return 0;
	image->finished = r->moment == WIRE_COUNTS_FINISHED;
	image->uncopied = r->uncopied;
	if (r->moment == WIRE_COUNTS_DROPPED) {
		image->dropped_ns = r->time_ns;
		/* Those of the next context have the same numbers. */
		jobs__clear(&image->jobs);
		err = images__on_drop(&t->images, image, lib);
	}
	return err || named ? err : images__on_names(&t->images, image, lib);
}

int tracks__take(struct tracks *t, const struct record *r)
{
	const struct samples_context context = context_of(t);
	struct image *image;

	switch (r->kind) {
	case WIRE_SPAN:
		return on_span(t, r->span);
	case WIRE_FORK:
		return images__on_fork(&t->images, r->fork);
	case WIRE_EXEC:
		return images__on_exec(&t->images, r->exec, r->exec->args);
	case WIRE_EXIT:
		return images__on_exit(&t->images, r->exit);
	case WIRE_LABEL:
		return dynamic_labels__record(&t->labels.dynamic, &t->sink, r->label);
	case WIRE_THREAD:
		return on_thread(t, r->thread);
	case WIRE_HIT:
		return on_hit(t, r->hit);
	case WIRE_OFF_CPU:
		return on_off_cpu(t, r->off_cpu);
	case WIRE_PIECE:
		return on_piece(t, r->piece);
	case WIRE_ARGUMENT:
		return guard_arguments__record(&t->arguments, &t->sink, r->argument);
	case WIRE_SAMPLE:
		return samples__record(&t->samples, &context, r->sample);
	case WIRE_COUNTS:
		return images__on_counts(&t->images, r->counts, &t->libraries[r->counts->lib]);
	case WIRE_NAMES_END:
		return on_names_end(t, r->names_end);
	case RECORD_RUNNING:
		return images__adopt(&t->images, r->pid, (uint32_t)r->running.parent,
				     r->running.now_ns, r->running.args->bytes,
				     r->running.args->size, r->running.args->cut);
	case RECORD_LATE:
		return images__late(&t->images, r->pid);
	case RECORD_CWD:
		return images__cwd(&t->images, r->pid, r->text);
	case RECORD_LLVM:
		return samples__set_llvm(&t->samples, r->file.number, r->file.llvm);
	case RECORD_NO_LLVM:
		return images__no_llvm(&t->images, r->pid, r->text);
	default:
		break;
	}
	/* The other ones are about a process that is known. */
	image = images__find(&t->images, r->pid);
	switch (r->kind) {
	case WIRE_SYMBOLS:
		return image ? definitions__add_symbols(&image->definitions, r->symbols) : 0;
	case WIRE_FED:
		return image ? results__fed(&image->results, &t->libraries[r->fed->lib], r->fed)
			     : 0;
	case WIRE_LLVM_NAME:
		return llvm_names__record(image ? &image->llvm : NULL,
					  image ? &image->symbols : NULL, &t->sink, r->llvm_name);
	case WIRE_JOB:
		/* The image is put into the trace by the sample that comes next. */
		return image && t->libraries[r->job->lib].labels ? jobs__note(&image->jobs, r->job)
								 : 0;
	default:
		return -EBADMSG;
	}
}

void tracks__free(struct tracks *t)
{
	if (!t)
		return;
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		library__clear(&t->libraries[i]);
	images__destroy(&t->images);
	interval_labels__clear(&t->labels);
	samples__clear(&t->samples);
	guard_arguments__clear(&t->arguments);
	self_time__free(t->self_time);
	caller_index__free(t->callers);
	free(t);
}

/* ---- Losses of the kernel half --------------------------------------------------------------- */

struct trace_losses kernel_losses(const uint64_t counters[WIRE_COUNTER_MAX])
{
	static const enum wire_counter from[TRACE_LOSS_MAX] = {
		[TRACE_LOST_RING_FULL] = WIRE_LOST_RING_FULL,
		[TRACE_LOST_STACK_FULL] = WIRE_LOST_STACK_FULL,
		[TRACE_LOST_NO_STORAGE] = WIRE_LOST_NO_STORAGE,
		[TRACE_LOST_RECURSION] = WIRE_LOST_RECURSION,
		[TRACE_LOST_PROCESS_RECORD] = WIRE_LOST_PROCESS_RECORD,
		[TRACE_LOST_TARGETS_FULL] = WIRE_LOST_TARGETS_FULL,
		[TRACE_DROP_END_WITHOUT_START] = WIRE_DROP_END_WITHOUT_START,
		[TRACE_COUNT_UNWOUND] = WIRE_COUNT_UNWOUND,
		[TRACE_COUNT_LEFT] = WIRE_COUNT_LEFT,
		[TRACE_COUNT_OPEN] = WIRE_COUNT_OPEN,
		[TRACE_LOST_UNKNOWN_PROVIDER] = WIRE_DROP_UNKNOWN_PROVIDER,
		[TRACE_COUNT_HITS] = WIRE_COUNT_HITS,
		[TRACE_COUNT_HITS_OTHER] = WIRE_COUNT_HITS_OTHER,
		[TRACE_COUNT_NO_LABEL] = WIRE_COUNT_NO_LABEL,
		[TRACE_COUNT_NO_CALLER] = WIRE_COUNT_NO_CALLER,
		[TRACE_LOST_MAPPINGS] = WIRE_LOST_MAPPINGS,
		[TRACE_LOST_COMPILERS] = WIRE_LOST_COMPILERS,
		[TRACE_COUNT_NO_JOB] = WIRE_LOST_JOBS,
		[TRACE_COUNT_NO_LLVM] = WIRE_LOST_LLVM,
	};
	_Static_assert(TRACE_COUNT_NO_LLVM == TRACE_LOSS_MAX - 1, "a cause without a counter");
	struct trace_losses losses;

	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		losses.count[i] = counters[from[i]];
	losses.count[TRACE_LOST_BAD_RECORD] = 0;
	losses.count[TRACE_COUNT_NO_NAMES] = 0;
	losses.count[TRACE_COUNT_NO_RESULTS] = 0;
	losses.count[TRACE_COUNT_NO_SAMPLE] = counters[WIRE_LOST_SAMPLES_RING] +
					      counters[WIRE_LOST_SAMPLES_NESTED] +
					      counters[WIRE_LOST_SAMPLES_CPU];
	return losses;
}

/* ---- Times off the CPU ----------------------------------------------------------------------- */

const char *off_cpu__text(const struct wire_off_cpu *r)
{
	static const char *const texts[WIRE_OFF_MAX] = {
		[WIRE_OFF_PREEMPTED] = TRACE_OFF_PREEMPTED,
		[WIRE_OFF_WAITING] = TRACE_OFF_WAITING,
		[WIRE_OFF_UNINTERRUPTIBLE] = TRACE_OFF_UNINTERRUPTIBLE,
	};
	const wire_u32 flags = WIRE_SPAN_OPEN | WIRE_SPAN_LEFT;

	if (r->end_ns < r->start_ns || r->flags & ~flags || r->reason >= WIRE_OFF_MAX)
		return NULL;
	return texts[r->reason];
}

struct trace_span off_cpu__span(const struct wire_off_cpu *r)
{
	return (struct trace_span){
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.tid = r->tid,
		.invocation = TRACE_NO_INVOCATION,
		.depth = r->depth,
		.flags = (r->flags & WIRE_SPAN_LEFT ? TRACE_SPAN_LEFT : 0) |
			 (r->flags & WIRE_SPAN_OPEN ? TRACE_SPAN_OPEN : 0),
		.kind = TRACE_KIND_OFF_CPU,
	};
}
