/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The command line as data: the commands and their options. A newcomer reads these first, in this
 * order:
 *
 * - options.h: the list of commands, the values that options set, and the types of the tables.
 * - command_report.c: the table of one command: its options, texts, examples, and a check that the
 *   options make sense together. command_<name>.c has the table of each other command, and
 *   command_history.c has those of the small commands of `history`.
 * - command.h: rows that several tables share.
 * - parse.c: the parser reads the tables and fills in struct cli.
 * - value.c: parses values: durations, sizes, limits, lists of traces.
 * - usage.c: prints --help and the manual from the same tables; completion.c prints completion.
 *
 * Nothing else knows an option's name. A new option is a row of its command's table and the field
 * that it sets. A new command is a row of CLI_COMMANDS, a struct for its options, its table, and
 * cli/cmd_<name>.c, which runs it. A command of two words, as `history add`, has a row below that
 * of its first word.
 */
#ifndef QPROF_OPTIONS_OPTIONS_H
#define QPROF_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A row per command, in the order of the overview: COMMAND(ID, name). It makes CLI_ID, `name` in
 * struct cli, cli_name_command (its table), and cmd_name() (cli/cmd.h).
 */
#define CLI_COMMANDS(COMMAND)                     \
	COMMAND(RECORD, record)                   \
	COMMAND(TOP, top)                         \
	COMMAND(REPORT, report)                   \
	COMMAND(DIFF, diff)                       \
	COMMAND(TREND, trend)                     \
	COMMAND(HISTORY, history)                 \
	COMMAND(HISTORY_ADD, history_add)         \
	COMMAND(HISTORY_LIST, history_list)       \
	COMMAND(HISTORY_DIFF, history_diff)       \
	COMMAND(HISTORY_CHECK, history_check)     \
	COMMAND(HISTORY_PAGE, history_page)       \
	COMMAND(HISTORY_PRUNE, history_prune)     \
	COMMAND(HISTORY_EXPORT, history_export)   \
	COMMAND(HISTORY_MERGE, history_merge)     \
	COMMAND(HISTORY_SCHEMA, history_schema)   \
	COMMAND(HISTORY_MIGRATE, history_migrate) \
	COMMAND(DUMP, dump)                       \
	COMMAND(VERIFY, verify)                   \
	COMMAND(WHY, why)                         \
	COMMAND(EXPORT, export)                   \
	COMMAND(IMPORT, import)                   \
	COMMAND(PLAN, plan)                       \
	COMMAND(DOCTOR, doctor)                   \
	COMMAND(STUCK, stuck)                     \
	COMMAND(HELP, help)                       \
	COMMAND(VERSION, version)

enum cli_command_id {
#define CLI_ID(id, name) CLI_##id,
	CLI_COMMANDS(CLI_ID) CLI_N_COMMANDS,
#undef CLI_ID
};

/* How the probes are attached; the order of the choices of --attach. */
enum cli_attach {
	CLI_ATTACH_AUTO,
	CLI_ATTACH_MULTI, /* uprobe_multi links, Linux 6.6 and later */
	CLI_ATTACH_PERF,  /* one perf event per site */
	CLI_ATTACH_READ,  /* no probes: processes are read from outside */
};

/* The order of the choices of --completion, after "none given". */
enum cli_shell {
	CLI_SHELL_NONE,
	CLI_SHELL_BASH,
	CLI_SHELL_ZSH,
	CLI_SHELL_FISH,
};

/* The rows of report; the order of the choices of --by, after "none given". */
enum cli_by {
	CLI_BY_AUTO, /* by build, if several crates were compiled and no row is chosen */
	CLI_BY_BUILD,
	CLI_BY_QUERY,
	CLI_BY_ITEM,
	CLI_BY_MODULE,
	CLI_BY_MACRO,
	CLI_BY_CGU,
	CLI_BY_PASS,	/* of LLVM */
	CLI_BY_GENERIC, /* functions that LLVM compiles */
	CLI_BY_CRATE,
	CLI_BY_PROCESS,
	CLI_BY_THREAD,
};

