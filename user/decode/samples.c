// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/samples.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Addresses of user space have fewer bits than a place has room for: this one is free. */
#define PC_BIT (1ull << 47)

bool samples__has_file(const struct samples *s, uint32_t number)
{
	return number < s->n_files && s->files[number].functions;
}

int samples__set_file(struct samples *s, uint32_t number, const struct decoder_functions *functions)
{
	int err = array__reserve_at(&s->files, number, &s->n_files, sizeof(*s->files));

	if (err)
		return err;
	s->files[number].functions = functions;
	llvm_plan__free(take_ptr(s->files[number].llvm));
	s->is_stale = true;
	return 0;
}

int samples__set_llvm(struct samples *s, uint32_t number, struct llvm_plan *llvm)
{
	int err = array__reserve_at(&s->files, number, &s->n_files, sizeof(*s->files));

	if (err)
		return err;
	llvm_plan__free(s->files[number].llvm);
	s->files[number].llvm = llvm_plan__ref(llvm);
	return 0;
}

void samples__forget(struct samples *s)
{
	s->is_stale = true;
}

static void forget_places(struct samples *s)
{
	u64_map__clear(&s->known);
	s->n_places = 0;
}

static void refresh(struct samples *s, const struct samples_context *c)
{
	if (!s->is_stale)
		return;
	/* Both get their functions from one place, so the same ones are of the same file. */
	for (uint32_t i = 0; i < s->n_files; i++) {
		struct sampled_file *file = &s->files[i];

		file->library = NULL;
		for (int k = 0; file->functions && !file->library && k <= WIRE_MAX_LIBS; k++)
			if (c->libraries[k].functions == file->functions)
				file->library = &c->libraries[k];
	}
	forget_places(s);
	s->is_stale = false;
}

static const struct sampled_file *file_of(const struct samples *s, uint64_t place)
{
	uint64_t number = place >> 48;

	return number < s->n_files ? &s->files[number] : NULL;
}

/* The library of a compiler that the stack has a frame in, or else that of its job, or NULL. */
static const struct library *library_in(const struct samples *s, const struct samples_context *c,
					const struct wire_sample *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct sampled_file *file = file_of(s, r->frames[i]);

		if (file && file->library)
			return file->library;
	}
	return r->job_lib && c->libraries[r->job_lib].labels ? &c->libraries[r->job_lib] : NULL;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int find_place(const struct samples_context *c, const struct sampled_file *file,
		      uint64_t addr, bool is_return, struct sampled_place *out)
{
	struct trace_function found;
	_free_ char *name = NULL;
	int err = caller_index__find(c->callers, file->functions, addr, is_return, &out->locindex,
				     &found);

	name = (char *)found.name;
	if (file->library && file->library->frames)
		out->code = plan_frames__code(file->library->frames, addr, is_return);
	if (err || !name || !c->sink->function)
		return err;
	return c->sink->function(c->sink->ctx, file->functions->file, &found);
}

