// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "speed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "pctab/linear.h"
#include "pctab/varint.h"

const struct pctab_speed_case pctab_speed_cases[PCTAB_SPEED_CASES] = {
	{PCTAB_SPEED_LOOKUPS, true},
	{1024, true},
	{PCTAB_SPEED_LOOKUPS, false},
	{1024, false},
};

/* The caller of a look-up has found the function, and so the table, before. */
struct varint_sample {
	const uint8_t *data;
	uint32_t size;
	uint32_t pc;
};

struct linear_sample {
	struct pctab_linear table;
	uint32_t pc;
};

struct samples {
	unsigned int quantum_shift;
	uint32_t n; /* a power of two */
	struct varint_sample *varint;
	struct linear_sample *linear;
};

static void samples__destroy(struct samples *s)
{
	free(s->varint);
	free(s->linear);
}

/* splitmix64; the same samples each time. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The first table whose sum is above `at`. */
static uint32_t find_table(const uint64_t *sums, uint32_t n, uint64_t at)
{
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void samples__set(struct samples *out, uint32_t i, const struct pctab_survey *s,
			 const struct pctab_pair *pair, uint32_t pc)
{
	out->varint[i] = (struct varint_sample){pair->varint, pair->varint_size, pc};
	out->linear[i] = (struct linear_sample){pctab_survey__linear(s, pair), pc};
}

static int samples__draw(struct samples *out, const struct pctab_survey *s,
			 const struct pctab_speed_case *c)
{
	_free_ uint64_t *sums = calloc(s->n_tables, sizeof(*sums));
	uint64_t state = 1, sum = 0;

	out->quantum_shift = s->quantum_shift;
	out->n = c->samples;
	out->varint = calloc(c->samples, sizeof(*out->varint));
	out->linear = calloc(c->samples, sizeof(*out->linear));
	if (!sums || !out->varint || !out->linear)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_tables; i++)
		sums[i] = sum += c->by_code ? s->tables[i].length : 1;
	for (uint32_t i = 0; i < c->samples; i++) {
		uint64_t at = next_random(&state) % sum;
		const struct pctab_pair *pair = &s->tables[find_table(sums, s->n_tables, at)];

		samples__set(out, i, s, pair, (uint32_t)(next_random(&state) % pair->length));
	}
	return 0;
}

/* Keeps the compiler from leaving look-ups out. */
static volatile uint32_t sink;

static void look_up_varint(const struct samples *s)
{
	unsigned int quantum_shift = s->quantum_shift;
	const struct varint_sample *end = s->varint + s->n;
	uint32_t sum = 0;
	int32_t value = 0;

	for (uint32_t i = 0; i < PCTAB_SPEED_LOOKUPS; i += s->n) {
		for (const struct varint_sample *v = s->varint; v < end; v++) {
			pctab_varint__lookup(v->data, v->size, quantum_shift, v->pc, &value);
			sum += (uint32_t)value;
		}
	}
	sink = sum;
}

static void look_up_linear(const struct samples *s)
{
	unsigned int quantum_shift = s->quantum_shift;
	const struct linear_sample *end = s->linear + s->n;
	uint32_t sum = 0;
	int32_t value = 0;

	for (uint32_t i = 0; i < PCTAB_SPEED_LOOKUPS; i += s->n) {
		for (const struct linear_sample *l = s->linear; l < end; l++) {
			pctab_linear__lookup(&l->table, quantum_shift, l->pc, &value);
			sum += (uint32_t)value;
		}
	}
	sink = sum;
}

/* Nanoseconds per look-up, of this thread's own time: that of others is not part of it. */
static double time_of(void (*look_up)(const struct samples *), const struct samples *s)
{
	uint64_t begin_ns;

	/* Untimed, so that the caches hold of this encoding what they can. */
	look_up(s);
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	look_up(s);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / PCTAB_SPEED_LOOKUPS;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double sort_for_middle(double *values)
{
	qsort(values, PCTAB_SPEED_ROUNDS, sizeof(*values), compare_doubles);
	return values[PCTAB_SPEED_ROUNDS / 2];
}

int pctab_speed__measure(const struct pctab_survey *s, const struct pctab_speed_case *c,
			 struct pctab_speed *out)
{
	double varint[PCTAB_SPEED_ROUNDS], linear[PCTAB_SPEED_ROUNDS], ratio[PCTAB_SPEED_ROUNDS];
	__cleanup(samples__destroy) struct samples samples = {};
	int err;

	if (!s->n_tables)
		return -ENODATA;
	err = samples__draw(&samples, s, c);
	if (err)
		return err;
	for (int i = 0; i < PCTAB_SPEED_ROUNDS; i++) {
		varint[i] = time_of(look_up_varint, &samples);
		linear[i] = time_of(look_up_linear, &samples);
		ratio[i] = linear[i] / varint[i];
	}
	out->varint = sort_for_middle(varint);
	out->linear = sort_for_middle(linear);
	out->ratio = sort_for_middle(ratio);
	out->varint_best = varint[0];
	out->linear_best = linear[0];
	return 0;
}
