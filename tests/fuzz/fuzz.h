/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions of a fuzzer that libFuzzer and replay.c call, and those that most fuzzers need. */
#ifndef QPROF_TESTS_FUZZ_H
#define QPROF_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static inline void expect(bool good)
{
	if (!good)
		abort();
}

/* The copy has the exact size, so a sanitizer reports a read past the end. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ?: 1);

	expect(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/*
 * The next record of an input of records, each behind its size in two bytes. The last one may be
 * cut off. NULL: there is none.
 */
static inline const uint8_t *fuzz_record(const uint8_t **data, size_t *left, size_t *size)
{
	const uint8_t *record;

	if (*left < 2)
		return NULL;
	record = *data + 2;
	*size = (*data)[0] | (size_t)(*data)[1] << 8;
	*left -= 2;
	*size = *size < *left ? *size : *left;
	*left -= *size;
	*data = record + *size;
	return record;
}

/* The same, of records each behind a head of its own, which has a `size` of their bytes. */
#define fuzz_headed_record(data, left, head, n)                                             \
	({                                                                                  \
		const uint8_t *fuzz_bytes = NULL;                                           \
		if (*(left) > sizeof(*(head))) {                                            \
			memcpy(head, *(data), sizeof(*(head)));                             \
			fuzz_bytes = *(data) + sizeof(*(head));                             \
			*(left) -= sizeof(*(head));                                         \
			*(n) = (head)->size < *(left) ? (head)->size : (uint32_t) * (left); \
			*(left) -= *(n);                                                    \
			*(data) = fuzz_bytes + *(n);                                        \
		}                                                                           \
		fuzz_bytes;                                                                 \
	})

/*
 * Printing an error line per input would take most of the time. libFuzzer keeps its own stream.
 * The result is that of LLVMFuzzerInitialize().
 */
static inline int fuzz_drop_messages(void)
{
	stderr = fopen("/dev/null", "we");
	return !stderr;
}

#define FUZZ_DROP_MESSAGES()                                           \
	int LLVMFuzzerInitialize(__attribute__((unused)) int *argc,    \
				 __attribute__((unused)) char ***argv) \
	{                                                              \
		return fuzz_drop_messages();                           \
	}

#endif /* QPROF_TESTS_FUZZ_H */