/* The order of the choices of --sort. */
enum cli_sort {
	CLI_SORT_CPU,
	CLI_SORT_SELF,
	CLI_SORT_TOTAL,
	CLI_SORT_COUNT,
	CLI_SORT_MAX,
	CLI_SORT_HITS,
	CLI_SORT_NAME,
	CLI_SORT_OFF,
	CLI_SORT_INSTANCES,
};

/* A minimum: a time, or a share of the total. */
struct cli_threshold {
	uint64_t ns;
	uint64_t ppm; /* millionths */
};

/* The arguments of a repeatable option; they point into argv. */
struct cli_texts {
	const char **texts;
	size_t n;
};

/* The processes that a command is about: those that match both. */
struct cli_processes {
	struct cli_texts crates; /* globs for the names of compiles; none = all */
	struct cli_texts ids;	 /* pids, and such globs; none = all */
};

/* A crate or query, and the limit of its growth. */
struct cli_gate {
	const char *text; /* as given */
	char *crate;	  /* glob; NULL: all crates together */
	char *query;	  /* glob; NULL: the whole crate, or the whole build */
	struct cli_threshold limit;
	uint64_t limit_bytes; /* in place of `limit` */
};

struct cli_gates {
	struct cli_gate *gates;
	size_t n;
};

struct cli_pids {
	pid_t *pids;
	size_t n;
};

struct cli_files {
	const char **paths;
	size_t n;
};

/* The name of a command; `verb` is the second word of a command of two. NULL: not given. */
struct cli_name {
	const char *word;
	const char *verb;
};

/* 0: none. */
struct cli_limits {
	uint64_t ns;
	uint64_t bytes;
};

/* One of pids, system, cgroup and a command; none only with top. */
struct cli_record_options {
	struct cli_pids pids;
	bool system;		  /* all compilers of the machine */
	const char *cgroup;	  /* a directory: all compilers of a control group; or NULL */
	char **command;		  /* NULL-terminated, part of argv; or NULL */
	const char *output;	  /* NULL: qprof-<utc>.qpt in the current directory */
	bool force;		  /* overwrite the output */
	const char *traces;	  /* a directory for a trace of each build; NULL: one trace */
	struct cli_limits rotate; /* of each of them; none: a build has one */
	struct cli_limits keep;	  /* of all of them */
	bool history;		  /* then add the build to a store */
	const char *store;	  /* as of struct cli_history_add_options, with `history` */
	const char *label;
	bool with_commands;
	struct cli_texts events; /* lists, as filter__new() takes them; none = the default */
	uint64_t interval_ns;	 /* 0: not given; use cli_interval_ns() */
	uint64_t slow_ns;	 /* print intervals that take this long; 0: none */
	bool json;
	bool quiet;
	bool until_run;
	int begun_fd; /* not 0: print nothing, and write a byte here when the recording has begun */
	int now_fd;   /* with begun_fd: send what compilers are in here, as struct top_nows */
	bool callers;
	bool no_keys;
	bool exact;	    /* probe everything, whatever it costs */
	uint64_t sample_hz; /* 0: not given */
	bool no_sample;
	uint64_t fault_period; /* page faults for each sample; 0: none */
	uint64_t light_period; /* the same, of samples without their stacks */
	bool off_cpu_stacks;   /* samples of threads that leave the CPU */
	uint64_t ring_bytes;   /* a power of two, at least a page */
	unsigned int attach;   /* enum cli_attach */
};

static inline uint64_t cli_interval_ns(const struct cli_record_options *o)
{
	return o->interval_ns ?: 1000000000;
}

/* Whether samples are asked for. */
static inline bool cli_samples(const struct cli_record_options *o)
{
	return o->sample_hz || o->fault_period || o->light_period || o->off_cpu_stacks;
}

/* How many of pids, system, cgroup and a command are given. */
static inline int cli_ways_to_record(const struct cli_record_options *o)
{
	return (o->command != NULL) + (o->pids.n != 0) + o->system + (o->cgroup != NULL);
}

struct cli_top_options {
	const char *file; /* a trace to follow; NULL: the trace of the running recording */
	struct cli_record_options record; /* what to record, if anything */
};

