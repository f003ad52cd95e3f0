// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/array.h"
#include "view/json.h"
#include "view/view.h"

/* Units: what a value is in, or of which sort it is. */
#define NS     "ns"
#define BYTES  "bytes"
#define COUNT  "count"
#define PPM    "ppm"
#define SHARE  "share"
#define PS     "ps"
#define ID     "id"
#define TEXT   "text"
#define BOOL   "bool"
#define LIST   "list"
#define OBJECT "object"

struct field {
	const char *name;
	const char *unit;
	const char *text;
};

/* The fields of a sort of objects, and where these are: paths, of which the last is NULL. */
struct object {
	const char *at[4];
	const struct field *fields;
	size_t n;
};

static const struct field document[] = {
	{"schema", TEXT, "qprof-report/3"},
	{"problem", TEXT, "why the trace is not whole; null: it is"},
	{"lost", COUNT, "records that were lost; null: unknown"},
	{"losses", OBJECT, "counts by cause; null: unknown"},
	{"query_executions", COUNT, "executions of queries: recorded, or by the compilers' tables"},
	{"unsure_results", COUNT, "results in these tables that may be none; missing: none"},
	{"activities", COUNT, "activities: passes, and parts of them"},
	{"probes", OBJECT, "what the probes cost, if that was measured"},
	{"cost", OBJECT, "what recording cost; not with --crate and --process"},
	{"samples", OBJECT, "if stacks were sampled"},
	{"groups", LIST, "with --by crate, process, thread"},
	{"macros", LIST, "with --by macro"},
	{"units", LIST, "with --by cgu: codegen units"},
	{"llvm", OBJECT, "what LLVM did, by samples; missing: nothing is known, or other rows"},
	{"items", LIST, "with --by item"},
	{"modules", LIST, "with --by module"},
	{"callers", LIST, "with --callers"},
	{"build", OBJECT, "the report of the build, unless rows are of something else"},
	{"processes", LIST, "every compiler"},
	{"queries", LIST, "the rows of the table of queries"},
	{"tallies", LIST, "values without times, if there are any"},
};

static const struct field probes[] = {
	{"hits", COUNT, "of probes; null: of a part of the trace"},
	{"emulated_ps", PS, "what a hit costs on an instruction that the kernel emulates"},
	{"stepped_ps", PS, "what a hit costs on another instruction"},
	{"probe_ns", NS, "all hits; null: of a part of the trace"},
	{"wall_ns", NS, "of the compilers, added up"},
	{"taken_off", BOOL, "whether the times of this document are without it"},
};

static const struct field cost[] = {
	{"share_of_cpu", SHARE, "added_ns by cpu_ns; null: unknown"},
	{"added_ns", NS, "CPU time that recording added"},
	{"in_compilers_ns", NS, "of added_ns, what is not own_ns; null: unknown"},
	{"cpu_ns", NS, "CPU time of the compilers, without in_compilers_ns if that is known"},
	{"probes_ns", NS, "hits of probes"},
	{"breakpoints_ns", NS, "writing breakpoints into processes"},
	{"samples_ns", NS, "samples, with the ticks of the clock"},
	{"names_ns", NS, "copies of names, as each compiler ends; 0 in older traces"},
	{"own_ns", NS, "of the recorder itself"},
	{"set_up_ns", NS, "of own_ns, what comes once, however long it records; null: unknown"},
	{"read_ns", NS,
	 "not in added_ns: to read the toolchain's files, for the first time; 0 in older traces"},
	{"waited_ns", NS, "for which compilers waited for the recorder"},
	{"waited", COUNT, "such waits"},
	{"hits", COUNT, "of probes"},
	{"breakpoints", COUNT, "that were written"},
	{"other_recordings", COUNT,
	 "that ran at the same time, whose probes make compilers slower; missing: none was seen"},
};

