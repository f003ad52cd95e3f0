// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Folded stacks: "process;outer;inner nanoseconds", for flamegraph.pl, inferno and the like. */
#include "export/flame.h"
#include "export/stack.h"

static void put_stack(struct export_job *job, const struct flame *f, const struct stack *s,
		      uint64_t ns)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (i)
			out__bytes(job->out, ";", 1);
		if (out__error(job->out))
			return;
		out__plain(job->out, flame__name(f, flame__node(f, s->nodes[i])), ";", '_');
	}
	out__bytes(job->out, " ", 1);
	out__number(job->out, ns);
	out__bytes(job->out, "\n", 1);
}

int export_folded(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	int err = flame__build(job, &f);

	if (err)
		return err;
	for (uint32_t process = 0; stack__begin(&s, f, process); process++) {
		while ((err = stack__next(&s)) > 0) {
			uint64_t ns = flame__node(f, s.nodes[s.n - 1])->self_ns;

			if (!ns)
				continue;
			put_stack(job, f, &s, ns);
			job->written++;
			err = out__error(job->out);
			if (err)
				return err;
		}
		if (err)
			return err;
	}
	return 0;
}