/* Which way a tree of calls grows; the order of the choices of --tree, after "none given". */
enum cli_tree {
	CLI_TREE_NONE,
	CLI_TREE_DOWN,
	CLI_TREE_UP,
};

struct cli_report_options {
	const char *file;
	struct cli_processes of;
	bool json;
	bool markdown;	   /* of a build */
	bool full;	   /* of a build: every row */
	bool wide;	   /* lines are as long as their contents */
	bool raw;	   /* times include probe costs */
	bool cost;	   /* what recording cost */
	uint64_t top;	   /* 0 = all, or for a build as many as fit */
	unsigned int by;   /* enum cli_by */
	unsigned int sort; /* enum cli_sort */
	struct cli_threshold min;
	struct cli_texts queries; /* globs; none = all */
	struct cli_texts llvm;	  /* names of functions: rows are their passes of LLVM */
	struct cli_texts callers; /* globs for queries; none: rows are not callers */
	bool functions;		  /* rows are native functions */
	unsigned int tree;	  /* enum cli_tree: functions as a tree */
	bool own;		  /* of functions: without queries that the chosen ones called */
	bool memory;		  /* what made memory resident */
	bool waits;		  /* what threads waited for */
	bool schema;		  /* no report: the fields of its JSON */
};

/* The compared value; the order of the choices of --metric. */
enum cli_metric {
	CLI_METRIC_SELF,
	CLI_METRIC_TOTAL,
	CLI_METRIC_COUNT,
	CLI_METRIC_CPU, /* these are of crates and the build, not of queries */
	CLI_METRIC_WALL,
	CLI_METRIC_PEAK,
	CLI_METRIC_RESULTS,
};

/* The rows of a comparison; the order of the choices of --by. */
enum cli_diff_by {
	CLI_DIFF_BY_BOTH,
	CLI_DIFF_BY_QUERY,
	CLI_DIFF_BY_ITEM,
	CLI_DIFF_BY_PASS,
	CLI_DIFF_BY_GENERIC,
	CLI_DIFF_BY_INSTANCE,
};

struct cli_diff_options {
	struct cli_files sides; /* two: each a trace, several with commas, or a directory */
	struct cli_processes of;
	unsigned int by;     /* enum cli_diff_by */
	unsigned int metric; /* enum cli_metric */
	struct cli_threshold min;
	uint64_t top; /* 0 = all */
	struct cli_gates gates;
	bool schema; /* of JSON, without traces */
	bool json;
	bool markdown;
	bool wide; /* lines are as long as their contents */
};

/*
 * The commands of a history. `store`: a file, or the address of a database of a server, as
 * store__open() takes it; NULL: the user's own file.
 */

struct cli_history_options {
};

struct cli_history_add_options {
	const char *store;
	struct cli_files traces; /* none: send what waits for a server */
	const char *commit;	 /* NULL: of git, or of the CI's variables */
	const char *branch;	 /* NULL: the same */
	const char *label;	 /* NULL: none */
	bool with_commands;	 /* also paths and command lines */
	bool quiet;
};

/* The builds that a question is about: those that match all. */
struct cli_builds {
	const char *branch;    /* NULL: of any */
	const char *toolchain; /* a part of its name; NULL: of any */
	const char *workspace; /* NULL: as the command has it */
	uint64_t last;	       /* the newest of them; 0: all */
};

struct cli_history_list_options {
	const char *store;
	struct cli_builds builds;
	bool json;
	bool schema; /* of JSON, without a store */
	bool wide;   /* lines are as long as their contents */
};

/* The number that a history is asked for; in the order of the choices of --metric. */
enum cli_history_metric {
	CLI_HISTORY_CPU,
	CLI_HISTORY_WALL,
	CLI_HISTORY_COUNT,
	CLI_HISTORY_RESULTS,
	CLI_HISTORY_MEMORY,
};

