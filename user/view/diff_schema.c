// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "view/diff.h"

/* What a member holds. A name that ends in _ns is in nanoseconds, in _bytes in bytes. */
struct member {
	const char *name;
	const char *type; /* of JSON; or the name of a definition */
	const char *about;
};

static const struct member document[] = {
	{"schema", "string", "qprof-diff/3"},
	{"by", "string", "what rows are: query or item"},
	{"metric", "string",
	 "of limits and of the order: self, total, count, cpu, wall, peak, results"},
	{"min_ns", "integer", "times that change by less are not significant; ns"},
	{"min_percent", "number", "the same, percent of the build"},
	{"noise", "noise", "estimated noise of times; null: measured, or none"},
	{"differences", "array of string",
	 "what makes the sides hard to compare: incremental, crates, compiler, recording"},
	{"exit_status", "integer", "0, 1 or 125, by the limits"},
	{"traces", "array of trace", "base first"},
	{"gates", "array of gate", "the limits of --fail-above"},
	{"build", "comparison", "all compilers of the traces"},
	{"crates", "array of comparison", "units that are paired, the significant ones first"},
	{"rows", "array of comparison", "queries of crates, or items; the significant ones first"},
};

static const struct member noise[] = {
	{"percent", "number or null", "percent of the smaller time; null: unknown"},
};

static const struct member trace[] = {
	{"path", "string", "file"},
	{"side", "string", "base or new"},
	{"problem", "string or null", "damage of the file"},
	{"lost", "integer or null", "records that were lost while it was recorded"},
	{"counted", "integer", "executions without an interval, exactly (earlier versions)"},
	{"estimated", "integer", "executions without an interval, estimated (earlier versions)"},
	{"unprobed", "integer", "queries without probes, to keep within a budget"},
	{"compiles", "integer", "compilers that compiled a crate"},
	{"late", "integer", "of these: ran before their probes were there"},
	{"cut", "integer", "of these: killed, or their end was not seen"},
	{"compiler", "string or null", "its version; of several the first by name"},
	{"unwatched", "boolean", "activities, waiting or loading were not always recorded"},
	{"reusing", "integer", "compiles that read results of an earlier one (incremental)"},
	{"budget_percent", "number", "of CPU time, for probes; 0: none"},
	{"probed", "boolean", "it has intervals of queries"},
	{"sampled", "boolean", "it has samples of stacks"},
	{"off_cpu", "boolean", "it knows when threads were off the CPU"},
};

/* Of a limit, before those of a comparison. */
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
	{"query", "string", "name of a query or activity; missing of whole crates"},
	{"kind", "string", "of its intervals: Query, GenericActivity, ..."},
	{"change", "integer", "new less base, of the metric: ns, bytes or a number"},
	{"change_percent", "number or null", "percent of base; null: base is 0"},
	{"change_error", "integer", "standard error of the change by samples; ns"},
	{"compared", "boolean", "the metric is known on both sides"},
	{"significant", "boolean", "the change is more than chance explains"},
	{"compared_metrics", "array of string", "of whole crates: known on both sides"},
	{"changed_metrics", "array of string", "of whole crates: changed significantly"},
	{"base", "side", "null: no trace of that side has it"},
	{"new", "side", "null: no trace of that side has it"},
};

static const struct member side[] = {
	{"self_ns", "spread",
	 "time without called queries and without probes, on the CPU if known; ns"},
	{"total_ns", "spread", "time with called queries; of crates how long compilers ran; ns"},
	{"count", "spread", "executions; of crates those of queries, without activities"},
	{"wall_ns", "spread", "from start to end; ns"},
	{"cpu_ns", "spread", "CPU time of all threads; ns"},
	{"peak_bytes", "spread", "the most memory that one compiler had resident; bytes"},
	{"results", "spread", "results of queries that rustc numbered, probed or not"},
};

static const struct member spread[] = {
	{"n", "integer", "traces"},
	{"median", "integer", "of the traces"},
	{"min", "integer", "of the traces"},
	{"max", "integer", "of the traces"},
};

static const struct {
	const char *name;
	const struct member *members;
	size_t n;
	bool is_nullable;
	const struct member *more; /* of another definition */
	size_t n_more;
} definitions[] = {
	{"noise", noise, N_OF(noise), true, NULL, 0},
	{"trace", trace, N_OF(trace), false, NULL, 0},
	{"gate", gate, N_OF(gate), false, comparison, N_OF(comparison)},
	{"comparison", comparison, N_OF(comparison), false, NULL, 0},
	{"side", side, N_OF(side), true, NULL, 0},
	{"spread", spread, N_OF(spread), true, NULL, 0},
};

static bool is_defined(const char *type)
{
	for (size_t i = 0; i < N_OF(definitions); i++)
		if (!strcmp(definitions[i].name, type))
			return true;
	return false;
}

/* "integer", "string or null", or the name of a definition. */
static void print_type(FILE *out, const char *type)
{
	size_t len = strcspn(type, " ");

	if (is_defined(type))
		fprintf(out, "\"$ref\": \"#/$defs/%s\"", type);
	else if (type[len])
		fprintf(out, "\"type\": [\"%.*s\", \"null\"]", (int)len, type);
	else
		fprintf(out, "\"type\": \"%s\"", type);
}

static void print_member(FILE *out, const struct member *m)
{
	static const char array[] = "array of ";

	fprintf(out, "\n      \"%s\": {", m->name);
	if (strncmp(m->type, array, strlen(array)) != 0) {
		print_type(out, m->type);
	} else {
		fputs("\"type\": \"array\", \"items\": {", out);
		print_type(out, m->type + strlen(array));
		fputc('}', out);
	}
	fprintf(out, ", \"description\": \"%s\"}", m->about);
}

static void print_members(FILE *out, const struct member *members, size_t n, const char *before)
{
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : before, out);
		print_member(out, &members[i]);
	}
}

static void print_definition(FILE *out, size_t i)
{
	fprintf(out,
		"%s\n    \"%s\": {\"type\": %s, \"additionalProperties\": false, \"properties\": {",
		i ? "," : "", definitions[i].name,
		definitions[i].is_nullable ? "[\"object\", \"null\"]" : "\"object\"");
	print_members(out, definitions[i].members, definitions[i].n, "");
	print_members(out, definitions[i].more, definitions[i].n_more, ",");
	fputs("}}", out);
}

void diff_schema(FILE *out)
{
	fputs("{\n"
	      "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	      "  \"$id\": \"qprof-diff/3\",\n"
	      "  \"title\": \"The document of qprof-bpf diff --json\",\n"
	      "  \"$defs\": {",
	      out);
	for (size_t i = 0; i < N_OF(definitions); i++)
		print_definition(out, i);
	fputs("},\n  \"type\": \"object\", \"properties\": {", out);
	print_members(out, document, N_OF(document), "");
	fputs("}\n}\n", out);
}
