// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/rates.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/diag.h"
#include "plan/cache.h"

#define VERSION 1
#define MAGIC	"qprof-ra"
/* Magic; checksum of what follows; queries; checksum of their names. */
#define HEADER (8 + 4 + 4 + 4)
/* Executions; CPU time in us; mean in ns. */
#define PER_ONE (8 + 8 + 8)
/* What is older than so much CPU time weighs less than what is new. */
#define MEMORY_S 30.0
/* No library executes more than this per second of CPU time, nor takes a query this long. */
#define MOST_PER_S   1e8
#define MOST_MEAN_NS 1000000000000ull
#define MOST_CPU_US  1000000000000ull
/* Less than that tells nothing. */
#define LEAST_S 0.02

int rates__new(const struct plan *plan, struct rates **out)
{
	_rates_ struct rates *r = calloc(1, sizeof(*r));
	uLong crc = crc32(0, NULL, 0);

	if (!r)
		return -ENOMEM;
	r->n = plan->n_queries;
	r->queries = calloc(r->n + 1ul, sizeof(*r->queries));
	if (!r->queries)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n; i++) {
		const char *name = plan->queries[i].name;

		crc = crc32(crc, (const Bytef *)name, (uInt)strlen(name) + 1);
	}
	r->names_crc = (uint32_t)crc;
	r->build_id_len = plan->build_id_len;
	memcpy(r->build_id, plan->build_id, sizeof(r->build_id));
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

int rates__encode(const struct rates *r, uint8_t **buf, size_t *len)
{
	size_t size = HEADER + (size_t)r->n * PER_ONE;
	uint8_t *out = malloc(size), *p;

	if (!out)
		return -ENOMEM;
	memcpy(out, MAGIC, 8);
	p = put(out + 12, r->n, 4);
	p = put(p, r->names_crc, 4);
	for (uint32_t i = 0; i < r->n; i++) {
		p = put(p, (uint64_t)llround(r->queries[i].executions), 8);
		p = put(p, (uint64_t)llround(r->queries[i].cpu_s * 1e6), 8);
		p = put(p, r->queries[i].mean_ns, 8);
	}
	put(out + 8, crc32_z(0, out + 12, size - 12), 4);
	*buf = out;
	*len = size;
	return 0;
}

int rates__decode(const uint8_t *buf, size_t len, struct rates *like)
{
	const uint8_t *p = buf + 8;

	if (len != HEADER + (size_t)like->n * PER_ONE || memcmp(buf, MAGIC, 8) ||
	    get(&p, 4) != crc32_z(0, buf + 12, len - 12) || get(&p, 4) != like->n ||
	    get(&p, 4) != like->names_crc)
		return -EBADMSG;
	for (uint32_t i = 0; i < like->n; i++) {
		uint64_t executions = get(&p, 8), cpu_us = get(&p, 8), mean_ns = get(&p, 8);

		if (cpu_us > MOST_CPU_US || mean_ns > MOST_MEAN_NS ||
		    (double)executions > (double)cpu_us / 1e6 * MOST_PER_S)
			return -EBADMSG;
		like->queries[i] = (struct rates_query){
			.executions = (double)executions,
			.cpu_s = (double)cpu_us / 1e6,
			.mean_ns = mean_ns,
		};
	}
	return 0;
}

static struct plan_cache_key key_of(const struct rates *r)
{
	return (struct plan_cache_key){"rates", VERSION, r->build_id, r->build_id_len};
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
		diag_verbose("what was learnt of %s cannot be used", plan->path);
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

/* ---- What they say --------------------------------------------------------------------------- */

static void add_query(struct rates_query *q, const struct rates_query *more)
{
	double sum = q->cpu_s + more->cpu_s;
	double keep = sum <= MEMORY_S	       ? 1
		      : more->cpu_s > MEMORY_S ? 0
					       : (MEMORY_S - more->cpu_s) / q->cpu_s;

	q->executions = q->executions * keep + more->executions;
	q->cpu_s = q->cpu_s * keep + more->cpu_s;
	if (more->mean_ns)
		q->mean_ns = more->mean_ns;
}

void rates__add(struct rates *r, const struct rates *more)
{
	for (uint32_t i = 0; i < r->n && i < more->n; i++)
		add_query(&r->queries[i], &more->queries[i]);
}

bool rates__is_empty(const struct rates *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->queries[i].cpu_s > 0)
			return false;
	return true;
}

double rates__of(const struct rates *r, uint32_t query)
{
	const struct rates_query *q = &r->queries[query];

	return q->cpu_s >= LEAST_S ? q->executions / q->cpu_s : 0;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	free(r->queries);
	free(r);
}
