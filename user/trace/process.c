// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "trace/trace.h"

static int copy_text(char **dst, const char *src)
{
	*dst = src ? strdup(src) : NULL;
	return src && !*dst ? -ENOMEM : 0;
}

int trace_process__copy(struct trace_process *dst, const struct trace_process *src)
{
	struct trace_process copy = *src;
	int err = 0;

	err |= copy_text(&copy.command, src->command);
	err |= copy_text(&copy.crate, src->crate);
	err |= copy_text(&copy.crate_type, src->crate_type);
	err |= copy_text(&copy.rustc_version, src->rustc_version);
	err |= copy_text(&copy.build_id, src->build_id);
	err |= copy_text(&copy.cwd, src->cwd);
	err |= copy_text(&copy.no_llvm, src->no_llvm);
	if (err) {
		trace_process__clear(&copy);
		return -ENOMEM;
	}
	*dst = copy;
	return 0;
}

void trace_process__clear(struct trace_process *p)
{
	free(p->command);
	free(p->crate);
	free(p->crate_type);
	free(p->rustc_version);
	free(p->build_id);
	free(p->cwd);
	free(p->no_llvm);
	*p = (struct trace_process){.exit_status = TRACE_EXIT_UNKNOWN};
}
