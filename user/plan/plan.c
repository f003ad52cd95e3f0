// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/library/file.h"
#include "plan/mine/hits.h"

struct plan *plan__ref(const struct plan *plan)
{
	struct plan *same = (struct plan *)(uintptr_t)plan;

	same->refs++;
	return same;
}

void plan__free(struct plan *plan)
{
	if (!plan || (plan->refs && plan->refs--))
		return;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		free(plan->queries[i].name);
		free(plan->queries[i].key_type);
		free(plan->queries[i].table_problem);
		free(plan->queries[i].result_keys_problem);
	}
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		free(plan->bodies[i].problem);
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		free(plan->guards[i].function);
		free(plan->guards[i].label);
		free(plan->guards[i].problem);
	}
	free(plan->guards);
	free(plan->expansions_problem);
	free(plan->queries);
	free(plan->bodies);
	free(plan->sites);
	free(plan->steps);
	free(plan->frames);
	free(plan->guard_frames);
	library_file__free(plan->file);
	free(plan->layout.problem);
	free(plan->layout.crates_problem);
	free(plan->layout.current_problem);
	free(plan->jobs.problem);
	free(plan->layout.places_problem);
	free(plan->layout.calls_problem);
	free(plan->keys_problem);
	free(plan->tables_problem);
	free(plan->feeds_problem);
	free(plan->path);
	free(plan->rustc_version);
	free(plan->mangling);
	free(plan->symbols_file);
	plan_hits__free(plan->hits);
	free(plan);
}

/*
 * rustc makes a definition with its kind, and with its visibility once names are resolved: their
 * providers answer for other crates only. No table says so: which local provider a query has, none
 * or one that panics, is in a table that the compiler fills in when it runs. So these two are known
 * by their names. The tests hold their counts against the probes'.
 */
bool plan_query__is_fed_always(const struct plan_query *q)
{
	return q->table.kind == WIRE_CACHE_DEF &&
	       (!strcmp(q->name, "def_kind") || !strcmp(q->name, "visibility"));
}

bool plan_site__feeds(const struct plan_site *s)
{
	return s->role == WIRE_ROLE_DROP && (s->reg != WIRE_REG_NONE || s->query != PLAN_NONE);
}

bool plan_site__feed_fits(int64_t offset)
{
	return offset >= 0 && offset % 8 == 0 && offset < 8 * 65535;
}

/*
 * Crates are fed by generic code, of which rustdoc's executable has an instance of its own. All
 * that makes definitions is in the library.
 */
enum plan_fed plan_query__fed(const struct plan *plan, const struct plan_query *q)
{
	bool definitions = q->key == WIRE_KEY_DEF || q->key == WIRE_KEY_LOCAL;
	bool vec = q->table.kind == WIRE_CACHE_DEF || q->table.kind == WIRE_CACHE_VEC;

	if (!q->table.kind)
		return PLAN_FED_UNKNOWN;
	if (!q->table.fed)
		return PLAN_FED_NOT;
	if (plan_query__is_fed_always(q))
		return PLAN_FED_LOCAL;
	return vec && definitions && !plan->feeds_problem ? PLAN_FED_SEEN : PLAN_FED_SOME;
}

bool plan_query__has_keys(const struct plan_query *q)
{
	if (q->table.kind == WIRE_CACHE_HASH)
		return q->table.entry_size && q->table.key;
	return (q->table.kind == WIRE_CACHE_VEC || q->table.kind == WIRE_CACHE_DEF) &&
	       (q->key == WIRE_KEY_LOCAL || q->key == WIRE_KEY_DEF || q->key == WIRE_KEY_CRATE);
}

bool plan_query__of_instances(const struct plan_query *q)
{
	return q->key == WIRE_KEY_MEMORY && q->key_type && !strcmp(q->key_type, "Instance");
}

/* rustc has no other name for it. */
bool plan_query__has_symbols(const struct plan_query *q)
{
	return plan_query__of_instances(q) && !strcmp(q->name, "symbol_name");
}

uint32_t plan__tables(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		n += plan->queries[i].table.kind != WIRE_CACHE_UNKNOWN;
	return n;
}

uint32_t plan__body_at(const struct plan *plan, uint64_t addr)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].addr == addr)
			return i;
	return PLAN_NONE;
}

