// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stalled_compiler LIBRARY FILE SITE...: has a librustc_driver mapped, and executes each
 * instruction, whose address is that of `plan --json`, with addresses of a mapping of FILE, or if
 * it is "userfaultfd" of memory that nobody fills, wherever a probe may look: in registers, and in
 * words of the stack, even and odd ones in turns. Each is a process of its own, as what follows the
 * instruction crashes. Prints a line, then does them all at once, and waits for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	    (1u << 18)
#define STACK_WORDS (1u << 16)
#define LENGTH	    16

/* Does not return. */
void enter(uint64_t address, uint64_t sp, uint64_t text, uint64_t length);
__asm__(".text\n"
	"enter:\n"
	"	lea	-8(%rsi), %rsp\n"
	"	mov	%rdi, (%rsp)\n"
	"	mov	%rdx, %rdi\n"
	"	mov	%rdx, %rsi\n"
	"	mov	%rdx, %rax\n"
	"	mov	%rdx, %rbx\n"
	"	mov	%rdx, %rbp\n"
	"	mov	%rdx, %r12\n"
	"	mov	%rdx, %r13\n"
	"	mov	%rdx, %r14\n"
	"	mov	%rdx, %r15\n"
	"	ret\n");

static void *map(size_t size, int fd)
{
	void *at = mmap(NULL, size, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ,
			fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		_exit(2);
	}
	return at;
}

/* A fork leaves the handler behind, so each process has one. */
static uint64_t map_unfilled(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	uint64_t at = (uint64_t)map(BYTES, -1);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all = {{at, BYTES}, UFFDIO_REGISTER_MODE_MISSING, 0};

	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all)) {
		perror("userfaultfd");
		_exit(2);
	}
	return at;
}

static void start(uint64_t address, uint64_t text, int odd)
{
	uint64_t *stack;

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	text = text ?: map_unfilled();
	stack = map(STACK_WORDS * sizeof(*stack), -1);
	for (uint32_t i = 0; i < STACK_WORDS; i++)
		stack[i] = (i + odd) % 2 ? LENGTH : text;
	enter(address, (uint64_t)(stack + STACK_WORDS / 2), text, LENGTH);
}

int main(int argc, char **argv)
{
	struct link_map *loaded = argc > 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int unfilled = argc > 3 && !strcmp(argv[2], "userfaultfd");
	int fd = argc > 3 && !unfilled ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	uint64_t text;

	if (!loaded || (fd < 0 && !unfilled)) {
		fprintf(stderr, "%s\n", loaded ? argv[2] : dlerror());
		return 2;
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	text = unfilled ? 0 : (uint64_t)map(BYTES, fd);
	printf("maps it\n");
	fflush(stdout);
	for (int i = 3; i < argc; i++)
		for (int odd = 0; odd < 2; odd++)
			start(loaded->l_addr + strtoull(argv[i], NULL, 16), text, odd);
	while (wait(NULL) > 0)
		;
	return 0;
}