static const struct field samples[] = {
	{"hz", COUNT, "samples a second of CPU time; null: none"},
	{"fault_period", COUNT, "page faults for each sample; null: none"},
	{"n", COUNT, "samples of all causes"},
	{"complete", COUNT, "samples whose stack reaches the start of its thread"},
	{"light", COUNT, "samples without their stack, by --memory-light"},
	{"cut", OBJECT, "the other samples, by cause"},
	{"unknown", COUNT, "innermost execution is of a query that its code does not name"},
	{"compared", COUNT, "the stack and the probes both show a query"},
	{"differ", COUNT, "they show different queries"},
	{"cpu", OBJECT, "samples of the CPU"},
	{"off_cpu", OBJECT, "waits"},
	{"faults", OBJECT, "page faults"},
};

static const struct field cut[] = {
	{"no_map", COUNT, "code in no known file"},
	{"no_rule", COUNT, "no unwind rule"},
	{"no_page", COUNT, "a part of the stack was not in memory"},
	{"too_deep", COUNT, "too many frames"},
};

static const struct field sampled_time[] = {
	{"n", COUNT, "samples"},
	{"ns", NS, "time that they stand for"},
	{"no_query", COUNT, "samples in no query or activity"},
	{"no_query_ns", NS, "time that these stand for"},
};

static const struct field sampled_memory[] = {
	{"n", COUNT, "samples"},
	{"bytes", BYTES, "memory that they stand for"},
	{"no_query", COUNT, "samples in no query or activity"},
	{"no_query_bytes", BYTES, "memory that these stand for"},
	{"unknown_query_bytes", BYTES,
	 "memory of samples by --memory-light in an unknown query, or in none"},
};

/* Of rows that may hold the time of queries without probes. */
static const struct field group[] = {
	{"name", TEXT, "crate, process or thread"},
	{"processes", COUNT, "of the crate"},
	{"count", COUNT, "executions of queries"},
	{"activities", COUNT, "besides these: passes, and parts of them"},
	{"unwound", COUNT, "executions that never reached their end"},
	{"wall_ns", NS, "from the first start to the last end"},
	{"self_ns", NS, "self time of all intervals"},
	{"self_cpu_ns", NS, "its part on the CPU; missing: all of it"},
	{"self_off_ns", NS, "its part off the CPU; missing: none"},
	{"max_ns", NS, "the longest interval"},
	{"preempted_ns", NS, "of a thread: ready, while others ran"},
	{"waiting_ns", NS, "of a thread: waiting"},
	{"peak_bytes", BYTES, "the most resident memory; missing: unknown"},
};

static const struct field macro[] = {
	{"name", TEXT, "as it is written; null: unknown"},
	{"total_ns", NS, "of all expansions"},
	{"cpu_ns", NS, "its part on the CPU"},
	{"max_ns", NS, "the longest expansion"},
	{"expansions", COUNT, "calls of the macro"},
	{"crate_count", COUNT, "crates that call it"},
	{"crates", LIST, "the three that spent most"},
};

static const struct field macro_crate[] = {
	{"name", TEXT, "crate; null: unknown"},
	{"total_ns", NS, "of its expansions"},
};

static const struct field unit[] = {
	{"name", TEXT, "rustc's name of the codegen unit; null: unknown"},
	{"crate", TEXT, "null: unknown"},
	{"pid", ID, "process"},
	{"tid", ID, "the thread that spent most time on it"},
	{"thread", TEXT, "its name; null: none"},
	{"total_ns", NS, "all steps"},
	{"cpu_ns", NS, "their part on the CPU"},
	{"codegen_ns", NS, "rustc makes LLVM's code"},
	{"optimize_ns", NS, "optimization"},
	{"lto_ns", NS, "link-time optimization"},
	{"emit_ns", NS, "machine code and bitcode"},
	{"copy_ns", NS, "taken from the last build"},
	{"size", COUNT, "rustc's estimate; null: unknown"},
};

