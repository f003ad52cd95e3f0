// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/tracks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "tracks/library.h"
#include "tracks/arguments.h"
#include "tracks/images.h"
#include "tracks/samples.h"

struct tracks {
	struct tracks_sink sink;
	struct library libraries[WIRE_MAX_LIBS + 1];
	uint32_t last_serial;
	struct images images;
	struct interval_labels labels;
	struct samples samples;
	struct arguments arguments;
	uint32_t off_cpu[WIRE_OFF_MAX]; /* string ids of reasons, or TRACKS_NO_LABEL */
	struct self_time *self_time;
	struct caller_index *callers;
	bool expects_hits;
	uint64_t unknown_hits;
	uint64_t unread_arguments;
	uint64_t n_names_missing; /* pieces of the compilers' tables of names */
};

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

uint32_t tracks__query_label(const struct tracks *t, uint8_t lib, uint32_t query)
{
	const struct library *l = &t->libraries[lib];

	return query < l->n_labels ? l->labels[query] : TRACKS_NO_LABEL;
}

uint32_t tracks__guard_label(const struct tracks *t, uint8_t lib, uint32_t guard)
{
	const struct library *l = &t->libraries[lib];

	return guard < l->n_guards ? l->guards[guard] : TRACKS_NO_LABEL;
}

uint32_t tracks__dynamic_label(const struct tracks *t, uint32_t number)
{
	uint32_t id = number ? dynamic_labels__id(&t->labels.dynamic, number) : DYNAMIC_LABEL_NONE;

	return id == DYNAMIC_LABEL_UNWANTED ? TRACKS_NO_LABEL : id;
}

int tracks__set_guards(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels)
{
	return library__set_guards(&t->libraries[lib], labels, n_labels);
}

int tracks__set_keys(struct tracks *t, uint8_t lib, const uint8_t *keys,
		     const struct plan_layout *layout)
{
	return library__set_keys(&t->libraries[lib], keys, layout);
}

int tracks__set_arguments(struct tracks *t, uint8_t lib, const struct plan_guard *guards)
{
	return library__set_arguments(&t->libraries[lib], guards);
}

int tracks__set_results(struct tracks *t, uint8_t lib, const struct plan *plan, bool loads,
			bool items)
{
	return library__set_results(&t->libraries[lib], plan, loads, items);
}

void tracks__recorded(struct tracks *t, uint8_t lib, const bool *guards)
{
	library__recorded(&t->libraries[lib], guards);
}

const char *tracks__argument(const struct tracks *t, uint64_t number)
{
	return arguments__text(&t->arguments, number);
}

uint64_t tracks__unread_arguments(const struct tracks *t)
{
	return t->unread_arguments;
}

