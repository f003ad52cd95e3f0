/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Every pc-value table of a Go executable, in both encodings: their sizes, and proof that every
 * look-up of every pc finds the same.
 */
#ifndef QPROF_TESTS_BENCH_PCTAB_SURVEY_H
#define QPROF_TESTS_BENCH_PCTAB_SURVEY_H

#include <stdint.h>

#include "base/cleanup.h"
#include "gopclntab.h"
#include "pctab/linear.h"
#include "pctab/pctab.h"

/* One table, in both encodings. */
struct pctab_pair {
	const uint8_t *varint; /* in the executable */
	uint32_t varint_size;
	uint32_t linear_size;
	size_t linear; /* offset in the survey's linear tables */
	uint32_t length;
};

struct pctab_survey {
	unsigned int quantum_shift;
	uint32_t functions;
	uint64_t references; /* from functions to tables */
	struct pctab_pair *tables;
	uint32_t n_tables; /* different ones: Go's linker stores equal tables once */
	uint32_t capacity;
	struct pctab_buffer linear; /* equal tables once */
	uint32_t n_linear;	    /* different ones; less, as lengths are not part of them */
	uint64_t varint_bytes;
	uint64_t pcs; /* of all tables; each was looked up in both encodings */
	uint64_t chunks;
	uint64_t constant_chunks;
	uint64_t shared_chunks;	  /* constant ones for which an earlier one stands */
	uint32_t index_widths[5]; /* tables by bytes per index entry; [0]: of one chunk */
	uint32_t most_pcs;	  /* listed in one chunk */
};

static inline uint64_t pctab_survey__linear_bytes(const struct pctab_survey *s)
{
	return s->linear.size;
}

/* The table as a look-up takes it. */
static inline struct pctab_linear pctab_survey__linear(const struct pctab_survey *s,
						       const struct pctab_pair *pair)
{
	return (struct pctab_linear){s->linear.data + pair->linear, pair->linear_size,
				     pair->length};
}

/*
 * Take every table of `t`, which must outlive the survey. -EBADMSG if a function or a table is
 * damaged or an encoding gives back something else than went in, -ENOMEM; prints one line then.
 */
int pctab_survey__new(const struct gopclntab *t, struct pctab_survey **out);
void pctab_survey__free(struct pctab_survey *s);
DEFINE_CLEANUP(struct pctab_survey, pctab_survey__free)
#define _pctab_survey_ __cleanup(pctab_survey__free_p)

#endif /* QPROF_TESTS_BENCH_PCTAB_SURVEY_H */