#define ITEM_FIELDS                                                                            \
	{"executions", COUNT, "of queries about it; null: unknown"},                           \
		{"executions_at_least", BOOL,                                                  \
		 "true: there may be more, by the compilers' tables; else missing"},           \
		{"charged", COUNT, "executions without an item of their own, within; null"},   \
		{"self_ns", NS, "of all of these, and of activities within"},                  \
		{"self_cpu_ns", NS, "its part on the CPU; missing: all of it"},                \
		{"self_by", TEXT, "samples, if times are by these; else missing"},             \
		{"best_self_ns", NS, "self_ns; with self_by"},                                 \
		{"best_self_error_ns", NS, "its standard error; with self_by"},                \
		{"sampled_off_ns", NS, "waits in these"},                                      \
		{"memory_bytes", BYTES, "memory that page faults made resident in these"},     \
		{"llvm_ns", NS, "time of LLVM for it, by samples; missing: none, or unknown"}, \
		{"llvm_error_ns", NS, "standard error of that"},                               \
	{                                                                                      \
		"queries", LIST, "the three with the most time on the CPU"                     \
	}

static const struct field item[] = {
	{"name", TEXT, "path; null: what no item is around"},
	{"file", TEXT, "where it begins; missing: unknown"},
	{"line", COUNT, "line there, from 1"},
	{"call_file", TEXT, "where the macro was called that made it; missing: none, or unknown"},
	{"call_line", COUNT, "line there, from 1"},
	{"instances", COUNT, "of a generic function; null: none, or unknown"},
	ITEM_FIELDS,
};

static const struct field module[] = {
	{"name", TEXT, "path; null: what no item is around"},
	{"items", COUNT, "in it"},
	ITEM_FIELDS,
};

static const struct field item_query[] = {
	{"name", TEXT, "query or activity"},
	{"self_ns", NS, "for the item"},
	{"self_cpu_ns", NS, "its part on the CPU; missing: all of it"},
};

static const struct field caller[] = {
	{"function", TEXT, "of the compiler; null: unknown"},
	{"count", COUNT, "executions that it requested"},
	{"unwound", COUNT, "executions that never reached their end"},
	{"total_ns", NS, "with what was called"},
	{"self_ns", NS, "without that"},
	{"self_cpu_ns", NS, "its part on the CPU; missing: all of it"},
	{"max_ns", NS, "the longest execution"},
	{"file", TEXT, "of the line with most requests; null: unknown"},
	{"line", COUNT, "that line, from 1; null: unknown"},
	{"line_count", COUNT, "executions requested there"},
	{"lines", COUNT, "different lines that request it"},
};

static const struct field process[] = {
	{"pid", ID, "process"},
	{"parent_pid", ID, "the process that started it"},
	{"name", TEXT, "package, target and tool"},
	{"crate", TEXT, "null: none"},
	{"crate_type", TEXT, "null: none"},
	{"command", TEXT, "command line"},
	{"rustc_version", TEXT, "null: unknown"},
	{"build_id", TEXT, "of librustc_driver; null: unknown"},
	{"exit", COUNT, "exit status; null: killed, or unknown"},
	{"signal", ID, "that killed it; null: none, or unknown"},
	{"killed_for_memory", BOOL,
	 "by the kernel, as memory had run out; null: unknown, or no SIGKILL"},
	{"attached_late", BOOL, "it ran before its probes were there"},
	{"start_ns", NS, "on the clock of the trace"},
	{"end_ns", NS, "on the clock of the trace; 0: not seen"},
	{"peak_bytes", BYTES, "the most resident memory; null: unknown"},
	{"incremental", OBJECT, "if it loaded results of the last build"},
	{"queries", LIST, "its queries"},
};

#define BEST_FIELDS                                                                   \
	{"best_self_ns", NS, "the best known self time; with samples"},               \
		{"best_self_error_ns", NS, "its standard error; with samples"},       \
		{"samples", COUNT, "samples of the CPU whose innermost query it is"}, \
	{                                                                             \
		"sampled_self_ns", NS, "CPU time that these stand for"                \
	}

