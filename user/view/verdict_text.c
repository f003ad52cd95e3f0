// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/verdict_text.h"

#include <inttypes.h>

#include "base/format.h"

static void say_lost(const struct verdict *v, const char *what, char buf[VERDICT_TEXT_MAX])
{
	char lost[FORMAT_MAX], of[FORMAT_MAX];

	snprintf(buf, VERDICT_TEXT_MAX, "%s of %s %s were lost; the main cause: %s",
		 format_count(lost, v->lost), format_count(of, v->of), what,
		 trace_loss_text(v->cause));
}

static void say_nothing(const struct verdict *v, char buf[VERDICT_TEXT_MAX])
{
	int n = snprintf(buf, VERDICT_TEXT_MAX,
			 "no interval was recorded of %" PRIu32 " compilation%s", v->compiles,
			 v->compiles == 1 ? "" : "s");
	char hits[FORMAT_MAX], lost[FORMAT_MAX];

	if (v->lost)
		snprintf(buf + n, VERDICT_TEXT_MAX - n, ": %s of the compilers %s lost",
			 format_count(lost, v->lost), v->lost == 1 ? "was" : "were");
	else if (v->late == v->compiles)
		snprintf(buf + n, VERDICT_TEXT_MAX - n,
			 ", which began before the probes were there");
	else if (!v->hits)
		snprintf(buf + n, VERDICT_TEXT_MAX - n, ": no probe fired");
	else
		snprintf(buf + n, VERDICT_TEXT_MAX - n, ", although %s probe hits were counted",
			 format_count(hits, v->hits));
}

const char *verdict_text(const struct verdict *v, char buf[VERDICT_TEXT_MAX])
{
	char lost[FORMAT_MAX];

	buf[0] = '\0';
	switch (v->state) {
	case VERDICT_SOUND:
		break;
	case VERDICT_LOST_HITS:
		say_lost(v, "probe hits", buf);
		break;
	case VERDICT_LOST_INTERVALS:
		say_lost(v, "intervals", buf);
		break;
	case VERDICT_LOST_COMPILERS:
		say_lost(v, "compilers", buf);
		break;
	case VERDICT_LOST_MAPPINGS:
		snprintf(
			buf, VERDICT_TEXT_MAX,
			"no compiler was recorded, but %s mapping%s or new programs were lost, and "
			"compilers may be among them",
			format_count(lost, v->lost), v->lost == 1 ? "" : "s");
		break;
	case VERDICT_NOTHING:
		say_nothing(v, buf);
		break;
	}
	return buf;
}

const char *verdict_fix(const struct verdict *v)
{
	if (v->state == VERDICT_LOST_INTERVALS && v->cause == TRACE_LOST_RING_FULL)
		return "use a larger --ring-size, or record less with --events";
	if (v->state == VERDICT_LOST_INTERVALS && v->cause == TRACE_LOST_STACK_FULL)
		return "record less with --events";
	return "see \"qprof-bpf doctor\"";
}

void verdict_lead(FILE *out, const struct verdict *v)
{
	char text[VERDICT_TEXT_MAX];

	if (v->state)
		fprintf(out, "%s\n\n", verdict_text(v, text));
}
