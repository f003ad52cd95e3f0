/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A child process reads a file while the caller goes on, and sends what it has made of it: that
 * may take a second, and SIGBUS for a file that is truncated meanwhile ends only the child. The
 * child is in a sandbox (base/sandbox.h); its memory, its time and the bytes that it may send are
 * limited. A malicious file may take it over, so the caller must not trust these bytes. A child
 * that something else kills, such as the OOM killer, is replaced twice.
 */
#ifndef QPROF_PLAN_FILE_JOB_H
#define QPROF_PLAN_FILE_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/file_writer.h"
#include "plan/library/file.h"

struct file_job;

/* After this time a child is killed (120 s). Tests make it shorter. */
extern uint64_t file_job_most_ns;

/*
 * A child that has closed its pipe, or was killed, exits at once, unless a file system delays it:
 * after this time it is left behind (0.2 s). Time in which the machine stood still does not count.
 * Tests make it longer.
 */
extern uint64_t file_job_end_ns;

/*
 * Runs in the child before it gives up its rights: opens other files that `arg` then holds, in the
 * child's copy. Under root it has the file rights of the file's owner, without any of the owner's
 * groups; it does not run if the kernel refuses these. Prints nothing.
 */
typedef void file_job_prepare_fn(struct library_file *file, void *arg);

/* Runs in the child: send the result to `to`. A negative errno is the error of file_job__finish();
 * an error line that was printed (base/diag.h) comes with it.
 */
typedef int file_job_fn(struct library_file *file, const void *arg, struct file_writer *to);

/*
 * Begin to run `prepare`, which may be NULL, and `make`, at this nice value. The job keeps a
 * reference of `file`; the child has the descriptor, and a copy of all our memory. Negative errno;
 * prints nothing.
 */
int file_job__start(struct library_file *file, file_job_prepare_fn *prepare, file_job_fn *make,
		    void *arg, int nice, struct file_job **out);

/* Polls readable when there is something for file_job__read() to do. */
int file_job__fd(const struct file_job *j);

/* The CPU time that its child has taken; 0: it has ended. */
uint64_t file_job__cpu_ns(const struct file_job *j);

/* That all children that have ended have taken, of all jobs of this process. */
uint64_t file_job_ended_ns(void);

/* The job's file. */
struct library_file *file_job__file(const struct file_job *j);

/*
 * Take the bytes that have arrived, without waiting. 1: file_job__finish() will not wait long.
 * 0: not yet. -ETIME: the time is up; -EFBIG: the child sends too much; or another errno.
 */
int file_job__read(struct file_job *j);

/*
 * Wait for the child, until its time is up. 0 and the bytes that it has sent, which are the job's;
 * or a negative errno: -EIO if a signal has ended it. Prints nothing; file_job__why() has the
 * reason.
 */
int file_job__finish(struct file_job *j, const uint8_t **bytes, size_t *len);

/* The cause of an error of file_job__finish(), for an error line. It is the job's. */
const char *file_job__why(const struct file_job *j);

/* A job that is not finished is given up: its child is killed. Returns within file_job_end_ns. */
void file_job__free(struct file_job *j);
DEFINE_CLEANUP(struct file_job, file_job__free)
#define _file_job_ __cleanup(file_job__free_p)

#endif /* QPROF_PLAN_FILE_JOB_H */
