/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Five forms of one file's unwind rows. All of them find the number of the rule that holds at an
 * offset from the start of the code.
 */
#ifndef QPROF_TESTS_BENCH_UNWIND_FORMS_H
#define QPROF_TESTS_BENCH_UNWIND_FORMS_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/area.h"

enum form_kind {
	FORM_PAGES_LINEAR, /* ours: a linear index per 64 KiB; looked up as the kernel half does */
	FORM_FUNCTIONS_LINEAR, /* a linear index per function; the function is bisected */
	FORM_FUNCTIONS_VARINT, /* varint deltas per function; likewise */
	FORM_ROWS,	       /* rows of 8 bytes, bisected */
	FORM_PAGES_ROWS, /* rows of 4 bytes, bisected within 64 KiB, as OpenTelemetry's profiler */
	FORMS,
};

struct form;

/* One file, in the forms that the others are made of. */
struct form_input {
	const struct unwind_rows *rows;
	const struct unwind_table *table; /* of these rows */
	const uint32_t *starts;		  /* of functions: offsets that rise, from 0 on */
	uint32_t n_starts;
};

struct form_class {
	const char *name; /* for JSON */
	const char *text;
	int (*make)(struct form *f, const struct form_input *in); /* 0 or a negative errno */
	uint32_t (*look_up)(const struct form *f, uint32_t at);
};

extern const struct form_class form_classes[FORMS];

struct form {
	const struct form_class *class;
	size_t bytes; /* of tables and directories; rules are the same for all */
	/* The inputs of the class. */
	uint8_t *tables;
	uint32_t size;
	uint32_t *directory;
	uint32_t *starts;
	uint32_t n;
	void *rows;
	struct wire_unwind_file file;
};

void form__destroy(struct form *f);

#endif /* QPROF_TESTS_BENCH_UNWIND_FORMS_H */
