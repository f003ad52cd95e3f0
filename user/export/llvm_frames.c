// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/llvm_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/code_name.h"
#include "analyze/generic_name.h"
#include "analyze/llvm.h"
#include "base/array.h"

static int put_name(const char *text, char **out)
{
	if (text && asprintf(out, "[%s]", text) < 0)
		*out = NULL;
	return *out ? 0 : -ENOMEM;
}

static int name_entry(const struct llvm_frames *f, const struct trace_llvm *entry,
		      struct llvm_frame *frame)
{
	_generic_name_ struct generic_name function = {};
	_free_ char *pass = NULL;

	if (entry->pass != TRACE_NO_STRING) {
		pass = llvm_pass_name(trace_reader__string(f->r, entry->pass));
		if (put_name(pass, &frame->names[0]))
			return -ENOMEM;
	}
	if (entry->function == TRACE_NO_STRING)
		return 0;
	return generic_name__of(trace_reader__string(f->r, entry->function), &function)
		       ?: put_name(function.path, &frame->names[1]);
}

const struct llvm_frame *llvm_frames__of(struct llvm_frames *f, uint32_t id)
{
	const struct trace_llvm *entry = trace_reader__llvm(f->r, id);
	struct llvm_frame *frame;

	if (array__reserve_at(&f->at, id, &f->n, sizeof(*f->at)))
		return NULL;
	frame = &f->at[id];
	if (!entry || frame->names[0] || frame->names[1])
		return frame;
	return name_entry(f, entry, frame) ? NULL : frame;
}

bool llvm_frames__precede(struct code_functions *functions, const struct trace_stack *entry)
{
	uint32_t number;

	return entry->kind == TRACE_STACK_LOCATION &&
	       !code_functions__find(functions, entry, &number) &&
	       code_functions__is_of(functions, number, CODE_LLVM);
}

void llvm_frames__destroy(struct llvm_frames *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->at[i].names[0]);
		free(f->at[i].names[1]);
	}
	free(f->at);
	*f = (struct llvm_frames){};
}
