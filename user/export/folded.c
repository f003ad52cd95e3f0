// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Folded stacks: "process;outer;inner nanoseconds", for flamegraph.pl, inferno and the like. */
#include "export/flame.h"

int export_folded(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	int err = flame__build(job, &f);

	if (err)
		return err;
	stack__begin(&s, f, 0, UINT32_MAX);
	while ((err = stack__next(&s)) > 0) {
		if (!flame__self(f, stack__node(&s)))
			continue;
		for (uint32_t i = 0; i < s.n && !out__error(job->out); i++) {
			if (i)
				out__bytes(job->out, ";", 1);
			out__plain(job->out, flame__name(f, &f->tree.nodes[s.nodes[i]]), ";", '_');
		}
		out__bytes(job->out, " ", 1);
		out__number(job->out, flame__self(f, stack__node(&s)));
		out__bytes(job->out, "\n", 1);
		job->written++;
		if (out__error(job->out))
			return out__error(job->out);
	}
	return err;
}