static int place_at(struct samples *s, const struct samples_context *c, uint64_t place,
		    bool is_return, struct sampled_place *out)
{
	const struct sampled_file *file = file_of(s, place);
	uint64_t key = is_return ? place : place ^ PC_BIT;
	uint32_t known;
	int err;

	*out = (struct sampled_place){.locindex = TRACE_NO_LOCATION};
	if (!file || !file->functions || (place & PC_BIT))
		return 0;
	known = u64_map__get(&s->known, key);
	if (known != U64_MAP_NONE) {
		*out = s->places[known];
		return 0;
	}
	err = find_place(c, file, place & (~0ull >> 16), is_return, out);
	if (err)
		return err;
	if (s->n_places == SAMPLES_PLACES_MAX)
		forget_places(s);
	err = u64_map__put(&s->known, key, s->n_places);
	return err ?: array__add(&s->places, &s->n_places, &s->places_capacity, out);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* Hashing the result that a query feeds to another has no query: it is time of the one around. */
static bool has_entry(const struct plan_shown *shown)
{
	return shown->kind != WIRE_KIND_HASHING || shown->query != PLAN_NONE;
}

/* Only an activity has a name that is unknown; all else is of a query, which may be unknown. */
static int entry_of(const struct samples_context *c, const struct library *lib,
		    const struct plan_shown *shown, struct trace_stack *entry)
{
	uint32_t label = DECODER_NO_LABEL;

	*entry = (struct trace_stack){.kind = (uint8_t)(TRACE_STACK_QUERY + shown->kind)};
	if (shown->kind == WIRE_KIND_ACTIVITY && shown->guard < lib->n_guards)
		label = lib->guards[shown->guard];
	else if (shown->kind != WIRE_KIND_ACTIVITY && shown->query < lib->n_labels)
		label = lib->labels[shown->query];
	if (label == DECODER_NO_LABEL && shown->kind != WIRE_KIND_ACTIVITY) {
		entry->kind = TRACE_STACK_UNKNOWN;
		return 0;
	}
	entry->place = label;
	return label == DECODER_NO_LABEL ? interval_labels__unknown(c->labels, &entry->place) : 0;
}

/* Add an entry inside *stack, which becomes that entry. */
static int descend(const struct samples_context *c, struct trace_stack entry, uint32_t *stack)
{
	entry.parent = *stack;
	return c->sink->stack(c->sink->ctx, &entry, stack);
}

/*
 * The innermost activity that the probes saw: code shows the names of some only. *seen has no entry
 * if it is in the stack, or if its frame is not known.
 */
static int add_seen(const struct samples_context *c, struct trace_stack *seen, uint32_t *stack)
{
	int err = seen->kind ? descend(c, *seen, stack) : 0;

	*seen = (struct trace_stack){};
	return err;
}

/* The intervals that run in frame `i`, and the frame itself. */
static int add_frame(const struct samples *s, const struct samples_context *c,
		     const struct library *lib, uint32_t i, uint32_t n_shown, uint32_t *next,
		     struct trace_stack *seen, uint32_t *stack)
{
	const struct trace_stack frame = {.place = s->locations[i], .kind = TRACE_STACK_LOCATION};
	int err = 0;

	for (; *next < n_shown && s->shown[*next].frame == i && !err; ++*next) {
		struct trace_stack entry;

		if (!has_entry(&s->shown[*next]))
			continue;
		err = entry_of(c, lib, &s->shown[*next], &entry);
		if (!err && seen && seen->kind == entry.kind)
			err = add_seen(c, seen, stack);
		else if (!err)
			err = descend(c, entry, stack);
	}
	if (!err && seen)
		err = add_seen(c, seen, stack);
	return err ?: descend(c, frame, stack);
}

static int find_places(struct samples *s, const struct samples_context *c,
		       const struct wire_sample *r, const struct library *lib)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct sampled_file *file = file_of(s, r->frames[i]);
		struct sampled_place place;
		int err = place_at(s, c, r->frames[i], i > 0, &place);

		if (err)
			return err;
		s->locations[i] = place.locindex;
		s->codes[i] =
			file && file->library == lib ? place.code : (struct plan_frame_code){0};
	}
	return 0;
}

/*
 * The interval of a sample whose stack was not asked for. False: there is none. It is unknown if
 * neither the probes, by `seen`, nor the frames show it, and not all frames are there.
 */
static bool light_interval(const struct samples *s, const struct samples_context *c,
			   const struct wire_sample *r, const struct library *lib, uint32_t n_shown,
			   const struct trace_sample *seen, struct trace_stack *entry)
{
	bool probed = seen->label != TRACE_NO_STRING;
	const struct plan_shown *known = NULL; /* the innermost one that is */

	for (uint32_t i = n_shown; i-- && !known;)
		if (s->shown[i].kind == WIRE_KIND_ACTIVITY || s->shown[i].query != PLAN_NONE)
			known = &s->shown[i];

	if (r->light == WIRE_LIGHT_HERE && !r->busy && !probed)
		return false;
	if (known && !(r->light == WIRE_LIGHT_HERE && probed))
		return !entry_of(c, lib, known, entry);
	*entry = (struct trace_stack){.kind = TRACE_STACK_UNKNOWN};
	if (probed)
		*entry = (struct trace_stack){.kind = (uint8_t)(TRACE_STACK_QUERY + seen->kind),
					      .place = seen->label};
	return probed || n_shown || r->cut != WIRE_CUT_NOT;
}

