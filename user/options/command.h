/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables of the commands, and rows that some of them share. */
#ifndef QPROF_OPTIONS_COMMAND_H
#define QPROF_OPTIONS_COMMAND_H

#include "base/array.h"
#include "options/options.h"

#define AT(field) offsetof(struct cli, field)

#define CLI_TABLE(id, name) extern const struct cli_command cli_##name##_command;
CLI_COMMANDS(CLI_TABLE)
#undef CLI_TABLE

#define WIDE_HELP                                                                                  \
	"Whole names and all columns, however wide. Without it a line has as many columns as the " \
	"terminal, or 80 where there is none."

#define QUERY_HELP                                                                               \
	"Only queries whose name matches GLOB, such as 'type*' or '*_of'. May be given several " \
	"times: any of them."

/* Rows as macros: clang-format would indent each row of a list deeper than the one before. */
/* clang-format off */

#define NO_LIMITS_OPTION \
	{ \
		.name = "no-limits", \
		.kind = CLI_FLAG, \
		.offset = AT(no_limits), \
		.help = "Read a trace that expands to more than 4 GiB and 64 times its size, " \
			"and print more than 4 GiB. No recording does; a file " \
			"made to do harm may take all the time and memory there is.", \
	}

/* Rows of commands that read a trace; `at` is the struct cli_processes in struct cli. */
#define PROCESS_OPTIONS(at) \
	{ \
		.name = "crate", \
		.arg = "GLOB", \
		.kind = CLI_TEXTS, \
		.offset = AT(at.crates), \
		.help = "Only the compiles of a crate or package whose name matches GLOB, with " \
			"its tests, build script and documentation; or one of these by its " \
			"whole name, such as 'syn (build script)'. May be given several times: " \
			"any of them.", \
	}, \
	{ \
		.name = "process", \
		.arg = "PID|GLOB", \
		.kind = CLI_TEXTS, \
		.offset = AT(at.ids), \
		.help = "Only the process PID, or those that --crate GLOB finds. May be given " \
			"several times: any of them.", \
	}

/*
 * Rows of `record` that other commands take too. `at` is the struct cli_record_options in struct
 * cli.
 */
#define RECORDING_OPTIONS(at) \
	{ \
		.letter = 'p', \
		.name = "pid", \
		.arg = "PID[,PID...]", \
		.kind = CLI_PIDS, \
		.offset = AT(at.pids), \
		.help = "Profile a running process and every process it starts from now " \
			"on. A process that is not rustc itself (cargo, ninja, bazel, " \
			"make) includes the children it already has. May be given several " \
			"times.", \
	}, \
	{ \
		.name = "system", \
		.kind = CLI_FLAG, \
		.offset = AT(at.system), \
		.help = "Profile every Rust compiler on the machine, of any user, until " \
			"Ctrl-C: for a host of CI jobs, or if a server such as sccache's " \
			"runs the compilers.", \
	}, \
	{ \
		.name = "cgroup", \
		.arg = "DIR", \
		.kind = CLI_FILE, \
		.offset = AT(at.cgroup), \
		.help = "Like --system, but only for a control group and those below it: a " \
			"service, a container. DIR is below /sys/fs/cgroup, or wherever " \
			"version 2 is mounted.", \
	}, \
	{ \
		.letter = 'o', \
		.name = "output", \
		.arg = "FILE", \
		.kind = CLI_FILE, \
		.offset = AT(at.output), \
		.help = "Write the trace to FILE, which must not exist. Without this option it is " \
			"qprof-<utc>.qpt in the current directory.", \
	}, \
	{ \
		.letter = 'f', \
		.name = "force", \
		.kind = CLI_FLAG, \
		.offset = AT(at.force), \
		.help = "Overwrite the output file.", \
	}, \
	{ \
		.letter = 'e', \
		.name = "events", \
		.arg = "LIST", \
		.kind = CLI_TEXTS, \
		.offset = AT(at.events), \
		.help = "What to record, separated by commas, by rustc's names: " \
			"query-provider, generic-activity, query-blocked, incr-cache-load, " \
			"incr-result-hashing, all, none; passes (the activities that " \
			"-Ztime-passes prints); or globs of labels. A - before a word " \
			"excludes it; the last word that matches decides. default is " \
			"passes, loads, blocking, and all activities but those that occur " \
			"in thousands or for each query: metadata_decode_*, mir_pass_*, " \
			"incr_comp_encode_dep_graph, compute_debuginfo_type_name, " \
			"encode_query_results_for and query_key_hash_verify*; and no query. " \
			"When the threads are off " \
			"the CPU and how many results queries have is recorded with any " \
			"list, unless -off-cpu or -counts is in it; none has lower limits " \
			"of these counts. Where a query is not in the list, stacks are " \
			"sampled. " \
			"query-cache-hit, which is not in all, adds an instant for each " \
			"result found in a cache: millions, from thousands of additional " \
			"probes, for small programs; if some are lost, --ring-size 256m " \
			"helps.", \
	}, \
	{ \
		.letter = 'i', \
		.name = "interval", \
		.arg = "DURATION", \
		.kind = CLI_DURATION, \
		.offset = AT(at.interval_ns), \
		.positive = true, \
		.help = "Show live counts this often: 500ms, 2s, 1m; a number without a unit is " \
			"seconds. From 10ms to 1h, by default 1s. Where they would not go to a " \
			"terminal, they are only shown with this option.", \
	}

