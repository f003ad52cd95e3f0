/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What one has to know before one believes a number of an export. It goes into the file, where the
 * format has a place for it: who gets the file has not seen what was said when it was written.
 */
#ifndef QPROF_EXPORT_NOTES_H
#define QPROF_EXPORT_NOTES_H

#include "export/job.h"

#define EXPORT_NOTE_MAX 512

enum export_note {
	NOTE_PROBLEM, /* the trace is not whole */
	NOTE_LOST,
	NOTE_UNRECORDED, /* to keep within a budget: executions, */
	NOTE_UNWATCHED,	 /* and what is none */
	NOTE_LEFT_OUT,	 /* to keep within a size */
	NOTE_ADJUSTED,
	EXPORT_NOTES,
};

/*
 * For a person; false (and empty) if there is nothing to say. Of the trace it is what has been read
 * of it so far.
 */
bool export_note(const struct export_job *job, enum export_note which, char text[EXPORT_NOTE_MAX]);

/* All of them, each behind a "; ". The caller's to free; NULL without memory. */
char *export_notes(const struct export_job *job);

#endif /* QPROF_EXPORT_NOTES_H */
