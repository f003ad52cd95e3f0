/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reservations to know before trusting the numbers of an export. They go into the file where
 * the format has a place for them, because a recipient has not seen the messages of the export.
 */
#ifndef QPROF_EXPORT_NOTES_H
#define QPROF_EXPORT_NOTES_H

#include "export/job.h"
#include "trace/trace.h"

#define EXPORT_NOTE_MAX 512

enum export_note {
	NOTE_PROBLEM, /* the trace is incomplete */
	NOTE_SAMPLED, /* intervals of queries are those that samples met */
	NOTE_LOST,
	NOTE_LEFT_OUT, /* intervals left out for the size limit */
	NOTE_SAMPLES_LEFT_OUT,
	NOTE_ADJUSTED,
	EXPORT_NOTES,
};

/*
 * The note as text; false (and empty) if there is none. It covers the part of the trace that has
 * been read.
 */
bool export_note(const struct export_job *job, enum export_note which, char text[EXPORT_NOTE_MAX]);

/* The contents of the stacks of an export: "rustc's queries". */
const char *export_subject(const struct export_job *job);

/* All notes, each preceded by "; ". The caller frees it; NULL: no memory. */
char *export_notes(const struct export_job *job);

/* A short title for a process, of one or two words. */

/*
 * compile_name() and the pid, "regex_syntax (4711)". The caller frees it; NULL: no memory. Not
 * escaped.
 */
char *process_title(const struct trace_process *p);

#endif /* QPROF_EXPORT_NOTES_H */
