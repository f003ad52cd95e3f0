// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/sample_output.h"

#include <errno.h>

#include "base/diag.h"

void sample_output__begin(struct sample_output *o, const struct sampling_options *options,
			  bool queries)
{
	const struct trace_sampling sampling = {
		.hz = options->hz,
		.fault_period = options->fault_period,
		.light = options->light != WIRE_LIGHT_NOT,
		.off_cpu = options->off_cpu,
		.queries = queries,
	};

	o->light = sampling.light;
	if (sampling_options__any(options))
		trace_output__write(o->trace, trace_writer__sampling, &sampling);
}

void sample_output__stack(struct sample_output *o, const struct trace_stack *s, uint32_t *id)
{
	int err;

	*id = TRACE_NO_STACK;
	if (o->trace->err || o->refused)
		return;
	err = trace_writer__stack(o->trace->writer, s, id);
	if (err != -E2BIG) {
		trace_output__wrote(o->trace, err);
		return;
	}
	o->refused = true;
	if (!o->warned)
		diag_warn("the trace has no room for more stacks of samples");
	o->warned = true;
}

int sample_output__job(struct sample_output *o, const struct trace_job *job, uint32_t *id)
{
	int err;

	*id = TRACE_NO_JOB;
	if (o->trace->err)
		return 0;
	err = trace_writer__job(o->trace->writer, job, id);
	if (err != -E2BIG)
		trace_output__wrote(o->trace, err);
	return 0;
}

int sample_output__llvm(struct sample_output *o, const struct trace_llvm *entry, uint32_t *id)
{
	int err;

	*id = TRACE_NO_LLVM;
	if (o->trace->err)
		return 0;
	err = trace_writer__llvm(o->trace->writer, entry, id);
	if (err != -E2BIG)
		trace_output__wrote(o->trace, err);
	return 0;
}

void sample_output__sample(struct sample_output *o, const struct trace_sample *s)
{
	struct trace_sample sample = *s;

	if (o->refused)
		sample.stack = TRACE_NO_STACK;
	trace_output__write(o->trace, trace_writer__sample, &sample);
	o->n++;
	o->n_cut += s->cut != TRACE_CUT_NOT && !trace_sample__is_light(s, o->light);
	o->n_no_room += o->refused;
	o->refused = false;
}
