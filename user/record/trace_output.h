/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The trace that a recording writes: created with the rights of the invoking user or our own, moved
 * to its name once the recording has begun. After the first error nothing more is written, and the
 * recording continues.
 */
#ifndef QPROF_RECORD_TRACE_OUTPUT_H
#define QPROF_RECORD_TRACE_OUTPUT_H

#include <sys/utsname.h>

#include "base/output_file.h"
#include "record/sealer.h"
#include "trace/reader.h"
#include "trace/writer.h"

/* The default name of a trace: qprof-<utc>.qpt. */
#define TRACE_OUTPUT_NAME_MAX 64
void trace_output__default_name(char name[TRACE_OUTPUT_NAME_MAX]);

struct trace_output {
	char *path; /* as the user named it; owned */
	bool force; /* overwrite an existing file */
	bool ours;  /* of --traces: created with our own rights, for nobody else to read */
	struct output_file file;
	struct trace_writer *writer;
	int err;       /* the first one; nothing is written after it */
	int place_err; /* it could not be moved to its name; it is whole elsewhere */
};

/* Create the file, owned by the invoking user unless `ours`. Prints one line on failure. */
int trace_output__create(struct trace_output *o, const struct trace_info *info);

/* Give the file its requested name, once. If that fails, print the temporary name, and keep it. */
void trace_output__commit(struct trace_output *o);

/* Remove it again, unless it was committed. */
void trace_output__discard(struct trace_output *o);

/*
 * Note the result of a write, 0 or a negative errno; the first error is printed. Write nothing more
 * once `err` is set.
 */
void trace_output__wrote(struct trace_output *o, int err);

/* Call `function` of the writer with these arguments, unless there was an error. */
#define trace_output__write(o, function, ...)                                           \
	do {                                                                            \
		struct trace_output *__o = (o);                                         \
		if (!__o->err)                                                          \
			trace_output__wrote(__o, function(__o->writer, ##__VA_ARGS__)); \
	} while (0)

/* Finish the trace, unless there was an error. `sealer` seals it later; or NULL: here. */
void trace_output__finish(struct trace_output *o, struct sealer *sealer);

/* Open the trace for reading, with the rights that created it. Prints nothing. */
int trace_output__read(const struct trace_output *o, struct trace_reader **r);

/* The path of the trace now. */
const char *trace_output__place(const struct trace_output *o);

/* All zeroes: nothing to destroy. */
void trace_output__destroy(struct trace_output *o);
#define _trace_output_ __cleanup(trace_output__destroy)

/* With what every trace begins: which one it is, the machine, the recorded command. */

/* Holds the texts of a struct trace_info. */
struct trace_head {
	struct utsname machine;
	char *command;
};

/*
 * The head of a new trace of this machine, without its times. `command` is
 * NULL-terminated, or NULL. The texts belong to `head`, which is destroyed in any case. 0 or
 * -ENOMEM.
 */
int trace_head__init(struct trace_head *head, char *const command[], struct trace_info *info);

void trace_head__destroy(struct trace_head *head);
#define _trace_head_ __cleanup(trace_head__destroy)

/*
 * The texts of a recording's labels, for what is shown while it runs. The trace gives a label its
 * number; once the trace has failed, numbers go on here.
 */

/* All zeroes is empty. */
struct label_names {
	char **names; /* by string id; NULL: no label */
	uint32_t end; /* above all ids in use */
	uint32_t capacity;
};

/* Set *id to the string id of a label, a new one if need be. 0 or -ENOMEM. */
int label_names__id(struct label_names *l, struct trace_output *trace, const char *name,
		    uint32_t *id);

/* The text of a label, or "<unknown>". */
const char *label_names__get(const struct label_names *l, uint32_t id);

void label_names__clear(struct label_names *l);

#endif /* QPROF_RECORD_TRACE_OUTPUT_H */
