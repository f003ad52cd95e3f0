/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the kernel half is to be loaded. */
#ifndef QPROF_CAPTURE_KERNEL_OPTIONS_H
#define QPROF_CAPTURE_KERNEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/filter.h"
#include "capture/sampling_options.h"

enum kernel_attach {
	KERNEL_ATTACH_AUTO, /* uprobe_multi links on kernels from 6.6 on, else perf events */
	KERNEL_ATTACH_MULTI,
	KERNEL_ATTACH_PERF,
};

struct kernel_options {
	enum kernel_attach attach;
	size_t ring_bytes; /* a power of two, at least a page */
	bool callers;	   /* probe requests too, and record their callers */
	/* Filters of libraries pass no more than this; other programs are not loaded. NULL:
	 * everything passes, except for hits. */
	const struct filter *filter;
	bool keys;	/* read the keys of queries, and the names of definitions */
	bool hits;	/* prepare for attachments__attach_hits(), whatever the filter */
	uint32_t parts; /* PLAN_PART_BITs: compilers that need these are expected */
	bool off_cpu;	/* record when threads that have hit a probe are off their CPU */
	bool one_build; /* few toolchains compile at a time: less room for what samples need */
	struct sampling_options sampling; /* load what takes samples; see kernel__samples() */
	bool show_open; /* kernel__show_open() is used, besides what is recorded */
	/* Only kernel__show_open() is used: intervals that end are not recorded. */
	bool only_open;
	bool outside; /* nothing of the kernel's is used: capture/outside.h */
};

#endif /* QPROF_CAPTURE_KERNEL_OPTIONS_H */
