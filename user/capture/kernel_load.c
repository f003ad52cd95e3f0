// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "capture/loads.h"
#include "capture/privilege.h"
#include "capture/uprobe_multi.h"

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (diag_level() < DIAG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

/* ---- Programs that may not sleep ------------------------------------------------------------- */

/* The kernel refuses such a program if it has a call that may sleep. There the call fails. */
static int replace_sleep(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long unused)
{
	const struct bpf_insn fails = {
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -EFAULT};
	size_t n = bpf_program__insn_cnt(prog);
	_free_ struct bpf_insn *insns = calloc(n, sizeof(*insns));

	(void)unused;
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
		    insns[i].imm == BPF_FUNC_copy_from_user)
			insns[i] = fails;
	return bpf_program__set_insns(prog, insns, n) ?: loads__take(prog, opts);
}

static int prepare_uprobe(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long flags)
{
	opts->prog_flags |= (__u32)flags;
	return loads__take(prog, opts);
}

static int attach_raw_tp(const struct bpf_program *prog, long unused, struct bpf_link **link)
{
	const char *name = strchr(bpf_program__section_name(prog), '/');

	(void)unused;
	*link = name ? bpf_program__attach_raw_tracepoint(prog, name + 1) : NULL;
	return *link ? 0 : -errno;
}

int programs__register(void)
{
	static bool done;
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = replace_sleep);
	LIBBPF_OPTS(libbpf_prog_handler_opts, uprobes, .prog_prepare_load_fn = prepare_uprobe);
	int err;

	if (done)
		return 0;
	err = libbpf_register_prog_handler("perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, &opts);
	if (err >= 0) {
		opts.prog_attach_fn = attach_raw_tp;
		err = libbpf_register_prog_handler("raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
						   &opts);
	}
	if (err >= 0)
		err = libbpf_register_prog_handler("uprobe+", BPF_PROG_TYPE_KPROBE, 0, &uprobes);
	if (err >= 0) {
		uprobes.cookie = BPF_F_SLEEPABLE;
		err = libbpf_register_prog_handler("uprobe.s+", BPF_PROG_TYPE_KPROBE, 0, &uprobes);
	}
	done = err >= 0;
	return done ? 0 : err;
}

/* ---- Choosing ------------------------------------------------------------------------------- */

static bool wants_hits(const struct kernel_options *opt)
{
	return opt->hits || filter__wants_hits(opt->filter);
}

/*
 * Choose the program for the sites of each role: none if no site of the role can pass the filter.
 */