uint32_t plan__requests(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		n += plan->sites[i].role == WIRE_ROLE_REQUEST;
	return n;
}

uint32_t plan__outlined(const struct plan *plan, uint32_t body)
{
	return body == PLAN_NONE ? PLAN_NONE : plan->bodies[body].outlined - 1;
}

bool plan__serves(const struct plan *plan, const struct plan_query *q, uint32_t body)
{
	return body != PLAN_NONE && (body == q->body_non_incr || body == q->body_incr ||
				     body == plan__outlined(plan, q->body_non_incr) ||
				     body == plan__outlined(plan, q->body_incr));
}

bool plan__has_numbers(const struct plan *plan, uint32_t body)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan__serves(plan, &plan->queries[i], body))
			return plan->queries[i].number != 0;
	return false;
}

bool plan_query__names(const struct plan_query *q)
{
	return q->key != WIRE_KEY_UNKNOWN && q->key != WIRE_KEY_UNIT;
}

/* An IDENTIFY site sees the starts of all queries of its body that have no START. */
static bool sees_start(const struct plan *plan, const struct plan_site *site, uint32_t i)
{
	const struct plan_query *q = &plan->queries[i];

	if (site->role == WIRE_ROLE_IDENTIFY)
		return (q->start_role == WIRE_ROLE_WRAPPER || q->number) &&
		       (site->body == q->body_incr ||
			site->body == plan__outlined(plan, q->body_incr));
	return plan_site__is_start(site) && site->query == i;
}

uint32_t plan__key_sites(const struct plan *plan, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < plan->n_sites; k++)
		n += sees_start(plan, &plan->sites[k], i) && plan_site__has_key(&plan->sites[k]);
	return n;
}

uint32_t plan_query__wrappers(const struct plan_query *q)
{
	return !!q->wrapper_non_incr + !!q->wrapper_incr;
}

/* rustc without -C incremental has no dependency graph, and returns before such a guard. */
enum plan_part plan_guard__part(const struct plan_guard *g)
{
	switch ((enum wire_kind)g->kind) {
	case WIRE_KIND_BLOCKED:
		return PLAN_PART_THREADS;
	case WIRE_KIND_LOAD:
	case WIRE_KIND_HASHING:
		return PLAN_PART_INCREMENTAL;
	default:
		return g->label && strstr(g->label, "incr") ? PLAN_PART_INCREMENTAL
							    : PLAN_PART_ALWAYS;
	}
}

bool plan_site__is_start(const struct plan_site *site)
{
	return site->role == WIRE_ROLE_START || site->role == WIRE_ROLE_START_BODY ||
	       site->role == WIRE_ROLE_WRAPPER || site->role == WIRE_ROLE_IDENTIFY;
}

bool plan_site__has_key(const struct plan_site *site)
{
	return site->key_reg != WIRE_REG_NONE || site->key_slot != PLAN_NO_SLOT;
}

const char *plan_role_name(enum wire_role role)
{
	static const char *const names[] = {
		[WIRE_ROLE_START] = "start",
		[WIRE_ROLE_START_BODY] = "start-body",
		[WIRE_ROLE_WRAPPER] = "wrapper",
		[WIRE_ROLE_IDENTIFY] = "identify",
		[WIRE_ROLE_END] = "end",
		[WIRE_ROLE_CAUGHT] = "caught",
		[WIRE_ROLE_REQUEST] = "request",
		[WIRE_ROLE_GUARD] = "guard",
		[WIRE_ROLE_GUARD_QUERY] = "guard-query",
		[WIRE_ROLE_GUARD_CALLED] = "guard-called",
		[WIRE_ROLE_GUARD_END] = "guard-end",
		[WIRE_ROLE_TIMER] = "timer",
		[WIRE_ROLE_TIMER_END] = "timer-end",
		[WIRE_ROLE_HIT] = "hit",
		[WIRE_ROLE_DROP] = "drop",
	};

	return role && role < N_OF(names) ? names[role] : "unknown";
}

const char *plan_site__role_name(const struct plan_site *s)
{
	return plan_site__feeds(s) ? "feed" : plan_role_name(s->role);
}

