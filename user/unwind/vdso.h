/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The unwind table of the vDSO, code that the kernel maps into every process and that is in no
 * file. All processes have the same one, except those of another word size.
 */
#ifndef QPROF_UNWIND_VDSO_H
#define QPROF_UNWIND_VDSO_H

#include "unwind/table.h"

/*
 * Its table, made of our own copy; addresses are relative to the start of the mapping "[vdso]". The
 * caller frees it. -ENOENT if we have none, else as unwind_table__of(). Prints nothing.
 */
int unwind_vdso__table(struct unwind_table **out);

#endif /* QPROF_UNWIND_VDSO_H */
