// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/decoder.h"

#include <errno.h>
#include <string.h>

/* A span's kind is copied as a number. */
_Static_assert((int)WIRE_KIND_QUERY == (int)TRACE_KIND_QUERY, "kind");
_Static_assert((int)WIRE_KIND_ACTIVITY == (int)TRACE_KIND_ACTIVITY, "kind");
_Static_assert((int)WIRE_KIND_BLOCKED == (int)TRACE_KIND_BLOCKED, "kind");
_Static_assert((int)WIRE_KIND_LOAD == (int)TRACE_KIND_LOAD, "kind");
_Static_assert((int)WIRE_KIND_HASHING == (int)TRACE_KIND_HASHING, "kind");

int decoder__new(const struct decoder_sink *sink, struct decoder **out)
{
	_decoder_ struct decoder *d = calloc(1, sizeof(*d));

	if (!d || self_time__new(&d->self_time) || caller_index__new(&d->callers))
		return -ENOMEM;
	d->sink = *sink;
	images__init(&d->images, &d->sink, d->self_time);
	interval_labels__init(&d->labels, &d->sink, d->libraries);
	memset(d->off_cpu, 0xff, sizeof(d->off_cpu)); /* DECODER_NO_LABEL */
	*out = take_ptr(d);
	return 0;
}

static struct samples_context context_of(struct decoder *d)
{
	return (struct samples_context){
		.sink = &d->sink,
		.libraries = d->libraries,
		.labels = &d->labels,
		.callers = d->callers,
		.images = &d->images,
	};
}

int decoder__release_samples(struct decoder *d)
{
	const struct samples_context context = context_of(d);

	return samples__release(&d->samples, &context);
}

int decoder__set_library(struct decoder *d, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			 const char *build_id, const char *rustc_version)
{
	int err = d->libraries[lib].labels ? decoder__release_samples(d) : 0;

	err = err ?: images__leave(&d->images, &d->libraries[lib]);
	err = err ?: library__set(&d->libraries[lib], labels, n_labels, build_id, rustc_version);
	if (err)
		return err;
	d->libraries[lib].serial = ++d->last_serial;
	samples__forget(&d->samples);
	return 0;
}

uint32_t decoder__label(const struct decoder *d, const struct wire_open_frame *f)
{
	const struct library *lib = &d->libraries[f->lib];
	uint32_t id;

	if (f->kind == WIRE_KIND_QUERY)
		return f->query < lib->n_labels ? lib->labels[f->query] : DECODER_NO_LABEL;
	if (!f->label)
		return f->query < lib->n_guards ? lib->guards[f->query] : DECODER_NO_LABEL;
	id = dynamic_labels__id(&d->labels.dynamic, f->label);
	return id == DYNAMIC_LABEL_UNWANTED ? DECODER_NO_LABEL : id;
}

int decoder__settle(struct decoder *d)
{
	return decoder__release_samples(d) ?: images__settle(&d->images);
}

void decoder__set_functions(struct decoder *d, uint8_t lib,
			    const struct decoder_functions *functions)
{
	d->libraries[lib].functions = functions;
	samples__forget(&d->samples);
}

int decoder__set_file(struct decoder *d, uint32_t number, const struct decoder_functions *functions)
{
	int err = samples__has_file(&d->samples, number) ? decoder__release_samples(d) : 0;

	return err ?: samples__set_file(&d->samples, number, functions);
}

int decoder__set_frames(struct decoder *d, uint8_t lib, const struct plan *plan)
{
	samples__forget(&d->samples);
	return library__set_frames(&d->libraries[lib], plan);
}

struct trace_losses decoder__losses(const struct decoder *d,
				    const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct trace_losses losses = kernel_losses(counters);

	losses.count[TRACE_COUNT_NO_CALLER] += caller_index__unplaced(d->callers);
	losses.count[TRACE_COUNT_NO_NAMES] = d->n_names_missing;
	losses.count[TRACE_COUNT_NO_LLVM] += d->samples.n_unnamed;
	losses.count[TRACE_COUNT_NO_RESULTS] = d->images.n_uncounted;
	return losses;
}

static int on_thread(struct decoder *d, const struct wire_thread *r)
{
	struct trace_thread thread = {.tid = r->tid, .name = r->name};
	struct image *image;
	int err = 0;

	if (r->name[sizeof(r->name) - 1])
		return -EBADMSG;
	image = images__in_trace(&d->images, r->pid, r->time_ns, &err);
	if (!image || !d->sink.thread)
		return err;
	thread.process = image->p.index;
	return d->sink.thread(d->sink.ctx, &thread);
}

