// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/llvm.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static bool read_record(const void *record, size_t size, struct wire_llvm_name *out)
{
	const size_t bytes_at = offsetof(struct wire_llvm_name, bytes);

	if (size < bytes_at || size > sizeof(*out))
		return false;
	memcpy(out, record, size);
	return out->size && out->size < WIRE_LLVM_NAME_MAX && size == bytes_at + out->size;
}

int llvm_names__record(struct llvm_names *n, struct symbols *symbols,
		       const struct tracks_sink *sink, const void *record, size_t size)
{
	struct wire_llvm_name r;
	uint32_t id;
	int err;

	if (!read_record(record, size, &r))
		return -EBADMSG;
	if (!n || !sink->text || !sink->llvm || n->strings.used >= LLVM_NAMES_MAX)
		return 0;
	for (uint32_t i = 0; i < r.size; i++)
		if (r.bytes[i] <= ' ' || r.bytes[i] > '~')
			r.bytes[i] = '?';
	r.bytes[r.size] = '\0';
	err = sink->text(sink->ctx, (const char *)r.bytes, &id);
	/* Without room in the trace, its samples are counted. */
	if (err || id == TRACE_NO_STRING)
		return err;
	if (symbols && sink->symbol)
		err = symbols__want(symbols, (const char *)r.bytes, id);
	return err ?: u64_map__put(&n->strings, r.number, id);
}

void llvm_names__clear(struct llvm_names *n)
{
	u64_map__destroy(&n->strings);
}

/* TRACE_NO_STRING: it has none, or, with *lost, it is lost. */
static uint32_t function_of(const struct llvm_context *c, const struct wire_sample *r, bool *lost)
{
	uint32_t id = r->llvm_function ? u64_map__get(&c->names->strings, r->llvm_function)
				       : U64_MAP_NONE;

	if (id != U64_MAP_NONE)
		return id;
	*lost = r->llvm_function;
	return TRACE_NO_STRING;
}

static int set_pass(const struct llvm_context *c, const struct wire_sample *r, uint32_t *pass,
		    bool *lost)
{
	const char *name =
		c->passes ? llvm_passes__name(&c->passes->passes, r->llvm_pass & (~0ull >> 16))
			  : NULL;
	int err;

	*pass = TRACE_NO_STRING;
	if (!name)
		return 0;
	err = c->sink->text(c->sink->ctx, name, pass);
	*lost |= *pass == TRACE_NO_STRING;
	return err;
}

int llvm_entry(const struct llvm_context *c, const struct wire_sample *r, uint32_t *id)
{
	static const uint8_t scopes[WIRE_LLVM_SCOPES] = {
		[WIRE_LLVM_FUNCTION] = TRACE_LLVM_FUNCTION,
		[WIRE_LLVM_MODULE] = TRACE_LLVM_MODULE,
		[WIRE_LLVM_NONE] = TRACE_LLVM_NONE,
	};
	uint8_t scope = r->llvm & (WIRE_LLVM_CODEGEN - 1);
	struct trace_llvm entry = {.function = TRACE_NO_STRING};
	bool lost = false;
	int err;

	*id = TRACE_NO_LLVM;
	if (!scope || scope >= WIRE_LLVM_SCOPES || !c->sink->llvm || !c->sink->text)
		return 0;
	entry.scope = scopes[scope];
	entry.codegen = r->llvm & WIRE_LLVM_CODEGEN;
	if (scope == WIRE_LLVM_FUNCTION)
		entry.function = function_of(c, r, &lost);
	err = set_pass(c, r, &entry.pass, &lost);
	*c->n_unnamed += lost;
	return err ?: c->sink->llvm(c->sink->ctx, &entry, id);
}
