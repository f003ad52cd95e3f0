// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/compile_name.h"
#include "base/cleanup.h"
#include "base/format.h"

static bool problem(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	const char *what = trace_reader__problem(job->r);

	if (what)
		snprintf(text, EXPORT_NOTE_MAX,
			 "the trace is not whole (%s): this is what could be read", what);
	return what;
}

static bool lost(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	uint64_t n = trace_reader__stats(job->r).lost;
	char count[FORMAT_MAX];

	if (n)
		snprintf(text, EXPORT_NOTE_MAX, "%s record%s lost while it was recorded",
			 format_count(count, n), n == 1 ? " was" : "s were");
	return n;
}

static bool sampled(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	if (job->sampled)
		snprintf(text, EXPORT_NOTE_MAX,
			 "queries without probes are by samples: an interval is from the first to "
			 "the last sample that met an execution, and most have none; --exact "
			 "records each execution, and hits");
	return job->sampled;
}

static bool left_out(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	char count[FORMAT_MAX], least[FORMAT_MAX], most[FORMAT_MAX], rule[FORMAT_MAX + 40] = "";

	if (!job->left_out)
		return false;
	if (job->least_ns && job->least_ns != UINT64_MAX)
		snprintf(rule, sizeof(rule), ", those shorter than %s first",
			 format_duration(least, job->least_ns));
	snprintf(text, EXPORT_NOTE_MAX,
		 "%s interval%s left out%s, as the file is to be no larger than %s%s",
		 format_count(count, job->left_out), job->left_out == 1 ? " is" : "s are", rule,
		 format_bytes(most, job->max_bytes),
		 !job->written && out__size(job->out) > job->max_bytes
			 ? ", which it is without them"
			 : "");
	return true;
}

static bool samples_left_out(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	char count[FORMAT_MAX], most[FORMAT_MAX];

	if (job->samples_left_out)
		snprintf(text, EXPORT_NOTE_MAX,
			 "%s sample%s left out, as the file is to be no larger than %s",
			 format_count(count, job->samples_left_out),
			 job->samples_left_out == 1 ? " is" : "s are",
			 format_bytes(most, job->max_bytes));
	return job->samples_left_out;
}

static bool adjusted(const struct export_job *job, char text[EXPORT_NOTE_MAX])
{
	char count[FORMAT_MAX];

	if (job->adjusted)
		snprintf(text, EXPORT_NOTE_MAX,
			 "%s interval%s overlapped others without being in them, and %s cut",
			 format_count(count, job->adjusted), job->adjusted == 1 ? "" : "s",
			 job->adjusted == 1 ? "was" : "were");
	return job->adjusted;
}

bool export_note(const struct export_job *job, enum export_note which, char text[EXPORT_NOTE_MAX])
{
	static bool (*const notes[])(const struct export_job *, char *) = {
		[NOTE_PROBLEM] = problem,
		[NOTE_SAMPLED] = sampled,
		[NOTE_LOST] = lost,
		[NOTE_LEFT_OUT] = left_out,
		[NOTE_SAMPLES_LEFT_OUT] = samples_left_out,
		[NOTE_ADJUSTED] = adjusted,
	};

	*text = '\0';
	return notes[which](job, text);
}

char *export_notes(const struct export_job *job)
{
	_free_ char *all = NULL;
	char note[EXPORT_NOTE_MAX];
	size_t size;
	FILE *f = open_memstream(&all, &size);

	if (!f)
		return NULL;
	for (int i = 0; i < EXPORT_NOTES; i++)
		if (export_note(job, i, note))
			fprintf(f, "; %s", note);
	return fclose(f) ? NULL : take_ptr(all);
}

const char *export_subject(const struct export_job *job)
{
	static const char *const subjects[TRACE_SAMPLE_CAUSES] = {
		"rustc's queries",
		[TRACE_SAMPLE_CPU] = "rustc's stacks on the CPU",
		[TRACE_SAMPLE_OFF_CPU] = "rustc's waits",
		[TRACE_SAMPLE_FAULT] = "memory that rustc touched",
	};

	return subjects[job->cause];
}

/* ---- Titles of processes --------------------------------------------------------------------- */

char *process_title(const struct trace_process *p)
{
	_free_ char *name = compile_name(p);
	char *title;

	return !name || asprintf(&title, "%s (%" PRIu32 ")", name, p->pid) < 0 ? NULL : title;
}
