// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/facts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "capture/kernel_attach.h"
#include "capture/mappings.h"
#include "capture/sample_events.h"
#include "capture/uprobe_multi.h"

/* The kernel's PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"
/* PROC_USER_INIT_INO. */
#define FIRST_USER_NAMESPACE "user:[4026531837]"

struct place {
	char path[PATH_MAX];
};

static const char *at(struct place *p, const char *root, const char *path)
{
	snprintf(p->path, sizeof(p->path), "%s%s", root, path);
	return p->path;
}

/* Read the first line; "" if there is none. */
static void read_line(const char *root, const char *path, char *text, size_t size)
{
	struct place p;
	_fclose_ FILE *f = fopen(at(&p, root, path), "re");

	*text = '\0';
	if (f && fgets(text, (int)size, f))
		text[strcspn(text, "\n")] = '\0';
}

static int read_number(const char *root, const char *path)
{
	char text[32];
	int n;

	read_line(root, path, text, sizeof(text));
	return sscanf(text, "%d", &n) == 1 ? n : FACTS_UNKNOWN;
}

/* True also if the namespace is unknown. */
static bool is_namespace(const char *root, const char *link, const char *name)
{
	struct place p;
	char ns[64];
	ssize_t n = readlink(at(&p, root, link), ns, sizeof(ns) - 1);

	ns[n > 0 ? n : 0] = '\0';
	return n <= 0 || !strcmp(ns, name);
}

void facts__read(const char *root, struct doctor_facts *facts)
{
	struct place p;
	_fclose_ FILE *status = fopen(at(&p, root, "/proc/self/status"), "re");
	char line[256], *mode;
	const char *self;
	struct statvfs fs;
	ssize_t len;
	int n;

	*facts = (struct doctor_facts){0};
	read_line(root, "/proc/sys/kernel/osrelease", facts->release, sizeof(facts->release));
	facts->btf = !access(at(&p, root, "/sys/kernel/btf/vmlinux"), R_OK);
	facts->first_pid_ns = is_namespace(root, "/proc/self/ns/pid", FIRST_PID_NAMESPACE);
	facts->first_user_ns = is_namespace(root, "/proc/self/ns/user", FIRST_USER_NAMESPACE);
	facts->perf_event_paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid");
	facts->unprivileged_bpf_disabled =
		read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	/* The mode in brackets, as in "none [integrity] confidentiality". */
	read_line(root, "/sys/kernel/security/lockdown", line, sizeof(line));
	mode = strchr(line, '[');
	snprintf(facts->lockdown, sizeof(facts->lockdown), "%.*s",
		 mode ? (int)strcspn(mode + 1, "]") : 0, mode ? mode + 1 : "");
	read_line(root, "/sys/kernel/security/lsm", facts->lsm, sizeof(facts->lsm));

	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "CapEff: %" SCNx64, &facts->capabilities);
		if (sscanf(line, "NoNewPrivs: %d", &n) == 1)
			facts->no_new_privs = n;
	}

	self = at(&p, root, "/proc/self/exe");
	len = readlink(self, facts->exe, sizeof(facts->exe) - 1);
	facts->exe[len > 0 ? len : 0] = '\0';
	facts->file_has_caps = getxattr(self, "security.capability", NULL, 0) > 0;
	facts->file_is_nosuid = !statvfs(self, &fs) && (fs.f_flag & ST_NOSUID);
}

/* ---- Other recordings ------------------------------------------------------------------------ */

/* A program of bpf/qprof.bpf.c that every recording loads, with a name that nothing else uses. */
#define PROGRAM "qprof_site"

/* The program of a descriptor, or of its link, from the descriptor's file in /proc/PID/fdinfo. */
static uint32_t program_of(const char *path)
{
	_fclose_ FILE *f = fopen(path, "re");
	char line[128];
	uint32_t id;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "prog_id: %" SCNu32, &id) == 1)
			return id;
	return 0;
}

void other_recordings__find_holders(const char *root, const uint32_t *ids, uint32_t n,
				    struct other_recordings *c)
{
	_free_ char *pattern = NULL;
	pid_t holders[CAPTURES_MOST] = {0};
	glob_t found = {};

	*c = (struct other_recordings){.n = n};
	if (!n)
		return;
	if (asprintf(&pattern, "%s/proc/[0-9]*/fdinfo/*", root) < 0) {
		pattern = NULL;
		c->err = -ENOMEM;
		return;
	}
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		found.gl_pathc = 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		uint32_t id = program_of(found.gl_pathv[i]);

		for (uint32_t j = 0; id && j < n; j++)
			if (ids[j] == id)
				sscanf(found.gl_pathv[i] + strlen(root), "/proc/%d", &holders[j]);
	}
	globfree(&found);
	for (uint32_t j = 0; j < n; j++) {
		c->held += holders[j] != 0;
		c->pid = holders[j] ?: c->pid;
	}
}

void other_recordings__find(struct other_recordings *c)
{
	uint32_t ids[CAPTURES_MOST], id = 0, n = 0;

	while (n < CAPTURES_MOST && !bpf_prog_get_next_id(id, &id)) {
		_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		/* A program that is gone by now does not count. */
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, PROGRAM))
			ids[n++] = id;
	}
	if (n < CAPTURES_MOST && errno != ENOENT)
		*c = (struct other_recordings){.err = -errno};
	else
		other_recordings__find_holders("", ids, n, c);
}