/* The innermost interval, and the innermost frame in it. */
static int convert_light(struct samples *s, const struct samples_context *c,
			 const struct wire_sample *r, const struct library *lib, uint32_t n_shown,
			 struct trace_sample *sample)
{
	const struct trace_stack frame = {.place = s->locations[0], .kind = TRACE_STACK_LOCATION};
	struct trace_stack entry;
	int err = 0;

	if (!r->n)
		return 0;
	if (light_interval(s, c, r, lib, n_shown, sample, &entry))
		err = descend(c, entry, &sample->stack);
	return err ?: descend(c, frame, &sample->stack);
}

/* Give the sink the entries of a stack, with the intervals of `lib`, and set *stack to the last. */
static int convert(struct samples *s, const struct samples_context *c, const struct wire_sample *r,
		   const struct library *lib, struct trace_sample *sample)
{
	uint32_t n_shown = 0, next = 0, *stack = &sample->stack;
	struct trace_stack seen = {};
	int err;

	if (!c->sink->stack)
		return 0;
	err = find_places(s, c, r, lib);
	if (err)
		return err;
	if (lib && lib->frames)
		n_shown = plan_frames__shown(lib->frames, s->codes, r->n, s->shown,
					     SAMPLES_SHOWN_MAX);
	if (r->light)
		err = convert_light(s, c, r, lib, n_shown, sample);
	if (sample->label != TRACE_NO_STRING && sample->kind == TRACE_KIND_ACTIVITY &&
	    r->inner <= r->n)
		seen = (struct trace_stack){.place = sample->label, .kind = TRACE_STACK_ACTIVITY};
	if (!err && !r->light && r->inner == r->n)
		err = add_seen(c, &seen, stack);
	for (uint32_t i = r->light ? 0 : r->n; i-- && !err;)
		err = add_frame(s, c, lib, i, n_shown, &next, i == r->inner ? &seen : NULL, stack);
	return err == -E2BIG ? 0 : err;
}

/* ---- Records --------------------------------------------------------------------------------- */

/*
 * The image of a sample, if it is in the trace; NULL: the sample is left out, or *err. A child that
 * has not executed its program yet runs the compiler's code, but is no compiler.
 */
static struct image *image_of(const struct samples_context *c, const struct wire_sample *r,
			      const struct library *lib, int *err)
{
	struct image *image = images__find(c->images, r->pid);
	bool is_over = image && image->exited && r->time_ns >= image->p.end_ns;

	if (lib && !(image && image->is_fork))
		return images__of(c->images, r->pid, lib, r->time_ns, err);
	return image && image->in_trace && !is_over ? image : NULL;
}

/*
 * Whether the thread was in the trap of a probe: its program may have run already, or not yet. What
 * it knows is of another moment then.
 */
static bool is_at_probe(const struct samples *s, const struct wire_sample *r)
{
	const struct sampled_file *file = r->n ? file_of(s, r->frames[0]) : NULL;

	return file && file->library && file->library->frames &&
	       plan_frames__is_site(file->library->frames, r->frames[0] & (~0ull >> 16));
}

/* The interval that the probes saw. */
static int set_interval(const struct samples_context *c, const struct wire_sample *r,
			struct trace_sample *sample)
{
	const struct interval_named named = {r->lib, r->kind, r->query, r->label};
	int err;

	sample->label = TRACE_NO_STRING;
	if (r->busy || !r->depth)
		return 0;
	sample->depth = r->depth;
	sample->kind = r->kind;
	err = interval_labels__of(c->labels, named, &sample->label);
	if (sample->label == DYNAMIC_LABEL_UNWANTED)
		sample->label = TRACE_NO_STRING;
	return err;
}

