/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The file that `plan --output` writes, with all that a recording needs of a library, for the store
 * of another machine or image. All numbers are little endian:
 *
 *   "qprofpln"
 *   bytes of the library (u64), CRC-32 of all of them, CRC-32 of what follows (u32 each)
 *   bytes of the plan (u64)
 *   the plan (plan/codec.h), then the tables of its code (unwind/job.h)
 *
 * It is read by the state of the code that wrote it, and by no other.
 */
#ifndef QPROF_CLI_PLAN_FILE_H
#define QPROF_CLI_PLAN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

/* In front of the plan. */
#define PLAN_FILE_HEADER 32

/* The parts of such a file, in its bytes. */
struct plan_file {
	uint64_t library_size;
	uint32_t library_crc;
	const uint8_t *plan, *code;
	size_t plan_len, code_len;
};

/* -EBADMSG unless the bytes are one whole such file. The parts are not decoded. */
int plan_file__split(const uint8_t *bytes, size_t len, struct plan_file *out);

/* Write a plan of `file`, and the tables of its code, to a new file. Prints one line on an error.
 */
int plan_file__write(struct library_file *file, const struct plan *plan, const char *path);

/*
 * Read such a file, prove its plan on `file`, and keep both parts in the store. Only root and we
 * may be able to write to it. 0 and the plan; or a negative errno after one error line.
 */
int plan_file__import(struct library_file *file, const char *path, struct plan **out);

#endif /* QPROF_CLI_PLAN_FILE_H */