static const struct field query[] = {
	{"name", TEXT, "rustc's name"},
	{"kind", TEXT,
	 "Query: executions of a query; GenericActivity: an activity; null: private "
	 "to a file"},
	{"count", COUNT, "executions; null: unknown"},
	{"results", COUNT,
	 "of a query that is not recorded: in the compilers' memory; without a count, some "
	 "may be no executions"},
	{"results_at_least", BOOL,
	 "true: there may be more, as not all that compilers had could be read; else missing"},
	{"unwound", COUNT, "executions that never reached their end"},
	{"began_before", COUNT, "executions that began before the recording"},
	{"total_ns", NS, "with what was called; null: unknown"},
	{"self_ns", NS, "without that; null: unknown"},
	{"self_cpu_ns", NS, "its part on the CPU; missing: all of it"},
	{"self_off_ns", NS, "its part off the CPU; missing: none"},
	{"off_ns", NS, "part of total_ns off the CPU; missing: none"},
	{"mean_ns", NS, "of an execution; null: none was recorded"},
	{"min_ns", NS, "the shortest execution; null: none was recorded"},
	{"max_ns", NS, "the longest execution; null: none was recorded"},
	{"raw_total_ns", NS, "total_ns with the time of probes"},
	{"raw_self_ns", NS, "self_ns with the time of probes"},
	{"hits", COUNT, "results found in the query's cache"},
	{"blocked_ns", NS, "waiting for another thread's execution"},
	{"incremental_load_ns", NS, "loading results of the last build"},
	{"incremental_hashing_ns", NS, "hashing results"},
	{"loads", COUNT, "attempts to load a result of the last build"},
	{"loaded", COUNT, "results that were loaded, at least"},
	{"self_by", TEXT, "how best_self_ns is known: spans, samples"},
	BEST_FIELDS,
	{"sampled_self_error_ns", NS, "standard error of sampled_self_ns"},
	{"sampled_total_ns", NS, "CPU time of samples with the query in their stack"},
	{"sampled_total_error_ns", NS, "standard error of sampled_total_ns"},
	{"sampled_max_ns", NS,
	 "from the first to the last sample of the execution in which these lie furthest apart; "
	 "missing: no execution met several"},
	{"sampled_off_ns", NS, "waits in it"},
	{"memory_bytes", BYTES, "memory that page faults made resident in it"},
	{"memory_total_bytes", BYTES, "the same with what it called"},
};

static const struct field tally[] = {
	{"pid", ID, "process"},
	{"kind", TEXT, "of the value"},
	{"name", TEXT, "what it is about"},
	{"events", COUNT, "values that were added up"},
	{"sum", COUNT, "in the kind's unit"},
};

#define SELF_FIELDS                                      \
	{"self_ns", NS, "CPU time of samples in it"},    \
	{                                                \
		"error_ns", NS, "standard error of that" \
	}

static const struct field llvm[] = {
	{"total_ns", NS, "CPU time of samples in LLVM; with --llvm, too, of all functions"},
	{"error_ns", NS, "standard error of that"},
	{"known", BOOL, "passes and functions were read; else the lists are empty"},
	{"why_unknown", TEXT,
	 "why they were not, of some compiler at least; missing: no such reason"},
	{"machine_code_ns", NS,
	 "of total_ns: in passes of the code generator, debug information, object files"},
	{"optimisation_ns", NS, "of total_ns: in other passes"},
	{"component_ns", NS,
	 "of total_ns: for the first of functions that call each other; missing: none"},
	{"no_function_ns", NS, "of total_ns: for no function"},
	{"unknown_function_ns", NS,
	 "of total_ns: for a function whose name is not known, or it was not read what LLVM did"},
	{"chosen_ns", NS, "of total_ns: for the functions of --llvm; missing: all are chosen"},
	{"function_count", COUNT, "entries of functions; a page has the first ones"},
	{"generic_count", COUNT, "entries of generics; likewise"},
	{"passes", LIST, "of LLVM; with --llvm these lists have what is of chosen functions"},
	{"functions", LIST, "that LLVM compiles: instances of generic ones are several"},
	{"generics", LIST, "the same functions, with all their instances"},
	{"no_function", LIST, "what it did for no function"},
};

static const struct field llvm_pass[] = {
	{"name", TEXT, "of the type, without Pass at its end; null: unknown"},
	{"type", TEXT, "LLVM's type; null: unknown"},
	{"codegen", BOOL, "of the code generator, which the older pass manager runs"},
	{"for", TEXT, "whose time it is in the totals: machine_code, optimisation or other"},
	SELF_FIELDS,
};

