// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/step.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/bisect.h"
#include "base/clock.h"
#include "plan/file_job.h"
#include "unwind/input.h"

struct reader {
	unwind_read_fn *read;
	void *ctx;
};

static bool read_word(const struct reader *from, uint64_t addr, uint64_t *word)
{
	return from->read(from->ctx, addr, word);
}

/* See WIRE_UNWIND_SIGNAL. */
static enum unwind_stepped leave_handler(struct unwind_registers *r, int32_t cfa,
					 const struct reader *from)
{
	struct unwind_registers caller = {.r11_lost = true, .interrupted = true};
	uint64_t at = r->sp + (uint64_t)cfa;

	if (!read_word(from, at - 40, &caller.bp) || !read_word(from, at, &caller.sp) ||
	    !read_word(from, at + 8, &caller.pc))
		return UNWIND_NO_WORD;
	*r = caller;
	return UNWIND_CALLER;
}

static enum unwind_stepped find_cfa(const struct unwind_registers *r, struct wire_unwind_rule rule,
				    const struct reader *from, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)rule.cfa;
	bool pushed;

	switch (rule.base) {
	case WIRE_UNWIND_RSP:
	case WIRE_UNWIND_RSP_DEREF:
		*cfa = r->sp + offset;
		break;
	case WIRE_UNWIND_RBP:
	case WIRE_UNWIND_RBP_DEREF:
		if (r->bp_lost)
			return UNWIND_NO_RULE;
		*cfa = r->bp + offset;
		break;
	case WIRE_UNWIND_R11:
		if (r->r11_lost)
			return UNWIND_NO_RULE;
		*cfa = r->r11 + offset;
		break;
	case WIRE_UNWIND_PLT:
		pushed = (unwind_registers__pc(r) & 15) >= offset;
		*cfa = r->sp + (pushed ? 16 : 8);
		break;
	default:
		return UNWIND_NO_RULE;
	}
	if (rule.base != WIRE_UNWIND_RSP_DEREF && rule.base != WIRE_UNWIND_RBP_DEREF)
		return UNWIND_CALLER;
	return read_word(from, *cfa, cfa) ? UNWIND_CALLER : UNWIND_NO_WORD;
}

static bool find_bp(struct unwind_registers *caller, struct wire_unwind_rule rule,
		    const struct reader *from)
{
	uint64_t offset = (uint64_t)rule.rbp;

	switch (rule.rbp_is) {
	case WIRE_UNWIND_RBP_AT_CFA:
		caller->bp_lost = false;
		return read_word(from, caller->sp + offset, &caller->bp);
	case WIRE_UNWIND_RBP_AT_RBP:
		return caller->bp_lost || read_word(from, caller->bp + offset, &caller->bp);
	case WIRE_UNWIND_RBP_LOST:
		caller->bp_lost = true;
		return true;
	default:
		return true;
	}
}

enum unwind_stepped unwind_registers__step(struct unwind_registers *r, struct wire_unwind_rule rule,
					   unwind_read_fn *read, void *ctx)
{
	const struct reader from = {read, ctx};
	struct unwind_registers caller = *r;
	enum unwind_stepped stepped;

	if (rule.base == WIRE_UNWIND_END)
		return UNWIND_WHOLE;
	if (rule.base == WIRE_UNWIND_SIGNAL)
		return leave_handler(r, rule.cfa, &from);
	stepped = find_cfa(r, rule, &from, &caller.sp);
	if (stepped != UNWIND_CALLER)
		return stepped;
	if (!read_word(&from, caller.sp - 8, &caller.pc) || !find_bp(&caller, rule, &from))
		return UNWIND_NO_WORD;
	caller.r11_lost = true;
	caller.interrupted = false;
	/* The kernel, and clone(2) of some libraries, leave this below the outermost frame. */
	if (!caller.pc)
		return UNWIND_WHOLE;
	*r = caller;
	return UNWIND_CALLER;
}

/* ---- Registers that tables leave out --------------------------------------------------------- */

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