struct cli_trend_options {
	const char *store;
	struct cli_builds builds;
	const char *crate;   /* NULL: the whole build */
	const char *query;   /* NULL: all */
	const char *item;    /* its path; NULL: all */
	const char *llvm;    /* a function or a pass; NULL: all */
	unsigned int metric; /* enum cli_history_metric */
	bool json;
	bool schema; /* of JSON, without a store */
	bool full;   /* a line for each build */
	bool wide;   /* lines are as long as their contents */
};

struct cli_history_diff_options {
	const char *store;
	struct cli_texts commits; /* two, or their beginnings */
	const char *toolchain;	  /* a part of its name; NULL: of any */
	const char *workspace;	  /* NULL: that of the newest build of the second commit */
	unsigned int metric;	  /* enum cli_history_metric */
	struct cli_threshold min;
	uint64_t top; /* 0 = all */
	bool json;
	bool schema; /* of JSON, without a store */
	bool markdown;
	bool wide; /* lines are as long as their contents */
};

struct cli_history_check_options {
	const char *store;
	const char *commit;    /* of the builds that are judged; NULL: of the newest */
	const char *against;   /* a branch */
	const char *toolchain; /* a part of its name; NULL: that of the judged builds */
	const char *workspace; /* NULL: that of the newest build */
	uint64_t last;	       /* builds of it */
	unsigned int metric;   /* enum cli_history_metric */
	struct cli_gates gates;
	bool json;
	bool schema; /* of JSON, without a store */
	bool markdown;
	bool wide; /* lines are as long as their contents */
};

struct cli_history_page_options {
	const char *store;
	struct cli_builds builds;
	const char *output; /* a file, or "-" */
	bool force;	    /* overwrite */
};

struct cli_history_prune_options {
	const char *store;
	struct cli_limits keep; /* a time */
};

struct cli_history_export_options {
	const char *store;
	const char *output; /* NULL: standard output */
	bool force;	    /* overwrite */
};

struct cli_history_merge_options {
	const char *store;
	const char *other; /* a store, or JSON lines of `history export` */
};

struct cli_history_schema_options {
	const char *cluster;	/* NULL: one server */
	struct cli_limits keep; /* a time; 0: for ever */
};

struct cli_history_migrate_options {
	const char *store;
	const char *cluster;	/* NULL: one server */
	struct cli_limits keep; /* a time; 0: for ever */
};

struct cli_dump_options {
	const char *file; /* NULL with schema */
	bool schema;
	struct cli_processes of;
	struct cli_texts queries; /* globs; none = all */
	uint64_t from_ns;	  /* since the capture began */
	uint64_t to_ns;		  /* UINT64_MAX: to the end */
};

struct cli_verify_options {
	const char *file;
};

struct cli_why_options {
	struct cli_files operands; /* a query's name and a trace; none with schema */
	const char *library;	   /* as the target of plan; NULL: the recorded one */
	bool json;
	bool schema;
};

/* The order of the choices of --format. */
enum cli_format {
	CLI_FORMAT_MEASUREME,
	CLI_FORMAT_PERFETTO,
	CLI_FORMAT_FOLDED,
	CLI_FORMAT_PPROF,
	CLI_FORMAT_SPEEDSCOPE,
	CLI_FORMAT_COUNTS,
	CLI_FORMAT_HTML,
	CLI_FORMAT_JSONL,
	CLI_N_FORMATS,
};

enum cli_export_by {
	CLI_EXPORT_BY_QUERY,
	CLI_EXPORT_BY_ITEM,
};

struct cli_export_options {
	const char *file;
	struct cli_processes of;
	unsigned int format; /* enum cli_format */
	const char *output;  /* a file, "-", or for measureme a directory */
	bool force;	     /* overwrite */
	bool raw;	     /* times include probe costs */
	bool keys;	     /* frames of stacks have keys */
	unsigned int by;     /* enum cli_export_by: stacks of what */
	bool wall;	     /* times hold those off the CPU */
	bool functions;	     /* stacks of native functions, by CPU time; or by: */
	bool memory;
	bool waits;
	uint64_t max_bytes; /* 0: no limit */
};

struct cli_import_options {
	struct cli_files files; /* at least one */
	const char *output; /* NULL: the first file's name with .qpt, in the current directory */
	bool force;	    /* overwrite the output */
};