#define COMPONENT_FIELD                                                                         \
	{                                                                                       \
		"component_ns", NS,                                                             \
			"of self_ns: as the first of functions that call each other; missing: " \
			"none"                                                                  \
	}

static const struct field llvm_function[] = {
	{"path", TEXT, "in Rust syntax"},
	{"symbol", TEXT, "mangled"},
	{"generic", TEXT, "path of its entry in generics"},
	{"crate", TEXT, "that defines it; null: unknown"},
	{"item", TEXT, "that it is an instance of; missing: unknown"},
	SELF_FIELDS,
	COMPONENT_FIELD,
};

static const struct field llvm_generic[] = {
	{"path", TEXT, "without generic arguments"},
	{"crate", TEXT, "that defines it; null: unknown"},
	{"instances", COUNT, "that the compilers made, or whose symbols samples met"},
	{"instances_at_least", BOOL, "true: there may be more"},
	SELF_FIELDS,
	COMPONENT_FIELD,
	{"crate_count", COUNT, "crates that it was compiled in"},
	{"crates", LIST, "the three of these with the most time"},
};

static const struct field llvm_crate[] = {
	{"name", TEXT, "null: unknown"},
	SELF_FIELDS,
};

static const struct field llvm_rest[] = {
	{"name", TEXT, "of the work, the pass or the native function"},
	{"kind", TEXT, "of the name: work, pass, native or unknown"},
	SELF_FIELDS,
};

#define REUSE_FIELDS                                                                 \
	{"executed", COUNT, "executions of queries"},                                \
		{"loads", COUNT, "attempts to load a result"},                       \
		{"loaded", COUNT, "results that were loaded; null: unknown"},        \
	{                                                                            \
		"results", COUNT, "results that the compile numbered; null: unknown" \
	}

static const struct field incremental[] = {REUSE_FIELDS};

static const struct field build_incremental[] = {
	{"compiles", COUNT, "that loaded anything"},
	REUSE_FIELDS,
};

#define WAIT_FIELDS                                                                            \
	{"cpu_ns", NS, "CPU time, without what recording added if known; null: unknown"},      \
		{"preempted_ns", NS, "threads ready, while others ran; null: not recorded"},   \
		{"waiting_in_queries_ns", NS, "threads waiting, in queries; null: in passes"}, \
		{"waiting_in_passes_ns", NS, "threads waiting, in activities"},                \
		{"waiting_in_neither_ns", NS, "threads waiting, elsewhere"},                   \
		{"waits_at_least", BOOL, "these are lower limits: attached late"},             \
	{                                                                                      \
		"blocked_ns", NS, "threads in queries that another thread executed"            \
	}

static const struct field build[] = {
	{"wall_ns", NS, "from the start of the first compiler to the end of the last"},
	{"compilers_ns", NS, "wall time of all compilers, added up"},
	{"tail_ns", NS, "at the end, with never two compilers at once"},
	{"compiles", COUNT, "compilers that compiled"},
	{"failed", COUNT, "of these: failed"},
	{"killed", COUNT, "of these: ended by a signal"},
	{"killed_for_memory", COUNT, "of these: by the kernel, as memory had run out"},
	{"unended", COUNT, "of these: the end was not seen"},
	{"doctests", COUNT, "compilers of doctests"},
	{"listed", COUNT, "compilers that only listed the sources of a crate, for a cache"},
	{"cached", COUNT, "crates that were listed and not compiled"},
	{"asked", COUNT, "compilers that were only asked, such as for their version"},
	WAIT_FIELDS,
	{"running", LIST, "how long how many compilers existed at once"},
	{"sampled", OBJECT, "CPU time by samples, if there are any"},
	{"incremental", OBJECT, "if a compile loaded results of the last build"},
	{"critical_path", OBJECT, "what kept the build from being faster"},
	{"crates", LIST, "compiles, the longest first"},
	{"items", LIST, "items of the user's own crates"},
	{"queries", LIST, "queries, over all compiles"},
	{"pairs", LIST, "queries of one compile"},
	{"passes", LIST, "activities, over all compiles"},
	{"interrupted", LIST, "threads of killed compilers, and what they were in"},
};

