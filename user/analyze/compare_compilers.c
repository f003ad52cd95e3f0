// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_compilers.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/compile_name.h"

void compare_compilers__clear(struct compare_compilers *cs)
{
	for (uint32_t i = 0; cs->all && i < cs->n; i++)
		free(cs->all[i].rows);
	free(cs->all);
	free(cs->processes);
}

/* Those of cargo's questions have a crate name, too, but are no crates. */
static bool only_answers(const struct trace_process *p)
{
	return p->crate && compile_only_queries(p);
}

int compare_compilers__init(struct compare_compilers *cs, const struct summary *s)
{
	uint32_t n = summary__n_processes(s);

	cs->n = 0;
	cs->all = calloc(n + 1UL, sizeof(*cs->all));
	cs->processes = calloc(n + 1UL, sizeof(*cs->processes));
	if (!cs->all || !cs->processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct compare_compiler *to = &cs->all[cs->n];

		if (summary__rows(s, i, &to->rows, &to->n))
			return -ENOMEM;
		to->process = cs->processes[cs->n] = summary__process_at(s, i);
		if (to->n && !only_answers(to->process))
			cs->n++;
		else
			free(take_ptr(to->rows));
	}
	return 0;
}

uint64_t compare_compiler__wall_ns(const struct compare_compiler *compiler)
{
	const struct trace_process *p = compiler->process;
	uint64_t longest = 0;

	if (p->end_ns > p->start_ns)
		return p->end_ns - p->start_ns;
	for (size_t i = 0; i < compiler->n; i++) {
		if (compiler->rows[i].total_ns > longest)
			longest = compiler->rows[i].total_ns;
	}
	return longest;
}