struct cli_plan_options {
	const char *target; /* a file, a pid, "+toolchain", or NULL */
	bool json;
	bool full;
	bool no_cache;
	const char *output; /* or NULL */
	const char *import; /* likewise */
};

struct cli_doctor_options {
	const char *target; /* as for plan; NULL: every toolchain of the machine */
	bool json;
};

struct cli_stuck_options {
	struct cli_pids pids; /* at least one */
	uint64_t interval_ns;
	bool once;
	bool json;
	bool full;
};

struct cli_help_options {
	struct cli_name topic;
	bool man;
	unsigned int completion; /* enum cli_shell */
};

struct cli_version_options {
};

/* A parsed command line. Texts point into argv. Only the options of `command` are set. */
struct cli {
	enum cli_command_id command;
	bool command_named; /* false for the default */
	bool show_help;
	bool show_version;
	unsigned int verbose;
	bool no_limits; /* no limits of the size that a trace may expand to */
#define CLI_MEMBER(id, name) struct cli_##name##_options name;
	CLI_COMMANDS(CLI_MEMBER)
#undef CLI_MEMBER
};

/* The kind of an option's argument, which determines the type of its field. */
enum cli_kind {
	CLI_FLAG,      /* bool; takes no argument */
	CLI_COUNT,     /* unsigned int, times it was given; takes no argument */
	CLI_TEXT,      /* const char * */
	CLI_FILE,      /* const char *, a path */
	CLI_FILES,     /* struct cli_files; operands only, any number of them */
	CLI_COMMAND,   /* struct cli_name, one of our commands; an operand only */
	CLI_TEXTS,     /* struct cli_texts; repeatable, or any number of operands */
	CLI_PIDS,      /* struct cli_pids; repeatable, comma lists */
	CLI_DURATION,  /* uint64_t, ns */
	CLI_SIZE,      /* uint64_t, bytes */
	CLI_NUMBER,    /* uint64_t */
	CLI_THRESHOLD, /* struct cli_threshold */
	CLI_GATES,     /* struct cli_gates; repeatable */
	CLI_LIMITS,    /* struct cli_limits; repeatable: one time and one size */
	CLI_CHOICE,    /* unsigned int, index into choices */
};

struct cli_option {
	char letter; /* 0: none */
	const char *name;
	const char *arg; /* the argument's name in the help; NULL for flags */
	enum cli_kind kind;
	size_t offset;	     /* of its field in struct cli */
	const char *choices; /* CLI_CHOICE: "auto|multi|perf" */
	unsigned int first;  /* CLI_CHOICE: the value of the first choice */
	const char *initial; /* parsed as its argument before the command line; or NULL */
	const char *implied; /* its argument if it is given without one; NULL: it needs one */
	bool positive;	     /* 0 is refused, because it would mean that the option is not given */
	const char *help;
};

/* A command's argument without a dash: at most one, unless its kind takes more. */
struct cli_operand {
	const char *name; /* in usage: "FILE", "[FILE|PID]"; NULL if there is none */
	enum cli_kind kind;
	bool required;
	size_t offset; /* of its field in struct cli */
};

struct cli_example {
	const char *what;
	const char *line;
};

struct cli_command {
	const char *name;
	const char *usage; /* the usage line after the command's name */
	const char *summary;
	const char *text; /* paragraphs separated by empty lines */
	struct cli_operand operand;
	size_t command;	   /* offset of the char ** for everything after "--"; 0: none */
	bool needs_rights; /* of root or a capability; other commands drop them before they run */
	const struct cli_option *options;   /* its own, ended by one without a name; or NULL */
	const struct cli_example *examples; /* ended by one without a line */
	/*
	 * Whether the options make sense together: 0, -EINVAL after an error line, or -ENODATA if
	 * an option is missing without which the command has nothing to do. NULL: every combination
	 * does.
	 */
	int (*check)(const struct cli *cli);
};

struct cli_exit_code {
	int code;
	const char *text;
};

#endif /* QPROF_OPTIONS_OPTIONS_H */
