// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "analyze/generic_name.h"
#include "analyze/llvm.h"
#include "analyze/model.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/table.h"

#define NO_STACK "(no stack)"

/* A stack of a process. */
struct place {
	uint32_t process;
	uint32_t stack;
};

/* The samples of a process with one stack and one entry of LLVM, if any. */
struct cell {
	struct place at;
	uint32_t llvm;
	struct sample_sum sum;
	uint64_t off_ns; /* the part that was off the CPU */
};

struct flame_samples {
	struct export_job *job;
	uint8_t cause;
	bool with_waits;
	bool wait_stacks; /* waits have stacks */
	struct stack_source source;
	struct flame *flame;	    /* until it is finished */
	TABLE(struct place) places; /* by process << 32 | stack */
	TABLE(struct cell) cells;   /* by number of a place << 32 | entry of LLVM */
	struct llvm_frames llvm;
	struct code_functions functions;
	char **names; /* by number of a function */
	uint32_t n_names;
	struct u64_map nodes; /* process << 32 | entry -> node */
	uint32_t *path;	      /* entries that have no node yet, the innermost first */
	uint32_t n_path;
	uint32_t path_capacity;
};

int flame_samples__new(struct export_job *job, uint8_t cause, bool with_waits,
		       struct flame_samples **out)
{
	_flame_samples_ struct flame_samples *s = calloc(1, sizeof(*s));
	const struct model_options options = model_options_of(job->r);

	if (!s || flame__new(job, &s->flame))
		return -ENOMEM;
	s->job = job;
	s->cause = cause;
	s->with_waits = with_waits;
	s->source = options.stacks;
	s->functions = (struct code_functions){.source = s->source, .texts = options.texts};
	s->llvm = (struct llvm_frames){.r = job->r};
	*out = take_ptr(s);
	return 0;
}

int flame_samples__item(struct flame_samples *s, const struct trace_item *item)
{
	const struct trace_sample *sample = &item->sample;
	bool waits = sample->cause != s->cause;
	const struct sample_sum one = {!waits, sample->value};
	struct place *place;
	struct cell *cell;
	uint32_t number;

	if (item->kind == TRACE_ITEM_SAMPLING)
		s->wait_stacks = item->sampling.off_cpu;
	if (item->kind == TRACE_ITEM_PROCESS)
		return flame__item(s->flame, item);
	if (item->kind != TRACE_ITEM_SAMPLE ||
	    (waits && !(s->with_waits && sample->cause == TRACE_SAMPLE_OFF_CPU)) ||
	    (sample->cause == TRACE_SAMPLE_OFF_CPU && !s->wait_stacks))
		return 0;
	if (sample->process >= s->flame->n_processes)
		return -EINVAL;
	place = table__get(&s->places, (uint64_t)sample->process << 32 | sample->stack,
			   .process = sample->process, .stack = sample->stack);
	if (!place)
		return -ENOMEM;
	number = (uint32_t)(place - s->places.at);
	cell = table__get(&s->cells, (uint64_t)number << 32 | sample->llvm, .at = *place,
			  .llvm = sample->llvm);
	if (!cell)
		return -ENOMEM;
	sample_sum__add(&cell->sum, &one);
	cell->off_ns += waits ? sample->value : 0;
	return 0;
}

bool flame_samples__any(const struct flame_samples *s)
{
	return s->cells.n;
}

/* "[typeck]"; "Type::method (crate)", or the whole name. NULL: no memory. */
static const char *name_of(struct flame_samples *s, const struct trace_stack *entry)
{
	const struct code_function *f;
	_free_ char *text = NULL;
	uint32_t number;
	char *name = NULL;

	if (code_functions__find(&s->functions, entry, &number) ||
	    array__reserve_at(&s->names, number, &s->n_names, sizeof(*s->names)))
		return NULL;
	if (s->names[number])
		return s->names[number];
	f = &s->functions.at[number];
	if (f->part == CODE_NO_PART) {
		if (asprintf(&name, "[%s]", f->name) < 0)
			name = NULL;
	} else if (!s->job->short_names) {
		name = strdup(f->name);
	} else {
		text = code_name_short(f->name);
		if (!text || asprintf(&name, "%s (%s)", text, s->functions.parts[f->part]) < 0)
			name = NULL;
	}
	s->names[number] = name;
	return name;
}

/* List the entries of a stack that have no node yet. *node: that of the next one outwards. */
static int find_path(struct flame_samples *s, const struct cell *cell, uint32_t *node)
{
	uint32_t id = cell->at.stack;
	struct trace_stack entry;

	s->n_path = 0;
	*node = s->flame->processes[cell->at.process].node;
	while (stack_source__entry(&s->source, id, &entry)) {
		uint32_t known = u64_map__get(&s->nodes, (uint64_t)cell->at.process << 32 | id);

		/* Below a function that LLVM compiles, an entry has other nodes. */
		if (known != U64_MAP_NONE && cell->llvm == TRACE_NO_LLVM) {
			*node = known;
			return 0;
		}
		if (array__add(&s->path, &s->n_path, &s->path_capacity, &id))
			return -ENOMEM;
		id = entry.parent;
	}
	return 0;
}