/* Set *caller to the locindex of a span's caller, after giving its function to the sink if new. */
static int locate_caller(struct decoder *d, const struct wire_span *r, uint32_t *caller)
{
	const struct library *lib = &d->libraries[r->lib];
	struct trace_function f;
	uint32_t addr = r->kind == WIRE_KIND_QUERY ? r->caller : 0;
	int err = caller_index__get(d->callers, lib->functions, addr, caller, &f);
	_free_ char *name = (char *)f.name;

	if (err || !name || !d->sink.function)
		return err;
	return d->sink.function(d->sink.ctx, lib->functions->file, &f);
}

static int give(struct decoder *d, const struct trace_span *span)
{
	struct trace_times times;
	int err = self_time__span(d->self_time, span, &times);

	return err || !d->sink.span ? err : d->sink.span(d->sink.ctx, span, &times);
}

/* A dynamic label's guard, whose number is not in the span, has no argument. */
static bool is_argued(const struct library *lib, const struct wire_span *r)
{
	return lib->argued && !r->label && r->query < lib->n_guards && lib->argued[r->query];
}

static int note_argument(struct decoder *d, const struct library *lib, struct image *image,
			 const struct wire_span *r, uint32_t *invocation)
{
	const struct argument *a = guard_arguments__at(&d->arguments, r->key);

	if (!a) {
		d->unread_arguments += is_argued(lib, r);
		return 0;
	}
	image->library = lib;
	image->library_serial = lib->serial;
	if (a->span)
		return keys__note_part(&image->keys, a->string - 1, a->span, invocation);
	return keys__note_text(&image->keys, a->string - 1, invocation);
}

