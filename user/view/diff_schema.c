// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "view/diff.h"
#include "view/json.h"

/*
 * The contents of a member. A name that ends in _ns is in nanoseconds, in _bytes in bytes; a type
 * that begins with a bracket is a list.
 */
struct member {
	const char *name;
	const char *type; /* of JSON, or one of `types` */
	const char *about;
};

static const struct member document[] = {
	{"schema", "string", "qprof-diff/5"},
	{"by", "string", "what rows are: query, item, pass, generic or instance"},
	{"metric", "string",
	 "of limits and of the order: self, total, count, cpu, wall, peak, results"},
	{"min_ns", "integer", "times that change by less are not significant; ns"},
	{"min_percent", "number", "the same, percent of the build"},
	{"noise", "noise", "estimated noise of times; null: measured, or none"},
	{"differences", "[string",
	 "what makes the sides hard to compare: incremental, crates, compiler, recording, "
	 "other_recordings"},
	{"exit_status", "integer", "0, 1 or 125, by the limits"},
	{"traces", "[trace", "base first"},
	{"gates", "[gate", "the limits of --fail-above"},
	{"build", "comparison", "all compilers of the traces"},
	{"crates", "[comparison", "units that are paired, the significant ones first"},
	{"rows", "[comparison",
	 "queries of crates, or what --by asks for; the significant ones first"},
	{"items", "[comparison",
	 "items, beside the rows of queries; only without --by, if all traces have some"},
	{"passes", "[comparison",
	 "CPU time in LLVM by its pass; this and the next two only without --by, of self and cpu, "
	 "if all "
	 "traces know what LLVM did"},
	{"generics", "[comparison", "the same by function of the source, with all instances"},
	{"instances", "[comparison", "the same by instance"},
};

static const struct member noise[] = {
	{"percent", "number or null", "percent of the smaller time; null: unknown"},
};

static const struct member trace[] = {
	{"path", "string", "file"},
	{"side", "string", "base or new"},
	{"problem", "string or null", "damage of the file"},
	{"lost", "integer or null", "records that were lost while it was recorded"},
	{"compiles", "integer", "compilers that compiled a crate"},
	{"late", "integer", "of these: ran before their probes were there"},
	{"cut", "integer", "of these: killed, or their end was not seen"},
	{"killed_for_memory", "integer", "of these: by the kernel, as memory had run out"},
	{"compiler", "string or null", "its version; of several the first by name"},
	{"reusing", "integer", "compiles that read results of an earlier one (incremental)"},
	{"other_recordings", "integer", "that ran beside it, whose probes make compilers slower"},
	{"probed", "boolean", "it has intervals of all queries"},
	{"sampled", "boolean", "it has samples of stacks"},
	{"off_cpu", "boolean", "it knows when threads were off the CPU"},
};

/* Of a limit, besides those of a comparison. */
static const struct member gate[] = {
	{"text", "string", "as given to --fail-above"},
	{"limit_ns", "integer", "growth that is allowed: one of these three; ns"},
	{"limit_bytes", "integer", "bytes"},
	{"limit_percent", "number", "percent of the value in base"},
	{"metric", "string", "what is limited"},
	{"exceeded", "boolean", "verdict is exceeded"},
	{"verdict", "string", "passed, exceeded or none"},
	{"why", "string or null", "why there is no verdict"},
};

static const struct member comparison[] = {
	{"crate", "string", "crate name; missing of items and of the build"},
	{"type", "string", "crate type"},
	{"name", "string", "name of the unit, which no other has"},
	{"item", "string or null", "path of a definition; null: time outside of all"},
	{"file", "string", "where the item begins"},
	{"line", "integer", "where the item begins"},
	{"pass", "string", "pass of LLVM"},
	{"function", "string", "path of a function that LLVM compiled, or of an instance"},
	{"query", "string", "name of a query or activity; missing of whole crates"},
	{"kind", "string", "of its intervals: Query, GenericActivity, ..."},
	{"change", "integer", "new less base, of the metric: ns, bytes or a number"},
	{"change_percent", "number or null", "percent of base; null: base is 0"},
	{"change_error", "integer", "standard error of the change by samples; ns"},
	{"compared", "boolean", "the metric is known on both sides"},
	{"significant", "boolean", "the change is more than chance explains"},
	{"compared_metrics", "[string", "of whole crates: known on both sides"},
	{"changed_metrics", "[string", "of whole crates: changed significantly"},
	{"doubted_metrics", "[string",
	 "of whole crates: changed, but what recording cost may explain it"},
	{"base", "side", "null: no trace of that side has it"},
	{"new", "side", "null: no trace of that side has it"},
};

