// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/job_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "qprof/trace_format.h"

_Static_assert(TRACE_JOB_DEPTH_MAX == QPT_JOB_DEPTH_MAX, "the same limit");
_Static_assert(sizeof(struct trace_job) == QPT_EXPANSION_JOB, "what it counts");

int job_table__add(struct job_table *t, const struct trace_job *job, uint32_t *id)
{
	uint32_t n = t->first + t->n;

	if (job->parent > n)
		return -EINVAL;
	if (n == QPT_JOBS_MAX)
		return -E2BIG;
	if (array__add(&t->items, &t->n, &t->capacity, job))
		return -ENOMEM;
	*id = n + 1;
	return 0;
}

int job_table__payload(struct job_table *t, struct byte_buffer *out)
{
	uint64_t process = 0, invocation = 0;

	byte_buffer__varint(out, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct trace_job *job = &t->items[i];
		uint64_t number = (uint32_t)(job->invocation + 1); /* 0: none */

		byte_buffer__varint(out, bytes_zigzag(job->process - process));
		byte_buffer__varint(out, job->query);
		byte_buffer__varint(out, bytes_zigzag(number - invocation));
		byte_buffer__varint(out, job->parent ? t->first + i + 1 - job->parent : 0);
		process = job->process;
		invocation = number;
	}
	t->first += t->n;
	t->n = 0;
	return out->failed ? -ENOMEM : 0;
}

int job_table__take(struct job_table *t, struct byte_reader *in, uint32_t n_processes,
		    uint32_t n_strings, const char **why)
{
	uint64_t process = 0, invocation = 0;
	/* Each takes at least four bytes, so the payload limits the count. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 4);

	*why = "a list of jobs is malformed";
	if (n > QPT_JOBS_MAX - t->n)
		return -EBADMSG;
	if (!expansion__make(t->expansion, n * QPT_EXPANSION_JOB))
		return -E2BIG;
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		struct trace_job job;
		uint64_t back;

		process += bytes_unzigzag(byte_reader__varint(in));
		job.query = byte_reader__varint_max(in, UINT32_MAX);
		invocation += bytes_unzigzag(byte_reader__varint(in));
		back = byte_reader__varint(in);
		if (process >= n_processes || job.query >= n_strings || invocation > UINT32_MAX ||
		    back > t->n)
			return -EBADMSG;
		job.process = (uint32_t)process;
		job.invocation = (uint32_t)invocation - 1;
		job.parent = back ? (uint32_t)(t->n + 1 - back) : TRACE_NO_JOB;
		job.depth = back ? t->items[job.parent - 1].depth + 1 : 1;
		if (job.depth > QPT_JOB_DEPTH_MAX)
			return -EBADMSG;
		if (array__add(&t->items, &t->n, &t->capacity, &job))
			return -ENOMEM;
	}
	return in->bad || in->at != in->end ? -EBADMSG : 0;
}

void job_table__destroy(struct job_table *t)
{
	free(t->items);
}

/* ---- Entries of LLVM ------------------------------------------------------------------------- */

_Static_assert(sizeof(struct trace_llvm) == QPT_EXPANSION_LLVM, "what it counts");
_Static_assert(TRACE_LLVM_SCOPES == QPT_LLVM_SCOPE_MASK + 1, "the scopes");
_Static_assert(QPT_STRINGS_MAX < 1u << 28, "two strings and a head fit into a key");

static uint8_t head_of(const struct trace_llvm *entry)
{
	return entry->scope | (entry->codegen ? QPT_LLVM_CODEGEN : 0);
}

/* A module has no name, and SCCs are named by a function. */
static bool is_sound(const struct trace_llvm *entry, uint32_t n_strings)
{
	bool has_function = entry->function != TRACE_NO_STRING;

	return entry->scope < TRACE_LLVM_SCOPES &&
	       (entry->pass == TRACE_NO_STRING || entry->pass < n_strings) &&
	       (!has_function || entry->function < n_strings) &&
	       !(has_function &&
		 (entry->scope == TRACE_LLVM_NONE || entry->scope == TRACE_LLVM_MODULE));
}

int llvm_table__add(struct llvm_table *t, const struct trace_llvm *entry, uint32_t n_strings,
		    uint32_t *id)
{
	uint64_t key = (uint64_t)head_of(entry) << 60 |
		       (uint64_t)((entry->pass + 1) & 0x3fffffff) << 30 |
		       ((entry->function + 1) & 0x3fffffff);
	uint32_t found;

	if (!is_sound(entry, n_strings))
		return -EINVAL;
	found = u64_map__get(&t->known, key);
	if (found != U64_MAP_NONE) {
		*id = found;
		return 0;
	}
	if (t->n == QPT_LLVM_MAX)
		return -E2BIG;
	if (u64_map__put(&t->known, key, t->n + 1))
		return -ENOMEM;
	if (array__add(&t->items, &t->n, &t->capacity, entry)) {
		u64_map__remove(&t->known, key);
		return -ENOMEM;
	}
	*id = t->n;
	return 0;
}

int llvm_table__payload(struct llvm_table *t, struct byte_buffer *out)
{
	byte_buffer__varint(out, t->n - t->written);
	for (uint32_t i = t->written; i < t->n; i++) {
		byte_buffer__varint(out, head_of(&t->items[i]));
		byte_buffer__varint(out, (uint32_t)(t->items[i].pass + 1));
		byte_buffer__varint(out, (uint32_t)(t->items[i].function + 1));
	}
	t->written = t->n;
	return out->failed ? -ENOMEM : 0;
}

int llvm_table__take(struct llvm_table *t, struct byte_reader *in, uint32_t n_strings,
		     const char **why)
{
	/* Each takes at least three bytes, so the payload limits the count. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 3);

	*why = "a list of LLVM's passes and functions is malformed";
	if (n > QPT_LLVM_MAX - t->n)
		return -EBADMSG;
	if (!expansion__make(t->expansion, n * QPT_EXPANSION_LLVM))
		return -E2BIG;
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t head = byte_reader__varint(in);
		/* 0: none, so that it becomes TRACE_NO_STRING. */
		uint32_t pass = (uint32_t)byte_reader__varint_max(in, n_strings) - 1;
		uint32_t function = (uint32_t)byte_reader__varint_max(in, n_strings) - 1;
		struct trace_llvm entry = {
			.pass = pass,
			.function = function,
			.scope = head & QPT_LLVM_SCOPE_MASK,
			.codegen = head & QPT_LLVM_CODEGEN,
		};

		if (in->bad || head & ~(uint64_t)(QPT_LLVM_SCOPE_MASK | QPT_LLVM_CODEGEN) ||
		    !is_sound(&entry, n_strings))
			return -EBADMSG;
		if (array__add(&t->items, &t->n, &t->capacity, &entry))
			return -ENOMEM;
	}
	return in->bad || in->at != in->end ? -EBADMSG : 0;
}

void llvm_table__destroy(struct llvm_table *t)
{
	free(t->items);
	u64_map__destroy(&t->known);
}
