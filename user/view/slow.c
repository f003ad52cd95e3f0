// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/slow.h"

#include <errno.h>
#include <inttypes.h>

#include "analyze/compile_name.h"
#include "base/format.h"
#include "view/screen.h"

#define CLEAR_LINE "\r\033[K"

uint64_t slow_ns(const struct trace_span *s, const struct trace_times *times)
{
	return trace_without_probes(s->end_ns - s->start_ns, times->probe_ns);
}

bool slow_is_interval(const struct trace_span *s)
{
	return s->kind != TRACE_KIND_OFF_CPU && s->kind != TRACE_KIND_HIT;
}

/* How the interval ended, if not normally; else its kind, if it is no query. */
static const char *note_of(const struct trace_span *s, const struct trace_process *p)
{
	if (trace_span__began_before(s, p))
		return s->flags & TRACE_SPAN_OPEN ? ", at least, still running" : ", at least";
	if (s->flags & TRACE_SPAN_OPEN)
		return ", still running";
	if (s->flags & TRACE_SPAN_UNWOUND)
		return ", unwound";
	if (s->flags & TRACE_SPAN_LEFT)
		return ", at most";
	switch (s->kind) {
	case TRACE_KIND_ACTIVITY:
		return ", activity";
	case TRACE_KIND_BLOCKED:
		return ", blocked";
	case TRACE_KIND_LOAD:
		return ", loaded";
	case TRACE_KIND_HASHING:
		return ", hashed";
	default:
		return "";
	}
}

int slow_print(FILE *to, FILE *screen, const struct trace_span *s, const struct trace_times *times,
	       const struct trace_process *p, const char *name, const char *item)
{
	_free_ char *clean = format_clean(name);
	_free_ char *about = item ? format_clean(item) : NULL;
	_free_ char *compile = compile_name(p), *crate = compile ? format_clean(compile) : NULL;
	char buf[FORMAT_MAX];

	if (screen_is_on(screen))
		fputs(CLEAR_LINE, to);
	if (!clean || !crate)
		return -ENOMEM;
	fprintf(to, "qprof-bpf: slow: %s%s%s%s %s (", clean, about ? "(" : "", about ?: "",
		about ? ")" : "", format_duration(buf, slow_ns(s, times)));
	if (s->flags & TRACE_SPAN_SAMPLED)
		fputs("by samples", to); /* its self time is not known */
	else if (times->self_ns == SLOW_WITH_QUERIES)
		fputs("with its queries", to);
	else
		fprintf(to, "self %s",
			format_duration(
				buf, trace_without_probes(times->self_ns, times->self_probe_ns)));
	if (times->off_ns)
		fprintf(to, ", off-cpu %s", format_duration(buf, times->off_ns));
	fprintf(to, "%s) in %s, process %" PRIu32 "\n", note_of(s, p), crate, p->pid);
	return 0;
}
