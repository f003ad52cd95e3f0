/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The user half of bpf/: loads the BPF programs, attaches them to libraries, drains the ring buffer
 * and reads the counters. Knows nothing of decoding or files.
 */
#ifndef QPROF_CAPTURE_KERNEL_H
#define QPROF_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/attach_set.h"
#include "capture/filter.h"
#include "capture/kernel_options.h"
#include "capture/record.h"
#include "plan/mine/hits.h"
#include "plan/plan.h"
#include "qprof/wire.h"

struct attachments;
struct bpf_program;
struct kernel;

/*
 * Load the programs and start following processes. Nothing is counted before kernel__enable().
 * Prints one line on failure: -EPERM (names the missing capability), -ENOENT (no BTF), -ENOSYS
 * (the kernel lacks something), or the kernel's error.
 */
int kernel__open(const struct kernel_options *opt, struct kernel **out);

/* The libraries that are attached to (kernel_attach.h); the kernel half's. */
struct attachments *kernel__attachments(const struct kernel *k);

/*
 * Attach the sites of a plan that `filter` needs, of all parts; NULL: all that the kernel half was
 * opened for. Records of the library carry `*lib`, which is never 0: a file of samples that is no
 * library has that. -ENOSPC if WIRE_MAX_LIBS - 1 libraries (number 0 has none) are attached to.
 * Prints one line on failure. Two threads may call this at a time.
 */
int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib);

/*
 * The same of the part that is always attached. KERNEL_LIBS_KEPT of the numbers are not for
 * `foreign` libraries, those of unprivileged users.
 */
#define KERNEL_LIBS_KEPT 8
int kernel__attach_always(struct kernel *k, const struct plan *plan, const struct filter *filter,
			  bool foreign, uint8_t *lib);

/*
 * The progress of attaching to library `lib` with perf events. Once counting has begun, attaching
 * goes on after kernel__attach(): *done_ns is 0 until all probes are attached. *begun_ns is the
 * time of kernel__attach(); both are CLOCK_MONOTONIC. 0, or the error that ended it. -ENODATA:
 * there is no such library, or it has no perf events.
 */
int kernel__attached(struct kernel *k, uint8_t lib, uint64_t *begun_ns, uint64_t *done_ns);

/*
 * The address in the kernel of the inode that the kernel probes for an open file; 0 if it cannot be
 * found. Several overlays over one directory show one file as several, with different device
 * numbers, but a uprobe goes to the file below. Reads nothing of the file. For one thread.
 */
uint64_t kernel__inode_of(struct kernel *k, int fd);

/*
 * The numbers by which the kernel half knows an open file, as it is now. -ENODATA: this kernel does
 * not show it. For the same thread.
 */
int kernel__file_key(struct kernel *k, int fd, struct wire_file_key *key);

/* Follow a process, and the children it forks from now on. */
int kernel__follow(struct kernel *k, pid_t pid);
/* Undo kernel__follow(), for a process that had exited before. */
void kernel__unfollow(struct kernel *k, pid_t pid);
bool kernel__follows(const struct kernel *k, pid_t pid);
/* All followed processes, in an array that the caller frees. Negative errno. */
int kernel__followed(const struct kernel *k, pid_t **pids, size_t *n);
/*
 * Where the query context of a followed compiler is. -ENOENT: it is not known, or it is dropped, or
 * the process is gone.
 */
int kernel__context(const struct kernel *k, pid_t pid, struct wire_context *out);
/* True if any process is followed: the kernel half forgets each as it exits. */
bool kernel__follows_any(const struct kernel *k);

/* Send no more intervals that have this dynamic label, as the filter leaves it out. */
int kernel__hide_label(struct kernel *k, const struct wire_label *r);

/* Start or stop counting, at once for all probes. */
void kernel__enable(struct kernel *k, bool on);

/* Count, and attach perf events in the background from now on. */
void kernel__begin_recording(struct kernel *k);