static const struct field running[] = {
	{"compilers", COUNT, "at once"},
	{"ns", NS, "for how long"},
};

static const struct field sampled_parts[] = {
	{"front_end_ns", NS, "CPU time"},
	{"codegen_ns", NS, "CPU time"},
	{"llvm_ns", NS, "CPU time"},
	{"unknown_ns", NS, "CPU time of stacks that end too early"},
};

static const struct field critical_path[] = {
	{"wall_ns", NS, "of the build"},
	{"jobs", COUNT, "compilers at once, at most"},
	{"scheduled_ns", NS, "wall time of the build, scheduled again with as many jobs"},
	{"unlimited_ns", NS, "the same with any number of jobs"},
	{"cut_commands", COUNT, "compiles whose arguments could not all be read"},
	{"steps", LIST, "in the order of time"},
};

static const struct field step[] = {
	{"name", TEXT, "package, target and tool"},
	{"pid", ID, "process"},
	{"part", TEXT, "which part of the compile"},
	{"start_ns", NS, "since the start of the build"},
	{"ns", NS, "how long it took"},
	{"saved_ns", NS, "by which the build ends earlier if the step took no time"},
	{"freed_job", BOOL, "the next step waited for a job, not for a result"},
	{"chosen", BOOL, "by --crate or --process, if they are used"},
};

static const struct field crate[] = {
	{"name", TEXT, "package, target and tool"},
	{"pid", ID, "process"},
	{"crate", TEXT, "null: none"},
	{"crate_type", TEXT, "null: none"},
	{"wall_ns", NS, "of the compiler"},
	{"front_end_ns", NS, "up to code generation; null: unknown"},
	{"codegen_ns", NS, "up to the link; null: unknown"},
	{"link_ns", NS, "null: unknown"},
	{"exit_ns", NS, "after the link; null: unknown"},
	{"metadata_ns", NS, "until its metadata was written; null: not written, or unknown"},
	{"alone_ns", NS, "in which it was the only compiler"},
	WAIT_FIELDS,
	{"executions", COUNT, "of queries: recorded, or by its tables"},
	{"results", COUNT, "results that the compile numbered; null: unknown"},
	{"peak_bytes", BYTES, "the most resident memory; null: unknown"},
	{"sampled_cpu_ns", NS, "that its samples of the CPU stand for"},
};

static const struct field build_item[] = {
	{"crate", TEXT, "crate of the item"},
	{"name", TEXT, "path"},
	{"file", TEXT, "where it begins; missing: unknown"},
	{"line", COUNT, "line there, from 1"},
	{"executions", COUNT, "of queries about it; null: unknown"},
	{"executions_at_least", BOOL,
	 "true: there may be more, by the compilers' tables; else missing"},
	{"charged", COUNT, "executions without an item of their own, within these; null"},
	{"self_ns", NS, "of all of these, and of activities within"},
	{"self_cpu_ns", NS, "the best known self time on the CPU; with llvm_ns it orders the rows"},
	{"self_by", TEXT, "how it is known: spans, samples"},
	{"best_self_error_ns", NS, "its standard error; with self_by"},
	{"sampled_off_ns", NS, "waits in these"},
	{"memory_bytes", BYTES, "memory that page faults made resident in these"},
	{"llvm_ns", NS, "time of LLVM for it, by samples; missing: none, or unknown"},
	{"llvm_error_ns", NS, "standard error of that"},
	{"query", TEXT, "the query with the most time on the CPU; missing: only LLVM has any"},
	{"query_self_ns", NS, "self time of this query for the item"},
	{"query_self_cpu_ns", NS, "the best known part of that on the CPU"},
};

#define BUILD_ROW_FIELDS                                                                     \
	{"name", TEXT, "of the query or activity"}, {"kind", TEXT, "as in queries"},         \
		{"count", COUNT, "executions; null: unknown"},                               \
		{"total_ns", NS, "with what was called; null: unknown"},                     \
		{"self_ns", NS, "without that; null: unknown"},                              \
		{"self_off_ns", NS, "its part off the CPU; null: unknown"},                  \
		{"self_cpu_ns", NS, "the best known self time on the CPU; orders the rows"}, \
		BEST_FIELDS

