// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/llvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Files of one stack that have passes: LLVM's library, and the compiler's own. */
#define FILES_MAX 4

/* A module's number has no memory in this thread, or not yet. */
#define NO_MEMORY (~0ull)

/* If the stack's end is unknown. */
#define STACK_MOST (1ull << 30)

struct reading {
	const struct wire_llvm *l;
	uint64_t bias;
	const struct llvm_thread *thread;
	struct copied *memory;
	uint32_t entries;  /* that were understood */
	uint64_t pass;	   /* address of the innermost one's pass; 0: none */
	uint64_t function; /* address; 0: none */
	bool is_legacy;	   /* the innermost entry is, */
	bool is_certain;   /* and the function is one of PassManager<Function> */
};

/* 0: it cannot be read, or it is 0. */
static uint64_t word_at(const struct reading *r, uint64_t addr)
{
	uint64_t word;

	return copied__word(r->memory, addr, &word) ? word : 0;
}

/* Aligned words are in one page, so nothing is read beyond the last byte's. */
static bool read_bytes(const struct reading *r, uint64_t addr, void *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		if (!copied__word(r->memory, (addr + i) & ~7ull, &word))
			return false;
		((uint8_t *)to)[i] = (uint8_t)(word >> 8 * ((addr + i) & 7));
	}
	return true;
}

/* ---- The list -------------------------------------------------------------------------------- */

static void understand(struct reading *r, const uint64_t *words, unsigned int kind)
{
	uint64_t unit = words[r->l->unit[kind]];

	if (!r->entries++) {
		r->pass = words[r->l->pass[kind]];
		r->is_legacy = kind == WIRE_LLVM_LEGACY;
	}
	/* Of legacy entries the outermost: a loop's pass has a basic block as its value. */
	if (r->is_certain || kind == WIRE_LLVM_OF_MODULE || !unit)
		return;
	r->function = unit;
	r->is_certain = kind == WIRE_LLVM_OF_FUNCTION;
}

/*
 * Entries lie on the stack, each further out than the one before. A thread may have none. False:
 * the list cannot be read.
 */
