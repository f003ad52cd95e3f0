// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static bool is_same(const struct job *a, const struct job *b)
{
	return a->parent == b->parent && a->key == b->key && a->query == b->query &&
	       a->lib == b->lib;
}

int jobs__note(struct jobs *j, const struct wire_job *r)
{
	const struct job new = {
		.parent = r->parent, .key = r->key, .query = r->query, .lib = r->lib};

	uint32_t known = r->job ? u64_map__get(&j->known, r->job) : U64_MAP_NONE;

	/* Without probes another context has jobs of the same numbers, and no drop is between. */
	if (known != U64_MAP_NONE && !is_same(&j->items[known], &new))
		j->items[known] = new;
	if (!r->job || j->n == JOBS_MAX || known != U64_MAP_NONE)
		return 0;
	if (array__reserve_one(&j->items, j->n, &j->capacity, sizeof(*j->items)))
		return -ENOMEM;
	j->items[j->n] = new;
	return u64_map__put(&j->known, r->job, j->n++);
}

static struct job *find(const struct jobs *j, uint64_t number)
{
	uint32_t at = number ? u64_map__get(&j->known, number) : U64_MAP_NONE;

	return at == U64_MAP_NONE ? NULL : &j->items[at];
}

static int put(const struct jobs_context *c, struct job *job, const struct job *parent)
{
	struct trace_job out = {
		.process = c->process,
		.invocation = TRACE_NO_INVOCATION,
		.parent = parent ? parent->id : TRACE_NO_JOB,
	};
	int err;

	if (job->refused || job->lib != c->lib || job->query >= c->library->n_labels ||
	    c->library->labels[job->query] == DECODER_NO_LABEL)
		return 0;
	job->depth = out.parent ? parent->depth + 1 : 1;
	job->refused = job->depth > TRACE_JOB_DEPTH_MAX;
	if (job->refused)
		return 0;
	out.query = c->library->labels[job->query];
	err = c->library->keys ? keys__note(c->keys, job->key, &out.invocation) : 0;
	err = err ?: c->sink->job(c->sink->ctx, &out, job->key, &job->id);
	job->refused = !job->id;
	return err;
}

int jobs__in_trace(struct jobs *j, const struct jobs_context *c, uint64_t number, uint32_t *id)
{
	/* One of more, or a circle, which no compiler makes, begins anew. */
	struct job *chain[TRACE_JOB_DEPTH_MAX];
	struct job *job = c->sink->job ? find(j, number) : NULL, *parent;
	uint32_t n = 0;
	int err = 0;

	*id = TRACE_NO_JOB;
	for (; job && !job->id && n < TRACE_JOB_DEPTH_MAX; job = find(j, job->parent))
		chain[n++] = job;
	parent = job && job->id ? job : NULL;
	while (n-- && !err) {
		if (!chain[n]->id)
			err = put(c, chain[n], parent);
		parent = chain[n];
	}
	job = find(j, number);
	*id = job ? job->id : TRACE_NO_JOB;
	return err;
}

int jobs__stack(const struct jobs *j, const struct jobs_context *c, uint64_t number,
		uint32_t *stack)
{
	const struct job *chain[TRACE_JOB_DEPTH_MAX], *job = find(j, number);
	uint32_t n = 0;
	int err = 0;

	for (; job && n < TRACE_JOB_DEPTH_MAX; job = find(j, job->parent))
		chain[n++] = job;
	while (n-- && !err && c->sink->stack) {
		struct trace_stack entry = {.parent = *stack, .kind = TRACE_STACK_QUERY};

		if (chain[n]->lib != c->lib || chain[n]->query >= c->library->n_labels)
			continue;
		entry.place = c->library->labels[chain[n]->query];
		if (entry.place != DECODER_NO_LABEL)
			err = c->sink->stack(c->sink->ctx, &entry, stack);
	}
	return err == -E2BIG ? 0 : err;
}

void jobs__clear(struct jobs *j)
{
	u64_map__destroy(&j->known);
	free(j->items);
	*j = (struct jobs){0};
}

/* ---- Entries of LLVM ------------------------------------------------------------------------- */

int llvm_names__record(struct llvm_names *n, struct symbols *symbols,
		       const struct decoder_sink *sink, const struct wire_llvm_name *r)
{
	char name[WIRE_LLVM_NAME_MAX];
	uint32_t id;
	int err;

	if (!r->size || r->size >= sizeof(name))
		return -EBADMSG;
	if (!n || !sink->text || !sink->llvm || n->strings.used >= LLVM_NAMES_MAX)
		return 0;
	for (uint32_t i = 0; i < r->size; i++)
		name[i] = r->bytes[i] <= ' ' || r->bytes[i] > '~' ? '?' : (char)r->bytes[i];
	name[r->size] = '\0';
	err = sink->text(sink->items, name, &id);
	/* Without room in the trace, its samples are counted. */
	if (err || id == TRACE_NO_STRING)
		return err;
	if (symbols && sink->symbol)
		err = symbols__want(symbols, name, id);
	return err ?: u64_map__put(&n->strings, r->number, id);
}

void llvm_names__clear(struct llvm_names *n)
{
	u64_map__destroy(&n->strings);
}

int llvm_entry(const struct llvm_context *c, const struct wire_sample *r, uint32_t *id)
{
	static const uint8_t scopes[WIRE_LLVM_SCOPES] = {
		[WIRE_LLVM_FUNCTION] = TRACE_LLVM_FUNCTION,
		[WIRE_LLVM_COMPONENT] = TRACE_LLVM_SCC,
		[WIRE_LLVM_MODULE] = TRACE_LLVM_MODULE,
		[WIRE_LLVM_NONE] = TRACE_LLVM_NONE,
	};
	uint8_t scope = r->llvm & (WIRE_LLVM_CODEGEN - 1);
	struct trace_llvm entry = {.function = TRACE_NO_STRING, .pass = TRACE_NO_STRING};
	uint32_t function = U64_MAP_NONE;
	const char *pass = NULL;
	bool lost = false;
	int err = 0;

	*id = TRACE_NO_LLVM;
	if (!scope || scope >= WIRE_LLVM_SCOPES || !c->sink->llvm || !c->sink->text)
		return 0;
	entry.scope = scopes[scope];
	entry.codegen = r->llvm & WIRE_LLVM_CODEGEN;
	if (r->llvm_function && (scope == WIRE_LLVM_FUNCTION || scope == WIRE_LLVM_COMPONENT)) {
		function = u64_map__get(&c->names->strings, r->llvm_function);
		lost = function == U64_MAP_NONE;
	}
	if (function != U64_MAP_NONE)
		entry.function = function;
	if (c->passes)
		pass = llvm_passes__name(&c->passes->passes, r->llvm_pass & (~0ull >> 16));
	if (pass) {
		err = c->sink->text(c->sink->items, pass, &entry.pass);
		lost |= entry.pass == TRACE_NO_STRING;
	}
	*c->n_unnamed += lost;
	return err ?: c->sink->llvm(c->sink->ctx, &entry, id);
}
