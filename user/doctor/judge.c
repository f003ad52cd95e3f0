// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "capture/privilege.h"

/* Enough for the trace of a large build; that of regex-syntax takes a hundredth of it. */
#define ENOUGH_DISK (UINT64_C(100) << 20)
/* Perf events for one compiler. */
#define ENOUGH_FILES 8192
#define LEAST_FILES  128 /* which any recording takes */

static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES;
}

#define OUTSIDE "from outside"

static bool has_capability(const struct doctor_facts *facts, int cap)
{
	return facts->capabilities >> cap & 1;
}

static bool may_attach(const struct doctor_facts *facts)
{
	char names[128];

	return !privilege_missing(facts->capabilities, 0, names, sizeof(names));
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

/* Name the cause that refuses `call` although the capabilities are there, if it is proven. */
static void judge_refusal(struct findings *f, const struct doctor_facts *facts, bool filtered,
			  enum finding_state missing, const char *name, const char *call, int err)
{
	if (filtered)
		findings__add(f, FINDING_KERNEL, missing, name,
			      "allow bpf(2) and perf_event_open(2) in the seccomp profile of the "
			      "container or the service, or run it on the host",
			      "a seccomp filter refuses %s: %s", call, strerror(-err));
	else if (!facts->first_user_ns)
		findings__add(f, FINDING_KERNEL, missing, name,
			      "run it on the host, or in a container with root's own user "
			      "namespace",
			      "refused: the capabilities are those of a user namespace");
	else
		findings__add(f, FINDING_KERNEL, missing, name,
			      "see which security module forbids it: the kernel's log (dmesg) or "
			      "see the audit log",
			      "the kernel refuses %s although the capabilities are there: %s", call,
			      strerror(-err));
}

/* Judge the trial of one feature. `missing` is the severity of its absence. */
static void judge_trial(struct findings *f, const struct doctor_facts *facts,
			const struct doctor_trials *t, int err, const char *name, const char *works,
			enum finding_state missing, const char *fix)
{
	if (!err)
		findings__add(f, FINDING_KERNEL, FINDING_OK, name, NULL, "%s", works);
	else if (is_refusal(err) && !may_attach(facts))
		findings__add(f, FINDING_KERNEL, FINDING_NOTE, name, NULL,
			      "unknown: testing needs capabilities that are missing");
	else if (is_refusal(err))
		judge_refusal(f, facts, t->bpf_filtered, missing, name, "bpf(2)", err);
	else
		findings__add(f, FINDING_KERNEL, missing, name, fix, "does not work: %s",
			      strerror(-err));
}

static void judge_perf(struct findings *f, const struct doctor_facts *facts,
		       const struct doctor_trials *t)
{
	if (t->perf_uprobe && is_refusal(t->perf_uprobe) && !has_capability(facts, CAP_SYS_ADMIN))
		findings__add(f, FINDING_KERNEL, FINDING_NOTE, "perf events", NULL,
			      "unknown: testing needs CAP_SYS_ADMIN, as --attach perf does");
	else if (is_refusal(t->perf_uprobe))
		judge_refusal(f, facts, t->bpf_filtered || t->no_mappings.filtered, FINDING_NOTE,
			      "perf events", "a uprobe by a perf event", t->perf_uprobe);
	else
		judge_trial(f, facts, t, t->perf_uprobe, "perf events",
			    "uprobes by perf events work (--attach perf)", FINDING_NOTE,
			    "nothing, as long as there is uprobe_multi; else use a kernel with "
			    "CONFIG_UPROBE_EVENTS=y");
}

static void judge_mappings(struct findings *f, const struct doctor_facts *facts,
			   const struct doctor_trials *t)
{
	char why[PERF_REFUSAL_MAX];

	if (!t->mappings)
		findings__add(f, FINDING_KERNEL, FINDING_OK, "mappings", NULL,
			      "the kernel reports which process maps a compiler's library");
	else if (is_refusal(t->mappings) && !may_attach(facts))
		findings__add(f, FINDING_KERNEL, FINDING_NOTE, "mappings", NULL,
			      "unknown: testing needs capabilities that are missing");
	else
		findings__add(f, FINDING_KERNEL, FINDING_NOTE, "mappings",
			      perf_refusal__fix(&t->no_mappings),
			      "%s; new programs are looked at in /proc instead: the first queries "
			      "of an unforeseen compiler may be missing",
			      perf_refusal__why(&t->no_mappings, why, sizeof(why)));
}

void judge_kernel(struct findings *f, const struct doctor_facts *facts,
		  const struct doctor_trials *t)
{
	bool secret = !strcmp(facts->lockdown, "confidentiality");

	findings__add(f, FINDING_KERNEL, FINDING_OK, "version", NULL, "Linux %s",
		      facts->release[0] ? facts->release : "(unknown)");
	if (facts->btf)
		findings__add(f, FINDING_KERNEL, FINDING_OK, "BTF", NULL,
			      "/sys/kernel/btf/vmlinux can be read");
	else
		findings__add(f, FINDING_KERNEL, FINDING_PROBLEM, "BTF",
			      "use a kernel that was built with CONFIG_DEBUG_INFO_BTF=y",
			      "there is no /sys/kernel/btf/vmlinux that can be read");

	findings__add(f, FINDING_KERNEL, secret ? FINDING_PROBLEM : FINDING_OK, "lockdown",
		      secret ? "start the kernel with lockdown=integrity, or without lockdown"
			     : NULL,
		      "%s%s", facts->lockdown[0] ? facts->lockdown : "unknown (no securityfs)",
		      secret ? ": BPF programs may read no memory" : "");
	findings__add(f, FINDING_KERNEL, FINDING_OK, "security modules", NULL, "%s",
		      facts->lsm[0] ? facts->lsm : "unknown (no securityfs)");
	if (facts->perf_event_paranoid != FACTS_UNKNOWN)
		findings__add(f, FINDING_KERNEL, FINDING_OK, "perf_event_paranoid", NULL, "%d%s",
			      facts->perf_event_paranoid,
			      t->mappings ? "; see mappings below" : "");
	if (facts->unprivileged_bpf_disabled != FACTS_UNKNOWN)
		findings__add(f, FINDING_KERNEL, FINDING_OK, "unprivileged_bpf_disabled", NULL,
			      "%d (irrelevant with these capabilities)",
			      facts->unprivileged_bpf_disabled);

	judge_trial(f, facts, t, t->load, "BPF programs", "can be loaded", FINDING_PROBLEM,
		    "use a kernel with CONFIG_BPF_SYSCALL=y");
	judge_trial(f, facts, t, t->ring, "ring buffer", "can be made", FINDING_PROBLEM,
		    "use Linux 6.1 or later");
	judge_trial(f, facts, t, t->tracepoint, "raw tracepoints", "can be attached to",
		    FINDING_PROBLEM, "use a kernel with CONFIG_BPF_EVENTS=y");
	judge_trial(f, facts, t, t->typed, "tp_btf", "typed tracepoints can be attached to",
		    FINDING_NOTE, "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
	judge_trial(f, facts, t, t->uprobe_multi, "uprobe_multi",
		    "one link carries all probes of a kind", FINDING_NOTE,
		    "nothing has to be done: perf events are used instead, which take minutes to "
		    "remove; Linux 6.6 has uprobe_multi");
	judge_perf(f, facts, t);
	judge_mappings(f, facts, t);
	findings__add(f, FINDING_KERNEL, facts->first_pid_ns ? FINDING_OK : FINDING_PROBLEM,
		      "process numbers",
		      facts->first_pid_ns ? NULL
					  : "run it on the host, or in a container that shares the "
					    "host's (docker run --pid=host)",
		      "%s", facts->first_pid_ns ? "the host's" : "a container's own");
}

/* ---- Privileges ------------------------------------------------------------------------------ */

static void judge_capabilities(struct findings *f, const struct doctor_facts *facts)
{
	const char *why = "; the file has others";
	_free_ char *fix = NULL;
	char missing[128];

	if (!privilege_missing(facts->capabilities, 0, missing, sizeof(missing))) {
		findings__add(f, FINDING_PRIVILEGES, FINDING_OK, "capabilities", NULL,
			      "%s, which recording takes",
			      has_capability(facts, CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN"
								   : "CAP_BPF and CAP_PERFMON");
		return;
	}
	if (facts->file_has_caps && (facts->no_new_privs || facts->file_is_nosuid))
		fix = strdup("run it with sudo, or without what takes them away");
	else if (asprintf(&fix, "run it with sudo; or, once: sudo setcap cap_bpf,cap_perfmon+ep %s",
			  facts->exe[0] ? facts->exe : "qprof-bpf") < 0)
		fix = NULL;
	/* Those of our file may not be in force. */
	if (!facts->file_has_caps)
		why = "";
	else if (facts->no_new_privs)
		why = "; those of the file are not in force, as no_new_privs is set";
	else if (facts->file_is_nosuid)
		why = "; those of the file are not in force, as it is on a file system that is "
		      "mounted nosuid";
	findings__add(f, FINDING_PRIVILEGES, FINDING_PROBLEM, "capabilities", fix, "missing %s%s",
		      missing, why);
}

void judge_privileges(struct findings *f, const struct doctor_facts *facts,
		      const struct doctor_trials *t, const char *user)
{
	findings__add(f, FINDING_PRIVILEGES, FINDING_OK, "user", NULL, "%s", user);
	judge_capabilities(f, facts);
	if (!may_attach(facts) || !facts->first_user_ns || !facts->first_pid_ns)
		findings__add(f, FINDING_PRIVILEGES, FINDING_NOTE, OUTSIDE, NULL,
			      "a command, and your own processes, are recorded without the "
			      "kernel's help: counts, and times of queries and items");
	if (!may_attach(facts))
		return;
	if (!t->others || (t->others == -ESRCH && has_capability(facts, CAP_SYS_PTRACE)))
		findings__add(f, FINDING_PRIVILEGES, FINDING_OK, "other users", NULL,
			      "their processes can be recorded (--pid)");
	else if (t->others == -ESRCH)
		findings__add(f, FINDING_PRIVILEGES, FINDING_NOTE, "other users", NULL,
			      "unknown whether theirs can be recorded (--pid): there are none");
	else
		findings__add(f, FINDING_PRIVILEGES, FINDING_NOTE, "other users",
			      "run it with sudo for those, or add cap_sys_ptrace",
			      "their processes cannot be recorded (--pid): %s",
			      strerror(-t->others));
}

/* ---- Limits ---------------------------------------------------------------------------------- */

void judge_limits(struct findings *f, const struct doctor_limits *limits,
		  const struct doctor_trials *t)
{
	/* Probes take one descriptor each only without uprobe_multi. */
	bool few = limits->files < ENOUGH_FILES && t->uprobe_multi;
	bool poor = limits->disk_bytes < ENOUGH_DISK;
	char free[FORMAT_MAX];

	if (limits->files == UINT64_MAX)
		findings__add(f, FINDING_LIMITS, FINDING_OK, "open files", NULL, "no limit");
	else if (limits->files < LEAST_FILES)
		findings__add(f, FINDING_LIMITS, FINDING_PROBLEM, "open files",
			      "raise it (ulimit -n)", "%" PRIu64 ", and a recording takes about %u",
			      limits->files, LEAST_FILES);
	else
		findings__add(f, FINDING_LIMITS, few ? FINDING_NOTE : FINDING_OK, "open files",
			      few ? "raise it (ulimit -n), as each probe is a perf event here"
				  : NULL,
			      "%" PRIu64, limits->files);
	findings__add(f, FINDING_LIMITS, FINDING_OK, "locked memory", NULL,
		      "irrelevant: Linux 5.11 and later count BPF's memory elsewhere");
	if (!limits->can_write_here)
		findings__add(f, FINDING_LIMITS, FINDING_NOTE, "this directory",
			      "name a file elsewhere with -o", "traces cannot be written here");
	else
		findings__add(f, FINDING_LIMITS, poor ? FINDING_NOTE : FINDING_OK, "this directory",
			      poor ? "name a file elsewhere with -o" : NULL,
			      "%s are free for traces", format_bytes(free, limits->disk_bytes));
}

/* ---- Toolchains ------------------------------------------------------------------------------ */

static const char *fix_of_plan(int err)
{
	switch (err) {
	case -ENODATA:
		return "install its debug symbols, or use a toolchain from https://rustup.rs, "
		       "whose compilers keep theirs";
	case -ENOTSUP:
		return "look for a newer qprof-bpf";
	case -EACCES:
		return "run this as the toolchain's owner, or with sudo";
	default:
		return "install the toolchain anew";
	}
}

/* The text before the source of its symbols. */
static const char *source_text(enum symbol_source source)
{
	if (source == SYMBOLS_OF_LIBRARY)
		return "";
	return source == SYMBOLS_RECOVERED
		       ? "; it has no symbols: names, in some versions not those of items and "
			 "macros, are recovered from "
		       : "; its symbols are those of ";
}

static void judge_plan(struct findings *f, const struct toolchain *t)
{
	bool complete = t->complete == t->queries, own = t->symbols == SYMBOLS_OF_LIBRARY;
	_free_ char *fix = NULL;

	if (complete && !t->sites[PLAN_STEPPED]) {
		findings__add(f, FINDING_TOOLCHAINS, FINDING_OK, t->name, NULL,
			      "all of its %" PRIu32 " queries can be recorded%s%s", t->queries,
			      source_text(t->symbols), own ? "" : plan_symbols_name(t->symbols));
		return;
	}
	if (asprintf(&fix, "qprof-bpf plan --full %s lists them", t->library) < 0)
		fix = NULL;
	findings__add(f, FINDING_TOOLCHAINS, FINDING_NOTE, t->name, fix,
		      "%" PRIu32 " of its %" PRIu32 " queries can be recorded exactly; %" PRIu32
		      " probes are single-stepped, which is slow",
		      t->complete, t->queries, t->sites[PLAN_STEPPED]);
}

void judge_toolchains(struct findings *f, const struct toolchains *list)
{
	bool any = false;

	for (uint32_t i = 0; i < list->n; i++)
		any |= !list->items[i].err;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct toolchain *t = &list->items[i];

		if (!t->err)
			judge_plan(f, t);
		else
			findings__add(f, FINDING_TOOLCHAINS,
				      t->wanted || !any ? FINDING_PROBLEM : FINDING_NOTE, t->name,
				      fix_of_plan(t->err), "%s", t->why);
	}
	if (!list->n)
		findings__add(f, FINDING_TOOLCHAINS, FINDING_PROBLEM, "none",
			      "install one from https://rustup.rs, or name its rustc",
			      "no Rust compiler was found");
}

/* ---- Findings -------------------------------------------------------------------------------- */

static void finding__clear(struct finding *f)
{
	free(f->name);
	free(f->says);
	free(f->fix);
}

void findings__add(struct findings *f, enum finding_section section, enum finding_state state,
		   const char *name, const char *fix, const char *fmt, ...)
{
	struct finding one = {.section = section, .state = state};
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&one.says, fmt, ap) < 0)
		one.says = NULL;
	va_end(ap);
	one.name = strdup(name);
	one.fix = fix ? strdup(fix) : NULL;
	if (!one.says || !one.name || (fix && !one.fix) ||
	    array__reserve_one(&f->items, f->n, &f->capacity, sizeof(*f->items))) {
		finding__clear(&one);
		f->err = -ENOMEM;
		return;
	}
	f->items[f->n++] = one;
}

uint32_t findings__problems(const struct findings *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->items[i].state == FINDING_PROBLEM;
	return n;
}

bool findings__has_outside(const struct findings *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (!strcmp(f->items[i].name, OUTSIDE))
			return true;
	return false;
}

const char *finding_section_name(enum finding_section section)
{
	static const char *const names[FINDING_SECTIONS] = {
		[FINDING_KERNEL] = "kernel",	     [FINDING_PRIVILEGES] = "privileges",
		[FINDING_RECORDING] = "recording",   [FINDING_LIMITS] = "limits",
		[FINDING_TOOLCHAINS] = "toolchains",
	};

	return names[section];
}

const char *finding_state_name(enum finding_state state)
{
	static const char *const names[] = {
		[FINDING_OK] = "ok",
		[FINDING_NOTE] = "note",
		[FINDING_PROBLEM] = "problem",
	};

	return names[state];
}

void findings__clear(struct findings *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		finding__clear(&f->items[i]);
	free(f->items);
	*f = (struct findings){0};
}