static void list_programs(struct loaded *l, const struct kernel_options *opt)
{
	const struct filter *f = opt->filter;
	struct bpf_program *site = l->skel->progs.qprof_site,
			   *label = l->skel->progs.qprof_label_site;
	bool queries = filter__may_probe_queries(f);
	bool about_query = filter__may_pass(f, FILTER_BLOCKED) || filter__may_pass(f, FILTER_LOAD);
	bool guards = about_query || filter__may_pass(f, FILTER_HASHING) ||
		      filter__may_pass(f, FILTER_ACTIVITY) || filter__may_pass(f, FILTER_DYNAMIC);
	bool timers = filter__may_pass(f, FILTER_TIMER), names = opt->keys && !opt->only_open;
	bool any = !filter__is_empty(f) || opt->hits;
	/* Contexts are known by samples. */
	bool counts = !any && names && filter__wants_readings(f) && opt->sampling.hz;

	l->progs[WIRE_ROLE_START] = queries ? site : NULL;
	l->progs[WIRE_ROLE_START_BODY] = queries ? site : NULL;
	l->progs[WIRE_ROLE_END] = queries ? site : NULL;
	l->progs[WIRE_ROLE_CAUGHT] = any ? site : NULL;
	l->progs[WIRE_ROLE_WRAPPER] = queries ? site : NULL;
	l->progs[WIRE_ROLE_REQUEST] = queries && opt->callers ? site : NULL;
	l->progs[WIRE_ROLE_IDENTIFY] = queries ? site : NULL;
	l->progs[WIRE_ROLE_GUARD] = guards ? label : NULL;
	l->progs[WIRE_ROLE_GUARD_QUERY] = about_query ? site : NULL;
	l->progs[WIRE_ROLE_GUARD_CALLED] = filter__may_pass(f, FILTER_LOAD) ? site : NULL;
	l->progs[WIRE_ROLE_GUARD_END] = guards ? site : NULL;
	l->progs[WIRE_ROLE_TIMER] = timers ? label : NULL;
	l->progs[WIRE_ROLE_TIMER_END] = timers ? site : NULL;
	l->progs[WIRE_ROLE_HIT] = wants_hits(opt) ? site : NULL;
	l->progs[WIRE_ROLE_DROP] = names && any ? l->skel->progs.qprof_drop_site : NULL;
	l->skel->rodata->knobs.roles = 0;
	for (uint32_t role = 0; role < ATTACH_ROLES; role++)
		l->skel->rodata->knobs.roles |= l->progs[role] ? 1u << role : 0;
	bpf_program__set_autoload(site, any);
	bpf_program__set_autoload(label, guards || timers);
	l->skel->rodata->knobs.unprobed = !any;
	bpf_program__set_autoload(l->skel->progs.sample_cpu, opt->sampling.hz && !counts);
	bpf_program__set_autoload(l->skel->progs.sample_cpu_and_count, counts);
	bpf_program__set_autoload(l->skel->progs.qprof_drop_site, names && any);
	bpf_program__set_autoload(l->skel->progs.on_signal, names);
}

/*
 * Processes of one build at a time; of the whole machine there may be 65,536. Likewise entries of a
 * table for all libraries: rustc 1.95 has 1,900 in the largest one, with all sites.
 */
#define TARGETS_BUILD 16384
#define LIBS_BUILD    16384
/* Probes of all libraries; of cache hits there are 8,000 in one. */
#define SITES_BUILD 16384
#define SITES_ALL   65536
/* Jobs and names that were sent to the user half; one that is forgotten is sent again. */
#define SENT_BUILD 4096
/* Frames beyond those of their threads, where no queries are among them. */
#define OVERFLOW_ACTIVITIES 4096

/* What no program looks up has one entry: the kernel allocates for all of them. */
static int set_table_sizes(struct loaded *l, const struct kernel_options *opt)
{
	const struct qprof_bpf *s = l->skel;
	bool probes = s->rodata->knobs.roles, queries = l->progs[WIRE_ROLE_START];
	uint32_t of_libs = opt->one_build ? LIBS_BUILD : 0;
	uint32_t n_sites = (opt->one_build ? SITES_BUILD : SITES_ALL) * (wants_hits(opt) ? 4 : 1);
	/* 0: as it is. */
	const struct {
		struct bpf_map *map;
		uint32_t n;
	} sizes[] = {
		{s->maps.targets, opt->one_build ? TARGETS_BUILD : 0},
		{s->maps.jobs_sent, opt->one_build ? SENT_BUILD : 0},
		{s->maps.llvm_sent, opt->one_build ? SENT_BUILD : 0},
		{s->maps.wrappers, opt->callers ? of_libs : 1},
		{s->maps.memory_keys, probes || opt->keys ? of_libs : 1},
		{s->maps.query_tables, probes || opt->keys ? of_libs : 1},
		{s->maps.sites, probes ? n_sites : 1},
		{s->maps.providers, probes ? of_libs : 1},
		{s->maps.steps, probes ? of_libs : 1},
		{s->maps.overflow, !probes   ? 1
				   : queries ? 0
					     : OVERFLOW_ACTIVITIES},
		{s->maps.labels, probes ? 0 : 1},
		{s->maps.sources, probes ? 0 : 1},
	};
	int err = 0;

	for (size_t i = 0; i < N_OF(sizes) && !err; i++)
		if (sizes[i].n)
			err = bpf_map__set_max_entries(sizes[i].map, sizes[i].n);
	return err;
}

