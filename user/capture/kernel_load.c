// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "capture/kernel_state.h"
#include "capture/privilege.h"

/* The kernel's PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (diag_level() < DIAG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static bool wants_hits(const struct kernel_options *opt)
{
	return opt->hits || (opt->filter && filter__wants_hits(opt->filter));
}

static bool may_pass(const struct filter *f, enum filter_class class)
{
	return !f || filter__may_pass(f, class);
}

/*
 * Which program is for the sites of each role: none for those that no plan has one of that passes
 * the filter. Starts and ends of queries always have one, as the probes' cost is measured with
 * them.
 */
static void list_programs(struct kernel *k, const struct kernel_options *opt)
{
	const struct filter *f = opt->filter;
	struct bpf_program *site = k->skel->progs.qprof_site,
			   *label = k->skel->progs.qprof_label_site;
	bool hashing = may_pass(f, FILTER_HASHING);
	bool queries = hashing || may_pass(f, FILTER_QUERY);
	bool about_query = may_pass(f, FILTER_BLOCKED) || may_pass(f, FILTER_LOAD);
	bool guards =
		hashing || about_query || may_pass(f, FILTER_ACTIVITY) || may_pass(f, FILTER_TOLD);
	bool timers = may_pass(f, FILTER_TIMER);

	k->progs[WIRE_ROLE_START] = site;
	k->progs[WIRE_ROLE_START_BODY] = site;
	k->progs[WIRE_ROLE_END] = site;
	k->progs[WIRE_ROLE_CAUGHT] = site;
	k->progs[WIRE_ROLE_WRAPPER] = queries ? site : NULL;
	k->progs[WIRE_ROLE_REQUEST] = queries && opt->callers ? site : NULL;
	k->progs[WIRE_ROLE_IDENTIFY] = queries ? site : NULL;
	k->progs[WIRE_ROLE_GUARD] = guards ? label : NULL;
	k->progs[WIRE_ROLE_GUARD_QUERY] = about_query ? site : NULL;
	k->progs[WIRE_ROLE_GUARD_CALLED] = may_pass(f, FILTER_LOAD) ? site : NULL;
	k->progs[WIRE_ROLE_GUARD_END] = guards ? site : NULL;
	k->progs[WIRE_ROLE_TIMER] = timers ? label : NULL;
	k->progs[WIRE_ROLE_TIMER_END] = timers ? site : NULL;
	k->progs[WIRE_ROLE_HIT] = wants_hits(opt) ? site : NULL;
	bpf_program__set_autoload(label, guards || timers);
}

/* Not worth a recording: what cannot be had is told, and left out. */
static void tell_no_switches(int err)
{
	diag_warn("cannot tell when threads are off the CPU: %s; recording goes on without",
		  err == -ESRCH || err == -ENOENT ? "this kernel describes no sched_switch"
						  : strerror(-err));
}

static int explain_load(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return diag_error_r(
			-ENOENT, "cannot load: this kernel has no BTF (/sys/kernel/btf/vmlinux); "
				 "use one built with CONFIG_DEBUG_INFO_BTF=y");
	/* EACCES is the verifier's word, not a missing capability's. */
	if (err == -EPERM)
		privilege_explain("load the BPF programs", 0);
	else if (err == -ENOMEM)
		diag_error("cannot load: out of memory; try a smaller --ring-size");
	else
		diag_error("cannot load the BPF programs: %s; run again with -vv for the "
			   "kernel's own words, and see \"qprof-bpf doctor\"",
			   strerror(-err));
	return err;
}

static int choose_attach(struct kernel *k, enum kernel_attach attach, bool hits)
{
	const char *leave_out = hits	      ? "leave query-cache-hit out of --events"
				: k->governed ? "leave out --budget"
					      : "use --attach perf";
	bool have = attach != KERNEL_ATTACH_PERF && probes_have_multi();

	k->multi = have;
	if (hits && !have && attach == KERNEL_ATTACH_PERF)
		return diag_error_r(-EINVAL, "query-cache-hit needs thousands of probes, more than "
					     "perf events can be; leave out --attach perf");
	if (k->governed && !have && attach == KERNEL_ATTACH_PERF)
		return diag_error_r(-EINVAL,
				    "no budget can be kept with perf events, which take up "
				    "to a second each to remove; leave out --attach perf");
	if ((hits || k->governed || attach == KERNEL_ATTACH_MULTI) && !have) {
		char missing[128];

		if (privilege_missing(privilege_effective(), 0, missing, sizeof(missing))) {
			privilege_explain("attach", 0);
			return -EPERM;
		}
		return diag_error_r(-ENOSYS,
				    "this kernel has no uprobe_multi links (they came with 6.6); "
				    "%s",
				    leave_out);
	}
	return 0;
}