/* Remember what an execution was about. It may get an invocation id of its own. */
static int note_key(struct decoder *d, const struct library *lib, struct image *image,
		    const struct wire_span *r, uint32_t *invocation)
{
	uint64_t key = r->key;
	int err;

	if (lib->keys && r->kind == WIRE_KIND_ACTIVITY)
		return note_argument(d, lib, image, r, invocation);
	if (!lib->keys || r->kind != WIRE_KIND_QUERY)
		return 0;
	err = images__on_query(&d->images, image, r->start_ns);
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

static int on_span(struct decoder *d, const struct wire_span *r)
{
	const struct interval_named named = {r->lib, r->kind, r->query, r->label};
	struct image *image;
	struct trace_span span;
	uint32_t label;
	int err = 0;

	if (r->end_ns < r->start_ns || r->kind >= WIRE_KIND_MAX || !d->libraries[r->lib].labels)
		return -EBADMSG;
	err = interval_labels__of(&d->labels, named, &label);
	if (err || label == DYNAMIC_LABEL_UNWANTED)
		return err;
	image = images__of(&d->images, r->pid, &d->libraries[r->lib], r->start_ns, &err);
	if (!image)
		return err;
	if (r->kind == WIRE_KIND_LOAD &&
	    results__load(&image->results, &d->libraries[r->lib], r->query))
		return -ENOMEM;
	if (d->expects_hits && r->kind == WIRE_KIND_QUERY &&
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
	err = note_key(d, &d->libraries[r->lib], image, r, &span.invocation)
		      ?: locate_caller(d, r, &span.caller);
	return err ?: give(d, &span);
}

static int on_hit(struct decoder *d, const struct wire_hit *r)
{
	const struct library *lib = &d->libraries[r->lib];
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
	image = images__of(&d->images, r->pid, lib, r->time_ns, &err);
	if (!image)
		return err;
	span.process = image->p.index;
	query = executions__query(&image->executions, r->invocation);
	if (query < lib->n_labels) {
		span.label = lib->labels[query];
	} else {
		d->unknown_hits++;
		err = interval_labels__unknown(&d->labels, &span.label);
	}
	return err ?: give(d, &span);
}

/* The record names no library: whether the image has spans of one stays as it is. */
static int on_off_cpu(struct decoder *d, const struct wire_off_cpu *r)
{
	struct trace_span span = off_cpu__span(r);
	const char *text = off_cpu__text(r);
	struct image *image;
	int err = 0;

	if (!text || !d->sink.label)
		return -EBADMSG;
	if (d->off_cpu[r->reason] == DECODER_NO_LABEL)
		err = d->sink.label(d->sink.ctx, text, &d->off_cpu[r->reason]);
	if (err)
		return err;
	image = images__in_trace(&d->images, r->pid, r->start_ns, &err);
	if (!image)
		return err;
	span.process = image->p.index;
	span.label = d->off_cpu[r->reason];
	return give(d, &span);
}

static int on_piece(struct decoder *d, const struct wire_piece *r)
{
	struct image *image = images__find(&d->images, r->pid);

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
		return image ? results__add_keys(&image->results, &d->libraries[r->lib], r) : 0;
	case WIRE_TABLE_INSTANCES:
		return images__on_instances(&d->images, r, &d->libraries[r->lib]);
	case WIRE_TABLE_KEYS:
		return image ? crates__add_keys(&image->crates, &d->libraries[r->lib].layout, r)
			     : 0;
	default:
		return -EBADMSG;
	}
}

static int on_names_end(struct decoder *d, const struct wire_names_end *r)
{
	struct image *image = images__find(&d->images, r->pid);
	const struct library *lib = &d->libraries[r->lib];
	bool named = image && image->finished && !image->uncopied;
	int err = 0;

	d->n_names_missing += r->missing;
	if (!image)
		return 0;
	image->finished = r->moment == WIRE_COUNTS_FINISHED;
	image->uncopied = r->uncopied;
	if (r->moment == WIRE_COUNTS_DROPPED) {
		image->dropped_ns = r->time_ns;
		/* Those of the next context have the same numbers. */
		jobs__clear(&image->jobs);
		err = images__on_drop(&d->images, image, lib);
	}
	return err || named ? err : images__on_names(&d->images, image, lib);
}

int decoder__take(struct decoder *d, const struct record *r)
{
	const struct samples_context context = context_of(d);
	struct image *image;

	switch (r->kind) {
	case WIRE_SPAN:
		return on_span(d, r->span);
	case WIRE_FORK:
		return images__on_fork(&d->images, r->fork);
	case WIRE_EXEC:
		return images__on_exec(&d->images, r->exec, r->exec->args);
	case WIRE_EXIT:
		return images__on_exit(&d->images, r->exit);
	case WIRE_LABEL:
		return dynamic_labels__record(&d->labels.dynamic, &d->sink, r->label);
	case WIRE_THREAD:
		return on_thread(d, r->thread);
	case WIRE_HIT:
		return on_hit(d, r->hit);
	case WIRE_OFF_CPU:
		return on_off_cpu(d, r->off_cpu);
	case WIRE_PIECE:
		return on_piece(d, r->piece);
	case WIRE_ARGUMENT:
		return guard_arguments__record(&d->arguments, &d->sink, r->argument);
	case WIRE_SAMPLE:
		return samples__record(&d->samples, &context, r->sample);
	case WIRE_COUNTS:
		return images__on_counts(&d->images, r->counts, &d->libraries[r->counts->lib]);
	case WIRE_NAMES_END:
		return on_names_end(d, r->names_end);
	case RECORD_RUNNING:
		return images__adopt(&d->images, r->pid, (uint32_t)r->running.parent,
				     r->running.now_ns, r->running.args->bytes,
				     r->running.args->size, r->running.args->cut);
	case RECORD_LATE:
		return images__late(&d->images, r->pid);
	case RECORD_CWD:
		return images__cwd(&d->images, r->pid, r->text);
	case RECORD_LLVM:
		return samples__set_llvm(&d->samples, r->file.number, r->file.llvm);
	case RECORD_NO_LLVM:
		return images__no_llvm(&d->images, r->pid, r->text);
	default:
		break;
	}
	/* The other ones are about a process that is known. */
	image = images__find(&d->images, r->pid);
	switch (r->kind) {
	case WIRE_SYMBOLS:
		return image ? definitions__add_symbols(&image->definitions, r->symbols) : 0;
	case WIRE_FED:
		return image ? results__fed(&image->results, &d->libraries[r->fed->lib], r->fed)
			     : 0;
	case WIRE_LLVM_NAME:
		return llvm_names__record(image ? &image->llvm : NULL,
					  image ? &image->symbols : NULL, &d->sink, r->llvm_name);
	case WIRE_JOB:
		/* The image is put into the trace by the sample that comes next. */
		return image && d->libraries[r->job->lib].labels ? jobs__note(&image->jobs, r->job)
								 : 0;
	default:
		return -EBADMSG;
	}
}

void decoder__free(struct decoder *d)
{
	if (!d)
		return;
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		library__clear(&d->libraries[i]);
	images__destroy(&d->images);
	interval_labels__clear(&d->labels);
	samples__clear(&d->samples);
	guard_arguments__clear(&d->arguments);
	self_time__free(d->self_time);
	caller_index__free(d->callers);
	free(d);
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
