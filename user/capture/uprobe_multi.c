// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/uprobe_multi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * The BPF_LINK_CREATE attributes of a uprobe_multi link, from the kernel's
 * include/uapi/linux/bpf.h. The headers of libbpf 1.1 and of many distributions lack them.
 */
#define ATTACH_TYPE_UPROBE_MULTI 48

struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct uprobe_multi_attr) == 64, "uprobe_multi_attr");

int uprobe_multi_attach_type(void)
{
	return ATTACH_TYPE_UPROBE_MULTI;
}

static int link_create(struct uprobe_multi_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

int uprobe_multi_link(int prog_fd, const struct library_file *file, const uint64_t *offsets,
		      const uint64_t *cookies, uint32_t n)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)library_file__fd_path(file),
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = n,
	};
	_close_ int fd = library_file__is_same(file) ? link_create(&attr) : -ESTALE;

	/* The file was written to in between, so the breakpoints are in other code. */
	if (fd >= 0 && !library_file__is_same(file))
		return -ESTALE;
	return take_fd(fd);
}

int uprobe_multi_try(const char *path, uint64_t offset)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_TYPE_UPROBE_MULTI);
	_close_ int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, 2, &opts);
	_close_ int link = -1;
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	if (prog < 0)
		return -errno;
	link = link_create(&attr);
	return link < 0 ? link : 0;
}

/* A directory is no binary: a kernel that has these links returns EBADF, others EINVAL. */
bool uprobe_multi_is_available(void)
{
	return uprobe_multi_try("/", 0) == -EBADF;
}
