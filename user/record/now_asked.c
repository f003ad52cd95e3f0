// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/now_asked.h"

#include <errno.h>

#include "base/clock.h"

struct asking {
	const struct now_asked *of;
	struct session *session;
};

static int ask(void *ctx, const uint32_t *tids, size_t n)
{
	const struct asking *a = ctx;

	return session__show_open(a->session, tids, n);
}

static int item(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out)
{
	const struct asking *a = ctx;

	return session__name(a->session, pid, crate, key, out);
}

static const char *name(void *ctx, const struct wire_open_frame *f)
{
	const struct now_asked *of = ((const struct asking *)ctx)->of;
	uint32_t label = decoder__label(of->decoder, f);

	return label == DECODER_NO_LABEL ? NULL : of->texts->text(of->texts->ctx, label);
}

static const char *argument(void *ctx, const struct wire_open_frame *f)
{
	const struct asking *a = ctx;

	return guard_arguments__text(&a->of->decoder->arguments, f->key);
}

static int symbol(void *ctx, uint32_t string, char **out)
{
	const struct asking *a = ctx;

	return a->of->trace->err ? -ENOENT : trace_writer__text(a->of->trace->writer, string, out);
}

int now_asked__answer(const struct now_asked *a, struct session *s, bool names)
{
	struct asking asking = {a, s};
	const struct now_source from = {&asking, ask,	   names ? item : NULL,
					name,	 argument, names ? symbol : NULL};
	int err;

	if (a->sampled) {
		a->now->asked_ns = clock_ns(CLOCK_MONOTONIC);
		now_sampled__answer(a->sampled, &from, a->jobs, a->summary, a->texts, a->answer);
		return 0;
	}
	if (!now__ask(a->now, &from, a->summary, clock_ns(CLOCK_MONOTONIC)))
		return -EAGAIN;
	err = session__drain(s);
	if (!err)
		now__answer(a->now, &from, a->summary, a->answer);
	return err;
}
