/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The command line, as data: what commands there are and which options they take. Parsing
 * (cli/parse.h), --help (cli/usage.h), the manual (cli/man.h) and shell completion
 * (cli/completion.h) all read these tables; nothing else knows an option's name.
 *
 * A new command is one value of enum cli_command_id, its rows in options.c, a struct for its
 * options here, and one file cmd_<name>.c.
 */
#ifndef QPROF_CLI_OPTIONS_H
#define QPROF_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum cli_command_id {
	CLI_RECORD,
	CLI_TOP,
	CLI_REPORT,
	CLI_DIFF,
	CLI_DUMP,
	CLI_VERIFY,
	CLI_EXPORT,
	CLI_IMPORT,
	CLI_PLAN,
	CLI_DOCTOR,
	CLI_STUCK,
	CLI_PCTAB,
	CLI_HELP,
	CLI_VERSION,
	CLI_N_COMMANDS,
};

#define CLI_BIT(command) (1u << (command))
#define CLI_ALL		 (CLI_BIT(CLI_N_COMMANDS) - 1)

/* How the probes are attached; the order of the choices of --attach. */
enum cli_attach {
	CLI_ATTACH_AUTO,
	CLI_ATTACH_MULTI, /* uprobe_multi links, Linux 6.6 and later */
	CLI_ATTACH_PERF,  /* one perf event per site */
};

/* The order of the choices of --completion, after "none given". */
enum cli_shell {
	CLI_SHELL_NONE,
	CLI_SHELL_BASH,
	CLI_SHELL_ZSH,
	CLI_SHELL_FISH,
};

/* What report's rows are; the order of the choices of --by, after "none given". */
enum cli_by {
	CLI_BY_FITTING, /* a build, if several crates were compiled and no row is chosen */
	CLI_BY_BUILD,
	CLI_BY_QUERY,
	CLI_BY_CRATE,
	CLI_BY_PROCESS,
	CLI_BY_THREAD,
};

/* The order of the choices of --sort. */
enum cli_sort {
	CLI_SORT_SELF,
	CLI_SORT_TOTAL,
	CLI_SORT_COUNT,
	CLI_SORT_MAX,
	CLI_SORT_NAME,
	CLI_SORT_OFF,
	CLI_SORT_CPU,
};

/* A least time: so long, or such a part of all. */
struct cli_threshold {
	uint64_t ns;
	uint64_t millipercent; /* thousandths of a hundredth */
};

/* Texts of an option that was given so often; they point into argv. */
struct cli_texts {
	const char **texts;
	size_t n;
};

