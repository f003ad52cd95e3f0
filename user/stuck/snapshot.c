// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/snapshot.h"

#include <stdlib.h>

static void thread__clear(struct snapshot_thread *t)
{
	stuck_rows__clear(&t->rows);
	for (uint32_t i = 0; i < t->n_functions; i++)
		free(t->functions[i]);
	free(t->functions);
}

void snapshot__clear(struct snapshot *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct snapshot_process *process = &p->processes[i];

		for (uint32_t k = 0; k < process->n_threads; k++)
			thread__clear(&process->threads[k]);
		free(process->threads);
		free(process->crate);
		free(process->crate_type);
		free(process->command);
	}
	for (uint32_t i = 0; i < p->n_others; i++)
		other__clear(&p->others[i]);
	free(p->others);
	free(p->processes);
	*p = (struct snapshot){0};
}
