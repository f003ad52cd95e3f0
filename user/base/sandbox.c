// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/rights.h"

#ifdef __aarch64__
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH AUDIT_ARCH_X86_64
#endif
#define INSNS_MAX 192

/* Calls of either sandbox, whatever their arguments are. */
static const int parse_calls[] = {
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_lseek,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_fstat,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_restart_syscall,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_ppoll,
	SYS_getpid,
	SYS_gettid,
	SYS_sysinfo,
	SYS_getrandom,
	SYS_sched_yield,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef UNDER_SANITIZERS /* before a call that does not return */
	SYS_sigaltstack,
#endif
};

static const int look_calls[] = {
	SYS_newfstatat, SYS_statx,     SYS_fstatfs,    SYS_statfs,
	SYS_readlinkat, SYS_faccessat, SYS_getdents64, SYS_process_vm_readv,
	SYS_recvfrom,	SYS_sendmsg,   SYS_getuid,     SYS_geteuid,
#ifdef SYS_faccessat2 /* since Linux 5.8 */
	SYS_faccessat2,
#endif
#ifdef __x86_64__
	SYS_readlink,	SYS_access,    SYS_stat,       SYS_lstat,
#endif
};

struct program {
	struct sock_filter insns[INSNS_MAX];
	unsigned short n;
};

static void add_rule(struct program *p, unsigned int code, unsigned int k, unsigned int yes,
		     unsigned int no)
{
	p->insns[p->n++] =
		(struct sock_filter)BPF_JUMP((uint16_t)code, k, (uint8_t)yes, (uint8_t)no);
}

static void load(struct program *p, size_t offset)
{
	add_rule(p, BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0, 0);
}

static void end(struct program *p, unsigned int action)
{
	add_rule(p, BPF_RET | BPF_K, action, 0, 0);
}

static void allow(struct program *p, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_rule(p, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)calls[i], 0, 1);
		end(p, SECCOMP_RET_ALLOW);
	}
}

/* The call, if an int of its arguments equals `value`, or has no bit of it (`test` is BPF_JSET). */
static void allow_if(struct program *p, int call, int arg, unsigned int test, unsigned int value)
{
	const bool on = test == BPF_JEQ;

	add_rule(p, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 4);
	load(p, offsetof(struct seccomp_data, args[arg])); /* both machines are little-endian */
	add_rule(p, BPF_JMP | test | BPF_K, value, !on, on);
	end(p, SECCOMP_RET_ALLOW);
	end(p, SECCOMP_RET_ERRNO | EPERM);
}

static int filter_calls(enum sandbox kind)
{
	struct program p = {};
	struct sock_fprog fprog = {.filter = p.insns};

	load(&p, offsetof(struct seccomp_data, arch));
	add_rule(&p, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	end(&p, SECCOMP_RET_KILL_PROCESS);
	load(&p, offsetof(struct seccomp_data, nr));
	allow(&p, parse_calls, N_OF(parse_calls));
	allow_if(&p, SYS_fcntl, 1, BPF_JEQ, F_GETFD);
	if (kind == SANDBOX_LOOK) {
		allow(&p, look_calls, N_OF(look_calls));
		allow_if(&p, SYS_openat, 2, BPF_JSET, O_ACCMODE | O_CREAT | O_TRUNC);
	} else {
		/* glibc 2.33 to 2.38 calls it for fstat(). It could ask for any path. */
		allow_if(&p, SYS_newfstatat, 3, BPF_JEQ, AT_EMPTY_PATH);
	}
	end(&p, SECCOMP_RET_ERRNO | EPERM);
	fprog.len = p.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) ? -errno : 0;
}

int sandbox__enter(enum sandbox kind, uint64_t keep)
{
	/* With no_new_privs, any process may have a filter. */
	int err = rights__limit(keep);

	if (err)
		return err;
	return prctl(PR_SET_DUMPABLE, 0) ? -errno : filter_calls(kind);
}