/* The query that the compiler itself says the thread executes. */
static int set_job(const struct samples_context *c, const struct wire_sample *r,
		   const struct library *lib, struct image *image, struct trace_sample *sample)
{
	const struct jobs_context context = {
		.sink = c->sink,
		.library = lib,
		.lib = (uint8_t)(lib - c->libraries),
		.keys = &image->keys,
		.process = image->p.index,
	};
	int err;

	if (!lib || !r->job)
		return 0;
	if (lib->keys) {
		err = images__on_query(c->images, image, r->time_ns);
		if (err)
			return err;
		image->library = lib;
		image->library_serial = lib->serial;
	}
	err = jobs__in_trace(&image->jobs, &context, r->job, &sample->job);
	return err || r->n ? err : jobs__stack(&image->jobs, &context, r->job, &sample->stack);
}

/* The file of the pass may have another number when the sample is released. */
static int set_llvm(struct samples *s, const struct samples_context *c, const struct wire_sample *r,
		    const struct image *image, uint32_t *id)
{
	const struct sampled_file *file = file_of(s, r->llvm_pass);
	const struct llvm_context context = {
		.sink = c->sink,
		.names = &image->llvm,
		.passes = file ? file->llvm : NULL,
		.n_unnamed = &s->n_unnamed,
	};

	return llvm_entry(&context, r, id);
}

int samples__release(struct samples *s, const struct samples_context *c)
{
	struct held_sample held;
	size_t at = 0;
	int err = 0;

	refresh(s, c);
	while (!err && held_samples__next(&s->held, &at, &held))
		err = convert(s, c, &held.wire, held.lib, &held.sample)
			      ?: c->sink->sample(c->sink->ctx, &held.sample);
	held_samples__empty(&s->held);
	return err;
}

int samples__record(struct samples *s, const struct samples_context *c,
		    const struct wire_sample *record)
{
	struct held_sample held;
	struct wire_sample *r = &held.wire;
	struct image *image;
	int err = 0;

	if (!record->cause || record->cause >= WIRE_SAMPLE_CAUSES || record->cut >= WIRE_CUT_MAX ||
	    record->kind >= WIRE_KIND_MAX || record->light >= WIRE_LIGHT_MAX)
		return -EBADMSG;
	memcpy(r, record, offsetof(struct wire_sample, frames[record->n]));
	held.sample = (struct trace_sample){
		.time_ns = r->time_ns,
		.value = r->value,
		.tid = r->tid,
		.stack = TRACE_NO_STACK,
		.cause = r->cause,
		.cut = r->light ? WIRE_CUT_TOO_DEEP : r->cut,
	};
	refresh(s, c);
	r->busy = r->busy || is_at_probe(s, r);
	err = set_interval(c, r, &held.sample);
	if (err || !c->sink->sample)
		return err;
	held.lib = library_in(s, c, r);
	image = image_of(c, r, held.lib, &err);
	if (!image)
		return err;
	held.sample.process = image->p.index;
	err = set_job(c, r, held.lib, image, &held.sample)
		      ?: set_llvm(s, c, r, image, &held.sample.llvm);
	if (err)
		return err;
	if (!s->held.used)
		s->held_since_ns = r->time_ns;
	err = held_samples__add(&s->held, &held);
	/* The next tick may be far away. */
	if (!err &&
	    (s->held.used >= SAMPLES_HELD_MAX || r->time_ns >= s->held_since_ns + SAMPLES_HELD_NS))
		err = samples__release(s, c);
	return err;
}

void samples__clear(struct samples *s)
{
	for (uint32_t i = 0; i < s->n_files; i++)
		llvm_plan__free(s->files[i].llvm);
	free(s->files);
	free(s->places);
	u64_map__destroy(&s->known);
	held_samples__clear(&s->held);
	*s = (struct samples){0};
}

/* ---- Samples that wait ----------------------------------------------------------------------- */

#define FIRST_CAPACITY (64u << 10)

static size_t size_of(const struct held_sample *s)
{
	return offsetof(struct held_sample, wire.frames) + s->wire.n * sizeof(*s->wire.frames);
}

