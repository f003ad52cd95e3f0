/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which compile of a build had to wait for which: from the files that --extern names, and from the
 * directories of build scripts. docs/report.md has the rules.
 */
#ifndef QPROF_ANALYZE_COMPILE_GRAPH_H
#define QPROF_ANALYZE_COMPILE_GRAPH_H

#include "analyze/build.h"

/* Until when a compile waits for another one. */
enum compile_need {
	NEED_METADATA, /* its metadata is written */
	NEED_END,      /* it has ended */
	NEED_ALL,      /* it has ended, and so have those that it needs: for a link */
	NEED_RUN,      /* it has ended, and the build script that it made has run */
};

struct compile_edge {
	uint32_t on; /* the node that is waited for; it started earlier */
	uint8_t need;
};

struct compile_node {
	const struct build_process *compile;
	uint64_t metadata_ns; /* from its start until dependents could begin; its end, if that is
				 not before */
	uint64_t run_ns;      /* of the build script that it made: as far as others waited for it */
	uint32_t first_edge;
	uint32_t n_edges;
	uint32_t last; /* of this node and all that it needs, the one that ended last */
	/*
	 * Commands that ran one after another, such as two of cargo, are stages: no compile of a
	 * stage starts before all of the stage before it have ended.
	 */
	uint32_t stage;
};

struct compile_graph {
	struct compile_node *nodes; /* in the order of their starts */
	struct compile_edge *edges; /* by node */
	uint32_t n_nodes;
	uint32_t n_edges;
};

/*
 * After build__end(); the build must outlive the graph. 0 or -ENOMEM. Destroy it after use, even
 * after a failure; the previous content of `g` is ignored.
 */
int compile_graph__of(struct compile_graph *g, const struct build *b);

/* When a need was fulfilled, on the trace's clock; of NEED_RUN before the run. */
uint64_t compile_graph__fulfilled(const struct compile_graph *g, const struct compile_edge *e);

void compile_graph__destroy(struct compile_graph *g);
#define _compile_graph_ __cleanup(compile_graph__destroy)

#endif /* QPROF_ANALYZE_COMPILE_GRAPH_H */