uint64_t tracks__unnamed(const struct tracks *t)
{
	return t->images.n_unnamed;
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

int tracks__set_llvm(struct tracks *t, uint32_t number, struct llvm_plan *llvm)
{
	return samples__set_llvm(&t->samples, number, llvm);
}

int tracks__set_frames(struct tracks *t, uint8_t lib, const struct plan *plan)
{
	samples__forget(&t->samples);
	return library__set_frames(&t->libraries[lib], plan);
}

void tracks__expect_hits(struct tracks *t)
{
	t->expects_hits = true;
}

uint64_t tracks__unknown_hits(const struct tracks *t)
{
	return t->unknown_hits;
}

uint64_t tracks__refused_functions(const struct tracks *t)
{
	return caller_index__refused(t->callers);
}

void tracks__set_costs(struct tracks *t, const struct trace_costs *costs)
{
	self_time__set_costs(t->self_time, costs);
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

int tracks__adopt(struct tracks *t, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len, bool truncated)
{
	return images__adopt(&t->images, pid, parent_pid, time_ns, args, args_len, truncated);
}

int tracks__begin(struct tracks *t, uint64_t time_ns)
{
	return images__begin(&t->images, time_ns);
}

int tracks__late(struct tracks *t, uint32_t pid)
{
	return images__late(&t->images, pid);
}

int tracks__cwd(struct tracks *t, uint32_t pid, const char *cwd)
{
	return images__cwd(&t->images, pid, cwd);
}

int tracks__no_llvm(struct tracks *t, uint32_t pid, const char *why)
{
	return images__no_llvm(&t->images, pid, why);
}

int tracks__show_results(const struct tracks *t, const struct tracks_sink *sink)
{
	return images__show_results(&t->images, sink);
}

uint32_t tracks__running(const struct tracks *t)
{
	return t->images.n_running;
}

uint32_t tracks__processes(const struct tracks *t)
{
	return t->images.n_processes;
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

static uint8_t span_flags(uint8_t wire)
{
	return (wire & WIRE_SPAN_UNWOUND ? TRACE_SPAN_UNWOUND : 0) |
	       (wire & WIRE_SPAN_LEFT ? TRACE_SPAN_LEFT : 0) |
	       (wire & WIRE_SPAN_OPEN ? TRACE_SPAN_OPEN : 0);
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
	const struct argument *a = arguments__at(&t->arguments, r->key);

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
		.flags = span_flags(r->flags),
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

static int record_exec(struct tracks *t, const void *record, size_t size)
{
	const size_t args_at = offsetof(struct wire_exec, args);
	struct wire_exec r = {0};

	/* The sender may leave out the unused end of args. */
	if (size < args_at)
		return -EBADMSG;
	memcpy(&r, record, args_at);
	if (r.args_len > WIRE_COMMAND_MAX || r.args_len > size - args_at)
		return -EBADMSG;
	return images__on_exec(&t->images, &r, (const char *)record + args_at);
}

/* The copy of a record whose sender may leave out the end; false if `size` is not its size. */
#define COPY_RECORD(to, record, size)                                  \
	((size) >= offsetof(__typeof__(*(to)), bytes) &&               \
	 memcpy((to), (record), offsetof(__typeof__(*(to)), bytes)) && \
	 (to)->size <= sizeof((to)->bytes) &&                          \
	 (size)-offsetof(__typeof__(*(to)), bytes) == (to)->size &&    \
	 memcpy((to)->bytes, (record) + offsetof(__typeof__(*(to)), bytes), (to)->size))

static int record_piece(struct tracks *t, const char *record, size_t size)
{
	struct wire_piece r;
	struct image *image;

	if (!COPY_RECORD(&r, record, size))
		return -EBADMSG;
	image = images__find(&t->images, r.pid);
	switch (r.table) {
	case WIRE_TABLE_DEFINITIONS:
		return image ? definitions__add(&image->definitions, &r) : 0;
	case WIRE_TABLE_SPANS:
	case WIRE_TABLE_INTERNED:
	case WIRE_TABLE_FILES:
	case WIRE_TABLE_LINES:
	case WIRE_TABLE_CONTEXTS:
	case WIRE_TABLE_EXPANSIONS:
		return image ? sources__add(&image->sources, &r) : 0;
	case WIRE_TABLE_CRATES:
		return image ? crates__add(&image->crates, &r) : 0;
	case WIRE_TABLE_RESULTS:
		return image ? results__add_keys(&image->results, &t->libraries[r.lib], &r) : 0;
	case WIRE_TABLE_INSTANCES:
		return images__on_instances(&t->images, &r, &t->libraries[r.lib]);
	case WIRE_TABLE_KEYS:
		return image ? crates__add_keys(&image->crates, &t->libraries[r.lib].layout, &r)
			     : 0;
	default:
		return -EBADMSG;
	}
}

static int record_symbols(struct tracks *t, const char *record, size_t size)
{
	struct wire_symbols r;
	struct image *image;

	if (!COPY_RECORD(&r, record, size))
		return -EBADMSG;
	image = images__find(&t->images, r.pid);
	return image ? definitions__add_symbols(&image->definitions, &r) : 0;
}

static int record_sample(struct tracks *t, const void *record, size_t size)
{
	const struct samples_context context = context_of(t);

	return samples__record(&t->samples, &context, record, size);
}

static int record_llvm_name(struct tracks *t, const void *record, size_t size)
{
	const size_t at = offsetof(struct wire_llvm_name, pid);
	struct image *image;
	uint32_t pid;

	if (size < at + sizeof(pid))
		return -EBADMSG;
	memcpy(&pid, (const char *)record + at, sizeof(pid));
	image = images__find(&t->images, pid);
	return image ? llvm_names__record(&image->llvm, &image->symbols, &t->sink, record, size)
		     : llvm_names__record(NULL, NULL, &t->sink, record, size);
}

static int record_counts(struct tracks *t, const void *record, size_t size)
{
	const size_t items_at = offsetof(struct wire_counts, items);
	struct wire_counts r = {0};

	/* The sender leaves out the unused end of items. */
	if (size < items_at || size > sizeof(r))
		return -EBADMSG;
	memcpy(&r, record, size);
	if (r.n > WIRE_COUNTS_MAX || size - items_at != r.n * sizeof(*r.items))
		return -EBADMSG;
	return images__on_counts(&t->images, &r, &t->libraries[r.lib]);
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

static int on_fed(struct tracks *t, const struct wire_fed *r)
{
	struct image *image = images__find(&t->images, r->pid);

	return image ? results__fed(&image->results, &t->libraries[r->lib], r) : 0;
}

/* The image is put into the trace by the sample that comes next. */
static int on_job(struct tracks *t, const struct wire_job *r)
{
	struct image *image = images__find(&t->images, r->pid);

	return image && t->libraries[r->lib].labels ? jobs__note(&image->jobs, r) : 0;
}

/* All but those whose size may vary. */
static const size_t record_sizes[] = {
	[WIRE_SPAN] = sizeof(struct wire_span),
	[WIRE_FORK] = sizeof(struct wire_fork),
	[WIRE_EXIT] = sizeof(struct wire_exit),
	[WIRE_LABEL] = sizeof(struct wire_label),
	[WIRE_THREAD] = sizeof(struct wire_thread),
	[WIRE_HIT] = sizeof(struct wire_hit),
	[WIRE_OFF_CPU] = sizeof(struct wire_off_cpu),
	[WIRE_NAMES_END] = sizeof(struct wire_names_end),
	[WIRE_JOB] = sizeof(struct wire_job),
	[WIRE_FED] = sizeof(struct wire_fed),
};

int tracks__record(struct tracks *t, const void *record, size_t size)
{
	wire_u8 type = size ? *(const wire_u8 *)record : 0;
	union {
		struct wire_span span;
		struct wire_fork fork;
		struct wire_exit exit;
		struct wire_label label;
		struct wire_thread thread;
		struct wire_hit hit;
		struct wire_off_cpu off_cpu;
		struct wire_names_end names_end;
		struct wire_job job;
		struct wire_fed fed;
	} r;

	if (type == WIRE_EXEC)
		return record_exec(t, record, size);
	if (type == WIRE_PIECE)
		return record_piece(t, record, size);
	if (type == WIRE_ARGUMENT)
		return arguments__record(&t->arguments, &t->sink, record, size);
	if (type == WIRE_SAMPLE)
		return record_sample(t, record, size);
	if (type == WIRE_LLVM_NAME)
		return record_llvm_name(t, record, size);
	if (type == WIRE_SYMBOLS)
		return record_symbols(t, record, size);
	if (type == WIRE_COUNTS)
		return record_counts(t, record, size);
	if (!type || type >= N_OF(record_sizes) || !record_sizes[type] ||
	    size != record_sizes[type])
		return -EBADMSG;
	memcpy(&r, record, size);
	switch (type) {
	case WIRE_SPAN:
		return on_span(t, &r.span);
	case WIRE_FORK:
		return images__on_fork(&t->images, &r.fork);
	case WIRE_EXIT:
		return images__on_exit(&t->images, &r.exit);
	case WIRE_LABEL:
		return dynamic_labels__record(&t->labels.dynamic, &t->sink, &r.label);
	case WIRE_THREAD:
		return on_thread(t, &r.thread);
	case WIRE_HIT:
		return on_hit(t, &r.hit);
	case WIRE_OFF_CPU:
		return on_off_cpu(t, &r.off_cpu);
	case WIRE_FED:
		return on_fed(t, &r.fed);
	case WIRE_JOB:
		return on_job(t, &r.job);
	default:
		return on_names_end(t, &r.names_end);
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
	arguments__clear(&t->arguments);
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