const char *plan_symbols_name(enum symbol_source source)
{
	static const char *const names[] = {
		[SYMBOLS_OF_LIBRARY] = "the library",
		[SYMBOLS_OF_DEBUGDATA] = "the library's .gnu_debugdata",
		[SYMBOLS_OF_BUILD_ID] = "a debug file, found by the build-id",
		[SYMBOLS_OF_DEBUGLINK] = "a debug file, found by .gnu_debuglink",
		[SYMBOLS_RECOVERED] = "the library's code",
	};

	return source < SYMBOL_SOURCES ? names[source] : "unknown";
}

const char *plan_kind_name(enum wire_kind kind)
{
	static const char *const names[] = {
		[WIRE_KIND_QUERY] = "Query",
		[WIRE_KIND_ACTIVITY] = "GenericActivity",
		[WIRE_KIND_BLOCKED] = "QueryBlocked",
		[WIRE_KIND_LOAD] = "IncrementalLoadResult",
		[WIRE_KIND_HASHING] = "IncrementalResultHashing",
	};

	return kind < WIRE_KIND_MAX ? names[kind] : "unknown";
}

const char *plan_key_name(enum wire_key key)
{
	switch (key) {
	case WIRE_KEY_UNIT:
		return "()";
	case WIRE_KEY_LOCAL:
		return "LocalDefId";
	case WIRE_KEY_DEF:
		return "DefId";
	case WIRE_KEY_CRATE:
		return "CrateNum";
	case WIRE_KEY_MEMORY:
		return "memory";
	default:
		return NULL;
	}
}

const char *plan_cache_name(enum wire_cache kind)
{
	static const char *const names[] = {
		[WIRE_CACHE_VEC] = "VecCache",
		[WIRE_CACHE_DEF] = "DefIdCache",
		[WIRE_CACHE_HASH] = "DefaultCache",
		[WIRE_CACHE_ONCE] = "SingleCache",
	};

	return kind < N_OF(names) ? names[kind] : NULL;
}

const char *plan_reg_name(enum wire_reg reg)
{
	static const char *const names[] = {
		[WIRE_REG_AX] = "rax",	[WIRE_REG_BX] = "rbx",	[WIRE_REG_CX] = "rcx",
		[WIRE_REG_DX] = "rdx",	[WIRE_REG_SI] = "rsi",	[WIRE_REG_DI] = "rdi",
		[WIRE_REG_BP] = "rbp",	[WIRE_REG_R8] = "r8",	[WIRE_REG_R9] = "r9",
		[WIRE_REG_R10] = "r10", [WIRE_REG_R11] = "r11", [WIRE_REG_R12] = "r12",
		[WIRE_REG_R13] = "r13", [WIRE_REG_R14] = "r14", [WIRE_REG_R15] = "r15",
	};

	return reg <= WIRE_REG_R15 ? names[reg] : "-";
}

/* ---- Names of definitions -------------------------------------------------------------------- */

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

struct definition definition__read(const struct plan_layout *l, const uint8_t *bytes)
{
	return (struct definition){
		.tag = word(bytes + l->wire.tag),
		.symbol = word(bytes + l->wire.symbol),
		.disambiguator = word(bytes + l->disambiguator),
		.parent = word(bytes + l->parent),
	};
}

static bool is_unnamed(const struct plan_layout *l, const struct definition *d)
{
	return !d->symbol && d->tag < WIRE_TAGS && l->wire.unnamed_tags >> d->tag & 1;
}

uint32_t definition__symbol(const struct plan_layout *l, const struct definition *d)
{
	uint32_t symbol = d->tag < WIRE_TAGS ? l->wire.tags[d->tag] : WIRE_TAG_UNKNOWN;

	if (is_unnamed(l, d))
		return l->wire.unnamed;
	return symbol == WIRE_TAG_NAMED ? d->symbol : symbol;
}

void definition__segment(const struct plan_layout *l, const struct definition *d, const char *text,
			 char out[DEFINITION_SEGMENT_MAX])
{
	bool named = d->tag < WIRE_TAGS && !is_unnamed(l, d) &&
		     (l->wire.tags[d->tag] == WIRE_TAG_NAMED || l->plain >> d->tag & 1);
	int n = snprintf(out, DEFINITION_SEGMENT_MAX, named ? "%.*s" : "{{%.*s}}", WIRE_SYMBOL_MAX,
			 text);

	if (d->disambiguator)
		snprintf(out + n, DEFINITION_SEGMENT_MAX - n, "[%u]", d->disambiguator);
}