static const struct member side[] = {
	{"self_ns", "spread",
	 "time without called queries and without probes, on the CPU if known; ns"},
	{"total_ns", "spread", "time with called queries; of crates how long compilers ran; ns"},
	{"count", "spread",
	 "executions; of crates those of queries, without activities; missing of LLVM's work"},
	{"wall_ns", "spread", "from start to end; ns"},
	{"cpu_ns", "spread",
	 "CPU time of the compiler, without in_compilers_ns unless that is null; ns"},
	{"in_compilers_ns", "integer or null",
	 "CPU time that recording added in compilers, median of the traces"},
	{"peak_bytes", "spread", "the most memory that one compiler had resident; bytes"},
	{"results", "spread", "results of queries that rustc numbered, probed or not"},
};

static const struct member spread[] = {
	{"n", "integer", "traces"},
	{"median", "integer", "of the traces"},
	{"min", "integer", "of the traces"},
	{"max", "integer", "of the traces"},
};

/* A member of one of these types is an object, or a list of such. */
static const struct {
	const char *name;
	const struct member *members;
	size_t n;
} types[] = {
	{"noise", noise, N_OF(noise)}, {"trace", trace, N_OF(trace)},
	{"gate", gate, N_OF(gate)},    {"comparison", comparison, N_OF(comparison)},
	{"side", side, N_OF(side)},    {"spread", spread, N_OF(spread)},
};

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

/* The numbers of a spread, but `n`, have the unit of what they are of: the last part of the path.
 */
static const char *unit_of_number(const char *at, const struct member *m)
{
	bool in_spread = strcmp(m->name, "n") != 0;

	if (!strcmp(m->name, "change"))
		return "metric";
	if (ends_in(m->name, "_ns") || ends_in(m->name, "_error") ||
	    (in_spread && ends_in(at, "_ns")))
		return "ns";
	if (ends_in(m->name, "_bytes") || (in_spread && ends_in(at, "_bytes")))
		return "bytes";
	return "count";
}

static const char *unit_of(const char *at, const struct member *m)
{
	static const struct {
		const char *begin, *unit;
	} units[] = {{"number", "percent"}, {"string", "text"}, {"boolean", "bool"}, {"[", "list"}};

	if (!strncmp(m->type, "integer", strlen("integer")))
		return unit_of_number(at, m);
	for (size_t i = 0; i < N_OF(units); i++)
		if (!strncmp(m->type, units[i].begin, strlen(units[i].begin)))
			return units[i].unit;
	return "object";
}

static void put_members(struct schema *s, const char *at, const struct member *members,
			size_t n_members);

static void put_member(struct schema *s, const char *at, const struct member *m)
{
	bool is_list = *m->type == '[';
	char path[128];

	schema__field(s, at, m->name, unit_of(at, m), m->about);
	/* Paths are not deeper than a spread of a side of a row. */
	snprintf(path, sizeof(path), "%s%s%s%s", at, *at ? "." : "", m->name, is_list ? "[]" : "");
	for (size_t i = 0; i < N_OF(types); i++)
		if (!strcmp(m->type + is_list, types[i].name))
			put_members(s, path, types[i].members, types[i].n);
}

static void put_members(struct schema *s, const char *at, const struct member *members,
			size_t n_members)
{
	for (size_t i = 0; i < n_members && !s->json.err; i++)
		put_member(s, at, &members[i]);
	/* A limit has a comparison in it. */
	if (members == gate)
		put_members(s, at, comparison, N_OF(comparison));
}

int diff_schema(FILE *out)
{
	struct schema s;

	schema__begin(&s, out, "qprof-diff/5");
	put_members(&s, "", document, N_OF(document));
	return schema__end(&s);
}