static int load_with(struct kernel *k, const struct kernel_options *opt, bool switches)
{
	k->skel = qprof_bpf__open();
	if (!k->skel)
		return -errno;
	list_programs(k, opt);
	bpf_program__set_autoload(k->skel->progs.on_switch, switches);
	if (k->multi) {
		int type = probes_multi_attach_type();

		bpf_program__set_expected_attach_type(k->skel->progs.qprof_site, type);
		bpf_program__set_expected_attach_type(k->skel->progs.qprof_label_site, type);
	}
	bpf_program__set_autoload(k->skel->progs.show_open, opt->only_open);
	bpf_map__set_max_entries(k->skel->maps.ring, (uint32_t)opt->ring_bytes);
	/* Early enough that the reader finds room to be slow in. */
	k->skel->rodata->knobs.wakeup_bytes = (uint32_t)(opt->ring_bytes / 8);
	k->skel->rodata->knobs.callers = opt->callers;
	k->skel->rodata->knobs.silent = opt->only_open;
	k->skel->rodata->knobs.governed = opt->governed;
	return qprof_bpf__load(k->skel);
}

/*
 * A program whose tracepoint the kernel does not know keeps all of them from being loaded. To ask
 * first would be to read the kernel's types twice, which takes longer than to verify a program.
 */
static int load(struct kernel *k, const struct kernel_options *opt)
{
	int err = load_with(k, opt, opt->off_cpu), why = err;

	if (err && opt->off_cpu) {
		qprof_bpf__destroy(take_ptr(k->skel));
		err = load_with(k, opt, false);
		if (!err)
			tell_no_switches(why);
	}
	return err ? explain_load(err) : 0;
}

/* The life of processes; the probes come with each library, flush_all is read when asked. */
static int attach_lifecycle(struct kernel *k)
{
	struct qprof_bpf *s = k->skel;

	if (bpf_program__autoload(s->progs.on_switch)) {
		s->links.on_switch = bpf_program__attach(s->progs.on_switch);
		if (!s->links.on_switch)
			tell_no_switches(-errno);
	}

	s->links.on_fork = bpf_program__attach(s->progs.on_fork);
	s->links.on_exec = bpf_program__attach(s->progs.on_exec);
	s->links.on_exit = bpf_program__attach(s->progs.on_exit);
	if (s->links.on_fork && s->links.on_exec && s->links.on_exit)
		return 0;
	return diag_error_r(-errno,
			    "cannot follow processes: %s; see whether another tracer "
			    "holds the sched tracepoints",
			    strerror(errno));
}

/* What would fail later, with a worse explanation, or would find nothing. */
static int check_surroundings(const struct kernel_options *opt)
{
	bool perf = opt->attach == KERNEL_ATTACH_PERF;
	char missing[128];
	struct stat ns;

	if (privilege_missing(privilege_effective(), perf, missing, sizeof(missing))) {
		privilege_explain("attach", perf);
		return -EPERM;
	}
	/* The kernel half knows processes by the numbers that the first namespace has for them. */
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != FIRST_PID_NAMESPACE)
		return diag_error_r(-ENOTSUP,
				    "cannot follow processes from inside a container with "
				    "process numbers of its own; run it on the host, or in "
				    "a container that shares the host's (docker run --pid=host)");
	return 0;
}

int kernel__load(struct kernel *k, const struct kernel_options *opt)
{
	int err;

	libbpf_set_print(print_libbpf);
	err = check_surroundings(opt);
	if (!err)
		err = choose_attach(k, opt->attach, wants_hits(opt));
	if (!err)
		err = load(k, opt);
	return err ?: attach_lifecycle(k);
}
