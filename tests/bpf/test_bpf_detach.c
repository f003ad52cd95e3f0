// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end of a recording waits for the kernel, but not for ever: a BPF program of anybody's that
 * waits for a page keeps the kernel from removing any probe.
 */
#include <bpf/bpf.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "capture.h"

#define PAGE 4096u
#define RING (1u << 20)

/* Of the registers of the program that was stopped. */
#define RDI_AT 112

/* A program that copies 8 bytes from the address in rdi, and waits for the page. */
static int load_reader(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 3, .src_reg = 1, .off = RDI_AT},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_copy_from_user},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	int fd;

	opts.expected_attach_type = uprobe_multi_attach_type();
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "reader", "GPL", insns,
			   sizeof(insns) / sizeof(*insns), &opts);
	assert_true(fd >= 0);
	return fd;
}

/* Has the reader on its first instruction. */
__attribute__((noinline, aligned(16))) static void pass(void *at)
{
	__asm__ volatile("nop" ::"D"(at) : "memory");
}

static uint64_t offset_of_pass(void)
{
	uint64_t at = (uint64_t)(uintptr_t)pass, lo, hi, offset;
	_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &lo, &hi, &offset) == 3 && at >= lo && at < hi)
			return at - lo + offset;
	fail_msg("no mapping of our own code");
	return 0;
}

static void await_fault(pid_t pid)
{
	char path[32], where[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	for (int tries = 0; tries < 60000 && !strstr(where, "userfault"); tries++) {
		_fclose_ FILE *f = fopen(path, "re");

		if (!f || !fgets(where, sizeof(where), f))
			*where = 0;
		usleep(1000);
	}
	assert_non_null(strstr(where, "userfault"));
}

/* A process that waits for ever at its first instruction there. -1: this kernel has no userfaultfd.
 */
static pid_t start_waiter(void)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {
		{(uint64_t)(uintptr_t)at, PAGE}, UFFDIO_REGISTER_MODE_MISSING, 0};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), ready[2];
	pid_t pid;
	char byte;

	if (fd < 0)
		return -1;
	close(fd);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Nor is it the last to close the links. */
		for (int other = 3; other < 1024; other++)
			if (other != ready[1])
				close(other);
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pass(at);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	munmap(at, PAGE);
	await_fault(pid);
	return pid;
}

/* SIGALRM ends this test if it waits. `early`: the library is left before the end. */
static void end_beside_a_waiter(bool early)
{
	_capture_ struct capture c = CAPTURE_NONE;
	_library_file_ struct library_file *self = NULL;
	const uint64_t offset = offset_of_pass(), cookie = 0;
	int reader, link;
	pid_t waiter;

	need_capture();
	if (!have_multi())
		skip();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "a");
	assert_int_equal(library_file__open("/proc/self/exe", &self), 0);
	reader = load_reader();
	link = uprobe_multi_link(reader, self, &offset, &cookie, 1);
	assert_true(link >= 0);
	waiter = start_waiter();
	if (waiter < 0)
		skip(); /* this kernel has no userfaultfd */
	assert_int_equal(waitpid(waiter, NULL, WNOHANG), 0);
	alarm(60);
	if (early) {
		attachments__begin_detach(kernel__attachments(c.kernel), c.lib);
		attachments__release(kernel__attachments(c.kernel), c.lib);
	}
	kernel__free(take_ptr(c.kernel));
	alarm(0);
	assert_int_equal(waitpid(waiter, NULL, WNOHANG), 0);
	kill(waiter, SIGKILL);
	waitpid(waiter, NULL, 0);
	close(link);
	close(reader);
}

TEST_CASE(a_page_that_never_comes_does_not_hold_the_end)
{
	end_beside_a_waiter(false);
}

TEST_CASE(nor_a_library_that_is_left_meanwhile)
{
	end_beside_a_waiter(true);
}

TEST_MAIN(NULL, NULL)