/*
 * Send the intervals on the threads' stacks, as WIRE_SPAN_OPEN. Call with counting stopped. -EBUSY:
 * a program of ours did not end, and the intervals of its thread are missing.
 */
int kernel__flush_open(struct kernel *k);

/*
 * Send the open intervals of `n` threads, at most WIRE_OPEN_TIDS, which stay open: of each
 * WIRE_OPEN_FRAMEs, the outermost first, then one WIRE_OPEN_STACK; nothing if there is no such
 * thread, or no room. A record that is still being written may hide them for a moment. The kernel
 * half must have been opened for it. Takes a look at all threads of the machine, once.
 */
int kernel__show_open(struct kernel *k, const uint32_t *tids, size_t n);

/*
 * Give a thread, which is in a ptrace stop, frames of `n` intervals that it entered before the
 * capture began, at `start_ns`; the outermost first. Their ends are recorded. -ENOSPC: the thread
 * has no room for them, or is gone. Needs opt.show_open.
 */
int kernel__put_begun(struct kernel *k, pid_t tid, uint64_t start_ns,
		      const struct wire_begun *begun, uint32_t n);

/* The parts of the kernel half that sampling.h needs: descriptors and programs, which stay the
 * kernel half's.
 */
struct kernel_samples {
	struct kernel *kernel;		 /* for calls about one process or file; or NULL */
	const struct bpf_program *cpu;	 /* for a clock; NULL: not wanted */
	const struct bpf_program *fault; /* for page faults; NULL: not wanted */
	bool waits;			 /* the kernel half samples waits by itself */
	int mappings;			 /* struct wire_mappings, by pid */
	int noted;			 /* what the kernel half knows besides; by pid */
	int known;			 /* struct wire_known_file, by struct wire_file_key */
	int programs;			 /* of compilers; wire_u32, by struct wire_file_key */
	int files;			 /* struct wire_unwind_file, by number, below n_files */
	int recent;			 /* rules that each CPU looked up last */
	int area;			 /* n_blocks blocks of tables, to be mapped */
	int llvm;			 /* struct wire_llvm, by a file's number; -1: not wanted */
	volatile uint8_t *libs; /* by a file's number: the compiler's library that it is, or 0 */
	volatile __u64 *llvm_files; /* likewise: 0 if it is not in `llvm` (unwind.h) */
	uint32_t n_files;
	uint32_t n_recent, recent_bytes; /* of a value */
	uint32_t n_blocks;
};

/* False: it was not loaded for samples. */
bool kernel__samples(struct kernel *k, struct kernel_samples *out);

/* Why samples that nobody asked for were not loaded; 0: they were, or are not to be taken. */
int kernel__unsampled(const struct kernel *k);

/*
 * With samples of waits: a process that runs already was found. Its threads' waits are noted from
 * now on; those of processes that are forked later are anyway. Negative errno.
 */
int kernel__prepare_waits(struct kernel *k, pid_t pid);

/* A file descriptor that polls readable when many records wait. */
int kernel__ring_fd(const struct kernel *k);

/*
 * Pass all records that wait now to `fn`; of records that arrive meanwhile, at most a ring's
 * length. Stops at the first negative errno of `fn`, and returns it.
 */
int kernel__drain(struct kernel *k, record_fn fn, void *ctx);

/* Sums over the CPUs. */
int kernel__counters(const struct kernel *k, uint64_t counters[WIRE_COUNTER_MAX]);

/* Set all counters to 0. Only while counting is stopped. */
int kernel__reset_counters(struct kernel *k);

/*
 * Stop recording, and begin to detach, as attachments__leave(). No more records can be drained.
 */
void kernel__leave(struct kernel *k, bool wait);

/*
 * Detach everything. The kernel takes up to a second to remove each perf event, so a child process
 * does that in the background.
 */
void kernel__free(struct kernel *k);
DEFINE_CLEANUP(struct kernel, kernel__free)
#define _kernel_ __cleanup(kernel__free_p)

#endif /* QPROF_CAPTURE_KERNEL_H */