static const struct field build_row[] = {BUILD_ROW_FIELDS};

static const struct field build_pair[] = {
	{"crate", TEXT, "name of the compile"},
	{"pid", ID, "process"},
	BUILD_ROW_FIELDS,
};

static const struct field interrupted[] = {
	{"name", TEXT, "package, target and tool"},
	{"pid", ID, "process"},
	{"signal", ID, "that killed it; null: the end was not seen"},
	{"killed_for_memory", BOOL,
	 "by the kernel, as memory had run out; null: unknown, or no SIGKILL"},
	{"tid", ID, "thread"},
	{"thread", TEXT, "its name; null: none"},
	{"more", COUNT, "outer intervals that are not in open"},
	{"open", LIST, "what it was in, the innermost first"},
};

static const struct field open[] = {
	{"name", TEXT, "of the query or activity"},
	{"kind", TEXT, "as in queries"},
	{"ns", NS, "how long ago it began"},
};

#define FIELDS(of) of, N_OF(of)

static const struct object objects[] = {
	{{""}, FIELDS(document)},
	{{"probes"}, FIELDS(probes)},
	{{"cost"}, FIELDS(cost)},
	{{"samples"}, FIELDS(samples)},
	{{"samples.cut"}, FIELDS(cut)},
	{{"samples.cpu", "samples.off_cpu"}, FIELDS(sampled_time)},
	{{"samples.faults"}, FIELDS(sampled_memory)},
	{{"groups[]"}, FIELDS(group)},
	{{"macros[]"}, FIELDS(macro)},
	{{"macros[].crates[]"}, FIELDS(macro_crate)},
	{{"units[]"}, FIELDS(unit)},
	{{"items[]"}, FIELDS(item)},
	{{"modules[]"}, FIELDS(module)},
	{{"items[].queries[]", "modules[].queries[]"}, FIELDS(item_query)},
	{{"callers[]"}, FIELDS(caller)},
	{{"processes[]"}, FIELDS(process)},
	{{"processes[].incremental"}, FIELDS(incremental)},
	{{"queries[]", "processes[].queries[]"}, FIELDS(query)},
	{{"tallies[]"}, FIELDS(tally)},
	{{"llvm"}, FIELDS(llvm)},
	{{"llvm.passes[]"}, FIELDS(llvm_pass)},
	{{"llvm.functions[]"}, FIELDS(llvm_function)},
	{{"llvm.generics[]"}, FIELDS(llvm_generic)},
	{{"llvm.generics[].crates[]"}, FIELDS(llvm_crate)},
	{{"llvm.no_function[]"}, FIELDS(llvm_rest)},
	{{"build"}, FIELDS(build)},
	{{"build.running[]"}, FIELDS(running)},
	{{"build.sampled"}, FIELDS(sampled_parts)},
	{{"build.incremental"}, FIELDS(build_incremental)},
	{{"build.critical_path"}, FIELDS(critical_path)},
	{{"build.critical_path.steps[]"}, FIELDS(step)},
	{{"build.crates[]"}, FIELDS(crate)},
	{{"build.items[]"}, FIELDS(build_item)},
	{{"build.queries[]", "build.passes[]"}, FIELDS(build_row)},
	{{"build.pairs[]"}, FIELDS(build_pair)},
	{{"build.interrupted[]"}, FIELDS(interrupted)},
	{{"build.interrupted[].open[]"}, FIELDS(open)},
};

int report_schema(FILE *out)
{
	struct schema s;

	schema__begin(&s, out, "qprof-report/3");
	for (size_t i = 0; i < N_OF(objects) && !s.json.err; i++)
		for (const char *const *at = objects[i].at; *at; at++)
			for (size_t f = 0; f < objects[i].n; f++)
				schema__field(&s, *at, objects[i].fields[f].name,
					      objects[i].fields[f].unit, objects[i].fields[f].text);
	for (int i = 0; i < TRACE_LOSS_MAX && !s.json.err; i++)
		schema__field(&s, "losses", trace_loss_name(i), COUNT, "docs/losses.md");
	return schema__end(&s);
}