/* ---- Trials ---------------------------------------------------------------------------------- */

#define SELF "/proc/self/exe"
/* A valid size of a ring buffer on every kernel. */
#define RING_BYTES (1u << 20)

/* The target of the trial probes; never called. */
__attribute__((noinline, used)) static void probed(void)
{
	__asm__ volatile("nop");
}

static int load(enum bpf_prog_type type, struct bpf_prog_load_opts *opts)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(type, NULL, "GPL", insns, 2, opts);

	return fd < 0 ? -errno : fd;
}

static int try_load(void)
{
	_close_ int fd = load(BPF_PROG_TYPE_KPROBE, NULL);

	return fd < 0 ? fd : 0;
}

static int try_ring(void)
{
	_close_ int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, RING_BYTES, NULL);

	return fd < 0 ? -errno : 0;
}

static int try_tracepoint(void)
{
	_close_ int prog = load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL), link = -1;

	if (prog < 0)
		return prog;
	link = bpf_raw_tracepoint_open("sched_process_exec", prog);
	return link < 0 ? -errno : 0;
}

static int try_typed(void)
{
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = (uint32_t)id);
	_close_ int prog = id < 0 ? id : load(BPF_PROG_TYPE_TRACING, &opts), link = -1;

	if (prog < 0)
		return prog;
	link = bpf_raw_tracepoint_open(NULL, prog);
	return link < 0 ? -errno : 0;
}

static int try_perf(uint64_t offset)
{
	_fclose_ FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1, found = f ? fscanf(f, "%d", &type) : 0;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config1 = (uintptr_t)SELF,
		.config2 = offset,
	};
	_close_ int prog = found == 1 ? load(BPF_PROG_TYPE_KPROBE, NULL) : -ENOENT, event = -1;

	if (prog < 0)
		return prog;
	event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
}

/* Try to read the mappings of a process. -ESRCH: it is a kernel thread, which has none. */
static int try_maps(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd < 0)
		return -errno;
	return read(fd, &byte, 1) == 1 ? 0 : -ESRCH;
}

/* Some processes may refuse by a policy of their own, so one success is enough. */
static int try_others(void)
{
	int err = -ESRCH;
	glob_t found = {};

	if (glob("/proc/[0-9]*/maps", GLOB_NOSORT, NULL, &found))
		found.gl_pathc = 0;
	for (size_t i = 0; err && i < found.gl_pathc; i++) {
		struct stat st;
		int one;

		if (stat(found.gl_pathv[i], &st) || st.st_uid == geteuid())
			continue;
		one = try_maps(found.gl_pathv[i]);
		if (one != -ESRCH)
			err = one;
	}
	globfree(&found);
	return err;
}

/* Prepare a recording as `record` does, without following a process. */
static int try_record(struct doctor_trials *t)
{
	const struct kernel_options options = {.ring_bytes = RING_BYTES};
	_kernel_ struct kernel *k = NULL;
	int err;

	diag_hold_errors(t->why, sizeof(t->why));
	err = kernel__open(&options, &k) ?: probe_costs__measure(k, &t->costs);
	diag_hold_errors(NULL, 0);
	if (!err)
		snprintf(t->attach, sizeof(t->attach), "%s",
			 attachments__kind(kernel__attachments(k)));
	else if (!t->why[0])
		snprintf(t->why, sizeof(t->why), "cannot attach: %s", strerror(-err));
	return err;
}

/* Load what takes samples, and open its perf events; no process is followed. */
static int try_samples(struct doctor_trials *t)
{
	const struct kernel_options options = {
		.ring_bytes = RING_BYTES,
		.sampling = {.hz = 1, .fault_period = SAMPLING_FAULTS_MAX, .off_cpu = true},
	};
	_sample_events_ struct sample_events *events = NULL;
	_kernel_ struct kernel *k = NULL;
	struct kernel_samples parts;
	int err;

	diag_hold_errors(t->samples_why, sizeof(t->samples_why));
	err = kernel__open(&options, &k);
	diag_hold_errors(NULL, 0);
	if (err || !kernel__samples(k, &parts))
		return err ?: -EOPNOTSUPP;
	err = sample_events__open(&options.sampling, parts.cpu, parts.fault, &events);
	if (err)
		perf_refusal__find(err, &t->no_samples);
	return err;
}

static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

void trials__run(struct doctor_trials *t)
{
	uint64_t offset = probe_cost_offset(probed);
	union bpf_attr attr = {};

	*t = (struct doctor_trials){0};
	if (diag_level() < DIAG_DEBUG)
		libbpf_set_print(say_nothing);
	t->load = try_load();
	t->ring = try_ring();
	t->tracepoint = try_tracepoint();
	t->typed = try_typed();
	t->uprobe_multi = offset ? uprobe_multi_try(SELF, offset) : -ENOENT;
	t->perf_uprobe = offset ? try_perf(offset) : -ENOENT;
	t->mappings = mappings__try_rings();
	perf_refusal__find(t->mappings, &t->no_mappings);
	/* The kernel answers EINVAL to an unknown command from any caller; a filter EPERM. */
	t->bpf_filtered = syscall(SYS_bpf, -1, &attr, sizeof(attr)) < 0 && errno != EINVAL;
	t->others = try_others();
	t->record = try_record(t);
	t->samples = t->record ?: try_samples(t);
}