/* Rows of commands that use a history; `at` is the field in struct cli. */
#define HISTORY_STORE_OPTION(at) \
	{ \
		.name = "store", \
		.arg = "STORE", \
		.kind = CLI_FILE, \
		.offset = AT(at), \
		.help = "Where the history is: a file, or a database of a ClickHouse server, " \
			"http://HOST:8123/DATABASE or https://. Without it the file is " \
			"qprof-bpf/history.db below $XDG_DATA_HOME, or below ~/.local/share.", \
	}

#define HISTORY_LABEL_OPTION(at) \
	{ \
		.name = "label", \
		.arg = "TEXT", \
		.kind = CLI_TEXT, \
		.offset = AT(at), \
		.help = "Keep TEXT with the build, such as the name of a CI job.", \
	}

#define HISTORY_COMMANDS_OPTION(at) \
	{ \
		.name = "with-commands", \
		.kind = CLI_FLAG, \
		.offset = AT(at), \
		.help = "Keep the command line of the build too, if record --with-commands kept " \
			"it in the trace. It may hold paths, names and secrets, so a history has " \
			"none by default.", \
	}

#define HISTORY_TOOLCHAIN_OPTION(at) \
	{ \
		.name = "toolchain", \
		.arg = "TEXT", \
		.kind = CLI_TEXT, \
		.offset = AT(at), \
		.help = "Only builds by a compiler whose version has TEXT in it, such as 1.95 or " \
			"nightly.", \
	}

#define HISTORY_JSON_OPTIONS(at, schema_name) \
	{ \
		.name = "json", \
		.kind = CLI_FLAG, \
		.offset = AT(at.json), \
		.help = "Print one JSON document, schema " schema_name ".", \
	}, \
	{ \
		.name = "schema", \
		.kind = CLI_FLAG, \
		.offset = AT(at.schema), \
		.help = "Print what each field of --json is, and its unit, instead.", \
	}

#define HISTORY_WIDE_OPTION(at) \
	{ \
		.letter = 'w', \
		.name = "wide", \
		.kind = CLI_FLAG, \
		.offset = AT(at), \
		.help = WIDE_HELP, \
	}

#define HISTORY_METRIC_OPTION(at) \
	{ \
		.name = "metric", \
		.arg = "METRIC", \
		.kind = CLI_CHOICE, \
		.offset = AT(at), \
		.choices = "cpu|wall|count|results|memory", \
		.initial = "cpu", \
		.help = "What is compared: cpu, the CPU time; wall, how long it took; count, " \
			"executions of queries, and results, how many rustc made, which have no " \
			"noise; memory, the most that a compiler had resident. Queries have cpu " \
			"and count.", \
	}

#define HISTORY_CLUSTER_OPTION(at) \
	{ \
		.name = "cluster", \
		.arg = "NAME", \
		.kind = CLI_TEXT, \
		.offset = AT(at), \
		.help = "Replicated and distributed tables, on all servers of this cluster. Without " \
			"it, tables of one server.", \
	}

#define HISTORY_KEEP_OPTION(at) \
	{ \
		.name = "keep", \
		.arg = "TIME", \
		.kind = CLI_LIMITS, \
		.offset = AT(at), \
		.help = "The server removes builds that are older, such as 730d. Without it, it " \
			"keeps them.", \
	}

#define HISTORY_WORKSPACE_OPTION(at) \
	{ \
		.name = "workspace", \
		.arg = "NAME", \
		.kind = CLI_TEXT, \
		.offset = AT(at), \
		.help = "Only builds of the workspace whose directory has this name. Without it, " \
			"trends and comparisons are of the newest build's workspace.", \
	}