static bool read_list(struct reading *r)
{
	uint64_t vector = word_at(r, r->thread->fs_base + 8), n, memory;
	uint64_t module = word_at(r, r->bias + r->l->module);
	uint64_t words[WIRE_LLVM_WORDS], low = r->thread->low, at = 0;

	if (!module || !copied__word(r->memory, vector - 16, &n))
		return false;
	memory = module > n ? 0 : word_at(r, vector + 16 * module);
	if (memory && memory != NO_MEMORY && !copied__word(r->memory, memory + r->l->head, &at))
		return false;
	for (int i = 0; at && i < WIRE_LLVM_ENTRIES; i++) {
		if (at < low || at >= r->thread->high || at & 7 ||
		    !read_bytes(r, at, words, sizeof(words)))
			return false;
		words[0] -= r->bias;
		if (!words[0] || words[0] >= r->l->size)
			return false;
		for (unsigned int kind = 0; kind < WIRE_LLVM_KINDS; kind++)
			if (words[0] == r->l->vtables[kind])
				understand(r, words, kind);
		low = at + 8;
		at = words[r->l->next];
	}
	return !at;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The address of the entry of the function's name; 0: not found. */
static uint64_t find_entry(const struct reading *r, const uint8_t *value)
{
	uint32_t bucket = (uint32_t)r->function >> 4 ^ (uint32_t)r->function >> 9, count, mask;
	uint64_t type, context, impl, buckets, pair[2];

	/* The context of the value's type has the table of names. */
	memcpy(&type, value + r->l->type_at, sizeof(type));
	context = word_at(r, type + r->l->context);
	impl = context ? word_at(r, context + r->l->impl) : 0;
	buckets = impl ? word_at(r, impl + r->l->names) : 0;
	if (!buckets || !read_bytes(r, impl + r->l->count, &count, sizeof(count)))
		return 0;
	mask = count - 1;
	if (!count || count & mask)
		return 0;
	for (uint32_t i = 0; i < WIRE_LLVM_STEPS; i++) {
		uint64_t at = buckets + (uint64_t)(bucket & mask) * WIRE_LLVM_BUCKET;

		if (!read_bytes(r, at, pair, sizeof(pair)) || pair[0] == WIRE_LLVM_EMPTY)
			return 0;
		if (pair[0] == r->function)
			return pair[1];
		bucket += i + 1;
	}
	return 0;
}

/*
 * LLVM makes no entries for passes over components of the call graph. But the function that runs
 * these has the component on the stack.
 */
static bool is_of_component(const struct reading *r)
{
	return r->thread->passes_sp && r->entries && !r->is_legacy && !r->function;
}

/* -EFAULT: it is no function, or its name cannot be read. */
static int name_function(const struct reading *r, char **out)
{
	uint8_t value[WIRE_LLVM_VALUE];
	_free_ char *name = NULL;
	uint64_t entry, size;

	if (!read_bytes(r, r->function, value, sizeof(value)) || value[r->l->kind_at] != r->l->kind)
		return -EFAULT;
	if (!(value[r->l->named_at] & r->l->named))
		return 0;
	entry = find_entry(r, value);
	size = entry ? word_at(r, entry + r->l->length) : 0;
	if (!size || size >= WIRE_LLVM_NAME_MAX)
		return -EFAULT;
	name = calloc(1, size + 1);
	if (!name)
		return -ENOMEM;
	if (!read_bytes(r, entry + r->l->bytes, name, size))
		return -EFAULT;
	for (uint64_t i = 0; i < size; i++)
		if (name[i] <= ' ' || name[i] > '~')
			name[i] = '?';
	*out = take_ptr(name);
	return 0;
}

/* The compiler's own library instantiates some passes. */
static int name_pass(const struct reading *r, const struct llvm_file *files, uint32_t n, char **out)
{
	uint64_t vtable = r->pass ? word_at(r, r->pass) : 0;
	const char *name = NULL;

	for (uint32_t i = 0; i < n && vtable && !name; i++)
		name = llvm_passes__name(&files[i].plan->passes, vtable - files[i].bias);
	if (!name)
		return 0;
	*out = strdup(name);
	return *out ? 0 : -ENOMEM;
}

/* ---- A thread -------------------------------------------------------------------------------- */

int stuck_llvm__read(const struct llvm_file *files, uint32_t n, const struct llvm_thread *thread,
		     struct copied *memory, struct stuck_llvm *out)
{
	const struct llvm_file *file = NULL;
	struct reading r = {.thread = thread, .memory = memory};
	_stuck_llvm_ struct stuck_llvm found = {};
	int err;

	*out = (struct stuck_llvm){};
	for (uint32_t i = 0; i < n && !file; i++)
		if (!files[i].plan->problem)
			file = &files[i];
	if (!file || !thread->fs_base)
		return 0;
	r.l = &file->plan->layout;
	r.bias = file->bias;
	if (!read_list(&r))
		return 0;
	found.scope = r.function  ? WIRE_LLVM_FUNCTION
		      : r.entries ? WIRE_LLVM_MODULE
				  : WIRE_LLVM_NONE;
	if (is_of_component(&r)) {
		uint64_t component = word_at(&r, thread->passes_sp + r.l->component);
		uint64_t node = word_at(&r, word_at(&r, component + r.l->nodes));

		found.scope = WIRE_LLVM_COMPONENT;
		/* Of a component whose functions are gone, the node may have anything. */
		r.function = word_at(&r, node + r.l->node_function);
	}
	err = r.function ? name_function(&r, &found.symbol) : 0;
	if (err == -EFAULT && found.scope == WIRE_LLVM_COMPONENT)
		err = 0; /* a pass may be replacing it */
	err = err ?: name_pass(&r, files, n, &found.pass);
	if (err)
		return err == -ENOMEM ? err : 0;
	found.codegen = r.is_legacy;
	*out = found;
	found = (struct stuck_llvm){};
	return 0;
}

static bool has_file(const struct llvm_file *files, uint32_t n, const struct llvm_plan *plan)
{
	for (uint32_t i = 0; i < n; i++)
		if (files[i].plan == plan)
			return true;
	return false;
}

int stuck_llvm__of_calls(const struct calls *calls, const struct stopped *s, struct copied *memory,
			 struct stuck_llvm *out)
{
	struct llvm_thread thread = {
		.fs_base = s->fs_base, .low = s->sp, .high = s->sp + STACK_MOST};
	struct llvm_file files[FILES_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < calls->n && n < FILES_MAX; i++) {
		const struct call *c = &calls->items[i];
		const struct unwind_table *t = c->file ? walked_file__table(c->file) : NULL;

		if (!t || !t->llvm || !c->addr)
			continue;
		if (!has_file(files, n, t->llvm))
			files[n++] = (struct llvm_file){t->llvm, c->pc - c->addr};
		/* The pc of a caller is in the call instruction. */
		if (!thread.passes_sp && t->llvm->layout.passes_return == c->addr + !!i)
			thread.passes_sp = c->sp;
	}
	/* The thread's first function makes no entry. */
	if (calls->whole && calls->n)
		thread.high = calls->items[calls->n - 1].sp;
	return stuck_llvm__read(files, n, &thread, memory, out);
}

void stuck_llvm__clear(struct stuck_llvm *l)
{
	free(l->pass);
	free(l->symbol);
	*l = (struct stuck_llvm){};
}
