// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/trace.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

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

/* ---- Losses ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *text;
	bool lost;
} causes[] = {
	[TRACE_LOST_RING_FULL] = {"ring_full", "ring buffer full", true},
	[TRACE_LOST_STACK_FULL] = {"stack_full", "too many nested intervals on one thread", true},
	[TRACE_LOST_NO_STORAGE] = {"no_storage", "no memory for a thread's stack of intervals",
				   true},
	[TRACE_LOST_RECURSION] = {"recursion", "probe hit inside another probe", true},
	[TRACE_LOST_PROCESS_RECORD] = {"process_record", "fork, exec, exit or thread not reported",
				       true},
	[TRACE_LOST_TARGETS_FULL] = {"targets_full", "too many processes to follow", true},
	[TRACE_DROP_END_WITHOUT_START] = {"end_without_start", "interval began before the capture",
					  false},
	[TRACE_COUNT_UNWOUND] = {"unwound", "interval left by unwinding", false},
	[TRACE_COUNT_LEFT] = {"left",
			      "interval that may be shown too long, as its end was noticed late",
			      false},
	[TRACE_COUNT_OPEN] = {"open", "interval still running when its thread or the capture ended",
			      false},
	[TRACE_LOST_UNKNOWN_PROVIDER] = {"unknown_provider",
					 "query whose name could not be read in the compiler",
					 true},
	[TRACE_LOST_BAD_RECORD] = {"bad_record", "malformed record", true},
	[TRACE_COUNT_HITS] = {"hits", "probe hits", false},
	[TRACE_COUNT_HITS_OTHER] = {"hits_other", "probe hits in processes not followed", false},
	[TRACE_COUNT_NO_LABEL] = {"label", "interval whose label could not be read", false},
	[TRACE_COUNT_NO_CALLER] = {"caller", "request whose caller is unknown", false},
	[TRACE_LOST_MAPPINGS] = {"mappings", "mapping not reported, perhaps of a compiler", true},
	[TRACE_LOST_COMPILERS] = {"compilers", "compiler not recorded, or not to its end", true},
	[TRACE_COUNT_NO_NAMES] = {"names", "piece of a compiler's names that was not copied",
				  false},
	[TRACE_COUNT_NO_SAMPLE] = {"samples", "sample that was not taken or found no room", false},
	[TRACE_COUNT_NO_JOB] = {"jobs", "sample in an execution that is unknown", false},
	[TRACE_COUNT_NO_LLVM] = {"llvm", "sample in LLVM whose pass and function are unknown",
				 false},
	[TRACE_COUNT_NO_RESULTS] = {"results", "query whose results could not be counted", false},
};

_Static_assert(N_OF(causes) == TRACE_LOSS_MAX, "a cause without a text");

const char *trace_loss_name(enum trace_loss loss)
{
	return (unsigned int)loss < TRACE_LOSS_MAX ? causes[loss].name : NULL;
}

const char *trace_loss_text(enum trace_loss loss)
{
	return (unsigned int)loss < TRACE_LOSS_MAX ? causes[loss].text : NULL;
}

bool trace_loss_is_lost(enum trace_loss loss)
{
	return (unsigned int)loss < TRACE_LOSS_MAX && causes[loss].lost;
}

uint64_t trace_losses__total(const struct trace_losses *losses)
{
	uint64_t total = 0;

	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		total += causes[i].lost ? losses->count[i] : 0;
	return total;
}

static const char *const rebuilt_names[] = {
	[TRACE_REBUILT_UNKNOWN] = "unknown",
	[TRACE_REBUILT_FILE] = "file",
	[TRACE_REBUILT_MISSING] = "missing_file",
	[TRACE_REBUILT_FEATURES] = "features",
	[TRACE_REBUILT_PROFILE] = "profile",
	[TRACE_REBUILT_COMMAND] = "command",
	[TRACE_REBUILT_FLAGS] = "flags",
	[TRACE_REBUILT_RUSTC] = "rustc",
	[TRACE_REBUILT_ENVIRONMENT] = "environment",
	[TRACE_REBUILT_DEPENDENCIES] = "dependencies",
	[TRACE_REBUILT_DEPENDENCY] = "dependency",
	[TRACE_REBUILT_SOURCE] = "source",
	[TRACE_REBUILT_MANIFEST] = "manifest",
	[TRACE_REBUILT_CONFIG] = "config",
	[TRACE_REBUILT_BUILD_SCRIPT] = "build_script",
	[TRACE_REBUILT_UNFINISHED] = "unfinished",
};

_Static_assert(N_OF(rebuilt_names) == TRACE_REBUILT_MAX, "a reason without a name");

const char *trace_rebuilt_name(enum trace_rebuilt_reason reason)
{
	return rebuilt_names[reason];
}