/* What must not grow by more than so much. */
struct cli_gate {
	const char *text; /* as it was given */
	char *crate;	  /* glob; NULL: all crates together */
	char *query;	  /* glob; NULL: all of the crate, or of the build */
	struct cli_threshold limit;
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

/* One of pids, system, cgroup and a command; none only with top. */
struct cli_record_options {
	struct cli_pids pids;
	bool system;		 /* all compilers of the machine */
	const char *cgroup;	 /* a directory: all compilers of a control group; or NULL */
	char **command;		 /* NULL-terminated, part of argv; or NULL */
	const char *output;	 /* NULL: qprof-<utc>.qpt in the current directory */
	bool force;		 /* overwrite the output */
	struct cli_texts events; /* lists, as filter__new() takes them; none = the default */
	uint64_t interval_ns;
	uint64_t slow_ns; /* 0: tell of no interval */
	bool json;
	bool quiet;
	int begun_fd; /* not 0: top shows it all, and is told here when the recording has begun */
	bool callers;
	struct cli_threshold budget; /* a percentage; 0: none */
	uint64_t ring_bytes;	     /* a power of two, at least a page */
	unsigned int attach;	     /* enum cli_attach */
};

/* How many of them there are. */
static inline int cli_ways_to_record(const struct cli_record_options *o)
{
	return (o->command != NULL) + (o->pids.n != 0) + o->system + (o->cgroup != NULL);
}

/* What to record, if anything, is in struct cli_record_options. */
struct cli_top_options {
	const char *file; /* a trace to follow; NULL: that of the recording that runs */
};

struct cli_report_options {
	const char *file;
	bool json;
	bool markdown;	   /* of a build */
	bool full;	   /* of a build: every row */
	bool wide;	   /* lines as long as they get */
	bool raw;	   /* times with what our own probes took of them */
	uint64_t top;	   /* 0 = all, or of a build as many as fit */
	unsigned int by;   /* enum cli_by */
	unsigned int sort; /* enum cli_sort */
	struct cli_threshold min;
	struct cli_texts queries; /* globs; none = all */
	struct cli_texts callers; /* globs for queries; none: rows are not callers */
};

/* What is compared; the order of the choices of --metric. */
enum cli_metric {
	CLI_METRIC_SELF,
	CLI_METRIC_TOTAL,
	CLI_METRIC_COUNT,
};

struct cli_diff_options {
	struct cli_files sides; /* two: each a trace, several with commas, or a directory */
	unsigned int metric;	/* enum cli_metric */
	struct cli_threshold min;
	uint64_t top; /* 0 = all */
	struct cli_gates gates;
	bool json;
	bool markdown;
	bool wide; /* lines as long as they get */
};

struct cli_dump_options {
	const char *file; /* NULL with schema */
	bool schema;
	struct cli_texts processes; /* pids and globs for crates; none = all */
	struct cli_texts queries;   /* globs; none = all */
	uint64_t from_ns;	    /* since the capture began */
	uint64_t to_ns;		    /* UINT64_MAX: to the end */
};

struct cli_verify_options {
	const char *file;
};

/* The order of the choices of --format. */
enum cli_format {
	CLI_FORMAT_MEASUREME,
	CLI_FORMAT_PERFETTO,
	CLI_FORMAT_CHROME,
	CLI_FORMAT_FOLDED,
	CLI_FORMAT_SVG,
	CLI_FORMAT_PPROF,
	CLI_FORMAT_SPEEDSCOPE,
	CLI_FORMAT_COUNTS,
	CLI_FORMAT_HTML,
};

struct cli_export_options {
	const char *file;
	unsigned int format; /* enum cli_format */
	const char *output;  /* a file, "-", or of measureme a directory */
	bool force;	     /* overwrite */
	bool raw;	     /* times with what our own probes took of them */
	uint64_t max_bytes;  /* 0: no limit */
};

struct cli_import_options {
	struct cli_files files; /* at least one */
	const char *output;	/* NULL: the first file's name with .qpt, here */
	bool force;		/* overwrite the output */
};

struct cli_plan_options {
	const char *target; /* a file, a pid, "+toolchain", or NULL */
	bool json;
	bool full;
	bool no_cache;
};

struct cli_doctor_options {
	const char *target; /* as of plan; NULL: every toolchain there is */
	bool json;
};

struct cli_stuck_options {
	struct cli_pids pids; /* at least one */
	uint64_t interval_ns;
	bool once;
	bool json;
	bool full;
};

struct cli_pctab_options {
	const char *file;
	bool json;
	bool no_timing;
};

struct cli_help_options {
	const char *topic; /* a command's name, or NULL */
	bool man;
	unsigned int completion; /* enum cli_shell */
};

/* A parsed command line. Texts point into argv. */
struct cli {
	enum cli_command_id command;
	bool command_named; /* false for the default */
	bool help;
	bool version;
	unsigned int verbose;
	struct cli_record_options record;
	struct cli_top_options top;
	struct cli_report_options report;
	struct cli_diff_options diff;
	struct cli_dump_options dump;
	struct cli_verify_options verify;
	struct cli_export_options export;
	struct cli_import_options import;
	struct cli_plan_options plan;
	struct cli_doctor_options doctor;
	struct cli_stuck_options stuck;
	struct cli_pctab_options pctab;
	struct cli_help_options help_options;
};

/* What an option's argument is, and so the type of the field it is stored in. */
enum cli_kind {
	CLI_FLAG,      /* bool; takes no argument */
	CLI_COUNT,     /* unsigned int, times it was given; takes no argument */
	CLI_TEXT,      /* const char * */
	CLI_FILE,      /* const char *, a path */
	CLI_FILES,     /* struct cli_files; operands only, any number of them */
	CLI_COMMAND,   /* const char *, the name of one of our commands */
	CLI_TEXTS,     /* struct cli_texts; repeatable */
	CLI_PIDS,      /* struct cli_pids; repeatable, comma lists */
	CLI_DURATION,  /* uint64_t, ns */
	CLI_SIZE,      /* uint64_t, bytes */
	CLI_NUMBER,    /* uint64_t */
	CLI_THRESHOLD, /* struct cli_threshold */
	CLI_GATES,     /* struct cli_gates; repeatable */
	CLI_CHOICE,    /* unsigned int, index into choices */
};

struct cli_option {
	unsigned int commands; /* CLI_BITs of those that take it */
	char letter;	       /* 0 if it has none */
	const char *name;
	const char *arg; /* what the help calls its argument; NULL for flags */
	enum cli_kind kind;
	size_t offset;	     /* of its field in struct cli */
	const char *choices; /* CLI_CHOICE: "auto|multi|perf" */
	unsigned int first;  /* CLI_CHOICE: the value of the first choice */
	const char *initial; /* parsed as its argument before the command line; or NULL */
	bool positive;	     /* not 0, which is as if it were left out */
	const char *help;
};

/* What may stand without a dash: at most one, unless it is CLI_FILES. */
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
	const char *usage; /* what follows its name */
	const char *summary;
	const char *text; /* paragraphs separated by empty lines */
	struct cli_operand operand;
	bool takes_command;		    /* everything behind "--" */
	const struct cli_example *examples; /* up to one without a line */
	int (*run)(const struct cli *cli);
};

struct cli_exit_code {
	int code;
	const char *text;
};

const struct cli_command *cli_command(enum cli_command_id id);
/* CLI_N_COMMANDS if there is no such command. */
enum cli_command_id cli_command_by_name(const char *name);

const struct cli_option *cli_options(size_t *n);
bool cli_takes(enum cli_command_id id, const struct cli_option *option);

const struct cli_exit_code *cli_exit_codes(size_t *n);

#endif /* QPROF_CLI_OPTIONS_H */