/* A recording without times off the CPU is better than none. */
static void warn_no_switches(int err)
{
	diag_warn("cannot record when threads are off the CPU: %s; recording goes on without",
		  err == -ESRCH || err == -ENOENT ? "this kernel describes no sched_switch"
						  : strerror(-err));
}

/* Without CAP_SYS_ADMIN, libbpf cannot find out which functions an older kernel does not have. */
static bool needs_sys_admin(void)
{
	char missing[128];

	return !uprobe_multi_is_available() &&
	       privilege_missing(privilege_effective(), 1, missing, sizeof(missing));
}

/* Where libbpf asks what the kernel can do, no descriptor looks like no such feature. */
#define LEAST_FILES 128 /* as doctor says */

static bool lacks_files(void)
{
	struct rlimit files;

	return !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < LEAST_FILES;
}

/* To libbpf, BTF that it has no memory for is none. */
static bool lacks_memory(void)
{
	struct rlimit all, data;

	return !getrlimit(RLIMIT_AS, &all) && !getrlimit(RLIMIT_DATA, &data) &&
	       (all.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

static int explain_load(int err)
{
	if (err == -EINVAL && lacks_files())
		err = -EMFILE;
	if (err == -ESRCH && lacks_memory())
		err = -ENOMEM;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return diag_error_r(
			-ENOENT, "cannot load: this kernel has no BTF (/sys/kernel/btf/vmlinux); "
				 "use one built with CONFIG_DEBUG_INFO_BTF=y");
	/* EACCES comes from the verifier, not from a missing capability. */
	if (err == -EPERM)
		privilege_explain("load the BPF programs", 0);
	else if (err == -EINVAL && needs_sys_admin())
		privilege_explain("load the BPF programs", 1);
	else if (err == -ENOMEM)
		diag_error("cannot load the BPF programs: out of memory; try a smaller "
			   "--ring-size, or give it more memory: the limits of the process "
			   "(ulimit -v, -d), of its control group, or the machine's");
	else if (*diag_step(err, ""))
		diag_error("cannot load the BPF programs: %s%s", strerror(-err),
			   diag_step(err, ""));
	else
		diag_error("cannot load the BPF programs: %s; run again with -vv for the "
			   "kernel's messages, and see \"qprof-bpf doctor\"",
			   strerror(-err));
	return err;
}

/* The kernel has no uprobe_multi links. A missing capability looks the same. */
static int refuse_without_multi(const char *leave_out)
{
	char missing[128];

	if (privilege_missing(privilege_effective(), 0, missing, sizeof(missing))) {
		privilege_explain("attach", 0);
		return -EPERM;
	}
	return diag_error_r(-ENOSYS,
			    "this kernel has no uprobe_multi links (they came with 6.6); %s",
			    leave_out);
}

static int choose_attach(struct loaded *l, const struct kernel_options *opt)
{
	bool hits = wants_hits(opt), no_multi = opt->attach == KERNEL_ATTACH_PERF;

	l->multi = !no_multi && uprobe_multi_is_available();
	if (l->multi)
		return 0;
	if (hits && no_multi)
		return diag_error_r(-EINVAL, "query-cache-hit needs thousands of probes, more than "
					     "perf events can be; leave out --attach perf");
	if (hits)
		return refuse_without_multi("leave query-cache-hit out of --events");
	return opt->attach == KERNEL_ATTACH_MULTI ? refuse_without_multi("use --attach perf") : 0;
}

/* A copy of names may be preempted by another. */
static int set_names_slots(struct loaded *l)
{
	int n = libbpf_num_possible_cpus();
	uint32_t slots = n > 0 ? 2 * (uint32_t)n : 2;

	l->skel->data->n_names_slots = slots;
	return bpf_map__set_max_entries(l->skel->maps.names_slots, slots);
}

/*
 * Files whose code is sampled, and blocks of 1 MiB for their tables, which the kernel clears: a
 * rustc needs 7.
 */
#define SAMPLED_FILES	     2048
#define SAMPLED_BLOCKS	     32
#define SAMPLED_BLOCKS_BUILD 16
#define PAGE_BYTES	     4096
/* Shorter waits are not worth their record. */
#define WAIT_NS 50000

/*
 * The programs of switches have functions that look these up, and before 6.8 the verifier follows
 * each function of a program, called or not: a map that was not created is an error there.
 */
static int shrink_unsampled(struct loaded *l)
{
	struct qprof_bpf *s = l->skel;
	struct bpf_map *const maps[] = {
		s->maps.noted,	   s->maps.sample_slots, s->maps.job_tables,
		s->maps.jobs_sent, s->maps.jobs_scans,
	};
	int err = 0;

	for (size_t i = 0; i < N_OF(maps) && !err; i++)
		err = bpf_map__set_max_entries(maps[i], 1);
	return err;
}

/* The maps and programs for samples are created with samples only. */
static int prepare_samples(struct loaded *l, const struct kernel_options *all, bool switches)
{
	const struct sampling_options *opt = &all->sampling;
	struct wire_knobs *knobs = &l->skel->rodata->knobs;
	bool any = sampling_options__any(opt), waits = opt->off_cpu && switches;

	knobs->sampled = any;
	knobs->sample_ns = opt->hz ? 1000000000 / opt->hz : 0;
	knobs->fault_bytes = opt->fault_period * PAGE_BYTES;
	knobs->light = opt->light;
	knobs->wait_ns = waits ? WAIT_NS : 0;
	/* Where all executions are recorded, so is the time that each was off the CPU. */
	knobs->job_wait_ns =
		opt->hz && !waits && !filter__passes_all_queries(all->filter) ? WAIT_NS : 0;
	bpf_program__set_autoload(l->skel->progs.sample_fault, opt->fault_period);
	bpf_program__set_autoload(l->skel->progs.on_wait, waits);
	bpf_program__set_autoload(l->skel->progs.prepare_waits, waits);
	bpf_map__set_autocreate(l->skel->maps.waits, waits);
	bpf_map__set_autocreate(l->skel->maps.unwind_files, any);
	bpf_map__set_autocreate(l->skel->maps.unwind_rules, any);
	bpf_map__set_autocreate(l->skel->maps.unwind_area, any);
	bpf_map__set_autocreate(l->skel->maps.known_files, any);
	bpf_map__set_autocreate(l->skel->maps.known_programs, any);
	bpf_map__set_autocreate(l->skel->maps.llvm_layouts, any);
	bpf_map__set_autocreate(l->skel->maps.llvm_sent, any);
	bpf_map__set_autocreate(l->skel->maps.llvm_scans, any);
	if (!any && shrink_unsampled(l))
		return -errno;
	return bpf_map__set_max_entries(l->skel->maps.unwind_files, SAMPLED_FILES)
		       ?: bpf_map__set_max_entries(l->skel->maps.unwind_area,
						   all->one_build ? SAMPLED_BLOCKS_BUILD
								  : SAMPLED_BLOCKS);
}

/*
 * From 7.0 on the kernel may preempt a program of a tracepoint, and skips it in other threads of
 * that CPU meanwhile. Where this is wrong, what is skipped is counted as lost.
 */
static bool tracepoints_are_preempted(void)
{
	struct utsname u;
	unsigned int major;

	return uname(&u) || sscanf(u.release, "%u.", &major) != 1 || major >= 7;
}

/* `switches`: with on_switch(), or with its stand-in where off-CPU time is not wanted. */
static int load_with(struct loaded *l, const struct kernel_options *opt, bool switches)
{
	bool again = tracepoints_are_preempted();
	_invoker_ struct invoker inv = {0};
	int err;

	l->skel = qprof_bpf__open();
	if (!l->skel)
		return -errno;
	list_programs(l, opt);
	l->skel->rodata->knobs.again = again;
	bpf_program__set_autoload(l->skel->progs.on_fork_again, again);
	bpf_program__set_autoload(l->skel->progs.on_exec_again, again);
	bpf_program__set_autoload(l->skel->progs.on_exit_again, again);
	bpf_program__set_autoload(l->skel->progs.on_switch, switches && opt->off_cpu);
	bpf_program__set_autoload(l->skel->progs.on_last_switch,
				  switches && !opt->off_cpu && !opt->only_open);
	if (l->multi) {
		int type = uprobe_multi_attach_type();

		bpf_program__set_expected_attach_type(l->skel->progs.qprof_site, type);
		bpf_program__set_expected_attach_type(l->skel->progs.qprof_label_site, type);
		bpf_program__set_expected_attach_type(l->skel->progs.qprof_drop_site, type);
	}
	bpf_program__set_autoload(l->skel->progs.show_open, opt->only_open || opt->show_open);
	bpf_program__set_autoload(l->skel->progs.put_begun, opt->show_open);
	bpf_map__set_max_entries(l->skel->maps.ring, (uint32_t)opt->ring_bytes);
	/* Early enough to leave room while the reader is slow. */
	l->skel->rodata->knobs.wakeup_bytes = (uint32_t)(opt->ring_bytes / 8);
	l->skel->rodata->knobs.callers = opt->callers;
	l->skel->rodata->knobs.silent = opt->only_open;
	l->skel->rodata->knobs.keys = opt->keys;
	/* Root, if that is not known. */
	l->skel->rodata->knobs.invoker = invoker__get(&inv) ? 0 : inv.uid;
	if ((opt->keys && set_names_slots(l)) || set_table_sizes(l, opt) ||
	    prepare_samples(l, opt, switches))
		return -errno;
	/* libbpf prints what the kernel says of a program that it loads itself. */
	if (diag_level() < DIAG_DEBUG)
		loads__begin();
	err = qprof_bpf__load(l->skel);
	return loads__end(err) ?: err;
}

/*
 * If the kernel lacks the tracepoint of one program, no program loads. Checking first would read
 * the kernel's types twice, which takes longer than verifying a program.
 */
static int load_some(struct loaded *l, const struct kernel_options *opt)
{
	int err = load_with(l, opt, true), why = err;

	if (err) {
		qprof_bpf__destroy(take_ptr(l->skel));
		err = load_with(l, opt, false);
		if (!err && (opt->off_cpu || opt->sampling.off_cpu))
			warn_no_switches(why);
	}
	return err;
}

static int load(struct loaded *l, const struct kernel_options *opt)
{
	struct kernel_options unsampled = *opt;
	int err = load_some(l, opt);

	/* Nobody has asked for samples. */
	if (err && opt->sampling.implied) {
		qprof_bpf__destroy(take_ptr(l->skel));
		unsampled.sampling = (struct sampling_options){0};
		l->unsampled = err;
		err = load_some(l, &unsampled);
	}
	return err ? explain_load(err) : 0;
}

/* A type that this kernel lacks costs a feature, not the recording. */
static void warn_missing(struct loaded *l)
{
	static const struct {
		uint32_t bit;
		const char *without;
	} features[] = {
		{WIRE_MISSING_ARGUMENTS, "command lines of processes; crates have no names"},
		{WIRE_MISSING_LAST_THREAD, "the end of a process whose first thread ends early"},
		{WIRE_MISSING_STATUS, "exit statuses; all are recorded as 0"},
		{WIRE_MISSING_STACKS, "which stack a query runs on; a query left by a panic on "
				      "another stack may seem to run on"},
	};
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (bpf_prog_test_run_opts(bpf_program__fd(l->skel->progs.find_missing), &run)) {
		diag_verbose("cannot ask the kernel half what this kernel lacks: %s",
			     strerror(errno));
		return;
	}
	for (size_t i = 0; i < N_OF(features); i++)
		if (l->skel->bss->missing & features[i].bit)
			diag_warn("this kernel's types lack %s", features[i].without);
}

/*
 * Follow the life of processes. The kernel runs the programs of a tracepoint in the order in which
 * they were attached. Probes are attached per library, flush_all by kernel.c.
 */
static int attach_lifecycle(struct loaded *l)
{
	struct qprof_bpf *s = l->skel;
	const struct {
		const struct bpf_program *prog;
		struct bpf_link **link;
	} needed[] = {
		{s->progs.on_fork, &s->links.on_fork},
		{s->progs.on_fork_again, &s->links.on_fork_again},
		{s->progs.on_exec, &s->links.on_exec},
		{s->progs.on_exec_again, &s->links.on_exec_again},
		{s->progs.on_exit, &s->links.on_exit},
		{s->progs.on_exit_again, &s->links.on_exit_again},
	};

	if (bpf_program__autoload(s->progs.on_switch)) {
		s->links.on_switch = bpf_program__attach(s->progs.on_switch);
		if (!s->links.on_switch)
			warn_no_switches(-errno);
	}
	if (bpf_program__autoload(s->progs.on_wait)) {
		s->links.on_wait = bpf_program__attach(s->progs.on_wait);
		if (!s->links.on_wait)
			warn_no_switches(-errno);
	}
	if (bpf_program__autoload(s->progs.on_last_switch) && s->data->unseen_exits)
		s->links.on_last_switch = bpf_program__attach(s->progs.on_last_switch);
	/* Without it names are still copied when the process ends, as far as its memory is left. */
	if (bpf_program__autoload(s->progs.on_signal))
		s->links.on_signal = bpf_program__attach(s->progs.on_signal);

	for (size_t i = 0; i < N_OF(needed); i++) {
		if (!bpf_program__autoload(needed[i].prog))
			continue;
		*needed[i].link = bpf_program__attach(needed[i].prog);
		if (!*needed[i].link)
			return diag_error_r(
				-errno,
				"cannot follow processes: %s; see whether another tracer "
				"holds the sched tracepoints",
				strerror(errno));
	}
	return 0;
}

/* Conditions that would fail later with a worse message, or would record nothing. */
static int check_surroundings(const struct kernel_options *opt)
{
	bool perf = opt->attach == KERNEL_ATTACH_PERF;
	char missing[128];

	if (privilege_missing(privilege_effective(), perf, missing, sizeof(missing))) {
		privilege_explain("attach", perf);
		return -EPERM;
	}
	/* The kernel half knows processes by their numbers in the first namespace. */
	if (!privilege_first_numbers())
		return diag_error_r(-ENOTSUP,
				    "cannot follow processes from inside a container with "
				    "process numbers of its own; run it on the host, or in "
				    "a container that shares the host's (docker run --pid=host)");
	return 0;
}

static int register_programs(void)
{
	int err = programs__register();

	return err ? diag_error_r(err, "cannot load the BPF programs: %s", strerror(-err)) : 0;
}

int loaded__init(struct loaded *l, const struct kernel_options *opt)
{
	int err;

	*l = (struct loaded){0};
	libbpf_set_print(print_libbpf);
	err = check_surroundings(opt) ?: choose_attach(l, opt) ?: register_programs()
		  ?: load(l, opt);
	if (!err) {
		warn_missing(l);
		err = attach_lifecycle(l);
	}
	if (err)
		loaded__clear(l);
	return err;
}

void loaded__clear(struct loaded *l)
{
	qprof_bpf__destroy(take_ptr(l->skel));
}
