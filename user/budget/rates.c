// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/rates.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/diag.h"
#include "budget/guard_groups.h"
#include "plan/cache.h"

#define VERSION 4
#define MAGIC	"qprof-ra"
/* Magic; checksum of what follows; queries; groups; checksum of their names; turn; */
/* compilers; their CPU time in us; results of queries without probes; how many are usual. */
#define HEADER (8 + 4 + 4 + 4 + 4 + 4 + 8 + 8 + 8 + 8)
/* Executions; CPU time in us. */
#define PER_ONE (8 + 8)
/* Intervals; CPU time in us. */
#define PER_GROUP (8 + 8)
/* Rates over more CPU time than this lose weight against new ones. */
#define MEMORY_S 30.0
/* Limits that no real library reaches: events per second of CPU time, and CPU time. */
#define MOST_PER_S  1e8
#define MOST_CPU_US 1000000000000ull
/* A usual rate counts as much as what was seen in so much CPU time. */
#define USUAL_S 0.1
/* The part of all usual rates that a compile has at most, and the executions that it counts as. */
#define SHARE_OF_USUAL	0.35
#define USUAL_SHARE_FOR 10000.0
/* The same of compilers: those of one crate each. */
#define USUAL_COMPILERS_PER_S 1.0
#define USUAL_COMPILERS_S     0.5
/* A group of guards that was not met in so much CPU time does not occur in such compiles. */
#define NEVER_S 0.2

static uint32_t add_text(uint32_t crc, const char *text)
{
	return (uint32_t)crc32_z(crc, (const Bytef *)text, strlen(text) + 1);
}

static int add_groups(struct rates *r, const struct plan *plan)
{
	_free_ uint32_t *group_of = calloc(plan->n_guards + 1ul, sizeof(*group_of));

	if (!group_of)
		return -ENOMEM;
	r->n_groups = guard_groups_find(plan, group_of);
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const uint8_t bytes[] = {plan->guards[i].kind, (uint8_t)group_of[i],
					 (uint8_t)(group_of[i] >> 8)};

		r->names_crc = (uint32_t)crc32_z(r->names_crc, bytes, sizeof(bytes));
		r->names_crc = add_text(r->names_crc, plan->guards[i].label ?: "");
	}
	r->groups = calloc(r->n_groups + 1ul, sizeof(*r->groups));
	return r->groups ? 0 : -ENOMEM;
}

int rates__new(const struct plan *plan, struct rates **out)
{
	_rates_ struct rates *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->n = plan->n_queries;
	r->queries = calloc(r->n + 1ul, sizeof(*r->queries));
	if (!r->queries)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n; i++)
		r->names_crc = add_text(r->names_crc, plan->queries[i].name);
	err = add_groups(r, plan);
	if (err)
		return err;
	if (plan->file)
		r->id = *library_file__identity(plan->file);
	*out = take_ptr(r);
	return 0;
}

/* ---- The file -------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *p, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		*p++ = (uint8_t)(value >> 8 * i);
	return p;
}

static uint64_t get(const uint8_t **p, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t) * (*p)++ << 8 * i;
	return value;
}

static size_t size_of(const struct rates *r)
{
	return HEADER + (size_t)r->n * PER_ONE + (size_t)r->n_groups * PER_GROUP;
}

int rates__encode(const struct rates *r, uint8_t **buf, size_t *len)
{
	size_t size = size_of(r);
	uint8_t *out = malloc(size), *p;

	if (!out)
		return -ENOMEM;
	memcpy(out, MAGIC, 8);
	p = put(out + 12, r->n, 4);
	p = put(p, r->n_groups, 4);
	p = put(p, r->names_crc, 4);
	p = put(p, r->turn, 4);
	p = put(p, (uint64_t)llround(r->compilers), 8);
	p = put(p, (uint64_t)llround(r->cpu_s * 1e6), 8);
	p = put(p, (uint64_t)llround(r->others), 8);
	p = put(p, (uint64_t)llround(r->usual_others), 8);
	for (uint32_t i = 0; i < r->n; i++) {
		p = put(p, (uint64_t)llround(r->queries[i].executions), 8);
		p = put(p, (uint64_t)llround(r->queries[i].cpu_s * 1e6), 8);
	}
	for (uint32_t i = 0; i < r->n_groups; i++) {
		p = put(p, (uint64_t)llround(r->groups[i].intervals), 8);
		p = put(p, (uint64_t)llround(r->groups[i].cpu_s * 1e6), 8);
	}
	put(out + 8, crc32_z(0, out + 12, size - 12), 4);
	*buf = out;
	*len = size;
	return 0;
}

static bool may_be(uint64_t events, uint64_t cpu_us)
{
	return cpu_us <= MOST_CPU_US && (double)events <= (double)cpu_us / 1e6 * MOST_PER_S;
}

static int decode_groups(const uint8_t *p, struct rates *like)
{
	for (uint32_t i = 0; i < like->n_groups; i++) {
		uint64_t n = get(&p, 8), cpu_us = get(&p, 8);

		if (!may_be(n, cpu_us))
			return -EBADMSG;
		like->groups[i] = (struct rates_group){(double)n, (double)cpu_us / 1e6};
	}
	return 0;
}

int rates__decode(const uint8_t *buf, size_t len, struct rates *like)
{
	const uint8_t *p = buf + 8;
	uint64_t compilers, cpu_us, others, usual_others;

	if (len != size_of(like) || memcmp(buf, MAGIC, 8) ||
	    get(&p, 4) != crc32_z(0, buf + 12, len - 12) || get(&p, 4) != like->n ||
	    get(&p, 4) != like->n_groups || get(&p, 4) != like->names_crc)
		return -EBADMSG;
	like->turn = (uint32_t)get(&p, 4);
	compilers = get(&p, 8);
	cpu_us = get(&p, 8);
	others = get(&p, 8);
	usual_others = get(&p, 8);
	if (!may_be(compilers, cpu_us) || !may_be(others, cpu_us) || !may_be(usual_others, cpu_us))
		return -EBADMSG;
	like->compilers = (double)compilers;
	like->cpu_s = (double)cpu_us / 1e6;
	like->others = (double)others;
	like->usual_others = (double)usual_others;
	for (uint32_t i = 0; i < like->n; i++) {
		uint64_t executions = get(&p, 8);

		cpu_us = get(&p, 8);
		if (!may_be(executions, cpu_us))
			return -EBADMSG;
		like->queries[i] = (struct rates_query){(double)executions, (double)cpu_us / 1e6};
	}
	return decode_groups(p, like);
}

static struct plan_cache_key key_of(const struct rates *r)
{
	return (struct plan_cache_key){
		.kind = "rates",
		.version = VERSION,
		.id = &r->id,
		.advice = true,
	};
}

int rates__load(const struct plan *plan, struct rates **out)
{
	_rates_ struct rates *r = NULL;
	_free_ uint8_t *buf = NULL;
	struct plan_cache_key key;
	size_t len = 0;
	int err = rates__new(plan, &r);

	if (err)
		return err;
	key = key_of(r);
	if (!plan_cache__read(&key, &buf, &len) && rates__decode(buf, len, r)) {
		diag_verbose("the rates kept for %s cannot be used", plan->path);
		rates__free(take_ptr(r));
		err = rates__new(plan, &r);
	}
	if (!err)
		*out = take_ptr(r);
	return err;
}

void rates__store(const struct rates *r)
{
	struct plan_cache_key key = key_of(r);
	_free_ uint8_t *buf = NULL;
	size_t len;

	if (!rates__is_empty(r) && !rates__encode(r, &buf, &len))
		plan_cache__write(&key, buf, len);
}

/* ---- Rates ----------------------------------------------------------------------------------- */