static uint32_t add_llvm(struct flame_samples *s, uint32_t node, uint32_t id)
{
	const struct llvm_frame *frame = llvm_frames__of(&s->llvm, id);

	if (!frame)
		return FLAME_NONE;
	for (size_t i = 0; i < N_OF(frame->names) && node != FLAME_NONE; i++)
		if (frame->names[i])
			node = flame__add(s->flame, node, frame->names[i], strlen(frame->names[i]));
	return node;
}

/* The pass and its function, if any, come before the first function of LLVM. */
static int add_cell(struct flame_samples *s, const struct cell *cell)
{
	uint32_t node, top = s->flame->processes[cell->at.process].node, llvm = cell->llvm;

	if (find_path(s, cell, &node))
		return -ENOMEM;
	while (s->n_path && node != FLAME_NONE) {
		uint32_t id = s->path[--s->n_path];
		struct trace_stack entry = {};
		const char *name =
			stack_source__entry(&s->source, id, &entry) ? name_of(s, &entry) : NULL;

		if (name && llvm != TRACE_NO_LLVM && llvm_frames__precede(&s->functions, &entry)) {
			node = add_llvm(s, node, llvm);
			llvm = TRACE_NO_LLVM;
		}
		if (node == FLAME_NONE || !name)
			return -ENOMEM;
		node = flame__add(s->flame, node, name, strlen(name));
		if (cell->llvm == TRACE_NO_LLVM && node != FLAME_NONE &&
		    u64_map__put(&s->nodes, (uint64_t)cell->at.process << 32 | id, node))
			return -ENOMEM;
	}
	if (node != FLAME_NONE)
		node = add_llvm(s, node, llvm);
	if (node == top)
		node = flame__add(s->flame, top, NO_STACK, strlen(NO_STACK));
	if (node == FLAME_NONE)
		return -ENOMEM;
	flame__charge(s->flame, node, cell->sum.n, cell->sum.value, cell->off_ns);
	return 0;
}

int flame_samples__finish(struct flame_samples *s, struct flame **out)
{
	int err;

	for (uint32_t i = 0; i < s->cells.n; i++) {
		if (add_cell(s, &s->cells.at[i]))
			return -ENOMEM;
		if (s->flame->tree.n > FLAME_SAMPLES_MOST)
			return -EOVERFLOW;
	}
	err = flame__finish(s->flame);
	if (!err)
		*out = take_ptr(s->flame);
	return err;
}

void flame_samples__free(struct flame_samples *s)
{
	if (!s)
		return;
	flame__free(s->flame);
	table__destroy(&s->places);
	table__destroy(&s->cells);
	llvm_frames__destroy(&s->llvm);
	code_functions__destroy(&s->functions);
	for (uint32_t i = 0; i < s->n_names; i++)
		free(s->names[i]);
	free(s->names);
	u64_map__destroy(&s->nodes);
	free(s->path);
	free(s);
}

static int take_item(void *ctx, const struct trace_item *item)
{
	return flame_samples__item(ctx, item);
}

int flame__build_samples(struct export_job *job, struct flame **out)
{
	_flame_samples_ struct flame_samples *s = NULL;

	return flame_samples__new(job, job->cause, job->cause == TRACE_SAMPLE_CPU, &s)
		       ?: trace_reader__each(job->r, take_item, s)
		       ?: flame_samples__finish(s, out);
}

/* ---- LLVM's passes and functions in stacks --------------------------------------------------- */

static int put_name(const char *text, const char *mark, char **out)
{
	if (text && asprintf(out, "[%s%s]", text, mark) < 0)
		*out = NULL;
	return *out ? 0 : -ENOMEM;
}

const struct llvm_frame *llvm_frames__of(struct llvm_frames *f, uint32_t id)
{
	const struct trace_llvm *entry = trace_reader__llvm(f->r, id);
	_generic_name_ struct generic_name function = {};
	_free_ char *pass = NULL;
	struct llvm_frame *frame;

	if (array__reserve_at(&f->at, id, &f->n, sizeof(*f->at)))
		return NULL;
	frame = &f->at[id];
	if (!entry || frame->names[0] || frame->names[1])
		return frame;
	if (entry->pass != TRACE_NO_STRING) {
		pass = llvm_pass_name(trace_reader__string(f->r, entry->pass));
		if (put_name(pass, "", &frame->names[0]))
			return NULL;
	}
	if (entry->function != TRACE_NO_STRING &&
	    (generic_name__of(trace_reader__string(f->r, entry->function), &function) ||
	     put_name(function.path, entry->scope == TRACE_LLVM_SCC ? ", first of a component" : "",
		      &frame->names[1])))
		return NULL;
	return frame;
}

bool llvm_frames__precede(struct code_functions *functions, const struct trace_stack *entry)
{
	uint32_t number;

	return entry->kind == TRACE_STACK_LOCATION &&
	       !code_functions__find(functions, entry, &number) &&
	       code_functions__is_of(functions, number, CODE_LLVM);
}

void llvm_frames__destroy(struct llvm_frames *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->at[i].names[0]);
		free(f->at[i].names[1]);
	}
	free(f->at);
	*f = (struct llvm_frames){};
}
