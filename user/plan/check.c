// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/check.h"

#include <zlib.h>

#include "base/array.h"
#include "plan/code/sum.h"

uint32_t plan_code_crc(const struct elf_image *img, const struct plan *plan)
{
	uint32_t crc = crc32_z(0, NULL, 0);

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		uint8_t code[PLAN_CODE_BYTES];
		size_t len = elf_image__copy(img, plan->sites[i].addr, code, sizeof(code));

		crc = crc32_z(crc, code, len);
	}
	return crc;
}

static bool slot_fits(int32_t bytes)
{
	return bytes == PLAN_NO_SLOT || (bytes >= 0 && bytes % 4 == 0 && bytes <= PLAN_SLOT_MAX);
}

static bool source_is_sound(const struct wire_source *s)
{
	return !s->text ||
	       (place_is_sound(&s->string) &&
		((s->text != WIRE_ARGUMENT_STRING && s->text != WIRE_ARGUMENT_C_STRING) ||
		 place_is_sound(&s->length)) &&
		(!s->value || s->value == WIRE_VALUE_CALL || place_is_sound(&s->number)));
}

const char *plan_expansions_excess(const struct wire_expansions *x)
{
	if (!x->size)
		return NULL;
	return x->table < PLAN_LAYOUT_MAX && x->count < PLAN_LAYOUT_MAX &&
			       x->size < PLAN_LAYOUT_MAX && x->kind < x->size &&
			       x->call < x->size && x->tag < 256 && x->macro < WIRE_KIND_BYTES &&
			       x->symbol <= WIRE_KIND_BYTES - 4
		       ? NULL
		       : "expansions with a field behind their end";
}

static const char *excess_of_guard(const struct plan_guard *g)
{
	if (!source_is_sound(&g->source))
		return "a guard's argument more than 1 MiB from a register";
	if (g->scope > WIRE_SCOPE_TIMER)
		return "more than 65,534 functions with guards";
	if (!g->number)
		return "a guard without a number";
	return slot_fits(g->label_slot) ? NULL : "a label more than 262,136 bytes up the stack";
}

static bool vtable_fits(int32_t offset)
{
	return offset >= 0 && offset % 8 == 0 && offset <= PLAN_VTABLE_MAX;
}

const char *plan_step_excess(const struct plan_step *s)
{
	if (!slot_fits(s->slot) || s->slot % 8 == 4 ||
	    (s->reg == WIRE_REG_NONE && s->slot == PLAN_NO_SLOT))
		return "a caller's vtable or return address more than 262,136 bytes up the stack";
	return vtable_fits(s->vtable_offset) ? NULL : "a vtable of more than 32,768 bytes";
}

const char *plan_site_excess(const struct plan_site *s)
{
	/* A wrapper is a request, too, where callers are recorded. */
	int32_t back = s->role == WIRE_ROLE_WRAPPER ? s->sp_delta : s->slot;

	if ((s->role == WIRE_ROLE_REQUEST || s->role == WIRE_ROLE_WRAPPER) &&
	    (s->addr > UINT32_MAX || back < 0 || back % 8))
		return "a wrapper whose return address has no known place, or 4 GiB of code";
	if (s->role == WIRE_ROLE_GUARD_CALLED && s->slot < 0)
		return "a load whose return address has no known place";
	if (!slot_fits(s->slot) || !slot_fits(s->key_slot))
		return "an operand more than 262,136 bytes up the stack";
	if ((s->role == WIRE_ROLE_IDENTIFY || s->role == WIRE_ROLE_GUARD_QUERY) &&
	    !vtable_fits(s->vtable_offset))
		return "a vtable of more than 32,768 bytes";
	if (s->sp_delta % 8 || s->sp_delta < -PLAN_SP_DELTA_MAX || s->sp_delta > PLAN_SP_DELTA_MAX)
		return "a probe site more than 16,376 bytes down the stack";
	return NULL;
}

static bool field_fits(uint32_t at, uint32_t bytes, uint32_t size)
{
	return size <= PLAN_LAYOUT_MAX && at < size && size - at >= bytes;
}

static const char *tags_excess(const struct plan_layout *l)
{
	for (uint32_t i = 0; i < WIRE_TAGS; i++)
		if (l->wire.tags[i] < WIRE_TAG_NAMED && l->wire.tags[i] >= PLAN_LAYOUT_MAX)
			return "a kind of definitions whose symbol has a number above 1,048,575";
	if (l->wire.unnamed >= PLAN_LAYOUT_MAX)
		return "definitions without a name whose symbol has a number above 1,048,575";
	if (l->root >= WIRE_TAGS || l->wire.tags[l->root] >= WIRE_TAG_NAMED)
		return "a kind of crate roots above 31, or without a name";
	return NULL;
}

