/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes a trace. Bounded memory; after an error every later call returns the same error, and the
 * file keeps its "unfinished" mark.
 */
#ifndef QPROF_TRACE_WRITER_H
#define QPROF_TRACE_WRITER_H

#include "trace/trace.h"

struct trace_writer;

/*
 * Create `path` and write the header, marked unfinished. Never overwrites: -EEXIST. "-" is not
 * special. `info` is copied. Returns a negative errno without printing, and leaves no file then.
 */
int trace_writer__open(const char *path, const struct trace_info *info, struct trace_writer **out);

/* The id of a text, the same for the same text; -ENOMEM, -E2BIG or an I/O error. */
int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id);

/*
 * The id of the pieces in a row, which are stored once however many strings they are in; the same
 * for the same pieces. -EINVAL for a piece whose id is no string. Strings may be nested
 * QPT_STRING_DEPTH_MAX deep.
 */
int trace_writer__compose(struct trace_writer *w, const struct trace_piece *pieces, uint32_t n,
			  uint32_t *id);

/* Set *text to that of a string, to be freed. -EINVAL if there is no such string; -ENOMEM. */
int trace_writer__text(const struct trace_writer *w, uint32_t id, char **text);

/*
 * A string is the name of a crate other than the one that is compiled, and all strings that begin
 * with it are paths of its definitions. -EINVAL if there is no such string.
 */
int trace_writer__foreign(struct trace_writer *w, uint32_t id);

/*
 * Note the type of a query's keys. `label` is the string id of its name: -EINVAL if that has not
 * been added.
 */
int trace_writer__key_type(struct trace_writer *w, uint32_t label, const char *type);

/*
 * Map virtual ids to their strings, before or after the spans that have them; an id that was mapped
 * before is mapped anew. -EINVAL for an empty range, or if the process or a string has not been
 * added; -E2BIG beyond what a trace may hold.
 */
int trace_writer__map(struct trace_writer *w, const struct trace_mapping *m);

/*
 * Add the place of a path in a process; the first one that is added counts. -EINVAL if the process
 * or a string has not been added, or a line is 0; -E2BIG beyond what a trace may hold.
 */
int trace_writer__place(struct trace_writer *w, const struct trace_place *place);

/*
 * Add or update (same p->index) a process. Indices are the caller's, dense from 0. May be called
 * again when it exits; the last one wins.
 */
int trace_writer__process(struct trace_writer *w, const struct trace_process *p);

/* Add the name of a thread, whenever it changes. Its process must have been added before.
 * -E2BIG beyond QPT_THREADS_MAX, which spans meet as well. */
int trace_writer__thread(struct trace_writer *w, const struct trace_thread *t);

/*
 * Add a function, before spans whose callers are in it. In the order of `first`; -EINVAL if its
 * range begins before the end of the one before; -E2BIG beyond what a trace may hold. Texts are
 * copied.
 */
int trace_writer__function(struct trace_writer *w, const struct trace_function *f);

/*
 * Add the lines of the function whose range begins at `first`, once, at any time after it was
 * added. -EINVAL for rows that do not ascend or go beyond the function, or a file that is no
 * string; -E2BIG if they are too many for a chunk or a trace. Neither ends the writing.
 */
int trace_writer__lines(struct trace_writer *w, uint32_t first, const struct trace_line *rows,
			size_t n);

/*
 * The number of a kind for spans and tallies, by measureme's name: one of enum trace_kind, or one
 * of this file's own. -E2BIG beyond TRACE_KINDS_MAX.
 */
int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind);

/*
 * Add a span. Its process, label, kind and the function of its caller must have been added before;
 * but the label of a query may be virtual.
 */
int trace_writer__span(struct trace_writer *w, const struct trace_span *s);

/* How the recording samples: once, before the first sample; -EINVAL if it was called before. */
int trace_writer__sampling(struct trace_writer *w, const struct trace_sampling *s);

/*
 * The number of an entry of a stack, the same for the same one: below s->parent, which was added
 * before, at s->place, whose function or label was. The depth of `s` is not used. -EINVAL if that
 * is not so; -E2BIG beyond what a trace may hold, or deeper than TRACE_STACK_DEPTH_MAX. Neither
 * ends the writing.
 */
int trace_writer__stack(struct trace_writer *w, const struct trace_stack *s, uint32_t *id);

/*
 * Add a job, whose process, query and parent were added before; *id is its number. -EINVAL if that
 * is not so; -E2BIG beyond what a trace may hold. Neither ends the writing.
 */
int trace_writer__job(struct trace_writer *w, const struct trace_job *job, uint32_t *id);

/*
 * The number of an entry of LLVM, the same for the same one; its strings were added before. -EINVAL
 * if that is not so; -E2BIG beyond what a trace may hold. Neither ends the writing.
 */
int trace_writer__llvm(struct trace_writer *w, const struct trace_llvm *entry, uint32_t *id);

/*
 * Add a sample. Its process, label, kind, stack, job and entry of LLVM must have been added before,
 * and trace_writer__sampling() called. The samples of a thread come in the order of the moments at
 * which they were taken.
 */
int trace_writer__sample(struct trace_writer *w, const struct trace_sample *s);

/* Add a tally, once per process, label and kind; those must have been added before. */
int trace_writer__tally(struct trace_writer *w, const struct trace_tally *t);

/*
 * Add what results of a query are about; its process and strings must have been added before.
 * -EINVAL.
 */
int trace_writer__results(struct trace_writer *w, const struct trace_results *results);

/*
 * Add a symbol; its process and strings must have been added before. Beyond what a trace may hold
 * they are left out.
 */
int trace_writer__symbol(struct trace_writer *w, const struct trace_symbol *symbol);

/* Losses so far (not since the last call). Written at the end and now and then before. */
int trace_writer__losses(struct trace_writer *w, const struct trace_losses *losses);

/* The cost of the probes; the last call counts. */
int trace_writer__costs(struct trace_writer *w, const struct trace_costs *costs);

/* The cost of recording so far (not since the last call); the last one counts. */
int trace_writer__overhead(struct trace_writer *w, const struct trace_overhead *overhead);

/* The trace is one of several of a build: the part of this number, from 1 on. */
int trace_writer__part(struct trace_writer *w, uint32_t number);

/* Add a crate that was built again; its strings must have been added before. -EINVAL. */
int trace_writer__rebuilt(struct trace_writer *w, const struct trace_rebuilt *rebuilt);

/* Write all that is buffered, so that a reader sees it even if this process is killed now. */
int trace_writer__flush(struct trace_writer *w);

/* Flush, clear the unfinished mark, sync, close. The writer must still be freed. */
int trace_writer__finish(struct trace_writer *w);

/* The same without what waits for the disk: *fd is the caller's, for trace_seal(). */
int trace_writer__end(struct trace_writer *w, int *fd);

/* Of the file; the writer's. -1 once it was ended. */
int trace_writer__fd(const struct trace_writer *w);

/* Bytes written so far. */
uint64_t trace_writer__bytes(const struct trace_writer *w);

void trace_writer__free(struct trace_writer *w);
DEFINE_CLEANUP(struct trace_writer, trace_writer__free)
#define _trace_writer_ __cleanup(trace_writer__free_p)

#endif /* QPROF_TRACE_WRITER_H */
