// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/preserved.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/bisect.h"
#include "base/clock.h"
#include "plan/file_job.h"
#include "unwind/input.h"

struct wanted {
	const uint64_t *pcs;
	uint32_t n;
};

/* ---- In the child ---------------------------------------------------------------------------- */

/* Where functions overlap, the one that starts last counts; of two, the first in the section. */
static bool counts_more(const struct eh_fde *new, const struct eh_fde *old)
{
	return !old->length || new->start > old->start;
}

/* Set the function of each pc that has one. */
static void find_functions(const struct eh_frame *frame, const struct wanted *w,
			   struct eh_fde *functions)
{
	struct eh_frame_reader reader;
	struct eh_fde fde;

	eh_frame_reader__init(&reader, frame);
	while (eh_frame_reader__next(&reader, &fde)) {
		size_t i = bisect(w->n, k, w->pcs[k] < fde.start);

		for (; i < w->n && w->pcs[i] - fde.start < fde.length; i++)
			if (counts_more(&fde, &functions[i]))
				functions[i] = fde;
	}
}

static int find_all(const struct eh_frame *frame, const struct wanted *w, struct file_writer *to)
{
	_free_ struct eh_fde *functions = calloc(w->n + 1UL, sizeof(*functions));
	_free_ struct cfa_preserved *found = calloc(w->n + 1UL, sizeof(*found));

	if (!functions || !found)
		return -ENOMEM;
	find_functions(frame, w, functions);
	/* A function that cannot be read leaves its pc unknown. */
	for (uint32_t i = 0; i < w->n; i++)
		if (functions[i].length)
			cfa__preserved(frame, &functions[i], w->pcs[i], &found[i]);
	return file_writer__write(to, found, w->n * sizeof(*found));
}

/* A file_job_fn. */
static int make(struct library_file *file, const void *arg, struct file_writer *to)
{
	_elf_image_ struct elf_image *img = NULL;
	struct unwind_input input;
	int err = elf_image__map(file, &img) ?: unwind_input__find(img, &input);

	return err ?: find_all(&input.frame, arg, to);
}

/* ---- In the parent --------------------------------------------------------------------------- */

static int wait_for(struct file_job *j, uint64_t most_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + most_ns, now_ns;
	int done = 0;

	while (!done && (now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		struct pollfd p = {.fd = file_job__fd(j), .events = POLLIN};

		if (poll(&p, 1, (int)((end_ns - now_ns) / 1000000) + 1) > 0)
			done = file_job__read(j);
	}
	if (done > 0)
		return 0;
	return done ?: -ETIME;
}

int unwind_preserved__find(struct library_file *file, const uint64_t *pcs, uint32_t n,
			   uint64_t most_ns, struct cfa_preserved *out)
{
	struct wanted w = {pcs, n};
	_file_job_ struct file_job *j = NULL;
	const uint8_t *bytes;
	size_t len;
	int err;

	memset(out, 0, n * sizeof(*out));
	if (n > UNWIND_PRESERVED_MAX)
		return -E2BIG;
	err = file_job__start(file, NULL, make, &w, 0, &j);
	err = err ?: wait_for(j, most_ns);
	err = err ?: file_job__finish(j, &bytes, &len);
	if (err)
		return err;
	/* The child may have been taken over: its numbers may be any. */
	if (len != n * sizeof(*out))
		return -EBADMSG;
	memcpy(out, bytes, len);
	return 0;
}