int held_samples__add(struct held_samples *h, const struct held_sample *s)
{
	size_t size = size_of(s), capacity = h->capacity ?: FIRST_CAPACITY;

	while (capacity - h->used < size)
		capacity *= 2;
	if (capacity != h->capacity) {
		char *bytes = realloc(h->bytes, capacity);

		if (!bytes)
			return -ENOMEM;
		h->bytes = bytes;
		h->capacity = capacity;
	}
	memcpy(h->bytes + h->used, s, size);
	h->used += size;
	return 0;
}

bool held_samples__next(const struct held_samples *h, size_t *at, struct held_sample *out)
{
	if (*at == h->used)
		return false;
	memcpy(out, h->bytes + *at, offsetof(struct held_sample, wire.frames));
	memcpy(out, h->bytes + *at, size_of(out));
	*at += size_of(out);
	return true;
}

void held_samples__empty(struct held_samples *h)
{
	h->used = 0;
}

void held_samples__clear(struct held_samples *h)
{
	free(h->bytes);
	*h = (struct held_samples){0};
}

/* ---- Labels of intervals --------------------------------------------------------------------- */

void interval_labels__init(struct interval_labels *l, const struct decoder_sink *sink,
			   const struct library *libraries)
{
	*l = (struct interval_labels){
		.sink = sink,
		.libraries = libraries,
		.unknown = DECODER_NO_LABEL,
	};
}

int interval_labels__unknown(struct interval_labels *l, uint32_t *label)
{
	const struct decoder_sink *sink = l->sink;
	int err = 0;

	if (l->unknown == DECODER_NO_LABEL)
		err = sink->label ? sink->label(sink->ctx, DECODER_UNKNOWN, &l->unknown) : -EBADMSG;
	*label = l->unknown;
	return err;
}

int interval_labels__of(struct interval_labels *l, struct interval_named interval, uint32_t *label)
{
	const struct library *lib = &l->libraries[interval.lib];

	*label = DECODER_NO_LABEL;
	if (interval.kind == WIRE_KIND_ACTIVITY && interval.label) {
		*label = dynamic_labels__id(&l->dynamic, interval.label);
	} else if (interval.kind == WIRE_KIND_ACTIVITY) {
		if (interval.query >= lib->n_guards)
			return -EBADMSG;
		*label = lib->guards[interval.query];
	} else if (interval.query < lib->n_labels) {
		*label = lib->labels[interval.query];
	} else if (interval.kind == WIRE_KIND_QUERY || interval.query != WIRE_NO_QUERY) {
		return -EBADMSG;
	}
	return *label == DECODER_NO_LABEL ? interval_labels__unknown(l, label) : 0;
}

void interval_labels__clear(struct interval_labels *l)
{
	dynamic_labels__clear(&l->dynamic);
}

/* ---- Dynamic labels -------------------------------------------------------------------------- */

/* More numbers than the kernel half assigns. */
#define LABELS_MAX (1u << 20)

int dynamic_labels__record(struct dynamic_labels *l, const struct decoder_sink *sink,
			   const struct wire_label *r)
{
	char text[sizeof(r->key.text) + sizeof("...")] = {0};

	if (!r->label || r->label > LABELS_MAX || !sink->label)
		return -EBADMSG;
	if (r->label > l->n) {
		uint32_t *ids = reallocarray(l->ids, r->label, sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		l->ids = ids;
		while (l->n < r->label)
			ids[l->n++] = DYNAMIC_LABEL_NONE;
	}
	if (sink->wants && !sink->wants(sink->ctx, &r->key)) {
		l->ids[r->label - 1] = DYNAMIC_LABEL_UNWANTED;
		return 0;
	}
	memcpy(text, r->key.text, sizeof(r->key.text));
	if (r->key.len > sizeof(r->key.text))
		strcat(text, "...");
	return sink->label(sink->ctx, text, &l->ids[r->label - 1]);
}

void dynamic_labels__clear(struct dynamic_labels *l)
{
	free(l->ids);
	*l = (struct dynamic_labels){0};
}