static const char *crates_excess(const struct wire_layout_crates *w, uint32_t definition)
{
	const uint32_t offsets[] = {w->own_id, w->store,     w->crates, w->n_crates,
				    w->name,   w->stable_id, w->keys,	w->keys_mask};

	if (!w->size)
		return NULL;
	if (w->size < 12 || w->size > 68 || w->size - 4 != definition ||
	    !field_fits(w->index, 4, w->size) || !field_fits(w->key, definition, w->size) ||
	    (w->index < w->key + definition && w->key < w->index + 4))
		return "entries of a cache that hold no definition of another crate";
	for (size_t i = 0; i < N_OF(offsets); i++)
		if (offsets[i] >= PLAN_LAYOUT_MAX)
			return "names of crates more than 1 MiB behind the start of their struct";
	return NULL;
}

const char *plan_places_excess(const struct wire_layout_places *p)
{
	const uint32_t within[] = {p->spans,   p->n_spans,  p->source_map, p->files,
				   p->n_files, p->interned, p->n_interned};
	const uint32_t words[] = {p->name,  p->name_length, p->name_capacity,
				  p->state, p->lines,	    p->n_lines};

	if (!p->known)
		return NULL;
	if (!p->first || (p->first > 16 && p->first != WIRE_SPANS_IN_ONE) || !p->step ||
	    p->step > 2)
		return "buckets of spans that begin with more than 16, or grow by more than 4";
	for (size_t i = 0; i < N_OF(within); i++)
		if (within[i] >= PLAN_LAYOUT_MAX)
			return "tables of places more than 1 MiB behind the start of their struct";
	if (p->file_size > WIRE_FILE_SIZE_MAX || !field_fits(p->file_start, 4, p->file_size) ||
	    !field_fits(p->file_length, 4, p->file_size))
		return "source files of more than 512 bytes";
	for (size_t i = 0; i < N_OF(words); i++)
		if (!field_fits(words[i], 8, p->file_size))
			return "source files with a field behind their end";
	if (p->interned_size < 16 || p->interned_size > 64 ||
	    !field_fits(p->position, 4, p->interned_size) ||
	    !field_fits(p->context, 4, p->interned_size))
		return "interned spans of less than 16 or more than 64 bytes";
	return NULL;
}

const char *plan_calls_excess(const struct wire_layout_calls *c)
{
	if (!c->context_size)
		return NULL;
	if (c->contexts >= PLAN_LAYOUT_MAX || c->n_contexts >= PLAN_LAYOUT_MAX ||
	    c->expansions >= PLAN_LAYOUT_MAX || c->n_expansions >= PLAN_LAYOUT_MAX)
		return "tables of expansions more than 1 MiB behind the start of their struct";
	if (c->context_size > WIRE_EXPANSION_MAX || c->expansion_size > WIRE_EXPANSION_MAX ||
	    !field_fits(c->crate, 4, c->context_size) ||
	    !field_fits(c->number, 4, c->context_size) ||
	    !field_fits(c->call, 8, c->expansion_size) || c->kind >= c->expansion_size ||
	    c->tag > UINT8_MAX)
		return "contexts or expansions with a field behind their end";
	return NULL;
}

const char *plan_layout_excess(const struct plan_layout *l)
{
	const struct wire_layout *w = &l->wire;

	if (!w->size)
		return NULL;
	if (w->size < 8 || w->size > 64 || w->symbol_size < 16 || w->symbol_size > 64)
		return "definitions of less than 8 or more than 64 bytes, or symbols of less than "
		       "16 or more than 64";
	if (!field_fits(w->tag, 4, w->size) || !field_fits(w->symbol, 4, w->size) ||
	    !field_fits(l->parent, 4, w->size) || !field_fits(l->disambiguator, 4, w->size))
		return "definitions with a field behind their end";
	if (!field_fits(w->text, 8, w->symbol_size) || !field_fits(w->length, 8, w->symbol_size))
		return "symbols with a field behind their end";
	if (w->context >= PLAN_LAYOUT_MAX || w->table >= PLAN_LAYOUT_MAX ||
	    w->count >= PLAN_LAYOUT_MAX || w->symbols >= PLAN_LAYOUT_MAX ||
	    w->n_symbols >= PLAN_LAYOUT_MAX)
		return "tables of names more than 1 MiB behind the start of their struct";
	if (w->current.context >= PLAN_LAYOUT_MAX)
		return "a context more than 1 MiB behind the start of its struct";
	return tags_excess(l) ?: crates_excess(&w->crates, w->size)
		?: plan_places_excess(&w->places) ?: plan_calls_excess(&w->calls);
}

const char *plan_excess(const struct plan *plan)
{
	const char *excess = NULL;

	if (plan->n_queries > WIRE_NO_QUERY)
		return "more than 65,535 queries";
	if (plan->n_bodies > WIRE_NO_GROUP)
		return "more than 65,535 bodies of try_execute_query";
	if (plan->n_guards > 0x10000)
		return "more than 65,536 guards";
	for (uint32_t i = 0; i < plan->n_guards && !excess; i++)
		excess = excess_of_guard(&plan->guards[i]);
	for (uint32_t i = 0; i < plan->n_sites && !excess; i++)
		excess = plan_site_excess(&plan->sites[i]);
	for (uint32_t i = 0; i < plan->n_steps && !excess; i++)
		excess = plan_step_excess(&plan->steps[i]);
	return excess ?: plan_layout_excess(&plan->layout) ?: plan_expansions_excess(&plan->expansions);
}