/* `at` is the struct cli_builds in struct cli. */
#define HISTORY_BUILDS_OPTIONS(at) \
	{ \
		.name = "branch", \
		.arg = "BRANCH", \
		.kind = CLI_TEXT, \
		.offset = AT(at.branch), \
		.help = "Only builds of this branch.", \
	}, \
	HISTORY_TOOLCHAIN_OPTION(at.toolchain), \
	HISTORY_WORKSPACE_OPTION(at.workspace), \
	{ \
		.letter = 'n', \
		.name = "last", \
		.arg = "N", \
		.kind = CLI_NUMBER, \
		.offset = AT(at.last), \
		.positive = true, \
		.help = "Only the N newest of these builds.", \
	}

#define RECORDING_SAMPLE_OPTIONS(at) \
	{ \
		.name = "sample", \
		.arg = "HZ", \
		.kind = CLI_NUMBER, \
		.offset = AT(at.sample_hz), \
		.implied = "251", \
		.positive = true, \
		.help = "Sample the stacks of the compilers' threads, HZ times for each " \
			"second of their CPU time: from 1 to 10000, or 251 if no number is " \
			"given, as without this option, but where --events, --callers or --slow " \
			"take probes in all queries. " \
			"Samples show which functions run within a query, and in no query.", \
	}, \
	{ \
		.name = "no-sample", \
		.kind = CLI_FLAG, \
		.offset = AT(at.no_sample), \
		.help = "Do not sample the stacks of threads that run. Queries without a probe " \
			"have no times then, and nothing is known of LLVM's functions.", \
	}, \
	{ \
		.name = "memory", \
		.arg = "N", \
		.kind = CLI_NUMBER, \
		.offset = AT(at.fault_period), \
		.implied = "100", \
		.positive = true, \
		.help = "Also sample the stack at every Nth page fault of a compiler: from 1 " \
			"to 1000000, or the 100th if no number is given. It shows where " \
			"memory is touched for the first time.", \
	}, \
	{ \
		.name = "memory-light", \
		.arg = "N", \
		.kind = CLI_NUMBER, \
		.offset = AT(at.light_period), \
		.implied = "100", \
		.positive = true, \
		.help = "Like --memory, but record only the innermost function and query of " \
			"each sample, not its stack: takes less time, so that N may be smaller.", \
	}, \
	{ \
		.name = "off-cpu-stacks", \
		.kind = CLI_FLAG, \
		.offset = AT(at.off_cpu_stacks), \
		.help = "Also record the stack of each thread that leaves the CPU, and for " \
			"how long: where a compiler waits.", \
	}

#define RECORDING_COST_OPTIONS(at) \
	{ \
		.name = "exact", \
		.kind = CLI_FLAG, \
		.offset = AT(at.exact), \
		.help = "Record each execution of every query: when it began and ended, and " \
			"what it was about. Takes up to several times the CPU time.", \
	}, \
	{ \
		.name = "ring-size", \
		.arg = "SIZE", \
		.kind = CLI_SIZE, \
		.offset = AT(at.ring_bytes), \
		.initial = "16m", \
		.help = "Size of the buffer between the kernel and qprof-bpf: a power of " \
			"two from a page (4k) to 1g, with k, m or g as the unit, or in " \
			"bytes. A larger one helps when records are lost because it was " \
			"full.", \
	}

/* clang-format on */

const struct cli_command *cli_command(enum cli_command_id id);
/* CLI_N_COMMANDS if there is no such command. */
enum cli_command_id cli_command_by_name(const struct cli_name *name);

/* "add" of `history add`; NULL if its name is one word. */
const char *cli_command_verb(enum cli_command_id id);
/* Whether its name is the first word of other commands. */
bool cli_command_is_group(enum cli_command_id id);
/* Whether the command's first word is the group's name. */
bool cli_command_is_in(enum cli_command_id id, enum cli_command_id group);

/* Option `i` of a command: its own first, then the common ones. NULL: no more. */
const struct cli_option *cli_option(enum cli_command_id id, size_t i);
/* Whether every command takes the option. */
bool cli_option_is_common(const struct cli_option *option);

const struct cli_exit_code *cli_exit_codes(size_t *n);

/* Do these make sense? 0, or -EINVAL after an error line. */
int cli_check_recording(const struct cli_record_options *o);
int cli_check_history_gate(const struct cli_gate *gate, unsigned int metric);

#endif /* QPROF_OPTIONS_COMMAND_H */