/* The share of the weight of `old_s` that is left after `new_s` more. */
static double kept(double old_s, double new_s)
{
	if (old_s + new_s <= MEMORY_S)
		return 1;
	return new_s > MEMORY_S ? 0 : (MEMORY_S - new_s) / old_s;
}

/* A process that exits early may have no known CPU time, so its rate would be impossible. */
static double at_most(double events, double cpu_s)
{
	return events < cpu_s * MOST_PER_S ? events : floor(cpu_s * MOST_PER_S);
}

static void add(double *events, double *cpu_s, double more_events, double more_s)
{
	double keep = kept(*cpu_s, more_s);

	*cpu_s = *cpu_s * keep + more_s;
	*events = at_most(*events * keep + more_events, *cpu_s);
}

void rates__add(struct rates *r, const struct rates *more)
{
	double keep = kept(r->cpu_s, more->cpu_s);

	for (uint32_t i = 0; i < r->n && i < more->n; i++)
		add(&r->queries[i].executions, &r->queries[i].cpu_s, more->queries[i].executions,
		    more->queries[i].cpu_s);
	for (uint32_t i = 0; i < r->n_groups && i < more->n_groups; i++)
		add(&r->groups[i].intervals, &r->groups[i].cpu_s, more->groups[i].intervals,
		    more->groups[i].cpu_s);
	add(&r->compilers, &r->cpu_s, more->compilers, more->cpu_s);
	r->others = at_most(r->others * keep + more->others, r->cpu_s);
	r->usual_others = at_most(r->usual_others * keep + more->usual_others, r->cpu_s);
}

bool rates__is_empty(const struct rates *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->queries[i].cpu_s > 0)
			return false;
	return r->cpu_s <= 0;
}

static double mixed(double events, double cpu_s, double usual, double usual_s)
{
	return (events + usual * usual_s) / (cpu_s + usual_s);
}

double rates__of(const struct rates *r, uint32_t query, double usual)
{
	const struct rates_query *q = &r->queries[query];

	return mixed(q->executions, q->cpu_s, usual, USUAL_S);
}

double rates__of_group(const struct rates *r, uint32_t group)
{
	const struct rates_group *g = &r->groups[group];

	return mixed(g->intervals, g->cpu_s, 0, USUAL_S);
}

double rates__share_of_usual(const struct rates *r)
{
	double share = mixed(r->others, r->usual_others, SHARE_OF_USUAL, USUAL_SHARE_FOR);

	return share < 1 ? share : 1;
}

double rates__compilers(const struct rates *r)
{
	return mixed(r->compilers, r->cpu_s, USUAL_COMPILERS_PER_S, USUAL_COMPILERS_S);
}

bool rates__never(const struct rates *r, uint32_t group)
{
	const struct rates_group *g = &r->groups[group];

	return g->cpu_s >= NEVER_S && g->intervals < 0.5;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	free(r->queries);
	free(r->groups);
	free(r);
}
