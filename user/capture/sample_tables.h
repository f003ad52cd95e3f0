/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables by which the kernel half unwinds: those of files, and which files each process has
 * mapped where.
 */
#ifndef QPROF_CAPTURE_SAMPLE_TABLES_H
#define QPROF_CAPTURE_SAMPLE_TABLES_H

#include "capture/kernel.h"
#include "unwind/table.h"

struct sample_tables;

/* The kernel half must outlive the result. Negative errno; prints nothing. */
int sample_tables__new(const struct kernel_samples *k, struct sample_tables **out);

/* Add the table of file `number`, from 1 on. -ENOSPC: the area is full; other errors. */
int sample_tables__add(struct sample_tables *t, uint32_t number, const struct unwind_table *table);

/*
 * Let the kernel half find the file where a process has mapped it, also before
 * sample_tables__map(). The segments are those of `file`, which is the vdso if it is NULL. -ESTALE:
 * the file has changed since; other errors. Without it, stacks of new processes are cut for longer.
 */
int sample_tables__know(struct sample_tables *t, uint32_t number, const struct library_file *file,
			const struct elf_segment *segments, uint32_t n);

/* Let the kernel half take each process that runs this program for a compiler. Errors as above. */
int sample_tables__know_program(struct sample_tables *t, const struct library_file *file);

/* Let the kernel half read the lists of threads that run this file, which is LLVM's. Negative
 * errno.
 */
int sample_tables__set_llvm(struct sample_tables *t, uint32_t number, const struct wire_llvm *l);

/*
 * Take a file back: the kernel half finds neither the file nor its table any more. No process may
 * have a mapping of it by sample_tables__map(). Other files get the table's bytes at once if they
 * need them; the number may have samples until sample_tables__end_removals() was called, and what
 * the kernel half sent was read after that. It can be used again then.
 */
void sample_tables__remove(struct sample_tables *t, uint32_t number);

/* Wait until no stack is walked by what was removed, and give back its bytes. */
void sample_tables__end_removals(struct sample_tables *t);

/* Bytes of the area, and those of them that no table takes. */
uint32_t sample_tables__bytes(const struct sample_tables *t);
uint32_t sample_tables__left(const struct sample_tables *t);

/* The numbers that files may have are below this one. */
uint32_t sample_tables__numbers(const struct sample_tables *t);

/*
 * Set the mappings of m->pid, and m->serial; what the kernel half has found besides is forgotten.
 * Negative errno.
 */
int sample_tables__map(struct sample_tables *t, struct wire_mappings *m);

/* Forget the mappings of a process. */
void sample_tables__unmap(struct sample_tables *t, pid_t pid);

void sample_tables__free(struct sample_tables *t);
DEFINE_CLEANUP(struct sample_tables, sample_tables__free)
#define _sample_tables_ __cleanup(sample_tables__free_p)

#endif /* QPROF_CAPTURE_SAMPLE_TABLES_H */
